#include "stats/harrell_davis.h"

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
    w.centre = sorted[middle < n ? middle : n - 1];
    take_all(&w, middle);
    double shift = qs_acc_value(&w.first), var = qs_acc_value(&w.second) - shift * shift;
    *q = w.centre + shift;
    *out_se = var > 0 ? sqrt(var) : 0;
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
    double half = se > 0 ? -qs_qt((1 - level) / 2, (double)n - 1) * se : 0;
    *out = (struct qs_ci){
        .lo = q - half, .hi = q + half, .level = level, .flags = se > 0 ? 0 : (unsigned)QS_FLAG_EXACT};
    return QS_OK;
}
