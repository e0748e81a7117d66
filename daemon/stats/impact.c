#include "stats/impact.h"

#include "stats/abreast.h"
#include "stats/pick.h"
#include "stats/rng.h"
#include "stats/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_RUNS = 4, MIN_SAMPLES = 4, MAX_ROUNDS = 10000000, VALUES_A_LOOK = 1 << 19 };

const char *const qs_additive_names[] = {"unknown", "no-effect", "well", "partly", "no", NULL};

/* Drawing shuffles in place: any order is as good a start as any other for the next draw. */
struct draw {
    struct qs_rng rng;
    double *v;                /* owned: all samples, in the order of the runs, reordered inside a run */
    size_t *run;              /* owned: the numbers of the runs, in any order */
    size_t *off;              /* owned: where each run starts */
    double *between, *within; /* owned: QS_ABREAST samples of c, side by side */
    double *ratio;            /* owned: one a round */
    size_t k, c;
};

static void draw_free(struct draw *d)
{
    free(d->v);
    free(d->run);
    free(d->off);
    free(d->between);
    free(d->within);
    free(d->ratio);
}

static bool draw_init(struct draw *d, const struct qs_nested *data, size_t c, size_t rounds)
{
    size_t n = data->off[data->k] - data->off[0];
    *d = (struct draw){.k = data->k, .c = c};
    d->v = calloc(n, sizeof *d->v);
    d->run = calloc(data->k, sizeof *d->run);
    d->off = calloc(data->k + 1, sizeof *d->off);
    d->between = calloc(c, QS_ABREAST * sizeof *d->between);
    d->within = calloc(c, QS_ABREAST * sizeof *d->within);
    d->ratio = calloc(rounds, sizeof *d->ratio);
    return d->v && d->run && d->off && d->between && d->within && d->ratio;
}

/* The samples relative to the mean of all, or of their run. */
static void load(struct draw *d, const struct qs_nested *data, double about, bool transformed)
{
    for (size_t j = 0; j < d->k; j++) {
        size_t from = data->off[j], n = data->off[j + 1] - from;
        struct qs_moments m = {.mean = about};
        if (transformed)
            (void)qs_moments(data->v + from, n, &m); /* finite: the caller looked at all values */
        d->run[j] = j;
        d->off[j] = from - data->off[0];
        d->off[j + 1] = d->off[j] + n;
        for (size_t i = 0; i < n; i++)
            d->v[d->off[j] + i] = data->v[from + i] - m.mean;
    }
}

static size_t swap_size(size_t *x, size_t i, size_t j)
{
    size_t t = x[j];
    x[j] = x[i];
    return x[i] = t;
}

static double swap_value(double *x, size_t i, size_t j)
{
    double t = x[j];
    x[j] = x[i];
    return x[i] = t;
}

static void between_runs(struct draw *d, double *lane)
{
    for (size_t i = 0; i < d->c; i++) {
        size_t j = swap_size(d->run, i, i + qs_rng_below(&d->rng, d->k - i));
        lane[i * QS_ABREAST] = d->v[d->off[j] + qs_rng_below(&d->rng, d->off[j + 1] - d->off[j])];
    }
}

static void within_run(struct draw *d, double *lane)
{
    size_t j = qs_rng_below(&d->rng, d->k), n = d->off[j + 1] - d->off[j];
    double *x = d->v + d->off[j];
    for (size_t i = 0; i < d->c; i++)
        lane[i * QS_ABREAST] = swap_value(x, i, i + qs_rng_below(&d->rng, n - i));
}

static double ratio_of(double between, double within)
{
    if (within > 0)
        return between / within;
    return between > 0 ? INFINITY : 1;
}

static void take_ratios(const struct draw *d, double *ratio, size_t count)
{
    double between[QS_ABREAST], within[QS_ABREAST];
    qs_abreast_sds(d->between, d->c, between);
    qs_abreast_sds(d->within, d->c, within);
    for (size_t i = 0; i < count; i++)
        ratio[i] = ratio_of(between[i], within[i]);
}

/* Infinite ratios are values like others. */
static double median(double *x, size_t n)
{
    qs_sort(x, n);
    double lo = x[(n - 1) / 2], hi = x[n / 2];
    return lo < hi ? lo + (hi - lo) / 2 : lo;
}

static enum qs_status factor(struct draw *d, const struct qs_impact_opts *opts, double done, double *out)
{
    qs_rng_seed(&d->rng, opts->seed, opts->stream);
    size_t every = VALUES_A_LOOK / d->c + 1;
    for (size_t r = 0; r < opts->rounds; r++) {
        double share = (double)r / (double)opts->rounds;
        size_t lane = r % QS_ABREAST;
        if (r % every == 0 && !qs_progress_go_on(&opts->progress, done + share / 2))
            return QS_ECANCELED;
        between_runs(d, d->between + lane);
        within_run(d, d->within + lane);
        if (lane + 1 == QS_ABREAST || r + 1 == opts->rounds)
            take_ratios(d, d->ratio + r - lane, lane + 1);
    }
    *out = median(d->ratio, opts->rounds);
    return QS_OK;
}

static enum qs_additive judge(double raw, double transformed)
{
    if (isnan(raw) || isnan(transformed))
        return QS_ADDITIVE_UNKNOWN;
    if (raw <= 1.05)
        return QS_ADDITIVE_NO_EFFECT;
    if (!(transformed < raw))
        return QS_ADDITIVE_NO;
    return fabs(transformed - 1) <= 0.1 ? QS_ADDITIVE_WELL : QS_ADDITIVE_PARTLY;
}

static enum qs_status factors(const struct qs_nested *data, double grand, const struct qs_impact_opts *opts,
                              struct qs_impact *out)
{
    struct draw d;
    double raw = NAN, transformed = NAN;
    enum qs_status status = draw_init(&d, data, out->c, opts->rounds) ? QS_OK : QS_ENOMEM;
    if (status == QS_OK) {
        load(&d, data, grand, false);
        status = factor(&d, opts, 0, &raw);
    }
    if (status == QS_OK) {
        load(&d, data, grand, true);
        status = factor(&d, opts, 0.5, &transformed);
    }
    draw_free(&d);
    if (status != QS_OK)
        return status;
    out->raw = raw;
    out->transformed = transformed;
    out->additive = judge(raw, transformed);
    return QS_OK;
}

static size_t shortest_run(const struct qs_nested *data)
{
    size_t n = SIZE_MAX;
    for (size_t j = 0; j < data->k; j++)
        n = qs_less(n, data->off[j + 1] - data->off[j]);
    return n;
}

enum qs_status qs_impact_factor(const struct qs_nested *data, const struct qs_impact_opts *opts,
                                struct qs_impact *out)
{
    *out = (struct qs_impact){.raw = NAN, .transformed = NAN, .analytic = NAN};
    if (opts->rounds == 0 || opts->rounds > MAX_ROUNDS)
        return QS_EDOM;
    struct qs_varcomp vc;
    enum qs_status status = qs_varcomp(data, &vc);
    if (status != QS_OK)
        return status;
    if (vc.t1 > 0 || vc.t2 > 0)
        out->analytic = sqrt(1 + vc.t2 / vc.t1);
    size_t n = shortest_run(data), least = qs_less(data->k, n);
    if (data->k < MIN_RUNS || n < MIN_SAMPLES)
        return QS_ETOOFEW;
    size_t c = data->k / 4 * 3 + data->k % 4 * 3 / 4;
    out->c = qs_less(c, least - 1);
    out->rounds = opts->rounds;
    return factors(data, vc.grand_mean, opts, out);
}
