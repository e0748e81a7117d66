#include "link/found.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

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
static char *hub_of(const char *place)
{
    const char *dot = strrchr(place, '.'), *end = dot ? dot : strrchr(place, '-');
    return end ? qs_asprintf("usb:%.*s", (int)(end - place), place) : NULL;
}

static struct qs_link_found *make(struct qs_link_founds *f, const struct qs_link_sight *sight,
                                  const char *address)
{
    struct qs_link_found *one = qs_calloc(1, sizeof *one);
    one->device.link = f->kind;
    one->device.address = qs_strdup(address);
    one->device.name = name_of(address);
    one->device.agents = f->finds.agents;
    one->device.hub = hub_of(sight->place);
    if (*sight->place)
        one->device.other_address = qs_asprintf("usb:%s", sight->place);
    for (size_t i = 0; i < QS_LINK_SIGHT_LABELS && sight->labels[i][0]; i++)
        add_label(&one->device, sight->labels[i][0], sight->labels[i][1]);
    f->at = qs_grow(f->at, f->count, sizeof(struct qs_link_found *));
    f->at[f->count++] = one;
    return one;
}

static struct qs_link_found *find(const struct qs_link_founds *f, const char *address)
{
    for (size_t i = 0; i < f->count; i++) {
        if (strcmp(f->at[i]->device.address, address) == 0)
            return f->at[i];
    }
    return NULL;
}

static void see(struct qs_link_founds *f, const struct qs_link_sight *sight, bool by_place)
{
    QS_BUF(address);
    qs_buf_fmt(&address, "%s%s", by_place ? "usb:" : "", by_place ? sight->place : sight->serial);
    struct qs_link_found *one = find(f, address.data);
    if (!one && f->count < QS_LINK_FOUND_MAX)
        one = make(f, sight, address.data);
    if (!one)
        return;
    one->seen = true;
    if (!one->here)
        f->finds.on_found(&one->device, f->finds.user);
    one->here = true;
}

static bool is_one_of_several(const struct qs_link_sight *sights, size_t count, const char *serial)
{
    size_t same = 0;
    for (size_t i = 0; i < count; i++)
        same += strcmp(sights[i].serial, serial) == 0;
    return same > 1;
}

void qs_link_founds_take(struct qs_link_founds *f, const struct qs_link_sight *sights, size_t count)
{
    for (size_t i = 0; i < f->count; i++)
        f->at[i]->seen = false;
    for (size_t i = 0; i < count; i++) {
        const struct qs_link_sight *one = &sights[i];
        see(f, one, *one->place && (!*one->serial || is_one_of_several(sights, count, one->serial)));
    }
    for (size_t i = 0; i < f->count; i++) {
        struct qs_link_found *one = f->at[i];
        if (one->here && !one->seen)
            f->finds.on_lost(&one->device, f->finds.user);
        one->here = one->seen;
    }
}

void qs_link_founds_done(struct qs_link_founds *f)
{
    for (size_t i = 0; i < f->count; i++) {
        qs_farm_device_done(&f->at[i]->device);
        free(f->at[i]);
    }
    free(f->at);
}
