/* The distribution of Kolmogorov's statistic: Marsaglia, Tsang & Wang 2003. */
#include "stats/normality.h"

#include "stats/ks.h"
#include "stats/normality_parts.h"
#include "stats/special.h"
#include "stats/sum.h"

#include <math.h>
#include <stdlib.h>

enum { EXACT_N_MAX = 100 };

/* A matrix m x m whose entries are to be multiplied by 10^exponent. */
struct matrix {
    double *v; /* borrowed, m * m */
    int exponent;
};

static void multiply(const struct matrix *a, const struct matrix *b, struct matrix *out, size_t m)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            double sum = 0;
            for (size_t k = 0; k < m; k++)
                sum += a->v[i * m + k] * b->v[k * m + j];
            out->v[i * m + j] = sum;
        }
    out->exponent = a->exponent + b->exponent;
    if (out->v[m / 2 * m + m / 2] > 1e140) {
        for (size_t i = 0; i < m * m; i++)
            out->v[i] *= 1e-140;
        out->exponent += 140;
    }
}

static void swap(struct matrix *a, struct matrix *b)
{
    struct matrix t = *a;
    *a = *b;
    *b = t;
}

/* result = base^n; three matrices of room, all overwritten */
static void power(struct matrix *base, size_t n, struct matrix *result, struct matrix *room, size_t m)
{
    for (size_t i = 0; i < m * m; i++)
        result->v[i] = i % (m + 1) == 0;
    result->exponent = 0;
    for (; n > 0; n /= 2) {
        if (n % 2 == 1) {
            multiply(result, base, room, m);
            swap(result, room);
        }
        multiply(base, base, room, m);
        swap(base, room);
    }
}

/* The matrix of their equation (3): ones on and below the first superdiagonal, divided by factorials; k =
 * floor(n d) + 1, h = k - n d. */
static void fill_transition(double *v, size_t m, double h)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            v[i * m + j] = i + 1 >= j;
    for (size_t i = 0; i < m; i++) {
        v[i * m] -= pow(h, (double)i + 1);
        v[(m - 1) * m + i] -= pow(h, (double)(m - i));
    }
    if (2 * h - 1 > 0)
        v[(m - 1) * m] += pow(2 * h - 1, (double)m);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++)
            v[i * m + j] /= tgamma((double)(i - j) + 2);
}

/* P(D < d); NaN without memory */
static double exact_below(double d, size_t n)
{
    double nd = (double)n * d;
    size_t k = (size_t)nd + 1, m = 2 * k - 1;
    double *v = calloc(3 * m * m, sizeof *v), p = NAN;
    if (v) {
        struct matrix base = {v, 0}, result = {v + m * m, 0}, room = {v + 2 * m * m, 0};
        fill_transition(base.v, m, (double)k - nd);
        power(&base, n, &result, &room, m);
        p = result.v[(k - 1) * m + k - 1];
        int exponent = result.exponent;
        for (size_t i = 1; i <= n; i++) {
            p *= (double)i / (double)n;
            if (p < 1e-140) {
                p *= 1e140;
                exponent -= 140;
            }
        }
        p *= pow(10, exponent);
    }
    free(v);
    return p;
}

/* Kolmogorov's limit at sqrt(n) d, moved by what n leaves (Vrbik 2018) */
static double limit_tail(double d, double n)
{
    double root = sqrt(n);
    return qs_pkolmogorov_upper(root * d + 1 / (6 * root) + (root * d - 1) / (4 * n));
}

/* P(D >= d); NaN without memory. Far out their closing approximation keeps digits where 1 - P has none. */
static double upper_tail(double d, size_t n)
{
    double count = (double)n, s = d * d * count;
    if (d >= 1)
        return 0;
    if (s > 7.24 || (s > 3.76 && n > EXACT_N_MAX))
        return 2 * exp(-(2.000071 + .331 / sqrt(count) + 1.409 / count) * s);
    return n > EXACT_N_MAX ? limit_tail(d, count) : 1 - exact_below(d, n);
}

double qs_normality_gap(const double *sorted, size_t n, double mean, double sd)
{
    double d = 0, count = (double)n;
    for (size_t i = 0; i < n; i++) {
        double p = qs_pnorm((sorted[i] - mean) / sd);
        d = fmax(d, fmax((double)(i + 1) / count - p, p - (double)i / count));
    }
    return d;
}

enum qs_status qs_ks_normal(const double *x, size_t n, double mean, double sd, struct qs_fit *out)
{
    double *sorted;
    *out = (struct qs_fit){.statistic = NAN, .p = NAN};
    if (!isfinite(mean) || !isfinite(sd) || !(sd > 0))
        return QS_EDOM;
    enum qs_status status = qs_sorted_copy(x, n, &sorted);
    if (status != QS_OK)
        return status;
    double d = qs_normality_gap(sorted, n, mean, sd);
    free(sorted);
    double tail = upper_tail(d, n);
    if (isnan(tail))
        return QS_ENOMEM;
    *out = (struct qs_fit){.statistic = d, .p = fmin(1, fmax(0, tail))};
    return QS_OK;
}
