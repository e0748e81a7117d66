/* Do two samples vary alike? A precondition of pooled tests, and nothing more: it trusts normality. */
#ifndef QS_STATS_VARIANCE_H
#define QS_STATS_VARIANCE_H

#include <stddef.h>

#include "stats/hier.h"
#include "stats/status.h"

struct qs_var_test {
    double f;                /* variance of y over that of x; infinite where only x does not vary */
    double df[2];            /* of y and of x: n-1 */
    double p;                /* two-sided: twice the smaller tail of F */
    struct qs_ci ci;         /* of the ratio of the variances, var y / var x */
    double larger_over_less; /* the greater variance over the smaller one, >= 1 */
};

/* The F test (DLMF 8.17 for its distribution; R's var.test of y against x). QS_ENODATA; QS_ETOOFEW for a
 * sample of 1; QS_EDOM; QS_EDEGENERATE where neither varies. */
enum qs_status qs_var_test(const double *x, size_t nx, const double *y, size_t ny, double level,
                           struct qs_var_test *out);

/* Fisher's F with df1, df2 > 0 degrees of freedom: P(F <= f) and P(F > f); f < 0 gives 0 and 1. */
double qs_pf(double f, double df1, double df2);
double qs_pf_upper(double f, double df1, double df2);

/* The quantile of F, 0 < p < 1, within 1e-12 relative. */
double qs_qf(double p, double df1, double df2);

/* Variance between and within runs by restricted maximum likelihood: where runs are of unequal length it uses
 * what each says better than the method of moments (hier.h); for equal lengths both agree. */
struct qs_reml {
    double between, within; /* variances; between is 0 where no run effect was found */
    double mean, se;        /* of the runs, weighted by what each says; its standard error */
};

/* Patterson & Thompson 1971 for one-way random effects; the ratio of the variances by a search along the
 * likelihood, relative to 1e-8. QS_ENODATA; QS_ETOOFEW: k < 2 or no run with two values; QS_EDOM;
 * QS_EDEGENERATE: no run varies; QS_ENOMEM. Fields are NaN then. */
enum qs_status qs_reml(const struct qs_nested *data, struct qs_reml *out);

#endif
