/* Runs of mode stream inside the job run: from the process that the device measured to the values that it
 * wrote. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_STREAM_H
#define QS_DEVICE_ACTIVITY_STREAM_H

#include <stdbool.h>

struct qs_job_run;
struct qs_msg_run_begin;

bool qs_stream_is_on(const struct qs_job_run *job); /* the point in hand */
void qs_stream_fill(const struct qs_job_run *job, struct qs_msg_run_begin *m);
/* The process's row has come: the document is read in the pool, then the window is stored. */
void qs_stream_read(struct qs_job_run *job);

#endif
