/* The metrics of a job, the duration first: each on the blocks that count, run by run. Private to report. */
#ifndef QS_REPORT_JOB_METRICS_H
#define QS_REPORT_JOB_METRICS_H

#include "report/job/impl.h"

struct qs_metric_run {    /* what is looked at of one run */
    const double *values; /* borrowed, or seen */
    size_t n;
    double *seen; /* owned: what the views have left; NULL where there are none */
    struct qs_views_tally tally;
    double median; /* NaN: the run has no accepted value */
};

struct qs_metric_arm {             /* shape: of the blocks used */
    size_t runs, count, missing;   /* missing: runs used that have no value */
    double *values;                /* owned, in order of time */
    double *run_medians;           /* owned */
    struct qs_summary all;         /* of the values */
    struct qs_summary medians;     /* of the run medians */
    struct qs_mixed_median median; /* of those of all complete blocks, each for what it is worth */
    struct qs_tukey tukey;
    bool has_tukey;
    double r1; /* lag-1 autocorrelation of run medians, NaN unknown */
    size_t bins[QS_REPORT_BINS], above;
    struct qs_views_tally tally;
};

struct qs_report_metric {
    const struct qs_arm_metric *metric; /* borrowed */
    struct qs_metric_run *runs;         /* owned, one for each run of the group */
    struct qs_metric_arm *arms;         /* owned */
    struct qs_comparison *pairs;        /* owned, one for each pair of the group */
    double bin_lo, bin_hi;              /* of the histograms of all arms */
};

/* What every job measures. */
extern const struct qs_arm_metric qs_duration_metric;

/* The first of the metrics, run by run: what the blocks are found by. */
void qs_report_take_durations(struct qs_report_group *g);
void qs_report_metrics_free(struct qs_report_group *g);
/* What a run has of it, by its index in the group; NULL: nothing. */
const struct qs_values *qs_report_run_values(const struct qs_report_group *g,
                                             const struct qs_arm_metric *metric, size_t run);
/* The views of the job's runs; none of a metric of windows, whose values are not of iterations. */
struct qs_views qs_report_metric_views(const struct qs_report_group *g, const struct qs_report_metric *m);
struct qs_judging qs_report_judging(const struct qs_report_group *g);
/* Two arms in one metric, paired by block; to be freed by qs_comparison_done. What they lost is not asked. */
struct qs_comparison qs_report_judge(const struct qs_report_group *g, const struct qs_report_metric *m,
                                     size_t base, size_t cand);
/* An arm's iterations of the blocks used, by run; v and off are the caller's to free. */
struct qs_nested qs_report_values(const struct qs_report_group *g, const struct qs_report_metric *m,
                                  size_t arm, double **ret_v, size_t **ret_off);

/* report.c: what a metric is, as fields of the open object. */
void qs_report_put_metric_kind(struct qs_json *j, const struct qs_arm_metric *metric);

/* brief.c: all verdicts of the groups in one JSON object (schema/openapi.yaml, Verdict); nothing where
 * there is none. */
void qs_report_put_brief(struct qs_buf *out, const struct qs_report_group *groups, size_t count);

#endif
