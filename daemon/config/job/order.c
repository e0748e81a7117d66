/* The order of arms in a block, a pure function of (seed, device, point, block): after a crash the block is
 * drawn again, equal. */
#include "base/prng.h"
#include "config/job/read.h"

/* splitmix64's finaliser (Steele, Lea & Flood 2014): every bit of the sum reaches every bit of the stream. */
uint64_t qs_job_mix(uint64_t h, uint64_t v)
{
    h += v + UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
    return h ^ (h >> 31);
}

/* Uniform over 0..n-1: what lies beyond the last whole multiple of n is drawn again. */
static uint64_t below(struct qs_prng *prng, uint64_t n)
{
    uint64_t beyond = UINT64_MAX - UINT64_MAX % n;
    uint64_t v = qs_prng_next(prng);
    while (v >= beyond)
        v = qs_prng_next(prng);
    return v % n;
}

/* Durstenfeld's shuffle (CACM 1964, algorithm 235) on an unbiased draw: every order is equally likely. */
static void shuffle(size_t *order, size_t n, uint64_t stream)
{
    struct qs_prng prng;
    qs_prng_seed(&prng, stream);
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)below(&prng, i);
        size_t moved = order[i - 1];
        order[i - 1] = order[k];
        order[k] = moved;
    }
}

size_t qs_job_block_order(const struct qs_job_spec *spec, uint64_t seed, uint64_t device, size_t point,
                          uint32_t block, size_t *order)
{
    size_t n = spec->arm_count;
    bool backwards = spec->plan.order == QS_ORDER_BA;
    for (size_t i = 0; i < n; i++)
        order[i] = backwards ? n - 1 - i : i;
    switch (spec->plan.order) {
    case QS_ORDER_RANDOM:
        shuffle(order, n, qs_job_mix(qs_job_mix(qs_job_mix(qs_job_mix(0, seed), device), point), block));
        return n;
    case QS_ORDER_AB:
    case QS_ORDER_BA:
        return n;
    case QS_ORDER_ABBA:
        for (size_t i = 0; i < n; i++)
            order[2 * n - 1 - i] = order[i];
        return 2 * n;
    }
    return n;
}
