/* Where a series splits best: the energy statistic of two neighbouring stretches. Matteson & James 2014
 * (E-divisive) with exponent 1; Fleming et al. 2023 (Hunter). */
#ifndef QS_STATS_ENERGY_H
#define QS_STATS_ENERGY_H

#include "stats/status.h"

#include <stddef.h>

struct qs_split {
    size_t at; /* the first value of the right stretch, 1 .. n-1 */
    double q;  /* the statistic, in the unit of the values; >= 0 */
};

/* The largest Q(x[0:at], x[at:end]) over 0 < at < end <= n, the right end free; of equal ones the first `at`.
 * Q(X, Y) for n and m values is
 * 2/(m+n) sum |X_i - Y_j| - 2m/((m+n)(n-1)) sum_{i<k} |X_i - X_k| - 2n/((m+n)(m-1)) sum_{j<k} |Y_j - Y_k|,
 * a term of a single value being 0. n >= 2 finite values; scratch has room for 2 n. Takes n^2/2
 * steps, and tells nothing but asks now and then; q is NaN where it was ended. */
struct qs_split qs_best_split(const double *x, size_t n, double *scratch, const struct qs_progress *progress);

#endif
