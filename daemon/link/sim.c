/* A simulated device: the real agent's core over the simulated port, inside the loop. Bytes take a fixed time
 * each way, all waiting is the loop's, and the device outlives its connections as a real one does. Nothing
 * here reads a clock or draws a number of its own: equal seeds give equal bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "link/link_impl.h"
#include "sim/port.h"

static const int64_t LATENCY_NS = 50000; /* each way */

enum { INBOX_BYTES = 4 * 1024 * 1024 }; /* what a device may have on its way to us */

struct sim_own {
    uint64_t seed;
    char *tree;                  /* owned; NULL: it has no board */
    struct qs_sim_event *events; /* owned, with their words */
    size_t event_count;
    struct qs_sim_bed *bed; /* owned; as old as the device */
    struct qs_sim
        *device; /* owned; built at the first open, then kept: it remembers what was not acknowledged */
    struct qs_link *link;             /* borrowed */
    struct qs_buf to_device, to_host; /* on their way */
    bool connected;                   /* the agent has a link */
    bool let_go;                      /* it closed it; told once its last bytes are delivered */
    struct qs_timer *wake, *up, *down;
};

/* What somebody does to it is the caller's, with its words. */
static struct qs_sim_event *events_of(const struct qs_farm_device *device)
{
    struct qs_sim_event *events = qs_calloc(device->sim_event_count + 1, sizeof *events);
    for (size_t i = 0; i < device->sim_event_count; i++) {
        const struct qs_farm_sim_event *e = &device->sim_events[i];
        events[i] =
            (struct qs_sim_event){.window = e->window, .at_ns = e->at_ns, .words = qs_strdup(e->words)};
    }
    return events;
}

static void free_events(struct qs_sim_event *events, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free((char *)events[i].words);
    free(events);
}

static bool sim_check(const struct qs_farm_device *device, const char **ret_key, struct qs_err *err)
{
    if (!device->sim_board) {
        *ret_key = "sim_events";
        return device->sim_event_count == 0 ||
               qs_fail(err, QS_E_CONFIG, "there is no `sim_board` that they could be done to");
    }
    for (size_t i = 0; i < device->sim_event_count; i++) {
        if (!device->sim_events[i].words)
            return true; /* said already */
    }
    struct qs_sim_bed *bed = qs_malloc(sizeof *bed);
    struct qs_sim_event *events = events_of(device);
    bool ok = qs_sim_bed_open(bed, device->sim_board, NULL, 0);
    *ret_key = ok ? "sim_events" : "sim_board";
    ok = ok && qs_sim_bed_open(bed, device->sim_board, events, device->sim_event_count);
    if (!ok)
        qs_fail(err, QS_E_CONFIG, "%s", bed->why);
    free_events(events, device->sim_event_count);
    free(bed);
    return ok;
}

static void *sim_new_own(const struct qs_farm_device *device)
{
    struct sim_own *own = qs_calloc(1, sizeof *own);
    own->seed = device->sim_seed;
    own->tree = device->sim_board ? qs_strdup(device->sim_board) : NULL;
    own->events = events_of(device);
    own->event_count = device->sim_event_count;
    qs_buf_init(&own->to_device);
    qs_buf_init(&own->to_host);
    return own;
}

static void sim_free_own(void *user)
{
    struct sim_own *own = user;
    qs_timer_stop(own->wake);
    qs_buf_done(&own->to_device);
    qs_buf_done(&own->to_host);
    free(own->device);
    free(own->bed);
    free_events(own->events, own->event_count);
    free(own->tree);
    free(own);
}

/* ---- the device's time ---- */

static void on_wake(void *user);

/* After each call into the device: when does it want to be told the time? */
static void set_wake(struct sim_own *own)
{
    struct qs_loop *loop = own->link->loop;
    int64_t next = qs_sim_next_ns(own->device);
    int64_t now = qs_loop_now_ns(loop);
    qs_timer_stop(own->wake);
    own->wake = next == INT64_MAX ? NULL : qs_timer_start(loop, next > now ? next - now : 0, on_wake, own);
}

static void on_wake(void *user)
{
    struct sim_own *own = user;
    own->wake = NULL;
    qs_sim_on_time(own->device, qs_loop_now_ns(own->link->loop));
    set_wake(own);
}

/* ---- from the device to us ---- */

static void on_arrived(void *user)
{
    struct sim_own *own = user;
    struct qs_link *link = own->link;
    own->up = NULL;
    size_t n = own->to_host.len;
    if (n > 0) {
        QS_FREED uint8_t *bytes = (uint8_t *)qs_buf_take(&own->to_host);
        link->counters.bytes_in += n;
        if (own->let_go)
            own->up = qs_timer_start(link->loop, 0, on_arrived, own);
        qs_link_bytes(link, bytes, n); /* the link may be gone now */
        return;
    }
    struct qs_err why = QS_ERR_INIT;
    qs_fail(&why, QS_E_LINK, "%s closed the connection", link->name);
    qs_link_down(link, &why);
}

static void deliver_later(struct sim_own *own)
{
    if (!own->up)
        own->up = qs_timer_start(own->link->loop, LATENCY_NS, on_arrived, own);
}

static bool device_sends(void *ctx, const uint8_t *bytes, size_t n)
{
    struct sim_own *own = ctx;
    if (!own->connected || n > INBOX_BYTES - own->to_host.len)
        return false;
    qs_buf_add(&own->to_host, bytes, n);
    deliver_later(own);
    return true;
}

static void device_closes(void *ctx)
{
    struct sim_own *own = ctx;
    own->connected = false;
    own->let_go = true;
    deliver_later(own);
}

/* ---- from us to the device ---- */

static void on_delivered(void *user)
{
    struct sim_own *own = user;
    own->down = NULL;
    size_t n = own->to_device.len;
    QS_FREED uint8_t *bytes = (uint8_t *)qs_buf_take(&own->to_device);
    if (own->connected)
        qs_sim_on_bytes(own->device, qs_loop_now_ns(own->link->loop), bytes, n);
    set_wake(own);
}

static bool sim_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err)
{
    struct sim_own *own = link->own;
    if (n > QS_LINK_QUEUE_BYTES - own->to_device.len)
        return qs_fail(err, QS_E_AGENT, "%s does not read: %zu bytes are waiting", link->name,
                       own->to_device.len);
    qs_buf_add(&own->to_device, bytes, n);
    link->counters.bytes_out += n;
    if (!own->down)
        own->down = qs_timer_start(link->loop, LATENCY_NS, on_delivered, own);
    return true;
}

/* ---- the link ---- */

static bool build_bed(struct sim_own *own, struct qs_err *err)
{
    own->bed = qs_malloc(sizeof *own->bed);
    if (qs_sim_bed_open(own->bed, own->tree, own->events, own->event_count))
        return true;
    qs_fail(err, QS_E_CONFIG, "the board of %s: %s", own->link->name, own->bed->why);
    free(own->bed);
    own->bed = NULL;
    return false;
}

static bool build_device(struct sim_own *own, int64_t now, struct qs_err *err)
{
    if (own->tree && !build_bed(own, err))
        return false;
    const struct qs_sim_options options = {
        .seed = own->seed,
        .clock_offset_ns = (int64_t)(own->seed % 1000) * 1000000000,
        .run_effect_ppm = 3000,
        .noise_ppm = 5000,
        .busy_ppm = 20000,
        .ambient_mc = 25000,
        .rise_mc = own->bed ? 0 : 30000, /* else the board has its own */
        .thermal_tau_ns = 60000000000,
        .bed = own->bed,
    };
    own->device = qs_malloc(sizeof *own->device);
    qs_sim_init(own->device, &options, now, device_sends, device_closes, own);
    return true;
}

static bool sim_open(struct qs_link *link, struct qs_err *err)
{
    struct sim_own *own = link->own;
    int64_t now = qs_loop_now_ns(link->loop);
    own->link = link;
    own->let_go = false;
    if (!own->device && !build_device(own, now, err))
        return false;
    qs_sim_on_time(own->device, now);
    if (!qs_sim_takes_link(own->device)) {
        set_wake(own);
        return qs_fail(err, QS_E_LINK, "%s is away, or still ending what it did for a lost link", link->name);
    }
    own->connected = true;
    qs_sim_link_up(own->device, now);
    set_wake(own);
    qs_link_up_later(link);
    return true;
}

static void sim_close(struct qs_link *link)
{
    struct sim_own *own = link->own;
    qs_timer_stop(own->up);
    qs_timer_stop(own->down);
    own->up = own->down = NULL;
    qs_buf_clear(&own->to_host);
    if (own->connected && own->to_device.len > 0) /* what was sent before arrives before the end */
        qs_sim_on_bytes(own->device, qs_loop_now_ns(link->loop), (const uint8_t *)own->to_device.data,
                        own->to_device.len);
    qs_buf_clear(&own->to_device);
    if (own->connected)
        qs_sim_link_down(own->device, qs_loop_now_ns(link->loop));
    own->connected = false;
    qs_timer_stop(own->up);
    own->up = NULL;
    qs_buf_clear(&own->to_host);
    set_wake(own);
}

const struct qs_link_ops qs_link_sim_ops = {
    .traits = {.simulated = true},
    .check = sim_check,
    .new_own = sim_new_own,
    .free_own = sim_free_own,
    .open = sim_open,
    .close = sim_close,
    .send = sim_send,
};
