#include "stats/special.h"
#include "stats/special_parts.h"

#include <float.h>
#include <math.h>

static const double TINY = 1e-300;
static const int MAX_TERMS = 1000000;

double qs_special_stirling_rest(double a)
{
    if (a > 15) {
        double q = 1 / (a * a);
        double tail = 1.0 / 1680 - q * (1.0 / 1188 - q * (691.0 / 360360));
        return (1.0 / 12 - q * (1.0 / 360 - q * (1.0 / 1260 - q * tail))) / a;
    }
    int sign;
    return lgamma_r(a + 1, &sign) - (a + 0.5) * log(a) + a - 0.5 * log(2 * M_PI);
}

double qs_special_deviance(double a, double m)
{
    double rel = (m - a) / a;
    if (fabs(rel) < 0.5)
        return a * (rel - log1p(rel));
    return a * log(a / m) + m - a;
}

/* x^a e^-x / Gamma(a+1) */
static double poisson_term(double a, double x)
{
    return exp(-qs_special_stirling_rest(a) - qs_special_deviance(a, x)) / sqrt(2 * M_PI * a);
}

static double lower_by_series(double a, double x)
{
    double term = 1, sum = 1;
    for (int i = 1; i < MAX_TERMS && term > sum * (DBL_EPSILON / 4); i++) {
        term *= x / (a + i);
        sum += term;
    }
    return sum * poisson_term(a, x);
}

/* Legendre's continued fraction by the modified Lentz method. */
static double upper_by_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / TINY, d = 1 / b, h = d;
    for (int i = 1; i < MAX_TERMS; i++) {
        double an = -i * (i - a);
        b += 2;
        d = an * d + b;
        d = 1 / (fabs(d) < TINY ? TINY : d);
        c = b + an / c;
        c = fabs(c) < TINY ? TINY : c;
        h *= d * c;
        if (fabs(d * c - 1) <= DBL_EPSILON)
            break;
    }
    return h * a * poisson_term(a, x);
}

double qs_pchisq(double x, double df)
{
    double a = df / 2, half = x / 2;
    if (isnan(x) || !(df > 0) || isinf(df))
        return NAN;
    if (x <= 0)
        return 0;
    if (isinf(x))
        return 1;
    return half < a + 1 ? lower_by_series(a, half) : 1 - upper_by_fraction(a, half);
}

double qs_pchisq_upper(double x, double df)
{
    double a = df / 2, half = x / 2;
    if (isnan(x) || !(df > 0) || isinf(df))
        return NAN;
    if (x <= 0)
        return 1;
    if (isinf(x))
        return 0;
    return half < a + 1 ? 1 - lower_by_series(a, half) : upper_by_fraction(a, half);
}
