#include "stats/mixed_fold.h"

#include "stats/mixed.h"
#include "stats/special.h"
#include "stats/sum.h"
#include "stats/variance.h"

#include <math.h>
#include <stdlib.h>

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
