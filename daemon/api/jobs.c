#include "api/handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/owner.h"
#include "api/render.h"
#include "api/reply.h"
#include "config/job/stored.h"
#include "farm/farm.h"
#include "report/shown.h"

enum { LIST_DEFAULT = 50, LIST_MOST = 1000, WAITS_MOST = 20 };

struct jobs {
    struct qs_jobs found;
    int64_t before;
    size_t limit;
    char *owner;       /* of a daemon that reads: of the one that has the jobs, owned; or NULL */
    struct qs_buf out; /* of the one job: what does not change while it is told */
    struct qs_json j;
    char *traces;      /* JSON, owned; NULL where it has none */
    char *evaluations; /* of the one job, JSON, owned */
    char *waits;       /* as `traces` */
};

static void done_jobs(void *data)
{
    struct jobs *d = data;
    qs_jobs_free(&d->found);
    qs_buf_done(&d->out);
    free(d->owner);
    free(d->traces);
    free(d->evaluations);
    free(d->waits);
}

static struct jobs *begin(struct qs_exchange *ex)
{
    struct jobs *d = qs_exchange_data(ex, sizeof *d, done_jobs);
    qs_buf_init(&d->out);
    return d;
}

static bool read_list(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct jobs *d = ex->data;
    return qs_read_jobs(reader, d->before, d->limit, &d->found, err);
}

static bool is_live(const struct qs_job_info *job)
{
    return job->state == QS_JOB_QUEUED || job->state == QS_JOB_RUNNING;
}

/* Both null where it does not wait: `why` NULL. */
static void put_why(struct qs_json *j, const char *why, const char *code)
{
    qs_json_kstring(j, "why", why);
    qs_json_kstring(j, "why_code", why ? code : NULL);
}

/* Why a job does not go on, whatever the farm knows of it. */
static void put_why_held(struct qs_json *j, const struct qs_exchange *ex, const struct qs_job_info *job)
{
    const struct jobs *d = ex->data;
    if (is_live(job) && ex->api->p.reading)
        put_why(j, d->owner ? NULL : "no daemon answers: the job continues as soon as one runs", "daemon");
    else
        put_why(j, qs_farm_waits_for_disk(ex->api->p.farm, job->id), "disk");
}

static void say_list(struct qs_exchange *ex)
{
    struct jobs *d = ex->data;
    bool live = false;
    d->owner = qs_about_owner(ex);
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    qs_json_karray(&j, "jobs");
    for (size_t i = 0; i < d->found.count; i++) {
        qs_json_object(&j);
        qs_render_job(&j, &d->found.at[i]);
        put_why_held(&j, ex, &d->found.at[i]);
        live = live || is_live(&d->found.at[i]);
        qs_json_object_end(&j);
    }
    qs_json_array_end(&j);
    QS_FREED char *notice = qs_store_notice(ex->api->p.store);
    qs_json_kstring(&j, "notice", live && d->owner ? d->owner : notice);
    qs_json_object_end(&j);
    qs_reply_json(ex, 200, &out);
}

void qs_handle_jobs(struct qs_exchange *ex)
{
    long long limit, before;
    struct qs_err err;
    if (!qs_uri_int(&ex->uri, "limit", 1, LIST_MOST, LIST_DEFAULT, &limit, &err) ||
        !qs_uri_int(&ex->uri, "before", 1, INT64_MAX, 0, &before, &err)) {
        qs_reply_error(ex, &err);
        return;
    }
    struct jobs *d = begin(ex);
    d->limit = (size_t)limit;
    d->before = before;
    qs_exchange_read(ex, read_list, say_list);
}

/* The document, and what it says; without arms and points where this version cannot read it any more. */
static void put_document(struct qs_json *j, const struct qs_job_info *job)
{
    QS_SCOPED(qs_stored_job_done) struct qs_stored_job stored;
    struct qs_job_spec *spec = NULL;
    bool known = qs_stored_job_read(job->spec_json, &stored, NULL);
    qs_json_kstring(j, "spec", stored.text);
    if (!known || !qs_job_from_stored(&stored, job->seed, &spec, NULL))
        return;
    qs_render_spec(j, spec);
    qs_job_free(spec);
}

static bool read_state(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct jobs *d = ex->data;
    return qs_read_job(reader, ex->match.id, &d->found, err);
}

/* The document may be large: it is read and written here, on the pool. */
static bool read_one(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct jobs *d = ex->data;
    if (!read_state(reader, ex, err) || !qs_shown_evals(reader, ex->match.id, &d->evaluations, err) ||
        !qs_shown_waits(reader, ex->match.id, WAITS_MOST, &d->waits, err))
        return false;
    const struct qs_job_info *job = &d->found.at[0];
    d->j = qs_json_to(&d->out);
    qs_json_object(&d->j);
    qs_render_job(&d->j, job);
    put_document(&d->j, job);
    /* The fastest and the slowest of a job that runs would show its effect. */
    return is_live(job) || qs_shown_traces(reader, ex->match.id, 0, &d->traces, err);
}

/* The members "why", "why_code" and "position" of a waiting job. */
static void put_waiting(struct qs_json *j, const struct qs_exchange *ex, const struct qs_job_info *job)
{
    QS_BUF(text);
    const struct qs_farm_why why = qs_farm_why(ex->api->p.farm, job->id, &text);
    if (why.code && text.len > 0)
        put_why(j, text.data, why.code);
    else
        put_why_held(j, ex, job);
    qs_json_kmaybe(j, "position", why.position >= 0, why.position);
}

static void say_one(struct qs_exchange *ex)
{
    struct jobs *d = ex->data;
    d->owner = qs_about_owner(ex);
    put_waiting(&d->j, ex, &d->found.at[0]);
    if (d->owner && is_live(&d->found.at[0]))
        qs_json_kstring(&d->j, "notice", d->owner);
    const char *progress = qs_farm_progress(ex->api->p.farm, ex->match.id);
    qs_json_kraw(&d->j, "progress", progress ? progress : "null");
    if (d->traces)
        qs_json_kraw(&d->j, "traces", d->traces);
    qs_json_kraw(&d->j, "evaluations", d->evaluations);
    if (d->waits)
        qs_json_kraw(&d->j, "waits", d->waits);
    qs_json_object_end(&d->j);
    qs_reply_json(ex, 200, &d->out);
}

void qs_handle_job(struct qs_exchange *ex)
{
    begin(ex);
    qs_exchange_read(ex, read_one, say_one);
}

static void say_ended(struct qs_exchange *ex)
{
    struct jobs *d = ex->data;
    struct qs_err err;
    qs_fail(&err, QS_E_CONFLICT, "job %lld has ended already (%s)", (long long)ex->match.id,
            qs_job_state_name(d->found.at[0].state));
    qs_reply_error(ex, &err);
}

/* One that runs ends soon: its window first, then its clean-up. */
static void say_cancelled(struct qs_exchange *ex)
{
    struct jobs *d = ex->data;
    bool over = d->found.at[0].state == QS_JOB_CANCELLED;
    QS_BUF(out);
    qs_buf_fmt(&out, "{\"id\":%lld,\"state\":\"%s\"}", (long long)ex->match.id,
               over ? "cancelled" : "cancelling");
    qs_reply_json(ex, 200, &out);
}

static void on_cancelled(const struct qs_err *err, int64_t id, void *user)
{
    struct qs_exchange *ex = user;
    (void)id;
    if (!qs_exchange_leave(ex))
        return;
    if (err)
        qs_reply_error(ex, err);
    else
        qs_exchange_read(ex, read_state, say_cancelled);
}

/* The farm knows live jobs only: of others the store tells whether they ever were. */
void qs_handle_cancel(struct qs_exchange *ex)
{
    struct qs_err err;
    char why[QS_API_NAME_BYTES + 32];
    qs_owner_guess(ex);
    snprintf(why, sizeof why, "cancelled by %s", ex->owner);
    begin(ex);
    qs_exchange_enter(ex);
    if (qs_farm_cancel(ex->api->p.farm, ex->match.id, why, on_cancelled, ex, &err) || !qs_exchange_leave(ex))
        return;
    if (err.code == QS_E_NOT_FOUND)
        qs_exchange_read(ex, read_state, say_ended);
    else
        qs_reply_error(ex, &err);
}
