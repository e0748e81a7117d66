/* lock.c: what the device has. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_LOCK_H
#define QS_DEVICE_ACTIVITY_LOCK_H

#include "device/job/impl.h"

struct qs_board;

/* Of the session in hand; NULL: its agent does not look, or has not yet. Borrowed until the link is lost or
 * the job over. */
const struct qs_board *qs_activity_lock_board(const struct qs_job_run *job);

/* The same, as it was found before the job changed anything. */
const struct qs_board *qs_activity_lock_home(const struct qs_job_run *job);

/* Looks again, at what the job has changed; then(job) follows, once, unless the link is lost. */
void qs_activity_lock_look_again(struct qs_job_run *job, qs_job_run_then *then);
/* All that was changed is put back: the board is the first one again. */
void qs_activity_lock_back(struct qs_job_run *job);
/* One more element of a BIND; false: it has no room for it. */
bool qs_activity_lock_add(struct qs_build *list, const struct qs_binding *b);
/* The sensors of the board become elements of a BIND, as many as there is room for (false: not all): those
 * whose readings can taint a window, or (watched: false) the others. */
bool qs_activity_lock_add_sensors(const struct qs_job_run *job, bool watched, struct qs_build *list);

#endif
