/* What hangs on the bus: which devices have an interface of an agent, by their descriptors. Nothing here says
 * a word to a device. */
#ifndef QS_LINK_USB_BOARD_H
#define QS_LINK_USB_BOARD_H

#include <libusb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
    QS_USB_CLASS = 0xff, /* the vendor's; then ours (proto/PROTOCOL.md) */
    QS_USB_SUBCLASS = 0x51,
    QS_USB_PROTOCOL = 0x01,
    QS_USB_TRANSFER_BYTES = 16384,
    QS_USB_PLACE_BYTES = 32, /* bus and at most seven ports */
    QS_USB_TEXT_BYTES = 65,
};

struct qs_usb_board {
    char place[QS_USB_PLACE_BYTES]; /* "1-4.2": the bus, and the ports from there */
    char
        serial[QS_USB_TEXT_BYTES]; /* letters, digits and . _ -, whatever it says; "" where it says nothing */
    char model[QS_USB_TEXT_BYTES]; /* the same of its product */
    uint8_t bus, number;           /* the file /dev/bus/usb/BUS/NUMBER */
    uint8_t configuration, interface, in, out; /* of its agent */
    uint16_t out_packet_bytes;
};

/* Whether it is a device of ours. */
bool qs_usb_board_of(libusb_device *device, struct qs_usb_board *ret);
/* Those of the context's list, at most `most`. False: there is no list. */
bool qs_usb_boards(libusb_context *context, struct qs_usb_board *ret, size_t most, size_t *ret_count,
                   struct qs_err *err);
/* The one of this address: its serial, or "usb:" and its place. A reference of its own is taken; QS_E_LINK
 * where there is none, or more than one. */
bool qs_usb_board_find(libusb_context *context, const char *address, libusb_device **ret_device,
                       struct qs_usb_board *ret, struct qs_err *err);
/* Whether there can be such an address. */
bool qs_usb_check_address(const char *address, struct qs_err *err);
/* The error's words for people, after "cannot ...: ". */
const char *qs_usb_why(int code);

#endif
