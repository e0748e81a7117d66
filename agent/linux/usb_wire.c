#include "linux/usb_wire.h"

#include <string.h>

/* Little-endian, on every board. */
#define U16(n) (uint8_t)((n)&0xff), (uint8_t)((n) >> 8 & 0xff)
#define U32(n) U16((n)&0xffff), U16((n) >> 16)

/* USB 2.0, 9.6.5 and 9.6.6; USB 3.2, 9.6.7. */
#define INTERFACE             9, 4, 0, 0, 2, 0xff, 0x51, 0x01, 1
#define BULK(address, packet) 7, 5, (address), 2, U16(packet), 0
#define COMPANION             6, 0x30, 0, 0, U16(0)
#define PAIR(packet)          INTERFACE, BULK(0x81, packet), BULK(0x02, packet)
#define NAME                  'Q', 'u', 'i', 'e', 's', 'c', 'e', 0

/* Their layouts are in the kernel's linux/usb/functionfs.h: magic, length, flags (1 full, 2 high, 4 super
 * speed), and the number of descriptors for each speed. */
const uint8_t qs_usb_descriptors[QS_USB_DESCRIPTORS_BYTES] = {U32(3),    U32(QS_USB_DESCRIPTORS_BYTES),
                                                              U32(7),    U32(3),
                                                              U32(3),    U32(5),
                                                              PAIR(64),  PAIR(512),
                                                              INTERFACE, BULK(0x81, 1024),
                                                              COMPANION, BULK(0x02, 1024),
                                                              COMPANION};

/* Magic, length, one string in one language, which is English. */
const uint8_t qs_usb_strings[QS_USB_STRINGS_BYTES] = {
    U32(2), U32(QS_USB_STRINGS_BYTES), U32(1), U32(1), U16(0x0409), NAME};

enum qs_usb_request qs_usb_read_setup(const uint8_t setup[QS_USB_SETUP_BYTES])
{
    /* To the host's interface number the kernel has put ours, which is 0. */
    static const uint8_t begin[QS_USB_SETUP_BYTES] = {0x41, 0x51, U16(1), U16(0), U16(QS_USB_NONCE_BYTES)};
    static const uint8_t end[QS_USB_SETUP_BYTES] = {0x41, 0x51, U16(2), U16(0), U16(0)};
    if (memcmp(setup, begin, sizeof begin) == 0) {
        return QS_USB_BEGIN;
    }
    return memcmp(setup, end, sizeof end) == 0 ? QS_USB_END : QS_USB_STALL;
}

size_t qs_usb_cut(size_t n)
{
    return n % 64 == 0 ? n - 1 : n; /* packets have 64, 512 or 1024 bytes */
}

const char *qs_usb_controller_of(const char *gadget)
{
    static const char prefix[] = "quiesce-";
    const char *controller = gadget + sizeof prefix - 1;
    return strncmp(gadget, prefix, sizeof prefix - 1) == 0 && controller[0] &&
                   strlen(controller) < QS_USB_CONTROLLER_BYTES
               ? controller
               : NULL;
}

bool qs_usb_is_id(const char *text)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    return strspn(text, digits) == 4 && text[4] == ':' && strspn(text + 5, digits) == 4 && text[9] == '\0';
}

bool qs_usb_is_serial(const char *text)
{
    size_t n = 0;
    while (text[n] > ' ' && text[n] <= '~') {
        n++;
    }
    return n > 0 && n < QS_USB_TEXT_BYTES && text[n] == '\0';
}
