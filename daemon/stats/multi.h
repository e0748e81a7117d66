/* Many comparisons at once: a family is one sweep's primary metric over all devices and benchmarks. None of
 * these repairs p values from a wrong unit of replication: feed p of runs, not of iterations. */
#ifndef QS_STATS_MULTI_H
#define QS_STATS_MULTI_H

#include "stats/status.h"

#include <stddef.h>

enum qs_multi_method {
    QS_MULTI_BH,  /* Benjamini & Hochberg 1995: the false discovery rate, independent or positively dependent
                   */
    QS_MULTI_BY,  /* Benjamini & Yekutieli 2001: the same under any dependence, times sum 1/i */
    QS_MULTI_HOLM /* Holm 1979: the chance of any false call, under any dependence */
};
const char *qs_multi_name(enum qs_multi_method method); /* "bh", "by", "holm" */

/* Adjusted p values in the order of p (out: m doubles, may be p; R's p.adjust): a change is called at q where
 * the adjusted p is <= q. QS_ENODATA; QS_EDOM: NaN or out of [0,1], out is NaN then; QS_ENOMEM. */
enum qs_status qs_adjust(const double *p, size_t m, enum qs_multi_method method, double *out);

/* Intervals shown for the selected only are too short: of R selected among m at false discovery rate q each
 * is built at this level, 1 - R q/m (Benjamini & Yekutieli 2005, FCR). NaN for R = 0, R > m, q out of (0,1).
 */
double qs_fcr_level(size_t selected, size_t m, double q);

/* Pocock 1977: the two-sided p that each of `looks` planned looks at the same growing data must be below, so
 * that all of them together err in 5 %. looks = 1..5; NaN otherwise. */
double qs_pocock_p(size_t looks);

#endif
