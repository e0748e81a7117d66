/* Chen & Revels' model of a timing measurement (2016, section III): a program of k instructions, between
 * which delays strike, n times in a row, timed by an inaccurate clock. */
#ifndef QS_STUDIES_DELAY_MODEL_H
#define QS_STUDIES_DELAY_MODEL_H

#include <stddef.h>

#include "stats/rng.h"

/* A delay factor takes tau_ns where it triggers (eq. 4). At the i-th instruction of a measurement, i = 1, 2,
 * .., n k, that is an independent Bernoulli draw of probability p / i^fading, so that the count over all is
 * Poisson binomial: fading 0 triggers in proportion to n, fading 1 about p log(n k) times, which is o(n). */
struct delay_factor {
    double tau_ns, p, fading;
};

struct delay_model {
    double t0_ns;                       /* of one execution without any delay */
    size_t k;                           /* instructions of one execution */
    const struct delay_factor *factors; /* borrowed */
    size_t factor_count;
    double acc_ns; /* the clock's error is uniform in [-acc_ns, acc_ns] */
};

/* T of eq. 7, for n executions. */
double delay_model_measure_ns(const struct delay_model *m, size_t n, struct qs_rng *rng);

/* Where T/n goes for large n: t0 + k sum of p tau over the factors that do not fade. Eq. 9 where every p
 * is 1. */
double delay_model_limit_ns(const struct delay_model *m);

#endif
