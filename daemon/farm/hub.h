/* Who may use what devices share, now: a hub, and this machine. Pure: (who asks, for what, when) -> granted,
 * or why not.
 *
 * On one hub everything excludes everything: windows and transfers, and two windows as well, because a window
 * ends in the transfer of its iterations, which the agent begins by itself. A window of a device on this
 * machine excludes every other use on any hub: the daemon has to serve it. First come, first served: who was
 * refused and goes on asking comes before those who asked later. */
#ifndef QS_FARM_HUB_H
#define QS_FARM_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/farm/farm.h"

struct qs_hub;

enum qs_hub_use { QS_HUB_WINDOW, QS_HUB_TRANSFER };

/* Who was refused and does not ask again within this time has given up its place. */
#define QS_HUB_PATIENCE_NS INT64_C(1000000000)

struct qs_hub_user {                     /* a device; part of its owner's record, zeroed but for the device */
    const struct qs_farm_device *device; /* borrowed */
    /* the hub's */
    enum qs_hub_use use;
    bool has, waits;
    uint64_t ticket;                    /* of a wait: the lowest comes first */
    int64_t asked_ns;                   /* last */
    struct qs_hub_user *before, *after; /* of those that have or wait */
};

struct qs_hub *qs_hub_new(void);
void qs_hub_free(struct qs_hub *hub); /* NULL is allowed */

/* True: the user has the token until it gives it back (asking again changes nothing). False: *why (valid
 * until the next call) says who is in the way; to be asked again within QS_HUB_PATIENCE_NS. */
bool qs_hub_take(struct qs_hub *hub, struct qs_hub_user *user, enum qs_hub_use use, int64_t now_ns,
                 const char **why);
/* Nothing happens where it has none; a wait ends too. Also before the user's record goes. */
void qs_hub_give(struct qs_hub *hub, struct qs_hub_user *user);

#endif
