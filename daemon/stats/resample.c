#include "stats/resample.h"

#include "stats/pick.h"
#include "stats/special.h"

#include <math.h>
#include <stdbool.h>

enum { BITS = 12, LANES = 5, WORDS = 256, UNDECIDED = 0x80 };
static const double SPARE = 8; /* standard deviations of the sum of counts below n */

static unsigned count_of(const struct qs_resample *r, uint64_t u)
{
    unsigned k = 0;
    while (k + 1 < QS_RESAMPLE_COUNTS && u >= r->upto[k])
        k++;
    return k;
}

void qs_resample_init(struct qs_resample *r, size_t n)
{
    double rate = 1 - SPARE / sqrt((double)n), term = exp(-rate), sum = 0;
    r->n = n;
    for (unsigned k = 0; k < QS_RESAMPLE_COUNTS; k++) {
        sum += term;
        r->upto[k] = sum < 1 ? (uint64_t)(sum * 0x1p64) : UINT64_MAX;
        term *= rate / (double)(k + 1);
    }
    for (uint64_t cell = 0; cell < QS_RESAMPLE_CELLS; cell++) {
        uint64_t first = cell << (64 - BITS), last = first | (UINT64_MAX >> BITS);
        unsigned k = count_of(r, first);
        r->count[cell] = k == count_of(r, last) ? (uint8_t)k : UNDECIDED;
    }
}

struct counted {
    double sum, squares;
    size_t drawn;
};

static void add(struct counted *c, double d, unsigned count)
{
    c->sum += (double)count * d;
    c->squares += (double)count * d * d;
    c->drawn += count;
}

/* One value at a time; 52 further bits where 12 do not decide. */
static void add_slowly(const struct qs_resample *r, struct qs_rng *rng, uint64_t word, const double *d,
                       size_t n, struct counted *c)
{
    for (size_t i = 0; i < n; i++, word >>= BITS) {
        uint64_t cell = word & (QS_RESAMPLE_CELLS - 1);
        unsigned count = r->count[cell];
        if (count == UNDECIDED)
            count = count_of(r, cell << (64 - BITS) | qs_rng_next(rng) >> BITS);
        add(c, d[i], count);
    }
}

/* Five values of one word, whose cells all decide. */
static inline bool add_five(const uint8_t *count, uint64_t w, const double *d, struct counted c[LANES])
{
    const uint64_t mask = QS_RESAMPLE_CELLS - 1;
    unsigned k0 = count[w & mask], k1 = count[w >> 12 & mask], k2 = count[w >> 24 & mask],
             k3 = count[w >> 36 & mask], k4 = count[w >> 48 & mask];
    if ((k0 | k1 | k2 | k3 | k4) & UNDECIDED)
        return false;
    double a = (double)(int)k0 * d[0], b = (double)(int)k1 * d[1], e = (double)(int)k2 * d[2],
           f = (double)(int)k3 * d[3], g = (double)(int)k4 * d[4];
    c[0].sum += a, c[1].sum += b, c[2].sum += e, c[3].sum += f, c[4].sum += g;
    c[0].squares += a * d[0], c[1].squares += b * d[1], c[2].squares += e * d[2];
    c[3].squares += f * d[3], c[4].squares += g * d[4];
    c[0].drawn += k0 + k1 + k2 + k3 + k4;
    return true;
}

static struct counted count_all(const struct qs_resample *r, struct qs_rng *rng, const double *d)
{
    struct counted c[LANES] = {{0, 0, 0}};
    uint64_t word[WORDS];
    size_t used = WORDS, i = 0;
    for (; i + LANES <= r->n; i += LANES) {
        if (used == WORDS) {
            qs_rng_fill(rng, word, WORDS);
            used = 0;
        }
        uint64_t w = word[used++];
        if (!add_five(r->count, w, d + i, c))
            add_slowly(r, rng, w, d + i, LANES, &c[0]);
    }
    add_slowly(r, rng, qs_rng_next(rng), d + i, r->n - i, &c[0]);
    struct counted all = {0, 0, 0};
    for (int k = 0; k < LANES; k++) {
        all.sum += c[k].sum;
        all.squares += c[k].squares;
        all.drawn += c[k].drawn;
    }
    return all;
}

struct qs_resample_sums qs_resample_sums(const struct qs_resample *r, struct qs_rng *rng, const double *d)
{
    struct counted c;
    do
        c = count_all(r, rng, d);
    while (c.drawn > r->n);
    while (c.drawn < r->n)
        add(&c, d[qs_rng_below(rng, r->n)], 1);
    return (struct qs_resample_sums){c.sum, c.squares};
}

/* In (0,1). */
static double unit(struct qs_rng *rng)
{
    return ((double)(qs_rng_next(rng) >> 12) + 0.5) * 0x1p-52;
}

/* Marsaglia & Tsang 2000; shape >= 1. */
static double gamma_of(struct qs_rng *rng, double shape)
{
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double z = qs_qnorm(unit(rng)), t = 1 + c * z, v = t * t * t;
        if (t > 0 && log(unit(rng)) < 0.5 * z * z + d - d * v + d * log(v))
            return d * v;
    }
}

void qs_resample_middle(struct qs_rng *rng, size_t n, size_t rank[2])
{
    size_t k = (n + 1) / 2, above = n - k;
    double dn = (double)n, a = gamma_of(rng, (double)k), b = gamma_of(rng, (double)(above + 1)),
           u = a / (a + b);
    double next = n % 2 == 0 ? u - (1 - u) * expm1(log(unit(rng)) / (double)above) : u;
    rank[0] = (size_t)(dn * u);
    rank[1] = (size_t)(dn * next);
}
