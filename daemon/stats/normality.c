#include "stats/normality.h"

#include <math.h>
#include <stdlib.h>

#include "stats/ks.h"
#include "stats/special.h"
#include "stats/sum.h"

enum { ANDERSON_DARLING_N_MIN = 8, LILLIEFORS_N_MIN = 5 };

/* Checked, sorted and standardised: (x - mean)/sd. */
struct sample {
    double *z; /* owned */
    size_t n;
};

static enum qs_status sample_init(struct sample *s, const double *x, size_t n, size_t n_min)
{
    struct qs_moments m;
    *s = (struct sample){.n = n};
    enum qs_status status = qs_moments(x, n, &m);
    if (status == QS_OK && n < n_min)
        status = QS_ETOOFEW;
    if (status == QS_OK && !(m.var > 0))
        status = QS_EDEGENERATE;
    if (status == QS_OK)
        status = qs_sorted_copy(x, n, &s->z);
    for (size_t i = 0; status == QS_OK && i < n; i++)
        s->z[i] = (s->z[i] - m.mean) / sqrt(m.var);
    return status;
}

static double polynomial(const double *ascending, size_t count, double x)
{
    double y = 0;
    for (size_t i = count; i > 0; i--)
        y = y * x + ascending[i - 1];
    return y;
}

/* Blom's scores: the i-th of n, i from 1 */
static double normal_score(size_t i, size_t n)
{
    return qs_qnorm(((double)i - 0.375) / ((double)n + 0.25));
}

/* a[0..n/2-1] > 0: the weight of the (i+1)-th value from either end; with the lower sign for the lower one.
 */
static void shapiro_weights(double *a, size_t n)
{
    static const double P1[] = {0, .221157, -.147981, -2.071190, 4.434685, -2.706056};
    static const double P2[] = {0, .042981, -.293762, -1.752461, 5.682633, -3.582633};
    size_t half = n / 2;
    double sum = 0, u = 1 / sqrt((double)n);
    if (n == 3) {
        a[0] = M_SQRT1_2;
        return;
    }
    for (size_t i = 0; i < half; i++) {
        a[i] = -normal_score(i + 1, n);
        sum += 2 * a[i] * a[i];
    }
    size_t ends = n > 5 ? 2 : 1;
    double of_scores = sum, of_weights = 1;
    for (size_t i = 0; i < ends; i++) {
        of_scores -= 2 * a[i] * a[i];
        a[i] = polynomial(i == 0 ? P1 : P2, 6, u) + a[i] / sqrt(sum);
        of_weights -= 2 * a[i] * a[i];
    }
    for (size_t i = ends; i < half; i++)
        a[i] /= sqrt(of_scores / of_weights);
}

/* 1 - W without the cancellation that W near 1 would bring */
static double shapiro_rest(const double *z, size_t n, const double *a)
{
    double ssa = 0, ssx = 0, sax = 0;
    for (size_t i = 0; i < n; i++)
        ssx += z[i] * z[i];
    for (size_t i = 0; i < n / 2; i++) {
        ssa += 2 * a[i] * a[i];
        sax += a[i] * (z[n - 1 - i] - z[i]);
    }
    double root = sqrt(ssa * ssx);
    return (root - sax) * (root + sax) / (ssa * ssx);
}

static double shapiro_p(double rest, size_t n)
{
    static const double MU_SMALL[] = {.5440, -.39978, .025054, -.0006714};
    static const double SD_SMALL[] = {1.3822, -.77857, .062767, -.0020322};
    static const double MU[] = {-1.5861, -.31082, -.083751, .0038915};
    static const double SD[] = {-.4803, -.082676, .0030302};
    double count = (double)n, l = log(count), y = log(rest);
    if (n == 3)
        return fmax(0, 1 - 6 / M_PI * acos(sqrt(1 - rest)));
    if (n >= 12)
        return qs_pnorm((polynomial(MU, 4, l) - y) / exp(polynomial(SD, 3, l)));
    double g =
        -2.273 + .459 * count; /* above y: the least W of 4 values is 0.63, and of more g is positive */
    return qs_pnorm((polynomial(MU_SMALL, 4, count) + log(g - y)) / exp(polynomial(SD_SMALL, 4, count)));
}

static void shapiro_of(const struct sample *s, const double *a, struct qs_fit *out)
{
    double rest = fmax(0, shapiro_rest(s->z, s->n, a));
    if (s->n == 3)
        rest = fmin(rest, 0.25); /* W has this bound for three values */
    out->statistic = 1 - rest;
    out->p = shapiro_p(rest, s->n);
}

enum qs_status qs_shapiro(const double *x, size_t n, struct qs_fit *out)
{
    struct sample s;
    double *a = NULL;
    *out = (struct qs_fit){.statistic = NAN, .p = NAN};
    enum qs_status status = sample_init(&s, x, n, QS_SHAPIRO_N_MIN);
    if (status == QS_OK && n > QS_SHAPIRO_N_MAX)
        status = QS_EDOM;
    if (status == QS_OK) {
        a = calloc(n / 2, sizeof *a);
        status = a ? QS_OK : QS_ENOMEM;
    }
    if (a) {
        shapiro_weights(a, n);
        shapiro_of(&s, a, out);
    }
    free(a);
    free(s.z);
    return status;
}

/* ln Phi(z), also where Phi is below what a double holds */
static double log_pnorm(double z)
{
    double p = qs_pnorm(z);
    return p > 0 ? log(p) : -z * z / 2 - log(-z * sqrt(2 * M_PI));
}

static double anderson_darling_p(double a)
{
    if (a < 0.2)
        return 1 - exp(-13.436 + 101.14 * a - 223.73 * a * a);
    if (a < 0.34)
        return 1 - exp(-8.318 + 42.796 * a - 59.938 * a * a);
    if (a < 0.6)
        return exp(0.9177 - 4.279 * a - 1.38 * a * a);
    return a < 10 ? exp(1.2937 - 5.709 * a + 0.0186 * a * a) : 3.7e-24;
}

enum qs_status qs_anderson_darling(const double *x, size_t n, struct qs_fit *out)
{
    struct sample s;
    *out = (struct qs_fit){.statistic = NAN, .p = NAN};
    enum qs_status status = sample_init(&s, x, n, ANDERSON_DARLING_N_MIN);
    if (status == QS_OK) {
        double count = (double)n;
        struct qs_acc acc = {0};
        for (size_t i = 0; i < n; i++)
            qs_acc_add(&acc, (2 * (double)i + 1) * (log_pnorm(s.z[i]) + log_pnorm(-s.z[n - 1 - i])));
        out->statistic = -count - qs_acc_value(&acc) / count;
        out->p = anderson_darling_p(out->statistic * (1 + 0.75 / count + 2.25 / (count * count)));
    }
    free(s.z);
    return status;
}

static double lilliefors_p(double d, size_t n)
{
    static const double LOW[] = {2.76773, -19.828315, 80.709644, -138.55152, 81.218052};
    static const double MIDDLE[] = {-4.901232, 40.662806, -97.490286, 94.029866, -32.355711};
    static const double HIGH[] = {6.198765, -19.558097, 23.186922, -12.234627, 2.423045};
    double count = (double)n, nd = fmin(count, 100), kd = n > 100 ? d * pow(count / 100, 0.49) : d;
    double shifted = nd + 2.78019;
    double p = exp(-7.01256 * kd * kd * shifted + 2.99587 * kd * sqrt(shifted) - 0.122119 +
                   0.974598 / sqrt(nd) + 1.67997 / nd);
    if (p <= 0.1)
        return p;
    double k = (sqrt(count) - 0.01 + 0.85 / sqrt(count)) * d;
    if (k <= 0.302)
        return 1;
    p = polynomial(k <= 0.5 ? LOW : k <= 0.9 ? MIDDLE : HIGH, 5, k);
    return k <= 1.31 ? fmin(1, fmax(0, p)) : 0;
}

/* sup |F_n(x) - Phi((x - mean)/sd)| of n >= 1 ascending values, sd > 0. */
static double gap_to_normal(const double *sorted, size_t n, double mean, double sd)
{
    double d = 0, count = (double)n;
    for (size_t i = 0; i < n; i++) {
        double p = qs_pnorm((sorted[i] - mean) / sd);
        d = fmax(d, fmax((double)(i + 1) / count - p, p - (double)i / count));
    }
    return d;
}

enum qs_status qs_lilliefors(const double *x, size_t n, struct qs_fit *out)
{
    struct sample s;
    *out = (struct qs_fit){.statistic = NAN, .p = NAN};
    enum qs_status status = sample_init(&s, x, n, LILLIEFORS_N_MIN);
    if (status == QS_OK) {
        out->statistic = gap_to_normal(s.z, n, 0, 1);
        out->p = lilliefors_p(out->statistic, n);
    }
    free(s.z);
    return status;
}

enum qs_status qs_qq_correlation(const double *x, size_t n, double *r)
{
    struct sample s;
    *r = NAN;
    enum qs_status status = sample_init(&s, x, n, 3);
    if (status == QS_OK) {
        struct qs_acc both = {0}, scores = {0}, squares = {0};
        for (size_t i = 0; i < n; i++) {
            double score = normal_score(i + 1, n);
            qs_acc_add(&both, score * s.z[i]);
            qs_acc_add(&scores, score * score);
            qs_acc_add(&squares, s.z[i] * s.z[i]);
        }
        *r = fmin(1, qs_acc_value(&both) / sqrt(qs_acc_value(&scores) * qs_acc_value(&squares)));
    }
    free(s.z);
    return status;
}

const char *const qs_shape_names[] = {"unknown", "normal", "log-normal", "other", NULL};

static enum qs_status test_logs(const double *x, size_t n, struct qs_fit *out)
{
    double *logs = malloc(n * sizeof *logs);
    enum qs_status status = logs ? qs_logs(x, n, logs) : QS_ENOMEM;
    if (status == QS_OK)
        status = qs_shapiro(logs, n, out);
    free(logs);
    return status;
}

enum qs_status qs_shape_test(const double *x, size_t n, double alpha, struct qs_shape_test *out)
{
    struct qs_fit none = {.statistic = NAN, .p = NAN};
    *out = (struct qs_shape_test){.raw = none, .log = none};
    if (!(alpha > 0 && alpha < 1))
        return QS_EDOM;
    enum qs_status status = qs_shapiro(x, n, &out->raw);
    if (status != QS_OK)
        return status;
    if (test_logs(x, n, &out->log) == QS_ENOMEM) {
        out->raw = none;
        return QS_ENOMEM;
    }
    if (out->raw.p >= alpha)
        out->shape = QS_SHAPE_NORMAL;
    else
        out->shape = out->log.p >= alpha ? QS_SHAPE_LOG_NORMAL : QS_SHAPE_OTHER;
    return QS_OK;
}

/* The distribution of Kolmogorov's statistic: Marsaglia, Tsang & Wang 2003. */

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

enum qs_status qs_ks_normal(const double *x, size_t n, double mean, double sd, struct qs_fit *out)
{
    double *sorted;
    *out = (struct qs_fit){.statistic = NAN, .p = NAN};
    if (!isfinite(mean) || !isfinite(sd) || !(sd > 0))
        return QS_EDOM;
    enum qs_status status = qs_sorted_copy(x, n, &sorted);
    if (status != QS_OK)
        return status;
    double d = gap_to_normal(sorted, n, mean, sd);
    free(sorted);
    double tail = upper_tail(d, n);
    if (isnan(tail))
        return QS_ENOMEM;
    *out = (struct qs_fit){.statistic = d, .p = fmin(1, fmax(0, tail))};
    return QS_OK;
}
