/* sustained.c: what the device kept up when it was characterized, for a run that is to be held at it. Private
 * to device. */
#ifndef QS_DEVICE_ACTIVITY_SUSTAINED_H
#define QS_DEVICE_ACTIVITY_SUSTAINED_H

#include "config/profile/wish.h"
#include "device/job/impl.h"

struct qs_board;

/* khz of its fastest clock; 0: it is not known, and err says what to do. */
typedef void qs_sustained_fn(struct qs_job_run *job, size_t khz, const struct qs_err *err);
/* Looks in the store: take is called, and where it is known then(job) follows; neither where the link is lost
 * before. What is old, or of another system, is used with a warning. */
void qs_sustained_find(struct qs_job_run *job, qs_job_run_then *then, qs_sustained_fn *take);
/* The share at which all clocks were held then. */
struct qs_wish qs_sustained_wish(const struct qs_board *board, size_t khz);

#endif
