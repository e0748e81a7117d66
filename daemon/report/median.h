/* The median of measured integers, which become doubles here and nowhere below. */
#ifndef QS_REPORT_MEDIAN_H
#define QS_REPORT_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

/* Type 7 median of n durations; NaN for n = 0. */
double qs_median_i64(const int64_t *v, size_t n);

#endif
