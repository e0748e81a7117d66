/* warm.c: `frequency: hold`: what the agent keeps processors busy for before a window. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_WARM_H
#define QS_DEVICE_ACTIVITY_WARM_H

#include "config/job/conditions.h"
#include "device/board/pin.h"

struct qs_build;

struct qs_warm {                      /* zeroed: nothing */
    struct qs_job_expectation *lines; /* owned, as their sensors */
    size_t count;
};

/* Lines behind those of the gate, one for each clock of `pins` that is warm: it is to be at its operating
 * point (a table has it exactly, between two limits 2 % are left for what a counter misses), for at most
 * QS_JOB_HOLD_NS, then the window is marked. Where the clock cannot be read processors are kept busy for a
 * second. */
void qs_warm_make(struct qs_warm *warm, const struct qs_pins *pins);
void qs_warm_done(struct qs_warm *warm);
/* The clock as a sensor of the agent, "freq:policy0_khz". False: no room. */
bool qs_warm_bind(struct qs_build *list, const struct qs_board_domain *d);

#endif
