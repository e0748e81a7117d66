/* Do two series rise together? By ranks, so that no shape is trusted and one wild value counts once. It says
 * "associated", never "because". */
#ifndef QS_STATS_SPEARMAN_H
#define QS_STATS_SPEARMAN_H

#include "stats/status.h"

#include <stddef.h>

/* Below it Student's t is a poor approximation of the distribution of rho. */
enum { QS_SPEARMAN_N_MIN = 10 };

struct qs_spearman {
    double rho;     /* correlation of the ranks, in [-1,1]; ties have the mean of their ranks */
    double p;       /* two-sided: rho sqrt((n-2)/(1-rho^2)) against t with n-2 degrees of freedom */
    unsigned flags; /* QS_FLAG_TIES */
};

/* Spearman 1904; p as R's cor.test(method = "spearman", exact = FALSE). Pairs are taken as independent: two
 * series that both drift are associated by time alone. QS_ENODATA; QS_ETOOFEW below QS_SPEARMAN_N_MIN pairs;
 * QS_EDOM; QS_EDEGENERATE where one of them does not vary; QS_ENOMEM; fields are NaN then. */
enum qs_status qs_spearman(const double *x, const double *y, size_t n, struct qs_spearman *out);

#endif
