/* The summary of one sample. Order does not matter; statistics.md section 3 names the definitions. */
#ifndef QS_STATS_DESCRIBE_H
#define QS_STATS_DESCRIBE_H

#include "stats/status.h"

#include <stddef.h>

/* Hyndman & Fan 1996. Type 7 (R's default) is the house's quantile; type 8 is nearly median-unbiased. */
enum qs_qtype { QS_QTYPE_7 = 7, QS_QTYPE_8 = 8 };

/* The quantile of n >= 1 ascending finite values, 0 <= p <= 1; NaN for n = 0 or p out of range.
 * Type 7: h = (n-1)p on 0-based order statistics, linear between neighbours. */
double qs_quantile(const double *sorted, size_t n, double p, enum qs_qtype type);

/* The probabilities of qs_summary.q */
enum qs_qindex { QS_Q01, QS_Q05, QS_Q10, QS_Q25, QS_Q50, QS_Q75, QS_Q90, QS_Q95, QS_Q99, QS_Q_COUNT };
extern const double qs_summary_probs[QS_Q_COUNT];

/* Where qs_summary.scale comes from: the first of these that is not 0. */
enum qs_scale_source { QS_SCALE_NONE, QS_SCALE_MAD, QS_SCALE_IQR, QS_SCALE_SD };
extern const char *const qs_scale_source_names[]; /* by value, NULL at the end */

/* Fields in the unit of the values, but for the ratios cov*, rse*, rel_iqr, geosd, gini, skew, kurt and var
 * (unit squared). NaN: not defined for these values. n = 1 has location only. */
struct qs_summary {
    size_t n;
    double mean;
    double var, sd;          /* denominator n-1 */
    double cov, cov_abs;     /* sd/mean and sd/|mean|; NaN where the mean is 0. Show cov_abs. */
    double rse, rse_abs;     /* the same of sd/sqrt(n) */
    double min, max, median; /* median == q[QS_Q50] */
    double q[QS_Q_COUNT];    /* type 7 */
    double iqr, rel_iqr;     /* q.75 - q.25; over |median|, NaN where that is 0 */
    double mad_raw, mad; /* median |x - median|; times 1.482602218505602. 0 where half the values are tied */
    double scale;        /* mad, or iqr/1.349, or sd: a robust sd that is 0 only for constant data */
    enum qs_scale_source scale_source;
    double trim05, trim10, trim25; /* means without floor(n t) values at each end */
    double geomean, geosd;         /* exp of mean and sd of logs; NaN where any x <= 0 */
    double gini;                   /* NaN where any x < 0 or all are 0 */
    double skew, kurt;             /* m3/m2^1.5, m4/m2^2 - 3; NaN for constant data */
};

/* QS_ENODATA, QS_EDOM (NaN, infinities, overflow), QS_ENOMEM: every field NaN then, n set. */
enum qs_status qs_describe(const double *x, size_t n, struct qs_summary *out);

/* Mean without floor(n*trim) values at each end, 0 <= trim < 0.5; NaN otherwise. Sorted ascending. */
double qs_trimmed_mean(const double *sorted, size_t n, double trim);

/* Lorenz curve of unsorted values: share[i], i = 0..n (n+1 doubles), is the part of the sum that the i
 * smallest have, at the abscissa i/n. QS_ENODATA, QS_EDOM (NaN, infinities, x < 0, overflow), QS_ENOMEM,
 * QS_EDEGENERATE (all are 0); every share is NaN then, but for QS_ENODATA, which writes nothing. */
enum qs_status qs_lorenz(const double *x, size_t n, double *share);

/* Median of the values (type 7). QS_ENODATA, QS_EDOM, QS_ENOMEM with *out = NaN. */
enum qs_status qs_median(const double *x, size_t n, double *out);

#endif
