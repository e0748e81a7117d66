/* When the planner is asked: it hears of every counted run until the least number of blocks is done, and is
 * asked once a point. Private to device. */
#ifndef QS_DEVICE_JOB_ASK_PLANNER_H
#define QS_DEVICE_JOB_ASK_PLANNER_H

struct qs_job_run;

void qs_planning_begin(struct qs_job_run *job); /* of a point */
void qs_planning_run(struct qs_job_run *job);   /* a counted run is over */
void qs_planning_block(struct qs_job_run *job); /* a counted block is over */

#endif
