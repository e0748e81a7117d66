/* Coverage where iterations belong to runs that differ. */
#include "studies/coverage/coverage.h"

#include <math.h>
#include <stdio.h>

#include "stats/describe.h"
#include "stats/hier.h"
#include "stats/interval.h"
#include "stats/ranks.h"
#include "stats/ratio.h"
#include "stats/twosample.h"

enum { RUNS_MAX = 30, ITERATIONS_MAX = 50, VALUES_MAX = RUNS_MAX * ITERATIONS_MAX };

static const double LEVEL = 0.95, CENTRE = 100, FACTOR = 1.05;

/* k runs of n iterations: 100 + A + X, where X has an sd of 1 and correlation phi, A an sd of `between`.
 * Skewed: both are exponential. */
struct design {
    const char *name;
    size_t k, n;
    double between, phi;
    bool skewed;
};

static const struct design designs[] = {
    {"no effect, 3 x 10", 3, 10, 0, 0, false},      {"runs differ twice as much, 3 x 10", 3, 10, 2, 0, false},
    {"the same, 5 x 20", 5, 20, 2, 0, false},       {"as much, 10 x 30", 10, 30, 1, 0, false},
    {"half, 30 x 50", 30, 50, 0.5, 0, false},       {"twice, skewed, 5 x 20", 5, 20, 2, 0, true},
    {"twice, skewed, 10 x 30", 10, 30, 2, 0, true}, {"as much, AR(1) 0.6, 10 x 50", 10, 50, 1, 0.6, false},
};
enum { DESIGNS = sizeof designs / sizeof *designs };

/* One side: its values, and where its runs begin. */
struct side {
    double v[VALUES_MAX];
    size_t off[RUNS_MAX + 1];
    struct qs_nested runs;
    double mean[RUNS_MAX], median[RUNS_MAX];
};

static double error(const struct design *d, struct qs_rng *rng)
{
    return d->skewed ? -log(1 - qs_rng_unit(rng)) - 1 : coverage_normal(rng);
}

static void draw(const struct design *d, double factor, struct qs_rng *rng, struct side *s)
{
    for (size_t j = 0; j < d->k; j++) {
        double a = d->between * error(d, rng), x = error(d, rng);
        s->off[j] = j * d->n;
        for (size_t i = 0; i < d->n; i++) {
            s->v[j * d->n + i] = factor * (CENTRE + a + x);
            x = d->phi * x + sqrt(1 - d->phi * d->phi) * error(d, rng);
        }
        s->mean[j] = 0;
        for (size_t i = 0; i < d->n; i++)
            s->mean[j] += s->v[j * d->n + i] / (double)d->n;
        (void)qs_median(s->v + j * d->n, d->n, &s->median[j]);
    }
    s->off[d->k] = d->k * d->n;
    s->runs = (struct qs_nested){.v = s->v, .off = s->off, .k = d->k};
}

struct question {
    const struct design *d;
    const struct side *x, *y;
    size_t resamples, stream;
};

static enum qs_status pooled_mean(const struct question *q, struct qs_ci *ci)
{
    return qs_mean_ci(q->x->v, q->d->k * q->d->n, NAN, LEVEL, ci);
}

static enum qs_status over_runs(const struct question *q, struct qs_ci *ci)
{
    return qs_hier_ci(&q->x->runs, LEVEL, ci);
}

static enum qs_status eq5(const struct question *q, struct qs_ci *ci)
{
    struct qs_kalibera2005 k;
    enum qs_status status = qs_hier_kalibera2005(&q->x->runs, LEVEL, &k);
    *ci = k.ci_t;
    return status;
}

static enum qs_status pooled_ratio(const struct question *q, struct qs_ci *ci)
{
    struct qs_ratio_test t;
    size_t n = q->d->k * q->d->n;
    enum qs_status status = qs_log_welch(q->x->v, n, q->y->v, n, LEVEL, &t);
    *ci = t.ci;
    return status;
}

static enum qs_status log_welch(const struct question *q, struct qs_ci *ci)
{
    struct qs_ratio_test t;
    enum qs_status status = qs_log_welch(q->x->median, q->d->k, q->y->median, q->d->k, LEVEL, &t);
    *ci = t.ci;
    return status;
}

static enum qs_status fieller(const struct question *q, struct qs_ci *ci)
{
    struct qs_fieller f;
    enum qs_status status = qs_fieller(q->x->mean, q->d->k, q->y->mean, q->d->k, LEVEL, &f);
    *ci = f.ci;
    return status;
}

static enum qs_status hodges_lehmann(const struct question *q, struct qs_ci *ci)
{
    struct qs_hl h;
    enum qs_status status =
        qs_hl_ratio(q->x->median, q->d->k, q->y->median, q->d->k, LEVEL, QS_RANKS_AUTO, NULL, &h);
    *ci = h.ci;
    return status;
}

static enum qs_status bootstrap(const struct question *q, struct qs_ci *ci)
{
    struct qs_tree x = qs_nested_tree(&q->x->runs), y = qs_nested_tree(&q->y->runs);
    struct qs_hier_boot_opts opts = {
        .seed = 1, .stream = q->stream, .resamples = q->resamples, .level = LEVEL};
    struct qs_hier_boot b;
    enum qs_status status = qs_hier_boot_ratio(&x, &y, &opts, &b);
    *ci = b.ci;
    return status;
}

static const struct method {
    const char *name;
    enum qs_status (*interval)(const struct question *q, struct qs_ci *ci);
    bool is_ratio;
} methods[] = {
    {"mean: t of all iterations", pooled_mean, false},
    {"mean: t of run means", over_runs, false},
    {"mean: Kalibera et al. 2005, eq. 5 with t", eq5, false},
    {"ratio: log-Welch of all iterations", pooled_ratio, true},
    {"ratio: log-Welch of run medians", log_welch, true},
    {"ratio: Fieller of run means", fieller, true},
    {"ratio: Hodges-Lehmann of run medians", hodges_lehmann, true},
    {"ratio: hierarchical bootstrap", bootstrap, true},
};
enum { METHODS = sizeof methods / sizeof *methods };

/* Repetitions that have an interval, and those whose interval holds the truth; the same samples for each
 * method. */
static void count(const struct design *d, size_t index, const struct method *m, size_t repetitions,
                  size_t resamples, size_t *had, size_t *held)
{
    static struct side x, y;
    struct qs_rng rng;
    double truth = m->is_ratio ? FACTOR : CENTRE;
    qs_rng_seed(&rng, 2005, index);
    *had = *held = 0;
    for (size_t r = 0; r < repetitions; r++) {
        struct question q = {d, &x, &y, resamples, r};
        struct qs_ci ci;
        draw(d, 1, &rng, &x);
        draw(d, FACTOR, &rng, &y);
        if (m->interval(&q, &ci) != QS_OK)
            continue;
        (*had)++;
        *held += ci.lo <= truth && truth <= ci.hi;
    }
}

void coverage_print_runs(size_t repetitions, size_t resamples)
{
    printf("\n| interval |");
    for (size_t k = 0; k < DESIGNS; k++)
        printf(" %s |", designs[k].name);
    printf("\n|---|");
    for (size_t k = 0; k < DESIGNS; k++)
        printf("---|");
    for (size_t i = 0; i < METHODS; i++) {
        printf("\n| %s |", methods[i].name);
        for (size_t k = 0; k < DESIGNS; k++) {
            size_t had, held;
            count(&designs[k], k, &methods[i], repetitions, resamples, &had, &held);
            if (had > 0)
                printf(" %.1f |", 100 * (double)held / (double)had);
            else
                printf(" - |");
            (void)fflush(stdout);
        }
    }
    printf("\n");
}
