#include "stats/mixed.h"

#include "stats/special.h"
#include "stats/sum.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define CONTRADICT_P 0.001
#define WORTH_LEVEL  0.975
enum { AGREE_LEAST = 3 };

struct kind {
    double *v; /* borrowed */
    size_t n;
    struct qs_moments m;
};

static struct qs_ttest t_of(const struct qs_moments *m, double level)
{
    struct qs_ttest t = {
        .diff = m->mean, .se = NAN, .t = NAN, .df = NAN, .p = NAN, .sd = {NAN, NAN}, .n = {m->n, 0}};
    t.ci = qs_ci_none(level);
    if (m->n < 2)
        return t;
    double rounding = 4 * DBL_EPSILON * (1 + fabs(m->mean)), sd = sqrt(m->var);
    t.sd[0] = sd <= rounding ? 0 : sd; /* equal ratios differ by the rounding of their quotients */
    t.se = t.sd[0] / sqrt((double)m->n);
    if (t.se > 0) {
        t.df = (double)m->n - 1;
        t.t = t.diff / t.se;
        t.p = qs_pt_two_sided(t.t, t.df);
    } else {
        t.flags |= QS_FLAG_EXACT;
        t.p = t.diff < 0 || t.diff > 0 ? 0 : 1;
    }
    t.ci = qs_ttest_ci(&t, level);
    return t;
}

/* Quantile of F(a, b), by bisection on the incomplete beta function. */
static double f_quantile(double p, double a, double b)
{
    enum { STEPS = 100 };
    double lo = 0, hi = 1;
    for (int i = 0; i < STEPS; i++) {
        double x = (lo + hi) / 2;
        if (qs_pbeta(x, a / 2, b / 2) < p)
            lo = x;
        else
            hi = x;
    }
    return lo * b / (a * (1 - lo));
}

/* What a clean value is worth at least, where a disturbed one is worth 1. */
static double weight_of_clean(const struct kind kinds[QS_KINDS], double *ret_scatter)
{
    const struct kind *clean = &kinds[QS_CLEAN], *off = &kinds[QS_DISTURBED];
    double sum = 0;
    for (size_t i = 0; i < off->n; i++)
        sum += (off->v[i] - clean->m.mean) * (off->v[i] - clean->m.mean);
    double scatter = sum / (double)off->n - clean->m.var / (double)clean->n;
    *ret_scatter = scatter > 0 ? scatter : 0;
    if (!(clean->m.var > 0) || !(scatter > 0))
        return 1;
    double bound = scatter / clean->m.var / f_quantile(WORTH_LEVEL, (double)off->n, (double)clean->n - 1);
    return bound > 1 ? bound : 1;
}

/* tr(QO)^2 / tr((QO)^2) of the quadratic form Q that estimates the variance, where O has a variance for each
 * kind.
 */
static double satterthwaite(const size_t n[QS_KINDS], const double a[QS_KINDS], const double h[QS_KINDS],
                            const double var[QS_KINDS])
{
    double s = (double)n[0] * a[0] + (double)n[1] * a[1], trace = 0, squares = 0;
    for (int i = 0; i < QS_KINDS; i++) {
        double count = (double)n[i], diagonal = var[i] * (a[i] - 2 * a[i] * h[i] + s * h[i] * h[i]);
        trace += count * diagonal;
        squares += count * diagonal * diagonal;
        for (int k = 0; k < QS_KINDS; k++) {
            double off = s * h[i] * h[k] - a[i] * h[k] - a[k] * h[i];
            double pairs = i == k ? count * (count - 1) : count * (double)n[k];
            squares += pairs * var[i] * var[k] * off * off;
        }
    }
    double df = squares > 0 ? trace * trace / squares : 1, most = (double)(n[0] + n[1]) - 1;
    return df < 1 ? 1 : df > most ? most : df;
}

static void weighted(const struct kind kinds[QS_KINDS], double level, struct qs_mixed *out)
{
    double scatter = 0, w[QS_KINDS] = {weight_of_clean(kinds, &scatter), 1}, total = 0, sum = 0;
    double a[QS_KINDS], h[QS_KINDS], variance = 0;
    const double var[QS_KINDS] = {kinds[QS_CLEAN].m.var, scatter};
    const size_t n[QS_KINDS] = {kinds[QS_CLEAN].n, kinds[QS_DISTURBED].n};
    for (int k = 0; k < QS_KINDS; k++) {
        total += w[k] * (double)n[k];
        sum += w[k] * (double)n[k] * kinds[k].m.mean;
    }
    double mean = sum / total;
    for (int k = 0; k < QS_KINDS; k++) {
        h[k] = w[k] / total;
        a[k] = h[k] * h[k] / (1 - h[k]);
        for (size_t i = 0; i < n[k]; i++)
            variance += a[k] * (kinds[k].v[i] - mean) * (kinds[k].v[i] - mean);
    }
    struct qs_ttest *t = &out->test;
    out->worth = 1 / w[QS_CLEAN];
    t->n[0] = n[0] + n[1];
    t->diff = mean;
    t->se = sqrt(variance);
    t->sd[0] = t->se * sqrt((double)t->n[0]);
    t->df = satterthwaite(n, a, h, var);
    t->t = t->diff / t->se;
    t->p = qs_pt_two_sided(t->t, t->df);
    t->ci = qs_ttest_ci(t, level);
}

static void judge(struct kind kinds[QS_KINDS], const struct qs_moments *all, double level,
                  struct qs_mixed *out)
{
    struct qs_ttest apart;
    const struct kind *clean = &kinds[QS_CLEAN], *off = &kinds[QS_DISTURBED];
    out->worth = 1;
    out->test = t_of(all, level);
    for (int k = 0; k < QS_KINDS; k++)
        out->alone[k] = t_of(&kinds[k].m, level);
    if (clean->n >= AGREE_LEAST && off->n >= AGREE_LEAST &&
        qs_welch(clean->v, clean->n, off->v, off->n, level, &apart) == QS_OK)
        out->agree_p = apart.p;
    out->contradict = out->agree_p < CONTRADICT_P;
    if (out->contradict) {
        out->test = out->alone[QS_CLEAN];
        out->worth = 0;
    } else if (clean->n >= 2 && off->n > 0 && clean->m.var > 0 && out->test.se > 0) {
        weighted(kinds, level, out);
    }
}

enum qs_status qs_mixed_mean(const double *d, const bool *disturbed, size_t n, double level,
                             struct qs_mixed *out)
{
    struct qs_moments all = {.mean = NAN};
    *out = (struct qs_mixed){.agree_p = NAN, .worth = NAN};
    out->test = out->alone[QS_CLEAN] = out->alone[QS_DISTURBED] = t_of(&all, level);
    if (n == 0)
        return QS_ENODATA;
    if (!(level > 0 && level < 1))
        return QS_EDOM;
    double *sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        return QS_ENOMEM;
    struct kind kinds[QS_KINDS] = {{.m = all}, {.m = all}};
    size_t at = 0;
    for (int k = 0; k < QS_KINDS; k++) {
        kinds[k].v = sorted + at;
        for (size_t i = 0; i < n; i++)
            if ((disturbed && disturbed[i]) == (k == QS_DISTURBED))
                sorted[at++] = d[i];
        kinds[k].n = (size_t)(sorted + at - kinds[k].v);
        if (kinds[k].n > 0)
            (void)qs_moments(kinds[k].v, kinds[k].n, &kinds[k].m);
    }
    enum qs_status status = qs_moments(d, n, &all);
    if (status == QS_OK || status == QS_ETOOFEW)
        judge(kinds, &all, level, out);
    free(sorted);
    return n == 1 && status == QS_OK ? QS_ETOOFEW : status;
}

/* The clean blocks alone, in their order. */
static enum qs_status clean_blocks(const double *x, const double *y, const bool *disturbed, size_t n,
                                   double level, struct qs_paired *out)
{
    double *kept = malloc(2 * n * sizeof *kept);
    size_t count = 0;
    if (!kept)
        return QS_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        if (disturbed[i])
            continue;
        kept[count] = x[i];
        kept[n + count++] = y[i];
    }
    enum qs_status status = qs_paired_blocks(kept, kept + n, count, level, out);
    free(kept);
    return status;
}

static void take_weighted(struct qs_paired *out, const struct qs_ttest *t, double level)
{
    out->test.log = *t;
    out->test.log.n[1] = t->n[0];
    out->test.ratio = exp(t->diff);
    out->test.ci = qs_ttest_ci(t, level);
    out->test.ci.lo = exp(out->test.ci.lo);
    out->test.ci.hi = exp(out->test.ci.hi);
}

enum qs_status qs_mixed_blocks(const double *x, const double *y, const bool *disturbed, size_t n,
                               double level, struct qs_paired *out, struct qs_mixed *ret_mixed)
{
    double *d = n > 0 && n < SIZE_MAX / (2 * sizeof *d) ? malloc(n * sizeof *d) : NULL;
    enum qs_status status = qs_paired_blocks(x, y, n, level, out);
    *ret_mixed = (struct qs_mixed){.agree_p = NAN, .worth = NAN};
    if (!d)
        return n > 0 && status == QS_OK ? QS_ENOMEM : status;
    for (size_t i = 0; i < n && status == QS_OK; i++)
        d[i] = log(y[i]) - log(x[i]);
    if (status == QS_OK)
        status = qs_mixed_mean(d, disturbed, n, level, ret_mixed);
    if (status == QS_OK && ret_mixed->contradict)
        status = clean_blocks(x, y, disturbed, n, level, out);
    else if (status == QS_OK && ret_mixed->worth < 1)
        take_weighted(out, &ret_mixed->test, level);
    free(d);
    return status;
}
