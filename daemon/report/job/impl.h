/* What the files of the report share. Private to report. */
#ifndef QS_REPORT_JOB_IMPL_H
#define QS_REPORT_JOB_IMPL_H

#include "base/json.h"
#include "report/job/report.h"
#include "report/work.h"
#include "stats/describe.h"
#include "stats/mixed_median.h"
#include "stats/outlier.h"
#include "stats/verdict.h"

enum { QS_REPORT_BINS = 20 };
/* A change is called at this share of alpha (1 % at 5 %); the interval stays at alpha.
 * tests/studies/README.md has what it costs and buys. */
#define QS_REPORT_CALL_SHARE 0.2

struct qs_report_run {              /* the run that counts for (block, arm, turn) */
    const struct qs_sample *sample; /* borrowed */
    size_t arm, block;              /* block: index into the group's blocks */
    const double *ns; /* clean durations, or soft ones where there are none; borrowed, or seen_ns */
    size_t n;
    double *seen_ns; /* owned: what the views have left of them; NULL where there are no views */
    struct qs_views_tally tally;
    bool soft;
    double median_ns; /* NaN: nothing accepted */
};

struct qs_report_arm {      /* shape: of the blocks used */
    double *run_medians_ns; /* owned */
    size_t runs;
    double *iterations_ns; /* owned, in order of time */
    size_t iterations;
    size_t runs_seen, runs_tainted, runs_failed, iterations_tainted;
    struct qs_summary all;         /* of the iterations */
    struct qs_summary medians;     /* of the run medians */
    struct qs_mixed_median median; /* of those of all complete blocks, each for what it is worth */
    struct qs_tukey tukey;
    bool has_tukey;
    double r1; /* lag-1 autocorrelation of run medians, NaN unknown */
    double user_us, system_us, rss_bytes,
        first_ratio; /* NaN unknown; first_ratio: first iteration of a run over its others */
    uint32_t taints;
    size_t windows[QS_SILENCES]; /* measured ones, by what is claimed of their silence */
    size_t counts[QS_REPORT_BINS], above;
    struct qs_views_tally tally; /* of the runs used */
};

struct qs_report_pair {
    size_t cand;
    struct qs_verdict verdict;
    struct qs_mixed mixed; /* what clean and disturbed blocks say of it, and are worth */
    double p_bh;           /* adjusted over all comparisons of the job; NaN where there is no p */
    double taint_p;
    bool taint_differs, forbidden;
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
    const struct qs_sample *samples;
    size_t sample_count,
        value_count;    /* value_count: durations of the samples, tainted ones that may count too */
    uint32_t *blocks;   /* owned: numbers of the blocks, ascending */
    uint32_t *attempts; /* owned: the attempt that counts, per block */
    size_t block_count;
    struct qs_report_run *runs; /* owned, block after block */
    size_t run_count;
    size_t *block_first;      /* owned: [block_count + 1], the first run of each block, and run_count */
    double *block_medians_ns; /* owned: [block][arm], NaN = none */
    bool *block_soft;         /* owned: some run of it stands on tainted data */
    bool *block_complete;     /* owned: every arm has a value: comparisons and medians rest on it */
    bool *block_used;         /* owned: shape rests on it: mean, spread, quantiles */
    size_t used, soft_blocks, incomplete;
    bool uses_soft;               /* shape rests on disturbed blocks too */
    struct qs_report_arm *arms;   /* owned */
    struct qs_report_pair *pairs; /* owned: arm_count - 1 */
    size_t pair_count;
    struct qs_report_metric *metrics; /* owned: the others beside the duration (report/job/metrics.h) */
    size_t metric_count;
    size_t family;            /* comparisons of the job that have a p */
    double seconds_per_block; /* without the waits for gates; NaN unknown */
    int64_t waited_ns;        /* for gates, by all of its runs */
    const char *busiest;      /* borrowed: the process that was named at the longest wait of a run, or NULL */
    double bin_lo_ns, bin_hi_ns;
    uint32_t iterations_per_run;
};

/* Groups of the input, in order; NULL and 0 where nothing was measured. QS_ECANCELED: progress (or NULL)
 * ended it, and there are none; else QS_OK. */
enum qs_status qs_report_groups(const struct qs_report_input *in, const struct qs_progress *progress,
                                struct qs_report_group **ret_groups, size_t *ret_count);
void qs_report_groups_free(struct qs_report_group *groups, size_t count);

/* Before so many values are looked at: false where nothing more is to be computed. */
bool qs_report_goes_on(const struct qs_report_group *g, size_t values);
/* arm.c, pair.c: fill what the collected runs allow. */
void qs_report_fill_arms(struct qs_report_group *g);
void qs_report_fill_pairs(struct qs_report_group *g);
/* Two arms, by the complete blocks, each for what it is worth: paired. */
void qs_report_judge(const struct qs_report_group *g, size_t base, size_t cand, struct qs_verdict *ret,
                     struct qs_mixed *ret_mixed);
/* rank.c: "ranking" of the open object: the arms from the fastest on, each with its interval against that. */
void qs_report_put_ranking(struct qs_json *j, const struct qs_report_group *g);

/* family.c: statistics.md 8.12, all metrics of all points, devices and arms of a job. */
struct qs_report_family {
    size_t comparisons; /* those that have a p */
    size_t selected;    /* of them p_bh <= q */
    double q;           /* false discovery rate: the job's alpha */
    double fcr_level;   /* of intervals that are shown for the selected only; NaN where there is none */
};
/* Fills p_bh and family of all groups. */
void qs_report_adjust(struct qs_report_group *groups, size_t count, struct qs_report_family *ret);
/* A change was called that does not stand in the family. */
bool qs_report_pair_is_doubtful(const struct qs_report_group *g, const struct qs_report_pair *pair);
/* A regression that stands: what ends a build. */
bool qs_report_pair_is_regression(const struct qs_report_group *g, const struct qs_report_pair *pair);

/* report.c: "quantiles" of the open object. */
void qs_report_put_quantiles(struct qs_json *j, const struct qs_summary *s);

/* sentence.c: "b takes 7.3–9.0 % longer than a". */
void qs_report_sentence(struct qs_buf *out, const char *base, const char *cand, double lo, double hi);
/* "judged_lo", "judged_hi" and "judged_level" of the object that is open: what the verdict rests on, and its
 * sentence tells. */
void qs_report_put_judged(struct qs_json *j, const struct qs_verdict *v);
/* "calls of b is 7.3–9.0 % lower than that of a"; the interval is finite. */
void qs_report_value_sentence(struct qs_buf *out, const char *metric, const char *base, const char *cand,
                              double lo, double hi);
/* "a takes 12.3–12.6 ms (median)". */
void qs_report_arm_sentence(struct qs_buf *out, const char *name, double lo_ns, double hi_ns);

/* opinion.c: the second opinions that were asked for, as a JSON array; the cost of those on one pair. */
void qs_report_opinions(struct qs_json *j, const struct qs_report_group *g,
                        const struct qs_report_pair *pair);
double qs_report_opinions_ns(const struct qs_report_group *g);

/* warn.c: what is wrong with the sample, as JSON arrays. */
void qs_report_arm_warnings(struct qs_json *j, const struct qs_report_group *g, size_t arm);
void qs_report_group_warnings(struct qs_json *j, const struct qs_report_group *g);

#endif
