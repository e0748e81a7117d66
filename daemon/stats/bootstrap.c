#include "stats/bootstrap.h"

#include "stats/abreast.h"
#include "stats/dependence.h"
#include "stats/describe.h"
#include "stats/resample.h"
#include "stats/rng.h"
#include "stats/special.h"
#include "stats/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_BETWEEN_QUESTIONS = 1 << 17 };

struct boot {
    const double *x; /* borrowed */
    size_t n;
    const struct qs_boot_opts *opts;
    size_t resamples;
    struct qs_rng rng;
    double *work;    /* owned: n + 1 values, or QS_ABREAST resamples of n */
    uint32_t *index; /* owned: which n were drawn */
    double centre;
    double *stars; /* owned: the statistic of each resample */
    size_t *first; /* owned, blocks only: where the unbroken stretch of a value starts, and at n + i ends */
    size_t block_length;
    struct qs_resample *many; /* owned, for the mean of many values */
    double means[QS_ABREAST]; /* of few values: of resamples drawn at a time, those from `next` on are new */
    size_t next;
    struct ranked *ranked; /* owned, for the median of few values: n */
};

struct ranked {
    uint32_t rank;  /* of the value in its place among the sorted */
    uint32_t drawn; /* how often the value of this rank was */
};

double qs_statistic_mean(double *x, size_t n, void *user)
{
    (void)user;
    struct qs_acc acc = {0};
    for (size_t i = 0; i < n; i++)
        qs_acc_add(&acc, x[i]);
    return qs_acc_value(&acc) / (double)n;
}

static void swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

/* Hoare's selection: x[k] becomes the k-th smallest, what is before it is not above it. */
static void select_kth(double *x, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        double pivot = x[lo + (hi - lo) / 2];
        size_t i = lo, j = hi;
        for (;;) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i >= j)
                break;
            swap(&x[i++], &x[j--]);
        }
        /* x[lo..j] <= pivot <= x[j+1..hi], j < hi */
        if (k <= j)
            hi = j;
        else
            lo = j + 1;
    }
}

double qs_statistic_median(double *x, size_t n, void *user)
{
    (void)user;
    size_t k = n / 2;
    select_kth(x, n, k);
    if (n % 2 == 1)
        return x[k];
    double below = x[0];
    for (size_t i = 1; i < k; i++)
        below = x[i] > below ? x[i] : below;
    return below + (x[k] - below) / 2;
}

static bool options_are_valid(const struct qs_boot_opts *o)
{
    bool count =
        o->resamples == 0 || (o->resamples >= QS_BOOT_RESAMPLES_MIN && o->resamples <= QS_BOOT_RESAMPLES_MAX);
    return o->statistic && o->level > 0 && o->level < 1 && count;
}

static double evaluate(const struct boot *b, size_t n)
{
    return b->opts->statistic(b->work, n, b->opts->user);
}

static void boot_done(struct boot *b)
{
    free(b->work);
    free(b->index);
    free(b->ranked);
    free(b->stars);
    free(b->first);
    free(b->many);
}

/* Checks, and the estimate. */
static enum qs_status boot_init(struct boot *b, const double *x, size_t n, const struct qs_boot_opts *opts,
                                struct qs_boot *out)
{
    struct qs_moments m;
    size_t resamples = opts->resamples ? opts->resamples : QS_BOOT_RESAMPLES;
    *b = (struct boot){.x = x, .n = n, .opts = opts, .resamples = resamples, .block_length = 1};
    *out = (struct qs_boot){.estimate = NAN,
                            .bias = NAN,
                            .se = NAN,
                            .z0 = NAN,
                            .accel = NAN,
                            .pct = qs_ci_none(opts->level),
                            .bca = qs_ci_none(opts->level),
                            .resamples = resamples};
    enum qs_status status = options_are_valid(opts) ? qs_moments(x, n, &m) : QS_EDOM;
    if (status != QS_OK)
        return status;
    b->work = calloc(n < QS_RESAMPLE_MANY ? QS_ABREAST * n : n + 1, sizeof *b->work);
    b->index = calloc(n, sizeof *b->index);
    b->stars = malloc(resamples * sizeof *b->stars);
    if (!b->work || !b->index || !b->stars)
        return QS_ENOMEM;
    memcpy(b->work, x, n * sizeof *x);
    out->estimate = evaluate(b, n);
    if (!isfinite(out->estimate)) {
        out->estimate = NAN;
        return QS_EDEGENERATE;
    }
    return n < 2 ? QS_ETOOFEW : QS_OK;
}

static void draw_values(struct boot *b)
{
    qs_rng_fill_below(&b->rng, (uint32_t)b->n, b->index, b->n);
    for (size_t i = 0; i < b->n; i++)
        b->work[i] = b->x[b->index[i]];
}

/* Value i to to[i * stride]. */
static void draw_blocks(struct boot *b, double *to, size_t stride)
{
    for (size_t i = 0; i < b->n;) {
        size_t at = qs_rng_below(&b->rng, b->n), start = b->first[at], end = b->first[b->n + at];
        for (size_t k = 0; k < b->block_length && i < b->n; k++) {
            to[i++ * stride] = b->x[at];
            at = at + 1 < end ? at + 1 : start;
        }
    }
}

/* Mean and median need no evaluations for it. */
static bool jackknife_is_direct(const struct boot *b)
{
    return b->opts->statistic == qs_statistic_mean || (b->opts->statistic == qs_statistic_median && b->n > 2);
}

/* One question in as many evaluations as touch VALUES_BETWEEN_QUESTIONS values. */
static bool may_go_on(const struct boot *b, size_t done)
{
    size_t every = VALUES_BETWEEN_QUESTIONS / b->n + 1;
    double all = (double)b->resamples + (jackknife_is_direct(b) || b->first ? 0 : (double)b->n);
    return done % every != 0 || qs_progress_go_on(&b->opts->progress, (double)done / all);
}

static double by_draws(struct boot *b)
{
    if (b->first)
        draw_blocks(b, b->work, 1);
    else
        draw_values(b);
    return evaluate(b, b->n);
}

static double mean_of_few(struct boot *b)
{
    if (b->next % QS_ABREAST == 0) {
        for (size_t lane = 0; lane < QS_ABREAST; lane++) {
            if (b->first)
                draw_blocks(b, b->work + lane, QS_ABREAST);
            else
                qs_abreast_draw(&b->rng, b->x, b->n, b->index, b->work + lane);
        }
        qs_abreast_means(b->work, b->n, b->means);
    }
    return b->means[b->next++ % QS_ABREAST];
}

/* work: the values in order. */
static double median_of_few(struct boot *b)
{
    size_t n = b->n, below = n, at = 0;
    qs_rng_fill_below(&b->rng, (uint32_t)n, b->index, n);
    for (size_t i = 0; i < n; i++)
        b->ranked[b->ranked[b->index[i]].rank].drawn++;
    for (size_t k = 0, passed = 0; passed <= n / 2; k++) {
        passed += b->ranked[k].drawn;
        below = below == n && passed >= n / 2 ? k : below;
        at = k;
    }
    for (size_t i = 0; i < n; i++)
        b->ranked[i].drawn = 0;
    return n % 2 == 1 ? b->work[at] : b->work[below] + (b->work[at] - b->work[below]) / 2;
}

/* work: the values in order. */
static double median_by_ranks(struct boot *b)
{
    size_t rank[2];
    qs_resample_middle(&b->rng, b->n, rank);
    double below = b->work[rank[0]], above = b->work[rank[1]];
    return below + (above - below) / 2;
}

/* work: differences from the mean. */
static double mean_by_counts(struct boot *b)
{
    return b->centre + qs_resample_sums(b->many, &b->rng, b->work).sum / (double)b->n;
}

/* How many neighbours from `at` on, around the end of its stretch. work: sums of the first i differences. */
static double sum_around(const struct boot *b, size_t at, size_t count)
{
    size_t start = b->first[at], end = b->first[b->n + at], rest = count % (end - start);
    double sum = (double)(count / (end - start)) * (b->work[end] - b->work[start]);
    if (at + rest <= end)
        return sum + (b->work[at + rest] - b->work[at]);
    return sum + (b->work[end] - b->work[at]) + (b->work[start + rest - (end - at)] - b->work[start]);
}

/* The same blocks as draw_blocks. */
static double mean_by_blocks(struct boot *b)
{
    double sum = 0;
    for (size_t i = 0; i < b->n; i += b->block_length) {
        size_t at = qs_rng_below(&b->rng, b->n), left = b->n - i;
        sum += sum_around(b, at, left < b->block_length ? left : b->block_length);
    }
    return b->centre + sum / (double)b->n;
}

typedef double star_fn(struct boot *b);

static void centre(struct boot *b)
{
    b->centre = qs_statistic_mean(b->work, b->n, NULL);
    for (size_t i = 0; i < b->n; i++)
        b->work[i] = b->x[i] - b->centre;
}

/* differences -> sums of the first i of them, n + 1 */
static void sum_up(struct boot *b)
{
    struct qs_acc sum = {0};
    for (size_t i = 0; i <= b->n; i++) {
        double d = b->work[i];
        b->work[i] = qs_acc_value(&sum);
        qs_acc_add(&sum, d);
    }
}

/* Equal values stand in the order of their places; which of them is drawn does not matter. */
static bool rank(struct boot *b)
{
    size_t *taken = calloc(b->n, sizeof *taken);
    b->ranked = calloc(b->n, sizeof *b->ranked);
    for (size_t i = 0; taken && b->ranked && i < b->n; i++) {
        size_t place = qs_sorted_place(b->work, b->n, b->x[i]);
        b->ranked[i].rank = (uint32_t)(place + taken[place]++);
    }
    free(taken);
    return taken && b->ranked;
}

/* Mean and median have shorter ways: of few values with the numbers of single draws, of many values without
 * these. They are prepared here. NULL: no memory. */
static star_fn *way(struct boot *b)
{
    bool mean = b->opts->statistic == qs_statistic_mean, median = b->opts->statistic == qs_statistic_median;
    bool few = b->n < QS_RESAMPLE_MANY;
    if (!mean && !(median && !b->first))
        return by_draws;
    if (few && mean)
        return mean_of_few;
    memcpy(b->work, b->x, b->n * sizeof *b->x);
    if (median) {
        qs_sort(b->work, b->n);
        return !few ? median_by_ranks : rank(b) ? median_of_few : NULL;
    }
    centre(b);
    if (b->first) {
        sum_up(b);
        return mean_by_blocks;
    }
    b->many = malloc(sizeof *b->many);
    if (b->many)
        qs_resample_init(b->many, b->n);
    return b->many ? mean_by_counts : NULL;
}

static enum qs_status draw_stars(struct boot *b)
{
    star_fn *star = way(b);
    if (!star)
        return QS_ENOMEM;
    qs_rng_seed(&b->rng, b->opts->seed, b->opts->stream);
    for (size_t r = 0; r < b->resamples; r++) {
        if (!may_go_on(b, r))
            return QS_ECANCELED;
        b->stars[r] = star(b);
        if (!isfinite(b->stars[r]))
            return QS_EDOM;
    }
    return QS_OK;
}

/* The median without x_(r) depends only on whether r is below, at or above the middle. */
static void jackknife_median(const struct boot *b, double *jack)
{
    size_t n = b->n, k = n / 2;
    qs_sort(b->work, n);
    const double *x = b->work;
    double low = n % 2 ? (x[k] + x[k + 1]) / 2 : x[k];
    double high = n % 2 ? (x[k - 1] + x[k]) / 2 : x[k - 1];
    for (size_t r = 0; r < n; r++)
        jack[r] = r < k ? low : high;
    if (n % 2)
        jack[k] = (x[k - 1] + x[k + 1]) / 2;
}

static enum qs_status jackknife(struct boot *b, double *jack)
{
    memcpy(b->work, b->x, b->n * sizeof *b->x);
    if (b->opts->statistic == qs_statistic_median && b->n > 2) {
        jackknife_median(b, jack);
        return QS_OK;
    }
    if (b->opts->statistic == qs_statistic_mean) {
        for (size_t i = 0; i < b->n; i++)
            jack[i] = -b->x[i]; /* the mean without x_i falls with x_i; a is free of location and scale */
        return QS_OK;
    }
    for (size_t i = 0; i < b->n; i++) {
        if (!may_go_on(b, b->resamples + i))
            return QS_ECANCELED;
        memcpy(b->work, b->x, i * sizeof *b->x);
        memcpy(b->work + i, b->x + i + 1, (b->n - i - 1) * sizeof *b->x);
        jack[i] = evaluate(b, b->n - 1);
        if (!isfinite(jack[i]))
            return QS_EDOM;
    }
    return QS_OK;
}

/* sum d^3/(6 (sum d^2)^1.5), d from their mean to each; 0 where they do not vary */
static enum qs_status third_moment(const double *jack, size_t n, double *accel)
{
    struct qs_moments m;
    struct qs_acc squares = {0}, cubes = {0};
    enum qs_status status = qs_moments(jack, n, &m);
    *accel = 0;
    if (status != QS_OK || !(m.var > 0))
        return status;
    double sd = sqrt(m.var);
    for (size_t i = 0; i < n; i++) {
        double d = (m.mean - jack[i]) / sd; /* scaled: the powers cannot overflow */
        qs_acc_add(&squares, d * d);
        qs_acc_add(&cubes, d * d * d);
    }
    double s = qs_acc_value(&squares);
    *accel = qs_acc_value(&cubes) / (6 * s * sqrt(s));
    return QS_OK;
}

static enum qs_status acceleration(struct boot *b, double *accel)
{
    double *jack = malloc(b->n * sizeof *jack);
    if (!jack)
        return QS_ENOMEM;
    enum qs_status status = jackknife(b, jack);
    if (status == QS_OK)
        status = third_moment(jack, b->n, accel);
    free(jack);
    return status;
}

/* stars ascending */
static double bias_correction(const struct boot *b, double estimate)
{
    size_t below = 0, equal = 0;
    for (size_t r = 0; r < b->resamples; r++) {
        below += b->stars[r] < estimate;
        equal += !(b->stars[r] < estimate) && !(b->stars[r] > estimate);
    }
    double count = (double)below + (b->opts->haskell ? 0 : 0.5 * (double)equal);
    return qs_qnorm(count / (double)b->resamples);
}

static double star_at(const struct boot *b, double p)
{
    if (!b->opts->haskell)
        return qs_quantile(b->stars, b->resamples, p, QS_QTYPE_7);
    double last = (double)b->resamples - 1, index = rint(p * (double)b->resamples);
    return b->stars[(size_t)(index < last ? index : last)];
}

static void percentile(const struct boot *b, struct qs_ci *ci)
{
    double tail = (1 - ci->level) / 2;
    ci->lo = star_at(b, tail);
    ci->hi = star_at(b, 1 - tail);
    ci->flags = b->stars[0] < b->stars[b->resamples - 1] ? 0 : (unsigned)QS_FLAG_EXACT;
}

/* Phi(z0 + (z0 + z)/(1 - a (z0 + z))); NaN beyond the pole */
static double corrected(double z0, double accel, double z)
{
    double scale = 1 - accel * (z0 + z);
    return scale > 0 ? qs_pnorm(z0 + (z0 + z) / scale) : NAN;
}

static void bias_corrected(const struct boot *b, struct qs_boot *out)
{
    double z = qs_qnorm((1 - out->bca.level) / 2);
    double lo = corrected(out->z0, out->accel, z), hi = corrected(out->z0, out->accel, -z);
    out->bca = out->pct;
    if (isinf(out->z0) || !(lo < hi)) {
        out->bca.flags |= QS_FLAG_PERCENTILE;
        return;
    }
    out->bca.lo = star_at(b, lo);
    out->bca.hi = star_at(b, hi);
}

static enum qs_status summarise(struct boot *b, struct qs_boot *out)
{
    struct qs_moments m;
    enum qs_status status = qs_moments(b->stars, b->resamples, &m);
    if (status != QS_OK)
        return status;
    out->bias = m.mean - out->estimate;
    out->se = sqrt(m.var);
    out->block_length = b->block_length;
    qs_sort(b->stars, b->resamples);
    percentile(b, &out->pct);
    return QS_OK;
}

enum qs_status qs_boot_ci(const double *x, size_t n, const struct qs_boot_opts *opts, struct qs_boot *out)
{
    struct boot b;
    double accel = NAN;
    enum qs_status status = boot_init(&b, x, n, opts, out);
    if (status == QS_OK)
        status = draw_stars(&b);
    if (status == QS_OK)
        status = acceleration(&b, &accel);
    if (status == QS_OK)
        status = summarise(&b, out);
    if (status == QS_OK) {
        out->accel = accel;
        out->z0 = bias_correction(&b, out->estimate);
        bias_corrected(&b, out);
    }
    boot_done(&b);
    return status;
}

size_t qs_block_length(size_t n, double tau)
{
    double ratio = tau > 1 && !isinf(tau) ? (tau * tau - 1) / (2 * tau) : 0;
    double factor = fmax(1, cbrt(1.5 * ratio * ratio));
    double length = ceil(fmin(cbrt((double)n) * factor, (double)n / 4));
    return length > 1 ? (size_t)length : 1;
}

/* Where the stretch of each value starts and ends. */
static enum qs_status mark_stretches(struct boot *b, const size_t *breaks, size_t n_breaks)
{
    b->first = malloc(2 * b->n * sizeof *b->first);
    if (!b->first)
        return QS_ENOMEM;
    size_t start = 0;
    for (size_t k = 0; k <= n_breaks; k++) {
        size_t end = k < n_breaks ? breaks[k] : b->n;
        for (size_t i = start; i < end; i++) {
            b->first[i] = start;
            b->first[b->n + i] = end;
        }
        start = end;
    }
    return QS_OK;
}

static enum qs_status choose_blocks(struct boot *b, const size_t *breaks, size_t n_breaks, size_t length)
{
    struct qs_ess ess;
    enum qs_status status = qs_ess(b->x, b->n, breaks, n_breaks, &ess); /* checks the breaks as well */
    if (status != QS_OK && status != QS_EDEGENERATE)
        return status;
    double tau = status == QS_OK ? (double)b->n / ess.n_eff : 1;
    b->block_length = length ? length : qs_block_length(b->n, tau);
    if (b->block_length > b->n)
        return QS_EDOM;
    return mark_stretches(b, breaks, n_breaks);
}

enum qs_status qs_block_boot_ci(const double *x, size_t n, const size_t *breaks, size_t n_breaks,
                                size_t block_length, const struct qs_boot_opts *opts, struct qs_boot *out)
{
    struct boot b;
    enum qs_status status = boot_init(&b, x, n, opts, out);
    if (status == QS_OK)
        status = choose_blocks(&b, breaks, n_breaks, block_length);
    if (status == QS_OK)
        status = draw_stars(&b);
    if (status == QS_OK)
        status = summarise(&b, out);
    boot_done(&b);
    return status;
}
