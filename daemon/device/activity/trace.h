/* Traced windows of a run: after its measured ones, so that they cannot disturb them. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_TRACE_H
#define QS_DEVICE_ACTIVITY_TRACE_H

#include <stdbool.h>

struct qs_job_run;

/* Is a traced window of the run in hand due? */
bool qs_activity_trace_is_due(const struct qs_job_run *job);
bool qs_activity_trace_is_on(
    const struct qs_job_run *job); /* a tracer stands: the window in hand is traced */
/* The traced window in hand is committed: its iterations are numbered, and count for nothing. */
void qs_activity_trace_count(struct qs_job_run *job);

#endif
