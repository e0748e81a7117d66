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

static void take_list(struct qs_link_discovery *d, char *text)
{
    struct qs_adb_device *lines = qs_calloc(QS_LINK_FOUND_MAX, sizeof *lines);
    struct qs_link_sight *sights = qs_calloc(QS_LINK_FOUND_MAX, sizeof *sights);
    size_t count = 0;
    for (; count < QS_LINK_FOUND_MAX && qs_adb_next_device(&text, &lines[count]); count++) {
        const struct qs_adb_device *line = &lines[count];
        sights[count] = (struct qs_link_sight){.serial = line->serial,
                                               .place = line->usb,
                                               .labels = {{"serial", line->serial},
                                                          {"model", line->model},
                                                          {"product", line->product},
                                                          {"device", line->device}}};
    }
    qs_link_founds_take(&d->founds, sights, count);
    free(sights);
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
