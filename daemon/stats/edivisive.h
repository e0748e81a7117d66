/* Change points without a model: E-divisive with a permutation test (Matteson & James 2014). A second
 * opinion: slower than Hunter, and without its floor of magnitude. */
#ifndef QS_STATS_EDIVISIVE_H
#define QS_STATS_EDIVISIVE_H

#include <stddef.h>
#include <stdint.h>

#include "stats/status.h"

struct qs_edivisive_opts {
    uint64_t seed, stream; /* equal keys give equal results */
    size_t permutations;   /* R, 1 .. 10^6; 199 as a rule. No p is below 1/(R+1) */
    double p_max;          /* a change stays with p <= p_max, in (0,1); 0.05 as a rule */
    /* How many changes there are is what is asked: each test counts as half of what is left. */
    struct qs_progress progress;
};

struct qs_edivisive_point {
    size_t index; /* the first value after the change, 1 .. n-1 */
    double q, p;
};

/* Takes the best split of all segments; it is a change where few shuffles inside the segments split as well:
 * p = (1 + #{Q* >= Q})/(R + 1), so that p is never 0. Ends at the first that is not. out has room for n;
 * *count entries are set, ascending by index. R n^2/2 steps for each change and one more. QS_ENODATA;
 * QS_ETOOFEW for n = 1; QS_EDOM (a value, an option); QS_ENOMEM; QS_ECANCELED; *count is 0 then. */
enum qs_status qs_edivisive(const double *x, size_t n, const struct qs_edivisive_opts *opts,
                            struct qs_edivisive_point *out, size_t *count);

/* Where a series splits best: the energy statistic of two neighbouring stretches. Matteson & James 2014
 * (E-divisive) with exponent 1; Fleming et al. 2023 (Hunter). */
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
