#include "stats/special.h"
#include "stats/special_parts.h"

#include <float.h>
#include <math.h>

static const double TINY = 1e-300;
static const int MAX_TERMS = 1000000;

/* x^a y^b / B(a,b), y = 1 - x: a binomial probability for real a, b (Loader 2000), times ab/(a+b). */
static double power_terms(double x, double y, double a, double b)
{
    double n = a + b;
    double rest = qs_special_stirling_rest(n) - qs_special_stirling_rest(a) - qs_special_stirling_rest(b);
    double dev = qs_special_deviance(a, n * x) + qs_special_deviance(b, n * y);
    return sqrt(a / n * b / (2 * M_PI)) * exp(rest - dev);
}

/* x^a y^b / B(a,b) over this is I_x(a,b): the even part of DLMF 8.17.22 (DiDonato & Morris 1992, eq. 9) by
 * the modified Lentz method. Takes y apart: near x = 1 with a large, 1 - x has lost the digits that count.
 * Converges fast for x < (a+1)/(a+b+2), where every partial denominator is positive. */
static double beta_fraction(double x, double y, double a, double b)
{
    double lead = a * y - b * x + 1;
    double f = a * lead / (a + 1), c = f, d = 0;
    for (int m = 1; m < MAX_TERMS; m++) {
        double odd = a + 2 * m - 1;
        double num = (a + m - 1) / odd * ((a + b + m - 1) / odd) * m * (b - m) * x * x;
        double den = m + m * (b - m) * x / odd + (a + m) * (lead + m * (1 + y)) / (odd + 2);
        d = den + num * d;
        d = 1 / (fabs(d) < TINY ? TINY : d);
        c = den + num / c;
        c = fabs(c) < TINY ? TINY : c;
        f *= c * d;
        if (fabs(c * d - 1) <= DBL_EPSILON)
            break;
    }
    return f;
}

double qs_special_beta(double x, double y, double a, double b)
{
    if (x <= 0)
        return 0;
    if (y <= 0)
        return 1;
    if (x < (a + 1) / (a + b + 2))
        return power_terms(x, y, a, b) / beta_fraction(x, y, a, b);
    return 1 - power_terms(x, y, a, b) / beta_fraction(y, x, b, a);
}

double qs_pbeta(double x, double a, double b)
{
    if (isnan(x) || !(a > 0) || !(b > 0) || isinf(a) || isinf(b))
        return NAN;
    return qs_special_beta(x, 1 - x, a, b);
}

double qs_pbinom(double k, double n, double prob)
{
    if (isnan(k) || !(n >= 0) || isinf(n) || !(prob >= 0 && prob <= 1) || n != floor(n))
        return NAN;
    k = floor(k);
    if (k < 0)
        return 0;
    if (k >= n)
        return 1;
    return qs_special_beta(1 - prob, prob, n - k, k + 1);
}
