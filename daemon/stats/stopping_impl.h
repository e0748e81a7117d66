/* Private to stopping: what its leaf rules see. */
#ifndef QS_STATS_STOPPING_IMPL_H
#define QS_STATS_STOPPING_IMPL_H

#include "stats/stopping.h"

struct qs_leaf_state {
    size_t start;   /* first iteration that counts for this rule from now on */
    size_t tail;    /* where more than that is set aside if it ends here */
    size_t target;  /* futhark: kept iterations before the next look */
    bool converges; /* futhark: the first phase is over */
};

/* What one leaf is asked about: the series as it is now. */
struct qs_leaf_case {
    const struct qs_rule *rule;
    const double *x; /* all accepted durations */
    size_t n;
    const size_t *breaks;
    size_t n_breaks;
    double resolution_ns;
    const struct qs_stopping_now *now;
    double *scratch;    /* room for n values */
    size_t *break_room; /* room for n_breaks */
    struct qs_leaf_state *state;
};

/* True where the rule holds. May move state->start. */
typedef bool qs_leaf_fn(struct qs_leaf_case *c);
qs_leaf_fn qs_leaf_fixed, qs_leaf_time, qs_leaf_budget, qs_leaf_cov_window, qs_leaf_ci_width, qs_leaf_rse,
    qs_leaf_futhark, qs_leaf_stable, qs_leaf_settled, qs_leaf_planner, qs_leaf_external;

/* The breaks within x[from, n), counted from there, into break_room. */
size_t qs_leaf_breaks(const struct qs_leaf_case *c, size_t from);
/* The median (type 7) of n >= 1 values through scratch, which holds n. Linear on average. */
double qs_leaf_median(const double *x, size_t n, double *scratch);

#endif
