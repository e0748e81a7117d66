#include "device/activity/activity.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#include "device/job/impl.h"
#include "store/store.h"

struct fact {
    char *key, *value; /* owned */
};
struct session {
    uint8_t uid[16];
    bool open; /* on disk */
    struct fact *facts;
    size_t fact_count;
};

static struct session *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_SESSION];
}

const uint8_t *qs_activity_session_uid(const struct qs_job_run *job)
{
    return mine(job)->uid;
}

static void forget(struct session *s)
{
    for (size_t i = 0; i < s->fact_count; i++) {
        free(s->facts[i].key);
        free(s->facts[i].value);
    }
    free(s->facts);
    s->facts = NULL;
    s->fact_count = 0;
}

/* False: it is known. */
static bool take_fact(struct session *s, const char *key, const char *value)
{
    size_t i = 0;
    while (i < s->fact_count && strcmp(s->facts[i].key, key) != 0)
        i++;
    if (i < s->fact_count && strcmp(s->facts[i].value, value) == 0)
        return false;
    if (i == s->fact_count) {
        s->facts = qs_grow(s->facts, s->fact_count, sizeof *s->facts);
        s->facts[s->fact_count++] = (struct fact){qs_strdup(key), NULL};
    }
    free(s->facts[i].value);
    s->facts[i].value = qs_strdup(value);
    return true;
}

bool qs_activity_session_fact(struct qs_job_run *job, const char *key, const char *value)
{
    struct session *s = mine(job);
    QS_BUF(achieved);
    QS_BUF(env);
    if (!s->open || !take_fact(s, key, value))
        return false;
    struct qs_json j = qs_json_to(&achieved);
    qs_json_object(&j);
    for (size_t i = 0; i < s->fact_count; i++)
        qs_json_kstring(&j, s->facts[i].key, s->facts[i].value);
    qs_json_object_end(&j);
    int facts = (int)strlen(job->facts_json) - 1; /* without the brace that closes them */
    qs_buf_fmt(&env, "%.*s%s\"achieved\":%s}", facts, job->facts_json, facts > 1 ? "," : "", achieved.data);
    qs_store_session_env(job->p.store, s->uid, env.data, qs_job_run_stored, qs_job_run_asks(job));
    return true;
}

static void settle(struct qs_job_run *job)
{
    struct session *s = mine(job);
    forget(s);
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

static void done(struct qs_job_run *job)
{
    forget(mine(job));
}

const struct qs_step qs_step_settle = {.start = settle};
const struct qs_step qs_step_restore = {.start = restore};
const struct qs_activity qs_activity_session = {
    .state_bytes = sizeof(struct session), .stop = stop, .done = done};
