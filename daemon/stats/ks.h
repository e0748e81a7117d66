/* Kolmogorov & Smirnov for two samples: says whether the distributions differ anywhere, never by how much. */
#ifndef QS_STATS_KS_H
#define QS_STATS_KS_H

#include "stats/status.h"

#include <stdbool.h>
#include <stddef.h>

struct qs_ks2 {
    double d;      /* the greatest distance of the two empirical distributions, at distinct values */
    double p;      /* two-sided: exact where n1 n2 < QS_KS_EXACT_BELOW, otherwise p_asym */
    double p_asym; /* Kolmogorov's limit at d sqrt(n1 n2/(n1+n2)) */
    bool exact;
    unsigned flags; /* QS_FLAG_TIES: exact p holds for these very ties */
};
enum { QS_KS_EXACT_BELOW = 10000 };

/* Exact p by walking the lattice of all ways to deal out the pooled values, conditional on ties (as R's
 * ks.test from 4.2 on); it adds the chances of crossing, so that small p keep their digits. QS_ENODATA,
 * QS_EDOM, QS_ENOMEM: numbers NaN. */
enum qs_status qs_ks2(const double *x, size_t nx, const double *y, size_t ny, struct qs_ks2 *out);

/* P(K > lambda) of Kolmogorov's distribution: 2 sum (-1)^(k-1) exp(-2 k^2 lambda^2), and its theta transform
 * for small lambda. */
double qs_pkolmogorov_upper(double lambda);

#endif
