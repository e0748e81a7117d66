/* Second opinions: what the rules of other papers and programs say of two builds, each as it was published.
 * The verdict (verdict.h) is the answer; these stand beside it for people who know them or reproduce them.
 * Most treat iterations as independent, and are wrong as often as tests/studies says. */
#ifndef QS_STATS_OPINION_H
#define QS_STATS_OPINION_H

#include "stats/hier.h"
#include "stats/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum qs_opinion_rule {
    QS_OPINION_JUDGE,   /* Chen & Revels 2016, BenchmarkTools: ratio of minima against a tolerance */
    QS_OPINION_ANDROID, /* "Statistically rigorous Android macrobenchmarks": interval of a mean difference */
    QS_OPINION_KALIBERA2005, /* Kalibera, Bulej & Tuma 2005, eq. 5: do the intervals of the means meet? */
    QS_OPINION_FUTHARK,      /* futhark benchcmp: means against half the standard deviations */
    QS_OPINION_RANCID,       /* Rancid, Table 3: medians and sd of run medians */
    QS_OPINION_PERFHERDER,   /* Mozilla Perfherder: weighted t of the runs after against those before */
    QS_OPINION_SKIA,         /* Skia Perf: step fit over the runs of both */
    QS_OPINION_RULES
};

enum qs_opinion_answer {
    QS_OPINION_UNDECIDED, /* the rule does not apply: see reason */
    QS_OPINION_NO_CHANGE, /* none that the rule would report */
    QS_OPINION_REGRESSION,
    QS_OPINION_IMPROVEMENT
};

enum qs_opinion_unit {
    QS_OPINION_VALUE, /* the unit of the metric */
    QS_OPINION_RATIO, /* 0.02 is 2 % */
    QS_OPINION_PLAIN  /* no unit: counts, p, test statistics */
};

struct qs_opinion_number {
    const char *name; /* static, for programs: "baseline_min" */
    enum qs_opinion_unit unit;
    double value; /* NaN: not known */
};

/* A condition under which the rule holds. */
struct qs_opinion_check {
    const char *name; /* static: "baseline_normal_p" */
    double value, bound;
    bool at_least; /* value >= bound is wanted, otherwise value <= bound */
    bool holds;    /* false for a value that is not known */
};

enum { QS_OPINION_NUMBERS = 16, QS_OPINION_THRESHOLDS = 4, QS_OPINION_CHECKS = 8 };

struct qs_opinion {
    enum qs_opinion_rule rule;
    enum qs_opinion_answer answer;
    const char *reason;     /* of UNDECIDED: "preconditions", or qs_status_name; "none" otherwise */
    const char *source;     /* static, for people: who published it */
    const char *compared;   /* static: "the least iteration of each build" */
    const char *changed_if; /* static: when it reports a change */
    struct qs_opinion_number numbers[QS_OPINION_NUMBERS], thresholds[QS_OPINION_THRESHOLDS];
    struct qs_opinion_check checks[QS_OPINION_CHECKS];
    size_t number_count, threshold_count, check_count;
    size_t runs[2], iterations[2]; /* what was given */
};

struct qs_opinion_opts {
    bool lower_is_better;
    double level;  /* of intervals, in (0,1) */
    double one_ms; /* a millisecond in the unit of the values, for rules that speak of one; NaN: not a time */
    uint64_t seed; /* of resampling */
    struct qs_progress progress;
};

/* base and cand: accepted iterations in order, by run. Too little data is an answer (UNDECIDED). QS_ENODATA
 * (a side or a run without values), QS_EDOM (a value or an option), QS_ENOMEM, QS_ECANCELED: UNDECIDED as
 * well. */
enum qs_status qs_opinion(enum qs_opinion_rule rule, const struct qs_nested *base,
                          const struct qs_nested *cand, const struct qs_opinion_opts *opts,
                          struct qs_opinion *out);

/* By value, NULL at the end. */
extern const char *const qs_opinion_rule_names[], *const qs_opinion_answer_names[];
/* False where no rule has this name. */
bool qs_opinion_rule_find(const char *name, enum qs_opinion_rule *ret);
/* "value", "ratio", "plain". Static. */
const char *qs_opinion_unit_name(enum qs_opinion_unit unit);

#endif
