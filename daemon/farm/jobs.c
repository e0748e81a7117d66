/* Live jobs: from the queue to the devices, and to their end. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "farm/farm_impl.h"
#include "link/link.h"
#include "report/results.h"

struct qs_farm_job *qs_farm_job_new(struct qs_farm *farm, int64_t id, uint64_t seed, struct qs_job_spec *spec)
{
    struct qs_farm_job *job = qs_calloc(1, sizeof *job);
    job->farm = farm;
    job->id = id;
    job->seed = seed;
    job->spec = spec;
    job->name = qs_strdup(spec ? spec->name : "");
    job->stopped = "";
    job->queue.owner = job;
    job->queue.take = spec ? spec->take : QS_TAKE_ANY;
    job->queue.take_count = spec ? spec->take_count : 0;
    return job;
}

void qs_farm_job_free(struct qs_farm_job *job)
{
    if (!job)
        return;
    qs_queue_remove_job(job->farm->queue, &job->queue);
    qs_timer_stop(job->retry);
    qs_farm_end_done(&job->end);
    qs_job_free(job->spec);
    qs_measured_runs_free(&job->earlier);
    free(job->name);
    free(job->progress);
    free(job->cancel_why);
    free(job);
}

struct qs_farm_job *qs_farm_find(const struct qs_farm *farm, int64_t id)
{
    for (size_t i = 0; i < farm->job_count; i++) {
        if (farm->jobs[i]->id == id)
            return farm->jobs[i];
    }
    return NULL;
}

void qs_farm_add(struct qs_farm *farm, struct qs_farm_job *job)
{
    farm->jobs = qs_grow(farm->jobs, farm->job_count, sizeof(struct qs_farm_job *));
    farm->jobs[farm->job_count++] = job;
}

static void take_out(struct qs_farm *farm, const struct qs_farm_job *job)
{
    for (size_t i = 0; i < farm->job_count; i++) {
        if (farm->jobs[i] == job) {
            farm->job_count--;
            memmove(&farm->jobs[i], &farm->jobs[i + 1], (farm->job_count - i) * sizeof(struct qs_farm_job *));
            return;
        }
    }
}

void qs_farm_remove(struct qs_farm *farm, struct qs_farm_job *job)
{
    take_out(farm, job);
    qs_farm_job_free(job);
    qs_farm_dispatch_soon(farm);
    if (farm->job_count == 0 && farm->events.on_idle)
        farm->events.on_idle(farm->events.user);
}

static void on_event(const char *kind, const char *body_json, const uint8_t *run_uid, void *user)
{
    const struct qs_inventory_item *item = user;
    struct qs_farm_job *job = item->job;
    if (strcmp(kind, "job.progress") == 0) {
        free(job->progress);
        job->progress = qs_strdup(body_json);
    }
    qs_farm_emit(job->farm, kind, job->id, item->config->name, run_uid, body_json);
}

static void on_silence(bool silent, void *user)
{
    const struct qs_inventory_item *item = user;
    struct qs_farm *farm = item->farm;
    if (!item->config->local)
        return;
    unsigned before = farm->silences;
    assert(silent || before > 0);
    if (silent)
        farm->silences++;
    else
        farm->silences--;
    if (farm->events.on_silence && (before == 0 || farm->silences == 0))
        farm->events.on_silence(silent, farm->events.user);
}

static bool is_answering(void *user)
{
    const struct qs_inventory_item *item = user;
    const struct qs_farm_events *to = &item->farm->events;
    return to->is_answering && to->is_answering(to->user);
}

static bool take_token(bool window, const char **why, void *user)
{
    struct qs_inventory_item *item = user;
    return qs_hub_take(item->farm->hub, &item->hub, window ? QS_HUB_WINDOW : QS_HUB_TRANSFER,
                       qs_loop_now_ns(item->farm->p.loop), why);
}

static void give_token(void *user)
{
    struct qs_inventory_item *item = user;
    qs_hub_give(item->farm->hub, &item->hub);
}

static void on_state(const char *from, const char *input, const char *to, void *user)
{
    const struct qs_inventory_item *item = user;
    qs_log(item->farm->p.log, QS_LOG_DEBUG, "control", "job=%lld device=%s %s: %s -> %s",
           (long long)item->job->id, item->config->name, input, from, to);
}

struct verdict_task { /* the report after a job, off the loop */
    struct qs_farm *farm;
    int64_t job;
    const char *db_path;
    struct qs_job_results results;
    int exit;
    struct qs_buf verdicts, brief;
};

/* A window is to open on this machine: the verdict rests till it has closed. */
static bool rest(void *user, const char *stage, double done_ratio)
{
    struct verdict_task *t = user;
    (void)stage;
    (void)done_ratio;
    qs_loop_rest(t->farm->p.loop);
    return true;
}

static bool compute_verdict(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct verdict_task *t = user;
    const struct qs_metric_names all = {.names = NULL};
    if (!qs_job_results_open(reader, t->job, &t->results, err) ||
        !qs_job_results_load(reader, &all, &t->results, err))
        return false;
    struct qs_report_input in = qs_job_results_input(&t->results);
    in.db_path = t->db_path;
    in.progress = (struct qs_progress){.go_on = rest, .user = t};
    return qs_report_verdicts(&in, &t->verdicts, &t->brief, &t->exit, err);
}

static void on_verdict(const struct qs_err *err, void *user)
{
    struct verdict_task *t = user;
    struct qs_farm_job *job = qs_farm_find(t->farm, t->job);
    if (job) {
        QS_BUF(body);
        struct qs_json j = qs_json_to(&body);
        qs_json_object(&j);
        qs_json_kint(&j, "exit", err ? 3 : t->exit);
        qs_json_kbool(&j, "fail_on_regression", job->spec->fail_on_regression);
        qs_json_kraw(&j, "verdicts", err ? "[]" : t->verdicts.data);
        qs_json_object_end(&j);
        qs_farm_finish(job, QS_JOB_DONE, job->stopped, !err && t->brief.len > 0 ? t->brief.data : NULL,
                       body.data);
    }
    qs_job_results_done(&t->results);
    qs_buf_done(&t->verdicts);
    qs_buf_done(&t->brief);
    free(t);
}

static void finish_failed(struct qs_farm_job *job)
{
    QS_BUF(body);
    struct qs_json j = qs_json_to(&body);
    qs_json_object(&j);
    /* design, section 7: precondition failures, infrastructure and the job's own are told apart by the exit
     * code. */
    int code = job->failure.code == QS_E_PRECONDITION                  ? 4
               : qs_errc_blame(job->failure.code) == QS_BLAME_OPERATOR ? 1
                                                                       : 3;
    qs_json_kint(&j, "exit", code);
    qs_json_kstring(&j, "code", qs_errc_slug(job->failure.code));
    qs_json_kstring(&j, "text", job->failure.text);
    qs_json_kstring(&j, "advice", qs_errc_advice(job->failure.code));
    qs_json_kraw(&j, "verdicts", "[]");
    qs_json_object_end(&j);
    qs_farm_finish(job, QS_JOB_FAILED, job->failure.text, NULL, body.data);
}

void qs_farm_end_job(struct qs_farm_job *job)
{
    if (job->ending)
        return;
    job->ending = true;
    qs_queue_remove_job(job->farm->queue, &job->queue);
    if (job->cancelled) {
        qs_farm_finish(job, QS_JOB_CANCELLED, job->cancel_why, NULL, NULL);
    } else if (job->failure.code != QS_E_NONE) {
        finish_failed(job);
    } else {
        struct verdict_task *t = qs_calloc(1, sizeof *t);
        t->farm = job->farm;
        t->job = job->id;
        t->db_path = qs_store_path(job->farm->p.store);
        qs_buf_init(&t->verdicts);
        qs_buf_init(&t->brief);
        qs_store_read(job->farm->p.store, compute_verdict, on_verdict, t);
    }
}

struct retry_task { /* what the job measured before it was given back, read off the loop */
    struct qs_farm *farm;
    int64_t job;
    struct qs_measured_runs measured;
};

static bool read_retry(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct retry_task *t = user;
    return qs_read_measured_runs(reader, t->job, &t->measured, err);
}

static void on_retry_read(const struct qs_err *err, void *user)
{
    struct retry_task *t = user;
    struct qs_farm_job *job = qs_farm_find(t->farm, t->job);
    if (job && job->retry) { /* another device was given back meanwhile: what was read lacks its windows */
        qs_measured_runs_free(&t->measured);
    } else if (job && !err) {
        qs_measured_runs_free(&job->earlier);
        job->earlier = t->measured;
        job->has_earlier = true;
        qs_queue_defer(t->farm->queue, &job->queue, false);
        qs_farm_dispatch_soon(t->farm);
    } else {
        qs_measured_runs_free(&t->measured);
        if (job) {
            job->failure = *err;
            qs_queue_remove_job(t->farm->queue, &job->queue);
            if (job->on_devices == 0)
                qs_farm_end_job(job);
        }
    }
    free(t);
}

static void on_retry(void *user)
{
    struct qs_farm_job *job = user;
    struct retry_task *t = qs_calloc(1, sizeof *t);
    job->retry = NULL;
    t->farm = job->farm;
    t->job = job->id;
    qs_store_read(job->farm->p.store, read_retry, on_retry_read, t);
}

/* A gate gave the device back: the job waits, in its place or at the end of the queue. */
static void give_back(struct qs_farm_job *job, struct qs_inventory_item *item,
                      const struct qs_job_run_result *result)
{
    const int64_t pause_ns = INT64_C(30000000000);
    struct qs_farm *farm = job->farm;
    qs_queue_defer(farm->queue, &job->queue, true); /* until what it has measured is read back */
    qs_queue_claim(farm->queue, &job->queue, &item->queue);
    qs_timer_stop(job->retry);
    job->retry = qs_timer_start(farm->p.loop, pause_ns, on_retry, job);
    if (result->end == QS_END_REQUEUE) {
        take_out(farm, job);
        qs_farm_add(farm, job);
        qs_queue_requeue(farm->queue, &job->queue);
    }
    qs_log(farm->p.log, QS_LOG_WARN, "farm", "job=%lld %s, tried again in 30 s", (long long)job->id,
           result->err.text);
}

static void free_run(void *user)
{
    qs_job_run_free(user);
}

static void on_end(const struct qs_job_run_result *result, void *user)
{
    struct qs_inventory_item *item = user;
    struct qs_farm_job *job = item->job;
    struct qs_farm *farm = item->farm;
    struct qs_job_run *run = item->run;
    item->run = NULL;
    item->job = NULL;
    assert(job->on_devices > 0 && farm->on_devices > 0);
    job->on_devices--;
    farm->on_devices--;
    qs_device_assign(item->device, NULL);
    qs_loop_post(farm->p.loop, free_run, run); /* it is still on the stack */
    if (farm->stopping)
        return;
    job->stopped = result->stopped;
    switch (result->end) {
    case QS_END_DONE:
    case QS_END_CANCELLED:
        break;
    case QS_END_FAILED:
        if (job->failure.code == QS_E_NONE)
            job->failure = result->err;
        break;
    case QS_END_DEFER:
    case QS_END_REQUEUE:
        if (!job->cancelled && job->failure.code == QS_E_NONE) /* else it waits for its other devices alone */
            give_back(job, item, result);
        break;
    }
    if (job->on_devices == 0 && !job->queue.claims)
        qs_farm_end_job(job);
    qs_farm_device_changed(item);
}

/* What processes inherit: this daemon's environment where they run beside it, little elsewhere. */
static const char *const *inherited_env(const struct qs_inventory_item *item)
{
    static const char *const elsewhere[] = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL};
    return item->config->local ? item->farm->p.base_env : elsewhere;
}

void qs_farm_start_on(struct qs_farm_job *job, struct qs_inventory_item *item)
{
    struct qs_farm *farm = job->farm;
    const struct qs_link_traits *traits = qs_link_traits(item->config->link);
    const struct qs_job_run_parts parts = {.loop = farm->p.loop,
                                           .store = farm->p.store,
                                           .files = farm->p.files,
                                           .session = qs_device_session(item->device),
                                           .spec = job->spec,
                                           .ambients = farm->ambients,
                                           .farm = farm->p.config,
                                           .job = job->id,
                                           .seed = job->seed,
                                           .device = item->config->name,
                                           .local = item->config->local,
                                           .simulated = qs_device_is_simulated(item->device),
                                           .quiet_lead_ns = traits->silent_lead_ns,
                                           .base_env = inherited_env(item),
                                           .earlier = job->has_earlier ? &job->earlier : NULL};
    const struct qs_job_run_events events = {.on_event = on_event,
                                             .on_silence = on_silence,
                                             .is_answering = is_answering,
                                             .take_token = take_token,
                                             .give_token = give_token,
                                             .on_state = on_state,
                                             .on_end = on_end,
                                             .user = item};
    assert(!item->run);
    item->job = job;
    item->run = qs_job_run_new(&parts, &events);
    job->on_devices++;
    farm->on_devices++;
    qs_device_assign(item->device, item->run);
}
