/* What the parts of a wire share: claim.c, transfers.c, wire.c. */
#ifndef QS_LINK_USB_WIRE_IMPL_H
#define QS_LINK_USB_WIRE_IMPL_H

#include "base/buf.h"
#include "link/usb/board.h"
#include "link/usb/poll.h"
#include "link/usb/wire.h"

enum {
    QS_USB_REQUEST = 0x51, /* bRequest, and what wValue means */
    QS_USB_BEGIN = 1,
    QS_USB_END = 2,
    QS_USB_NONCE_BYTES = 16,
    QS_USB_INS = 4,
    QS_USB_OUTS = 4,
    QS_USB_CONTROL = QS_USB_INS + QS_USB_OUTS, /* the last one */
    QS_USB_SLOTS,
};

enum qs_usb_state {
    QS_USB_CLAIMING,  /* a thread finds, opens and claims it */
    QS_USB_BEGINNING, /* BEGIN is under way */
    QS_USB_GREETING,  /* our nonce is under way, theirs is waited for */
    QS_USB_UP,
    QS_USB_FAILING,   /* for `why`; whether it is unplugged shows in a moment */
    QS_USB_RESETTING, /* a thread resets the port */
    QS_USB_DOWN,      /* it was told */
    QS_USB_ENDING     /* closed; END is under way */
};

struct qs_usb_slot {
    struct qs_usb_wire *wire;
    struct libusb_transfer *transfer; /* owned, and its buffer */
    bool busy;                        /* libusb has it */
    struct qs_usb_slot *next;         /* of those that came back */
};

struct qs_usb_wire {
    struct qs_usb_wire_parts p;
    char *address, *name; /* owned */
    struct qs_usb_wire **where;
    enum qs_usb_state state;
    bool closed, gone; /* by its user; from the bus */
    bool held;         /* a thread has it: CLAIMING, RESETTING */
    bool turning;      /* in the middle of what came back; it ends after that */
    bool over;         /* then */
    libusb_context *context;
    libusb_device_handle *handle;
    struct qs_usb_board board;
    struct qs_usb_poll *poll;
    struct qs_usb_slot slots[QS_USB_SLOTS];
    struct qs_usb_slot *first, *last; /* that came back and were not looked at */
    struct qs_timer *timer;
    struct qs_buf queue; /* unsent from `queue_at` on */
    size_t queue_at;
    uint8_t nonce[QS_USB_NONCE_BYTES];
    size_t left_over_bytes;
    int failures; /* of transfers in a row */
    struct qs_err why;
};

/* ---- claim.c ---- */

/* On a thread (a qs_loop_fn of a wire): finds, opens and claims it, or says in `why` what kept it from that.
 */
void qs_usb_claim(void *wire);
void qs_usb_let_go(struct qs_usb_wire *w);

/* ---- transfers.c ---- */

void qs_usb_make_slots(struct qs_usb_wire *w);
struct qs_usb_slot *qs_usb_take_back(struct qs_usb_wire *w); /* the next that came back; NULL: none */
int qs_usb_submit(struct qs_usb_slot *slot);                 /* libusb's code */
/* BEGIN, with the nonce, or END. */
int qs_usb_ask(struct qs_usb_wire *w, uint16_t what, unsigned limit_ms);
/* libusb frees nothing that is under way: the first `to` slots are taken back before anything is closed. */
void qs_usb_cancel(struct qs_usb_wire *w, size_t to);
/* Its end: what is open is closed, it is freed, in a turn at the end of that. */
void qs_usb_release(struct qs_usb_wire *w);

#endif
