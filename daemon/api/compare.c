#include "api/compare.h"

#include <stdlib.h>
#include <string.h>

#include "api/handlers.h"
#include "api/reply.h"
#include "api/steps.h"
#include "base/mem.h"
#include "report/job/document.h"
#include "report/job/opinion.h"
#include "report/shown.h"

bool qs_compare_check_ended(const struct qs_job_info *job, struct qs_err *err)
{
    if (job->state != QS_JOB_QUEUED && job->state != QS_JOB_RUNNING)
        return true;
    return qs_fail(err, QS_E_CONFLICT, "job %lld is %s: results are shown when it has ended",
                   (long long)job->id, qs_job_state_name(job->state));
}

/* The environment of the first run that has one: owned by the caller, or NULL. */
static bool read_environment(struct qs_store_reader *reader, int64_t job, char **ret, struct qs_err *err)
{
    struct qs_runs runs;
    if (!qs_read_runs(reader, job, 0, 16, &runs, err))
        return false;
    *ret = NULL;
    for (size_t i = 0; i < runs.count && !*ret; i++)
        *ret = qs_strdup(runs.at[i].env_json);
    qs_runs_free(&runs);
    return true;
}

static bool write_document(struct qs_store_reader *reader, const char *db_path, struct qs_compared *c,
                           struct qs_err *err)
{
    QS_FREED char *taints = NULL;
    QS_FREED char *environment = NULL;
    int64_t job = c->results.job.at[0].id;
    if (!qs_shown_taints(reader, job, &taints, err) || !read_environment(reader, job, &environment, err))
        return false;
    struct qs_report_input in = qs_compared_input(c);
    in.taints_json = taints;
    in.environment_json = environment;
    in.db_path = db_path;
    in.told = &c->told;
    in.tables = c->tables.form ? &c->tables : NULL;
    return qs_report_compare(&in, &c->document, err);
}

bool qs_compared_job(struct qs_store_reader *reader, int64_t job, struct qs_compared *ret, struct qs_err *err)
{
    return qs_job_results_open(reader, job, &ret->results, err) &&
           qs_compare_check_ended(&ret->results.job.at[0], err);
}

struct qs_report_input qs_compared_input(const struct qs_compared *c)
{
    struct qs_report_input in = qs_job_results_input(&c->results);
    in.opinions = c->opinions;
    in.views = c->views;
    in.progress = c->progress;
    return in;
}

bool qs_compare_read(struct qs_store_reader *reader, const char *db_path, int64_t job,
                     struct qs_compared *ret, struct qs_err *err)
{
    return qs_compared_job(reader, job, ret, err) &&
           qs_job_results_load(reader, &ret->metric_query.list, &ret->results, err) &&
           write_document(reader, db_path, ret, err);
}

void qs_compared_done(struct qs_compared *c)
{
    qs_job_results_done(&c->results);
    qs_metric_query_done(&c->metric_query);
    qs_report_tolds_done(&c->told);
    qs_tables_done(&c->tables);
    qs_buf_done(&c->document);
}

static void done_compare(void *data)
{
    qs_compared_done(data);
}

static bool read_compare(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    return qs_compare_read(reader, qs_store_path(ex->api->p.store), ex->match.id, ex->data, err);
}

static void say_compare(struct qs_exchange *ex)
{
    struct qs_compared *c = ex->data;
    qs_reply_json(ex, 200, &c->document);
}

bool qs_compare_tables(const char *form, struct qs_tables *ret, struct qs_err *err)
{
    return !form || qs_tables_init(ret, form) ||
           qs_fail(err, QS_E_USAGE, "`tables` is markdown, asciidoc or orgmode, not `%.40s`", form);
}

bool qs_compare_query(const struct qs_uri *uri, struct qs_compared *ret, struct qs_err *err)
{
    const char *rules = qs_uri_get(uri, "rule"), *views = qs_uri_get(uri, "view");
    return (!rules || qs_opinions_parse(rules, &ret->opinions, err)) &&
           (!views || qs_views_parse(views, &ret->views, err)) &&
           qs_metric_query_parse(&ret->metric_query, uri, err);
}

void qs_handle_compare(struct qs_exchange *ex)
{
    struct qs_compared *c = qs_exchange_data(ex, sizeof *c, done_compare);
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&c->document);
    c->progress = qs_steps_progress(ex);
    if (!qs_compare_query(&ex->uri, c, &err) ||
        !qs_compare_tables(qs_uri_get(&ex->uri, "tables"), &c->tables, &err)) {
        qs_reply_error(ex, &err);
        return;
    }
    qs_steps_start(ex);
    qs_exchange_read(ex, read_compare, say_compare);
}

bool qs_metric_query_parse(struct qs_metric_query *w, const struct qs_uri *uri, struct qs_err *err)
{
    const char *text = qs_uri_get(uri, "metric");
    if (!text)
        return true;
    w->text = qs_strdup(text);
    w->list.names = w->names;
    for (char *rest = w->text, *name; (name = strsep(&rest, ",")) != NULL;) {
        if (*name == '\0' || w->list.count == QS_METRIC_QUERY_MOST)
            return qs_fail(err, QS_E_USAGE, "`metric` names 1 to %d metrics with commas between",
                           QS_METRIC_QUERY_MOST);
        w->names[w->list.count++] = name;
    }
    return true;
}

void qs_metric_query_done(struct qs_metric_query *w)
{
    free(w->text);
}

struct report {
    struct qs_compared of;
    struct qs_runs runs; /* one, of a run's report */
    struct qs_windows windows;
    bool full;
};

static void done_report(void *data)
{
    struct report *d = data;
    qs_runs_free(&d->runs);
    qs_windows_free(&d->windows);
    qs_compared_done(&d->of);
}

static bool read_job_report(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct report *d = ex->data;
    int64_t job = ex->match.id;
    if (!qs_compared_job(reader, job, &d->of, err) || !qs_read_job_windows(reader, job, &d->windows, err) ||
        !qs_job_results_load(reader, &d->of.metric_query.list, &d->of.results, err))
        return false;
    const struct qs_report_input in = qs_compared_input(&d->of);
    qs_report_job(&in, &d->windows, d->full, &d->of.document);
    return true;
}

/* A run says what its job says: neither is shown before the job has ended. */
static bool read_run_report(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct report *d = ex->data;
    if (!qs_read_run(reader, ex->match.uid, &d->runs, err) ||
        !qs_compared_job(reader, d->runs.at[0].job, &d->of, err) ||
        !qs_read_run_windows(reader, ex->match.uid, &d->windows, err) ||
        !qs_read_run_metrics(reader, ex->match.uid, &d->of.metric_query.list, &d->of.results.metrics, err))
        return false;
    const struct qs_report_input in = qs_compared_input(&d->of);
    qs_report_run(&in, &d->runs.at[0], &d->windows, d->full, &d->of.document);
    return true;
}

static void say_report(struct qs_exchange *ex)
{
    struct report *d = ex->data;
    qs_reply_json(ex, 200, &d->of.document);
}

static void start(struct qs_exchange *ex, qs_exchange_read_fn *read)
{
    struct report *d = qs_exchange_data(ex, sizeof *d, done_report);
    const char *views = qs_uri_get(&ex->uri, "view"), *full = qs_uri_get(&ex->uri, "full");
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&d->of.document);
    d->full = full && strcmp(full, "true") == 0;
    d->of.progress = qs_steps_progress(ex);
    if (full && !d->full && strcmp(full, "false") != 0)
        qs_fail(&err, QS_E_USAGE, "`full` is true or false");
    else if (views)
        (void)qs_views_parse(views, &d->of.views, &err);
    if (err.code == QS_E_NONE)
        (void)qs_metric_query_parse(&d->of.metric_query, &ex->uri, &err);
    if (err.code != QS_E_NONE) {
        qs_reply_error(ex, &err);
        return;
    }
    qs_steps_start(ex);
    qs_exchange_read(ex, read, say_report);
}

void qs_handle_job_report(struct qs_exchange *ex)
{
    start(ex, read_job_report);
}

void qs_handle_run_report(struct qs_exchange *ex)
{
    start(ex, read_run_report);
}
