/* ambient.c: how warm it is around the device, before and with each window. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_AMBIENT_H
#define QS_DEVICE_ACTIVITY_AMBIENT_H

#include "device/job/impl.h"

/* then(job) follows once: the ambient temperature is as good as it can be had. At once where there is no
 * sensor, or its last reading is young enough. */
void qs_activity_ambient_refresh(struct qs_job_run *job, qs_job_run_then *then);
/* What is under way is over; then(job) follows. False: nothing is. */
bool qs_activity_ambient_hush(struct qs_job_run *job);
/* The bounds of the conditions' gate as they are now, into the window in hand. */
void qs_activity_ambient_bounds(struct qs_job_run *job);
/* The window begins: what holds for it is noted. */
void qs_activity_ambient_note(struct qs_job_run *job);
/* Its row of evidence, and of its gate's record what bounds came to; how many of each. They point into the
 * activity.
 */
size_t qs_activity_ambient_evidence(const struct qs_job_run *job, struct qs_evidence_row *rows);
size_t qs_activity_ambient_readings(struct qs_job_run *job, struct qs_reading_row *rows);
/* "room": the sensor's name; NULL: the device has none. */
const char *qs_activity_ambient_name(const struct qs_job_run *job);
const char *qs_activity_ambient_why(const struct qs_job_run *job); /* it has no good reading */

#endif
