#include "stats/special.h"

#include <float.h>
#include <math.h>

double qs_pnorm(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

/* (num[0] + num[1] r + ...) / (1 + den[0] r + ...), 8 and 7 coefficients. */
static double rational(const double num[8], const double den[7], double r)
{
    double a = num[7], b = den[6];
    for (int i = 6; i >= 0; i--)
        a = a * r + num[i];
    for (int i = 5; i >= 0; i--)
        b = b * r + den[i];
    return a / (b * r + 1);
}

static const double CENTRE_NUM[8] = {
    3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
    4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
static const double CENTRE_DEN[7] = {
    4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3, 2.1213794301586595867e4,
    3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3};
static const double NEAR_NUM[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                   5.76949722146069140550e0,  3.64784832476320460504e0,
                                   1.27045825245236838258e0,  2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4};
static const double NEAR_DEN[7] = {2.05319162663775882187e0,  1.67638483018380384940e0,
                                   6.89767334985100004550e-1, 1.48103976427480074590e-1,
                                   1.51986665636164571966e-2, 5.47593808499534494600e-4,
                                   1.05075007164441684324e-9};
static const double FAR_NUM[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                  1.78482653991729133580e0,  2.96560571828504891230e-1,
                                  2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
static const double FAR_DEN[7] = {5.99832206555887937690e-1, 1.36929880922735805310e-1,
                                  1.48753612908506148525e-2, 7.86869131145613259100e-4,
                                  1.84631831751005468180e-5, 1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};

double qs_qnorm(double p)
{
    if (!(p >= 0 && p <= 1))
        return NAN;
    if (p <= 0 || p >= 1)
        return p <= 0 ? -INFINITY : INFINITY;
    double q = p - 0.5;
    if (fabs(q) <= 0.425)
        return q * rational(CENTRE_NUM, CENTRE_DEN, 0.180625 - q * q);
    double r = sqrt(-log(q < 0 ? p : 1 - p));
    double z = r <= 5 ? rational(NEAR_NUM, NEAR_DEN, r - 1.6) : rational(FAR_NUM, FAR_DEN, r - 5);
    return q < 0 ? -z : z;
}

static const double TINY = 1e-300;
static const int MAX_TERMS = 1000000;

/* ln Gamma(a+1) - (a+1/2) ln a + a - ln(2 pi)/2 for a > 0: what Stirling's formula leaves (DLMF 5.11.1). */
static double stirling_rest(double a)
{
    if (a > 15) {
        double q = 1 / (a * a);
        double tail = 1.0 / 1680 - q * (1.0 / 1188 - q * (691.0 / 360360));
        return (1.0 / 12 - q * (1.0 / 360 - q * (1.0 / 1260 - q * tail))) / a;
    }
    int sign;
    return lgamma_r(a + 1, &sign) - (a + 0.5) * log(a) + a - 0.5 * log(2 * M_PI);
}

/* The deviance a ln(a/m) + m - a >= 0 for a, m > 0, without cancellation near a = m. */
static double deviance(double a, double m)
{
    double rel = (m - a) / a;
    if (fabs(rel) < 0.5)
        return a * (rel - log1p(rel));
    return a * log(a / m) + m - a;
}

/* x^a e^-x / Gamma(a+1) */
static double poisson_term(double a, double x)
{
    return exp(-stirling_rest(a) - deviance(a, x)) / sqrt(2 * M_PI * a);
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

/* x^a y^b / B(a,b), y = 1 - x: a binomial probability for real a, b (Loader 2000), times ab/(a+b). */
static double power_terms(double x, double y, double a, double b)
{
    double n = a + b;
    double rest = stirling_rest(n) - stirling_rest(a) - stirling_rest(b);
    double dev = deviance(a, n * x) + deviance(b, n * y);
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

/* I_x(a,b) where y = 1 - x is given apart, because it may be known with more digits than 1 - x has. */
static double beta_of(double x, double y, double a, double b)
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
    return beta_of(x, 1 - x, a, b);
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
    return beta_of(1 - prob, prob, n - k, k + 1);
}

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
    return beta_of(1 / (1 + r), r / (1 + r), df / 2, 0.5);
}

/* P(0 <= T <= t), t >= 0, exact near 0 */
static double centre(double t, double df)
{
    if (df > DF_NORMAL)
        return 0.5 * erf(normal_equivalent(t, df) * M_SQRT1_2);
    double r = t / sqrt(df) * (t / sqrt(df));
    if (isinf(r))
        return 0.5;
    return 0.5 * beta_of(r / (1 + r), 1 / (1 + r), 0.5, df / 2);
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
