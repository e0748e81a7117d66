#include "api/handlers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_impl.h"
#include "api/compare.h"
#include "api/reply.h"
#include "api/steps.h"
#include "base/mem.h"
#include "config/job/stored.h"
#include "report/job/opinion.h"
#include "report/sides/selector.h"
#include "report/sides/sides.h"
#include "report/views.h"
#include "store/read/named.h"

struct sides {
    struct qs_sides_input in;
    struct qs_run_selector selector[2];
    struct qs_arm_runs runs[2];
    struct qs_sides_job *jobs; /* owned, as the specs */
    size_t job_count;
    struct qs_jobs info; /* these three of the one job that all runs are of, else nothing */
    struct qs_measured_runs measured;
    struct qs_job_metrics metrics;
    struct qs_report_input own;
    struct qs_metric_query metric_query;
    struct qs_tables tables;
    struct qs_buf document;
};

static void done_sides(void *data)
{
    struct sides *s = data;
    for (int i = 0; i < 2; i++) {
        qs_run_selector_done(&s->selector[i]);
        qs_arm_runs_free(&s->runs[i]);
    }
    for (size_t i = 0; i < s->job_count; i++)
        qs_job_free((struct qs_job_spec *)s->jobs[i].spec);
    free(s->jobs);
    qs_jobs_free(&s->info);
    qs_measured_runs_free(&s->measured);
    qs_job_metrics_free(&s->metrics);
    qs_metric_query_done(&s->metric_query);
    qs_tables_done(&s->tables);
    qs_buf_done(&s->document);
}

static bool take_query(struct sides *s, const struct qs_uri *uri, struct qs_err *err)
{
    static const char *const sides[2] = {"base", "candidate"};
    const char *rules = qs_uri_get(uri, "rule"), *allow = qs_uri_get(uri, "allow");
    const char *views = qs_uri_get(uri, "view");
    s->in =
        (struct qs_sides_input){.margin_ratio = NAN, .alpha = NAN, .allow = allow ? allow : "", .seed = 1};
    for (int i = 0; i < 2; i++) {
        s->in.selector[i] = qs_uri_get(uri, sides[i]);
        if (!s->in.selector[i])
            return qs_fail(err, QS_E_USAGE, "`%s` is missing: say which runs, as in %s=12", sides[i],
                           sides[i]);
        if (!qs_run_selector_parse(s->in.selector[i], &s->selector[i], err))
            return false;
        s->in.pool[i] = qs_run_selector_pool(&s->selector[i]);
    }
    return qs_uri_number(uri, "margin_ratio", 0, 10, &s->in.margin_ratio, err) &&
           qs_uri_number(uri, "alpha", 0.0001, 0.49, &s->in.alpha, err) &&
           qs_metric_query_parse(&s->metric_query, uri, err) &&
           (!views || qs_views_parse(views, &s->in.views, err)) &&
           (!rules || qs_opinions_parse(rules, &s->in.opinions, err)) &&
           qs_compare_tables(qs_uri_get(uri, "tables"), &s->tables, err);
}

/* A job that somebody names must have ended; of a build or a night the others are told as running. */
static bool check_ended(struct qs_store_reader *reader, const struct qs_run_selector *selector,
                        struct qs_err *err)
{
    for (size_t i = 0; i < selector->count; i++) {
        struct qs_jobs jobs;
        if (selector->at[i].job == 0)
            continue;
        if (!qs_read_job(reader, selector->at[i].job, &jobs, err))
            return false;
        bool ok = qs_compare_check_ended(&jobs.at[0], err);
        qs_jobs_free(&jobs);
        if (!ok)
            return false;
    }
    return true;
}

static bool read_job(struct qs_store_reader *reader, struct sides *s, int64_t id, struct qs_err *err)
{
    struct qs_jobs jobs;
    struct qs_job_spec *spec = NULL;
    size_t at = 0;
    for (size_t end = s->job_count; at < end;) {
        size_t mid = at + (end - at) / 2;
        bool below = s->jobs[mid].id < id;
        *(below ? &at : &end) = below ? mid + 1 : mid;
    }
    if (at < s->job_count && s->jobs[at].id == id)
        return true;
    if (!qs_read_job(reader, id, &jobs, err))
        return false;
    const struct qs_job_info *info = &jobs.at[0];
    bool ok = qs_job_from_store(info->spec_json, info->seed, &spec, err);
    if (ok) {
        s->jobs = qs_grow(s->jobs, s->job_count, sizeof *s->jobs);
        memmove(s->jobs + at + 1, s->jobs + at, (s->job_count++ - at) * sizeof *s->jobs);
        s->jobs[at] = (struct qs_sides_job){.id = id, .spec = spec};
    }
    qs_jobs_free(&jobs);
    return ok;
}

/* What the report of the one job is made of, which judges its arms here too. */
static bool read_own(struct qs_store_reader *reader, struct sides *s, struct qs_err *err)
{
    if (s->job_count != 1)
        return true;
    int64_t job = s->jobs[0].id;
    struct qs_err none = QS_ERR_INIT; /* a metric that the job has not is none of this side's either */
    bool ok =
        qs_read_job(reader, job, &s->info, err) && qs_read_measured_runs(reader, job, &s->measured, err);
    if (ok && !qs_read_job_metrics(reader, job, &s->metric_query.list, &s->metrics, &none))
        return none.code == QS_E_NOT_FOUND || qs_fail(err, none.code, "%s", none.text);
    s->own = (struct qs_report_input){.job = ok ? &s->info.at[0] : NULL,
                                      .spec = s->jobs[0].spec,
                                      .measured = &s->measured,
                                      .metrics = &s->metrics,
                                      .views = s->in.views};
    s->in.job = ok ? &s->own : NULL;
    return ok;
}

/* Of a night the nearest one is told. */
static bool fail_empty(struct qs_store_reader *reader, const struct sides *s, int side, struct qs_err *err)
{
    const struct qs_run_filter *filter = &s->selector[side].at[0];
    const char *selector = s->in.selector[side];
    bool found = false;
    int64_t began_wall_ns;
    char night[QS_NIGHT_CHARS];
    if (filter->until_wall_ns > 0 &&
        !qs_read_nearest_session(reader, filter->from_wall_ns, &found, &began_wall_ns, err))
        return false;
    if (!found)
        return qs_fail(err, QS_E_NOT_FOUND, "nothing was measured in `%.100s`", selector);
    qs_night_name(began_wall_ns, night);
    return qs_fail(
        err, QS_E_NOT_FOUND,
        "nothing was measured in `%.100s`; the nearest night is night:%s, `quiesce builds` lists them",
        selector, night);
}

static bool read_sides(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct sides *s = ex->data;
    for (int i = 0; i < 2; i++) {
        if (!check_ended(reader, &s->selector[i], err) ||
            !qs_read_arm_runs(reader, s->selector[i].at, s->selector[i].count, &s->metric_query.list,
                              &s->runs[i], err))
            return false;
        if (s->runs[i].count == 0)
            return fail_empty(reader, s, i, err);
        for (size_t k = 0; k < s->runs[i].count; k++)
            if (!read_job(reader, s, s->runs[i].at[k].job, err))
                return false;
    }
    return read_own(reader, s, err);
}

static bool work_sides(struct qs_exchange *ex, struct qs_err *err)
{
    struct sides *s = ex->data;
    (void)err; /* too little data is an answer: the document says so */
    s->in.runs[0] = &s->runs[0];
    s->in.runs[1] = &s->runs[1];
    for (int i = 0; i < 2; i++)
        qs_views_of_runs(&s->in.views, &s->runs[i], &s->in.tally[i]);
    s->in.variables = ex->api->p.variables;
    s->in.jobs = s->jobs;
    s->in.job_count = s->job_count;
    s->in.progress = qs_steps_progress(ex);
    s->in.tables = s->tables.form ? &s->tables : NULL;
    qs_sides_compare(&s->in, &s->document);
    return true;
}

static void say_sides(struct qs_exchange *ex)
{
    struct sides *s = ex->data;
    qs_reply_json(ex, 200, &s->document);
}

/* The read ends before the statistics begin: no snapshot of the store is held while they run. */
static void compute_sides(struct qs_exchange *ex)
{
    qs_exchange_work(ex, work_sides, say_sides);
}

void qs_handle_sides(struct qs_exchange *ex)
{
    struct sides *s = qs_exchange_data(ex, sizeof *s, done_sides);
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&s->document);
    if (!take_query(s, &ex->uri, &err)) {
        qs_reply_error(ex, &err);
        return;
    }
    qs_steps_start(ex);
    qs_exchange_read(ex, read_sides, compute_sides);
}
