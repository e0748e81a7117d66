/* Change points without a model: E-divisive with a permutation test (Matteson & James 2014). A second
 * opinion: slower than Hunter, and without its floor of magnitude. */
#ifndef QS_STATS_EDIVISIVE_H
#define QS_STATS_EDIVISIVE_H

#include "stats/status.h"

#include <stddef.h>
#include <stdint.h>

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

#endif
