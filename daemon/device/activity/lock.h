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
/* What a sensor is read for: those that a gate or a bound of the job names, then those whose readings can
 * taint a window, then those that are only recorded. */
enum qs_sensor_use { QS_SENSORS_NAMED, QS_SENSORS_WATCHED, QS_SENSORS_RECORDED, QS_SENSOR_USES };

struct qs_left_out { /* sensors that a BIND has no room for */
    size_t count, watched;
    const char *names[3]; /* of the first; borrowed of the board */
};

/* The sensors of the board for this use become elements of a BIND, as many as there is room for. */
void qs_activity_lock_add_sensors(const struct qs_job_run *job, enum qs_sensor_use use, struct qs_build *list,
                                  struct qs_left_out *left);
void qs_activity_lock_leave(struct qs_left_out *left, const char *name, bool watched);
/* The job is told, once unless it becomes more. */
void qs_activity_lock_warn(struct qs_job_run *job, const struct qs_left_out *left);

#endif
