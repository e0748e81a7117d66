#include "stats/hier.h"

#include <math.h>
#include <stdlib.h>

#include "stats/interval.h"
#include "stats/pick.h"
#include "stats/resample.h"
#include "stats/rng.h"
#include "stats/special.h"
#include "stats/sum.h"

struct qs_tree qs_nested_tree(const struct qs_nested *data)
{
    return (struct qs_tree){.v = data->v, .depth = 1, .off = {data->off}, .count = {data->k}};
}

enum qs_status qs_varcomp(const struct qs_nested *data, struct qs_varcomp *out)
{
    struct qs_components c;
    struct qs_tree tree = qs_nested_tree(data);
    enum qs_status status = qs_tree_components(&tree, &c);
    const struct qs_component *within = &c.level[0], *between = &c.level[1];
    *out = (struct qs_varcomp){.k = data->k,
                               .n = c.n,
                               .n0 = between->size,
                               .ms_between = between->ms,
                               .ms_within = within->ms,
                               .f = between->f,
                               .t1 = within->var,
                               .t2 = between->var,
                               .icc = between->share,
                               .grand_mean = c.grand_mean,
                               .mean_of_means = c.mean,
                               .s2_means = c.s2_top,
                               .flags = between->flags};
    return status;
}

enum qs_status qs_hier_ci(const struct qs_nested *data, double level, struct qs_ci *out)
{
    struct qs_tree tree = qs_nested_tree(data);
    return qs_tree_ci(&tree, level, out);
}

static struct qs_ci around(double mean, double half_width, double level)
{
    return (struct qs_ci){.lo = mean - half_width,
                          .hi = mean + half_width,
                          .level = level,
                          .flags = half_width > 0 ? 0 : QS_FLAG_EXACT};
}

enum qs_status qs_hier_kalibera2005(const struct qs_nested *data, double level, struct qs_kalibera2005 *out)
{
    struct qs_ci none = qs_ci_none(level);
    *out = (struct qs_kalibera2005){
        .mean = NAN, .s2_x = NAN, .s2_a = NAN, .se = NAN, .df = NAN, .ci = none, .ci_t = none};
    if (!(level > 0 && level < 1))
        return QS_EDOM;
    struct qs_components c;
    struct qs_tree tree = qs_nested_tree(data);
    enum qs_status status = qs_tree_components(&tree, &c);
    if (status != QS_OK)
        return status;
    if (!c.balanced)
        return QS_EDOM;
    double k = (double)data->k, n = (double)c.n / k;
    out->mean = c.grand_mean;
    out->s2_x = c.level[0].ms;
    out->s2_a = c.s2_top;
    out->se = sqrt((n * out->s2_a + out->s2_x) / (k * n));
    out->df = k * (n - 1);
    double p = 1 - (1 - level) / 2;
    out->ci = around(out->mean, qs_qnorm(p) * out->se, level);
    out->ci_t = around(out->mean, qs_qt(p, out->df) * out->se, level);
    return QS_OK;
}

double qs_kalibera2005_samples(double s2_x, double s2_a, double w)
{
    if (isnan(s2_x) || isnan(s2_a) || !(w >= 0))
        return NAN;
    return s2_a > 0 ? fmax(1, ceil(sqrt(w * s2_x / s2_a))) : INFINITY;
}

enum {
    MAX_RESAMPLES = 10000000,
    RESAMPLES_A_LOOK = 64,
    VALUES_A_LOOK = 1 << 19,
    WORDS = 256,
    CHUNK = 64,
    SMALL = 4096,
    LARGE = 1 << 16
};

/* Lemire 2019: the high half of a 16-bit lane times n is uniform over 0..n-1 once lanes whose low half is
 * below 2^16 mod n are drawn again, which n <= SMALL keeps rare. */
struct lanes {
    uint64_t n, reject;
    uint64_t pass; /* 2^16 - reject, in both halves */
};

static struct lanes lanes_of(size_t n)
{
    uint64_t reject = n > SMALL ? 0 : 0x10000u % (uint32_t)n;
    return (struct lanes){n, reject, (0x10000 - reject) * 0x100000001u};
}

/* Random words in stock. Draws that are rejected are made again with a generator of their own: the stock may
 * be in use then. */
struct stock {
    struct qs_rng rng, again;
    uint64_t word[WORDS];
    size_t used;
    struct qs_resample *large; /* owned, for units of large->n values; NULL before the first one */
    bool no_memory;
};

/* Both generators from the one key. */
static void stock_init(struct stock *s, uint64_t seed, uint64_t stream)
{
    qs_rng_seed(&s->rng, seed, stream);
    qs_rng_seed(&s->again, qs_rng_next(&s->rng), stream);
    s->used = WORDS;
    s->large = NULL;
    s->no_memory = false;
}

/* k <= WORDS of them. Those that are left over are lost. */
static const uint64_t *take_words(struct stock *s, size_t k)
{
    if (s->used + k > WORDS) {
        qs_rng_fill(&s->rng, s->word, WORDS);
        s->used = 0;
    }
    s->used += k;
    return s->word + s->used - k;
}

static inline size_t pick(struct stock *s, const struct lanes *l, uint64_t lane)
{
    uint64_t m = lane * l->n;
    while ((m & 0xffff) < l->reject)
        m = (qs_rng_next(&s->again) >> 48) * l->n;
    return (size_t)(m >> 16);
}

/* One of 0..n-1. */
static inline size_t draw(struct stock *s, const struct lanes *l)
{
    return l->n > SMALL ? qs_rng_below(&s->again, l->n) : pick(s, l, *take_words(s, 1) >> 48);
}

/* The sum of 4 k draws, k <= CHUNK. Two lanes in each product: n has at most 13 bits, so that a product of
 * 16-bit lanes stays inside its 32 bits. Words with a lane to be drawn again wait until the end: sums that
 * live across a call lose their registers. */
static double sum_fours(struct stock *s, const struct lanes *l, const double *x, size_t k)
{
    const uint64_t mask = 0x0000ffff0000ffffu, bit16 = 0x0001000000010000u, n = l->n, pass = l->pass;
    const uint64_t *word = take_words(s, k);
    double a = 0, b = 0, c = 0, d = 0;
    size_t later[CHUNK], n_later = 0;
    for (size_t i = 0; i < k; i++) {
        uint64_t w = word[i], even = (w & mask) * n, odd = (w >> 16 & mask) * n;
        if ((((even & mask) + pass) & ((odd & mask) + pass) & bit16) == bit16) {
            a += x[(uint32_t)even >> 16];
            b += x[(uint32_t)odd >> 16];
            c += x[even >> 48];
            d += x[odd >> 48];
        } else {
            later[n_later++] = i;
        }
    }
    double sum = (a + b) + (c + d);
    for (size_t i = 0; i < n_later; i++)
        for (int shift = 0; shift < 64; shift += 16)
            sum += x[pick(s, l, word[later[i]] >> shift & 0xffff)];
    return sum;
}

/* The sum of `count` draws from the l->n <= SMALL values of x. */
static double sum_small(struct stock *s, const struct lanes *l, const double *x, size_t count)
{
    double sum = 0;
    size_t fours = count / 4;
    for (; fours > CHUNK; fours -= CHUNK)
        sum += sum_fours(s, l, x, CHUNK);
    sum += sum_fours(s, l, x, fours);
    uint64_t w = count % 4 > 0 ? *take_words(s, 1) : 0;
    for (size_t i = 0; i < count % 4; i++, w >>= 16)
        sum += x[pick(s, l, w & 0xffff)];
    return sum;
}

/* The table costs a few percent of one resample of so many values: units of several sizes make it anew. */
static double large_mean(struct stock *s, const double *x, size_t n)
{
    if (!s->large)
        s->large = calloc(1, sizeof *s->large);
    if (!s->large) {
        s->no_memory = true;
        return NAN;
    }
    if (s->large->n != n)
        qs_resample_init(s->large, n);
    return qs_resample_sums(s->large, &s->again, x).sum / (double)n;
}

static double run_mean(struct stock *s, const double *x, size_t n)
{
    struct lanes l = lanes_of(n);
    double sum = 0;
    if (n >= LARGE)
        return large_mean(s, x, n);
    if (n <= SMALL)
        sum = sum_small(s, &l, x, n);
    else
        for (size_t i = 0; i < n; i++)
            sum += x[draw(s, &l)];
    return sum / (double)n;
}

/* The mean of one resample of units first .. end-1 of grouping level g. */
static double resample(struct stock *s, const struct qs_tree *tree, size_t g, size_t first, size_t end)
{
    size_t n = end - first;
    struct lanes l = lanes_of(n);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        size_t u = first + draw(s, &l), from = tree->off[g][u], below = tree->off[g][u + 1];
        sum += g == 0 ? run_mean(s, tree->v + from, below - from) : resample(s, tree, g - 1, from, below);
    }
    return sum / (double)n;
}

static double resample_all(struct stock *s, const struct qs_tree *tree)
{
    return resample(s, tree, tree->depth - 1, 0, tree->count[tree->depth - 1]);
}

struct ratios {
    double *v; /* owned */
    size_t n, n_infinite;
};

static enum qs_status draw_ratios(const struct qs_tree *x, const struct qs_tree *y,
                                  const struct qs_hier_boot_opts *opts, struct ratios *out)
{
    struct stock s;
    stock_init(&s, opts->seed, opts->stream);
    size_t every = qs_less(VALUES_A_LOOK / (qs_tree_size(x) + qs_tree_size(y)) + 1, RESAMPLES_A_LOOK);
    bool ended = false;
    for (size_t r = 0; r < out->n && !s.no_memory; r++) {
        ended = r % every == 0 && !qs_progress_go_on(&opts->progress, (double)r / (double)out->n);
        if (ended)
            break;
        double base = resample_all(&s, x), cand = resample_all(&s, y);
        bool zero = !(base < 0 || base > 0);
        out->n_infinite += zero;
        out->v[r] = zero ? INFINITY : cand / base;
    }
    free(s.large);
    return ended ? QS_ECANCELED : s.no_memory ? QS_ENOMEM : QS_OK;
}

/* 1 - level is not exact in binary; a rank that is whole on paper is taken as whole. */
static struct qs_ci percentiles(double *ratio, size_t n, double level)
{
    const double slack = 1e-9;
    double tail = (1 - level) / 2 * (double)n;
    qs_sort(ratio, n);
    size_t lo = (size_t)floor(tail + slack), hi = (size_t)ceil((double)n - tail - slack);
    return (struct qs_ci){.lo = ratio[lo], .hi = ratio[hi - 1], .level = level};
}

static enum qs_status check_values(const struct qs_tree *tree)
{
    struct qs_moments m;
    enum qs_status status = qs_tree_check(tree);
    return status == QS_OK ? qs_moments(tree->v + tree->off[0][0], qs_tree_size(tree), &m) : status;
}

static bool has_few(const struct qs_tree *tree)
{
    return tree->count[tree->depth - 1] < QS_HIER_BOOT_MIN_TOP;
}

enum qs_status qs_hier_boot_ratio(const struct qs_tree *x, const struct qs_tree *y,
                                  const struct qs_hier_boot_opts *opts, struct qs_hier_boot *out)
{
    *out = (struct qs_hier_boot){.ratio = NAN, .ci = qs_ci_none(opts->level)};
    if (opts->resamples == 0 || opts->resamples > MAX_RESAMPLES || !(opts->level > 0 && opts->level < 1))
        return QS_EDOM;
    enum qs_status status = check_values(x);
    if (status == QS_OK)
        status = check_values(y);
    if (status != QS_OK)
        return status;
    double base = qs_tree_mean(x);
    if (!(base < 0 || base > 0))
        return QS_EDOM;
    struct ratios ratios = {.v = malloc(opts->resamples * sizeof *ratios.v), .n = opts->resamples};
    status = ratios.v ? draw_ratios(x, y, opts, &ratios) : QS_ENOMEM;
    if (status == QS_OK) {
        *out = (struct qs_hier_boot){.ratio = qs_tree_mean(y) / base,
                                     .ci = percentiles(ratios.v, ratios.n, opts->level),
                                     .n_infinite = ratios.n_infinite,
                                     .resamples = ratios.n};
        if (has_few(x) || has_few(y))
            out->ci.flags |= QS_FLAG_FEW_UNITS;
    }
    free(ratios.v);
    return status;
}
