#include "stats/pelt.h"

#include "stats/describe.h"
#include "stats/sum.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { STEPS_A_LOOK = 256 };

struct qs_pelt_opts qs_pelt_opts_default(void)
{
    return (struct qs_pelt_opts){.penalty = NAN};
}

/* What is known about the first t values; a is a place where the last segment may start. */
struct pelt {
    size_t n, least;
    double penalty, floor; /* of variances: what is below is raised to it */
    bool only_zero;        /* only what is not positive */
    double *s1, *s2;       /* owned, as all below: sums of values and of squares, n+1 */
    double *f;             /* best cost of the first t values, n+1 */
    size_t *from;          /* the start of their last segment, n+1 */
    size_t *open;          /* places that are still candidates */
    size_t *closes;        /* and from which t on each is none */
    size_t n_open;
};

static double cost(const struct pelt *p, size_t a, size_t t)
{
    const double ln_2pi = 1.8378770664093454836;
    double m = (double)(t - a), s1 = p->s1[t] - p->s1[a], s2 = p->s2[t] - p->s2[a];
    double v = (s2 - s1 * (s1 / m)) / m;
    if (p->only_zero ? !(v > 0) : !(v > p->floor))
        v = p->floor;
    return m * (ln_2pi + log(v) + 1);
}

static void pelt_free(struct pelt *p)
{
    free(p->s1);
    free(p->s2);
    free(p->f);
    free(p->from);
    free(p->open);
    free(p->closes);
}

static bool pelt_alloc(struct pelt *p)
{
    size_t k = p->n + 1;
    p->s1 = calloc(k, sizeof *p->s1);
    p->s2 = calloc(k, sizeof *p->s2);
    p->f = calloc(k, sizeof *p->f);
    p->from = calloc(k, sizeof *p->from);
    p->open = calloc(k, sizeof *p->open);
    p->closes = calloc(k, sizeof *p->closes);
    return p->s1 && p->s2 && p->f && p->from && p->open && p->closes;
}

static void load(struct pelt *p, const double *x, double location, double scale)
{
    struct qs_acc s1 = {0}, s2 = {0};
    for (size_t i = 0; i < p->n; i++) {
        double z = (x[i] - location) / scale;
        qs_acc_add(&s1, z);
        qs_acc_add(&s2, z * z);
        p->s1[i + 1] = qs_acc_value(&s1);
        p->s2[i + 1] = qs_acc_value(&s2);
    }
}

static void open_place(struct pelt *p, size_t a)
{
    p->open[p->n_open] = a;
    p->closes[p->n_open++] = SIZE_MAX;
}

/* The best last segment of the first t values. A place that t beats is closed as soon as t is a candidate. */
static void step(struct pelt *p, size_t t)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->n_open; i++)
        if (p->closes[i] > t) {
            p->open[kept] = p->open[i];
            p->closes[kept++] = p->closes[i];
        }
    p->n_open = kept;
    p->f[t] = INFINITY;
    for (size_t i = 0; i < p->n_open && p->open[i] + p->least <= t; i++) {
        double f = p->f[p->open[i]] + cost(p, p->open[i], t) + p->penalty;
        if (f < p->f[t]) {
            p->f[t] = f;
            p->from[t] = p->open[i];
        }
    }
    for (size_t i = 0; i < p->n_open && p->open[i] + p->least <= t; i++)
        if (p->closes[i] == SIZE_MAX && p->f[p->open[i]] + cost(p, p->open[i], t) > p->f[t])
            p->closes[i] = t + p->least;
    open_place(p, t);
}

static void trace(const struct pelt *p, size_t *changes, size_t *count)
{
    size_t k = 0;
    for (size_t t = p->n; p->from[t] > 0; t = p->from[t])
        changes[k++] = p->from[t];
    for (size_t i = 0; i < k / 2; i++) {
        size_t other = changes[i];
        changes[i] = changes[k - 1 - i];
        changes[k - 1 - i] = other;
    }
    *count = k;
}

static enum qs_status segment(struct pelt *p, const struct qs_progress *progress, size_t *changes,
                              size_t *count)
{
    p->f[0] = -p->penalty;
    open_place(p, 0);
    for (size_t t = p->least; t <= p->n; t++) {
        double share = (double)t / (double)p->n;
        if (t % STEPS_A_LOOK == 0 && !qs_progress_go_on(progress, share * share)) /* steps grow with t */
            return QS_ECANCELED;
        step(p, t);
    }
    trace(p, changes, count);
    return QS_OK;
}

static size_t default_least(size_t n)
{
    size_t share = n / 100 + (n % 100 > 0);
    return share > 5 ? share : 5;
}

enum qs_status qs_pelt(const double *x, size_t n, const struct qs_pelt_opts *opts, size_t *changes,
                       size_t *count)
{
    struct qs_summary s;
    *count = 0;
    if (opts->penalty < 0 || isinf(opts->penalty) || opts->least == 1 || !(opts->resolution >= 0) ||
        isinf(opts->resolution))
        return QS_EDOM;
    enum qs_status status = qs_describe(x, n, &s);
    if (status != QS_OK)
        return status;
    if (n < 2)
        return QS_ETOOFEW;
    struct pelt p = {
        .n = n, .least = opts->least > 0 ? opts->least : default_least(n), .only_zero = opts->raw};
    if (!(s.min < s.max) || p.least > n)
        return QS_OK;
    p.penalty = isnan(opts->penalty) ? 15 * log((double)n) : opts->penalty;
    double tick = opts->resolution / s.scale;
    p.floor = opts->raw ? 1e-11 : fmax(1e-10, tick * tick / 12);
    status = QS_ENOMEM;
    if (pelt_alloc(&p)) {
        load(&p, x, s.median, opts->raw ? 1 : s.scale);
        status = segment(&p, &opts->progress, changes, count);
    }
    pelt_free(&p);
    return status;
}
