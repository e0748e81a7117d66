/* What the Rancid paper reports of a benchmark before and after it is managed: how much lower and how much
 * less scattered its values are (sections VI-A and VI-B), and how both settle as values come in. */
#ifndef QS_STATS_RANCID_H
#define QS_STATS_RANCID_H

#include "stats/status.h"

#include <stddef.h>
#include <stdint.h>

/* x is the baseline, y the managed benchmark; gains are positive where y is lower. For its Table 3 a value is
 * the median of a run, for Table 2 an iteration. */
struct qs_rancid {
    double median[2], sd[2];
    double performance, performance_ratio; /* median x - median y; the same over median x */
    double precision, precision_ratio;     /* sd x - sd y; the same over sd x, NaN where that is 0 */
    double sd_ratio;                       /* sd y / sd x */
    struct qs_ci sd_ratio_ci; /* percentile bootstrap of ln(sd y/sd x); NaN below QS_RANCID_MIN values a side,
                                 and where a side does not vary */
};

enum { QS_RANCID_MIN = 5, QS_RANCID_RESAMPLES = 10000, QS_RANCID_DRAWS_MOST = 100000000 };

/* The paper gives no interval, but the sd of 30 runs is uncertain by about 30 %: a claim of precision without
 * one is a point estimate. It takes QS_RANCID_RESAMPLES, of many values fewer, at least 100, so that no more
 * than QS_RANCID_DRAWS_MOST are drawn. QS_ENODATA; QS_ETOOFEW for a sample of 1 (medians and performance are
 * set); QS_EDOM; QS_ENOMEM; QS_ECANCELED. */
enum qs_status qs_rancid(const double *x, size_t nx, const double *y, size_t ny, double level, uint64_t seed,
                         const struct qs_progress *progress, struct qs_rancid *out);

/* For each m = 1..n, of the first m values: error[m-1] = |median - reference|/|reference| and
 * rel_iqr[m-1] = IQR/|median| (NaN where the median is 0), quantiles of type 7. The paper's reference is the
 * median of the longest managed run. n <= QS_EVOLUTION_MAX, since it costs n^2 moves. QS_ENODATA; QS_EDOM
 * (also for a reference of 0 and for too many values); QS_ENOMEM; error and rel_iqr are untouched then. */
enum { QS_EVOLUTION_MAX = 100000 };
enum qs_status qs_error_evolution(const double *x, size_t n, double reference, double *error,
                                  double *rel_iqr);

#endif
