/* The procedure of the article "Statistically rigorous Android macrobenchmarks": four preconditions, then an
 * interval for the difference of two means. It takes iterations as independent. */
#ifndef QS_STATS_ANDROID_H
#define QS_STATS_ANDROID_H

#include "stats/status.h"
#include "stats/twosample.h"

#include <stdbool.h>
#include <stddef.h>

/* The article's but for the last, which it leaves open (measure.sh takes it) */
#define QS_ANDROID_NORMAL_P  0.05 /* Shapiro-Wilk p of each sample, at least */
#define QS_ANDROID_VAR_RATIO 2.0  /* larger variance over the smaller one, at most */
#define QS_ANDROID_COV       0.06 /* standard deviation over mean of each sample, at most */
enum { QS_ANDROID_N = 31 };       /* "more than 30" iterations of each */

struct qs_android {
    double w[2], normal_p[2]; /* Shapiro-Wilk; NaN: not defined (constant, or n out of 3..5000) */
    double var_ratio;         /* NaN where neither varies */
    double cov[2];            /* by |mean|; NaN for a mean of 0 */
    bool enough, normal, alike, steady;
    bool holds;        /* all four */
    struct qs_ttest t; /* diff = mean y - mean x; its interval has Student's quantile */
    struct qs_ci ci_z; /* as the article prints it, with the normal quantile */
    double sp;         /* pooled standard deviation */
};

/* The intervals are there whether or not the preconditions hold. "95 %" means that 95 % of intervals built
 * this way contain the true difference; for percent take a ratio interval (ratio.h), not diff over a mean.
 * QS_ENODATA, QS_ETOOFEW (a sample of 1), QS_EDOM, QS_ENOMEM. */
enum qs_status qs_android(const double *x, size_t nx, const double *y, size_t ny, double level,
                          struct qs_android *out);

#endif
