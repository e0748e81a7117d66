/* The verdicts: what the interval says of the units, and what forbids to say it. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/job/impl.h"
#include "report/sides/impl.h"
#include "stats/multi.h"
#include "stats/proportion.h"

static bool has_values(const struct qs_sides_pair *pair, size_t metric)
{
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < pair->series[k]->count; i++)
            if (pair->series[k]->runs[i]->values[metric].n > 0)
                return true;
    return false;
}

static void judge_metric(struct qs_sides *s, const struct qs_sides_how *how, const struct qs_sides_pair *pair,
                         size_t metric, struct qs_sides_verdict *ret)
{
    *ret = (struct qs_sides_verdict){.reason = "none", .p_bh = NAN};
    struct qs_progress piece;
    bool go_on = qs_work_begin(s->work, "judge", qs_sides_judge_ns(pair, metric), &piece);
    if (!go_on || (metric > 0 && !has_values(pair, metric)))
        return;
    if (qs_sides_judge_own(s, pair, metric, ret))
        return;
    qs_sides_gather(pair, metric, how->alpha, ret);
    qs_sides_conclude(how, &s->in->runs[QS_BASE]->metrics[metric], ret);
    qs_sides_exact(s, pair, metric, ret);
    qs_sides_ask_rates(ret, &pair->rates, s->how.alpha);
}

static void test_rates(struct qs_sides_rates *r)
{
    r->lost_p = qs_fisher_exact(r->lost[0], r->runs[0], r->lost[1], r->runs[1]);
    r->timeout_p = qs_fisher_exact(r->timed_out[0], r->runs[0], r->timed_out[1], r->runs[1]);
}

static void count_rates(struct qs_sides_pair *pair)
{
    struct qs_sides_rates *r = &pair->rates;
    for (int k = 0; k < 2; k++) {
        const struct qs_side_series *series = pair->series[k];
        for (size_t i = 0; i < series->count; i++) {
            const struct qs_arm_run *run = series->runs[i];
            r->runs[k]++;
            r->lost[k] += run->state != QS_RUN_DONE || run->values[0].n == 0 || run->values[0].disturbed;
            r->timed_out[k] += (run->taints & QS_TAINT_TIMEOUT) != 0;
        }
    }
    test_rates(r);
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
static void judge_over(const struct qs_sides *s, const struct qs_sides_how *how,
                       const struct qs_sides_point *point, size_t metric, struct qs_sides_verdict *ret)
{
    *ret =
        (struct qs_sides_verdict){.level = QS_SIDES_DEVICES, .paired = true, .reason = "none", .p_bh = NAN};
    for (int k = 0; k < 2; k++)
        ret->side[k].v = qs_calloc(point->count, sizeof *ret->side[k].v);
    for (size_t i = 0; i < point->count; i++) {
        const struct qs_sides_verdict *one = &point->pairs[i].metrics[metric];
        double x = geometric_mean(&one->side[QS_BASE]), y = geometric_mean(&one->side[QS_CAND]);
        bool counts = x > 0 && y > 0 && !qs_sides_is_exact(one);
        for (int k = 0; k < 2; k++) {
            ret->side[k].v[ret->side[k].n] = k == QS_BASE ? x : y;
            ret->side[k].n += counts;
            ret->side[k].dropped += !counts;
        }
        ret->uses_soft = ret->uses_soft || one->uses_soft;
    }
    if (ret->side[QS_BASE].n == 0)
        return;
    qs_sides_conclude(how, &s->in->runs[QS_BASE]->metrics[metric], ret);
    qs_sides_ask_rates(ret, &point->rates, s->how.alpha);
}

static void judge_point(struct qs_sides *s, struct qs_sides_point *point)
{
    struct qs_sides_how how = s->how;
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
    test_rates(&point->rates);
    if (point->count < 2)
        return;
    point->over = qs_calloc(metrics, sizeof *point->over);
    for (size_t m = 0; m < metrics; m++)
        judge_over(s, &how, point, m, &point->over[m]);
}

/* Calls visit for every verdict that has a p, in the order of the document. */
static void each(struct qs_sides *s, void (*visit)(struct qs_sides *, struct qs_sides_verdict *, double *),
                 double *p)
{
    size_t metrics = s->in->runs[QS_BASE]->metric_count, n = 0;
    for (size_t i = 0; i < s->point_count; i++) {
        struct qs_sides_point *point = &s->points[i];
        for (size_t k = 0; k <= point->count; k++) {
            struct qs_sides_verdict *list = k < point->count ? point->pairs[k].metrics : point->over;
            for (size_t m = 0; list && m < metrics; m++)
                if (list[m].side[QS_BASE].n + list[m].side[QS_CAND].n > 0 && !isnan(list[m].v.p))
                    visit(s, &list[m], p ? &p[n++] : NULL);
        }
    }
}

static void count_one(struct qs_sides *s, struct qs_sides_verdict *v, double *p)
{
    (void)v;
    (void)p;
    s->family++;
}

static void take_one(struct qs_sides *s, struct qs_sides_verdict *v, double *p)
{
    (void)s;
    *p = v->v.p;
}

static void give_one(struct qs_sides *s, struct qs_sides_verdict *v, double *p)
{
    v->p_bh = *p;
    s->selected += *p <= s->how.alpha;
}

static void adjust(struct qs_sides *s)
{
    each(s, count_one, NULL);
    double *p = qs_calloc(s->family, sizeof *p);
    each(s, take_one, p);
    (void)qs_adjust(p, s->family, QS_MULTI_BH, p);
    each(s, give_one, p);
    free(p);
}

/* Those that stand: a regression that is expected by chance among so many ends no build. */
static void count_regressions(struct qs_sides *s)
{
    size_t metrics = s->in->runs[QS_BASE]->metric_count;
    for (size_t i = 0; i < s->point_count; i++) {
        const struct qs_sides_point *point = &s->points[i];
        for (size_t k = 0; k <= point->count; k++) {
            const struct qs_sides_verdict *list = k < point->count ? point->pairs[k].metrics : point->over;
            for (size_t m = 0; list && m < metrics; m++)
                s->regressions += list[m].side[QS_BASE].n > 0 && qs_sides_is_regression(&s->how, &list[m]);
        }
    }
}

void qs_sides_judge(struct qs_sides *s)
{
    for (size_t i = 0; i < s->point_count; i++)
        judge_point(s, &s->points[i]);
    adjust(s);
    count_regressions(s);
}
