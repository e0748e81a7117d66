#include "stats/mixed.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "stats/pick.h"
#include "stats/special.h"
#include "stats/sum.h"
#include "stats/variance.h"

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

/* What a clean value is worth at least, where a disturbed one is worth 1. */
static double weight_of_clean(const struct kind kinds[QS_KINDS], double *ret_scatter)
{
    const struct kind *clean = &kinds[QS_CLEAN], *off = &kinds[QS_DISTURBED];
    double sum = 0;
    for (size_t i = 0; i < off->n; i++)
        sum += (off->v[i] - clean->m.mean) * (off->v[i] - clean->m.mean);
    double scatter = sum / (double)off->n - clean->m.var / (double)clean->n;
    *ret_scatter = fmax(0, scatter);
    if (!(clean->m.var > 0) || !(scatter > 0))
        return 1;
    double bound = scatter / clean->m.var / qs_qf(WORTH_LEVEL, (double)off->n, (double)clean->n - 1);
    return fmax(1, bound);
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
    return fmax(1, fmin(df, most));
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

/* --- two samples ---------------------------------------------------------------------------------------- */

/* Of one side: clean values first, in one block of memory that out[0].v owns. */
static bool split_side(const struct qs_mixed_side *side, struct kind out[QS_KINDS])
{
    double *v = malloc((side->n + 1) * sizeof *v);
    size_t at = 0;
    for (int k = 0; v && k < QS_KINDS; k++) {
        out[k] = (struct kind){.v = v + at, .m = {.mean = NAN, .var = NAN}};
        for (size_t i = 0; i < side->n; i++)
            if ((side->disturbed && side->disturbed[i]) == (k == QS_DISTURBED))
                v[at++] = side->v[i];
        out[k].n = (size_t)(v + at - out[k].v);
        if (out[k].n > 0)
            (void)qs_moments(out[k].v, out[k].n, &out[k].m);
    }
    return v;
}

/* What n values a side say of a difference beside one value a side. */
static double pairs_of(const struct kind side[2])
{
    double a = (double)side[0].n, b = (double)side[1].n;
    return a * b / (a + b);
}

static double pooled_var(const struct kind side[2], double *ret_df)
{
    double a = (double)side[0].n - 1, b = (double)side[1].n - 1;
    *ret_df = a + b;
    return (a * side[0].m.var + b * side[1].m.var) / (a + b);
}

/* Both differences as one: their weights are those of what the kinds are surely worth. */
static void join(struct kind kinds[QS_KINDS][2], double level, struct qs_mixed *out)
{
    const struct qs_ttest *clean = &out->alone[QS_CLEAN], *off = &out->alone[QS_DISTURBED];
    struct qs_ttest *t = &out->test;
    double df[QS_KINDS], var[QS_KINDS];
    for (int k = 0; k < QS_KINDS; k++)
        var[k] = pooled_var(kinds[k], &df[k]);
    double bound = var[QS_DISTURBED] / var[QS_CLEAN] / qs_qf(WORTH_LEVEL, df[QS_DISTURBED], df[QS_CLEAN]);
    out->worth = bound > 1 ? 1 / bound : 1;
    double a = pairs_of(kinds[QS_CLEAN]), b = pairs_of(kinds[QS_DISTURBED]) * out->worth;
    double va = pow(a / (a + b) * clean->se, 2), vb = pow(b / (a + b) * off->se, 2);
    t->diff = (a * clean->diff + b * off->diff) / (a + b);
    t->se = sqrt(va + vb);
    t->df = pow(va + vb, 2) / (va * va / clean->df + vb * vb / off->df);
    t->t = t->diff / t->se;
    t->p = qs_pt_two_sided(t->t, t->df);
    for (int i = 0; i < 2; i++) {
        t->n[i] = clean->n[i] + off->n[i];
        t->sd[i] = t->se * sqrt((double)t->n[i] / 2);
    }
    t->ci = qs_ttest_ci(t, level);
}

/* Of no difference between both differences: Welch, from their standard errors. */
static double agreement(const struct qs_ttest *a, const struct qs_ttest *b)
{
    double va = a->se * a->se, vb = b->se * b->se, se = sqrt(va + vb);
    double df = pow(va + vb, 2) / (va * va / a->df + vb * vb / b->df);
    return qs_pt_two_sided((a->diff - b->diff) / se, df);
}

static size_t fewest(const struct kind side[2])
{
    return qs_less(side[0].n, side[1].n);
}

/* Whether the kinds of one side tell of different values beyond chance. */
static bool differ(struct kind kinds[QS_KINDS][2], int side, double level, double *ret_p)
{
    struct qs_ttest t;
    const struct kind *clean = &kinds[QS_CLEAN][side], *off = &kinds[QS_DISTURBED][side];
    if (clean->n < QS_MIXED_LEAST || off->n < QS_MIXED_LEAST ||
        qs_welch(clean->v, clean->n, off->v, off->n, level, &t) != QS_OK)
        return false;
    *ret_p = t.p;
    return t.p < CONTRADICT_P;
}

static enum qs_status judge_two(struct kind kinds[QS_KINDS][2], double level, struct qs_mixed *out)
{
    bool both = true;
    for (int k = 0; k < QS_KINDS; k++) {
        enum qs_status status =
            qs_welch(kinds[k][0].v, kinds[k][0].n, kinds[k][1].v, kinds[k][1].n, level, &out->alone[k]);
        if (status == QS_EDOM || status == QS_ENOMEM)
            return status;
        both = both && fewest(kinds[k]) >= QS_MIXED_LEAST && out->alone[k].se > 0;
    }
    if (both) {
        out->agree_p = agreement(&out->alone[QS_CLEAN], &out->alone[QS_DISTURBED]);
        out->contradict = out->agree_p < CONTRADICT_P;
    } else if (fewest(kinds[QS_CLEAN]) >= QS_MIXED_LEAST) {
        out->contradict = differ(kinds, 0, level, &out->agree_p) || differ(kinds, 1, level, &out->agree_p);
    }
    bool disturbed = kinds[QS_DISTURBED][0].n + kinds[QS_DISTURBED][1].n > 0;
    if (both && !out->contradict) {
        join(kinds, level, out);
    } else if (out->contradict || (disturbed && fewest(kinds[QS_CLEAN]) >= QS_MIXED_ENOUGH)) {
        out->test = out->alone[QS_CLEAN];
        out->worth = 0;
    }
    return QS_OK;
}

enum qs_status qs_mixed_two(const struct qs_mixed_side *x, const struct qs_mixed_side *y, double level,
                            struct qs_mixed *out)
{
    struct kind sides[2][QS_KINDS] = {{{.n = 0}}}, kinds[QS_KINDS][2];
    *out = (struct qs_mixed){.agree_p = NAN, .worth = NAN};
    enum qs_status status = qs_welch(x->v, x->n, y->v, y->n, level, &out->test);
    out->alone[QS_CLEAN] = out->alone[QS_DISTURBED] = out->test;
    if (status != QS_OK)
        return status;
    bool ready = split_side(x, sides[0]) && split_side(y, sides[1]);
    for (int k = 0; k < QS_KINDS; k++)
        for (int i = 0; i < 2; i++)
            kinds[k][i] = sides[i][k];
    status = ready ? judge_two(kinds, level, out) : QS_ENOMEM;
    free(sides[0][QS_CLEAN].v);
    free(sides[1][QS_CLEAN].v);
    return status;
}

/* --- blocks --------------------------------------------------------------------------------------------- */

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
    double *d = malloc((n + 1) * sizeof *d);
    enum qs_status status = qs_paired_blocks(x, y, n, level, out);
    *ret_mixed = (struct qs_mixed){.agree_p = NAN, .worth = NAN};
    if (!d)
        return QS_ENOMEM;
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

#define WORTH_LEVEL 0.975

/* Of one kind in a cell, or in a group. */
struct part {
    size_t n;
    double mean, squares;
};

static struct part part_of(const struct qs_fold_value *values, size_t n, bool disturbed)
{
    struct part p = {0, 0, 0};
    for (size_t i = 0; i < n; i++) {
        if (values[i].disturbed != disturbed)
            continue;
        double off = values[i].v - p.mean;
        p.n++;
        p.mean += off / (double)p.n;
        p.squares += off * (values[i].v - p.mean);
    }
    return p;
}

struct sums {
    size_t cells;
    double weight, first, second, squares_of_weights; /* of the contrasts: sums of s, s d, s s d d, s s */
    double cross;                                     /* of s s d */
    double squares[QS_KINDS], df[QS_KINDS];           /* within cells */
};

static void add_cell(struct sums *s, const struct qs_fold_value *values, size_t n)
{
    struct part kind[QS_KINDS];
    for (int k = 0; k < QS_KINDS; k++) {
        kind[k] = part_of(values, n, k == QS_DISTURBED);
        s->squares[k] += kind[k].squares;
        s->df[k] += fmax(0, (double)kind[k].n - 1);
    }
    if (kind[QS_CLEAN].n == 0 || kind[QS_DISTURBED].n == 0)
        return;
    double a = (double)kind[QS_CLEAN].n, b = (double)kind[QS_DISTURBED].n, w = a * b / (a + b);
    double d = kind[QS_DISTURBED].mean - kind[QS_CLEAN].mean;
    s->cells++;
    s->weight += w;
    s->first += w * d;
    s->second += w * w * d * d;
    s->cross += w * w * d;
    s->squares_of_weights += w * w;
}

/* Contrasts of several sessions tell by their own scatter how far they hold elsewhere. */
static bool find_shift(const struct sums *s, struct qs_mixed_fold *out)
{
    double df = s->df[QS_CLEAN] + s->df[QS_DISTURBED], n = (double)s->cells;
    out->cells = s->cells;
    if (s->cells == 0 || (s->cells == 1 && !(df > 0)))
        return false;
    out->shift = s->first / s->weight;
    if (s->cells == 1) {
        out->shift_se = sqrt((s->squares[QS_CLEAN] + s->squares[QS_DISTURBED]) / df / s->weight);
        out->df = df;
    } else {
        double d = out->shift, sum = s->second - 2 * d * s->cross + d * d * s->squares_of_weights;
        out->shift_se = sqrt(fmax(0, sum) * n / (n - 1)) / s->weight;
        out->df = n - 1;
    }
    double half = out->shift_se > 0 ? -qs_qt((1 - out->ci.level) / 2, out->df) * out->shift_se : 0;
    out->ci.lo = out->shift - half;
    out->ci.hi = out->shift + half;
    return true;
}

static double worth_of(const struct sums *s)
{
    const double *df = s->df, clean = s->squares[QS_CLEAN] / df[QS_CLEAN],
                 off = s->squares[QS_DISTURBED] / df[QS_DISTURBED];
    if (!(df[QS_CLEAN] > 0 && df[QS_DISTURBED] > 0 && clean > 0))
        return 1;
    double bound = off / clean / qs_qf(WORTH_LEVEL, df[QS_DISTURBED], df[QS_CLEAN]);
    return bound > 1 ? 1 / bound : 1;
}

/* The weights of both kinds, group by group; group numbers are below n. */
static bool find_shares(const struct qs_fold_value *values, size_t n, struct qs_mixed_fold *out)
{
    double groups[2] = {0, 0}, (*weight)[2][QS_KINDS] = calloc(n, sizeof *weight);
    for (size_t i = 0; weight && i < n; i++)
        weight[values[i].group][values[i].side][values[i].disturbed ? QS_DISTURBED : QS_CLEAN] +=
            values[i].disturbed ? out->worth : 1;
    out->share[0] = out->share[1] = 0;
    for (size_t i = 0; weight && i < 2 * n; i++) {
        const double *w = weight[i / 2][i % 2];
        if (w[QS_CLEAN] + w[QS_DISTURBED] > 0) {
            groups[i % 2]++;
            out->share[i % 2] += w[QS_DISTURBED] / (w[QS_CLEAN] + w[QS_DISTURBED]);
        }
    }
    for (int k = 0; k < 2; k++)
        out->share[k] = groups[k] > 0 ? out->share[k] / groups[k] : 0;
    free(weight);
    return weight != NULL;
}

enum qs_status qs_mixed_fold(const struct qs_fold_value *values, size_t n, double level,
                             struct qs_mixed_fold *out)
{
    struct sums sums = {.cells = 0};
    *out = (struct qs_mixed_fold){.shift = NAN,
                                  .shift_se = NAN,
                                  .df = NAN,
                                  .worth = NAN,
                                  .share = {NAN, NAN},
                                  .extra_se = NAN,
                                  .ci = qs_ci_none(level)};
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i].v) || values[i].group >= n)
            return QS_EDOM;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && values[end].cell == values[i].cell && values[end].side == values[i].side;)
            end++;
        add_cell(&sums, values + i, end - i);
    }
    if (!find_shift(&sums, out)) {
        out->cells = 0;
        return QS_ENODATA;
    }
    out->worth = worth_of(&sums);
    if (!find_shares(values, n, out))
        return QS_ENOMEM;
    out->extra_se = fabs(out->share[1] - out->share[0]) * out->shift_se;
    return QS_OK;
}
