/* From the values of two sides to what may be said of one metric. */
#include "report/sides/verdict.h"

#include <math.h>
#include <stdlib.h>

#include "report/job/impl.h"

static struct qs_verdict_opts options_of(const struct qs_sides_how *how, const struct qs_arm_metric *metric)
{
    struct qs_verdict_opts opts = qs_verdict_opts_default();
    opts.margin = how->margin_ratio;
    opts.alpha = how->alpha;
    opts.call_alpha = QS_REPORT_CALL_SHARE * how->alpha;
    opts.lower_is_better = !metric->higher_is_better;
    return opts;
}

static void compute(const struct qs_sides_verdict *ret, const struct qs_verdict_opts *opts,
                    struct qs_verdict *out, struct qs_mixed *mixed)
{
    const struct qs_side_values *x = &ret->side[QS_BASE], *y = &ret->side[QS_CAND];
    if (ret->paired) {
        (void)qs_verdict_mixed_blocks(x->v, y->v, x->disturbed, x->n, x->dropped, opts, out, mixed);
    } else {
        const struct qs_side_runs base = {x->v, x->n, x->dropped, x->disturbed},
                                  cand = {y->v, y->n, y->dropped, y->disturbed};
        (void)qs_verdict_mixed_runs(&base, &cand, opts, out, mixed);
    }
}

static bool is_constant(const struct qs_side_values *v, double value)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->v[i] != value)
            return false;
    return true;
}

/* Values of 0 have no logarithm: equal on both sides they are equal, otherwise nothing can be said. */
static void judge_zeros(struct qs_sides_verdict *ret)
{
    const struct qs_side_values *x = &ret->side[QS_BASE], *y = &ret->side[QS_CAND];
    if (ret->v.reason == QS_REASON_TOO_FEW_RUNS || isfinite(ret->v.ratio))
        return;
    bool equal = is_constant(x, x->v[0]) && is_constant(y, x->v[0]);
    ret->v.kind = equal ? QS_VERDICT_EQUIVALENT : QS_VERDICT_INCONCLUSIVE;
    ret->reason = equal ? "no-spread" : "not-positive";
}

/* One session a side: what differs from one session to the next is not in the interval. It is allowed another
 * margin before a change is called without a doubt. */
static void ask_sessions(struct qs_sides_verdict *ret, const struct qs_verdict_opts *opts)
{
    bool regression = ret->v.kind == QS_VERDICT_REGRESSION;
    struct qs_verdict_opts wider = *opts;
    struct qs_verdict far;
    struct qs_mixed mixed;
    if (!ret->one_session || (!regression && ret->v.kind != QS_VERDICT_IMPROVEMENT))
        return;
    wider.margin = (1 + opts->margin) * (1 + opts->margin) - 1;
    compute(ret, &wider, &far, &mixed);
    if (far.kind == ret->v.kind)
        return;
    ret->v.kind = regression ? QS_VERDICT_PROBABLE_REGRESSION : QS_VERDICT_PROBABLE_IMPROVEMENT;
    ret->reason = "one-session";
}

void qs_sides_ask_rates(struct qs_sides_verdict *ret, const struct qs_sides_rates *rates, double alpha)
{
    bool lost = rates->lost_p < alpha, timed_out = rates->timeout_p < alpha;
    if (!qs_verdict_is_good(ret->v.kind) || (!lost && !timed_out))
        return;
    ret->v.kind = QS_VERDICT_INCONCLUSIVE;
    ret->reason = timed_out ? "timeout-rates-differ" : "taint-rates-differ";
}

void qs_sides_conclude(const struct qs_sides_how *how, const struct qs_arm_metric *metric,
                       struct qs_sides_verdict *ret)
{
    struct qs_verdict_opts opts = options_of(how, metric);
    bool shifted = ret->shift.cells > 0;
    opts.extra_se = shifted ? ret->shift.extra_se : 0;
    opts.extra_df = ret->shift.df;
    compute(ret, &opts, &ret->v, &ret->mixed);
    if (shifted)
        ret->v.method = "log-welch-shifted";
    ret->reason = qs_verdict_reason_name(ret->v.reason);
    judge_zeros(ret);
    ask_sessions(ret, &opts);
}

bool qs_sides_is_doubtful(const struct qs_sides_how *how, const struct qs_sides_verdict *v)
{
    bool called = v->v.kind == QS_VERDICT_REGRESSION || v->v.kind == QS_VERDICT_IMPROVEMENT ||
                  v->v.kind == QS_VERDICT_PROBABLE_REGRESSION || v->v.kind == QS_VERDICT_PROBABLE_IMPROVEMENT;
    return called && v->p_bh > how->alpha;
}

bool qs_sides_is_regression(const struct qs_sides_how *how, const struct qs_sides_verdict *v)
{
    return v->v.kind == QS_VERDICT_REGRESSION && !qs_sides_is_doubtful(how, v);
}

void qs_side_values_done(struct qs_side_values *v)
{
    free(v->v);
    free(v->disturbed);
    free(v->iterations);
    free(v->runs);
    free(v->groups);
    *v = (struct qs_side_values){0};
}
