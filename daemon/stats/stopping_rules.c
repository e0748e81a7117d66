/* The leaf rules of one look at the series (statistics.md section 10). */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "stats/stopping_impl.h"
#include "stats/dependence.h"
#include "stats/interval.h"
#include "stats/sum.h"

size_t qs_leaf_breaks(const struct qs_leaf_view *v, size_t from)
{
    size_t n = 0;
    for (size_t i = 0; i < v->n_breaks; i++) {
        if (v->breaks[i] > from)
            v->break_room[n++] = v->breaks[i] - from;
    }
    return n;
}

/* Hoare's selection: afterwards a[k] is the k-th smallest and nothing before it is larger. */
static void select_nth(double *a, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        double pivot = a[lo + (hi - lo) / 2];
        size_t i = lo, j = hi;
        while (i <= j) {
            while (a[i] < pivot)
                i++;
            while (a[j] > pivot)
                j--;
            if (i > j)
                break;
            double t = a[i];
            a[i++] = a[j];
            a[j] = t;
            if (j == 0)
                break;
            j--;
        }
        if (k <= j)
            hi = j;
        else if (k >= i)
            lo = i;
        else
            return;
    }
}

double qs_leaf_median(const double *x, size_t n, double *scratch)
{
    if (scratch != x)
        memcpy(scratch, x, n * sizeof *x);
    size_t k = n / 2;
    select_nth(scratch, n, k);
    if (n % 2 == 1)
        return scratch[k];
    double below = scratch[0];
    for (size_t i = 1; i < k; i++)
        below = fmax(below, scratch[i]);
    return below + (scratch[k] - below) / 2;
}

bool qs_leaf_fixed(struct qs_leaf_view *v)
{
    return (double)v->n >= v->rule->arg[0];
}

bool qs_leaf_time(struct qs_leaf_view *v)
{
    return v->now->measured_ns >= v->rule->arg[0];
}

/* BenchmarkTools.jl's `seconds` and `samples`. */
bool qs_leaf_budget(struct qs_leaf_view *v)
{
    return v->now->measured_ns >= v->rule->arg[0] || (double)v->n >= v->rule->arg[1];
}

bool qs_leaf_cov_window(struct qs_leaf_view *v)
{
    size_t last = (size_t)v->rule->arg[0];
    struct qs_moments m;
    if (v->n < last || qs_moments(v->x + (v->n - last), last, &m) != QS_OK)
        return false;
    return m.mean > 0 && sqrt(m.var) <= v->rule->arg[1] * m.mean;
}

static bool median_interval(const struct qs_leaf_view *v, double level, struct qs_ci *ci, double *middle)
{
    struct qs_median_ci m;
    if (qs_median_ci(v->x, v->n, level, &m) != QS_OK)
        return false;
    *ci = m.ci;
    *middle = qs_leaf_median(v->x, v->n, v->scratch);
    return true;
}

static bool mean_interval(const struct qs_leaf_view *v, double level, struct qs_ci *ci, double *middle)
{
    struct qs_ess ess;
    struct qs_moments m;
    enum qs_status status = qs_ess(v->x, v->n, v->breaks, v->n_breaks, &ess);
    if (qs_moments(v->x, v->n, &m) != QS_OK || (status != QS_OK && status != QS_EDEGENERATE))
        return false;
    *ci = qs_t_interval(m.mean, sqrt(m.var), status == QS_OK ? ess.n_eff : (double)v->n, level);
    *middle = m.mean;
    return true;
}

bool qs_leaf_ci_width(struct qs_leaf_view *v)
{
    const double *arg = v->rule->arg;
    struct qs_ci ci;
    double middle;
    if ((double)v->n < arg[3])
        return false;
    bool known = arg[0] == QS_CI_MEAN ? mean_interval(v, 1 - arg[2], &ci, &middle)
                                      : median_interval(v, 1 - arg[2], &ci, &middle);
    return known && middle > 0 && (ci.hi - ci.lo) / 2 <= arg[1] * middle;
}

/* Junge eq. 5, and section 8.2.2's cube root. */
bool qs_leaf_rse(struct qs_leaf_view *v)
{
    const double *arg = v->rule->arg;
    struct qs_moments m;
    if ((double)v->n < arg[1] || qs_moments(v->x, v->n, &m) != QS_OK || !(m.mean > 0))
        return false;
    double root = arg[2] == QS_ROOT_CUBE ? cbrt((double)v->n) : sqrt((double)v->n);
    return sqrt(m.var) / (root * m.mean) <= arg[0];
}

bool qs_leaf_planner(struct qs_leaf_view *v)
{
    double want = v->now->planned == SIZE_MAX ? v->rule->arg[1] : (double)v->now->planned;
    return (double)v->n >= fmin(v->rule->arg[1], fmax(v->rule->arg[0], want));
}

bool qs_leaf_external(struct qs_leaf_view *v)
{
    for (size_t i = 0; i < v->now->answer_count; i++)
        if (strcmp(v->now->answers[i].name, v->rule->name) == 0)
            return v->now->answers[i].holds;
    return false;
}
