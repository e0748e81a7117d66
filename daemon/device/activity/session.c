#include "device/activity/activity.h"

#include <string.h>

#include "device/job/impl.h"
#include "store/store.h"

struct session {
    uint8_t uid[16];
    bool open; /* on disk */
};

static struct session *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_SESSION];
}

const uint8_t *qs_activity_session_uid(const struct qs_job_run *job)
{
    return mine(job)->uid;
}

static void settle(struct qs_job_run *job)
{
    struct session *s = mine(job);
    qs_loop_random(job->p.loop, s->uid, sizeof s->uid);
    struct qs_session_row row = {.job = job->p.job,
                                 .device = job->p.device,
                                 .boot_uuid = job->boot_uuid,
                                 .env_json = job->facts_json,
                                 .started_wall_ns = qs_loop_wall_ns(job->p.loop)};
    memcpy(row.uid, s->uid, sizeof row.uid);
    s->open = true;
    qs_store_session_begin(job->p.store, &row, qs_job_run_stored, qs_job_run_awaits(job, NULL));
}

/* Nothing else of the device was changed that would have to be put back; the session's end is the record of
 * that. */
static void restore(struct qs_job_run *job)
{
    qs_job_run_give_token(job); /* the link may have been lost while the files were taken away */
    qs_store_session_end(job->p.store, mine(job)->uid, qs_loop_wall_ns(job->p.loop),
                         job->failed ? job->err.text : NULL, qs_job_run_stored, qs_job_run_awaits(job, NULL));
    mine(job)->open = false;
}

/* A session that ends without its device is closed on disk all the same. */
static void stop(struct qs_job_run *job, const char *why)
{
    struct session *s = mine(job);
    if (!s->open || !why)
        return;
    s->open = false;
    qs_store_session_end(job->p.store, s->uid, qs_loop_wall_ns(job->p.loop), why, qs_job_run_stored,
                         qs_job_run_asks(job));
}

const struct qs_step qs_step_settle = {.start = settle};
const struct qs_step qs_step_restore = {.start = restore};
const struct qs_activity qs_activity_session = {.state_bytes = sizeof(struct session), .stop = stop};
