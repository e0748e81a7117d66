/* The one random generator: xoshiro256** (Blackman & Vigna 2021), seeded through splitmix64. Equal (seed,
 * stream) give equal numbers on every machine; each resampling takes its own stream, so that results do not
 * depend on the order of evaluation. Not for secrets. */
#ifndef QS_STATS_RNG_H
#define QS_STATS_RNG_H

#include <stddef.h>
#include <stdint.h>

struct qs_rng {
    uint64_t s[4]; /* never all 0 */
};

/* Different (seed, stream) pairs give different states. */
void qs_rng_seed(struct qs_rng *rng, uint64_t seed, uint64_t stream);

/* Uniform over 64 bits. */
uint64_t qs_rng_next(struct qs_rng *rng);

/* The same n numbers as n calls of qs_rng_next, without the calls. */
void qs_rng_fill(struct qs_rng *rng, uint64_t *out, size_t n);

/* Uniform over 0..n-1 by rejection, without modulo bias; n = 0 gives 0 and draws nothing. */
uint64_t qs_rng_below(struct qs_rng *rng, uint64_t n);

/* The same `count` numbers as so many calls of qs_rng_below, without their divisions. */
void qs_rng_fill_below(struct qs_rng *rng, uint32_t n, uint32_t *out, size_t count);

/* Uniform over the multiples of 2^-53 in [0,1). */
double qs_rng_unit(struct qs_rng *rng);

#endif
