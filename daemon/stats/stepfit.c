#include "stats/stepfit.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "stats/describe.h"
#include "stats/pick.h"
#include "stats/ranks.h"
#include "stats/sum.h"

const char *qs_step_kind_name(enum qs_step_kind kind)
{
    static const char *const names[QS_STEP_KINDS] = {"original", "absolute",  "percent",     "percent-median",
                                                     "cohen",    "stepiness", "mann-whitney"};
    return (unsigned)kind < QS_STEP_KINDS ? names[kind] : "unknown";
}

struct halves {
    const double *v[2];
    struct qs_moments m[2];
    double n[2], sse[2]; /* values; squares about the half's own mean */
    double sse_all;
    const struct qs_stepfit_opts *opts;
};

static double squares(const struct qs_moments *m)
{
    return m->n > 1 ? m->var * (double)(m->n - 1) : 0;
}

/* Squares about the mean of all from those about the halves' own means. */
static void join(struct halves *h)
{
    for (int i = 0; i < 2; i++) {
        h->n[i] = (double)h->m[i].n;
        h->sse[i] = squares(&h->m[i]);
    }
    double n = h->n[0] + h->n[1], d = h->m[1].mean - h->m[0].mean;
    h->sse_all = h->sse[0] + h->sse[1] + d * d * h->n[0] * h->n[1] / n;
}

static double difference(const struct halves *h)
{
    return h->m[0].mean - h->m[1].mean;
}

/* Upstream normalises first by the sd with denominator n; here only its result is scaled. */
static enum qs_status original(const struct halves *h, struct qs_stepfit *out)
{
    double n = h->n[0] + h->n[1], sd = sqrt(h->sse_all / n), unit = sd > h->opts->sd_min ? sd : 1;
    out->step = difference(h) / unit;
    out->lse = sqrt(h->sse[0] + h->sse[1]) / unit / n;
    out->regression = out->step / fmax(out->lse, h->opts->sd_min);
    return QS_OK;
}

static enum qs_status absolute(const struct halves *h, struct qs_stepfit *out)
{
    out->step = out->regression = difference(h);
    return QS_OK;
}

static enum qs_status percent_of(double y0, double y1, struct qs_stepfit *out)
{
    double step = (y0 - y1) / y0;
    if (isnan(step))
        step = 0;
    else if (isinf(step))
        step = copysign(FLT_MAX, y0 - y1);
    out->step = out->regression = step;
    return QS_OK;
}

static enum qs_status percent(const struct halves *h, struct qs_stepfit *out)
{
    return percent_of(h->m[0].mean, h->m[1].mean, out);
}

static enum qs_status percent_median(const struct halves *h, struct qs_stepfit *out)
{
    double y[2];
    for (int i = 0; i < 2; i++) {
        enum qs_status status = qs_median(h->v[i], h->m[i].n, &y[i]);
        if (status != QS_OK)
            return status;
    }
    return percent_of(y[0], y[1], out);
}

static enum qs_status cohen(const struct halves *h, struct qs_stepfit *out)
{
    if (h->n[0] + h->n[1] < 4)
        return QS_ETOOFEW;
    double sd = 0;
    for (int i = 0; i < 2; i++)
        sd += h->m[i].n > 1 ? sqrt(h->m[i].var) / 2 : 0;
    out->step = out->regression = difference(h) / fmax(sd, h->opts->sd_min);
    return QS_OK;
}

static enum qs_status stepiness(const struct halves *h, struct qs_stepfit *out)
{
    double share = h->sse_all > 0 ? (h->sse[0] + h->sse[1]) / h->sse_all : 1;
    out->step = difference(h);
    out->regression = copysign(1 - sqrt(fmin(share, 1)), out->step);
    return QS_OK;
}

static enum qs_status mann_whitney(const struct halves *h, struct qs_stepfit *out)
{
    struct qs_mwu mwu;
    enum qs_status status = qs_mwu(h->v[0], h->m[0].n, h->v[1], h->m[1].n, QS_RANKS_AUTO, &mwu);
    if (status != QS_OK)
        return status;
    out->step = difference(h);
    out->regression = mwu.p;
    out->lse = mwu.u;
    return QS_OK;
}

static void judge(const struct qs_stepfit_opts *opts, struct qs_stepfit *out)
{
    bool is_p = opts->kind == QS_STEP_MANN_WHITNEY;
    double size = fabs(out->regression);
    if (is_p ? size <= opts->interesting : size >= opts->interesting) {
        if (out->step > 0)
            out->status = QS_STEP_LOW;
        else if (out->step < 0)
            out->status = QS_STEP_HIGH;
    }
}

enum qs_status qs_stepfit_halves(const double *x, size_t nx, const double *y, size_t ny,
                                 const struct qs_stepfit_opts *opts, struct qs_stepfit *out)
{
    static enum qs_status (*const kinds[QS_STEP_KINDS])(const struct halves *, struct qs_stepfit *) = {
        original, absolute, percent, percent_median, cohen, stepiness, mann_whitney};
    const struct qs_stepfit nothing = {.step = NAN, .regression = NAN, .lse = NAN};
    struct halves h = {.v = {x, y}, .opts = opts};
    *out = nothing;
    if ((unsigned)opts->kind >= QS_STEP_KINDS || !(opts->sd_min > 0) || !(opts->interesting >= 0))
        return QS_EDOM;
    enum qs_status status = qs_moments_of_two(x, nx, y, ny, h.m);
    if (status != QS_OK)
        return status;
    join(&h);
    status = kinds[opts->kind](&h, out);
    if (status == QS_OK)
        judge(opts, out);
    else
        *out = nothing;
    return status;
}

enum qs_status qs_stepfit(const double *trace, size_t n, const struct qs_stepfit_opts *opts,
                          struct qs_stepfit *out)
{
    *out = (struct qs_stepfit){.step = NAN, .regression = NAN, .lse = NAN};
    if (n < 3)
        return n == 0 ? QS_ENODATA : QS_ETOOFEW;
    if (opts->kind != QS_STEP_ORIGINAL)
        n--;
    return qs_stepfit_halves(trace, n / 2, trace + n / 2, n - n / 2, opts, out);
}

struct qs_perfherder_opts qs_perfherder_opts_default(void)
{
    return (struct qs_perfherder_opts){.min_back = 12, .max_back = 24, .fore = 12, .t_limit = 7};
}

struct window {
    double mean, var;
    size_t n;
};

/* n values from x[0] on in steps of `step`, the nearest first. */
static struct window weigh(const double *x, size_t n, ptrdiff_t step)
{
    struct qs_acc sum = {0}, squares = {0};
    double weights = 0, dn = (double)n;
    for (size_t j = 0; j < n; j++) {
        double w = (dn - (double)j) / dn;
        qs_acc_add(&sum, w * (x[step * (ptrdiff_t)j] - x[0]));
        weights += w;
    }
    double mean = x[0] + qs_acc_value(&sum) / weights;
    for (size_t j = 0; j < n; j++) {
        double d = x[step * (ptrdiff_t)j] - mean;
        qs_acc_add(&squares, d * d);
    }
    return (struct window){mean, n > 1 ? qs_acc_value(&squares) / (dn - 1) : 0, n};
}

static double t_between(const struct window *a, const struct window *b)
{
    double d = fabs(b->mean - a->mean), var = a->var / (double)a->n + b->var / (double)b->n;
    if (!(d > 0))
        return 0;
    return var > 0 ? d / sqrt(var) : INFINITY;
}

static size_t clamp(size_t x, size_t lo, size_t hi)
{
    return qs_more(lo, qs_less(hi, x));
}

static void find(const double *t, size_t n, const struct qs_perfherder_opts *opts, size_t *changes,
                 size_t *count)
{
    for (size_t i = opts->min_back; i < n && n - i >= opts->fore; i++) {
        bool beaten = t[i - 1] > t[i] || (i + 1 < n && t[i + 1] > t[i]);
        if (t[i] > opts->t_limit && !beaten)
            changes[(*count)++] = i;
    }
}

enum qs_status qs_perfherder(const double *x, size_t n, const struct qs_perfherder_opts *opts, double *t,
                             size_t *changes, size_t *count)
{
    *count = 0;
    if (opts->min_back < 1 || opts->max_back < opts->min_back || opts->fore < 1 || !(opts->t_limit >= 0))
        return QS_EDOM;
    enum qs_status status = qs_check_values(x, n, 1);
    if (status != QS_OK)
        return status;
    size_t quiet = 0; /* points since t last passed the limit */
    t[0] = 0;
    for (size_t i = 1; i < n; i++) {
        size_t back = clamp(quiet, opts->min_back, opts->max_back);
        struct window before = weigh(x + i - 1, qs_less(back, i), -1);
        struct window after = weigh(x + i, qs_less(opts->fore, n - i), 1);
        t[i] = t_between(&before, &after);
        quiet = t[i] > opts->t_limit ? 0 : quiet + 1;
    }
    find(t, n, opts, changes, count);
    return QS_OK;
}
