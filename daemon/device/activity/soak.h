/* soak.c: the highest operating point that the device keeps up. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_SOAK_H
#define QS_DEVICE_ACTIVITY_SOAK_H

#include "device/job/impl.h"

struct qs_model_info;

/* A row of the store, before it begins: a search that was cut short goes on, one that is over is not done
 * again. */
void qs_soak_take(struct qs_job_run *job, const struct qs_model_info *found);
/* The search; then(job) follows, once, unless the job fails, or the link is lost. */
void qs_soak_begin(struct qs_job_run *job, qs_job_run_then *then);
/* Nothing is asked, nothing is loaded, and nothing follows. True: a reading was waited for. */
bool qs_soak_is_waiting(const struct qs_job_run *job);
/* What is left of it at most. */
int64_t qs_soak_left_ns(const struct qs_job_run *job);

#endif
