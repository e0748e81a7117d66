/* Two samples: x is the baseline, y the candidate; differences are y - x and ratios y / x. What one value is
 * (an iteration, or the statistic of a run) is the caller's choice; verdicts use runs. */
#ifndef QS_STATS_TWOSAMPLE_H
#define QS_STATS_TWOSAMPLE_H

#include <stddef.h>

#include "stats/status.h"

/* The outcome of a t test. */
struct qs_ttest {
    double diff;     /* the estimate */
    double se;       /* its standard error */
    double t, df;    /* NaN where nothing varies */
    double p;        /* two-sided */
    struct qs_ci ci; /* of diff */
    double sd[2];    /* of x and of y; of the differences, and NaN, for a paired test */
    size_t n[2];
    unsigned flags; /* QS_FLAG_EXACT: nothing varies, p is 1 (equal) or 0 and the interval is a point */
};

/* Welch 1947, df by Satterthwaite. QS_ENODATA; QS_ETOOFEW for a sample of 1 (diff is set); QS_EDOM. */
enum qs_status qs_welch(const double *x, size_t nx, const double *y, size_t ny, double level,
                        struct qs_ttest *out);

/* Student's test with the pooled variance Sp^2 = ((n1-1) s1^2 + (n2-1) s2^2)/(n1+n2-2), df = n1+n2-2; Sp goes
 * to *ret_sd. For variances that are alike; otherwise qs_welch. Status as there. */
enum qs_status qs_pooled(const double *x, size_t nx, const double *y, size_t ny, double level,
                         struct qs_ttest *out, double *ret_sd);

/* The interval of a test at another level, from its diff, se and df. */
struct qs_ci qs_ttest_ci(const struct qs_ttest *test, double level);

struct qs_ratio_test {
    double ratio;        /* of the geometric means */
    struct qs_ci ci;     /* of ratio */
    struct qs_ttest log; /* the test on natural logarithms */
};

/* Welch on the logarithms. As qs_welch; QS_EDOM also where a value is <= 0; QS_ENOMEM. */
enum qs_status qs_log_welch(const double *x, size_t nx, const double *y, size_t ny, double level,
                            struct qs_ratio_test *out);

struct qs_paired {
    struct qs_ratio_test test; /* paired t on d_b = ln(y_b/x_b), df = n-1; sd[0] is that of d */
    size_t n_up, n_down;       /* blocks with d_b > 0, and < 0 */
    double sign_p; /* two-sided sign test without the ties (QS_FLAG_TIES in flags); 1 if all tie */
    double drift;  /* Theil-Sen slope of d_b on b, per block; NaN for n < 2 and n > 2000 */
    unsigned flags;
};

/* n blocks in the order in which they ran, one value (or mean log, by exp) per arm. QS_ENODATA, QS_ETOOFEW
 * for n = 1 (ratio is set), QS_EDOM, QS_ENOMEM. Needs memory for n(n-1)/2 slopes. */
enum qs_status qs_paired_blocks(const double *x, const double *y, size_t n, double level,
                                struct qs_paired *out);

/* Did one side lose more than the other? Fisher's exact test, two-sided (the sum of all tables as probable as
 * this one or less, as R's fisher.test): hit1 of n1 against hit2 of n2. 1 where nothing can be told (an empty
 * side, no hit, or nothing but hits); NaN where hit > n. */
double qs_fisher_exact(size_t hit1, size_t n1, size_t hit2, size_t n2);

#endif
