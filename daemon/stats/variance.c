#include "stats/variance.h"

#include <math.h>
#include <stdlib.h>

#include "stats/special.h"
#include "stats/sum.h"

/* Both arguments of the beta function's variable, from the side that keeps its digits. */
double qs_pf(double f, double df1, double df2)
{
    if (isnan(f) || !(df1 > 0) || !(df2 > 0))
        return NAN;
    if (!(f > 0))
        return 0;
    if (isinf(f))
        return 1;
    double u = df1 * f;
    return u < df2 ? qs_pbeta(u / (u + df2), df1 / 2, df2 / 2)
                   : 1 - qs_pbeta(df2 / (u + df2), df2 / 2, df1 / 2);
}

double qs_pf_upper(double f, double df1, double df2)
{
    if (isnan(f) || !(df1 > 0) || !(df2 > 0))
        return NAN;
    return f > 0 ? qs_pf(1 / f, df2, df1) : 1;
}

/* Bisection on ln F in the tail that is the smaller one, where the probability keeps its digits. */
double qs_qf(double p, double df1, double df2)
{
    if (!(p > 0 && p < 1) || !(df1 > 0) || !(df2 > 0))
        return NAN;
    if (p > 0.5)
        return 1 / qs_qf(1 - p, df2, df1);
    double lo = -1, hi = 1;
    while (qs_pf(exp(lo), df1, df2) > p && lo > -700)
        lo *= 2;
    while (qs_pf(exp(hi), df1, df2) < p && hi < 700)
        hi *= 2;
    for (int i = 0; i < 100 && hi - lo > 1e-14 * fmax(1, fabs(lo)); i++) {
        double mid = lo + (hi - lo) / 2;
        if (qs_pf(exp(mid), df1, df2) < p)
            lo = mid;
        else
            hi = mid;
    }
    return exp(lo);
}

static struct qs_var_test no_test(double level)
{
    return (struct qs_var_test){
        .f = NAN, .df = {NAN, NAN}, .p = NAN, .ci = qs_ci_none(level), .larger_over_less = NAN};
}

enum qs_status qs_var_test(const double *x, size_t nx, const double *y, size_t ny, double level,
                           struct qs_var_test *out)
{
    struct qs_moments m[2];
    *out = no_test(level);
    enum qs_status status = qs_moments_of_two(x, nx, y, ny, m);
    if (status != QS_OK || !(level > 0 && level < 1))
        return status == QS_ENODATA ? status : QS_EDOM;
    if (nx < 2 || ny < 2)
        return QS_ETOOFEW;
    double vx = m[0].var, vy = m[1].var, dx = (double)nx - 1, dy = (double)ny - 1;
    if (!(vx > 0) && !(vy > 0))
        return QS_EDEGENERATE;
    out->f = vy / vx;
    out->df[0] = dy;
    out->df[1] = dx;
    out->p = fmin(1, 2 * fmin(qs_pf(out->f, dy, dx), qs_pf_upper(out->f, dy, dx)));
    out->larger_over_less = fmax(vx, vy) / fmin(vx, vy);
    if (vx > 0 && vy > 0) {
        out->ci.lo = out->f / qs_qf((1 + level) / 2, dy, dx);
        out->ci.hi = out->f / qs_qf((1 - level) / 2, dy, dx);
    }
    return QS_OK;
}

struct model {
    const struct qs_nested *data;
    double *mean; /* owned: of each run */
    double ss_within, values;
};

static double size_of(const struct model *m, size_t j)
{
    return (double)(m->data->off[j + 1] - m->data->off[j]);
}

/* What is estimated where the variance between runs is `ratio` times that within; -2 ln of the restricted
 * likelihood but for a constant. */
static double fit(const struct model *m, double ratio, struct qs_reml *out)
{
    struct qs_acc weights = {0}, sum = {0}, squares = {0}, logs = {0};
    for (size_t j = 0; j < m->data->k; j++) {
        double n = size_of(m, j), w = n / (1 + n * ratio);
        qs_acc_add(&weights, w);
        qs_acc_add(&sum, w * (m->mean[j] - m->mean[0]));
        qs_acc_add(&logs, log1p(n * ratio));
    }
    double total = qs_acc_value(&weights), mean = m->mean[0] + qs_acc_value(&sum) / total;
    for (size_t j = 0; j < m->data->k; j++) {
        double n = size_of(m, j);
        qs_acc_add(&squares, n / (1 + n * ratio) * pow(m->mean[j] - mean, 2));
    }
    double within = (m->ss_within + qs_acc_value(&squares)) / (m->values - 1);
    *out = (struct qs_reml){ratio * within, within, mean, sqrt(within / total)};
    return (m->values - 1) * log(within) + qs_acc_value(&logs) + log(total);
}

/* The likelihood has one maximum in the ratio; golden section of ratio/(1 + ratio). */
static void search(const struct model *m, struct qs_reml *out)
{
    const double golden = (sqrt(5) - 1) / 2;
    double lo = 0, hi = 1 - 1e-12, a = hi - golden * hi, b = golden * hi;
    struct qs_reml at;
    double fa = fit(m, a / (1 - a), &at), fb = fit(m, b / (1 - b), &at);
    while (hi - lo > 1e-10) {
        if (fa <= fb) {
            hi = b;
            b = a;
            fb = fa;
            a = hi - golden * (hi - lo);
            fa = fit(m, a / (1 - a), &at);
        } else {
            lo = a;
            a = b;
            fa = fb;
            b = lo + golden * (hi - lo);
            fb = fit(m, b / (1 - b), &at);
        }
    }
    double middle = (lo + hi) / 2, best = fit(m, middle / (1 - middle), out);
    if (fit(m, 0, &at) <= best)
        *out = at;
}

enum qs_status qs_reml(const struct qs_nested *data, struct qs_reml *out)
{
    struct qs_varcomp moments;
    *out = (struct qs_reml){NAN, NAN, NAN, NAN};
    enum qs_status status = qs_varcomp(data, &moments);
    if (status != QS_OK)
        return status;
    if (!(moments.ms_within > 0))
        return QS_EDEGENERATE;
    struct model m = {.data = data,
                      .mean = calloc(data->k, sizeof *m.mean),
                      .ss_within = moments.ms_within * (double)(moments.n - moments.k),
                      .values = (double)moments.n};
    if (!m.mean)
        return QS_ENOMEM;
    for (size_t j = 0; j < data->k; j++) {
        struct qs_moments run;
        (void)qs_moments(data->v + data->off[j], data->off[j + 1] - data->off[j],
                         &run); /* qs_varcomp looked */
        m.mean[j] = run.mean;
    }
    search(&m, out);
    free(m.mean);
    return QS_OK;
}
