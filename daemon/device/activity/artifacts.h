/* The artifacts of a run: fetched and stored between its last window and its end. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_ARTIFACTS_H
#define QS_DEVICE_ACTIVITY_ARTIFACTS_H

#include <stdint.h>

#include "device/job/impl.h"

/* Fetches it, stores it, then does `then`. */
void qs_activity_artifacts_keep(struct qs_job_run *job, qs_job_run_then *then);
void qs_activity_artifacts_output(struct qs_job_run *job);     /* of the window in hand */
uint32_t qs_activity_artifacts_number(struct qs_job_run *job); /* of the run's next one */

#endif
