/* Commands of this machine that a job names: stop rules, asked between windows, and metrics, read after each
 * window. Never in a window: like a transfer they need the farm's token. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_HOST_H
#define QS_DEVICE_ACTIVITY_HOST_H

#include "device/job/impl.h"
#include "store/rows_window.h"

bool qs_activity_host_has_rules(const struct qs_job_run *job); /* and the run in hand has a stop rule */
/* What the rules answered last. */
const struct qs_rule_answer *qs_activity_host_answers(const struct qs_job_run *job, size_t *ret_count);
/* Asks all metrics for the window in hand, then does `then`; or it has none. */
void qs_activity_host_metrics(struct qs_job_run *job, qs_job_run_then *then);
void qs_activity_host_no_metrics(struct qs_job_run *job);
/* The window's metrics as rows (QS_JOB_HOOKS_MAX at most); texts are borrowed. */
size_t qs_activity_host_evidence(const struct qs_job_run *job, struct qs_evidence_row *rows);
/* Adds to the run's stop reason what a rule said that held, and what failed where none did. */
void qs_activity_host_explain(struct qs_job_run *job, bool held);

#endif
