/* The verdicts: what is the unit, what the interval says of it, and what forbids to say it. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/report_impl.h"
#include "report/sides_impl.h"
#include "stats/multi.h"
#include "stats/proportion.h"

/* As many clean blocks as a job wants by default; with fewer, disturbed ones count too, and the document says
 * so. */
enum { CLEAN_ENOUGH = 6, PAIRS_LEAST = 2, SESSIONS_LEAST = 2 };

/* Marks the units that count; true where disturbed ones had to. */
static bool choose(const struct qs_side_units *units, const bool *eligible, bool *used)
{
    size_t clean = 0, soft = 0;
    for (size_t i = 0; i < units->count; i++) {
        bool counts = eligible[i] && isfinite(units->at[i].value);
        clean += counts && !units->at[i].soft;
        soft += counts && units->at[i].soft;
    }
    bool take_soft = soft > 0 && clean < CLEAN_ENOUGH;
    for (size_t i = 0; i < units->count; i++)
        used[i] = eligible[i] && isfinite(units->at[i].value) && (!units->at[i].soft || take_soft);
    return take_soft;
}

/* The unit of the other side in the same block, or -1. */
static ptrdiff_t partner(const struct qs_side_units *units, const struct qs_side_unit *of)
{
    for (size_t i = 0; i < units->count; i++)
        if (units->at[i].job == of->job && units->at[i].block == of->block)
            return (ptrdiff_t)i;
    return -1;
}

/* Blocks that have both sides: eligible of each. A pair is as clean as its worse half. */
static size_t find_pairs(struct qs_side_units units[2], bool *eligible[2])
{
    size_t pairs = 0;
    for (size_t i = 0; i < units[0].count; i++) {
        struct qs_side_unit *x = &units[0].at[i];
        ptrdiff_t k = partner(&units[1], x);
        struct qs_side_unit *y = k >= 0 ? &units[1].at[k] : NULL;
        if (!y || !isfinite(x->value) || !isfinite(y->value))
            continue;
        x->soft = y->soft = x->soft || y->soft;
        eligible[0][i] = eligible[1][k] = true;
        pairs++;
    }
    return pairs;
}

static size_t finite_units(const struct qs_side_units *units)
{
    size_t n = 0;
    for (size_t i = 0; i < units->count; i++)
        n += isfinite(units->at[i].value) ? 1 : 0;
    return n;
}

static size_t sessions_of(const struct qs_side_units *units, const bool *used)
{
    size_t n = 0;
    int64_t last = -1;
    for (size_t i = 0; i < units->count; i++) {
        if (!used[i])
            continue;
        n += n == 0 || units->at[i].session != last;
        last = units->at[i].session;
    }
    return n;
}

static void all_eligible(const struct qs_side_units units[2], bool *eligible[2])
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < units[side].count; i++)
            eligible[side][i] = true;
}

/* Chooses the level and the units, and gathers their values. */
static void gather(const struct qs_sides_pair *pair, size_t metric, struct qs_sides_verdict *ret)
{
    struct qs_side_units units[2];
    bool *eligible[2], *used[2];
    for (int k = 0; k < 2; k++) {
        qs_sides_units(pair->series[k], metric, &units[k]);
        eligible[k] = qs_calloc(units[k].count + 1, sizeof **eligible);
        used[k] = qs_calloc(units[k].count + 1, sizeof **used);
    }
    size_t pairs = find_pairs(units, eligible), most = 0, sessions[2];
    for (int k = 0; k < 2; k++)
        most = finite_units(&units[k]) > most ? finite_units(&units[k]) : most;
    bool paired = pairs >= PAIRS_LEAST && 2 * pairs >= most;
    if (!paired)
        all_eligible(units, eligible);
    for (int k = 0; k < 2; k++) {
        ret->uses_soft = choose(&units[k], eligible[k], used[k]) || ret->uses_soft;
        sessions[k] = sessions_of(&units[k], used[k]);
    }
    bool by_session = !paired && sessions[0] >= SESSIONS_LEAST && sessions[1] >= SESSIONS_LEAST;
    ret->level = paired ? QS_SIDES_BLOCKS : by_session ? QS_SIDES_SESSIONS : QS_SIDES_RUNS;
    ret->one_session = ret->level == QS_SIDES_RUNS && pairs == 0;
    for (int k = 0; k < 2; k++) {
        qs_sides_fill(pair->series[k], metric, &units[k], used[k], by_session, &ret->side[k]);
        free(units[k].at);
        free(eligible[k]);
        free(used[k]);
    }
}

static bool has_values(const struct qs_sides_pair *pair, size_t metric)
{
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < pair->series[k]->count; i++)
            if (pair->series[k]->runs[i]->clean[metric].n + pair->series[k]->runs[i]->soft[metric].n > 0)
                return true;
    return false;
}

static void judge_metric(const struct qs_sides *s, const struct qs_sides_pair *pair, size_t metric,
                         struct qs_sides_verdict *ret)
{
    *ret = (struct qs_sides_verdict){.reason = "none", .p_bh = NAN};
    struct qs_progress piece;
    bool go_on = qs_work_begin(s->work, "judge", qs_sides_judge_ns(pair, metric), &piece);
    if (!go_on || (metric > 0 && !has_values(pair, metric)))
        return;
    gather(pair, metric, ret);
    qs_sides_conclude(&s->how, &s->in->runs[QS_BASE]->metrics[metric], ret);
    qs_sides_exact(s, pair, metric, ret);
    qs_sides_ask_rates(ret, &pair->rates, s->in->alpha);
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
            r->lost[k] += run->state != QS_RUN_DONE || run->clean[0].n == 0;
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
static void judge_over(const struct qs_sides *s, const struct qs_sides_point *point, size_t metric,
                       struct qs_sides_verdict *ret)
{
    *ret = (struct qs_sides_verdict){.level = QS_SIDES_DEVICES, .reason = "none", .p_bh = NAN};
    for (int k = 0; k < 2; k++)
        ret->side[k].v = qs_calloc(point->count + 1, sizeof *ret->side[k].v);
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
    qs_sides_conclude(&s->how, &s->in->runs[QS_BASE]->metrics[metric], ret);
    qs_sides_ask_rates(ret, &point->rates, s->in->alpha);
}

static void judge_point(const struct qs_sides *s, struct qs_sides_point *point)
{
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
            judge_metric(s, pair, m, &pair->metrics[m]);
    }
    test_rates(&point->rates);
    if (point->count < 2)
        return;
    point->over = qs_calloc(metrics, sizeof *point->over);
    for (size_t m = 0; m < metrics; m++)
        judge_over(s, point, m, &point->over[m]);
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
    s->selected += *p <= s->in->alpha;
}

static void adjust(struct qs_sides *s)
{
    each(s, count_one, NULL);
    double *p = qs_calloc(s->family + 1, sizeof *p);
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
