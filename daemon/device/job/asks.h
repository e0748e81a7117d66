/* What an activity asks: the agent, one question at a time, and the store, off the loop. Private to device.
 */
#ifndef QS_DEVICE_JOB_ASKS_H
#define QS_DEVICE_JOB_ASKS_H

#include "device/job/impl.h"

/* The question that an activity has out. `on` is its own flag for that, which it clears where the answer is
 * of no use to it any more. What cannot be sent is handled (qs_job_run_unsent). */
void qs_job_run_ask(struct qs_job_run *job, bool *on, enum qs_msg_type type, const void *m, int64_t allow_ns,
                    qs_session_reply *on_reply);
/* The answer has come: is it still waited for? */
bool qs_job_run_heard(bool *on);

/* A read of the store about the device and its system. It may outlive the link, even the job run. The first
 * member of what `read` and `after` get as their user, which the latter frees after its end. */
struct qs_job_look {
    struct qs_job_run *job;
    uint64_t epoch;
    char *device, *fingerprint; /* owned; the job run's may change meanwhile */
};
void qs_job_look_begin(struct qs_job_look *look, struct qs_job_run *job, qs_store_read_fn *read,
                       qs_store_after_fn *after);
/* Once, at first in `after`: true where what was found is still of use, and job still there. */
bool qs_job_look_end(struct qs_job_look *look);

#endif
