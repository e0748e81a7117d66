#include "stats/reml.h"

#include "stats/sum.h"

#include <math.h>
#include <stdlib.h>

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
