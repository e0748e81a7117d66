/* Dependence between neighbours in time. Values are in time order. Values that were rejected are not bridged:
 * breaks[] lists, ascending and without repetition, each index i in 1..n-1 such that i-1 and i were not
 * neighbours; NULL with n_breaks = 0 for an unbroken series. */
#ifndef QS_STATS_DEPENDENCE_H
#define QS_STATS_DEPENDENCE_H

#include <stddef.h>

#include "stats/status.h"

/* r[0..max_lag], r[0] = 1: r_h = sum over pairs (t, t+h) without a break between them of (x_t-m)(x_{t+h}-m),
 * over sum (x_t-m)^2 (R's acf, NIST StRD). Lags >= n give 0. QS_ENODATA, QS_ETOOFEW (n = 1), QS_EDOM (bad
 * value or breaks), QS_EDEGENERATE (constant), QS_ENOMEM; r is NaN then. */
enum qs_status qs_acf(const double *x, size_t n, const size_t *breaks, size_t n_breaks, size_t max_lag,
                      double *r);

struct qs_ljung_box {
    double q, p;
    size_t lags;
};

/* Ljung & Box 1978: Q = n(n+2) sum r_k^2/(n-k), p from chi-squared with that many df. lags = 0 takes
 * min(10, n/5). QS_ETOOFEW when n < 5 and lags = 0, or lags >= n; otherwise as qs_acf. */
enum qs_status qs_ljung_box(const double *x, size_t n, const size_t *breaks, size_t n_breaks, size_t lags,
                            struct qs_ljung_box *out);

struct qs_ess {
    double n_eff; /* the smaller of the next two, in [1, n] */
    double geyer; /* n/tau, initial positive sequence of pairs of autocovariances (Geyer 1992) */
    double ar1;   /* n(1-r)/(1+r), r = r_1 clamped to [0, 0.99] */
    double tau;   /* integrated autocorrelation time, not clamped */
    double r1;
};

/* How many independent values the mean of this series is worth. Costs n times the correlation length.
 * Status as qs_acf; QS_EDOM also where more than QS_ESS_WHOLE values stay correlated for more than
 * QS_ESS_PRODUCTS_MOST/n lags, as a drift does: r1 and ar1 are set then. */
enum { QS_ESS_WHOLE = 50000, QS_ESS_PRODUCTS_MOST = 200000000 };
enum qs_status qs_ess(const double *x, size_t n, const size_t *breaks, size_t n_breaks, struct qs_ess *out);

/* Keeping every stride-th value until what is left looks independent (Junge 2022, section 8.2.3): the
 * smallest stride 1, 2, 4, .. with m = floor(n/stride) >= 30 values left, |r_1| <= max(0.25, 1.96/sqrt(m))
 * and Ljung-Box p >= 0.01. For reports: intervals use qs_ess, which throws nothing away. */
struct qs_thinning {
    size_t stride; /* 0: not attainable */
    size_t n_kept; /* floor(n/stride): x[0], x[stride], .. */
    double r1, p;  /* of what is kept; NaN where stride is 0 */
};

/* QS_ETOOFEW: n < 30; otherwise as qs_acf. */
enum qs_status qs_thin(const double *x, size_t n, const size_t *breaks, size_t n_breaks,
                       struct qs_thinning *out);

/* Do two series rise together? By ranks, so that no shape is trusted and one wild value counts once. It says
 * "associated", never "because". */
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
