/* Rules that wait until the middle of the series stands still. */
#include <math.h>
#include <stdint.h>

#include "stats/stopping_impl.h"
#include "stats/describe.h"
#include "stats/sum.h"

enum { STEP = 5 };

struct spread {
    double lo, hi;
};

static void widen(struct spread *s, double v)
{
    s->lo = fmin(s->lo, v);
    s->hi = fmax(s->hi, v);
}

/* How far median and IQR of y[0, j) move for j = len/2 .. len. */
static void cumulative(const double *y, size_t len, double *sorted, struct spread *median, struct spread *iqr)
{
    size_t half = len / 2;
    *median = *iqr = (struct spread){INFINITY, -INFINITY};
    for (size_t j = 0; j < len; j++) {
        qs_sorted_insert(sorted, j, y[j]);
        if (j + 1 < half || ((j + 1 - half) % STEP != 0 && j + 1 != len))
            continue;
        widen(median, qs_quantile(sorted, j + 1, 0.5, QS_QTYPE_7));
        widen(iqr,
              qs_quantile(sorted, j + 1, 0.75, QS_QTYPE_7) - qs_quantile(sorted, j + 1, 0.25, QS_QTYPE_7));
    }
}

static bool is_constant(const double *y, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (y[i] != y[0])
            return false;
    }
    return true;
}

/* Afonso and Almeida's "until median and quartile range are stable", made a rule; the two halves are compared
 * because cumulative medians lag behind. */
bool qs_leaf_stable(struct qs_leaf_view *v)
{
    const double *arg = v->rule->arg, *y = v->x + v->state->start;
    size_t len = v->n - v->state->start, least = (size_t)arg[0];
    if (len < least)
        return false;
    if (is_constant(y, len))
        return true;
    double middle = qs_leaf_median(y, len, v->scratch);
    double unit = middle > 0 ? middle : v->resolution_ns;
    double first = qs_leaf_median(y, len / 2, v->scratch);
    double moved = fabs(first - qs_leaf_median(y + len / 2, len - len / 2, v->scratch)) / unit;
    if (moved <= arg[1]) {
        struct spread median, iqr;
        cumulative(y, len, v->scratch, &median, &iqr);
        if ((median.hi - median.lo) / unit <= arg[1] && (iqr.hi - iqr.lo) / unit <= arg[2])
            return true;
    }
    if (arg[3] == QS_STABLE_DROPS_OLDEST && len >= 2 * least && moved > 2 * arg[1])
        v->state->start += len / 4;
    return false;
}

bool qs_leaf_settled(struct qs_leaf_view *v)
{
    const double *arg = v->rule->arg;
    size_t parts = (size_t)arg[2], start = v->n / 2, each = (v->n - start) / parts;
    if ((double)v->n < arg[0] || each == 0)
        return false;
    struct spread s = {INFINITY, -INFINITY};
    for (size_t i = 0; i < parts; i++)
        widen(&s, qs_leaf_median(v->x + (v->n - (parts - i) * each), each, v->scratch));
    double middle = qs_leaf_median(v->x + start, v->n - start, v->scratch);
    v->state->tail = start;
    return s.hi - s.lo <= arg[1] * (middle > 0 ? middle : v->resolution_ns);
}
