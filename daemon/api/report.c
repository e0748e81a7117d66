#include "api/report.h"

#include <string.h>

#include "api/compare.h"
#include "api/reply.h"
#include "api/steps.h"
#include "api/wanted.h"
#include "farm/farm.h"
#include "report/job_report.h"
#include "store/read_metrics.h"

struct report {
    struct qs_jobs jobs; /* one */
    struct qs_runs runs; /* one, of a run's report */
    struct qs_job_spec *spec;
    struct qs_samples samples;
    struct qs_wanted wanted;
    struct qs_job_metrics metrics;
    struct qs_windows windows;
    struct qs_views views;
    bool full;
    struct qs_progress progress;
    struct qs_buf document;
};

static void done_report(void *data)
{
    struct report *d = data;
    qs_jobs_free(&d->jobs);
    qs_runs_free(&d->runs);
    qs_job_free(d->spec);
    qs_samples_free(&d->samples);
    qs_windows_free(&d->windows);
    qs_job_metrics_free(&d->metrics);
    qs_wanted_done(&d->wanted);
    qs_buf_done(&d->document);
}

/* A run says what its job says: neither is shown before the job has ended. */
static bool read_job(struct qs_store_reader *reader, int64_t job, struct report *d, struct qs_err *err)
{
    if (!qs_read_job(reader, job, &d->jobs, err) || !qs_compare_check_ended(&d->jobs.at[0], err))
        return false;
    const struct qs_job_info *info = &d->jobs.at[0];
    return qs_farm_spec_from_store(info->spec_json ? info->spec_json : "", info->seed, &d->spec, err);
}

static struct qs_report_input input_of(const struct report *d)
{
    return (struct qs_report_input){.job = &d->jobs.at[0],
                                    .spec = d->spec,
                                    .samples = &d->samples,
                                    .metrics = &d->metrics,
                                    .views = d->views,
                                    .progress = d->progress};
}

static bool read_job_report(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct report *d = ex->data;
    int64_t job = ex->match.id;
    if (!read_job(reader, job, d, err) || !qs_read_samples(reader, job, &d->samples, err) ||
        !qs_read_job_windows(reader, job, &d->windows, err) ||
        !qs_read_job_metrics(reader, job, &d->wanted.list, &d->metrics, err))
        return false;
    const struct qs_report_input in = input_of(d);
    qs_report_job(&in, &d->windows, d->full, &d->document);
    return true;
}

static bool read_run_report(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct report *d = ex->data;
    if (!qs_read_run(reader, ex->match.uid, &d->runs, err) || !read_job(reader, d->runs.at[0].job, d, err) ||
        !qs_read_run_windows(reader, ex->match.uid, &d->windows, err) ||
        !qs_read_run_metrics(reader, ex->match.uid, &d->wanted.list, &d->metrics, err))
        return false;
    const struct qs_report_input in = input_of(d);
    qs_report_run(&in, &d->runs.at[0], &d->windows, d->full, &d->document);
    return true;
}

static void say_report(struct qs_exchange *ex)
{
    struct report *d = ex->data;
    qs_reply_json(ex, 200, &d->document);
}

static void start(struct qs_exchange *ex, qs_exchange_read_fn *read)
{
    struct report *d = qs_exchange_data(ex, sizeof *d, done_report);
    const char *views = qs_uri_get(&ex->uri, "view"), *full = qs_uri_get(&ex->uri, "full");
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&d->document);
    d->full = full && strcmp(full, "true") == 0;
    d->progress = qs_steps_progress(ex);
    if (full && !d->full && strcmp(full, "false") != 0)
        qs_fail(&err, QS_E_USAGE, "`full` is true or false");
    else if (views)
        (void)qs_views_parse(views, &d->views, &err);
    if (err.code == QS_E_NONE)
        (void)qs_wanted_take(&d->wanted, &ex->uri, &err);
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
