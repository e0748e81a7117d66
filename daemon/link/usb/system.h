/* What the system itself says of USB, without a word to a device: the kernel read these texts when it was
 * plugged in, and anybody may read them. */
#ifndef QS_LINK_USB_SYSTEM_H
#define QS_LINK_USB_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

/* Whether udev runs here: libusb hears of what is plugged in from it alone. */
bool qs_usb_has_udev(void);
/* The text `what` ("serial", "product") of the device at a place ("1-4.2"), as the device says it: any bytes
 * but NUL and the end of line. "" where it has none. */
void qs_usb_text(const char *place, const char *what, char *ret, size_t room);

#endif
