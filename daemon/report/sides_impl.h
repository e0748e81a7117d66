/* What the files of a comparison of two sides share. Private to report. */
#ifndef QS_REPORT_SIDES_IMPL_H
#define QS_REPORT_SIDES_IMPL_H

#include "base/json.h"
#include "report/env_diff.h"
#include "report/sides.h"
#include "stats/verdict.h"

enum { QS_BASE, QS_CAND };

/* A series of one side: a point in one arm on one device, wherever it was measured. */
struct qs_side_series {
    const struct qs_arm_run **runs; /* owned: ascending by job, block, turn; of each the last attempt */
    size_t count;
    const char *arm; /* name, or build where all runs have one; borrowed */
    bool matched;
};

struct qs_side {
    struct qs_side_series *at; /* owned */
    size_t count;
};

/* The turns of an arm in one block of one job: what is independent of what, at the lowest level. */
struct qs_side_unit {
    int64_t job, session;
    uint32_t block;
    size_t first, count; /* of the series' runs */
    bool soft;           /* some run stands on softly tainted iterations */
    double value;        /* of one metric: exp of the mean log of its runs' medians; NaN: nothing accepted */
};

struct qs_side_units {
    struct qs_side_unit *at; /* owned */
    size_t count;
};

enum qs_sides_level { QS_SIDES_BLOCKS, QS_SIDES_SESSIONS, QS_SIDES_RUNS, QS_SIDES_DEVICES };

struct qs_side_values { /* what a verdict rests on, of one side */
    double *v;          /* owned: one value for each unit, in the order of time */
    size_t n, dropped, sessions;
    double *iterations; /* owned: of the units used, by run */
    size_t *runs;       /* owned: run_count + 1 offsets into iterations */
    size_t run_count, iteration_count;
    size_t *groups; /* owned: group_count + 1 offsets into runs: sessions, or nothing */
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
    struct qs_verdict v;
    struct qs_side_values side[2];
    struct qs_sides_exact exact;
    const char *reason; /* static: of the verdict, or why it is withheld */
    bool uses_soft;
    bool one_session; /* a side is one session, and the sides share none */
    double p_bh;      /* NaN where there is no p */
};

struct qs_sides_pair { /* two matched series */
    const struct qs_side_series *series[2];
    struct qs_sides_rates rates;
    struct qs_sides_verdict *metrics; /* owned, one for each metric; side[].n of 0: neither side has it */
};

struct qs_sides_point {          /* matched series of one point in one pair of arms, device by device */
    struct qs_sides_pair *pairs; /* owned */
    size_t count;
    struct qs_sides_rates rates;
    struct qs_sides_verdict *over; /* owned, one for each metric, or NULL where there is one device */
};

struct qs_sides {
    const struct qs_sides_input *in;
    struct qs_side side[2];
    struct qs_sides_point *points; /* owned */
    size_t point_count;
    struct qs_env_diff environment, arms; /* arms: the difference that is under test */
    bool *allowed;                        /* owned, for each of environment */
    bool refused;
    double margin_ratio;
    size_t family, selected, regressions;
};

/* sides_match.c */
void qs_sides_collect(struct qs_sides *s);
void qs_sides_match(struct qs_sides *s);
void qs_sides_done(struct qs_sides *s);
/* sides_facts.c: fills environment, arms, allowed, refused. */
void qs_sides_differ(struct qs_sides *s);
/* sides_units.c */
void qs_sides_units(const struct qs_side_series *series, size_t metric, struct qs_side_units *ret);
void qs_side_values_done(struct qs_side_values *v);
void qs_sides_fill(const struct qs_side_series *series, size_t metric, const struct qs_side_units *units,
                   const bool *used, bool by_session, struct qs_side_values *ret);
/* sides_judge.c: fills the verdicts, the family and what may be called. */
void qs_sides_judge(struct qs_sides *s);
bool qs_sides_is_doubtful(const struct qs_sides *s, const struct qs_sides_verdict *v);
/* sides_exact.c: of a metric that is declared deterministic; ret is judged already. */
bool qs_sides_is_exact(const struct qs_sides_verdict *v); /* one value on each side */
void qs_sides_exact(const struct qs_sides *s, const struct qs_sides_pair *pair, size_t metric,
                    struct qs_sides_verdict *ret);
/* sides_put.c: a verdict as the fields of the object that is open; names of the arms for its sentence. */
void qs_sides_put_verdict(struct qs_json *j, const struct qs_sides *s, size_t metric,
                          const struct qs_sides_verdict *v, const char *const names[2]);
/* sides_ratio.c: "ratios" of the object that is open: other ways to say how many percent. */
void qs_sides_put_ratios(struct qs_json *j, const struct qs_sides *s, const struct qs_sides_verdict *v,
                         uint64_t stream);
/* sides_words.c */
const char *qs_sides_level_name(enum qs_sides_level level);
void qs_sides_sentence(struct qs_buf *out, const struct qs_arm_metric *metric, const char *const names[2],
                       const struct qs_sides_verdict *v);
void qs_sides_warn(struct qs_json *j, const struct qs_sides *s, const struct qs_sides_pair *pair);

#endif
