#include "farm/hub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct qs_hub {
    struct qs_hub_user *first, *last; /* those that have or wait */
    uint64_t next_ticket;
    char why[200];
};

struct qs_hub *qs_hub_new(void)
{
    return qs_calloc(1, sizeof(struct qs_hub));
}

void qs_hub_free(struct qs_hub *hub)
{
    free(hub);
}

static bool same_hub(const struct qs_farm_device *a, const struct qs_farm_device *b)
{
    return a->hub && b->hub && strcmp(a->hub, b->hub) == 0;
}

static bool is_local_window(const struct qs_hub_user *user)
{
    return user->device->local && user->use == QS_HUB_WINDOW;
}

static bool exclude(const struct qs_hub_user *a, const struct qs_hub_user *b)
{
    return same_hub(a->device, b->device) || is_local_window(a) || is_local_window(b);
}

static void say(struct qs_hub *hub, const struct qs_hub_user *me, const struct qs_hub_user *other)
{
    const char *what = other->has ? (other->use == QS_HUB_WINDOW ? "measures" : "transfers") : "comes first";
    if (same_hub(me->device, other->device))
        snprintf(hub->why, sizeof hub->why, "%.64s %s on hub %.64s", other->device->name, what,
                 other->device->hub);
    else
        snprintf(hub->why, sizeof hub->why, "%.64s %s, and one of the two is this machine",
                 other->device->name, what);
}

/* Somebody has the token, or waits for it since before. */
static bool is_in_the_way(const struct qs_hub_user *me, const struct qs_hub_user *other, int64_t now_ns)
{
    if (other == me || !exclude(me, other))
        return false;
    bool before =
        other->waits && other->ticket < me->ticket && now_ns - other->asked_ns <= QS_HUB_PATIENCE_NS;
    return other->has || before;
}

static void enter(struct qs_hub *hub, struct qs_hub_user *user)
{
    user->before = hub->last;
    user->after = NULL;
    *(hub->last ? &hub->last->after : &hub->first) = user;
    hub->last = user;
}

bool qs_hub_take(struct qs_hub *hub, struct qs_hub_user *user, enum qs_hub_use use, int64_t now_ns,
                 const char **why)
{
    if (user->has)
        return true;
    if (!user->waits)
        enter(hub, user);
    if (!user->waits || now_ns - user->asked_ns > QS_HUB_PATIENCE_NS)
        user->ticket = ++hub->next_ticket;
    user->use = use;
    user->asked_ns = now_ns;
    user->waits = true;
    for (const struct qs_hub_user *other = hub->first; other; other = other->after) {
        if (is_in_the_way(user, other, now_ns)) {
            say(hub, user, other);
            *why = hub->why;
            return false;
        }
    }
    user->waits = false;
    user->has = true;
    return true;
}

void qs_hub_give(struct qs_hub *hub, struct qs_hub_user *user)
{
    if (!user->has && !user->waits)
        return;
    *(user->before ? &user->before->after : &hub->first) = user->after;
    *(user->after ? &user->after->before : &hub->last) = user->before;
    user->has = user->waits = false;
}
