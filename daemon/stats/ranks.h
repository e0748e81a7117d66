/* Two samples by ranks: x is the baseline, y the candidate. These say whether and how far one lies above the
 * other without trusting any shape; they still take the values as independent, which iterations of one run
 * are not. */
#ifndef QS_STATS_RANKS_H
#define QS_STATS_RANKS_H

#include "stats/status.h"

#include <stdbool.h>
#include <stddef.h>

/* How p and the ranks of intervals are found. AUTO is R's rule: exact below QS_RANKS_EXACT_BELOW values a
 * side and without ties, otherwise the normal approximation. */
enum qs_ranks_method { QS_RANKS_AUTO, QS_RANKS_EXACT, QS_RANKS_NORMAL, QS_RANKS_NORMAL_UNCORRECTED };
enum { QS_RANKS_EXACT_BELOW = 50, QS_RANKS_EXACT_MAX = 100 };

struct qs_mwu {
    double u;     /* #(y > x) + #(y = x)/2 over all pairs */
    double cles;  /* u / (n1 n2): the chance that a candidate's value is above a baseline's */
    double cliff; /* Cliff's delta, 2 cles - 1 */
    double p;     /* two-sided */
    double p_min; /* the least p that so many values can reach: 2/C(n1+n2, n1), at most 1 */
    bool exact;
    size_t n[2];
    unsigned flags; /* QS_FLAG_TIES: values occur more than once */
};

/* Mann & Whitney 1947. Exact p by counting the ways to reach each u (R's wilcox.test); with ties it is
 * conditional on them (Streitberg & Röhmel 1986). Normal: sigma^2 = n1 n2/12 (N+1 - sum(t^3-t)/(N(N-1))), u
 * half a step nearer to its mean (UNCORRECTED: not); sigma = 0 gives p = 1. QS_ENODATA; QS_EDOM (also where
 * EXACT is asked for more than QS_RANKS_EXACT_MAX values a side: u, cles and cliff are set then); QS_ENOMEM.
 */
enum qs_status qs_mwu(const double *x, size_t nx, const double *y, size_t ny, enum qs_ranks_method method,
                      struct qs_mwu *out);

/* The least number of values on each side of two equal samples whose exact test can reach p < alpha: 4 at 5
 * %. 0 for an alpha outside of (0,1). */
size_t qs_mwu_runs_needed(double alpha);

struct qs_hl {
    double shift; /* the median of all n1 n2 differences y - x (Hodges & Lehmann 1963) */
    /* Two of the ordered differences. ci.level is the confidence reached where exact, the wanted one
     * otherwise; NaN where not even the extremes reach it: then n_needed says how many equal samples need. */
    struct qs_ci ci;
    double lo_rank, hi_rank; /* of the differences in ascending order, from 1; NaN: no interval */
    size_t n_needed;
    bool exact;
    unsigned flags; /* QS_FLAG_TIES */
};

/* Ranks by the distribution of u: exact q+1 with the largest q for which P(U <= q) < (1-level)/2, or
 * max(1, floor(n1 n2/2 - z sqrt(n1 n2 (N+1)/12))). Differences are selected, not stored: memory and time go
 * with n1 + n2, and a result is one of the differences to the last bit. QS_ENODATA; QS_EDOM (also where a
 * difference overflows, or EXACT is out of reach as above); QS_ENOMEM; QS_ECANCELED; QS_ETOOFEW where there
 * is no interval. Shift is set with the last two reasons for having none. */
enum qs_status qs_hl(const double *x, size_t nx, const double *y, size_t ny, double level,
                     enum qs_ranks_method method, const struct qs_progress *progress, struct qs_hl *out);

/* The same for ratios: shift is the median of all y/x (of two in the middle their mean), ci two of them.
 * QS_EDOM also where a value is <= 0. */
enum qs_status qs_hl_ratio(const double *x, size_t nx, const double *y, size_t ny, double level,
                           enum qs_ranks_method method, const struct qs_progress *progress,
                           struct qs_hl *out);

#endif
