/* The metrics of a job beside the duration, judged as the duration is: on the blocks that count, run by run.
 * Private to report. */
#ifndef QS_REPORT_JOB_METRICS_H
#define QS_REPORT_JOB_METRICS_H

#include "report/job/impl.h"
#include "report/sides/verdict.h"

struct qs_metric_run {    /* what is looked at of one run */
    const double *values; /* borrowed, or seen */
    size_t n;
    double *seen; /* owned: what the views have left; NULL where there are none */
    struct qs_views_tally tally;
    double median; /* NaN: the run has no accepted value */
};

struct qs_metric_arm {             /* over the runs used */
    size_t runs, values, missing;  /* missing: runs used that have no value */
    struct qs_summary all;         /* of the values */
    struct qs_mixed_median median; /* of the run medians */
    struct qs_views_tally tally;
};

struct qs_report_metric {
    const struct qs_arm_metric *metric; /* borrowed */
    struct qs_metric_run *runs;         /* owned, one for each run of the group */
    struct qs_metric_arm *arms;         /* owned */
    struct qs_sides_verdict *pairs;     /* owned, one for each pair of the group */
};

/* Of the group's runs, once its blocks and pairs are known: g->metrics, those that any of its arms has. */
void qs_report_fill_metrics(struct qs_report_group *g);
void qs_report_metrics_free(struct qs_report_group *g);
/* The views of the job's runs; none of a metric of windows, whose values are not of iterations. */
struct qs_views qs_report_metric_views(const struct qs_report_group *g, const struct qs_report_metric *m);
struct qs_sides_how qs_report_metric_how(const struct qs_report_group *g);
/* Baseline and candidate. */
void qs_report_pair_names(const struct qs_report_group *g, size_t pair, const char *names[2]);

/* metrics_put.c: what a metric is, as fields of the open object; "metrics" of the open object. */
void qs_report_put_metric_kind(struct qs_json *j, const struct qs_arm_metric *metric);
void qs_report_put_metrics(struct qs_json *j, const struct qs_report_group *g);

/* brief.c: all verdicts of the groups in one JSON object (schema/openapi.yaml, Verdict); nothing where
 * there is none. */
void qs_report_put_brief(struct qs_buf *out, const struct qs_report_group *groups, size_t count);

#endif
