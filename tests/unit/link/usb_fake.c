#include "usb_fake_impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"

struct fake fake;
struct libusb_context fake_contexts_all[CONTEXTS];
pthread_mutex_t fake_lock;
_Thread_local struct libusb_context *fake_asked;

void fake_enter(void)
{
    pthread_mutex_lock(&fake_lock);
}

void fake_leave(void)
{
    pthread_mutex_unlock(&fake_lock);
}

static void note(const char *word)
{
    qs_buf_fmt(&fake.log, "%s%s", fake.log.len > 0 ? " " : "", word);
}

static void wake(struct libusb_context *c)
{
    uint64_t one = 1;
    assert_int_equal(write(c->fd, &one, sizeof one), sizeof one);
}

static struct transfer *of(struct libusb_transfer *shown)
{
    return (struct transfer *)(void *)shown - 1;
}

/* ---- the test's side ---- */

void fake_init(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&fake_lock, &kind);
    pthread_mutexattr_destroy(&kind);
    memset(&fake, 0, sizeof fake);
    memset(fake_contexts_all, 0, sizeof fake_contexts_all);
    qs_buf_init(&fake.log);
    fake.keeps_timers = true;
}

void fake_done(void)
{
    assert_int_equal(fake.open_contexts, 0);
    assert_int_equal(fake.transfers, 0);
    for (size_t i = 0; i < fake.board_count; i++) {
        assert_int_equal(fake.boards[i].refs, 0);
        assert_null(fake.boards[i].handle);
        qs_buf_done(&fake.boards[i].got);
    }
    qs_buf_done(&fake.log);
    pthread_mutex_destroy(&fake_lock);
}

struct libusb_device *fake_board(const char *serial, const uint8_t *ports, int port_count)
{
    struct libusb_device *b = &fake.boards[fake.board_count++];
    b->plugged = true;
    b->bus = 1;
    b->number = (uint8_t)(4 + fake.board_count);
    memcpy(b->ports, ports, (size_t)port_count);
    b->port_count = port_count;
    b->class = 0xff;
    b->subclass = 0x51;
    b->protocol = 1;
    b->interface = 3;
    b->configuration = b->active = 1;
    b->altsettings = b->configurations = 1;
    b->endpoint_count = 2;
    b->endpoints[0].bEndpointAddress = 0x02;
    b->endpoints[1].bEndpointAddress = 0x81;
    for (int i = 0; i < 2; i++) {
        b->endpoints[i].bmAttributes = LIBUSB_TRANSFER_TYPE_BULK;
        b->endpoints[i].wMaxPacketSize = 512;
    }
    b->serial = serial;
    b->product = "Bench board";
    qs_buf_init(&b->got);
    return b;
}

static void finish(struct transfer *t, enum libusb_transfer_status status, int n)
{
    t->shown->status = status;
    t->shown->actual_length = n;
    t->done = true;
    wake(t->context);
}

static bool is_of(const struct transfer *t, const struct libusb_device *b)
{
    return t && !t->done && t->shown->dev_handle->device == b;
}

/* Reads that wait get what the board has to say, in order. */
static void serve(struct libusb_device *b)
{
    struct libusb_context *c = b->handle ? b->handle->context : NULL;
    for (size_t i = 0; c && i < PENDING && b->chunk_at < b->chunk_count; i++) {
        struct transfer *t = c->pending[i];
        if (!is_of(t, b) || t->shown->type != LIBUSB_TRANSFER_TYPE_BULK || !(t->shown->endpoint & 0x80))
            continue;
        const struct fake_chunk *chunk = &b->chunks[b->chunk_at++];
        assert_true(chunk->n <= t->shown->length);
        memcpy(t->shown->buffer, chunk->bytes, (size_t)chunk->n);
        finish(t, chunk->status, chunk->n);
    }
}

void fake_take(struct libusb_device *b)
{
    struct libusb_context *c = b->handle->context;
    size_t i = 0;
    fake_enter();
    while (i < PENDING && !(is_of(c->pending[i], b) && c->pending[i]->shown->endpoint == 0x02))
        i++;
    assert_true(i < PENDING);
    finish(c->pending[i], LIBUSB_TRANSFER_COMPLETED, c->pending[i]->shown->length);
    fake_leave();
}

static void add_chunk(struct libusb_device *b, const void *bytes, size_t n,
                      enum libusb_transfer_status status)
{
    assert_true(b->chunk_count < FAKE_CHUNKS);
    struct fake_chunk *chunk = &b->chunks[b->chunk_count++];
    assert_true(n <= sizeof chunk->bytes);
    if (n > 0)
        memcpy(chunk->bytes, bytes, n);
    chunk->n = (int)n;
    chunk->status = status;
    serve(b);
}

void fake_send(struct libusb_device *b, const void *bytes, size_t n)
{
    fake_enter();
    add_chunk(b, bytes, n, LIBUSB_TRANSFER_COMPLETED);
    fake_leave();
}

void fake_fail(struct libusb_device *b, enum libusb_transfer_status status)
{
    fake_enter();
    add_chunk(b, NULL, 0, status);
    fake_leave();
}

static void end_all(struct libusb_device *b, enum libusb_transfer_status status, bool control)
{
    struct libusb_context *c = b->handle ? b->handle->context : NULL;
    for (size_t i = 0; c && i < PENDING; i++) {
        if (is_of(c->pending[i], b) && (!control || c->pending[i]->shown->endpoint == 0))
            finish(c->pending[i], status, 0);
    }
}

/* As Linux tells it: errors first, and only the next call knows. */
void fake_unplug(struct libusb_device *b)
{
    fake_enter();
    b->plugged = false;
    end_all(b, LIBUSB_TRANSFER_ERROR, false);
    fake_leave();
}

void fake_expire(struct libusb_device *b)
{
    fake_enter();
    end_all(b, LIBUSB_TRANSFER_TIMED_OUT, true);
    fake_leave();
}

void fake_tell(libusb_hotplug_event event)
{
    (void)event;
    fake_enter();
    for (size_t i = 0; i < CONTEXTS; i++) {
        if (fake_contexts_all[i].used && fake_contexts_all[i].hot) {
            fake_contexts_all[i].news++;
            wake(&fake_contexts_all[i]);
        }
    }
    fake_leave();
}

int fake_pending(const struct libusb_device *b)
{
    int count = 0;
    fake_enter();
    for (size_t i = 0; b->handle && i < PENDING; i++)
        count += is_of(b->handle->context->pending[i], b) ? 1 : 0;
    fake_leave();
    return count;
}

/* ---- contexts ---- */

int libusb_init(libusb_context **ret)
{
    int code = LIBUSB_ERROR_NO_MEM;
    fake_enter();
    for (size_t i = 0; i < CONTEXTS && code != 0; i++) {
        struct libusb_context *c = &fake_contexts_all[i];
        if (c->used)
            continue;
        memset(c, 0, sizeof *c);
        c->used = true;
        c->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        for (size_t b = 0; b < fake.board_count; b++) {
            if (fake.boards[b].plugged)
                c->known[c->known_count++] = &fake.boards[b];
        }
        fake.contexts++;
        fake.open_contexts++;
        *ret = c;
        code = 0;
    }
    fake_leave();
    return code;
}

void libusb_exit(libusb_context *c)
{
    fake_enter();
    assert_true(c->used && c->handles == 0 && !c->in_events && !c->added);
    note("exit");
    close(c->fd);
    c->used = false;
    fake.open_contexts--;
    fake_leave();
}

int libusb_has_capability(uint32_t capability)
{
    return capability == LIBUSB_CAP_HAS_HOTPLUG;
}

const char *libusb_strerror(int code)
{
    return code == LIBUSB_ERROR_IO ? "Input/Output Error" : "Other error";
}

int libusb_hotplug_register_callback(libusb_context *c, int events, int flags, int vendor, int product,
                                     int class, libusb_hotplug_callback_fn fn, void *user,
                                     libusb_hotplug_callback_handle *ret)
{
    (void)ret;
    assert_int_equal(events, 3);
    assert_int_equal(flags, 0);
    assert_true(vendor == -1 && product == -1 && class == -1);
    c->hot = fn;
    c->hot_user = user;
    return 0;
}

int libusb_handle_events_timeout_completed(libusb_context *c, struct timeval *limit, int *completed)
{
    uint64_t unused;
    (void)limit;
    (void)completed;
    assert_false(c->in_events); /* libusb refuses it */
    c->in_events = true;
    (void)!read(c->fd, &unused, sizeof unused);
    for (; c->news > 0; c->news--)
        c->hot(c, NULL, LIBUSB_HOTPLUG_EVENT_DEVICE_ARRIVED, c->hot_user);
    for (size_t i = 0; i < PENDING && !fake.keeps_timers; i++) { /* somebody says that their time is over */
        struct transfer *t = c->pending[i];
        if (t && !t->done && t->shown->timeout > 0)
            finish(t, LIBUSB_TRANSFER_TIMED_OUT, 0);
    }
    for (size_t i = 0; i < PENDING;) {
        struct transfer *t = c->pending[i];
        if (!t || !t->done) {
            i++;
            continue;
        }
        memmove(&c->pending[i], &c->pending[i + 1], (PENDING - 1 - i) * sizeof c->pending[0]);
        c->pending[PENDING - 1] = NULL;
        t->busy = false;
        t->shown->callback(t->shown);
    }
    c->in_events = false;
    return 0;
}

/* ---- one that is open ---- */

int libusb_open(libusb_device *b, libusb_device_handle **ret)
{
    fake_enter();
    int code = b->open_code;
    if (code == 0) {
        libusb_device_handle *h = qs_calloc(1, sizeof *h);
        h->device = libusb_ref_device(b);
        h->context = fake_asked;
        h->context->handles++;
        b->handle = h;
        b->opens++;
        *ret = h;
    }
    fake_leave();
    return code;
}

void libusb_close(libusb_device_handle *h)
{
    fake_enter();
    assert_false(h->claimed);
    for (size_t i = 0; i < PENDING; i++)
        assert_true(!h->context->pending[i]);
    note("close");
    h->context->handles--;
    h->device->handle = NULL;
    libusb_unref_device(h->device);
    fake_leave();
    free(h);
}

int libusb_get_configuration(libusb_device_handle *h, int *ret)
{
    *ret = h->device->active;
    return 0;
}

int libusb_set_configuration(libusb_device_handle *h, int configuration)
{
    h->device->active = (uint8_t)configuration;
    return 0;
}

int libusb_claim_interface(libusb_device_handle *h, int interface)
{
    assert_int_equal(interface, h->device->interface);
    h->claimed = h->device->claim_code == 0;
    return h->device->claim_code;
}

int libusb_release_interface(libusb_device_handle *h, int interface)
{
    assert_int_equal(interface, h->device->interface);
    if (h->claimed)
        note("release");
    h->claimed = false;
    return 0;
}

int libusb_reset_device(libusb_device_handle *h)
{
    fake_enter();
    for (size_t i = 0; i < PENDING; i++)
        assert_true(!h->context->pending[i]);
    h->device->resets++;
    note("reset");
    fake_leave();
    return 0;
}

int libusb_kernel_driver_active(libusb_device_handle *h, int interface)
{
    (void)interface;
    return h->device->plugged ? 0 : LIBUSB_ERROR_NO_DEVICE;
}

/* ---- transfers ---- */

struct libusb_transfer *libusb_alloc_transfer(int iso_packets)
{
    assert_int_equal(iso_packets, 0);
    struct transfer *t = qs_calloc(1, sizeof *t + sizeof *t->shown);
    t->shown = (struct libusb_transfer *)(void *)(t + 1);
    fake.transfers++;
    return t->shown;
}

void libusb_free_transfer(struct libusb_transfer *shown)
{
    assert_false(of(shown)->busy);
    fake.transfers--;
    free(of(shown));
}

static void take_control(struct libusb_device *b, struct transfer *t)
{
    const uint8_t *setup = t->shown->buffer;
    int n = t->shown->length;
    assert_true(b->setup_count < 8 && n <= 24 && t->shown->timeout > 0);
    memcpy(b->setups[b->setup_count++], setup, (size_t)n);
    note(setup[2] == 1 ? "BEGIN" : "END");
    if (b->is_mute)
        return;
    finish(t, setup[2] == 1 ? b->begin : LIBUSB_TRANSFER_COMPLETED, n - 8);
    if (setup[2] != 1 || b->begin != LIBUSB_TRANSFER_COMPLETED)
        return;
    memcpy(b->nonce, setup + 8, sizeof b->nonce);
    if (!b->keeps_nonce)
        add_chunk(b, b->nonce, sizeof b->nonce, LIBUSB_TRANSFER_COMPLETED);
}

static void take_out(struct libusb_device *b, struct transfer *t)
{
    int n = t->shown->length;
    assert_true(n >= 1 && n <= 16384 && b->out_count < (int)(sizeof b->outs / sizeof b->outs[0]));
    if (b->out_errors > 0) {
        b->out_errors--;
        finish(t, LIBUSB_TRANSFER_ERROR, 0);
        return;
    }
    b->outs[b->out_count++] = t->shown->flags & LIBUSB_TRANSFER_ADD_ZERO_PACKET ? -n : n;
    if (b->out_count == 1)
        assert_memory_equal(t->shown->buffer, b->nonce, 16);
    else
        qs_buf_add(&b->got, t->shown->buffer, (size_t)n);
    if (!b->is_full || b->out_count == 1)
        finish(t, LIBUSB_TRANSFER_COMPLETED, n);
}

int libusb_submit_transfer(struct libusb_transfer *shown)
{
    struct transfer *t = of(shown);
    struct libusb_device *b = shown->dev_handle->device;
    struct libusb_context *c = shown->dev_handle->context;
    size_t i = 0;
    assert_false(t->busy);
    assert_true(shown->dev_handle->claimed);
    if (!b->plugged)
        return LIBUSB_ERROR_NO_DEVICE;
    fake_enter();
    while (c->pending[i])
        i++;
    assert_true(i < PENDING);
    c->pending[i] = t;
    t->context = c;
    t->busy = true;
    t->done = false;
    if (shown->type == LIBUSB_TRANSFER_TYPE_CONTROL) {
        take_control(b, t);
    } else {
        b->submits++;
        assert_true(shown->endpoint == b->endpoints[0].bEndpointAddress ||
                    shown->endpoint == b->endpoints[1].bEndpointAddress);
        if (shown->endpoint & 0x80)
            assert_int_equal(shown->length, 16384);
        else
            take_out(b, t);
    }
    serve(b);
    fake_leave();
    return 0;
}

int libusb_cancel_transfer(struct libusb_transfer *shown)
{
    struct transfer *t = of(shown);
    assert_true(t->busy);
    fake_enter();
    if (!t->done)
        finish(t, LIBUSB_TRANSFER_CANCELLED, 0);
    fake_leave();
    return 0;
}
