/* The agent as a USB device: its gadget in configfs, and a relay between the gadget's endpoints and the
 * agent's door. The agent itself has a link of kind Unix and knows nothing of USB. */
#ifndef QS_LINUX_USB_H
#define QS_LINUX_USB_H

#include "linux/link.h"
#include "linux/usb_wire.h"

#include <stdbool.h>

struct qs_usb_options {
    const char *controller; /* NULL: the first one that is free */
    const char *serial;     /* NULL: the board's own, or one made of the machine's id */
    const char *id;         /* "VID:PID"; NULL: 1d6b:0104 */
};

/* A gadget that is bound to its controller. All descriptors are owned. */
struct qs_usb {
    char controller[QS_USB_CONTROLLER_BYTES], serial[QS_USB_TEXT_BYTES];
    int gadget_fd;    /* its folder in configfs, locked as long as we serve it */
    int ep0, in, out; /* control; to the host; from the host. They do not block */
};

/* Takes down what agents that were killed have left, makes the gadget and binds it. False: nothing of ours is
 * left, `error` says what is missing or who has the controller. */
bool qs_usb_open(struct qs_usb *usb, const struct qs_usb_options *options, char error[QS_LINK_ERROR_BYTES]);
void qs_usb_close(struct qs_usb *usb);
/* Only its descriptors, in another process than its owner. */
void qs_usb_forget(struct qs_usb *usb);

/* Splits this process. The one that was there opens the gadget, relays, and ends as the agent does, without
 * returning; the new one returns true with a door of its own in link, and `said` what it is for hosts. False:
 * nothing was split, said has why. */
bool qs_usb_split(const struct qs_usb_options *options, struct qs_link *link, char said[QS_LINK_ERROR_BYTES]);

#endif
