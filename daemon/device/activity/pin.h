/* pin.c: what is set on the device for a run, and put back at the session's end. Private to device. */
#ifndef QS_DEVICE_ACTIVITY_PIN_H
#define QS_DEVICE_ACTIVITY_PIN_H

#include "device/job/impl.h"

enum {
    QS_PIN_LEASE_MS =
        60000, /* what is changed stays so long without us; a host that comes back holds it anew */
    QS_PIN_SETTLE_MS = 100 /* androidx waits as long before it reads back */
};

/* Everything that was changed on the device is put back, also by a session before whose host is gone: the
 * device keeps it as long as it hears any host. then(job) follows, once, unless the link is lost. */
void qs_activity_pin_release(struct qs_job_run *job, qs_job_run_then *then);
/* The device is as the conditions of the run in hand want it: then(job) follows, once, unless the job fails,
 * or the link is lost. To be asked between runs. */
void qs_activity_pin_hold(struct qs_job_run *job, qs_job_run_then *then);
/* The same of wishes that are no run's, in step characterize; they are borrowed until the next call. */
void qs_activity_pin_hold_these(struct qs_job_run *job, const struct qs_wishes *wishes,
                                qs_job_run_then *then);
/* After that: the processors of the run in hand, "" = any. */
const char *qs_activity_pin_cpus(const struct qs_job_run *job);
/* What is held for it, as JSON; NULL: nothing. */
const char *qs_activity_pin_held(const struct qs_job_run *job);

/* The line at this place of the gate that the agent is given: of the conditions in hand, then (`frequency:
 * hold`) of the clocks that processors are kept busy for. NULL: there are no more. */
const struct qs_job_expectation *qs_activity_pin_line(const struct qs_job_run *job, size_t index);

/* A window is over, by what CLOSED tells of it. */
void qs_activity_pin_closed(struct qs_job_run *job, const struct qs_msg_closed *m);
/* Was what is held elsewhere around the last window, so that it is to be written again (step pin)? */
bool qs_activity_pin_is_lost(const struct qs_job_run *job);

#endif
