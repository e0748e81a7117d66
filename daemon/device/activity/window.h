/* The window in hand, and what it gave to the run in hand. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_WINDOW_H
#define QS_DEVICE_ACTIVITY_WINDOW_H

#include "device/session/session.h"

struct qs_job_run;

/* What the session tells of windows, from RUN_BEGIN to the run's end. */
struct qs_run_events qs_activity_window_events(struct qs_job_run *job);
void qs_activity_window_whole(struct qs_job_run *job); /* all rows are here: metrics first, then the store */
void qs_activity_window_count(struct qs_job_run *job); /* the committed iterations go to the run in hand */
double qs_activity_window_median(const struct qs_job_run *job); /* of the run's; NaN: there are none */

#endif
