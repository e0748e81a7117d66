/* What the files of the report share. Private to report. */
#ifndef QS_REPORT_JOB_IMPL_H
#define QS_REPORT_JOB_IMPL_H

#include "base/json.h"
#include "report/job/report.h"
#include "report/verdict/verdict.h"
#include "report/work.h"
#include "stats/describe.h"
#include "stats/mixed_median.h"
#include "stats/outlier.h"

enum { QS_REPORT_BINS = 20 };
struct qs_report_run {                      /* the run that counts for (block, arm, turn) */
    const struct qs_measured_run *measured; /* borrowed */
    size_t arm, block;                      /* block: index into the group's blocks */
    bool disturbed;                         /* it stands on disturbed durations: there are no others */
};

struct qs_report_arm {       /* its runs, whatever was measured in them */
    size_t runs, iterations; /* of the blocks used */
    size_t runs_seen, runs_tainted, runs_failed, iterations_seen, iterations_tainted;
    double user_us, system_us, rss_bytes,
        first_ratio; /* NaN unknown; first_ratio: first iteration of a run over its others */
    uint32_t taints;
    int64_t taken_ns;                     /* of the device's time, by all of its runs */
    size_t windows_tainted, windows_left; /* of the next ones; the latter: no repeat followed */
    size_t windows[QS_SILENCES];          /* measured ones, by what is claimed of their silence */
};

struct qs_report_pair { /* the baseline and another arm */
    size_t cand;
    struct qs_lost_rates rates;
};

struct qs_report_metric;

struct qs_report_group { /* one point on one device */
    const struct qs_report_input *in;
    struct qs_work *work; /* borrowed: what is computed of it now is a part of this, or NULL */
    size_t point;
    const char *device;
    bool simulated;
    uint32_t evals;         /* evaluations of an iteration; 0: nothing was measured */
    const char *evals_json; /* borrowed: how that was found, or NULL */
    const struct qs_measured_run *measured;
    size_t sample_count, value_count; /* value_count: durations that its runs stand on */
    uint32_t *blocks;                 /* owned: numbers of the blocks, ascending */
    size_t block_count;
    struct qs_report_run *runs; /* owned, block after block */
    size_t run_count;
    size_t *block_first;      /* owned: [block_count + 1], the first run of each block, and run_count */
    double *block_medians_ns; /* owned: [block][arm], NaN = none */
    bool *block_disturbed;    /* owned: some run of it stands on tainted data */
    bool *block_complete;     /* owned: every arm has a value: comparisons and medians rest on it */
    bool *block_used;         /* owned: shape rests on it: mean, spread, quantiles */
    size_t used, blocks_tainted, incomplete;
    bool uses_tainted;            /* shape rests on disturbed blocks too */
    struct qs_report_arm *arms;   /* owned */
    struct qs_report_pair *pairs; /* owned: arm_count - 1 */
    size_t pair_count;
    struct qs_report_metric *metrics; /* owned: the first is the duration (report/job/metrics.h) */
    size_t metric_count;
    size_t family;            /* comparisons of the job that have a p */
    double seconds_per_block; /* without the waits for gates; NaN unknown */
    int64_t waited_ns;        /* for gates, by all of its runs */
    const char *busiest;      /* borrowed: the process that was named at the longest wait of a run, or NULL */
    uint32_t iterations_per_run;
};

/* Groups of the input, in order; NULL and 0 where nothing was measured. QS_ECANCELED: progress (or NULL)
 * ended it, and there are none; else QS_OK. */
enum qs_status qs_report_groups(const struct qs_report_input *in, const struct qs_progress *progress,
                                struct qs_report_group **ret_groups, size_t *ret_count);
void qs_report_groups_free(struct qs_report_group *groups, size_t count);

/* Before so many values are looked at: false where nothing more is to be computed. */
bool qs_report_goes_on(const struct qs_report_group *g, size_t values);
/* arm.c: arms, and pairs with what each side lost. */
void qs_report_fill_arms(struct qs_report_group *g);
/* metrics.c: what was measured, of each arm and of each pair. */
void qs_report_fill_metrics(struct qs_report_group *g);
/* rank.c: "ranking" of the open object: the arms from the fastest on, each with its interval against that. */
void qs_report_put_ranking(struct qs_json *j, const struct qs_report_group *g);

/* Fills p_bh and family of all groups; ret is to be freed by qs_comparisons_done. */
void qs_report_adjust(struct qs_report_group *groups, size_t count, struct qs_comparisons *ret);

/* told.c: what the document tells of durations; an argument vector as a person would type it. */
void qs_report_tell(const struct qs_report_group *groups, size_t count, struct qs_report_tolds *ret);
void qs_report_command(const struct qs_job_spec *spec, size_t arm, size_t point, struct qs_buf *out);
/* The name of the arm's set of conditions; NULL: the job's own. Borrowed. */
const char *qs_report_conditions(const struct qs_report_group *g, size_t arm);
/* tables.c: the groups as tables, a result each. */
void qs_report_tables(const struct qs_report_input *in, const struct qs_report_group *groups, size_t count,
                      struct qs_tables *t);

/* opinion.c: what the second opinions that were asked for cost, of one comparison. */
double qs_report_opinions_ns(const struct qs_report_group *g);

/* warn.c: what is wrong with the sample, as JSON arrays. */
/* How many windows were measured that have iterations, repeats included. */
size_t qs_report_windows(const struct qs_report_arm *arm);
void qs_report_arm_warnings(struct qs_json *j, const struct qs_report_group *g, size_t arm);
void qs_report_group_warnings(struct qs_json *j, const struct qs_report_group *g);

#endif
