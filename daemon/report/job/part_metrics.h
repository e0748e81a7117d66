/* The metrics of a report on a job or a run beside the duration. Private to report. */
#ifndef QS_REPORT_JOB_PART_METRICS_H
#define QS_REPORT_JOB_PART_METRICS_H

#include "report/job/parts.h"
#include "report/job/report.h"

struct qs_report_group;

/* "metrics" of the open object: those of an arm, in the runs that its numbers stand on. */
void qs_put_part_metrics(struct qs_json *j, const struct qs_report_group *g, size_t arm,
                         const struct qs_analysis_opts *opts);

/* What that costs: see report/work.h. */
double qs_part_metrics_plan_ns(const struct qs_report_group *g, size_t arm,
                               const struct qs_analysis_opts *opts);

struct qs_part_metrics_run { /* borrowed */
    const uint8_t *uid;
    const char *label; /* of its point */
    const struct qs_analysis_opts *opts;
};
/* The same of one run. */
void qs_put_part_run_metrics(struct qs_json *j, const struct qs_report_input *in,
                             const struct qs_part_metrics_run *of);
double qs_part_run_metrics_plan_ns(const struct qs_report_input *in, const struct qs_part_metrics_run *of);

#endif
