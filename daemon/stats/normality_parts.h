/* What normality.c and ks_normal.c share; nobody else includes this. */
#ifndef QS_STATS_NORMALITY_PARTS_H
#define QS_STATS_NORMALITY_PARTS_H

#include <stddef.h>

/* sup |F_n(x) - Phi((x - mean)/sd)| of n >= 1 ascending values, sd > 0. */
double qs_normality_gap(const double *sorted, size_t n, double mean, double sd);

#endif
