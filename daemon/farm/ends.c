/* The end of a job: on disk before it is forgotten. While the disk does not take it, the job waits, with its
 * decided end, and no other job begins. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "farm/farm_impl.h"

enum { TRIES_DOUBLING = 6 };
#define FIRST_PAUSE_NS INT64_C(500000000)

struct ending { /* a request on its way: the job itself may not outlive it */
    struct qs_farm *farm;
    int64_t job;
};

static void commit_end(struct qs_farm_job *job);

static char *state_body(const struct qs_farm_end *end)
{
    QS_BUF(body);
    struct qs_json j = qs_json_to(&body);
    qs_json_object(&j);
    qs_json_kstring(&j, "state", qs_job_state_name(end->state));
    qs_json_kstring(&j, "reason", end->reason);
    qs_json_object_end(&j);
    return qs_buf_take(&body);
}

static void tell(struct qs_farm *farm, const struct qs_farm_event *event)
{
    if (farm->events.on_event)
        farm->events.on_event(event, farm->events.user);
}

/* After a second try what is stored may be the first one's end: whoever listens reads it from there. */
static void tell_end(struct qs_farm_job *job, int64_t id)
{
    const struct qs_farm_end *end = &job->end;
    bool certain = end->failures == 0;
    struct qs_farm_event event = {
        .id = id - 1, .wall_ns = end->wall_ns, .job = job->id, .kind = "job.result"};
    if (certain && end->result_json) {
        event.body_json = end->result_json;
        tell(job->farm, &event);
    }
    QS_FREED char *body = state_body(end);
    event.id = id;
    event.kind = "job.state";
    event.body_json = certain ? body : NULL;
    tell(job->farm, &event);
}

void qs_farm_end_stop(struct qs_farm_job *job)
{
    qs_timer_stop(job->end.again);
    job->end.again = NULL;
}

/* ---- while the disk does not take it ---- */

static void on_again(void *user)
{
    struct qs_farm_job *job = user;
    job->end.again = NULL;
    commit_end(job);
}

/* Not stored, for nothing can be: whoever listens now is told. */
static void tell_waiting(const struct qs_farm_job *job)
{
    QS_BUF(body);
    qs_farm_waiting_event(job->farm, job->id, &body);
    tell(job->farm, &(struct qs_farm_event){.wall_ns = qs_loop_wall_ns(job->farm->p.loop),
                                            .job = job->id,
                                            .kind = "job.waiting",
                                            .body_json = body.data});
}

static void wait_for_disk(struct qs_farm_job *job, const struct qs_err *err)
{
    struct qs_farm *farm = job->farm;
    struct qs_farm_end *end = &job->end;
    bool news = !end->waits;
    free(end->waits);
    end->waits = qs_asprintf("waiting for the disk: %s: %s", err->text, qs_errc_advice(err->code));
    if (news) {
        farm->ends_waiting++;
        qs_log(farm->p.log, QS_LOG_ERROR, "farm",
               "job=%lld its end (%s) is not on disk, %s; tried again until it is", (long long)job->id,
               qs_job_state_name(end->state), end->waits);
        tell_waiting(job);
    }
    unsigned doubled = end->failures < TRIES_DOUBLING ? end->failures : TRIES_DOUBLING;
    end->failures++;
    if (!farm->stopping)
        end->again = qs_timer_start(farm->p.loop, FIRST_PAUSE_NS << doubled, on_again, job);
}

void qs_farm_disk_is_back(struct qs_farm *farm)
{
    for (size_t i = 0; i < farm->job_count && farm->ends_waiting > 0; i++) {
        struct qs_farm_job *job = farm->jobs[i];
        if (!job->end.again)
            continue;
        qs_farm_end_stop(job);
        commit_end(job);
    }
}

const char *qs_farm_waits_for_disk(const struct qs_farm *farm, int64_t id)
{
    for (size_t i = 0; i < farm->job_count && farm->ends_waiting > 0; i++) {
        if (farm->jobs[i]->end.waits && (id == 0 || farm->jobs[i]->id == id))
            return farm->jobs[i]->end.waits;
    }
    return NULL;
}

bool qs_farm_waiting_event(const struct qs_farm *farm, int64_t job, struct qs_buf *body)
{
    const char *waits = qs_farm_waits_for_disk(farm, job);
    if (!waits)
        return false;
    struct qs_json j = qs_json_to(body);
    qs_json_object(&j);
    qs_json_kstring(&j, "why", waits);
    qs_json_kstring(&j, "why_code", "disk");
    qs_json_object_end(&j);
    return true;
}

/* ---- the commit ---- */

static void forget(struct qs_farm_job *job, const struct qs_err *err, int64_t id)
{
    struct qs_farm *farm = job->farm;
    bool waited = job->end.waits != NULL;
    if (err)
        qs_log(farm->p.log, QS_LOG_ERROR, "farm", "job=%lld %s, forgotten", (long long)job->id, err->text);
    if (waited) {
        farm->ends_waiting--;
        qs_log(farm->p.log, QS_LOG_INFO, "farm", "job=%lld its end is on disk now", (long long)job->id);
    }
    if (id > 0)
        tell_end(job, id);
    qs_farm_remove(farm, job);
    if (waited)
        qs_farm_disk_is_back(farm);
}

static void on_stored(const struct qs_err *err, int64_t id, void *user)
{
    struct ending e = *(struct ending *)user;
    free(user);
    assert(e.farm->outstanding > 0 && e.farm->ends_asked > 0);
    e.farm->outstanding--;
    e.farm->ends_asked--;
    struct qs_farm_job *job = qs_farm_find(e.farm, e.job);
    if (err && err->code == QS_E_STORE)
        wait_for_disk(job, err);
    else
        forget(job, err, id);
    qs_farm_answered(e.farm);
}

static void commit_end(struct qs_farm_job *job)
{
    struct qs_farm *farm = job->farm;
    struct ending *e = qs_malloc(sizeof *e);
    char *body = state_body(&job->end);
    *e = (struct ending){.farm = farm, .job = job->id};
    const struct qs_job_end_row row = {.job = job->id,
                                       .at_ns = job->end.wall_ns,
                                       .state = job->end.state,
                                       .reason = job->end.reason,
                                       .runs_per_block = job->end.runs_per_block,
                                       .verdict_json = job->end.verdict_json,
                                       .result_json = job->end.result_json,
                                       .state_json = body};
    farm->outstanding++;
    farm->ends_asked++;
    qs_store_job_end(farm->p.store, &row, on_stored, e);
    free(body);
}

static uint32_t runs_per_block(const struct qs_job_spec *spec)
{
    return spec ? (uint32_t)spec->arm_count * (spec->plan.order == QS_ORDER_ABBA ? 2 : 1) : 0;
}

void qs_farm_finish(struct qs_farm_job *job, enum qs_job_state state, const char *reason,
                    const char *verdict_json, const char *result_json)
{
    struct qs_farm *farm = job->farm;
    job->ending = true;
    qs_queue_remove_job(farm->queue, &job->queue);
    job->end = (struct qs_farm_end){.state = state,
                                    .reason = qs_strdup(reason),
                                    .verdict_json = qs_strdup(verdict_json),
                                    .result_json = qs_strdup(result_json),
                                    .wall_ns = qs_loop_wall_ns(farm->p.loop),
                                    .runs_per_block = runs_per_block(job->spec)};
    qs_log(farm->p.log, state == QS_JOB_FAILED ? QS_LOG_WARN : QS_LOG_INFO, "farm", "job=%lld state=%s %s%s",
           (long long)job->id, qs_job_state_name(state), reason ? reason : "",
           state == QS_JOB_FAILED ? ", what was measured is kept" : "");
    commit_end(job);
}

bool qs_farm_cancel_end(struct qs_farm_job *job, const char *why)
{
    struct qs_farm_end *end = &job->end;
    if (!end->waits || end->state == QS_JOB_CANCELLED)
        return false;
    free(end->reason);
    free(end->verdict_json);
    free(end->result_json);
    end->state = QS_JOB_CANCELLED;
    end->reason = qs_strdup(why);
    end->verdict_json = end->result_json = NULL;
    if (end->again) {
        qs_farm_end_stop(job);
        commit_end(job);
    }
    return true;
}

void qs_farm_end_done(struct qs_farm_end *end)
{
    qs_timer_stop(end->again);
    free(end->reason);
    free(end->verdict_json);
    free(end->result_json);
    free(end->waits);
}
