/* Slow drift: is there a monotonic trend, and how steep is it? For series in the order of time, one value a
 * step. Change points turn a ramp into steps; this is what labels it. */
#ifndef QS_STATS_TREND_H
#define QS_STATS_TREND_H

#include "stats/status.h"

#include <stddef.h>

struct qs_mann_kendall {
    double s;     /* pairs that rise minus pairs that fall */
    double var_s; /* of s where there is no trend, with the correction for ties */
    double z;     /* (s -+ 1)/sqrt(var_s), 0 for s = 0 */
    double p;     /* two-sided, normal: 1 where all values are equal */
    double tau;   /* Kendall's tau-b; NaN where all values are equal */
};

/* Mann 1945, Kendall 1975. Values are taken as independent: autocorrelation makes p too small. n log n steps.
 * QS_ENODATA, QS_ETOOFEW (n = 1), QS_EDOM, QS_ENOMEM; fields are NaN then. */
enum qs_status qs_mann_kendall(const double *y, size_t n, struct qs_mann_kendall *out);

/* Theil 1950, Sen 1968: the median of (y_j - y_i)/(j - i), i < j. QS_ENODATA, QS_ETOOFEW (n = 1), QS_EDOM,
 * QS_ENOMEM, QS_ECANCELED, with *slope = NaN. Needs memory for n(n-1)/2 slopes. */
enum qs_status qs_theil_sen(const double *y, size_t n, const struct qs_progress *progress, double *slope);

struct qs_theil_sen {
    double slope;     /* per step, in the unit of the values */
    double intercept; /* median of y_i - slope i, i from 0 */
    struct qs_ci ci;  /* of the slope; NaN where n is too small for the level (95 %: below 5) */
};

/* The slope with Sen's interval: order statistics floor((N - C)/2) from either end of the N slopes, C =
 * z_{1-a/2} sqrt(var_s). Otherwise as qs_theil_sen; QS_EDOM also for a level outside of (0,1). */
enum qs_status qs_theil_sen_ci(const double *y, size_t n, double level, const struct qs_progress *progress,
                               struct qs_theil_sen *out);

#endif
