#include "stats/twosample.h"

#include "stats/pick.h"
#include "stats/special.h"
#include "stats/sum.h"
#include "stats/trend.h"

#include <float.h>
#include <stdbool.h>
#include <stdlib.h>

static double log_ratio(double y, double x)
{
    double q = y / x;
    return q > 0 && isfinite(q) ? log(q) : log(y) - log(x);
}

static bool is_positive(double x)
{
    return isfinite(x) && x > 0;
}

/* Blocks with one and the same ratio differ by the rounding of their quotients: that is no spread. */
static double spread_of(const struct qs_moments *m)
{
    double rounding = 4 * DBL_EPSILON * (1 + fabs(m->mean));
    double sd = sqrt(m->var);
    return sd <= rounding ? 0 : sd;
}

static void paired_t(const struct qs_moments *m, double level, struct qs_ratio_test *out)
{
    struct qs_ttest *t = &out->log;
    t->diff = m->mean;
    t->sd[0] = spread_of(m);
    out->ratio = exp(m->mean);
    if (m->n < 2)
        return;
    t->se = t->sd[0] / sqrt((double)m->n);
    if (t->se > 0) {
        t->df = (double)m->n - 1;
        t->t = t->diff / t->se;
        t->p = qs_pt_two_sided(t->t, t->df);
    } else {
        t->flags |= QS_FLAG_EXACT;
        t->p = t->diff < 0 || t->diff > 0 ? 0 : 1;
    }
    t->ci = qs_ttest_ci(t, level);
    out->ci = t->ci;
    out->ci.lo = exp(t->ci.lo);
    out->ci.hi = exp(t->ci.hi);
}

static void sign_test(const double *d, size_t n, struct qs_paired *out)
{
    for (size_t i = 0; i < n; i++) {
        out->n_up += d[i] > 0;
        out->n_down += d[i] < 0;
    }
    if (out->n_up + out->n_down < n)
        out->flags |= QS_FLAG_TIES;
    size_t fewer = qs_less(out->n_up, out->n_down);
    out->sign_p = fmin(1, 2 * qs_pbinom((double)fewer, (double)(out->n_up + out->n_down), 0.5));
}

enum { DRIFT_MOST = 2000 }; /* its slopes are n^2/2 */

static enum qs_status analyse(const double *d, size_t n, double level, struct qs_paired *out)
{
    struct qs_moments m;
    enum qs_status status = qs_moments(d, n, &m);
    if (status != QS_OK)
        return status;
    paired_t(&m, level, &out->test);
    sign_test(d, n, out);
    return n > DRIFT_MOST ? QS_OK : qs_theil_sen(d, n, NULL, &out->drift);
}

enum qs_status qs_paired_blocks(const double *x, const double *y, size_t n, double level,
                                struct qs_paired *out)
{
    struct qs_ci none = qs_ci_none(level);
    struct qs_ttest no_test = {
        .diff = NAN, .se = NAN, .t = NAN, .df = NAN, .p = NAN, .ci = none, .sd = {NAN, NAN}, .n = {n, n}};
    *out =
        (struct qs_paired){.test = {.ratio = NAN, .ci = none, .log = no_test}, .sign_p = NAN, .drift = NAN};
    if (n == 0)
        return QS_ENODATA;
    if (!(level > 0 && level < 1))
        return QS_EDOM;
    for (size_t i = 0; i < n; i++)
        if (!is_positive(x[i]) || !is_positive(y[i]))
            return QS_EDOM;
    double *d = malloc(n * sizeof *d);
    if (!d)
        return QS_ENOMEM;
    for (size_t i = 0; i < n; i++)
        d[i] = log_ratio(y[i], x[i]);
    enum qs_status status = analyse(d, n, level, out);
    free(d);
    return status;
}
