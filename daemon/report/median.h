/* Medians of durations and of runs. */
#ifndef QS_REPORT_MEDIAN_H
#define QS_REPORT_MEDIAN_H

#include <stddef.h>

#include "base/json.h"
#include "stats/mixed_median.h"

struct qs_report_group;
struct qs_metric_run;

/* Type 7 median of n durations; NaN for n = 0. */
double qs_median_ns(const double *v, size_t n);

/* Of runs[i].median, one for each run of the group: the median of an arm's runs in complete blocks. */
void qs_report_median(const struct qs_report_group *g, size_t arm, const struct qs_metric_run *runs,
                      struct qs_mixed_median *ret);

/* "median", "median_lo", "median_hi", "median_level", "median_runs", "clean", "disturbed" and
 * "disturbed_worth" of the object that is open. */
void qs_put_median(struct qs_json *j, const struct qs_mixed_median *m);

#endif
