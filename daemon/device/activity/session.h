/* The job's session on the device: its row on disk, from lock to restore. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_SESSION_H
#define QS_DEVICE_ACTIVITY_SESSION_H

#include <stdint.h>

struct qs_job_run;

const uint8_t *qs_activity_session_uid(const struct qs_job_run *job); /* 16 bytes, of the last one begun */

#endif
