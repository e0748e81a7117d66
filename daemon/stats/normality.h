/* Is the sample normal, or its logarithm? Advisory: with enough values every real sample is rejected, and
 * ties of a coarse clock alone will do (see qs_spread_ties). p values are upper tails in [0,1]. Unsorted
 * values. */
#ifndef QS_STATS_NORMALITY_H
#define QS_STATS_NORMALITY_H

#include "stats/status.h"

#include <stddef.h>

enum { QS_SHAPIRO_N_MIN = 3, QS_SHAPIRO_N_MAX = 5000 };

/* A statistic with its p. */
struct qs_fit {
    double statistic, p;
};

/* Shapiro & Wilk's W by Royston 1995 (AS R94), 3 <= n <= 5000. As R's shapiro.test, whose p of 1e-99
 * for n < 12 is for a W that no values have. QS_ENODATA; QS_ETOOFEW; QS_EDOM: bad values or n > 5000;
 * QS_EDEGENERATE: constant; QS_ENOMEM. Both NaN then; so in all functions here. */
enum qs_status qs_shapiro(const double *x, size_t n, struct qs_fit *out);

/* Anderson & Darling's A^2 with mean and sd estimated; p by Stephens 1986 for A^2 (1 + 0.75/n + 2.25/n^2), as
 * R's nortest (3.7e-24 from 10 on). n >= 8. */
enum qs_status qs_anderson_darling(const double *x, size_t n, struct qs_fit *out);

/* Lilliefors' D = sup |F_n - Phi| with mean and sd estimated; p by Dallal & Wilkinson 1986 and, above 0.1,
 * Stephens 1974, as R's nortest. n >= 5. */
enum qs_status qs_lilliefors(const double *x, size_t n, struct qs_fit *out);

/* Kolmogorov & Smirnov's D against a normal distribution that is known beforehand (sd > 0; with estimates
 * take qs_lilliefors). p exact (Marsaglia, Tsang & Wang 2003) for n <= 100 and p above 1e-6, by their
 * asymptotic approximation elsewhere; ties make it conservative. n >= 1. QS_EDOM also for a bad mean or sd.
 */
enum qs_status qs_ks_normal(const double *x, size_t n, double mean, double sd, struct qs_fit *out);

/* Correlation of the sorted values with normal quantiles at (i - 3/8)/(n + 1/4), i = 1..n: what is left to
 * say where n is too large for a test. n >= 3. */
enum qs_status qs_qq_correlation(const double *x, size_t n, double *r);

/* "log-normal": the values are rejected at alpha and their logarithms are not. */
enum qs_shape { QS_SHAPE_UNKNOWN, QS_SHAPE_NORMAL, QS_SHAPE_LOG_NORMAL, QS_SHAPE_OTHER };
extern const char *const qs_shape_names[]; /* by value, NULL at the end */

struct qs_shape_test {
    enum qs_shape shape; /* unknown where qs_shapiro has no answer */
    struct qs_fit raw;
    struct qs_fit log; /* NaN where a value is not above 0 */
};

/* alpha in (0,1), 0.05 as a rule: otherwise QS_EDOM. The status of the raw values as qs_shapiro. */
enum qs_status qs_shape_test(const double *x, size_t n, double alpha, struct qs_shape_test *out);

#endif
