/* How long a window may last before the device becomes too warm (`end_below` of a line of the gate), by the
 * heating curves that `quiesce characterize` measured. A window begins as warm as the gate lets it, at most:
 * where a line of the same sensor has an upper bound, the curve says how soon the limit can be reached from
 * there (qs_cooling_rise, its lower end, two sd of the readings apart). The curve is that of the cluster in
 * which the arm runs, or else that of all processors. Windows are then no longer, and have no more iterations
 * than fit for every arm. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_HEADROOM_H
#define QS_DEVICE_ACTIVITY_HEADROOM_H

#include "device/job/impl.h"

struct qs_headroom;

struct qs_headroom_of { /* one arm at the point in hand */
    int64_t ns;         /* a window may last so long: 0 or more */
    const char *sensor, *domain;
    int64_t from_mc, limit_mc;
};

/* Reads the curves from the store, once, where the job has such a limit; then(job) follows in any case. What
 * cannot be used is told. */
void qs_headroom_read(struct qs_job_run *job, qs_job_run_then *then);
void qs_headroom_free(struct qs_headroom *headroom); /* NULL: nothing */
/* False: its windows have no such limit. */
bool qs_headroom_of_arm(const struct qs_job_run *job, size_t arm, struct qs_headroom_of *ret);
/* The pilot of the arm in turn is over: how long an iteration takes is known. */
void qs_headroom_pilot(struct qs_job_run *job);
/* Before the pilot's block is done: no more iterations than fit; afterwards what that came to is told. */
void qs_headroom_fit(struct qs_job_run *job);
void qs_headroom_tell(struct qs_job_run *job);

#endif
