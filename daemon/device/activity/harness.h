/* Runs of harness mode inside the job run: what their program is given, how it is moved, how it ended.
 * Private to device. */
#ifndef QS_DEVICE_ACTIVITY_HARNESS_H
#define QS_DEVICE_ACTIVITY_HARNESS_H

#include <stdbool.h>

#include "base/buf.h"

struct qs_job_run;

struct qs_msg_run_begin;
struct qs_msg_run_ready;
struct qs_msg_run_ended;
struct qs_build;

bool qs_harness_is_on(const struct qs_job_run *job); /* the point in hand */
void qs_harness_draw(struct qs_job_run *job);        /* the run's layout */
/* Appends what is known of the run's program so far. */
void qs_harness_json(const struct qs_job_run *job, struct qs_buf *out);
bool qs_harness_fill(struct qs_job_run *job, struct qs_build *params, struct qs_msg_run_begin *m);
void qs_harness_ready(struct qs_job_run *job, const struct qs_msg_run_ready *m);
void qs_harness_ended(struct qs_job_run *job, const struct qs_msg_run_ended *m);

#endif
