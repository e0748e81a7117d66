#include "stats/android.h"

#include "stats/normality.h"
#include "stats/special.h"
#include "stats/sum.h"
#include "stats/variance.h"

#include <math.h>

static struct qs_android nothing(double level)
{
    return (struct qs_android){.w = {NAN, NAN},
                               .normal_p = {NAN, NAN},
                               .var_ratio = NAN,
                               .cov = {NAN, NAN},
                               .ci_z = qs_ci_none(level),
                               .sp = NAN};
}

/* Not defined (constant, too many values) is an answer here: the condition does not hold. */
static enum qs_status look_at(const double *v, const struct qs_moments *m, int side, struct qs_android *out)
{
    struct qs_fit fit;
    enum qs_status status = qs_shapiro(v, m->n, &fit);
    if (status == QS_ENOMEM)
        return status;
    out->w[side] = fit.statistic;
    out->normal_p[side] = fit.p;
    out->cov[side] = fabs(m->mean) > 0 ? sqrt(m->var) / fabs(m->mean) : NAN;
    return QS_OK;
}

static void check(struct qs_android *out)
{
    out->enough = out->t.n[0] >= QS_ANDROID_N && out->t.n[1] >= QS_ANDROID_N;
    out->normal = out->normal_p[0] >= QS_ANDROID_NORMAL_P && out->normal_p[1] >= QS_ANDROID_NORMAL_P;
    out->alike = out->var_ratio <= QS_ANDROID_VAR_RATIO;
    out->steady = out->cov[0] <= QS_ANDROID_COV && out->cov[1] <= QS_ANDROID_COV;
    out->holds = out->enough && out->normal && out->alike && out->steady;
}

enum qs_status qs_android(const double *x, size_t nx, const double *y, size_t ny, double level,
                          struct qs_android *out)
{
    struct qs_moments m[2];
    struct qs_var_test v;
    *out = nothing(level);
    enum qs_status status = qs_pooled(x, nx, y, ny, level, &out->t, &out->sp);
    if (status != QS_OK)
        return status;
    (void)qs_moments_of_two(x, nx, y, ny, m);
    if (look_at(x, &m[0], 0, out) != QS_OK || look_at(y, &m[1], 1, out) != QS_OK)
        return QS_ENOMEM;
    if (qs_var_test(x, nx, y, ny, level, &v) == QS_OK)
        out->var_ratio = v.larger_over_less;
    double half = -qs_qnorm((1 - level) / 2) * out->t.se;
    out->ci_z.lo = out->t.diff - half;
    out->ci_z.hi = out->t.diff + half;
    check(out);
    return QS_OK;
}
