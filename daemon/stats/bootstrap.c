#include "stats/bootstrap_parts.h"

#include "stats/dependence.h"
#include "stats/describe.h"
#include "stats/rng.h"
#include "stats/special.h"
#include "stats/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_BETWEEN_QUESTIONS = 1 << 17 };

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
        below = fmax(below, x[i]);
    return below + (x[k] - below) / 2;
}

static bool options_are_valid(const struct qs_boot_opts *o)
{
    bool count =
        o->resamples == 0 || (o->resamples >= QS_BOOT_RESAMPLES_MIN && o->resamples <= QS_BOOT_RESAMPLES_MAX);
    return o->statistic && o->level > 0 && o->level < 1 && count;
}

double qs_boot_evaluate(const struct qs_boot_work *b, size_t n)
{
    return b->opts->statistic(b->work, n, b->opts->user);
}

static void boot_done(struct qs_boot_work *b)
{
    free(b->work);
    free(b->index);
    free(b->ranked);
    free(b->stars);
    free(b->first);
    free(b->many);
}

/* Checks, and the estimate. */
static enum qs_status boot_init(struct qs_boot_work *b, const double *x, size_t n,
                                const struct qs_boot_opts *opts, struct qs_boot *out)
{
    struct qs_moments m;
    size_t resamples = opts->resamples ? opts->resamples : QS_BOOT_RESAMPLES;
    *b = (struct qs_boot_work){.x = x, .n = n, .opts = opts, .resamples = resamples, .block_length = 1};
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
    out->estimate = qs_boot_evaluate(b, n);
    if (!isfinite(out->estimate)) {
        out->estimate = NAN;
        return QS_EDEGENERATE;
    }
    return n < 2 ? QS_ETOOFEW : QS_OK;
}

/* Mean and median need no evaluations for it. */
static bool jackknife_is_direct(const struct qs_boot_work *b)
{
    return b->opts->statistic == qs_statistic_mean || b->opts->statistic == qs_statistic_median;
}

/* One question in as many evaluations as touch VALUES_BETWEEN_QUESTIONS values. */
bool qs_boot_may_go_on(const struct qs_boot_work *b, size_t done)
{
    size_t every = VALUES_BETWEEN_QUESTIONS / b->n + 1;
    double all = (double)b->resamples + (jackknife_is_direct(b) || b->first ? 0 : (double)b->n);
    return done % every != 0 || qs_progress_go_on(&b->opts->progress, (double)done / all);
}

/* The median without x_(r) depends only on whether r is below, at or above the middle. work: the values in
 * order, as the stars of medians leave them. */
static void jackknife_median(const struct qs_boot_work *b, double *jack)
{
    size_t n = b->n, k = n / 2;
    const double *x = b->work;
    double low = n % 2 ? (x[k] + x[k + 1]) / 2 : x[k];
    double high = n % 2 ? (x[k - 1] + x[k]) / 2 : x[k - 1];
    for (size_t r = 0; r < n; r++)
        jack[r] = r < k ? low : high;
    if (n % 2)
        jack[k] = (x[k - 1] + x[k + 1]) / 2;
}

static enum qs_status jackknife(struct qs_boot_work *b, double *jack)
{
    if (b->opts->statistic == qs_statistic_median) {
        jackknife_median(b, jack);
        return QS_OK;
    }
    if (b->opts->statistic == qs_statistic_mean) {
        for (size_t i = 0; i < b->n; i++)
            jack[i] = -b->x[i]; /* the mean without x_i falls with x_i; a is free of location and scale */
        return QS_OK;
    }
    for (size_t i = 0; i < b->n; i++) {
        if (!qs_boot_may_go_on(b, b->resamples + i))
            return QS_ECANCELED;
        memcpy(b->work, b->x, i * sizeof *b->x);
        memcpy(b->work + i, b->x + i + 1, (b->n - i - 1) * sizeof *b->x);
        jack[i] = qs_boot_evaluate(b, b->n - 1);
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

static enum qs_status acceleration(struct qs_boot_work *b, double *accel)
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
static double bias_correction(const struct qs_boot_work *b, double estimate)
{
    size_t below = 0, equal = 0;
    for (size_t r = 0; r < b->resamples; r++) {
        below += b->stars[r] < estimate;
        equal += !(b->stars[r] < estimate) && !(b->stars[r] > estimate);
    }
    double count = (double)below + (b->opts->haskell ? 0 : 0.5 * (double)equal);
    return qs_qnorm(count / (double)b->resamples);
}

static double star_at(const struct qs_boot_work *b, double p)
{
    if (!b->opts->haskell)
        return qs_quantile(b->stars, b->resamples, p, QS_QTYPE_7);
    double last = (double)b->resamples - 1, index = rint(p * (double)b->resamples);
    return b->stars[(size_t)fmin(index, last)];
}

static void percentile(const struct qs_boot_work *b, struct qs_ci *ci)
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

static void bias_corrected(const struct qs_boot_work *b, struct qs_boot *out)
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

static enum qs_status summarise(struct qs_boot_work *b, struct qs_boot *out)
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
    struct qs_boot_work b;
    double accel = NAN;
    enum qs_status status = boot_init(&b, x, n, opts, out);
    if (status == QS_OK)
        status = qs_boot_draw_stars(&b);
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
    double ratio = isinf(tau) ? 0 : fmax(0, (tau * tau - 1) / (2 * tau));
    double factor = fmax(1, cbrt(1.5 * ratio * ratio));
    double length = ceil(fmin(cbrt((double)n) * factor, (double)n / 4));
    return (size_t)fmax(1, length);
}

/* Where the stretch of each value starts and ends. */
static enum qs_status mark_stretches(struct qs_boot_work *b, const size_t *breaks, size_t n_breaks)
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

static enum qs_status choose_blocks(struct qs_boot_work *b, const size_t *breaks, size_t n_breaks,
                                    size_t length)
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
    struct qs_boot_work b;
    enum qs_status status = boot_init(&b, x, n, opts, out);
    if (status == QS_OK)
        status = choose_blocks(&b, breaks, n_breaks, block_length);
    if (status == QS_OK)
        status = qs_boot_draw_stars(&b);
    if (status == QS_OK)
        status = summarise(&b, out);
    boot_done(&b);
    return status;
}
