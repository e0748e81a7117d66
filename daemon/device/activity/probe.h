/* probe.c: what was found when the device was tried, now or before. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_PROBE_H
#define QS_DEVICE_ACTIVITY_PROBE_H

#include "device/job/impl.h"

/* Tries the sensors under load, where they are wanted (sense.h), then clocks and switches (knobs.h), and
 * stores what was found; then(job) follows as there. */
void qs_activity_probe_try(struct qs_job_run *job, bool sensors, bool characterized, qs_job_run_then *then);
/* The job was cancelled. False: it waits for nothing that could be cut short. */
bool qs_activity_probe_cut_short(struct qs_job_run *job);
/* Must the device be tried, or what was found be looked at, before the job goes on? */
bool qs_activity_probe_is_due(const struct qs_job_run *job);
/* "; job 3 had found: policy0 cannot be relied on (ignored): ...", where that is of this file. */
void qs_activity_probe_say(const struct qs_job_run *job, const char *path, struct qs_buf *out);

#endif
