/* A context of libusb on the loop: its descriptors and its timeouts are watched, and what they tell is taken
 * without waiting. */
#ifndef QS_LINK_USB_POLL_H
#define QS_LINK_USB_POLL_H

#include <libusb.h>

#include "base/err.h"
#include "base/loop.h"

struct qs_usb_poll;

/* on_turn comes after libusb has called back what there was; the poll may be stopped inside. */
struct qs_usb_poll *qs_usb_poll_start(struct qs_loop *loop, libusb_context *context, qs_loop_fn *on_turn,
                                      void *user, struct qs_err *err);
/* A transfer with a time limit was submitted. */
void qs_usb_poll_limit(struct qs_usb_poll *poll);
void qs_usb_poll_stop(struct qs_usb_poll *poll); /* NULL is allowed; the context is the caller's */

#endif
