/* knobs.c: what of the device stays as it is written, and does something. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_KNOBS_H
#define QS_DEVICE_ACTIVITY_KNOBS_H

#include "device/job/impl.h"

/* Where its agent changes nothing a job that wants only this fails, others go on, with a warning. Tries each
 * frequency and switch of the board, puts all back, and stores what was found; then(job) follows, once,
 * unless the job fails or the link is lost. Of a job that ends meanwhile nothing is stored. */
void qs_activity_knobs_try(struct qs_job_run *job, qs_job_run_then *then);
/* About how long that takes, and what there is to try: clocks and switches. */
int64_t qs_activity_knobs_length_ns(const struct qs_job_run *job, size_t *ret_clocks, size_t *ret_switches);
/* The job was cancelled. False: it waits for nothing that could be cut short. */
bool qs_activity_knobs_cut_short(struct qs_job_run *job);

#endif
