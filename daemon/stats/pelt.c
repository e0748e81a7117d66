#include "stats/pelt.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "stats/describe.h"
#include "stats/pick.h"
#include "stats/sum.h"

struct search {
    size_t n, least; /* values; in a segment, 1 <= least <= n */
    double penalty;
    double (*cost)(const void *model, size_t from, size_t end); /* of the values from .. end-1 */
    const void *model;
    const struct qs_progress *progress;
};

/* changes has room for n/least. QS_ENOMEM, QS_ECANCELED. */
static enum qs_status find_segments(const struct search *search, size_t *changes, size_t *count);

struct qs_pelt_opts qs_pelt_opts_default(void)
{
    return (struct qs_pelt_opts){.penalty = NAN};
}

/* --- normal mean and variance --------------------------------------------------------------------------- */

struct normal {
    double *s1, *s2; /* owned: sums of the first i values and of their squares, n+1 */
    double floor;    /* of variances: what is below is raised to it */
    bool only_zero;  /* only what is not positive */
};

static double normal_cost(const void *model, size_t from, size_t end)
{
    const double ln_2pi = 1.8378770664093454836;
    const struct normal *p = model;
    double m = (double)(end - from), s1 = p->s1[end] - p->s1[from], s2 = p->s2[end] - p->s2[from];
    double v = (s2 - s1 * (s1 / m)) / m;
    if (p->only_zero ? !(v > 0) : !(v > p->floor))
        v = p->floor;
    return m * (ln_2pi + log(v) + 1);
}

static bool normal_init(struct normal *p, const double *x, size_t n, double location, double scale)
{
    struct qs_acc s1 = {0}, s2 = {0};
    p->s1 = calloc(n + 1, sizeof *p->s1);
    p->s2 = calloc(n + 1, sizeof *p->s2);
    if (!p->s1 || !p->s2)
        return false;
    for (size_t i = 0; i < n; i++) {
        double z = (x[i] - location) / scale;
        qs_acc_add(&s1, z);
        qs_acc_add(&s2, z * z);
        p->s1[i + 1] = qs_acc_value(&s1);
        p->s2[i + 1] = qs_acc_value(&s2);
    }
    return true;
}

static size_t default_least(size_t n)
{
    return qs_more(5, (n + 99) / 100);
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
    struct normal model = {.only_zero = opts->raw};
    struct search search = {.n = n,
                            .least = opts->least > 0 ? opts->least : default_least(n),
                            .penalty = isnan(opts->penalty) ? 15 * log((double)n) : opts->penalty,
                            .cost = normal_cost,
                            .model = &model,
                            .progress = &opts->progress};
    if (!(s.min < s.max) || search.least > n)
        return QS_OK;
    double tick = opts->resolution / s.scale;
    model.floor = opts->raw ? 1e-11 : fmax(1e-10, tick * tick / 12);
    bool ready = normal_init(&model, x, n, s.median, opts->raw ? 1 : s.scale);
    status = ready ? find_segments(&search, changes, count) : QS_ENOMEM;
    free(model.s1);
    free(model.s2);
    return status;
}

/* Of values in units of their scale. */
static double mean_cost(const void *model, size_t from, size_t end)
{
    const struct normal *p = model;
    double m = (double)(end - from), sum = p->s1[end] - p->s1[from];
    return fmax(0, p->s2[end] - p->s2[from] - sum * sum / m) + log(m);
}

enum qs_status qs_pelt_mean(const double *x, size_t n, const struct qs_progress *progress, size_t *changes,
                            size_t *count)
{
    struct qs_summary s;
    *count = 0;
    enum qs_status status = qs_describe(x, n, &s);
    if (status != QS_OK || n < 2 || !(s.min < s.max))
        return status == QS_OK && n < 2 ? QS_ETOOFEW : status;
    struct normal model = {0};
    const struct search search = {.n = n,
                                  .least = 1,
                                  .penalty = 3 * log((double)n),
                                  .cost = mean_cost,
                                  .model = &model,
                                  .progress = progress};
    bool ready = normal_init(&model, x, n, s.median, s.scale);
    status = ready ? find_segments(&search, changes, count) : QS_ENOMEM;
    free(model.s1);
    free(model.s2);
    return status;
}

/* --- any distribution ----------------------------------------------------------------------------------- */

struct empirical {
    size_t levels; /* quantiles of the whole series */
    double *below; /* owned: of the first i values, how many lie below each, equal ones half; levels (n+1) */
    double weight; /* 2 ln(2n-1)/levels */
};

static double empirical_cost(const void *model, size_t from, size_t end)
{
    const struct empirical *p = model;
    const double *a = p->below + from * p->levels, *b = p->below + end * p->levels;
    double m = (double)(end - from), sum = 0;
    for (size_t i = 0; i < p->levels; i++) {
        double f = (b[i] - a[i]) / m;
        if (f > 0 && f < 1)
            sum += m * (f * log(f) + (1 - f) * log1p(-f));
    }
    return -p->weight * sum;
}

static bool empirical_init(struct empirical *p, const double *x, const double *sorted, size_t n)
{
    double dn = (double)n, k = fmin(dn, ceil(4 * log(dn)));
    p->levels = (size_t)k;
    p->weight = 2 * log(2 * dn - 1) / k;
    p->below = calloc((n + 1) * p->levels, sizeof *p->below);
    if (!p->below)
        return false;
    for (size_t i = 0; i < p->levels; i++) {
        double z = -1 + (2 * (double)i + 1) / k, share = 1 / (1 + pow(2 * dn - 1, -z));
        double q = sorted[(size_t)((dn - 1) * share)];
        for (size_t t = 0; t < n; t++) {
            double one = x[t] < q ? 1 : x[t] > q ? 0 : 0.5;
            p->below[(t + 1) * p->levels + i] = p->below[t * p->levels + i] + one;
        }
    }
    return true;
}

enum qs_status qs_ed_pelt(const double *x, size_t n, size_t least, const struct qs_progress *progress,
                          size_t *changes, size_t *count)
{
    double *sorted;
    *count = 0;
    if (least == 0)
        return QS_EDOM;
    enum qs_status status = qs_sorted_copy(x, n, &sorted);
    if (status != QS_OK)
        return status;
    struct empirical model = {0};
    struct search search = {.n = n,
                            .least = least,
                            .penalty = 3 * log((double)n),
                            .cost = empirical_cost,
                            .model = &model,
                            .progress = progress};
    if (n < 2)
        status = QS_ETOOFEW;
    else if (least <= n)
        status = empirical_init(&model, x, sorted, n) ? find_segments(&search, changes, count) : QS_ENOMEM;
    free(model.below);
    free(sorted);
    return status;
}

enum { STEPS_A_LOOK = 256 };

/* A place where the last segment may start. */
struct place {
    size_t from;
    size_t closes; /* from which end on it may not any more */
    double f;      /* best cost of all that ends at `end`, with this as the start of the last segment */
};

struct state {
    const struct search *s;
    double *f;          /* owned, as all below: best cost of the first t values, n+1 */
    size_t *from;       /* the start of their last segment, n+1 */
    struct place *open; /* n+1 */
    size_t n_open;
};

static void open_place(struct state *p, size_t from)
{
    p->open[p->n_open++] = (struct place){.from = from, .closes = SIZE_MAX};
}

static void drop_closed(struct state *p, size_t end)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->n_open; i++)
        if (p->open[i].closes > end)
            p->open[kept++] = p->open[i];
    p->n_open = kept;
}

/* The best last segment of the first `end` values. A place that `end` beats closes as soon as `end` is one.
 */
static void step(struct state *p, size_t end)
{
    const struct search *s = p->s;
    size_t n = 0;
    drop_closed(p, end);
    p->f[end] = INFINITY;
    for (; n < p->n_open && p->open[n].from + s->least <= end; n++) {
        struct place *a = &p->open[n];
        a->f = p->f[a->from] + s->cost(s->model, a->from, end);
        if (a->f + s->penalty < p->f[end]) {
            p->f[end] = a->f + s->penalty;
            p->from[end] = a->from;
        }
    }
    for (size_t i = 0; i < n; i++)
        if (p->open[i].closes == SIZE_MAX && p->open[i].f > p->f[end])
            p->open[i].closes = end + s->least;
    open_place(p, end);
}

static void trace(const struct state *p, size_t *changes, size_t *count)
{
    size_t k = 0;
    for (size_t t = p->s->n; p->from[t] > 0; t = p->from[t])
        changes[k++] = p->from[t];
    for (size_t i = 0; i < k / 2; i++) {
        size_t other = changes[i];
        changes[i] = changes[k - 1 - i];
        changes[k - 1 - i] = other;
    }
    *count = k;
}

static enum qs_status walk(struct state *p, size_t *changes, size_t *count)
{
    p->f[0] = -p->s->penalty;
    open_place(p, 0);
    for (size_t end = p->s->least; end <= p->s->n; end++) {
        double share = (double)end / (double)p->s->n;
        if (end % STEPS_A_LOOK == 0 && !qs_progress_go_on(p->s->progress, share * share)) /* they grow */
            return QS_ECANCELED;
        step(p, end);
    }
    trace(p, changes, count);
    return QS_OK;
}

static enum qs_status find_segments(const struct search *search, size_t *changes, size_t *count)
{
    size_t room = search->n + 1;
    struct state p = {.s = search,
                      .f = calloc(room, sizeof *p.f),
                      .from = calloc(room, sizeof *p.from),
                      .open = calloc(room, sizeof *p.open)};
    enum qs_status status = p.f && p.from && p.open ? walk(&p, changes, count) : QS_ENOMEM;
    free(p.f);
    free(p.from);
    free(p.open);
    return status;
}
