/* How large is a difference, in units of the spread or of ranks? For people who ask; a verdict asks by how
 * many percent. */
#ifndef QS_STATS_EFFECT_H
#define QS_STATS_EFFECT_H

#include "stats/status.h"

#include <stddef.h>

struct qs_effect {
    double cohen_d;  /* (mean y - mean x) over the pooled sd; NaN where nothing varies */
    double hedges_g; /* d (1 - 3/(4N - 9)), N = n1 + n2: less biased for small samples */
    double cles;     /* chance that a candidate's value is above a baseline's, ties half */
    double cliff;    /* Cliff's delta: 2 cles - 1 */
};

/* QS_ENODATA, QS_EDOM, QS_ENOMEM: all NaN; QS_ETOOFEW for a sample of 1: ranks only. */
enum qs_status qs_effect(const double *x, size_t nx, const double *y, size_t ny, struct qs_effect *out);

/* Probability of superiority (Vargha & Delaney's A): the chance that a value of y is above one of x, ties
 * half. */
struct qs_superiority {
    double a;        /* in [0, 1]; 0.5: neither is above the other */
    struct qs_ci ci; /* within [0, 1], never of no width */
};

/* Of independent samples over all n1 n2 pairs (Vargha & Delaney 2000), with the interval of Newcombe 2006,
 * Stat. Med. 25:559, method 5: where (A - a)^2 = z^2 a(1-a)/(n1 n2) (1 + (n-1)((1-a)/(2-a) + a/(1+a))), n the
 * mean of n1 and n2. QS_ENODATA, QS_EDOM, QS_ENOMEM: all NaN. */
enum qs_status qs_superiority(const double *x, size_t nx, const double *y, size_t ny, double level,
                              struct qs_superiority *out);
/* Of pairs, y[i] with x[i] alone: their share, with the interval of Wilson 1927. Status as above. */
enum qs_status qs_superiority_paired(const double *x, const double *y, size_t n, double level,
                                     struct qs_superiority *out);

/* "negligible" below 0.147, "small" below 0.33, "medium" below 0.474, else "large", by |delta| (Romano et al.
 * 2006); "unknown" for NaN. Static. */
const char *qs_cliff_band(double delta);

#endif
