/* A verdict on one metric of two sides, whatever the sides are: two selections of the store, or two arms of
 * one job. Private to report. */
#ifndef QS_REPORT_SIDES_VERDICT_H
#define QS_REPORT_SIDES_VERDICT_H

#include "base/json.h"
#include "stats/mixed_fold.h"
#include "stats/verdict.h"
#include "store/read/arms.h"

enum { QS_BASE, QS_CAND };

struct qs_sides_how {
    double alpha;        /* intervals hold with 1 - alpha */
    double margin_ratio; /* the smallest change that matters */
    unsigned opinions;   /* a set as in report/job/opinion.h */
    uint64_t seed;       /* of resampling */
    struct qs_progress progress;
};

enum qs_sides_level { QS_SIDES_BLOCKS, QS_SIDES_SESSIONS, QS_SIDES_RUNS, QS_SIDES_DEVICES, QS_SIDES_BUILDS };

enum qs_side_fold { QS_FOLD_BLOCKS, QS_FOLD_SESSIONS, QS_FOLD_BUILDS }; /* what counts once on a side */

struct qs_side_values { /* what a verdict rests on, of one side */
    double *v;          /* owned: one value for each unit, in the order of time */
    bool *disturbed;    /* owned: for each of v, or NULL: none, or nobody asks */
    size_t n, dropped, sessions, builds;
    enum qs_side_fold fold;
    double *iterations; /* owned: of the units used, by run */
    size_t *runs;       /* owned: run_count + 1 offsets into iterations */
    size_t run_count, iteration_count;
    size_t *groups; /* owned: group_count + 1 offsets into runs: sessions, builds, or nothing */
    size_t group_count;
};

struct qs_sides_rates { /* what one side lost */
    size_t runs[2], lost[2], timed_out[2];
    double lost_p, timeout_p; /* Fisher's exact test */
};

struct qs_sides_exact { /* of a metric that is declared deterministic */
    bool declared, constant[2];
    double value[2]; /* NaN where it is not constant */
};

struct qs_sides_verdict {
    enum qs_sides_level level;
    bool paired; /* the units of both sides belong together, one by one */
    struct qs_verdict v;
    struct qs_mixed mixed; /* what clean and disturbed units say by themselves, where both are among them */
    struct qs_mixed_fold shift; /* what was taken off disturbed blocks; cells 0: nothing */
    struct qs_side_values side[2];
    struct qs_sides_exact exact;
    const char *reason; /* static: of the verdict, or why it is withheld */
    bool uses_soft;
    bool one_session; /* a side is one session of one build, and the sides share no blocks */
    double p_bh;      /* NaN where there is no p */
};

/* verdict.c: from level and values to v, and why it is withheld. */
void qs_sides_conclude(const struct qs_sides_how *how, const struct qs_arm_metric *metric,
                       struct qs_sides_verdict *ret);
/* Good news needs sides that lost the same share of their runs. */
void qs_sides_ask_rates(struct qs_sides_verdict *ret, const struct qs_sides_rates *rates, double alpha);
/* A change that is expected by chance among so many: p_bh is known. */
bool qs_sides_is_doubtful(const struct qs_sides_how *how, const struct qs_sides_verdict *v);
/* A regression that is none by chance. */
bool qs_sides_is_regression(const struct qs_sides_how *how, const struct qs_sides_verdict *v);
void qs_side_values_done(struct qs_side_values *v);

/* exact.c: looks at values of a side; before the first constant is true and value NaN. */
void qs_sides_look(const struct qs_values *values, bool *constant, double *value);
/* Replaces the verdict where both sides are constant. */
void qs_sides_judge_exact(const struct qs_arm_metric *metric, struct qs_sides_verdict *ret);
bool qs_sides_is_exact(const struct qs_sides_verdict *v); /* one value on each side */

/* put.c: a verdict as the fields of the object that is open; names of the arms for its sentence. */
void qs_sides_put_verdict(struct qs_json *j, const struct qs_sides_how *how,
                          const struct qs_arm_metric *metric, const struct qs_sides_verdict *v,
                          const char *const names[2]);
/* What each kind says by itself: "clean", "disturbed", "disturbed_worth", "disturbed_p"; null where there is
 * but one. What was taken off disturbed blocks: "shift". */
void qs_sides_put_kinds(struct qs_json *j, const struct qs_sides_verdict *v);
/* words.c */
const char *qs_sides_level_name(enum qs_sides_level level);
void qs_sides_sentence(struct qs_buf *out, const struct qs_arm_metric *metric, const char *const names[2],
                       const struct qs_sides_verdict *v);
/* Into the array that is open; of a family of so many comparisons. */
void qs_sides_warn_metric(struct qs_json *j, const struct qs_sides_how *how, size_t family,
                          const struct qs_arm_metric *metric, const struct qs_sides_verdict *v);

#endif
