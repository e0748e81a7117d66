#include "link/usb/wire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/mem.h"
#include "link/usb/board.h"
#include "link/usb/poll.h"

#define MS INT64_C(1000000)

enum {
    REQUEST = 0x51, /* bRequest, and what wValue means */
    BEGIN = 1,
    END = 2,
    NONCE_BYTES = 16,
    BEGIN_MS = 5000, /* the agent may be in the last of a window */
    NONCE_MS = 5000,
    END_MS = 200,
    GONE_MS = 100,                 /* an unplug shows as an error first */
    RETRY_MS = 20,                 /* of a transfer that failed and brought nothing */
    RETRIES = 3,                   /* in a row */
    LEFT_OVER_BYTES = 1024 * 1024, /* of a session before */
    INS = 4,
    OUTS = 4,
    CONTROL = INS + OUTS, /* the last one */
    SLOTS,
    REAP_MS = 5, /* what was cancelled is back at once; this often it is looked for */
    REAPS = 40,
};

enum state {
    CLAIMING,  /* a thread finds, opens and claims it */
    BEGINNING, /* BEGIN is under way */
    GREETING,  /* our nonce is under way, theirs is waited for */
    UP,
    FAILING,   /* for `why`; whether it is unplugged shows in a moment */
    RESETTING, /* a thread resets the port */
    DOWN,      /* it was told */
    ENDING     /* closed; END is under way */
};

struct slot {
    struct qs_usb_wire *wire;
    struct libusb_transfer *transfer; /* owned, and its buffer */
    bool busy;                        /* libusb has it */
    struct slot *next;                /* of those that came back */
};

struct qs_usb_wire {
    struct qs_usb_wire_parts p;
    char *address, *name; /* owned */
    struct qs_usb_wire **where;
    enum state state;
    bool closed, gone; /* by its user; from the bus */
    bool held;         /* a thread has it: CLAIMING, RESETTING */
    bool *freed;       /* set when it is, for who is in the middle of it */
    libusb_context *context;
    libusb_device_handle *handle;
    struct qs_usb_board board;
    struct qs_usb_poll *poll;
    struct slot slots[SLOTS];
    struct slot *first, *last; /* that came back and were not looked at */
    struct qs_timer *timer;
    struct qs_buf queue; /* unsent */
    uint8_t nonce[NONCE_BYTES];
    size_t left_over_bytes;
    int failures; /* of transfers in a row */
    struct qs_err why;
};

/* ---- transfers ---- */

static void LIBUSB_CALL on_transfer(struct libusb_transfer *transfer)
{
    struct slot *s = transfer->user_data;
    struct qs_usb_wire *w = s->wire;
    s->busy = false;
    s->next = NULL;
    *(w->first ? &w->last->next : &w->first) = s;
    w->last = s;
}

static struct slot *take_back(struct qs_usb_wire *w)
{
    struct slot *s = w->first;
    if (s)
        w->first = s->next;
    return s;
}

static int submit(struct slot *s)
{
    int code = libusb_submit_transfer(s->transfer);
    s->busy = code == 0;
    s->wire->gone = s->wire->gone || code == LIBUSB_ERROR_NO_DEVICE;
    return code;
}

static void make_slots(struct qs_usb_wire *w)
{
    for (size_t i = 0; i < SLOTS; i++) {
        struct slot *s = &w->slots[i];
        size_t bytes = i == CONTROL ? LIBUSB_CONTROL_SETUP_SIZE + NONCE_BYTES : QS_USB_TRANSFER_BYTES;
        s->wire = w;
        s->transfer = libusb_alloc_transfer(0);
        assert(s->transfer); /* as memory elsewhere */
        libusb_fill_bulk_transfer(s->transfer, w->handle, i < INS ? w->board.in : w->board.out,
                                  qs_malloc(bytes), (int)bytes, on_transfer, s, 0);
    }
}

/* BEGIN, with the nonce, or END. */
static int ask(struct qs_usb_wire *w, uint16_t what, unsigned limit_ms)
{
    struct slot *s = &w->slots[CONTROL];
    uint16_t n = what == BEGIN ? NONCE_BYTES : 0;
    libusb_fill_control_setup(s->transfer->buffer,
                              (uint8_t)LIBUSB_ENDPOINT_OUT | LIBUSB_REQUEST_TYPE_VENDOR |
                                  LIBUSB_RECIPIENT_INTERFACE,
                              REQUEST, what, w->board.interface, n);
    memcpy(s->transfer->buffer + LIBUSB_CONTROL_SETUP_SIZE, w->nonce, n);
    libusb_fill_control_transfer(s->transfer, w->handle, s->transfer->buffer, on_transfer, s, limit_ms);
    int code = submit(s);
    qs_usb_poll_limit(w->poll);
    return code;
}

static bool is_busy(const struct qs_usb_wire *w, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (w->slots[i].busy)
            return true;
    }
    return false;
}

/* libusb frees nothing that is under way: all is taken back before anything is closed. Linux has it back as
 * soon as it is cancelled. */
static void cancel(struct qs_usb_wire *w, size_t to)
{
    struct timeval moment = {.tv_usec = REAP_MS * 1000};
    for (size_t i = 0; i < to; i++) {
        if (w->slots[i].busy)
            (void)libusb_cancel_transfer(w->slots[i].transfer);
    }
    for (int i = 0; i < REAPS && is_busy(w, 0, to); i++)
        (void)libusb_handle_events_timeout_completed(w->context, &moment, NULL);
}

/* ---- its end ---- */

static void hang_up(struct qs_usb_wire *w)
{
    if (w->handle) {
        (void)libusb_release_interface(w->handle, w->board.interface);
        libusb_close(w->handle);
    }
    if (w->context)
        libusb_exit(w->context);
    w->handle = NULL;
    w->context = NULL;
}

static void release(struct qs_usb_wire *w)
{
    if (w->poll)
        cancel(w, SLOTS);
    bool stuck = is_busy(w, 0, SLOTS);
    qs_usb_poll_stop(w->poll);
    qs_timer_stop(w->timer);
    if (w->freed)
        *w->freed = true;
    if (w->where)
        *w->where = NULL;
    w->poll = NULL;
    w->timer = NULL;
    qs_buf_done(&w->queue);
    free(w->address);
    free(w->name);
    if (stuck)
        return; /* the kernel may still write there: better lost than written to */
    for (size_t i = 0; i < SLOTS && w->slots[i].transfer; i++) {
        free(w->slots[i].transfer->buffer);
        libusb_free_transfer(w->slots[i].transfer);
    }
    hang_up(w);
    free(w);
}

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
    w->state = DOWN;
    if (w->gone)
        qs_fail(&why, QS_E_LINK, "%s was unplugged, or has restarted", w->name);
    w->p.on_down(&why, w->p.user);
}

/* What is wrong is told from the loop, when it has shown whether it is unplugged. */
static void fail_soon(struct qs_usb_wire *w)
{
    if (w->state == FAILING)
        return;
    w->state = FAILING;
    qs_buf_clear(&w->queue);
    arm(w, w->gone ? 0 : GONE_MS);
}

static void on_reset(void *user)
{
    struct qs_usb_wire *w = user;
    w->held = false;
    if (w->closed)
        release(w);
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
    cancel(w, SLOTS);
    qs_timer_stop(w->timer);
    w->timer = NULL;
    w->first = NULL;
    w->state = RESETTING;
    w->held = true;
    qs_loop_work(w->p.loop, QS_LANE_QUICK, reset, on_reset, w);
}

/* ---- its begin ---- */

static bool open_device(struct qs_usb_wire *w, libusb_device *device)
{
    int code = libusb_open(device, &w->handle);
    if (code == LIBUSB_ERROR_ACCESS)
        return qs_fail(&w->why, QS_E_DENIED,
                       "%s: this user may not open /dev/bus/usb/%03u/%03u: install the udev rule of "
                       "config/udev, and plug the device in again",
                       w->name, (unsigned)w->board.bus, (unsigned)w->board.number);
    return code == 0 || qs_fail(&w->why, QS_E_LINK, "%s: cannot open /dev/bus/usb/%03u/%03u: %s", w->name,
                                (unsigned)w->board.bus, (unsigned)w->board.number, qs_usb_why(code));
}

static bool claim(struct qs_usb_wire *w)
{
    int now = 0;
    int code = libusb_get_configuration(w->handle, &now);
    if (code == 0 && now != w->board.configuration)
        code = libusb_set_configuration(w->handle, w->board.configuration);
    if (code == 0)
        code = libusb_claim_interface(w->handle, w->board.interface);
    if (code == LIBUSB_ERROR_BUSY)
        return qs_fail(&w->why, QS_E_LINK,
                       "%s: another program has its interface, perhaps another quiesced: `fuser -v "
                       "/dev/bus/usb/%03u/%03u` shows which",
                       w->name, (unsigned)w->board.bus, (unsigned)w->board.number);
    return code == 0 || qs_fail(&w->why, QS_E_LINK, "%s: cannot claim its interface %u: %s", w->name,
                                (unsigned)w->board.interface, qs_usb_why(code));
}

/* On a thread; what it needs of the wire is nobody else's meanwhile. */
static void connect(void *user)
{
    struct qs_usb_wire *w = user;
    libusb_device *device = NULL;
    int code = libusb_init(&w->context);
    bool ok = code == 0 || qs_fail(&w->why, QS_E_RESOURCE, "libusb does not start: %s", qs_usb_why(code));
    ok = ok && qs_usb_board_find(w->context, w->address, &device, &w->board, &w->why);
    ok = ok && open_device(w, device) && claim(w);
    if (device)
        libusb_unref_device(device);
    if (!ok)
        hang_up(w);
}

static void on_turn(void *user);

static void on_connected(void *user)
{
    struct qs_usb_wire *w = user;
    w->held = false;
    if (w->closed) {
        release(w);
        return;
    }
    if (w->handle)
        w->poll = qs_usb_poll_start(w->p.loop, w->context, on_turn, w, &w->why);
    if (!w->poll) {
        tell_down(w);
        return;
    }
    make_slots(w);
    w->state = BEGINNING;
    qs_loop_random(w->p.loop, w->nonce, sizeof w->nonce);
    int code = ask(w, BEGIN, BEGIN_MS);
    if (code == 0)
        return;
    qs_fail(&w->why, QS_E_LINK, "%s: cannot ask for a session: %s", w->name, qs_usb_why(code));
    fail_soon(w);
}

static int listen_with(struct slot *s)
{
    int code = submit(s);
    if (code != 0) {
        qs_fail(&s->wire->why, QS_E_LINK, "%s: cannot read: %s", s->wire->name, qs_usb_why(code));
        fail_soon(s->wire);
    }
    return code;
}

static int write_with(struct slot *s, const uint8_t *bytes, size_t n)
{
    struct qs_usb_wire *w = s->wire;
    memcpy(s->transfer->buffer, bytes, n);
    s->transfer->length = (int)n;
    s->transfer->flags = n % w->board.out_packet_bytes == 0 ? LIBUSB_TRANSFER_ADD_ZERO_PACKET : 0;
    int code = submit(s);
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
    w->state = GREETING;
    arm(w, NONCE_MS);
    for (size_t i = 0; i < INS; i++) {
        if (listen_with(&w->slots[i]) != 0)
            return;
    }
    if (write_with(&w->slots[INS], w->nonce, NONCE_BYTES) != 0)
        fail_soon(w);
}

/* ---- bytes ---- */

/* Until the nonce has come, it is what an earlier session has left. */
static void on_greeting(struct qs_usb_wire *w, struct slot *s)
{
    size_t n = (size_t)s->transfer->actual_length;
    bool is_nonce = n == NONCE_BYTES && memcmp(s->transfer->buffer, w->nonce, n) == 0;
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
    w->state = UP;
    w->p.on_up(w->p.user);
}

/* Whether to try again, or how it ends. True: nothing is wrong. */
static bool check_status(struct qs_usb_wire *w, const struct slot *s)
{
    enum libusb_transfer_status status = s->transfer->status;
    bool in = s < &w->slots[INS];
    if (status == LIBUSB_TRANSFER_COMPLETED) {
        w->failures = 0;
        return true;
    }
    w->gone = w->gone || status == LIBUSB_TRANSFER_NO_DEVICE;
    bool again = in && status == LIBUSB_TRANSFER_ERROR && s->transfer->actual_length == 0 && !w->gone &&
                 ++w->failures <= RETRIES && w->state == UP;
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

/* Bytes from the queue, as far as there is room on the bus. */
static void flush(struct qs_usb_wire *w)
{
    for (size_t i = INS; i < CONTROL && w->queue.len > 0; i++) {
        size_t n = w->queue.len < QS_USB_TRANSFER_BYTES ? w->queue.len : QS_USB_TRANSFER_BYTES;
        if (w->slots[i].busy)
            continue;
        if (write_with(&w->slots[i], (const uint8_t *)w->queue.data, n) != 0) {
            fail_soon(w);
            return;
        }
        qs_buf_drop_front(&w->queue, n);
    }
}

static void on_in(struct qs_usb_wire *w, struct slot *s)
{
    size_t n = (size_t)s->transfer->actual_length;
    bool freed = false, *before = w->freed;
    w->p.counters->segments_in++;
    w->p.counters->data_segments_in += n > 0 ? 1 : 0;
    if (w->state == GREETING) {
        on_greeting(w, s);
        return;
    }
    w->p.counters->bytes_in += n;
    w->freed = &freed;
    if (n > 0)
        w->p.on_bytes(s->transfer->buffer, n, w->p.user);
    if (freed && before)
        *before = true;
    if (freed)
        return;
    w->freed = before;
    if (!w->closed && w->state == UP)
        listen_with(s);
}

static void on_back(struct qs_usb_wire *w, struct slot *s)
{
    if (s == &w->slots[CONTROL] && w->state == BEGINNING) {
        w->gone = w->gone || s->transfer->status == LIBUSB_TRANSFER_NO_DEVICE;
        on_begun(w, s->transfer->status);
    } else if (s == &w->slots[CONTROL] || (w->state != GREETING && w->state != UP)) {
        w->gone = w->gone || s->transfer->status == LIBUSB_TRANSFER_NO_DEVICE;
        if (w->state == FAILING && w->gone)
            arm(w, 0);
    } else if (!check_status(w, s)) {
        return;
    } else if (s < &w->slots[INS]) {
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
    struct slot *s;
    bool freed = false;
    w->freed = &freed;
    while (!freed && !w->closed && (s = take_back(w)))
        on_back(w, s);
    if (freed)
        return;
    w->freed = NULL;
    if (w->state == ENDING && !w->slots[CONTROL].busy)
        release(w);
}

/* A transfer that failed and brought nothing is tried again. */
static void retry(struct qs_usb_wire *w)
{
    for (size_t i = 0; i < INS; i++) {
        if (!w->slots[i].busy && listen_with(&w->slots[i]) != 0)
            return;
    }
}

static void on_time(void *user)
{
    struct qs_usb_wire *w = user;
    w->timer = NULL;
    switch (w->state) {
    case GREETING:
        qs_fail(&w->why, QS_E_LINK, "%s: its agent takes a session over USB, and does not begin it", w->name);
        deaf(w);
        break;
    case UP:
        retry(w);
        break;
    case FAILING:
        w->gone =
            w->gone || libusb_kernel_driver_active(w->handle, w->board.interface) == LIBUSB_ERROR_NO_DEVICE;
        tell_down(w);
        break;
    case ENDING:
        release(w);
        break;
    case CLAIMING:
    case BEGINNING:
    case RESETTING:
    case DOWN:
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
    qs_loop_work(w->p.loop, QS_LANE_QUICK, connect, on_connected, w);
    return w;
}

bool qs_usb_wire_send(struct qs_usb_wire *w, const uint8_t *bytes, size_t n, struct qs_err *err)
{
    if (w->state != UP)
        return qs_fail(err, QS_E_LINK, "the connection to %s is broken", w->name);
    if (n > QS_LINK_QUEUE_BYTES - w->queue.len)
        return qs_fail(err, QS_E_AGENT, "%s does not read: %zu bytes are waiting", w->name, w->queue.len);
    qs_buf_add(&w->queue, bytes, n);
    flush(w);
    if (w->state == UP)
        return true;
    if (err)
        *err = w->why;
    return false;
}

void qs_usb_wire_close(struct qs_usb_wire *w, struct qs_usb_wire **where)
{
    bool polite = w->state == GREETING || w->state == UP;
    w->closed = true;
    w->where = where;
    if (w->held)
        return;
    qs_timer_stop(w->timer);
    w->timer = NULL;
    if (!w->gone && polite) {
        cancel(w, CONTROL);
        w->first = NULL;
        w->state = ENDING;
        if (ask(w, END, END_MS) == 0) {
            arm(w, END_MS);
            return;
        }
    }
    release(w);
}

bool qs_usb_wire_finish(struct qs_usb_wire *w, bool forget)
{
    struct timeval moment = {.tv_usec = END_MS * 1000 / 8};
    if (forget)
        w->where = NULL;
    if (w->held)
        return false;
    (void)libusb_handle_events_timeout_completed(w->context, &moment, NULL);
    release(w);
    return true;
}
