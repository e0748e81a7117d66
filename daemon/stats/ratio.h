/* "How many percent?": the ratio candidate / baseline without logarithms. The default is the ratio of
 * geometric means (qs_log_welch in twosample.h, qs_paired_blocks for blocks); these are the other answers
 * people give. */
#ifndef QS_STATS_RATIO_H
#define QS_STATS_RATIO_H

#include "stats/status.h"

#include <stddef.h>

struct qs_fieller {
    double ratio;    /* of the means, y / x */
    struct qs_ci ci; /* NaN where the interval is not bounded */
};

/* Fieller's interval for a ratio of means as Kalibera & Jones 2013 give it: with m, h the mean of a sample
 * and the half-width of its t interval at this level, the roots of theta^2 (mx^2 - hx^2) - 2 theta mx my +
 * (my^2 - hy^2) = 0. Not bounded where the baseline's own interval reaches 0. QS_ENODATA; QS_ETOOFEW for a
 * sample of 1 (ratio is set); QS_EDOM; QS_EDEGENERATE where the interval is not bounded, or the baseline's
 * mean is 0. Nothing varies: a point, QS_FLAG_EXACT. */
enum qs_status qs_fieller(const double *x, size_t nx, const double *y, size_t ny, double level,
                          struct qs_fieller *out);

/* Ratios of statistics, without any interval. NaN where the denominator is 0. */
struct qs_point_ratios {
    double minima, medians, means;
};

/* QS_ENODATA, QS_EDOM, QS_ENOMEM: all NaN. */
enum qs_status qs_point_ratios(const double *x, size_t nx, const double *y, size_t ny,
                               struct qs_point_ratios *out);

#endif
