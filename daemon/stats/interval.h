/* Intervals for one sample. "level" is the wanted confidence, in (0,1). */
#ifndef QS_STATS_INTERVAL_H
#define QS_STATS_INTERVAL_H

#include "stats/status.h"

#include <stddef.h>

/* Student's interval m +- t_{1-a/2,df} s/sqrt(n_eff), df = n_eff - 1. n_eff in (1, n] is what the values are
 * worth (qs_ess); NaN takes n. Constant data give a point and QS_FLAG_EXACT. QS_ENODATA, QS_ETOOFEW (n = 1 or
 * n_eff <= 1), QS_EDOM. */
enum qs_status qs_mean_ci(const double *x, size_t n, double n_eff, double level, struct qs_ci *out);

/* The same from numbers that are known already: sd >= 0 with denominator n-1. */
struct qs_ci qs_t_interval(double mean, double sd, double n_eff, double level);

/* mean +- z_{1-a/2} sd/sqrt(n), only to repeat what papers print that take z where t belongs. Arguments as
 * above, n >= 2. */
struct qs_ci qs_z_interval(double mean, double sd, double n, double level);

/* Distribution-free interval of the median: [x_(d), x_(n-d+1)] with the largest d such that
 * P(Bin(n,1/2) <= d-1) <= (1-level)/2. */
struct qs_median_ci {
    struct qs_ci ci;         /* ci.level is the confidence that is achieved, at least the wanted one */
    size_t lo_rank, hi_rank; /* 1-based order statistics; 0: not available */
};

/* QS_ENODATA, QS_EDOM, QS_ENOMEM; QS_ETOOFEW where no pair of order statistics reaches the level (95 %: n <
 * 6). */
enum qs_status qs_median_ci(const double *x, size_t n, double level, struct qs_median_ci *out);

#endif
