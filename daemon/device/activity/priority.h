/* priority.c: the priority of what is measured, as far as the host has to do with it: what takes the
 * processor away from SCHED_FIFO is switched off where it can be, and told where not. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_PRIORITY_H
#define QS_DEVICE_ACTIVITY_PRIORITY_H

#include "device/activity/watch.h"
#include "device/board/pin.h"
#include "device/job/impl.h"

/* Has what the run in hand measures SCHED_FIFO? */
bool qs_activity_priority_is_fifo(const struct qs_job_run *job);
/* What became of writes: was its switch one of them? */
void qs_activity_priority_tuned(struct qs_job_run *job, const struct qs_pins *pins,
                                const struct qs_asked *asked, const struct qs_msg_tuned *m);
/* All is held for the run in hand: what was achieved goes to the session's environment. */
void qs_activity_priority_begin(struct qs_job_run *job);
/* The window in hand is over: was it so long that the kernel has throttled it? Told once a job. */
void qs_activity_priority_closed(struct qs_job_run *job);

#endif
