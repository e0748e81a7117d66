/* What a USB link has below its stream of bytes (proto/PROTOCOL.md, "USB"): pure. */
#ifndef QS_LINUX_USB_WIRE_H
#define QS_LINUX_USB_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QS_USB_NONCE_BYTES = 16,
    QS_USB_SETUP_BYTES = 8,
    QS_USB_READ_BYTES = 16384,  /* the longest transfer of the host */
    QS_USB_WRITE_BYTES = 16383, /* our longest */
    QS_USB_DESCRIPTORS_BYTES = 105,
    QS_USB_STRINGS_BYTES = 26,
    QS_USB_TEXT_BYTES = 65, /* of serial and model, with their end */
    QS_USB_CONTROLLER_BYTES =
        32, /* of a controller's name, with its end: the kernel cuts names of functions */
};

/* What FunctionFS is told: one vendor interface with a bulk endpoint each way (IN is the file ep1, OUT ep2),
 * for full, high and super speed; and its name. */
extern const uint8_t qs_usb_descriptors[QS_USB_DESCRIPTORS_BYTES];
extern const uint8_t qs_usb_strings[QS_USB_STRINGS_BYTES];

enum qs_usb_request { QS_USB_STALL, QS_USB_BEGIN, QS_USB_END };

/* What the host wants by these eight bytes of a control request. */
enum qs_usb_request qs_usb_read_setup(const uint8_t setup[QS_USB_SETUP_BYTES]);
/* How many of n bytes (1 to QS_USB_WRITE_BYTES) go into one transfer to the host: never a multiple of a
 * packet's size, so that it ends with a short packet. */
size_t qs_usb_cut(size_t n);
/* "quiesce-UDC", the name that our gadget of a controller has: the controller's name in it; NULL where it is
 * no name of ours. */
const char *qs_usb_controller_of(const char *gadget);
/* "1d6b:0104": four hexadecimal digits each. */
bool qs_usb_is_id(const char *text);
/* Whether a host can be told this serial number: 1 to 64 printable bytes without blanks. */
bool qs_usb_is_serial(const char *text);

#endif
