#include "stats/variance.h"

#include "stats/special.h"
#include "stats/sum.h"

#include <math.h>

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
