#include "api/handlers.h"

#include <stdlib.h>

#include "api/render.h"
#include "api/reply.h"
#include "report/shown.h"

enum { RUNS_DEFAULT = 200, RUNS_MOST = 1000, ITERATIONS_DEFAULT = 1000, ITERATIONS_MOST = 10000 };

struct runs {
    struct qs_runs found;
    int64_t after;
    size_t limit;
    char *windows, *artifacts, *traces; /* JSON, owned; traces may be NULL */
    struct qs_iterations iterations;
};

static void done_runs(void *data)
{
    struct runs *d = data;
    qs_runs_free(&d->found);
    qs_iterations_free(&d->iterations);
    free(d->windows);
    free(d->artifacts);
    free(d->traces);
}

/* Takes a page's bounds from the query, and reads it. */
static void read_page(struct qs_exchange *ex, const char *after_name, long long most, long long usual,
                      qs_exchange_read_fn *read, qs_exchange_fn *say)
{
    long long limit, after;
    struct qs_err err;
    if (!qs_uri_int(&ex->uri, "limit", 1, most, usual, &limit, &err) ||
        !qs_uri_int(&ex->uri, after_name, 0, INT64_MAX, 0, &after, &err)) {
        qs_reply_error(ex, &err);
        return;
    }
    struct runs *d = qs_exchange_data(ex, sizeof *d, done_runs);
    d->limit = (size_t)limit;
    d->after = after;
    qs_exchange_read(ex, read, say);
}

static bool read_runs(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct runs *d = ex->data;
    struct qs_jobs jobs;
    if (!qs_read_job(reader, ex->match.id, &jobs, err))
        return false;
    qs_jobs_free(&jobs);
    return qs_read_runs(reader, ex->match.id, d->after, d->limit, &d->found, err);
}

static void say_runs(struct qs_exchange *ex)
{
    const struct runs *d = ex->data;
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    qs_json_karray(&j, "runs");
    for (size_t i = 0; i < d->found.count; i++) {
        qs_json_object(&j);
        qs_render_run(&j, &d->found.at[i]);
        qs_json_kint(&j, "windows", d->found.at[i].windows);
        qs_json_object_end(&j);
    }
    qs_json_array_end(&j);
    qs_json_object_end(&j);
    qs_reply_json(ex, 200, &out);
}

void qs_handle_runs(struct qs_exchange *ex)
{
    read_page(ex, "after", RUNS_MOST, RUNS_DEFAULT, read_runs, say_runs);
}

static bool read_run(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct runs *d = ex->data;
    return qs_read_run(reader, ex->match.uid, &d->found, err) &&
           qs_shown_windows(reader, ex->match.uid, &d->windows, err) &&
           qs_shown_artifacts(reader, ex->match.uid, &d->artifacts, err) &&
           qs_shown_traces(reader, d->found.at[0].job, d->found.at[0].id, &d->traces, err);
}

static void say_run(struct qs_exchange *ex)
{
    const struct runs *d = ex->data;
    const struct qs_run_info *run = &d->found.at[0];
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    qs_render_run(&j, run);
    qs_json_kraw(&j, "windows", d->windows);
    qs_json_kraw(&j, "artifacts", d->artifacts);
    if (d->traces)
        qs_json_kraw(&j, "traces", d->traces);
    qs_json_kraw(&j, "environment", run->env_json ? run->env_json : "{}");
    qs_json_object_end(&j);
    qs_reply_json(ex, 200, &out);
}

void qs_handle_run(struct qs_exchange *ex)
{
    qs_exchange_data(ex, sizeof(struct runs), done_runs);
    qs_exchange_read(ex, read_run, say_run);
}

static bool read_iterations(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct runs *d = ex->data;
    return qs_read_iterations(reader, ex->match.uid, (uint64_t)d->after, d->limit, &d->iterations, err);
}

static void say_iterations(struct qs_exchange *ex)
{
    const struct runs *d = ex->data;
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_render_iterations(&j, &d->iterations, d->limit);
    qs_reply_json(ex, 200, &out);
}

void qs_handle_iterations(struct qs_exchange *ex)
{
    read_page(ex, "from", ITERATIONS_MOST, ITERATIONS_DEFAULT, read_iterations, say_iterations);
}
