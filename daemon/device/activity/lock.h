/* lock.c: what the device has. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_LOCK_H
#define QS_DEVICE_ACTIVITY_LOCK_H

#include "device/job/impl.h"

struct qs_board;

/* Of the session in hand; NULL: its agent does not look, or has not yet. Borrowed until the link is lost or
 * the job over. */
const struct qs_board *qs_activity_lock_board(const struct qs_job_run *job);

/* Looks (again); then(job) follows, once, unless the link is lost. */
void qs_activity_lock_look(struct qs_job_run *job, qs_job_run_then *then);
/* One more element of a BIND; false: it has no room for it. */
bool qs_activity_lock_add(struct qs_build *list, const struct qs_binding *b);
/* The sensors of the board become elements of a BIND, as many as there is room for. */
void qs_activity_lock_add_sensors(const struct qs_job_run *job, struct qs_build *list);

#endif
