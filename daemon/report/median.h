/* The median of accepted durations. */
#ifndef QS_REPORT_MEDIAN_H
#define QS_REPORT_MEDIAN_H

#include <stddef.h>

/* Type 7 median of n durations; NaN for n = 0. */
double qs_median_ns(const double *v, size_t n);

#endif
