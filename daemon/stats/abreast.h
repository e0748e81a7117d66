/* Statistics of several resamples at a time: one sum waits for its last addition, four do not. Each number is
 * the one that the same resample gives by itself. */
#ifndef QS_STATS_ABREAST_H
#define QS_STATS_ABREAST_H

#include "stats/rng.h"

#include <stddef.h>
#include <stdint.h>

enum { QS_ABREAST = 4 };

/* Draws n of the n < 2^32 values of x with replacement, as n calls of qs_rng_below, into one lane: value i at
 * lane[i * QS_ABREAST]. index: room for n. */
void qs_abreast_draw(struct qs_rng *rng, const double *x, size_t n, uint32_t *index, double *lane);

/* Of QS_ABREAST lanes of n >= 1 finite values, side by side: the mean as qs_statistic_mean has it, and the
 * root of the variance of qs_moments, NaN where that has none (n = 1 too). */
void qs_abreast_means(const double *v, size_t n, double mean[QS_ABREAST]);
void qs_abreast_sds(const double *v, size_t n, double sd[QS_ABREAST]);

#endif
