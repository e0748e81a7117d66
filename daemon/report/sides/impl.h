/* What the files of a comparison of two sides share. Private to report. */
#ifndef QS_REPORT_SIDES_IMPL_H
#define QS_REPORT_SIDES_IMPL_H

#include "base/json.h"
#include "report/conditions.h"
#include "report/env_diff.h"
#include "report/sides/sides.h"
#include "report/verdict/verdict.h"
#include "report/work.h"

/* A series of one side: a point in one arm on one device, wherever it was measured. */
struct qs_side_series {
    const struct qs_arm_run **runs; /* owned: ascending by job, block, arm, turn; of each the last attempt */
    size_t count;
    const char *arm;     /* its build, or where there is none the arm's name; borrowed, or pool */
    char *pool;          /* owned: the names of all that were pooled, or NULL */
    const char **builds; /* owned: those names one by one, or NULL */
    size_t pooled;       /* how many arms; 0: it went into another series */
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
    const char *build; /* what was measured: a build, or an arm; of a pair, that of the side that has fewer */
    size_t first, count; /* of the series' runs */
    bool disturbed;      /* some run stands on softly tainted iterations */
    double value;        /* of one metric: exp of the mean log of its runs' medians; NaN: nothing accepted */
    double factor, weight; /* value and iterations are to be multiplied by it, and count so much in a fold */
};

struct qs_side_units {
    struct qs_side_unit *at; /* owned */
    size_t count;
};

struct qs_env_facts;

struct qs_sides_pair { /* two matched series */
    const struct qs_side_series *series[2];
    struct qs_lost_rates rates;
    struct qs_comparison *metrics; /* owned, one for each metric; side[].n of 0: neither side has it */
};

struct qs_sides_point {          /* matched series of one point in one pair of arms, device by device */
    struct qs_sides_pair *pairs; /* owned */
    size_t count;
    double margin_ratio; /* the one asked for, or that of its benchmark */
    struct qs_lost_rates rates;
    struct qs_comparison *over; /* owned, one for each metric, or NULL where there is one device */
};

struct qs_sides {
    const struct qs_sides_input *in;
    struct qs_side side[2];
    struct qs_sides_point *points; /* owned */
    size_t point_count;
    struct qs_env_diff environment, arms; /* arms: the difference that is under test */
    bool *allowed;                        /* owned, for each of environment */
    bool refused;
    struct qs_judging how;
    struct qs_comparisons all; /* that stand in the document */
    size_t regressions;
    struct qs_work *work;     /* borrowed */
    struct qs_sides_own *own; /* owned: the report of the one job, or NULL */
};

/* match.c */
void qs_sides_collect(struct qs_sides *s);
void qs_sides_match(struct qs_sides *s);
void qs_sides_done(struct qs_sides *s);
/* What a run measured: its build, or where it has none its arm's name. */
const char *qs_sides_build(const struct qs_arm_run *run);
/* The order of a series' runs: job, block, what was measured, turn. */
int qs_sides_by_turn(const struct qs_arm_run *a, const struct qs_arm_run *b);
/* pool.c: whether series of one point on one device may be one: no job compares them with each other,
 * or the words of the side name them one by one. */
bool qs_sides_may_pool(enum qs_pool pool, const struct qs_side_series *const *series, size_t count);
/* All of them into the first, which is given back; the others are spent. */
struct qs_side_series *qs_sides_pool(struct qs_side_series *const *series, size_t count);
/* facts.c: what the run's job says, or NULL. */
const struct qs_job_spec *qs_sides_spec(const struct qs_sides *s, const struct qs_arm_run *run);
/* What was set on purpose matters, whatever its name. */
enum qs_env_class qs_sides_variable_class(const struct qs_sides *s, const char *name);
/* What the job set up around what it measured, with what its processes inherited where `around`, the facts of
 * their session, is given; and the arm. JSON objects, owned by the caller. conditions: kept from run to run.
 */
char *qs_sides_setup(const struct qs_sides *s, const struct qs_job_spec *spec, const struct qs_arm_run *run,
                     const struct qs_env_facts *around, struct qs_conditions_made *conditions);
char *qs_sides_arm(const struct qs_job_spec *spec, const struct qs_arm_run *run);
/* sides/differ.c: fills environment, arms, allowed, refused. */
void qs_sides_differ(struct qs_sides *s);
/* units.c */
void qs_sides_units(const struct qs_side_series *series, size_t metric, struct qs_side_units *ret);
/* One value for each block, session or build of the units that are used. */
void qs_sides_fill(const struct qs_side_series *series, size_t metric, const struct qs_side_units *units,
                   const bool *used, enum qs_units fold, struct qs_side_values *ret);
/* level.c: which units of both sides count, and what counts once. */
void qs_sides_gather(const struct qs_sides_pair *pair, size_t metric, double alpha,
                     struct qs_comparison *ret);
/* shift.c: takes off the disturbed units what a disturbance adds; false where no session tells it. */
bool qs_sides_shift(struct qs_side_units *const units[2], const bool *const used[2],
                    const enum qs_units fold[2], double level, struct qs_mixed_fold *ret);
/* job.c: the verdict of the job that both sides are arms of; false where they are not, and ret is as it
 * was. */
bool qs_sides_judge_own(struct qs_sides *s, const struct qs_sides_pair *pair, size_t metric,
                        struct qs_comparison *ret);
void qs_sides_own_free(struct qs_sides_own *own);
/* judge.c: fills the verdicts, the family and what may be called. */
void qs_sides_judge(struct qs_sides *s);
/* Whether a verdict stands in the document: on a device the duration does, and what either side has; over
 * devices what both have. */
bool qs_sides_is_known(const struct qs_comparison *c, size_t metric);
/* ratio.c: what the verdict and the ratios of one metric of a pair cost, and of all (report/work.h). */
double qs_sides_judge_ns(const struct qs_sides_pair *pair, size_t metric);
double qs_sides_ratios_ns(const struct qs_sides_pair *pair, size_t metric);
double qs_sides_plan_ns(const struct qs_sides *s);
/* ratio.c: other ways to say how many percent; ret->ratios points into the other two. */
struct qs_ratios qs_sides_ratios(const struct qs_sides *s, const struct qs_comparison *c, uint64_t stream,
                                 const struct qs_progress *progress, struct qs_told_ratio ret_of[2]);
/* tables.c: the same as tables. */
struct qs_tally;
void qs_sides_tables(const struct qs_sides *s, const struct qs_tally *tally, struct qs_tables *t);
/* words.c */
void qs_sides_warn(struct qs_json *j, const struct qs_sides *s, const struct qs_sides_pair *pair);

#endif
