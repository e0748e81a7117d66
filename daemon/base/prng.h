/* The generator behind virtual time's randomness: xoshiro256** 1.0, seeded through SplitMix64 (Blackman and
 * Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 47(4), 2021). Not for secrets. */
#ifndef QS_BASE_PRNG_H
#define QS_BASE_PRNG_H

#include <stdint.h>

struct qs_prng {
    uint64_t s[4]; /* not all zero */
};

/* Any seed is good: SplitMix64 gives four words of which no two are equal. */
void qs_prng_seed(struct qs_prng *p, uint64_t seed);
/* The next 64 uniform bits. */
uint64_t qs_prng_next(struct qs_prng *p);

#endif
