/* Who may use what devices share: a hub, and this machine. Pure: (who asks, for what, when) -> granted, or
 * why not.
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

#include "config/farm.h"

struct qs_hub;

enum qs_hub_use { QS_HUB_WINDOW, QS_HUB_TRANSFER };

/* Who was refused and does not ask again within this time has given up its place. */
#define QS_HUB_PATIENCE_NS INT64_C(1000000000)

/* The devices are borrowed. */
struct qs_hub *qs_hub_new(const struct qs_farm_device *devices, size_t count);
void qs_hub_free(struct qs_hub *hub); /* NULL is allowed */

/* device: its index. True: it has the token until it gives it back (asking again changes nothing). False:
 * *why (valid until the next call) says who is in the way; to be asked again within QS_HUB_PATIENCE_NS. */
bool qs_hub_take(struct qs_hub *hub, size_t device, enum qs_hub_use use, int64_t now_ns, const char **why);
void qs_hub_give(struct qs_hub *hub, size_t device); /* nothing happens where it has none; a wait ends too */

#endif
