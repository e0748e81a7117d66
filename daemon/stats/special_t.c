#include "stats/special.h"
#include "stats/special_parts.h"

#include <math.h>

/* Beyond this the continued fraction takes too many terms and a normal with its first correction is exact. */
static const double DF_NORMAL = 1e10;

/* AMS 26.7.8: z such that P(T <= t) is Phi(z), for huge df. */
static double normal_equivalent(double t, double df)
{
    return isinf(df) ? t : t * (1 - 0.25 / df) / sqrt(1 + t * t / (2 * df));
}

/* P(|T| >= t), t >= 0 */
static double both_tails(double t, double df)
{
    if (df > DF_NORMAL)
        return 2 * qs_pnorm(-normal_equivalent(t, df));
    double r = t / sqrt(df) * (t / sqrt(df));
    if (isinf(r))
        return 0;
    return qs_special_beta(1 / (1 + r), r / (1 + r), df / 2, 0.5);
}

/* P(0 <= T <= t), t >= 0, exact near 0 */
static double centre(double t, double df)
{
    if (df > DF_NORMAL)
        return 0.5 * erf(normal_equivalent(t, df) * M_SQRT1_2);
    double r = t / sqrt(df) * (t / sqrt(df));
    if (isinf(r))
        return 0.5;
    return 0.5 * qs_special_beta(r / (1 + r), 1 / (1 + r), 0.5, df / 2);
}

double qs_pt_two_sided(double t, double df)
{
    if (isnan(t) || !(df > 0))
        return NAN;
    return both_tails(fabs(t), df);
}

double qs_pt(double t, double df)
{
    if (isnan(t) || !(df > 0))
        return NAN;
    double half = 0.5 * both_tails(fabs(t), df);
    return t > 0 ? 1 - half : half;
}

static double density(double t, double df)
{
    if (df > DF_NORMAL)
        return exp(-0.5 * t * t) / sqrt(2 * M_PI);
    int sign;
    double lead = lgamma_r((df + 1) / 2, &sign) - lgamma_r(df / 2, &sign) - 0.5 * log(df * M_PI);
    return exp(lead - 0.5 * (df + 1) * log1p(t / df * t));
}

/* centre(t) = area: concave, so that Newton from 0 climbs to the root and never passes it. */
static double invert_centre(double area, double df)
{
    double t = 0;
    for (int i = 0; i < 100; i++) {
        double step = (area - centre(t, df)) / density(t, df);
        t += step;
        if (fabs(step) <= 1e-15 * t)
            break;
    }
    return t;
}

/* ln tail is concave in ln t, so that Newton in these coordinates ends on the root's right and stays there.
 */
static double invert_tail(double p, double df)
{
    double t = -qs_qnorm(p);
    for (int i = 0; i < 100; i++) {
        double tail = 0.5 * both_tails(t, df);
        double step = log(tail / p) * tail / (t * density(t, df));
        t *= exp(step);
        if (fabs(step) <= 1e-15)
            break;
    }
    return t;
}

double qs_qt(double p, double df)
{
    if (!(p >= 0 && p <= 1) || !(df > 0))
        return NAN;
    if (p <= 0 || p >= 1)
        return p <= 0 ? -INFINITY : INFINITY;
    if (isinf(df))
        return qs_qnorm(p);
    double low = fmin(p, 1 - p);
    double t;
    if (df == 1)
        t = low > 0.25 ? tan(M_PI * (0.5 - low)) : 1 / tan(M_PI * low);
    else if (df == 2)
        t = 2 * (0.5 - low) / sqrt(2 * low * (1 - low));
    else
        t = low > 0.25 ? invert_centre(fabs(p - 0.5), df) : invert_tail(low, df);
    return copysign(t, p - 0.5);
}
