#include "link/adb/discover.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/loop.h"
#include "base/mem.h"
#include "link/adb/call.h"
#include "link/adb/text.h"

enum { LIST_MOST_BYTES = 2 * QS_ADB_BLOCK_BYTES, DEVICES_MAX = 1000 };

#define FIRST_RETRY_NS INT64_C(1000000000)
#define LAST_RETRY_NS  INT64_C(10000000000)

struct found {
    struct qs_farm_device device; /* its texts are owned */
    bool here, seen;              /* now; in the list that is being read */
};

struct qs_link_discovery {
    struct qs_loop *loop;
    struct qs_link_finds finds;
    struct qs_adb_call *call;
    struct qs_timer *retry;
    int64_t retry_ns;
    struct qs_buf in;
    struct found **found; /* owned: until the end */
    size_t found_count;
};

/* ---- one device ---- */

static void add_label(struct qs_farm_device *device, const char *key, const char *value)
{
    if (*value)
        qs_strings_add(&device->labels, qs_asprintf("%s=%s", key, value));
}

/* What can be part of an address of the API, and of a selector. */
static char *name_of(const char *address)
{
    char *name = qs_strdup(address);
    for (char *c = name; *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            *c = '-';
    }
    return name;
}

/* "1-4.2" hangs on "1-4", "1-4" on "1": devices of one hub share its cable. */
static char *hub_of(const char *usb)
{
    const char *dot = strrchr(usb, '.'), *end = dot ? dot : strrchr(usb, '-');
    return end ? qs_asprintf("usb:%.*s", (int)(end - usb), usb) : NULL;
}

static struct found *make(struct qs_link_discovery *d, const struct qs_adb_device *line, const char *address)
{
    struct found *f = qs_calloc(1, sizeof *f);
    f->device.link = QS_LINK_ADB;
    f->device.address = qs_strdup(address);
    f->device.name = name_of(address);
    f->device.agents = d->finds.agents;
    f->device.hub = hub_of(line->usb);
    add_label(&f->device, "serial", line->serial);
    add_label(&f->device, "model", line->model);
    add_label(&f->device, "product", line->product);
    add_label(&f->device, "device", line->device);
    d->found = qs_grow(d->found, d->found_count, sizeof(struct found *));
    d->found[d->found_count++] = f;
    return f;
}

static struct found *find(const struct qs_link_discovery *d, const char *address)
{
    for (size_t i = 0; i < d->found_count; i++) {
        if (strcmp(d->found[i]->device.address, address) == 0)
            return d->found[i];
    }
    return NULL;
}

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
    QS_BUF(address);
    qs_buf_fmt(&address, "%s%s", by_place ? "usb:" : "", by_place ? line->usb : line->serial);
    struct found *f = find(d, address.data);
    if (!f && d->found_count < DEVICES_MAX)
        f = make(d, line, address.data);
    if (!f)
        return;
    f->seen = true;
    if (!f->here)
        d->finds.on_found(&f->device, d->finds.user);
    f->here = true;
}

static void take_list(struct qs_link_discovery *d, char *text)
{
    struct qs_adb_device *lines = qs_calloc(DEVICES_MAX, sizeof *lines);
    size_t count = 0;
    while (count < DEVICES_MAX && qs_adb_next_device(&text, &lines[count]))
        count++;
    for (size_t i = 0; i < d->found_count; i++)
        d->found[i]->seen = false;
    for (size_t i = 0; i < count; i++)
        take_line(d, &lines[i], *lines[i].usb && is_one_of_several(lines, count, lines[i].serial));
    for (size_t i = 0; i < d->found_count; i++) {
        struct found *f = d->found[i];
        if (f->here && !f->seen)
            d->finds.on_lost(&f->device, d->finds.user);
        f->here = f->seen;
    }
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
    d->finds = *finds;
    d->retry_ns = FIRST_RETRY_NS;
    qs_buf_init(&d->in);
    d->retry = qs_timer_start(loop, 0, track, d);
    return d;
}

void qs_adb_discover_end(struct qs_link_discovery *d)
{
    qs_timer_stop(d->retry);
    qs_adb_close(d->call);
    for (size_t i = 0; i < d->found_count; i++) {
        qs_farm_device_done(&d->found[i]->device);
        free(d->found[i]);
    }
    free(d->found);
    qs_buf_done(&d->in);
    free(d);
}
