#include "link/adb/discover.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/loop.h"
#include "base/mem.h"
#include "link/adb/call.h"
#include "link/adb/text.h"
#include "link/found.h"

enum { LIST_MOST_BYTES = 2 * QS_ADB_BLOCK_BYTES };

#define FIRST_RETRY_NS INT64_C(1000000000)
#define LAST_RETRY_NS  INT64_C(10000000000)

struct qs_link_discovery {
    struct qs_loop *loop;
    struct qs_adb_call *call;
    struct qs_timer *retry;
    int64_t retry_ns;
    struct qs_buf in;
    struct qs_link_founds founds;
};

/* ---- the list ---- */

/* A serial that several devices have says nothing: each is told by its place on the bus. */
static bool is_one_of_several(const struct qs_adb_device *lines, size_t count, const char *serial)
{
    size_t same = 0;
    for (size_t i = 0; i < count; i++)
        same += strcmp(lines[i].serial, serial) == 0;
    return same > 1;
}

static void take_line(struct qs_link_discovery *d, const struct qs_adb_device *line, bool by_place)
{
    const char *labels[][2] = {{"serial", line->serial},
                               {"model", line->model},
                               {"product", line->product},
                               {"device", line->device}};
    QS_BUF(address);
    qs_buf_fmt(&address, "%s%s", by_place ? "usb:" : "", by_place ? line->usb : line->serial);
    const struct qs_link_sight sight = {.address = address.data,
                                        .place = line->usb,
                                        .labels = labels,
                                        .label_count = sizeof labels / sizeof *labels};
    qs_link_founds_see(&d->founds, &sight);
}

static void take_list(struct qs_link_discovery *d, char *text)
{
    struct qs_adb_device *lines = qs_calloc(QS_LINK_FOUND_MAX, sizeof *lines);
    size_t count = 0;
    while (count < QS_LINK_FOUND_MAX && qs_adb_next_device(&text, &lines[count]))
        count++;
    qs_link_founds_begin(&d->founds);
    for (size_t i = 0; i < count; i++)
        take_line(d, &lines[i], *lines[i].usb && is_one_of_several(lines, count, lines[i].serial));
    qs_link_founds_end(&d->founds);
    free(lines);
}

/* ---- the server ---- */

static void track(void *user);

static void try_later(struct qs_link_discovery *d)
{
    d->call = NULL;
    qs_buf_clear(&d->in);
    d->retry = qs_timer_start(d->loop, d->retry_ns, track, d);
    d->retry_ns = d->retry_ns * 2 < LAST_RETRY_NS ? d->retry_ns * 2 : LAST_RETRY_NS;
}

/* What it knew stays: whether a device is still there, its own link tells. */
static void on_end(const struct qs_err *why, void *user)
{
    (void)why;
    try_later(user);
}

static void on_open(void *user)
{
    struct qs_link_discovery *d = user;
    d->retry_ns = FIRST_RETRY_NS;
}

static void on_bytes(const uint8_t *bytes, size_t n, void *user)
{
    struct qs_link_discovery *d = user;
    int got = 0;
    QS_BUF(block);
    qs_buf_add(&d->in, bytes, n);
    while ((got = qs_adb_block(&d->in, &block)) > 0)
        take_list(d, block.data);
    if (got < 0 || d->in.len > LIST_MOST_BYTES) {
        qs_adb_close(d->call);
        try_later(d);
    }
}

static void track(void *user)
{
    struct qs_link_discovery *d = user;
    const struct qs_adb_events events = {
        .on_open = on_open, .on_bytes = on_bytes, .on_end = on_end, .user = d};
    d->retry = NULL;
    d->call = qs_adb_open(d->loop, NULL, "host:track-devices-l", &events, NULL);
    if (!d->call)
        try_later(d);
}

struct qs_link_discovery *qs_adb_discover(struct qs_loop *loop, const struct qs_link_finds *finds)
{
    struct qs_link_discovery *d = qs_calloc(1, sizeof *d);
    d->loop = loop;
    d->founds = (struct qs_link_founds){.kind = QS_LINK_ADB, .finds = *finds};
    d->retry_ns = FIRST_RETRY_NS;
    qs_buf_init(&d->in);
    d->retry = qs_timer_start(loop, 0, track, d);
    return d;
}

void qs_adb_discover_end(struct qs_link_discovery *d)
{
    qs_timer_stop(d->retry);
    qs_adb_close(d->call);
    qs_link_founds_done(&d->founds);
    qs_buf_done(&d->in);
    free(d);
}
