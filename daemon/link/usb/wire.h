/* One interface of an agent, from its opening to its end: it is found and claimed (on a thread: the kernel
 * may let such calls wait for another device), the session begins with a nonce (proto/PROTOCOL.md, "USB"),
 * bytes pass in transfers that the loop drives. */
#ifndef QS_LINK_USB_WIRE_H
#define QS_LINK_USB_WIRE_H

#include "base/loop.h"
#include "link/link.h"

struct qs_usb_wire;

/* None comes from inside a call, and none after qs_usb_wire_close. Inside one the wire may be closed. */
struct qs_usb_wire_parts {
    struct qs_loop *loop;              /* borrowed */
    const char *address;               /* copied */
    const char *name;                  /* of the device, for messages; copied */
    bool may_reset;                    /* the port, where it does not answer: once, then it is down */
    struct qs_link_counters *counters; /* borrowed until the close */
    void (*on_up)(void *user);
    void (*on_bytes)(const uint8_t *bytes, size_t n, void *user);
    void (*on_down)(const struct qs_err *why, void *user); /* once; then it waits to be closed */
    void *user;
};

struct qs_usb_wire *qs_usb_wire_open(const struct qs_usb_wire_parts *parts);
/* As qs_link_send. */
bool qs_usb_wire_send(struct qs_usb_wire *wire, const uint8_t *bytes, size_t n, struct qs_err *err);
/* Hangs up, which takes a moment of its own; *where (NULL is allowed) is it until it is gone, then NULL. */
void qs_usb_wire_close(struct qs_usb_wire *wire, struct qs_usb_wire **where);
/* Of one that was closed: no longer than a moment. True: it is gone. False: a thread still has it; what
 * `where` was is forgotten where `forget` is set. */
bool qs_usb_wire_finish(struct qs_usb_wire *wire, bool forget);

#endif
