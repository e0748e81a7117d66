#include "stats/twosample.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "stats/pick.h"
#include "stats/ranks.h"
#include "stats/ranks_parts.h"
#include "stats/special.h"
#include "stats/sum.h"
#include "stats/trend.h"

static struct qs_ttest no_test(double level)
{
    return (struct qs_ttest){
        .diff = NAN, .se = NAN, .t = NAN, .df = NAN, .p = NAN, .ci = qs_ci_none(level), .sd = {NAN, NAN}};
}

struct qs_ci qs_ttest_ci(const struct qs_ttest *test, double level)
{
    struct qs_ci ci = qs_ci_none(level);
    if (isnan(test->diff) || isnan(test->se) || !(level > 0 && level < 1))
        return ci;
    double half = test->flags & QS_FLAG_EXACT ? 0 : -qs_qt((1 - level) / 2, test->df) * test->se;
    ci.lo = test->diff - half;
    ci.hi = test->diff + half;
    ci.flags = test->flags & QS_FLAG_EXACT;
    return ci;
}

/* v1, v2: the squared standard errors of the two means. Scaled, so that tiny variances do not underflow. */
static double satterthwaite(double v1, size_t n1, double v2, size_t n2)
{
    double share = v1 / (v1 + v2);
    return 1 / (share * share / (double)(n1 - 1) + (1 - share) * (1 - share) / (double)(n2 - 1));
}

/* se is set; df counts only where something varies. */
static void finish(struct qs_ttest *out, double df, double level)
{
    if (out->se > 0) {
        out->t = out->diff / out->se;
        out->df = df;
        out->p = qs_pt_two_sided(out->t, out->df);
    } else {
        out->flags |= QS_FLAG_EXACT;
        out->p = out->diff < 0 || out->diff > 0 ? 0 : 1;
    }
    out->ci = qs_ttest_ci(out, level);
}

static enum qs_status begin(const double *x, size_t nx, const double *y, size_t ny, double level,
                            struct qs_moments m[2], struct qs_ttest *out)
{
    *out = no_test(level);
    out->n[0] = nx;
    out->n[1] = ny;
    enum qs_status status = qs_moments_of_two(x, nx, y, ny, m);
    if (status != QS_OK || !(level > 0 && level < 1))
        return status == QS_ENODATA ? status : QS_EDOM;
    out->diff = m[1].mean - m[0].mean;
    out->sd[0] = sqrt(m[0].var);
    out->sd[1] = sqrt(m[1].var);
    return nx < 2 || ny < 2 ? QS_ETOOFEW : QS_OK;
}

enum qs_status qs_welch(const double *x, size_t nx, const double *y, size_t ny, double level,
                        struct qs_ttest *out)
{
    struct qs_moments m[2];
    enum qs_status status = begin(x, nx, y, ny, level, m, out);
    if (status != QS_OK)
        return status;
    double v1 = m[0].var / (double)nx, v2 = m[1].var / (double)ny;
    out->se = sqrt(v1 + v2);
    finish(out, satterthwaite(v1, nx, v2, ny), level);
    return QS_OK;
}

enum qs_status qs_pooled(const double *x, size_t nx, const double *y, size_t ny, double level,
                         struct qs_ttest *out, double *ret_sd)
{
    struct qs_moments m[2];
    *ret_sd = NAN;
    enum qs_status status = begin(x, nx, y, ny, level, m, out);
    if (status != QS_OK)
        return status;
    double df = (double)(nx - 1) + (double)(ny - 1);
    *ret_sd = sqrt((double)(nx - 1) / df * m[0].var + (double)(ny - 1) / df * m[1].var);
    out->se = *ret_sd * sqrt(1 / (double)nx + 1 / (double)ny);
    finish(out, df, level);
    return QS_OK;
}

/* logs: nx + ny doubles */
static enum qs_status log_welch_into(const double *x, size_t nx, const double *y, size_t ny, double level,
                                     double *logs, struct qs_ratio_test *out)
{
    enum qs_status sx = qs_logs(x, nx, logs), sy = qs_logs(y, ny, logs + nx);
    if (sx == QS_EDOM || sy == QS_EDOM)
        return QS_EDOM;
    enum qs_status status = qs_welch(logs, nx, logs + nx, ny, level, &out->log);
    out->ratio = exp(out->log.diff);
    out->ci = out->log.ci;
    out->ci.lo = exp(out->ci.lo);
    out->ci.hi = exp(out->ci.hi);
    return status;
}

enum qs_status qs_log_welch(const double *x, size_t nx, const double *y, size_t ny, double level,
                            struct qs_ratio_test *out)
{
    *out = (struct qs_ratio_test){.ratio = NAN, .ci = qs_ci_none(level), .log = no_test(level)};
    out->log.n[0] = nx;
    out->log.n[1] = ny;
    double *logs = malloc((nx + ny + 1) * sizeof *logs);
    if (!logs)
        return QS_ENOMEM;
    enum qs_status status = log_welch_into(x, nx, y, ny, level, logs, out);
    free(logs);
    return status;
}

static struct qs_mwu nothing(size_t nx, size_t ny)
{
    return (struct qs_mwu){.u = NAN, .cles = NAN, .cliff = NAN, .p = NAN, .p_min = NAN, .n = {nx, ny}};
}

static double normal_p(const struct qs_ranks_pair *pair, bool corrected)
{
    double n1 = (double)pair->n1, n2 = (double)pair->n2, n = n1 + n2;
    double sigma = sqrt(n1 * n2 / 12 * (n + 1 - pair->ties / (n * (n - 1))));
    double off = fabs(pair->u - n1 * n2 / 2);
    if (corrected)
        off = fmax(off - 0.5, 0);
    return sigma > 0 && pair->groups > 1 ? fmin(1, 2 * qs_pnorm(-off / sigma)) : 1;
}

static enum qs_status exact_p(const struct qs_ranks_pair *pair, double *ret)
{
    double *chance, tail = 0, all = (double)pair->n1 * (double)pair->n2;
    enum qs_status status = qs_ranks_distribution(pair->n1, pair->n2, &chance);
    if (status != QS_OK)
        return status;
    for (size_t u = 0; (double)u <= fmin(pair->u, all - pair->u); u++)
        tail += chance[u];
    free(chance);
    *ret = fmin(1, 2 * tail);
    return QS_OK;
}

/* Twice the midrank less two of each pooled value, ascending: whole numbers from 0. */
static void doubled_ranks(const struct qs_ranks_pair *pair, unsigned *scores)
{
    size_t from = 0;
    for (size_t i = 0, j = 0; qs_ranks_step(pair, &i, &j); from = i + j) {
        for (size_t k = from; k < i + j; k++)
            scores[k] = (unsigned)(from + i + j - 1);
    }
}

/* ways[m][s]: the subsets of m of the scores so far that sum to s. */
static void count_subsets(double *ways, const unsigned *scores, size_t n, size_t m_max, size_t s_max)
{
    ways[0] = 1;
    for (size_t k = 0; k < n; k++) {
        for (size_t m = qs_less(k + 1, m_max); m > 0; m--) {
            double *row = ways + m * (s_max + 1);
            const double *less = row - (s_max + 1);
            for (size_t s = scores[k]; s <= s_max; s++)
                row[s] += less[s - scores[k]];
        }
    }
}

static double both_tails(const double *ways, size_t s_max, size_t seen)
{
    double below = 0, above = 0, all = 0;
    for (size_t s = 0; s <= s_max; s++) {
        all += ways[s];
        below += s <= seen ? ways[s] : 0;
        above += s >= seen ? ways[s] : 0;
    }
    return fmin(1, 2 * fmin(below, above) / all);
}

/* The distribution of y's rank sum over all ways to deal out these very values (Streitberg & Roehmel 1986).
 */
static enum qs_status tied_p(const struct qs_ranks_pair *pair, double *ret)
{
    size_t n = pair->n1 + pair->n2, s_max = 0;
    unsigned *scores = calloc(n, sizeof *scores);
    if (!scores)
        return QS_ENOMEM;
    doubled_ranks(pair, scores);
    for (size_t k = n - pair->n2; k < n; k++)
        s_max += scores[k];
    double *ways = calloc((pair->n2 + 1) * (s_max + 1), sizeof *ways);
    if (ways) {
        /* the rank sum of y is u + n2(n2+1)/2; doubled, less two for each */
        size_t seen = (size_t)(2 * pair->u) + pair->n2 * (pair->n2 - 1);
        count_subsets(ways, scores, n, pair->n2, s_max);
        *ret = both_tails(ways + pair->n2 * (s_max + 1), s_max, seen);
    }
    free(scores);
    free(ways);
    return ways ? QS_OK : QS_ENOMEM;
}

static enum qs_status find_p(const struct qs_ranks_pair *pair, enum qs_ranks_method method,
                             struct qs_mwu *out)
{
    out->exact = qs_ranks_is_exact(pair, (int)method);
    if (!out->exact) {
        out->p = normal_p(pair, method != QS_RANKS_NORMAL_UNCORRECTED);
        return QS_OK;
    }
    if (pair->n1 > QS_RANKS_EXACT_MAX || pair->n2 > QS_RANKS_EXACT_MAX)
        return QS_EDOM;
    return pair->ties > 0 ? tied_p(pair, &out->p) : exact_p(pair, &out->p);
}

enum qs_status qs_mwu(const double *x, size_t nx, const double *y, size_t ny, enum qs_ranks_method method,
                      struct qs_mwu *out)
{
    struct qs_ranks_pair pair;
    *out = nothing(nx, ny);
    enum qs_status status = qs_ranks_pair_init(&pair, x, nx, y, ny);
    if (status != QS_OK)
        return status;
    out->u = pair.u;
    out->cles = pair.u / (double)nx / (double)ny;
    out->cliff = 2 * out->cles - 1;
    out->p_min = fmin(1, 2 / qs_ranks_arrangements(nx, ny));
    out->flags = pair.ties != 0 ? QS_FLAG_TIES : 0;
    status = find_p(&pair, method, out);
    qs_ranks_pair_done(&pair);
    return status;
}

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

static double ln_choose(size_t n, size_t k)
{
    return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

double qs_fisher_exact(size_t hit1, size_t n1, size_t hit2, size_t n2)
{
    const double slack = 1 + 1e-7; /* R's allowance for ties in floating point */
    if (hit1 > n1 || hit2 > n2)
        return NAN;
    size_t hits = hit1 + hit2, n = n1 + n2;
    if (n1 == 0 || n2 == 0 || hits == 0 || hits == n)
        return 1;
    double all = ln_choose(n, hits), seen = exp(ln_choose(n1, hit1) + ln_choose(n2, hit2) - all), p = 0;
    size_t lo = hits > n2 ? hits - n2 : 0, hi = qs_less(hits, n1);
    for (size_t k = lo; k <= hi; k++) {
        double one = exp(ln_choose(n1, k) + ln_choose(n2, hits - k) - all);
        if (one <= seen * slack)
            p += one;
    }
    return fmin(1, p);
}
