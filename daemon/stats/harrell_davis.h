/* Harrell & Davis 1982: a quantile as a weighted mean of all order statistics, smoother than one or two of
 * them. */
#ifndef QS_STATS_HARRELL_DAVIS_H
#define QS_STATS_HARRELL_DAVIS_H

#include "stats/status.h"

#include <stddef.h>

/* q_p = sum w_i x_(i), w_i = I_{i/n}(a,b) - I_{(i-1)/n}(a,b), a = (n+1)p, b = (n+1)(1-p), of n ascending
 * finite values. *se (may be NULL) is the standard error of Maritz & Jarrett 1978, the sd of the values under
 * these weights; exactly 0 for constant data. p = 0 and 1 give minimum and maximum. QS_ENODATA; QS_EDOM: p
 * not in [0,1]; both NaN then. *se alone is NaN for n = 1 and for p = 0 and 1. Costs about 30 sqrt(n) steps.
 */
enum qs_status qs_hd_quantile(const double *sorted, size_t n, double p, double *q, double *se);

/* q_p +- t_{1-a/2,n-1} se of unsorted values. QS_ENODATA, QS_EDOM (values, p or level not in (0,1)),
 * QS_ENOMEM; QS_ETOOFEW for n = 1. Constant data give a point and QS_FLAG_EXACT. */
enum qs_status qs_hd_ci(const double *x, size_t n, double p, double level, struct qs_ci *out);

#endif
