/* When a run has enough: its stop rule over the accepted iterations, and the limits that hold whatever it
 * says. Private to device. */
#ifndef QS_DEVICE_JOB_STOP_RULE_H
#define QS_DEVICE_JOB_STOP_RULE_H

#include <stdbool.h>
#include <stdint.h>

struct qs_job_run;

/* The next iteration of the run in hand. */
void qs_stop_rule_push(struct qs_job_run *job, int64_t duration_ns, bool accepted);
/* At a window's end: true where the run is over, with its reason in the run. */
bool qs_stop_rule_holds(struct qs_job_run *job);

#endif
