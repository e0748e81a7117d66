/* The devices with an agent's interface on this machine's USB, as they come and go. */
#ifndef QS_LINK_USB_DISCOVER_H
#define QS_LINK_USB_DISCOVER_H

#include "link/link.h"

/* As qs_link_traits has it. The list is read anew, from a new context of libusb, a moment after anything was
 * plugged in or out; where no udev tells, every two seconds. */
struct qs_link_discovery *qs_usb_discover(struct qs_loop *loop, const struct qs_link_finds *finds);
void qs_usb_discover_end(struct qs_link_discovery *discovery);
void qs_usb_discover_rest(struct qs_link_discovery *discovery, void (*done)(void *user), void *user);

#endif
