/* The device's conditions are put in place. Affinity goes with each run, the gate with each window; nothing
 * else of the device is changed. */
#include "device/job/events.h"
#include "device/job/impl.h"

struct lock {
    bool told; /* that the job begins */
};

static void start(struct qs_job_run *job)
{
    struct lock *l = job->activities[QS_ACTIVITY_LOCK];
    if (!l->told)
        qs_job_event_start(job);
    l->told = true;
    qs_job_run_tell(job, &qs_step_lock, QS_JI_DONE);
}

const struct qs_step qs_step_lock = {.start = start};
const struct qs_activity qs_activity_lock = {.state_bytes = sizeof(struct lock)};
