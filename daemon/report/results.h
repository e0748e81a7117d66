/* What a job's report is made from, read in two steps: whose results are not shown yet is refused between
 * them. */
#ifndef QS_REPORT_RESULTS_H
#define QS_REPORT_RESULTS_H

#include "report/job/report.h"

struct qs_job_results { /* zeroed before the first use */
    struct qs_jobs job; /* one */
    struct qs_job_spec *spec;
    struct qs_measured_runs measured;
    struct qs_job_metrics metrics;
};

/* The job and its spec. QS_E_NOT_FOUND; QS_E_JOB where this version cannot read its document. */
bool qs_job_results_open(struct qs_store_reader *reader, int64_t job, struct qs_job_results *ret,
                         struct qs_err *err);
/* Its runs, and the named metrics. QS_E_NOT_FOUND: it has no such metric. */
bool qs_job_results_load(struct qs_store_reader *reader, const struct qs_metric_names *names,
                         struct qs_job_results *results, struct qs_err *err);
void qs_job_results_done(struct qs_job_results *results);

/* As a report takes it; borrowed. */
struct qs_report_input qs_job_results_input(const struct qs_job_results *results);

#endif
