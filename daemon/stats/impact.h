/* Impact factor of the random initial state: how much more samples of different runs differ than samples of
 * one run, and whether a run merely adds a constant to its samples. Kalibera, Bulej & Tuma 2005, section 3,
 * figure 2 and section 5.3. */
#ifndef QS_STATS_IMPACT_H
#define QS_STATS_IMPACT_H

#include "stats/hier.h"
#include "stats/status.h"

#include <stddef.h>
#include <stdint.h>

struct qs_impact_opts {
    uint64_t seed, stream; /* of the random draws: equal keys give equal results */
    size_t rounds;         /* 1 .. 10^7; 10000 in the paper: 3 % of Monte Carlo error */
    struct qs_progress progress;
};

enum qs_additive {
    QS_ADDITIVE_UNKNOWN,   /* a factor could not be computed */
    QS_ADDITIVE_NO_EFFECT, /* the raw factor is at most 1.05: there is no effect of runs to model */
    QS_ADDITIVE_WELL,      /* subtracting the run means brings the factor to within 0.1 of 1 */
    QS_ADDITIVE_PARTLY,    /* it lowers the factor */
    QS_ADDITIVE_NO         /* it does not */
};

/* "unknown", "no-effect", "well", "partly", "no". Static. */
extern const char *const qs_additive_names[]; /* by value, NULL at the end */

struct qs_impact {
    double raw;         /* median ratio of the two standard deviations; +Inf where runs differ and samples
                           of one run do not */
    double transformed; /* the same after subtracting from each run its mean */
    double analytic; /* sqrt(1 + t2/t1) from the variance components: no resampling; +Inf for t1 = 0 < t2 */
    enum qs_additive additive;
    size_t c, rounds; /* samples drawn on each side, rounds made */
};

/* Each round: one sample from each of c different runs, and c different samples of one run; c is 3/4 of the
 * runs, below both numbers. QS_ETOOFEW: fewer than 4 runs, or a run of fewer than 4 samples; QS_EDOM (a
 * value, or rounds); QS_ENODATA; QS_ENOMEM; QS_ECANCELED. */
enum qs_status qs_impact_factor(const struct qs_nested *data, const struct qs_impact_opts *opts,
                                struct qs_impact *out);

#endif
