/* The comparison of one metric of two sides, whatever the sides are: two arms of one job, two selections of
 * the store, two files. One structure, judged in one way, told in one form (schema/verdict.md). Private to
 * report. */
#ifndef QS_REPORT_VERDICT_VERDICT_H
#define QS_REPORT_VERDICT_VERDICT_H

#include "base/json.h"
#include "report/verdict/rates.h"
#include "stats/effect.h"
#include "stats/hier.h"
#include "stats/mixed.h"
#include "stats/verdict.h"

enum { QS_BASE, QS_CAND };

/* A change is called at this share of alpha (1 % at 5 %); the interval stays at alpha.
 * tests/studies/README.md has what it costs and buys. */
#define QS_CALL_SHARE 0.2

struct qs_judging {
    double alpha;            /* intervals hold with 1 - alpha */
    double margin_ratio;     /* the smallest change that matters */
    double resolution_ratio; /* of the timer over the base's median; 0: not known */
    unsigned opinions;       /* a set as in report/job/opinion.h */
    uint64_t seed;           /* of resampling */
    struct qs_progress progress;
};

enum qs_units { /* what counts once */
                QS_UNITS_BLOCKS,
                QS_UNITS_SESSIONS,
                QS_UNITS_RUNS,
                QS_UNITS_DEVICES,
                QS_UNITS_BUILDS,
                QS_UNITS_ITERATIONS
};

struct qs_side_values { /* what a verdict rests on, of one side */
    double *v;          /* owned: one value for each unit, in the order of time */
    bool *disturbed;    /* owned: for each of v, or NULL: none, or nobody asks */
    size_t n, dropped, sessions, builds;
    enum qs_units fold;
    double *iterations; /* owned: of the units used, by run */
    size_t *runs;       /* owned: run_count + 1 offsets into iterations */
    size_t run_count, iteration_count;
    size_t *groups; /* owned: group_count + 1 offsets into runs: sessions, builds, or nothing */
    size_t group_count;
};

struct qs_exact { /* of a metric that is declared deterministic */
    bool declared, constant[2];
    double value[2]; /* NaN where it is not constant */
};

struct qs_told_ratio { /* the ratio by another method than the verdict's */
    const char *method, *status;
    double ratio, lo, hi;
    size_t resamples;
    bool few_units; /* too few at the top for the bootstrap */
};
struct qs_ratios {
    const struct qs_told_ratio *fieller, *bootstrap;
};

struct qs_comparison {
    const struct qs_arm_metric *metric; /* borrowed */
    const char *names[2];               /* of the arms; borrowed */
    double alpha, margin_ratio;
    enum qs_units units;
    bool paired; /* the units of both sides belong together, one by one */
    struct qs_verdict v;
    struct qs_mixed mixed; /* what clean and disturbed units say by themselves, where both are among them */
    struct qs_mixed_fold shift; /* what was taken off disturbed blocks; cells 0: nothing */
    struct qs_side_values side[2];
    struct qs_exact exact;
    const char *reason; /* static: of the verdict, or why it is withheld */
    double lost_p, timeout_p;
    bool uses_tainted;
    bool one_session;               /* a side is one session of one build, and the sides share no blocks */
    double p_bh;                    /* NaN where there is no p */
    double seconds_per_unit;        /* what one more takes to measure; NaN: not known */
    struct qs_nested values[2];     /* by run, for the rules of others; borrowed */
    const struct qs_ratios *ratios; /* borrowed, or NULL */
    const char *sentence;           /* borrowed; NULL: that of the interval */
};

/* verdict.c: one that nothing is known of yet. */
struct qs_comparison qs_comparison_new(const struct qs_judging *how, const struct qs_arm_metric *metric);
/* From units and values to v, and why it is withheld. */
void qs_comparison_conclude(const struct qs_judging *how, struct qs_comparison *ret);
/* Good news needs sides that lost the same share of their runs. */
void qs_comparison_ask_rates(struct qs_comparison *ret, const struct qs_lost_rates *rates);
/* A change that is expected by chance among so many: p_bh is known. */
bool qs_comparison_is_doubtful(const struct qs_comparison *c);
/* A regression that is none by chance. */
bool qs_comparison_is_regression(const struct qs_comparison *c);
void qs_comparison_done(struct qs_comparison *c);
void qs_side_values_done(struct qs_side_values *v);

/* Before the first value of a metric is looked at. */
struct qs_exact qs_exact_new(bool declared);
void qs_exact_look(const double *v, size_t n, bool *constant, double *value);
/* Replaces the verdict where both sides are constant. */
void qs_comparison_judge_exact(struct qs_comparison *ret);
bool qs_comparison_is_exact(const struct qs_comparison *c); /* one value on each side */

/* All comparisons of a document are one family of tests (statistics.md 8.12). */
struct qs_comparisons {        /* starts from {0} */
    struct qs_comparison **at; /* owned; they are borrowed */
    size_t count;
    size_t tested;    /* those that have a p */
    size_t selected;  /* of them p_bh <= q */
    double q;         /* false discovery rate: alpha */
    double fcr_level; /* of intervals that are shown for the selected only; NaN where there is none */
};
void qs_comparisons_add(struct qs_comparisons *all, struct qs_comparison *one);
/* Fills p_bh of each, and what is counted. */
void qs_comparisons_adjust(struct qs_comparisons *all, double q);
void qs_comparisons_done(struct qs_comparisons *all);
/* "family" of the open object. */
void qs_comparisons_put(struct qs_json *j, const struct qs_comparisons *all);

/* Of the units that count, of their own pairs where they are paired; NaN where it was compared exactly. */
struct qs_superiority qs_comparison_superiority(const struct qs_comparison *c);
/* form.c: a comparison as an object. */
void qs_comparison_put(struct qs_json *j, const struct qs_judging *how, const struct qs_comparison *c);
/* The form itself, from the rows that write it: its JSON Schema, and the table of schema/verdict.md. */
void qs_comparison_schema(struct qs_buf *out);
void qs_comparison_table(struct qs_buf *out);

/* words.c: "b takes 7.3–9.0 % longer than a" of durations, "calls of b is 7.3–9.0 % lower than that of a",
 * "calls: 100 1 in a, 101 in b (+1)" where it was compared exactly: what the verdict rests on. */
void qs_comparison_sentence(struct qs_buf *out, const struct qs_comparison *c);
/* What every face adds: "b takes longer than a in 98 % of pairs", noise; nothing of exact ones. */
void qs_comparison_notes(struct qs_buf *out, const struct qs_comparison *c, const struct qs_superiority *s);
void qs_report_sentence(struct qs_buf *out, const char *base, const char *cand, double lo, double hi);
void qs_report_value_sentence(struct qs_buf *out, const char *metric, const char *base, const char *cand,
                              double lo, double hi);
/* "a takes 12.3 ms to 12.6 ms (median)", "calls of a is 100 to 101 count (median)". */
void qs_report_arm_sentence(struct qs_buf *out, const struct qs_arm_metric *metric, const char *name,
                            double lo, double hi);
/* What is wrong with it, into the array that is open; of a family of so many. */
void qs_comparison_warn(struct qs_json *j, const struct qs_comparison *c, size_t family);

#endif
