/* The parts of a report on a run or a job, each a member of the open object (schema/report.md). Private to
 * report. */
#ifndef QS_REPORT_JOB_PARTS_H
#define QS_REPORT_JOB_PARTS_H

#include "base/json.h"
#include "report/analysis/analysis.h"
#include "report/views.h"
#include "store/read/arms.h"
#include "store/read/windows.h"

struct qs_part_run { /* one run and what is looked at of it in one metric; borrowed */
    const uint8_t *uid;
    size_t arm;
    uint32_t block, attempt, pos;
    int64_t session, boot;
    const char *device;
    const double *v; /* durations are of one evaluation each; in order; n >= 1 */
    size_t n;
    double median;
    bool disturbed; /* it stands on disturbed iterations */
};

/* Adds what a run does not stand on. */
void qs_part_dropped(const struct qs_values *values, size_t dropped[QS_DROP_COUNT]);

struct qs_part_window {
    const struct qs_window_info *info; /* borrowed */
    size_t run;                        /* index into the runs */
    double median_ns;                  /* of its accepted iterations behind the run's warm-up */
};
struct qs_part_windows {
    const struct qs_windows *all; /* borrowed */
    struct qs_part_window *at;    /* owned: those with an accepted iteration, in order */
    size_t count;
};
void qs_part_windows(struct qs_part_windows *ret, const struct qs_windows *all,
                     const struct qs_part_run *runs, size_t count);
void qs_part_windows_done(struct qs_part_windows *w);

/* "floor": the least duration, where the frequency was seen to stand still. */
void qs_put_part_floor(struct qs_json *j, const struct qs_part_windows *w, double min_ns);
struct qs_strip {   /* all borrowed */
    const char *of; /* what the values are of */
    const double *x;
    const bool *left_out; /* NULL: none; marks those that do not count */
    size_t n;
};
/* "strip": values in the order of time, in at most 60 cells. */
void qs_put_part_strip(struct qs_json *j, const struct qs_strip *strip);
/* "covariates": what rises and falls with the medians of windows and runs. */
void qs_put_part_covariates(struct qs_json *j, const struct qs_part_windows *w,
                            const struct qs_part_run *runs, size_t count);
/* "levels" and "levels_sentence": which level of the experiment the variance comes from. */
void qs_put_part_levels(struct qs_json *j, const struct qs_part_run *runs, size_t count, size_t arm_count);

struct qs_part_metric { /* of an arm or of one run; borrowed */
    const struct qs_arm_metric *metric;
    const char *label;              /* of its point */
    const struct qs_part_run *runs; /* those that have a value */
    size_t count, missing;          /* missing: runs that have none */
    size_t dropped[QS_DROP_COUNT];  /* without those that views took away, which the tally counts */
    struct qs_views views;
    struct qs_views_tally tally;
    const struct qs_windows *windows; /* for floor and covariates; NULL: it has none of them */
    const struct qs_strip *strip;     /* NULL: medians of several runs, or the values of one */
};
/* An element of "metrics": with every statistic of schema/analysis.schema.json; brief: without what resamples
 * iterations. */
void qs_put_part_metric(struct qs_json *j, const struct qs_part_metric *p,
                        const struct qs_analysis_opts *opts);

#endif
