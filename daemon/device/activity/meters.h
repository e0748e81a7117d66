/* meters.c: what a job reads beside the durations. Found when the device is looked at, bound with its
 * sensors, and a value of each measured window. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_METERS_H
#define QS_DEVICE_ACTIVITY_METERS_H

#include "device/activity/lock.h"
#include "device/job/impl.h"

struct qs_survey;
struct qs_strings;

/* The files that a survey has to ask for besides. */
void qs_meters_patterns(const struct qs_job_run *job, struct qs_strings *patterns);
/* By the board and what its survey said. */
void qs_meters_find(struct qs_job_run *job, const struct qs_board *board, const struct qs_survey *survey);
/* Whether one of them is this sensor of the board. */
bool qs_meters_name(const struct qs_job_run *job, const char *sensor);
/* They become elements of a BIND; `left` gets those for which it has no room. */
void qs_meters_bind(const struct qs_job_run *job, struct qs_build *list, struct qs_left_out *left);
/* The first readings, as BOUND has them. */
void qs_meters_bound(struct qs_job_run *job, const struct qs_msg_readings *m);
/* Whether all that the job needs can be read; what it can do without is told. */
bool qs_meters_check(struct qs_job_run *job, struct qs_err *err);
/* The values of the window in hand, at most QS_JOB_METERS_MAX rows; how many. They point into the activity.
 */
size_t qs_meters_evidence(struct qs_job_run *job, struct qs_evidence_row *rows);

#endif
