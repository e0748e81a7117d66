#include "link/usb/wire.h"

#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/mem.h"
#include "link/usb/wire_impl.h"

#define MS INT64_C(1000000)

enum {
    BEGIN_MS = 5000, /* the agent may be in the last of a window */
    NONCE_MS = 5000,
    END_MS = 200,
    GONE_MS = 100,                         /* an unplug shows as an error first */
    RETRY_MS = 20,                         /* of a transfer that failed and brought nothing */
    RETRIES = 3,                           /* in a row */
    LEFT_OVER_BYTES = 1024 * 1024,         /* of a session before */
    OUT_BYTES = QS_USB_TRANSFER_BYTES - 1, /* at once: it ends with a short packet, and needs no empty one */
};

/* ---- its end ---- */

static void on_time(void *user);

static void arm(struct qs_usb_wire *w, int64_t ms)
{
    qs_timer_stop(w->timer);
    w->timer = qs_timer_start(w->p.loop, ms * MS, on_time, w);
}

/* The last thing that its caller does. */
static void tell_down(struct qs_usb_wire *w)
{
    struct qs_err why = w->why;
    qs_timer_stop(w->timer);
    w->timer = NULL;
    w->state = QS_USB_DOWN;
    if (w->gone)
        qs_fail(&why, QS_E_LINK, "%s was unplugged, or has restarted", w->name);
    w->p.on_down(&why, w->p.user);
}

/* What is wrong is told from the loop, when it has shown whether it is unplugged. */
static void fail_soon(struct qs_usb_wire *w)
{
    if (w->state == QS_USB_FAILING)
        return;
    w->state = QS_USB_FAILING;
    qs_buf_clear(&w->queue);
    w->queue_at = 0;
    arm(w, w->gone ? 0 : GONE_MS);
}

static void on_reset(void *user)
{
    struct qs_usb_wire *w = user;
    w->held = false;
    if (w->closed)
        qs_usb_release(w);
    else
        tell_down(w);
}

static void reset(void *user)
{
    struct qs_usb_wire *w = user;
    (void)libusb_reset_device(w->handle); /* it is opened anew in any case */
}

/* It is there and does not answer. */
static void deaf(struct qs_usb_wire *w)
{
    if (!w->p.may_reset || w->gone) {
        fail_soon(w);
        return;
    }
    qs_usb_cancel(w, QS_USB_SLOTS);
    qs_timer_stop(w->timer);
    w->timer = NULL;
    w->first = NULL;
    w->state = QS_USB_RESETTING;
    w->held = true;
    qs_loop_work(w->p.loop, QS_LANE_QUICK, reset, on_reset, w);
}

/* ---- its begin ---- */

static void on_turn(void *user);

static void on_connected(void *user)
{
    struct qs_usb_wire *w = user;
    w->held = false;
    if (w->closed) {
        qs_usb_release(w);
        return;
    }
    if (w->handle)
        w->poll = qs_usb_poll_start(w->p.loop, w->context, on_turn, w, &w->why);
    if (!w->poll) {
        tell_down(w);
        return;
    }
    qs_usb_make_slots(w);
    w->state = QS_USB_BEGINNING;
    qs_loop_random(w->p.loop, w->nonce, sizeof w->nonce);
    int code = qs_usb_ask(w, QS_USB_BEGIN, BEGIN_MS);
    if (code == 0)
        return;
    qs_fail(&w->why, QS_E_LINK, "%s: cannot ask for a session: %s", w->name, qs_usb_why(code));
    fail_soon(w);
}

static int listen_with(struct qs_usb_slot *s)
{
    int code = qs_usb_submit(s);
    if (code != 0) {
        qs_fail(&s->wire->why, QS_E_LINK, "%s: cannot read: %s", s->wire->name, qs_usb_why(code));
        fail_soon(s->wire);
    }
    return code;
}

static int write_with(struct qs_usb_slot *s, const uint8_t *bytes, size_t n)
{
    struct qs_usb_wire *w = s->wire;
    memcpy(s->transfer->buffer, bytes, n);
    s->transfer->length = (int)n;
    s->transfer->flags = n % w->board.out_packet_bytes == 0 ? LIBUSB_TRANSFER_ADD_ZERO_PACKET : 0;
    int code = qs_usb_submit(s);
    if (code == 0)
        w->p.counters->bytes_out += n;
    else
        qs_fail(&w->why, QS_E_LINK, "cannot write to %s: %s", w->name, qs_usb_why(code));
    return code;
}

static void on_begun(struct qs_usb_wire *w, enum libusb_transfer_status status)
{
    if (status != LIBUSB_TRANSFER_COMPLETED) {
        qs_fail(&w->why, QS_E_LINK, "%s: %s", w->name,
                status == LIBUSB_TRANSFER_TIMED_OUT ? "its agent does not answer over USB"
                : status == LIBUSB_TRANSFER_STALL
                    ? "it refuses a session over USB: is its agent of this version?"
                    : "it cannot be asked for a session over USB");
        deaf(w);
        return;
    }
    w->state = QS_USB_GREETING;
    arm(w, NONCE_MS);
    for (size_t i = 0; i < QS_USB_INS; i++) {
        if (listen_with(&w->slots[i]) != 0)
            return;
    }
    if (write_with(&w->slots[QS_USB_INS], w->nonce, QS_USB_NONCE_BYTES) != 0)
        fail_soon(w);
}

/* ---- bytes ---- */

/* Until the nonce has come, it is what an earlier session has left. */
static void on_greeting(struct qs_usb_wire *w, struct qs_usb_slot *s)
{
    size_t n = (size_t)s->transfer->actual_length;
    bool is_nonce = n == QS_USB_NONCE_BYTES && memcmp(s->transfer->buffer, w->nonce, n) == 0;
    w->left_over_bytes += n;
    if (!is_nonce && w->left_over_bytes > LEFT_OVER_BYTES) {
        qs_fail(&w->why, QS_E_PROTOCOL, "%s: it sends and sends, but does not begin the session", w->name);
        fail_soon(w);
        return;
    }
    if (listen_with(s) != 0 || !is_nonce)
        return;
    qs_timer_stop(w->timer);
    w->timer = NULL;
    w->state = QS_USB_UP;
    w->p.on_up(w->p.user);
}

/* Whether to try again, or how it ends. True: nothing is wrong. */
static bool check_status(struct qs_usb_wire *w, const struct qs_usb_slot *s)
{
    enum libusb_transfer_status status = s->transfer->status;
    bool in = s < &w->slots[QS_USB_INS];
    if (status == LIBUSB_TRANSFER_COMPLETED) {
        w->failures = 0;
        return true;
    }
    w->gone = w->gone || status == LIBUSB_TRANSFER_NO_DEVICE;
    bool again = in && status == LIBUSB_TRANSFER_ERROR && s->transfer->actual_length == 0 && !w->gone &&
                 ++w->failures <= RETRIES && w->state == QS_USB_UP;
    if (again) {
        if (!w->timer)
            arm(w, RETRY_MS);
        return false;
    }
    qs_fail(&w->why, QS_E_LINK, "%s: a transfer %s it failed (%s)", w->name, in ? "from" : "to",
            status == LIBUSB_TRANSFER_STALL      ? "its endpoint is halted"
            : status == LIBUSB_TRANSFER_OVERFLOW ? "it sent more than was asked for"
                                                 : "an error on the bus: look at the cable and the hub");
    fail_soon(w);
    return false;
}

static size_t unsent(const struct qs_usb_wire *w)
{
    return w->queue.len - w->queue_at;
}

/* Bytes from the queue, as far as there is room on the bus. What is left of it moves to its front when that
 * is no longer than what is gone: each byte moves once. */
static void flush(struct qs_usb_wire *w)
{
    for (size_t i = QS_USB_INS; i < QS_USB_CONTROL && unsent(w) > 0; i++) {
        size_t n = unsent(w) < OUT_BYTES ? unsent(w) : OUT_BYTES;
        if (w->slots[i].busy)
            continue;
        if (write_with(&w->slots[i], (const uint8_t *)w->queue.data + w->queue_at, n) != 0) {
            fail_soon(w);
            return;
        }
        w->queue_at += n;
    }
    if (w->queue_at >= unsent(w)) {
        qs_buf_drop_front(&w->queue, w->queue_at);
        w->queue_at = 0;
    }
}

static void on_in(struct qs_usb_wire *w, struct qs_usb_slot *s)
{
    size_t n = (size_t)s->transfer->actual_length;
    w->p.counters->segments_in++;
    w->p.counters->data_segments_in += n > 0 ? 1 : 0;
    if (w->state == QS_USB_GREETING) {
        on_greeting(w, s);
        return;
    }
    w->p.counters->bytes_in += n;
    if (n > 0)
        w->p.on_bytes(s->transfer->buffer, n, w->p.user);
    if (!w->over && !w->closed && w->state == QS_USB_UP)
        listen_with(s);
}

static void on_back(struct qs_usb_wire *w, struct qs_usb_slot *s)
{
    if (s == &w->slots[QS_USB_CONTROL] && w->state == QS_USB_BEGINNING) {
        w->gone = w->gone || s->transfer->status == LIBUSB_TRANSFER_NO_DEVICE;
        on_begun(w, s->transfer->status);
    } else if (s == &w->slots[QS_USB_CONTROL] || (w->state != QS_USB_GREETING && w->state != QS_USB_UP)) {
        w->gone = w->gone || s->transfer->status == LIBUSB_TRANSFER_NO_DEVICE;
        if (w->state == QS_USB_FAILING && w->gone)
            arm(w, 0);
    } else if (!check_status(w, s)) {
        return;
    } else if (s < &w->slots[QS_USB_INS]) {
        on_in(w, s);
    } else {
        w->p.counters->segments_out++;
        w->p.counters->data_segments_out++;
        flush(w);
    }
}

static void on_turn(void *user)
{
    struct qs_usb_wire *w = user;
    struct qs_usb_slot *s;
    w->turning = true;
    while (!w->over && (s = qs_usb_take_back(w)))
        on_back(w, s);
    w->turning = false;
    if (w->over || (w->state == QS_USB_ENDING && !w->slots[QS_USB_CONTROL].busy))
        qs_usb_release(w);
}

/* A transfer that failed and brought nothing is tried again. */
static void retry(struct qs_usb_wire *w)
{
    for (size_t i = 0; i < QS_USB_INS; i++) {
        if (!w->slots[i].busy && listen_with(&w->slots[i]) != 0)
            return;
    }
}

static void on_time(void *user)
{
    struct qs_usb_wire *w = user;
    w->timer = NULL;
    switch (w->state) {
    case QS_USB_GREETING:
        qs_fail(&w->why, QS_E_LINK, "%s: its agent takes a session over USB, and does not begin it", w->name);
        deaf(w);
        break;
    case QS_USB_UP:
        retry(w);
        break;
    case QS_USB_FAILING:
        w->gone =
            w->gone || libusb_kernel_driver_active(w->handle, w->board.interface) == LIBUSB_ERROR_NO_DEVICE;
        tell_down(w);
        break;
    case QS_USB_ENDING:
        qs_usb_release(w);
        break;
    case QS_USB_CLAIMING:
    case QS_USB_BEGINNING:
    case QS_USB_RESETTING:
    case QS_USB_DOWN:
        break;
    }
}

/* ---- the user ---- */

struct qs_usb_wire *qs_usb_wire_open(const struct qs_usb_wire_parts *parts)
{
    struct qs_usb_wire *w = qs_calloc(1, sizeof *w);
    w->p = *parts;
    w->address = qs_strdup(parts->address);
    w->name = qs_strdup(parts->name);
    qs_buf_init(&w->queue);
    w->held = true;
    qs_loop_work(w->p.loop, QS_LANE_QUICK, qs_usb_claim, on_connected, w);
    return w;
}

bool qs_usb_wire_send(struct qs_usb_wire *w, const uint8_t *bytes, size_t n, struct qs_err *err)
{
    if (w->state != QS_USB_UP)
        return qs_fail(err, QS_E_LINK, "the connection to %s is broken", w->name);
    if (n > QS_LINK_QUEUE_BYTES - unsent(w))
        return qs_fail(err, QS_E_AGENT, "%s does not read: %zu bytes are waiting", w->name, unsent(w));
    qs_buf_add(&w->queue, bytes, n);
    flush(w);
    if (w->state == QS_USB_UP)
        return true;
    if (err)
        *err = w->why;
    return false;
}

void qs_usb_wire_close(struct qs_usb_wire *w, struct qs_usb_wire **where)
{
    bool polite = w->state == QS_USB_GREETING || w->state == QS_USB_UP;
    w->closed = true;
    w->where = where;
    if (w->held)
        return;
    qs_timer_stop(w->timer);
    w->timer = NULL;
    if (polite) { /* what was sent last is still on its way */
        w->state = QS_USB_ENDING;
        if (qs_usb_ask(w, QS_USB_END, END_MS) == 0) {
            arm(w, END_MS);
            return;
        }
    }
    qs_usb_release(w);
}

bool qs_usb_wire_finish(struct qs_usb_wire *w, bool forget)
{
    struct timeval moment = {.tv_usec = END_MS * 1000 / 8};
    if (forget)
        w->where = NULL;
    if (w->held)
        return false;
    (void)libusb_handle_events_timeout_completed(w->context, &moment, NULL);
    qs_usb_release(w);
    return true;
}
