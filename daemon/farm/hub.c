#include "farm/hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct user {
    enum qs_hub_use use;
    bool has, waits;
    uint64_t ticket;  /* of a wait: the lowest comes first */
    int64_t asked_ns; /* last */
};

struct qs_hub {
    const struct qs_farm_device *devices; /* borrowed */
    struct user *users;                   /* owned, per device */
    size_t count;
    uint64_t next_ticket;
    char why[200];
};

struct qs_hub *qs_hub_new(const struct qs_farm_device *devices, size_t count)
{
    struct qs_hub *hub = qs_calloc(1, sizeof *hub);
    hub->devices = devices;
    hub->count = count;
    hub->users = qs_calloc(count + 1, sizeof *hub->users);
    return hub;
}

void qs_hub_free(struct qs_hub *hub)
{
    if (!hub)
        return;
    free(hub->users);
    free(hub);
}

static bool same_hub(const struct qs_farm_device *a, const struct qs_farm_device *b)
{
    return a->hub && b->hub && strcmp(a->hub, b->hub) == 0;
}

static bool is_local_window(const struct qs_farm_device *device, const struct user *user)
{
    return device->local && user->use == QS_HUB_WINDOW;
}

static bool exclude(const struct qs_hub *hub, size_t a, size_t b)
{
    return same_hub(&hub->devices[a], &hub->devices[b]) ||
           is_local_window(&hub->devices[a], &hub->users[a]) ||
           is_local_window(&hub->devices[b], &hub->users[b]);
}

static void say(struct qs_hub *hub, size_t device, size_t other)
{
    const struct user *user = &hub->users[other];
    const char *what = user->has ? (user->use == QS_HUB_WINDOW ? "measures" : "transfers") : "comes first";
    if (same_hub(&hub->devices[device], &hub->devices[other]))
        snprintf(hub->why, sizeof hub->why, "%.64s %s on hub %.64s", hub->devices[other].name, what,
                 hub->devices[other].hub);
    else
        snprintf(hub->why, sizeof hub->why, "%.64s %s, and one of both is this machine",
                 hub->devices[other].name, what);
}

/* Somebody has the token, or waits for it since before. */
static bool is_in_the_way(const struct qs_hub *hub, size_t device, size_t other, int64_t now_ns)
{
    const struct user *me = &hub->users[device], *user = &hub->users[other];
    if (other == device || !exclude(hub, device, other))
        return false;
    bool before = user->waits && user->ticket < me->ticket && now_ns - user->asked_ns <= QS_HUB_PATIENCE_NS;
    return user->has || before;
}

bool qs_hub_take(struct qs_hub *hub, size_t device, enum qs_hub_use use, int64_t now_ns, const char **why)
{
    struct user *me = &hub->users[device];
    if (me->has)
        return true;
    if (!me->waits || now_ns - me->asked_ns > QS_HUB_PATIENCE_NS)
        me->ticket = ++hub->next_ticket;
    me->use = use;
    me->asked_ns = now_ns;
    me->waits = true;
    for (size_t other = 0; other < hub->count; other++) {
        if (is_in_the_way(hub, device, other, now_ns)) {
            say(hub, device, other);
            *why = hub->why;
            return false;
        }
    }
    me->waits = false;
    me->has = true;
    return true;
}

void qs_hub_give(struct qs_hub *hub, size_t device)
{
    hub->users[device].has = hub->users[device].waits = false;
}
