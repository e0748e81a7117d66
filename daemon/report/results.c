#include "report/results.h"

#include "config/job/stored.h"

bool qs_job_results_open(struct qs_store_reader *reader, int64_t job, struct qs_job_results *ret,
                         struct qs_err *err)
{
    return qs_read_job(reader, job, &ret->job, err) &&
           qs_job_from_store(ret->job.at[0].spec_json, ret->job.at[0].seed, &ret->spec, err);
}

bool qs_job_results_load(struct qs_store_reader *reader, const struct qs_metric_names *names,
                         struct qs_job_results *results, struct qs_err *err)
{
    int64_t job = results->job.at[0].id;
    return qs_read_measured_runs(reader, job, &results->measured, err) &&
           qs_read_job_metrics(reader, job, names, &results->metrics, err);
}

void qs_job_results_done(struct qs_job_results *results)
{
    qs_jobs_free(&results->job);
    qs_job_free(results->spec);
    qs_measured_runs_free(&results->measured);
    qs_job_metrics_free(&results->metrics);
}

struct qs_report_input qs_job_results_input(const struct qs_job_results *results)
{
    return (struct qs_report_input){.job = &results->job.at[0],
                                    .spec = results->spec,
                                    .measured = &results->measured,
                                    .metrics = &results->metrics};
}
