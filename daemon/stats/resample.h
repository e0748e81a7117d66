/* Resamples of many values without drawing each of them: n of n with replacement, exact in distribution.
 * Other numbers come out of a seed than from single draws, so that few values (below QS_RESAMPLE_MANY) keep
 * those. */
#ifndef QS_STATS_RESAMPLE_H
#define QS_STATS_RESAMPLE_H

#include "stats/rng.h"

#include <stddef.h>
#include <stdint.h>

enum { QS_RESAMPLE_MANY = 4096 };

enum { QS_RESAMPLE_CELLS = 4096, QS_RESAMPLE_COUNTS = 24 };

struct qs_resample { /* how often a value is drawn: a table of Poisson's distribution for one n */
    size_t n;
    uint64_t upto[QS_RESAMPLE_COUNTS]; /* 2^64 P(count <= k), rounded down */
    uint8_t count[QS_RESAMPLE_CELLS];  /* by the highest 12 bits; 0x80: they do not decide */
};

struct qs_resample_sums {
    double sum, squares; /* of the values drawn */
};

/* n >= QS_RESAMPLE_MANY. */
void qs_resample_init(struct qs_resample *r, size_t n);

/* Sums over one resample of d. How often each value is drawn is multinomial, which is independent Poisson
 * counts given their sum (Steel 1953, "Relation between Poisson and multinomial distributions"): counts of
 * mean 1 - 8/sqrt(n) are drawn until they sum to at most n, as they do but for one time in 10^15, and what is
 * missing are single draws. Probabilities are right to 2^-53. Sums are plain: give differences from the mean.
 */
struct qs_resample_sums qs_resample_sums(const struct qs_resample *r, struct qs_rng *rng, const double *d);

/* Where the middle of one resample of n stands among the sorted values: rank[0] = rank[1] for odd n, else of
 * the two in the middle. A draw is the value at floor(n U), U uniform, and the k-th of n ordered U is Beta(k,
 * n+1-k), the next one the least of n-k that are uniform above it (David & Nagaraja 2003, section 2.5). Beta
 * from two gammas (Marsaglia & Tsang 2000). n >= QS_RESAMPLE_MANY: with normal deviates of at most 8.3, which
 * 52 bits give, both ranks lie between n/3 and 2n/3 then. */
void qs_resample_middle(struct qs_rng *rng, size_t n, size_t rank[2]);

#endif
