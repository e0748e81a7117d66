/* The way into a window's silence: the farm's token, and what this machine holds back. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_SILENCE_H
#define QS_DEVICE_ACTIVITY_SILENCE_H

#include <stdbool.h>

#include "base/loop.h"

struct qs_job_run;

/* Whether it may transfer, by the farm's token where there is one. False: ask_again is called with job, once,
 * after a while; *again is its timer, which ask_again sets to NULL. */
bool qs_job_run_has_token(struct qs_job_run *job, struct qs_timer **again, qs_loop_fn *ask_again);
/* The session asks at ARM; user is the job run. */
bool qs_job_run_may_quiet(const char **why, void *user);
void qs_job_run_give_token(struct qs_job_run *job); /* nothing happens where it has none */
/* While it is on, a host that shares the machine begins no commit and no read. Nothing happens where it is so
 * already. */
void qs_job_run_set_silence(struct qs_job_run *job, bool on);

#endif
