#include "stats/hier.h"

#include "stats/interval.h"
#include "stats/special.h"

#include <math.h>

struct qs_tree qs_nested_tree(const struct qs_nested *data)
{
    return (struct qs_tree){.v = data->v, .depth = 1, .off = {data->off}, .count = {data->k}};
}

enum qs_status qs_varcomp(const struct qs_nested *data, struct qs_varcomp *out)
{
    struct qs_components c;
    struct qs_tree tree = qs_nested_tree(data);
    enum qs_status status = qs_tree_components(&tree, &c);
    const struct qs_component *within = &c.level[0], *between = &c.level[1];
    *out = (struct qs_varcomp){.k = data->k,
                               .n = c.n,
                               .n0 = between->size,
                               .ms_between = between->ms,
                               .ms_within = within->ms,
                               .f = between->f,
                               .t1 = within->var,
                               .t2 = between->var,
                               .icc = between->share,
                               .grand_mean = c.grand_mean,
                               .mean_of_means = c.mean,
                               .s2_means = c.s2_top,
                               .flags = between->flags};
    return status;
}

enum qs_status qs_hier_ci(const struct qs_nested *data, double level, struct qs_ci *out)
{
    struct qs_tree tree = qs_nested_tree(data);
    return qs_tree_ci(&tree, level, out);
}

static struct qs_ci around(double mean, double half_width, double level)
{
    return (struct qs_ci){.lo = mean - half_width,
                          .hi = mean + half_width,
                          .level = level,
                          .flags = half_width > 0 ? 0 : QS_FLAG_EXACT};
}

enum qs_status qs_hier_kalibera2005(const struct qs_nested *data, double level, struct qs_kalibera2005 *out)
{
    struct qs_ci none = qs_ci_none(level);
    *out = (struct qs_kalibera2005){
        .mean = NAN, .s2_x = NAN, .s2_a = NAN, .se = NAN, .df = NAN, .ci = none, .ci_t = none};
    if (!(level > 0 && level < 1))
        return QS_EDOM;
    struct qs_components c;
    struct qs_tree tree = qs_nested_tree(data);
    enum qs_status status = qs_tree_components(&tree, &c);
    if (status != QS_OK)
        return status;
    if (!c.balanced)
        return QS_EDOM;
    double k = (double)data->k, n = (double)c.n / k;
    out->mean = c.grand_mean;
    out->s2_x = c.level[0].ms;
    out->s2_a = c.s2_top;
    out->se = sqrt((n * out->s2_a + out->s2_x) / (k * n));
    out->df = k * (n - 1);
    double p = 1 - (1 - level) / 2;
    out->ci = around(out->mean, qs_qnorm(p) * out->se, level);
    out->ci_t = around(out->mean, qs_qt(p, out->df) * out->se, level);
    return QS_OK;
}

double qs_kalibera2005_samples(double s2_x, double s2_a, double w)
{
    if (isnan(s2_x) || isnan(s2_a) || !(w >= 0))
        return NAN;
    return s2_a > 0 ? fmax(1, ceil(sqrt(w * s2_x / s2_a))) : INFINITY;
}
