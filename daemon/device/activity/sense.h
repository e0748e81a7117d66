/* sense.c: what the sensors say while the processors are kept busy for a moment. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_SENSE_H
#define QS_DEVICE_ACTIVITY_SENSE_H

#include "device/job/impl.h"

/* Reads the board's temperatures at rest and under load, and stores those that are stuck, jump or cannot be
 * read; those that are well, too, unless the device was characterized, which knows better. then(job) follows,
 * once, unless the job fails or the link is lost; at once where its agent reads nothing, or loads nothing. */
void qs_activity_sense_try(struct qs_job_run *job, bool characterized, qs_job_run_then *then);
/* How long that takes; 0: it is not done. */
int64_t qs_activity_sense_length_ns(const struct qs_job_run *job);
/* The job was cancelled. False: it waits for nothing that could be cut short. */
bool qs_activity_sense_cut_short(struct qs_job_run *job);

#endif
