#include "stats/rng.h"

#include <stdbool.h>

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void qs_rng_seed(struct qs_rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t a = seed, b = ~stream;
    rng->s[0] = splitmix(&a);
    rng->s[1] = splitmix(&b);
    rng->s[2] = splitmix(&a);
    rng->s[3] = splitmix(&b);
    /* Pairs that share the seed or the stream share half of the state: let it mix first. */
    for (int i = 0; i < 32; i++)
        (void)qs_rng_next(rng);
}

static uint64_t step(uint64_t s[4])
{
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t qs_rng_next(struct qs_rng *rng)
{
    return step(rng->s);
}

void qs_rng_fill(struct qs_rng *rng, uint64_t *out, size_t n)
{
    uint64_t s[4] = {rng->s[0], rng->s[1], rng->s[2], rng->s[3]}; /* in registers for the loop */
    for (size_t i = 0; i < n; i++)
        out[i] = step(s);
    for (size_t i = 0; i < 4; i++)
        rng->s[i] = s[i];
}

/* Of 2^64 values the lowest 2^64 mod n are one too many for some residues. */
static bool is_rejected(uint64_t r, uint64_t n)
{
    return r < n && r < (0 - n) % n;
}

uint64_t qs_rng_below(struct qs_rng *rng, uint64_t n)
{
    if (n == 0)
        return 0;
    uint64_t r;
    do {
        r = qs_rng_next(rng);
    } while (is_rejected(r, n));
    return r % n;
}

/* r % n without a division, reciprocal = floor((2^64 - 1) / n): the quotient is right or one too small. */
static inline uint64_t modulo(uint64_t r, uint64_t n, uint64_t reciprocal)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    uint64_t left = r - (uint64_t)((wide)r * reciprocal >> 64) * n;
    return left >= n ? left - n : left;
#else
    (void)reciprocal;
    return r % n;
#endif
}

void qs_rng_fill_below(struct qs_rng *rng, uint32_t n, uint32_t *out, size_t count)
{
    uint64_t s[4] = {rng->s[0], rng->s[1], rng->s[2], rng->s[3]};
    const uint64_t reciprocal = n > 0 ? UINT64_MAX / n : 0;
    for (size_t i = 0; i < count;) {
        uint64_t r = n > 0 ? step(s) : 0;
        if (!is_rejected(r, n))
            out[i++] = n > 0 ? (uint32_t)modulo(r, n, reciprocal) : 0;
    }
    for (size_t i = 0; i < 4; i++)
        rng->s[i] = s[i];
}

double qs_rng_unit(struct qs_rng *rng)
{
    return (double)(qs_rng_next(rng) >> 11) * 0x1p-53;
}
