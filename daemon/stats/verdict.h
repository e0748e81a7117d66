/* The one answer to "did it get slower?" (statistics.md 8.9). Judged at run level on logarithms. */
#ifndef QS_STATS_VERDICT_H
#define QS_STATS_VERDICT_H

#include "stats/mixed.h"
#include "stats/status.h"

#include <stdbool.h>
#include <stddef.h>

enum qs_verdict_kind {
    QS_VERDICT_REGRESSION,           /* the whole 95 % interval is worse than the margin */
    QS_VERDICT_IMPROVEMENT,          /* ... better than the margin */
    QS_VERDICT_PROBABLE_REGRESSION,  /* the interval excludes zero change, but reaches inside the margin */
    QS_VERDICT_PROBABLE_IMPROVEMENT, /* the same on the other side */
    QS_VERDICT_NEGLIGIBLE,           /* a real change, and smaller than the margin (90 % interval) */
    QS_VERDICT_EQUIVALENT,           /* no change seen, and none beyond the margin (90 % interval) */
    QS_VERDICT_INCONCLUSIVE
};

enum qs_verdict_reason {
    QS_REASON_NONE,
    QS_REASON_TOO_FEW_RUNS,  /* inconclusive: fewer than two runs or blocks on a side */
    QS_REASON_WIDE_INTERVAL, /* inconclusive: see mde_ratio and needed */
    QS_REASON_BORDERLINE, /* inconclusive: the interval excludes zero change, but p is not below call_alpha */
    QS_REASON_NO_SPREAD   /* nothing varied: the interval is a point, or one clock tick either way */
};

enum { QS_VERDICT_VERSION = 1 };

struct qs_verdict_opts {
    unsigned version;  /* QS_VERDICT_VERSION */
    double margin;     /* the smallest change that matters, >= 0; 0.02 is 2 % */
    double alpha;      /* in (0, 0.5) */
    double call_alpha; /* a regression or improvement, probable ones too, also wants p < call_alpha; in (0,
                          alpha]; alpha gives 8.9 as it stands */
    double power;      /* for mde_ratio and needed, in (alpha/2, 1) */
    bool lower_is_better;
    double extra_se,
        extra_df; /* independent runs: what the log ratio is uncertain by beside their scatter; 0: nothing */
    double resolution_ratio; /* timer resolution over median; 0: a deterministic metric, or not known */
};

/* margin 2 %, alpha 5 %, power 80 %, lower is better. */
struct qs_verdict_opts qs_verdict_opts_default(void);

struct qs_verdict {
    enum qs_verdict_kind kind;
    enum qs_verdict_reason reason;
    int direction;         /* +1: the interval lies on the worse side of no change, -1: better, 0: neither */
    double ratio;          /* candidate / baseline, of geometric means; NaN where a side has no run */
    struct qs_ci l95, l90; /* of ratio, at levels 1-alpha and 1-2 alpha; NaN where there are too few runs */
    double p, df;          /* two-sided; df NaN where nothing varied */
    double mde_ratio;      /* the change this many runs can see; NaN where there are too few */
    size_t needed;         /* runs per arm (or blocks) to see a change of the margin; 0: not known */
    double sd_log;         /* of logs: root mean of the two variances; of the block differences */
    size_t n_used[2], n_dropped[2]; /* baseline, candidate; for blocks both are the same */
    double sign_p, drift;           /* blocks only (struct qs_paired), NaN otherwise */
    const char *method;             /* static: "log-welch", "log-welch-by-kind", "paired-log-t" or
                                       "paired-log-t-weighted" */
    unsigned version;               /* of the method: a stored result can be computed again */
    unsigned flags;
};

/* One positive statistic (the median, as a rule) per run of an arm. */
struct qs_side_runs {
    const double *v; /* borrowed */
    size_t n;
    size_t n_dropped;      /* runs that the caller left out, only passed on */
    const bool *disturbed; /* borrowed; NULL: none was, or nobody asks */
};

/* Independent runs: Welch on logs. Too few runs is an answer, not an error. QS_EDOM (a value that is not
 * positive and finite, or a bad option): out->kind is inconclusive and its numbers NaN. QS_ENOMEM. */
enum qs_status qs_verdict_runs(const struct qs_side_runs *base, const struct qs_side_runs *cand,
                               const struct qs_verdict_opts *opts, struct qs_verdict *out);

/* The same where some were disturbed: like against like (qs_mixed_two). ret_mixed->worth is NaN where none
 * was. n_used has those that count. */
enum qs_status qs_verdict_mixed_runs(const struct qs_side_runs *base, const struct qs_side_runs *cand,
                                     const struct qs_verdict_opts *opts, struct qs_verdict *out,
                                     struct qs_mixed *ret_mixed);

/* Whether it says that the candidate is better or no worse than the margin allows: what is withheld where the
 * values that are left may be a selection. */
bool qs_verdict_is_good(enum qs_verdict_kind kind);

/* The interval that the verdict rests on: l90 for `negligible` and `equivalent`, which say that nothing lies
 * beyond the margin, else l95. Borrowed from v. */
const struct qs_ci *qs_verdict_interval(const struct qs_verdict *v);

/* Interleaved blocks in the order in which they ran: base[b] and cand[b] belong together. Paired t on
 * ln(cand/base). disturbed: which blocks were (NULL: none), and then what each kind is worth (stats/mixed.h);
 * where they contradict each other n_dropped has the disturbed ones too. Otherwise as qs_verdict_runs. */
enum qs_status qs_verdict_mixed_blocks(const double *base, const double *cand, const bool *disturbed,
                                       size_t n, size_t n_dropped, const struct qs_verdict_opts *opts,
                                       struct qs_verdict *out, struct qs_mixed *ret_mixed);

/* "regression", "improvement", "probable-regression", "probable-improvement", "negligible", "equivalent",
 * "inconclusive"; "none", "too-few-runs", "wide-interval", "borderline", "no-spread". Static. */
const char *qs_verdict_name(enum qs_verdict_kind kind);
const char *qs_verdict_reason_name(enum qs_verdict_reason reason);

#endif
