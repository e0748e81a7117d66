#include "stats/ratio.h"

#include "stats/describe.h"
#include "stats/interval.h"
#include "stats/sum.h"

#include <math.h>

static double divide(double a, double b)
{
    return b > 0 || b < 0 ? a / b : NAN;
}

static double half_width(const struct qs_moments *m, double level)
{
    struct qs_ci ci = qs_t_interval(0, sqrt(m->var), (double)m->n, level);
    return ci.hi;
}

/* All over the baseline's mean. The discriminant is written without the difference of two nearly equal
 * squares: with a = hx/mx, b = hy/mx and r = my/mx it is (r a)^2 + b^2 (1 - a^2). */
static void solve(double a, double b, struct qs_fieller *out)
{
    double lead = (1 - a) * (1 + a), r = out->ratio;
    double root = hypot(r * a, b * sqrt(lead));
    out->ci.lo = (r - root) / lead;
    out->ci.hi = (r + root) / lead;
}

enum qs_status qs_fieller(const double *x, size_t nx, const double *y, size_t ny, double level,
                          struct qs_fieller *out)
{
    struct qs_moments m[2];
    *out = (struct qs_fieller){.ratio = NAN, .ci = qs_ci_none(level)};
    enum qs_status status = qs_moments_of_two(x, nx, y, ny, m);
    if (status != QS_OK || !(level > 0 && level < 1))
        return status == QS_ENODATA ? status : QS_EDOM;
    out->ratio = divide(m[1].mean, m[0].mean);
    if (isnan(out->ratio))
        return QS_EDEGENERATE;
    if (nx < 2 || ny < 2)
        return QS_ETOOFEW;
    double hx = half_width(&m[0], level), hy = half_width(&m[1], level), base = fabs(m[0].mean);
    if (!(base > hx))
        return QS_EDEGENERATE;
    if (!(hx > 0) && !(hy > 0))
        out->ci.flags |= QS_FLAG_EXACT;
    solve(hx / base, hy / base, out);
    return QS_OK;
}

enum qs_status qs_point_ratios(const double *x, size_t nx, const double *y, size_t ny,
                               struct qs_point_ratios *out)
{
    struct qs_moments m[2];
    double median[2];
    *out = (struct qs_point_ratios){.minima = NAN, .medians = NAN, .means = NAN};
    enum qs_status status = qs_moments_of_two(x, nx, y, ny, m);
    if (status == QS_OK)
        status = qs_median(x, nx, &median[0]);
    if (status == QS_OK)
        status = qs_median(y, ny, &median[1]);
    if (status == QS_OK)
        *out = (struct qs_point_ratios){.minima = divide(m[1].min, m[0].min),
                                        .medians = divide(median[1], median[0]),
                                        .means = divide(m[1].mean, m[0].mean)};
    return status;
}
