#include "stats/hier.h"

#include "stats/interval.h"
#include "stats/sum.h"

#include <stdint.h>
#include <stdlib.h>

static enum qs_status check(const struct qs_nested *data)
{
    if (data->k == 0)
        return QS_ENODATA;
    for (size_t j = 0; j < data->k; j++)
        if (data->off[j + 1] <= data->off[j])
            return QS_ENODATA;
    return QS_OK;
}

/* What the runs say, relative to the grand mean: digits common to all values are gone before anything is
 * squared (NIST SmLs07 has twelve of them). */
struct sums {
    double within;  /* sum of squares about the run means */
    double between; /* sum n_j (mean_j - grand)^2 */
    double squares; /* sum n_j^2 */
    double *means;  /* owned: mean_j - grand */
};

static enum qs_status add_run(struct sums *s, size_t j, const double *x, size_t n, double grand,
                              struct qs_acc acc[2])
{
    struct qs_moments m;
    enum qs_status status = qs_moments(x, n, &m);
    if (status != QS_OK)
        return status;
    struct qs_acc shift = {0};
    for (size_t i = 0; i < n; i++)
        qs_acc_add(&shift, x[i] - grand);
    double count = (double)n, mean = qs_acc_value(&shift) / count;
    s->means[j] = mean;
    s->squares += count * count;
    qs_acc_add(&acc[0], n > 1 ? m.var * (count - 1) : 0);
    qs_acc_add(&acc[1], count * mean * mean);
    return QS_OK;
}

static enum qs_status gather(const struct qs_nested *data, double grand, struct sums *s)
{
    struct qs_acc acc[2] = {{0, 0}, {0, 0}};
    struct qs_acc total = {0};
    size_t n = data->off[data->k] - data->off[0];
    enum qs_status status = QS_OK;
    for (size_t j = 0; j < data->k && status == QS_OK; j++) {
        size_t n_j = data->off[j + 1] - data->off[j];
        status = add_run(s, j, data->v + data->off[j], n_j, grand, acc);
        qs_acc_add(&total, (double)n_j * s->means[j]);
    }
    /* The grand mean was rounded; what it missed is taken off here. */
    double rest = qs_acc_value(&total);
    s->within = qs_acc_value(&acc[0]);
    s->between = fmax(0, qs_acc_value(&acc[1]) - rest * (rest / (double)n));
    return status;
}

static void components(struct qs_varcomp *out, const struct sums *s)
{
    double k = (double)out->k, n = (double)out->n;
    if (out->k < 2)
        return;
    out->n0 = (n - s->squares / n) / (k - 1);
    out->ms_between = s->between / (k - 1);
    if (out->n == out->k)
        return;
    out->ms_within = s->within / (n - k);
    if (out->ms_within > 0 || out->ms_between > 0)
        out->f = out->ms_between / out->ms_within;
    out->t1 = out->ms_within;
    out->t2 = (out->ms_between - out->ms_within) / out->n0;
    if (!(out->t2 > 0)) {
        out->flags |= QS_FLAG_CLAMPED;
        out->t2 = 0;
    }
    if (out->t1 + out->t2 > 0)
        out->icc = out->t2 / (out->t1 + out->t2);
}

static enum qs_status fill(const struct qs_nested *data, double grand, struct qs_varcomp *out)
{
    struct sums s = {0};
    s.means = data->k > SIZE_MAX / sizeof *s.means ? NULL : calloc(data->k, sizeof *s.means);
    if (!s.means)
        return QS_ENOMEM;
    enum qs_status status = gather(data, grand, &s);
    struct qs_moments m;
    if (status == QS_OK)
        status = qs_moments(s.means, data->k, &m);
    if (status == QS_OK) {
        out->mean_of_means = grand + m.mean;
        out->s2_means = m.var;
        components(out, &s);
        if (out->k < 2 || out->n == out->k)
            status = QS_ETOOFEW;
    }
    free(s.means);
    return status;
}

enum qs_status qs_varcomp(const struct qs_nested *data, struct qs_varcomp *out)
{
    *out = (struct qs_varcomp){.k = data->k,
                               .n0 = NAN,
                               .ms_between = NAN,
                               .ms_within = NAN,
                               .f = NAN,
                               .t1 = NAN,
                               .t2 = NAN,
                               .icc = NAN,
                               .grand_mean = NAN,
                               .mean_of_means = NAN,
                               .s2_means = NAN};
    enum qs_status status = check(data);
    if (status != QS_OK)
        return status;
    struct qs_moments all;
    out->n = data->off[data->k] - data->off[0];
    status = qs_moments(data->v + data->off[0], out->n, &all);
    if (status != QS_OK)
        return status;
    out->grand_mean = all.mean;
    return fill(data, all.mean, out);
}

enum qs_status qs_hier_ci(const struct qs_nested *data, double level, struct qs_ci *out)
{
    struct qs_varcomp vc;
    *out = qs_ci_none(level);
    if (!(level > 0 && level < 1))
        return QS_EDOM;
    enum qs_status status = qs_varcomp(data, &vc);
    if (status == QS_ETOOFEW && data->k >= 2)
        status = QS_OK; /* one value a run: no components, but an interval */
    if (status == QS_OK)
        *out = qs_t_interval(vc.mean_of_means, sqrt(vc.s2_means), (double)data->k, level);
    return status;
}
