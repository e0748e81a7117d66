#include "stats/rancid.h"

#include "stats/abreast.h"
#include "stats/describe.h"
#include "stats/pick.h"
#include "stats/resample.h"
#include "stats/rng.h"
#include "stats/sum.h"

#include <math.h>
#include <stdlib.h>

enum { VALUES_A_LOOK = 1 << 19 };

struct side {
    const double *v; /* borrowed; differences from the mean where there are many */
    size_t n;
    struct qs_resample *many; /* owned, or NULL */
    double *own;              /* owned: differences with many, else resamples side by side */
    uint32_t *index;          /* owned, of few values: which were drawn */
    double sd[QS_ABREAST];    /* of the resamples */
};

static void side_done(struct side *s)
{
    free(s->many);
    free(s->own);
    free(s->index);
}

static bool side_init(struct side *s, const double *v, size_t n)
{
    struct qs_moments m;
    *s = (struct side){.v = v, .n = n};
    if (n < QS_RESAMPLE_MANY || qs_moments(v, n, &m) != QS_OK) {
        s->own = calloc(n, QS_ABREAST * sizeof *s->own);
        s->index = calloc(n, sizeof *s->index);
        return s->own && s->index;
    }
    s->many = malloc(sizeof *s->many);
    s->own = malloc(n * sizeof *s->own);
    if (!s->many || !s->own)
        return false;
    qs_resample_init(s->many, n);
    for (size_t i = 0; i < n; i++)
        s->own[i] = v[i] - m.mean;
    s->v = s->own;
    return true;
}

static void draw(struct qs_rng *rng, struct side *s, size_t lane)
{
    double dn = (double)s->n;
    if (s->many) {
        struct qs_resample_sums sums = qs_resample_sums(s->many, rng, s->v);
        s->sd[lane] = sqrt(fmax(0, sums.squares - sums.sum * (sums.sum / dn)) / (dn - 1));
    } else {
        qs_abreast_draw(rng, s->v, s->n, s->index, s->own + lane);
    }
}

/* Resamples of both without spread say nothing and count as no change; one without spread as the extreme. */
static double log_sd_ratio(double x, double y)
{
    if (!(x > 0) || !(y > 0))
        return x > 0 ? -INFINITY : y > 0 ? INFINITY : 0;
    return log(y / x);
}

static void take_ratios(struct side *a, struct side *b, double *ratios, size_t count)
{
    if (!a->many)
        qs_abreast_sds(a->own, a->n, a->sd);
    if (!b->many)
        qs_abreast_sds(b->own, b->n, b->sd);
    for (size_t i = 0; i < count; i++)
        ratios[i] = log_sd_ratio(a->sd[i], b->sd[i]);
}

static size_t resamples_of(size_t n)
{
    enum { LEAST = 100 };
    return qs_less(QS_RANCID_RESAMPLES, qs_more(LEAST, QS_RANCID_DRAWS_MOST / n));
}

static enum qs_status bootstrap(const double *x, size_t nx, const double *y, size_t ny, double level,
                                uint64_t seed, const struct qs_progress *progress, struct qs_ci *out)
{
    struct qs_rng rng;
    size_t resamples = resamples_of(nx + ny), every = VALUES_A_LOOK / (nx + ny) + 1;
    double *ratios = malloc(resamples * sizeof *ratios);
    struct side a = {.n = 0}, b = {.n = 0};
    bool ready = side_init(&a, x, nx) && side_init(&b, y, ny) && ratios, ended = false;
    if (ready) {
        qs_rng_seed(&rng, seed, 0);
        for (size_t i = 0; i < resamples && !ended; i++) {
            size_t lane = i % QS_ABREAST;
            ended = i % every == 0 && !qs_progress_go_on(progress, (double)i / (double)resamples);
            draw(&rng, &a, lane);
            draw(&rng, &b, lane);
            if (lane + 1 == QS_ABREAST || i + 1 == resamples)
                take_ratios(&a, &b, ratios + i - lane, lane + 1);
        }
        qs_sort(ratios, resamples);
        /* order statistics: infinite resamples must not be interpolated */
        size_t lo = (size_t)((1 - level) / 2 * (double)(resamples - 1));
        out->lo = exp(ratios[lo]);
        out->hi = exp(ratios[resamples - 1 - lo]);
    }
    free(ratios);
    side_done(&a);
    side_done(&b);
    if (ended)
        *out = qs_ci_none(level);
    return ended ? QS_ECANCELED : ready ? QS_OK : QS_ENOMEM;
}

enum qs_status qs_rancid(const double *x, size_t nx, const double *y, size_t ny, double level, uint64_t seed,
                         const struct qs_progress *progress, struct qs_rancid *out)
{
    struct qs_moments m[2];
    *out = (struct qs_rancid){.median = {NAN, NAN},
                              .sd = {NAN, NAN},
                              .performance = NAN,
                              .performance_ratio = NAN,
                              .precision = NAN,
                              .precision_ratio = NAN,
                              .sd_ratio = NAN,
                              .sd_ratio_ci = qs_ci_none(level)};
    enum qs_status status = qs_moments_of_two(x, nx, y, ny, m);
    if (status != QS_OK || !(level > 0 && level < 1))
        return status == QS_ENODATA ? status : QS_EDOM;
    if (qs_median(x, nx, &out->median[0]) != QS_OK || qs_median(y, ny, &out->median[1]) != QS_OK)
        return QS_ENOMEM;
    out->performance = out->median[0] - out->median[1];
    double size = fabs(out->median[0]);
    out->performance_ratio = size > 0 ? out->performance / size : NAN;
    if (nx < 2 || ny < 2)
        return QS_ETOOFEW;
    for (int i = 0; i < 2; i++)
        out->sd[i] = sqrt(m[i].var);
    out->precision = out->sd[0] - out->sd[1];
    if (!(out->sd[0] > 0))
        return QS_OK;
    out->precision_ratio = out->precision / out->sd[0];
    out->sd_ratio = out->sd[1] / out->sd[0];
    if (nx < QS_RANCID_MIN || ny < QS_RANCID_MIN || !(out->sd[1] > 0))
        return QS_OK;
    return bootstrap(x, nx, y, ny, level, seed, progress, &out->sd_ratio_ci);
}

enum qs_status qs_error_evolution(const double *x, size_t n, double reference, double *error, double *rel_iqr)
{
    if (n == 0)
        return QS_ENODATA;
    if (n > QS_EVOLUTION_MAX || !isfinite(reference) || !(fabs(reference) > 0))
        return QS_EDOM;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return QS_EDOM;
    double *sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        return QS_ENOMEM;
    for (size_t m = 1; m <= n; m++) {
        qs_sorted_insert(sorted, m - 1, x[m - 1]);
        double median = qs_quantile(sorted, m, 0.5, QS_QTYPE_7);
        double iqr = qs_quantile(sorted, m, 0.75, QS_QTYPE_7) - qs_quantile(sorted, m, 0.25, QS_QTYPE_7);
        error[m - 1] = fabs(median - reference) / fabs(reference);
        rel_iqr[m - 1] = fabs(median) > 0 ? iqr / fabs(median) : NAN;
    }
    free(sorted);
    return QS_OK;
}
