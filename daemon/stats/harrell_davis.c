#include "stats/harrell_davis.h"

#include "stats/pick.h"
#include "stats/special.h"
#include "stats/sum.h"

#include <math.h>
#include <stdlib.h>

/* Beyond this the remaining weight cannot move a double, unless values span more than 10^14. */
static const double NO_WEIGHT = 1e-30;

struct weights {
    const double *x; /* borrowed, ascending */
    size_t n;
    double a, b;
    double centre; /* values are summed as differences from it: a large offset costs no digits */
    struct qs_acc first, second;
};

static void take(struct weights *w, size_t i, double weight)
{
    double d = w->x[i] - w->centre;
    qs_acc_add(&w->first, weight * d);
    qs_acc_add(&w->second, weight * d * d);
}

/* I_{i/n}(a,b) and its complement, each with its own digits */
static double below(const struct weights *w, size_t i)
{
    return qs_pbeta((double)i / (double)w->n, w->a, w->b);
}

static double above(const struct weights *w, size_t i)
{
    return qs_pbeta((double)(w->n - i) / (double)w->n, w->b, w->a);
}

/* From the middle outwards, until no weight is left. */
static void take_all(struct weights *w, size_t middle)
{
    double rest = below(w, middle);
    for (size_t i = middle; i > 0 && rest > NO_WEIGHT; i--) {
        double next = below(w, i - 1);
        take(w, i - 1, rest - next);
        rest = next;
    }
    rest = above(w, middle);
    for (size_t i = middle; i < w->n && rest > NO_WEIGHT; i++) {
        double next = above(w, i + 1);
        take(w, i, rest - next);
        rest = next;
    }
}

/* Of so many values a cell is so narrow beside the density's width that a series in its width has all digits
 * of a double where there is weight, at a sixth of the price of two incomplete beta functions. */
enum { N_NARROW = 1000 };

/* The density's integral over cell i: f h of its middle, with its second and fourth derivatives. */
static double cell(const struct weights *w, double log_scale, size_t i)
{
    double n = (double)w->n, x = ((double)i + 0.5) / n, h2 = 1 / (n * n);
    double a = w->a - 1, b = w->b - 1, y = 1 - x;
    double g1 = a / x - b / y, g2 = -a / (x * x) - b / (y * y);
    double g3 = 2 * (a / (x * x * x) - b / (y * y * y)),
           g4 = -6 * (a / (x * x * x * x) + b / (y * y * y * y));
    double second = g1 * g1 + g2;
    double fourth = g1 * g1 * (g1 * g1 + 6 * g2) + 3 * g2 * g2 + 4 * g1 * g3 + g4;
    return exp(a * log(x) + b * log1p(-x) - log_scale) * (1 + h2 / 24 * second + h2 * h2 / 1920 * fourth);
}

/* As take_all, for narrow cells. The scale is the middle's, the sum of the weights is divided out. */
static double take_narrow(struct weights *w, size_t middle)
{
    double x = ((double)middle + 0.5) / (double)w->n, weight = 1;
    double log_scale = (w->a - 1) * log(x) + (w->b - 1) * log1p(-x);
    struct qs_acc sum = {0};
    for (size_t i = middle; i > 0 && weight > NO_WEIGHT; i--) {
        weight = cell(w, log_scale, i - 1);
        qs_acc_add(&sum, weight);
        take(w, i - 1, weight);
    }
    weight = 1;
    for (size_t i = middle; i < w->n && weight > NO_WEIGHT; i++) {
        weight = cell(w, log_scale, i);
        qs_acc_add(&sum, weight);
        take(w, i, weight);
    }
    return qs_acc_value(&sum);
}

/* Quantiles whose density has its width within the range, on both sides. */
static bool is_narrow(const struct weights *w)
{
    enum { SPREADS = 10 };
    double n = (double)w->n, p = w->a / (w->a + w->b);
    return w->n >= N_NARROW && fmin(p, 1 - p) * n > SPREADS * SPREADS;
}

enum qs_status qs_hd_quantile(const double *sorted, size_t n, double p, double *q, double *se)
{
    double error = NAN, *out_se = se ? se : &error;
    *q = NAN;
    *out_se = NAN;
    if (n == 0)
        return QS_ENODATA;
    if (!(p >= 0 && p <= 1))
        return QS_EDOM;
    if (n == 1 || p <= 0 || p >= 1) {
        *q = sorted[p >= 1 ? n - 1 : 0];
        return QS_OK;
    }
    double count = (double)n;
    size_t middle = (size_t)(count * p);
    struct weights w = {.x = sorted, .n = n, .a = (count + 1) * p, .b = (count + 1) * (1 - p)};
    w.centre = sorted[qs_less(middle, n - 1)];
    double sum = 1;
    if (is_narrow(&w))
        sum = take_narrow(&w, middle);
    else
        take_all(&w, middle);
    double shift = qs_acc_value(&w.first) / sum, var = qs_acc_value(&w.second) / sum - shift * shift;
    *q = w.centre + shift;
    *out_se = sqrt(fmax(0, var));
    return QS_OK;
}

enum qs_status qs_hd_ci(const double *x, size_t n, double p, double level, struct qs_ci *out)
{
    double *sorted, q, se;
    *out = qs_ci_none(level);
    if (!(p > 0 && p < 1 && level > 0 && level < 1))
        return QS_EDOM;
    enum qs_status status = qs_sorted_copy(x, n, &sorted);
    if (status != QS_OK)
        return status;
    status = qs_hd_quantile(sorted, n, p, &q, &se);
    free(sorted);
    if (status == QS_OK && n < 2)
        status = QS_ETOOFEW;
    if (status != QS_OK)
        return status;
    double half = -qs_qt((1 - level) / 2, (double)n - 1) * se;
    *out = (struct qs_ci){
        .lo = q - half, .hi = q + half, .level = level, .flags = se > 0 ? 0 : (unsigned)QS_FLAG_EXACT};
    return QS_OK;
}
