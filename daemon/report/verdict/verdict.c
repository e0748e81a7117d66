/* From the values of two sides to what may be said of one metric. */
#include "report/verdict/verdict.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stats/multi.h"

struct qs_comparison qs_comparison_new(const struct qs_judging *how, const struct qs_arm_metric *metric)
{
    return (struct qs_comparison){.metric = metric,
                                  .alpha = how->alpha,
                                  .margin_ratio = how->margin_ratio,
                                  .v = {.kind = QS_VERDICT_INCONCLUSIVE,
                                        .ratio = NAN,
                                        .l95 = qs_ci_none(1 - how->alpha),
                                        .l90 = qs_ci_none(1 - 2 * how->alpha),
                                        .p = NAN,
                                        .df = NAN,
                                        .mde_ratio = NAN,
                                        .sd_log = NAN,
                                        .sign_p = NAN,
                                        .drift = NAN},
                                  .reason = "none",
                                  .lost_p = NAN,
                                  .timeout_p = NAN,
                                  .p_bh = NAN,
                                  .seconds_per_unit = NAN};
}

static struct qs_verdict_opts options_of(const struct qs_judging *how, const struct qs_arm_metric *metric)
{
    struct qs_verdict_opts opts = qs_verdict_opts_default();
    opts.margin = how->margin_ratio;
    opts.alpha = how->alpha;
    opts.call_alpha = QS_CALL_SHARE * how->alpha;
    opts.lower_is_better = !metric->higher_is_better;
    opts.resolution_ratio = how->resolution_ratio;
    return opts;
}

static void compute(const struct qs_comparison *ret, const struct qs_verdict_opts *opts,
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
static void judge_zeros(struct qs_comparison *ret)
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
static void ask_sessions(struct qs_comparison *ret, const struct qs_verdict_opts *opts)
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

void qs_comparison_ask_rates(struct qs_comparison *ret, const struct qs_lost_rates *rates)
{
    bool lost = rates->lost_p < ret->alpha, timed_out = rates->timeout_p < ret->alpha;
    ret->lost_p = rates->lost_p;
    ret->timeout_p = rates->timeout_p;
    if (!qs_verdict_is_good(ret->v.kind) || (!lost && !timed_out))
        return;
    ret->v.kind = QS_VERDICT_INCONCLUSIVE;
    ret->reason = timed_out ? "timeout-rates-differ" : "taint-rates-differ";
}

void qs_comparison_conclude(const struct qs_judging *how, struct qs_comparison *ret)
{
    struct qs_verdict_opts opts = options_of(how, ret->metric);
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

struct qs_exact qs_exact_new(bool declared)
{
    return (struct qs_exact){.declared = declared, .constant = {true, true}, .value = {NAN, NAN}};
}

void qs_exact_look(const double *v, size_t n, bool *constant, double *value)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(*value))
            *value = v[i];
        *constant = *constant && v[i] == *value;
    }
}

bool qs_comparison_is_exact(const struct qs_comparison *c)
{
    return c->exact.declared && c->exact.constant[QS_BASE] && c->exact.constant[QS_CAND];
}

/* One value a side, compared as it is: any difference is a change, and no sample of it is needed. A metric
 * that varies within a side is not deterministic: it stays judged like a time. */
void qs_comparison_judge_exact(struct qs_comparison *ret)
{
    for (int k = 0; k < 2; k++) {
        bool one = ret->exact.constant[k] && !isnan(ret->exact.value[k]);
        ret->exact.constant[k] = one;
        ret->exact.value[k] = one ? ret->exact.value[k] : NAN;
    }
    double x = ret->exact.value[QS_BASE], y = ret->exact.value[QS_CAND];
    if (!qs_comparison_is_exact(ret))
        return;
    bool worse = ret->metric->higher_is_better ? y < x : y > x;
    ret->v.kind = y == x ? QS_VERDICT_EQUIVALENT : worse ? QS_VERDICT_REGRESSION : QS_VERDICT_IMPROVEMENT;
    ret->v.ratio = x != 0 ? y / x : y == x ? 1 : NAN;
    ret->v.p = NAN; /* nothing was drawn: there is no chance to weigh */
    ret->reason = "exact";
}

bool qs_comparison_is_doubtful(const struct qs_comparison *c)
{
    bool called = c->v.kind == QS_VERDICT_REGRESSION || c->v.kind == QS_VERDICT_IMPROVEMENT ||
                  c->v.kind == QS_VERDICT_PROBABLE_REGRESSION || c->v.kind == QS_VERDICT_PROBABLE_IMPROVEMENT;
    return called && c->p_bh > c->alpha;
}

bool qs_comparison_is_regression(const struct qs_comparison *c)
{
    return c->v.kind == QS_VERDICT_REGRESSION && !qs_comparison_is_doubtful(c);
}

void qs_comparisons_add(struct qs_comparisons *all, struct qs_comparison *one)
{
    all->at = qs_grow(all->at, all->count, sizeof *all->at);
    all->at[all->count++] = one;
}

/* Of a hundred at 5 % five would differ by chance alone. */
void qs_comparisons_adjust(struct qs_comparisons *all, double q)
{
    double *p = qs_calloc(all->count, sizeof *p);
    size_t n = 0;
    for (size_t i = 0; i < all->count; i++)
        if (!isnan(all->at[i]->v.p))
            p[n++] = all->at[i]->v.p;
    (void)qs_adjust(p, n, QS_MULTI_BH, p);
    all->tested = n;
    all->selected = n = 0;
    for (size_t i = 0; i < all->count; i++) {
        struct qs_comparison *c = all->at[i];
        c->p_bh = isnan(c->v.p) ? NAN : p[n++];
        all->selected += c->p_bh <= q;
    }
    all->q = q;
    all->fcr_level = qs_fcr_level(all->selected, all->tested, q);
    free(p);
}

void qs_comparisons_put(struct qs_json *j, const struct qs_comparisons *all)
{
    qs_json_kobject(j, "family");
    qs_json_kint(j, "comparisons", (int64_t)all->tested);
    qs_json_kdouble(j, "q", all->q);
    qs_json_kint(j, "selected", (int64_t)all->selected);
    qs_json_kdouble(j, "fcr_level", all->fcr_level);
    qs_json_object_end(j);
}

void qs_comparisons_done(struct qs_comparisons *all)
{
    free(all->at);
    *all = (struct qs_comparisons){0};
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

void qs_comparison_done(struct qs_comparison *c)
{
    for (int k = 0; k < 2; k++)
        qs_side_values_done(&c->side[k]);
}
