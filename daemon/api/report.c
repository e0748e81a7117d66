#include "api/report.h"

#include <string.h>

#include "api/compare.h"
#include "api/reply.h"
#include "api/steps.h"
#include "report/job/document.h"

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
        !qs_job_results_load(reader, &d->of.wanted.list, &d->of.results, err))
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
        !qs_read_run_metrics(reader, ex->match.uid, &d->of.wanted.list, &d->of.results.metrics, err))
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
        (void)qs_wanted_take(&d->of.wanted, &ex->uri, &err);
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
