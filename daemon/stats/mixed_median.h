/* The median of values of which some were taken on a disturbed machine: both kinds count with what each is
 * worth.
 *
 * Between two sides what disturbs both cancels; in times of one nothing does, and what disturbed values have
 * in common (as a rule they are longer) no number of them averages away. So a disturbed value is worth
 * 1 / (r + n d^2 / v) of a clean one: r is the ratio of both variances as far as the sample shows it (the
 * lower bound of stats/mixed.h, 1 at least), v the variance of clean ones, n the number of disturbed ones,
 * and d^2 what both means differ by, squared, less what chance makes of it: the moment estimator of a
 * variance between studies (DerSimonian & Laird 1986), here of two. With fewer than QS_MIXED_LEAST of a kind
 * nobody knows, and all count alike.
 *
 * The interval has the values that a sign test with these weights does not refuse, exact in both binomial
 * counts; with equal weights that is the interval of order statistics (statistics.md, section 5). Where all
 * disturbed values together are worth less than two clean ones, and these reach the level by themselves, they
 * count alone: more would be gained from ties than is known. */
#ifndef QS_STATS_MIXED_MEDIAN_H
#define QS_STATS_MIXED_MEDIAN_H

#include <stdbool.h>

#include "stats/interval.h"
#include "stats/mixed.h"

struct qs_mixed_median {
    double median;   /* weighted; NaN where there is no value */
    struct qs_ci ci; /* level: the confidence that is achieved, at least the wanted one */
    struct qs_median_kind {
        size_t n;
        double median;   /* NaN where there is none */
        struct qs_ci ci; /* NaN where there are too few */
    } alone[QS_KINDS];   /* what each kind says by itself */
    double worth; /* of a disturbed value where a clean one is worth 1: in (0, 1], or 0: they do not count;
                     NaN where not both kinds are there */
};

/* disturbed NULL: none. QS_ENODATA, QS_EDOM, QS_ENOMEM; QS_ETOOFEW where no interval reaches the level (95 %:
 * n < 6): median is set then. */
enum qs_status qs_mixed_median(const double *x, const bool *disturbed, size_t n, double level,
                               struct qs_mixed_median *out);

#endif
