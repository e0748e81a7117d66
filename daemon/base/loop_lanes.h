/* The threads of a real loop's works: a queue and threads for each lane, so that no lane waits for another.
 * Private to base. The loop's thread calls all of it but qs_lanes_rest, which a work calls. */
#ifndef QS_BASE_LOOP_LANES_H
#define QS_BASE_LOOP_LANES_H

#include "base/loop.h"

struct qs_lanes;

struct qs_lane_done {
    qs_loop_fn *after;
    void *user;
};

/* on_done: a work has ended, qs_lanes_take has it; called by a thread of a lane. */
struct qs_lanes *qs_lanes_new(void (*on_done)(void *user), void *user);
/* Waits for every work that was added. */
void qs_lanes_free(struct qs_lanes *lanes);

void qs_lanes_add(struct qs_lanes *lanes, enum qs_lane lane, qs_loop_fn *work, qs_loop_fn *after, void *user);
/* One that has ended, oldest first; false: none. */
bool qs_lanes_take(struct qs_lanes *lanes, struct qs_lane_done *ret);
/* Added and not taken. */
size_t qs_lanes_count(const struct qs_lanes *lanes);

/* As qs_loop_is_working, qs_loop_hold_works, qs_loop_release_works, qs_loop_rest and qs_loop_rouse. */
bool qs_lanes_is_working(struct qs_lanes *lanes);
void qs_lanes_hold(struct qs_lanes *lanes, bool on);
void qs_lanes_rest(struct qs_lanes *lanes);
void qs_lanes_rouse(struct qs_lanes *lanes);

#endif
