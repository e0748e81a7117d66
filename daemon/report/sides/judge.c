/* The verdicts: what the interval says of the units, and what forbids to say it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/sides/impl.h"

static bool has_values(const struct qs_sides_pair *pair, size_t metric)
{
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < pair->series[k]->count; i++)
            if (pair->series[k]->runs[i]->values[metric].n > 0)
                return true;
    return false;
}

/* Of a metric that is declared deterministic; ret is judged already. */
static void judge_exact(const struct qs_sides_pair *pair, size_t metric, struct qs_comparison *ret)
{
    if (!ret->metric->deterministic)
        return;
    ret->exact = qs_exact_new(true);
    for (int k = 0; k < 2; k++) {
        const struct qs_side_series *series = pair->series[k];
        for (size_t i = 0; i < series->count; i++)
            qs_exact_look(series->runs[i]->values[metric].at, series->runs[i]->values[metric].n,
                          &ret->exact.constant[k], &ret->exact.value[k]);
    }
    qs_comparison_judge_exact(ret);
}

/* Two arms of one name, and what was pooled, are told apart by their side. */
static void name_sides(const struct qs_sides_pair *pair, struct qs_comparison *ret)
{
    const struct qs_side_series *base = pair->series[QS_BASE], *cand = pair->series[QS_CAND];
    bool by_side = strcmp(base->arm, cand->arm) == 0 || base->pooled > 1 || cand->pooled > 1;
    ret->names[QS_BASE] = by_side ? "the base" : base->arm;
    ret->names[QS_CAND] = by_side ? "the candidate" : cand->arm;
}

static void judge_metric(struct qs_sides *s, const struct qs_judging *how, const struct qs_sides_pair *pair,
                         size_t metric, struct qs_comparison *ret)
{
    *ret = qs_comparison_new(how, &s->in->runs[QS_BASE]->metrics[metric]);
    name_sides(pair, ret);
    struct qs_progress piece;
    bool go_on = qs_work_begin(s->work, "judge", qs_sides_judge_ns(pair, metric), &piece);
    if (!go_on || (metric > 0 && !has_values(pair, metric)))
        return;
    if (qs_sides_judge_own(s, pair, metric, ret))
        return;
    qs_sides_gather(pair, metric, how->alpha, ret);
    qs_comparison_conclude(how, ret);
    judge_exact(pair, metric, ret);
    qs_comparison_ask_rates(ret, &pair->rates);
}

static void count_rates(struct qs_sides_pair *pair)
{
    struct qs_lost_rates *r = &pair->rates;
    for (int k = 0; k < 2; k++) {
        const struct qs_side_series *series = pair->series[k];
        for (size_t i = 0; i < series->count; i++)
            qs_lost_rates_add(r, k, series->runs[i]);
    }
    qs_lost_rates_test(r);
}

static double geometric_mean(const struct qs_side_values *side)
{
    double sum = 0;
    for (size_t i = 0; i < side->n; i++)
        sum += side->v[i] > 0 ? log(side->v[i]) : NAN;
    return side->n > 0 ? exp(sum / (double)side->n) : NAN;
}

/* Devices are a level: one value a device and side, paired by device. What was compared exactly needs none.
 */
static void judge_over(const struct qs_sides *s, const struct qs_judging *how,
                       const struct qs_sides_point *point, size_t metric, struct qs_comparison *ret)
{
    *ret = qs_comparison_new(how, &s->in->runs[QS_BASE]->metrics[metric]);
    name_sides(&point->pairs[0], ret);
    ret->units = QS_UNITS_DEVICES;
    ret->paired = true;
    for (int k = 0; k < 2; k++) {
        ret->side[k].fold = QS_UNITS_DEVICES;
        ret->side[k].v = qs_calloc(point->count, sizeof *ret->side[k].v);
    }
    for (size_t i = 0; i < point->count; i++) {
        const struct qs_comparison *one = &point->pairs[i].metrics[metric];
        double x = geometric_mean(&one->side[QS_BASE]), y = geometric_mean(&one->side[QS_CAND]);
        bool counts = x > 0 && y > 0 && !qs_comparison_is_exact(one);
        for (int k = 0; k < 2; k++) {
            ret->side[k].v[ret->side[k].n] = k == QS_BASE ? x : y;
            ret->side[k].n += counts;
            ret->side[k].dropped += !counts;
        }
        ret->uses_tainted = ret->uses_tainted || one->uses_tainted;
    }
    if (ret->side[QS_BASE].n == 0)
        return;
    qs_comparison_conclude(how, ret);
    qs_comparison_ask_rates(ret, &point->rates);
}

static void judge_point(struct qs_sides *s, struct qs_sides_point *point)
{
    struct qs_judging how = s->how;
    how.margin_ratio = point->margin_ratio;
    size_t metrics = s->in->runs[QS_BASE]->metric_count;
    for (size_t i = 0; i < point->count; i++) {
        struct qs_sides_pair *pair = &point->pairs[i];
        count_rates(pair);
        for (int k = 0; k < 2; k++) {
            point->rates.runs[k] += pair->rates.runs[k];
            point->rates.lost[k] += pair->rates.lost[k];
            point->rates.timed_out[k] += pair->rates.timed_out[k];
        }
        pair->metrics = qs_calloc(metrics, sizeof *pair->metrics);
        for (size_t m = 0; m < metrics; m++)
            judge_metric(s, &how, pair, m, &pair->metrics[m]);
    }
    qs_lost_rates_test(&point->rates);
    if (point->count < 2)
        return;
    point->over = qs_calloc(metrics, sizeof *point->over);
    for (size_t m = 0; m < metrics; m++)
        judge_over(s, &how, point, m, &point->over[m]);
}

bool qs_sides_is_known(const struct qs_comparison *c, size_t metric)
{
    bool on_device = c->units != QS_UNITS_DEVICES;
    size_t n = c->side[QS_BASE].n;
    return on_device ? metric == 0 || n + c->side[QS_CAND].n > 0 : n > 0;
}

/* All that stand in the document, in its order. Those that stand in the family and are regressions: one that
 * is expected by chance among so many ends no build. */
static void adjust(struct qs_sides *s)
{
    size_t metrics = s->in->runs[QS_BASE]->metric_count;
    for (size_t i = 0; i < s->point_count; i++) {
        struct qs_sides_point *point = &s->points[i];
        for (size_t k = 0; k <= point->count; k++) {
            struct qs_comparison *list = k < point->count ? point->pairs[k].metrics : point->over;
            for (size_t m = 0; list && m < metrics; m++)
                if (qs_sides_is_known(&list[m], m))
                    qs_comparisons_add(&s->all, &list[m]);
        }
    }
    qs_comparisons_adjust(&s->all, s->how.alpha);
    for (size_t i = 0; i < s->all.count; i++)
        s->regressions += qs_comparison_is_regression(s->all.at[i]);
}

void qs_sides_judge(struct qs_sides *s)
{
    for (size_t i = 0; i < s->point_count && !s->refused; i++)
        judge_point(s, &s->points[i]);
    adjust(s);
}
