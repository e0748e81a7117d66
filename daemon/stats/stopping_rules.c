/* The leaf rules of one look at the series (statistics.md section 10). */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "stats/stopping_impl.h"
#include "stats/dependence.h"
#include "stats/describe.h"
#include "stats/interval.h"
#include "stats/pick.h"
#include "stats/sum.h"

size_t qs_leaf_breaks(const struct qs_leaf_case *c, size_t from)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_breaks; i++) {
        if (c->breaks[i] > from)
            c->break_room[n++] = c->breaks[i] - from;
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

bool qs_leaf_fixed(struct qs_leaf_case *c)
{
    return (double)c->n >= c->rule->arg[0];
}

bool qs_leaf_time(struct qs_leaf_case *c)
{
    return c->now->measured_ns >= c->rule->arg[0];
}

/* BenchmarkTools.jl's `seconds` and `samples`. */
bool qs_leaf_budget(struct qs_leaf_case *c)
{
    return c->now->measured_ns >= c->rule->arg[0] || (double)c->n >= c->rule->arg[1];
}

bool qs_leaf_cov_window(struct qs_leaf_case *c)
{
    size_t last = (size_t)c->rule->arg[0];
    struct qs_moments m;
    if (c->n < last || qs_moments(c->x + (c->n - last), last, &m) != QS_OK)
        return false;
    return m.mean > 0 && sqrt(m.var) <= c->rule->arg[1] * m.mean;
}

static bool median_interval(const struct qs_leaf_case *c, double level, struct qs_ci *ci, double *middle)
{
    struct qs_median_ci m;
    if (qs_median_ci(c->x, c->n, level, &m) != QS_OK)
        return false;
    *ci = m.ci;
    *middle = qs_leaf_median(c->x, c->n, c->scratch);
    return true;
}

static bool mean_interval(const struct qs_leaf_case *c, double level, struct qs_ci *ci, double *middle)
{
    struct qs_ess ess;
    struct qs_moments m;
    enum qs_status status = qs_ess(c->x, c->n, c->breaks, c->n_breaks, &ess);
    if (qs_moments(c->x, c->n, &m) != QS_OK || (status != QS_OK && status != QS_EDEGENERATE))
        return false;
    *ci = qs_t_interval(m.mean, sqrt(m.var), status == QS_OK ? ess.n_eff : (double)c->n, level);
    *middle = m.mean;
    return true;
}

bool qs_leaf_ci_width(struct qs_leaf_case *c)
{
    const double *arg = c->rule->arg;
    struct qs_ci ci;
    double middle;
    if ((double)c->n < arg[3])
        return false;
    bool known = arg[0] == QS_CI_MEAN ? mean_interval(c, 1 - arg[2], &ci, &middle)
                                      : median_interval(c, 1 - arg[2], &ci, &middle);
    return known && middle > 0 && (ci.hi - ci.lo) / 2 <= arg[1] * middle;
}

/* Junge eq. 5, and section 8.2.2's cube root. */
bool qs_leaf_rse(struct qs_leaf_case *c)
{
    const double *arg = c->rule->arg;
    struct qs_moments m;
    if ((double)c->n < arg[1] || qs_moments(c->x, c->n, &m) != QS_OK || !(m.mean > 0))
        return false;
    double root = arg[2] == QS_ROOT_CUBE ? cbrt((double)c->n) : sqrt((double)c->n);
    return sqrt(m.var) / (root * m.mean) <= arg[0];
}

bool qs_leaf_planner(struct qs_leaf_case *c)
{
    double want = c->now->planned == SIZE_MAX ? c->rule->arg[1] : (double)c->now->planned;
    return (double)c->n >= fmin(c->rule->arg[1], fmax(c->rule->arg[0], want));
}

bool qs_leaf_external(struct qs_leaf_case *c)
{
    for (size_t i = 0; i < c->now->answer_count; i++)
        if (strcmp(c->now->answers[i].name, c->rule->name) == 0)
            return c->now->answers[i].holds;
    return false;
}

/* Rules that wait until the middle of the series stands still. */

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
bool qs_leaf_stable(struct qs_leaf_case *c)
{
    const double *arg = c->rule->arg, *y = c->x + c->state->start;
    size_t len = c->n - c->state->start, least = (size_t)arg[0];
    if (len < least)
        return false;
    if (is_constant(y, len))
        return true;
    double middle = qs_leaf_median(y, len, c->scratch);
    double unit = middle > 0 ? middle : c->resolution_ns;
    double first = qs_leaf_median(y, len / 2, c->scratch);
    double moved = fabs(first - qs_leaf_median(y + len / 2, len - len / 2, c->scratch)) / unit;
    if (moved <= arg[1]) {
        struct spread median, iqr;
        cumulative(y, len, c->scratch, &median, &iqr);
        if ((median.hi - median.lo) / unit <= arg[1] && (iqr.hi - iqr.lo) / unit <= arg[2])
            return true;
    }
    if (arg[3] == QS_STABLE_DROPS_OLDEST && len >= 2 * least && moved > 2 * arg[1])
        c->state->start += len / 4;
    return false;
}

bool qs_leaf_settled(struct qs_leaf_case *c)
{
    const double *arg = c->rule->arg;
    size_t parts = (size_t)arg[2], start = c->n / 2, each = (c->n - start) / parts;
    if ((double)c->n < arg[0] || each == 0)
        return false;
    struct spread s = {INFINITY, -INFINITY};
    for (size_t i = 0; i < parts; i++)
        widen(&s, qs_leaf_median(c->x + (c->n - (parts - i) * each), each, c->scratch));
    double middle = qs_leaf_median(c->x + start, c->n - start, c->scratch);
    c->state->tail = start;
    return s.hi - s.lo <= arg[1] * (middle > 0 ? middle : c->resolution_ns);
}

/* Junge's reactive rule, as futhark bench came to run it (statistics.md section 10). */

enum qs_status qs_futhark_metrics(const double *x, size_t n, const size_t *breaks, size_t n_breaks, int root,
                                  struct qs_futhark *out)
{
    *out = (struct qs_futhark){NAN, NAN};
    struct qs_moments m;
    enum qs_status status = qs_moments(x, n, &m);
    if (status != QS_OK)
        return status;
    if (!(m.mean > 0))
        return QS_EDOM;
    double sd = n > 1 ? sqrt(m.var * (double)(n - 1) / (double)n) : 0;
    out->rse = sd / ((root == QS_ROOT_CUBE ? cbrt((double)n) : sqrt((double)n)) * m.mean);
    double r[2] = {1, 1};
    if (n >= 3) {
        status = qs_acf(x, n, breaks, n_breaks, 1, r);
        if (status != QS_OK && status != QS_EDEGENERATE)
            return status;
    }
    out->r1 = n >= 3 && status == QS_OK ? r[1] : 1;
    return QS_OK;
}

bool qs_futhark_wants_more(const struct qs_futhark *m, int metrics, double strictness)
{
    static const struct {
        double r1_above, rse_above;
    } pairs[] = {{.95, .0010}, {.75, .0015}, {.65, .0025}, {.45, .0050}, {.00, .0100}};
    double r1 = metrics == QS_FUTHARK_CORRECTED ? fmax(m->r1, 1e-12) : m->r1;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (r1 > pairs[i].r1_above && m->rse > pairs[i].rse_above / strictness)
            return true;
    }
    return false;
}

/* The first phase: so many iterations and so much time. The very first iteration is the tool's warm-up. */
static bool initial_is_over(const struct qs_leaf_case *c, double initial_ns, double least)
{
    double sum = 0;
    for (size_t i = c->state->start; i < c->n; i++)
        sum += c->x[i];
    return (double)(c->n - c->state->start) >= least && sum >= initial_ns;
}

bool qs_leaf_futhark(struct qs_leaf_case *c)
{
    const double *arg = c->rule->arg;
    struct qs_leaf_state *s = c->state;
    if (s->start == 0)
        s->start = qs_less(1, c->n);
    size_t kept = c->n - s->start;
    if (!s->converges ? !initial_is_over(c, arg[1], arg[4]) : kept < s->target)
        return false;
    struct qs_futhark m;
    size_t breaks = qs_leaf_breaks(c, s->start);
    if (qs_futhark_metrics(c->x + s->start, kept, c->break_room, breaks, (int)arg[3], &m) != QS_OK)
        return false;
    if (!qs_futhark_wants_more(&m, (int)arg[0], arg[2]))
        return true;
    if (s->converges) {
        s->target = kept + (kept / 2 > 0 ? kept / 2 : 1);
    } else {
        s->start = c->n;
        s->target = kept / 2 > (size_t)arg[4] ? kept / 2 : (size_t)arg[4];
        s->converges = true;
    }
    return false;
}
