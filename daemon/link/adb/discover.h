/* The devices that adb's server knows, as they come and go (host:track-devices-l). */
#ifndef QS_LINK_ADB_DISCOVER_H
#define QS_LINK_ADB_DISCOVER_H

#include "link/link.h"

/* As qs_link_traits has it. Where no server answers, it is asked for again and again: every second at first,
 * every ten seconds later. It is a device whatever its state is for adb: why it cannot be used yet is what
 * its link says. */
struct qs_link_discovery *qs_adb_discover(struct qs_loop *loop, const struct qs_link_finds *finds);
void qs_adb_discover_end(struct qs_link_discovery *discovery);

#endif
