#include "stats/verdict.h"

#include "stats/mixed.h"
#include "stats/power.h"
#include "stats/special.h"
#include "stats/sum.h"
#include "stats/twosample.h"

#include <math.h>
#include <stdlib.h>

const char *qs_verdict_name(enum qs_verdict_kind kind)
{
    static const char *const names[] = {
        [QS_VERDICT_REGRESSION] = "regression",
        [QS_VERDICT_IMPROVEMENT] = "improvement",
        [QS_VERDICT_PROBABLE_REGRESSION] = "probable-regression",
        [QS_VERDICT_PROBABLE_IMPROVEMENT] = "probable-improvement",
        [QS_VERDICT_NEGLIGIBLE] = "negligible",
        [QS_VERDICT_EQUIVALENT] = "equivalent",
        [QS_VERDICT_INCONCLUSIVE] = "inconclusive",
    };
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "inconclusive";
}

const char *qs_verdict_reason_name(enum qs_verdict_reason reason)
{
    static const char *const names[] = {"none", "too-few-runs", "wide-interval", "borderline", "no-spread"};
    return (unsigned)reason < sizeof names / sizeof *names ? names[reason] : "none";
}

bool qs_verdict_is_good(enum qs_verdict_kind kind)
{
    return kind != QS_VERDICT_REGRESSION && kind != QS_VERDICT_PROBABLE_REGRESSION &&
           kind != QS_VERDICT_INCONCLUSIVE;
}

const struct qs_ci *qs_verdict_interval(const struct qs_verdict *v)
{
    bool within = v->kind == QS_VERDICT_NEGLIGIBLE || v->kind == QS_VERDICT_EQUIVALENT;
    return within ? &v->l90 : &v->l95;
}

struct qs_verdict_opts qs_verdict_opts_default(void)
{
    return (struct qs_verdict_opts){.version = QS_VERDICT_VERSION,
                                    .margin = 0.02,
                                    .alpha = 0.05,
                                    .call_alpha = 0.05,
                                    .power = 0.8,
                                    .lower_is_better = true,
                                    .resolution_ratio = 0};
}

static bool opts_are_valid(const struct qs_verdict_opts *o)
{
    return o->version == QS_VERDICT_VERSION && o->margin >= 0 && isfinite(o->margin) && o->alpha > 0 &&
           o->alpha < 0.5 && o->call_alpha > 0 && o->call_alpha <= o->alpha && o->power > o->alpha / 2 &&
           o->power < 1 && o->extra_se >= 0 && o->resolution_ratio >= 0 && isfinite(o->resolution_ratio);
}

static struct qs_power_opts power_opts(const struct qs_verdict_opts *o)
{
    return (struct qs_power_opts){
        .alpha = o->alpha, .power = o->power, .resolution_ratio = o->resolution_ratio};
}

static void start(struct qs_verdict *out, const char *method, const struct qs_verdict_opts *o)
{
    *out = (struct qs_verdict){.kind = QS_VERDICT_INCONCLUSIVE,
                               .reason = QS_REASON_NONE,
                               .ratio = NAN,
                               .l95 = qs_ci_none(1 - o->alpha),
                               .l90 = qs_ci_none(1 - 2 * o->alpha),
                               .p = NAN,
                               .df = NAN,
                               .mde_ratio = NAN,
                               .sd_log = NAN,
                               .sign_p = NAN,
                               .drift = NAN,
                               .method = method,
                               .version = QS_VERDICT_VERSION};
}

/* The interval on the axis where up is worse. */
static struct qs_ci worse_up(struct qs_ci log_ci, bool lower_is_better)
{
    if (!lower_is_better) {
        double lo = log_ci.lo;
        log_ci.lo = -log_ci.hi;
        log_ci.hi = -lo;
    }
    return log_ci;
}

static bool lies_within(const struct qs_ci *ci, double bound)
{
    return ci->lo >= -bound && ci->hi <= bound;
}

/* The table of 8.9 from its second row on; a and b are the wide and the narrow interval of the log ratio. */
static void decide(struct qs_verdict *out, const struct qs_ci *a, const struct qs_ci *b, double bound)
{
    out->direction = a->lo > 0 ? 1 : a->hi < 0 ? -1 : 0;
    if (a->lo > bound)
        out->kind = QS_VERDICT_REGRESSION;
    else if (a->hi < -bound)
        out->kind = QS_VERDICT_IMPROVEMENT;
    else if (out->direction != 0 && lies_within(b, bound))
        out->kind = QS_VERDICT_NEGLIGIBLE;
    else if (out->direction != 0)
        out->kind = out->direction > 0 ? QS_VERDICT_PROBABLE_REGRESSION : QS_VERDICT_PROBABLE_IMPROVEMENT;
    else if (lies_within(b, bound))
        out->kind = QS_VERDICT_EQUIVALENT;
    else if (out->reason == QS_REASON_NONE)
        out->reason = QS_REASON_WIDE_INTERVAL;
}

/* Where intervals are wider than the margin, a call at alpha is wrong as often as alpha says. A stricter
 * level for the call alone keeps the interval as it is and says less. */
static void ask_again(struct qs_verdict *out, double call_alpha)
{
    switch (out->kind) {
    case QS_VERDICT_REGRESSION:
    case QS_VERDICT_IMPROVEMENT:
    case QS_VERDICT_PROBABLE_REGRESSION:
    case QS_VERDICT_PROBABLE_IMPROVEMENT:
        if (!(out->p < call_alpha)) {
            out->kind = QS_VERDICT_INCONCLUSIVE;
            out->reason = QS_REASON_BORDERLINE;
        }
        break;
    case QS_VERDICT_NEGLIGIBLE:
    case QS_VERDICT_EQUIVALENT:
    case QS_VERDICT_INCONCLUSIVE:
        break;
    }
}

/* Two readings of a clock can each be wrong by a tick. Where nothing varied, that is all the doubt there is;
 * a difference of one tick must not exclude 0 by a rounding error. */
static struct qs_ci widen(struct qs_ci log_ci, double resolution_ratio)
{
    double half = log1p(resolution_ratio) * (1 + 1e-9);
    log_ci.lo -= half;
    log_ci.hi += half;
    return log_ci;
}

static struct qs_ci exp_ci(struct qs_ci ci)
{
    ci.lo = exp(ci.lo);
    ci.hi = exp(ci.hi);
    return ci;
}

/* From a test on logs to a verdict. */
static void conclude(struct qs_verdict *out, const struct qs_ttest *log, const struct qs_verdict_opts *o)
{
    struct qs_ci wide = qs_ttest_ci(log, 1 - o->alpha), narrow = qs_ttest_ci(log, 1 - 2 * o->alpha);
    out->p = log->p;
    out->df = log->df;
    out->flags |= log->flags;
    if (log->flags & QS_FLAG_EXACT) {
        out->reason = QS_REASON_NO_SPREAD;
        wide = widen(wide, o->resolution_ratio);
        narrow = widen(narrow, o->resolution_ratio);
    }
    out->l95 = exp_ci(wide);
    out->l90 = exp_ci(narrow);
    wide = worse_up(wide, o->lower_is_better);
    narrow = worse_up(narrow, o->lower_is_better);
    decide(out, &wide, &narrow, log1p(o->margin));
    if (o->call_alpha < o->alpha)
        ask_again(out, o->call_alpha);
}

/* Welch on logs, by kind where there are two. */
static enum qs_status test_logs(const struct qs_side_runs *base, const struct qs_side_runs *cand,
                                double level, struct qs_mixed *out)
{
    double *logs = malloc((base->n + cand->n + 1) * sizeof *logs);
    struct qs_mixed_side x = {logs, base->disturbed, base->n};
    enum qs_status status = logs ? qs_logs(base->v, base->n, logs) : QS_ENOMEM;
    if (status == QS_OK) {
        struct qs_mixed_side y = {logs + base->n, cand->disturbed, cand->n};
        status = qs_logs(cand->v, cand->n, logs + base->n);
        status = status == QS_OK ? qs_mixed_two(&x, &y, level, out) : status;
    }
    free(logs);
    return status;
}

static bool any(const struct qs_side_runs *side)
{
    for (size_t i = 0; side->disturbed && i < side->n; i++)
        if (side->disturbed[i])
            return true;
    return false;
}

static void count_runs(struct qs_verdict *out, const struct qs_side_runs *base,
                       const struct qs_side_runs *cand)
{
    out->n_used[0] = base->n;
    out->n_used[1] = cand->n;
    out->n_dropped[0] = base->n_dropped;
    out->n_dropped[1] = cand->n_dropped;
}

static void take_kinds(struct qs_verdict *out, const struct qs_mixed *mixed, struct qs_ratio_test *test)
{
    test->log = mixed->test;
    out->ratio = exp(mixed->test.diff);
    if (mixed->worth > 0)
        out->method = "log-welch-by-kind";
    for (int i = 0; i < 2; i++) {
        out->n_dropped[i] += out->n_used[i] - mixed->test.n[i];
        out->n_used[i] = mixed->test.n[i];
    }
}

/* Satterthwaite. */
static void add_extra(struct qs_ttest *t, const struct qs_verdict_opts *o)
{
    if (!(o->extra_se > 0))
        return;
    double a = t->se * t->se, b = o->extra_se * o->extra_se;
    t->df = (a + b) * (a + b) / ((a > 0 ? a * a / t->df : 0) + b * b / o->extra_df);
    t->se = sqrt(a + b);
    t->t = t->diff / t->se;
    t->p = qs_pt_two_sided(t->t, t->df);
    t->flags &= ~(unsigned)QS_FLAG_EXACT;
}

enum qs_status qs_verdict_mixed_runs(const struct qs_side_runs *base, const struct qs_side_runs *cand,
                                     const struct qs_verdict_opts *opts, struct qs_verdict *out,
                                     struct qs_mixed *ret_mixed)
{
    *ret_mixed = (struct qs_mixed){.agree_p = NAN, .worth = NAN};
    start(out, "log-welch", opts);
    count_runs(out, base, cand);
    if (!opts_are_valid(opts))
        return QS_EDOM;
    struct qs_ratio_test test;
    enum qs_status status = qs_log_welch(base->v, base->n, cand->v, cand->n, 1 - opts->alpha, &test);
    out->ratio = test.ratio;
    if (status == QS_ENODATA || status == QS_ETOOFEW) {
        out->reason = QS_REASON_TOO_FEW_RUNS;
        return QS_OK;
    }
    if (status == QS_OK && (any(base) || any(cand)))
        status = test_logs(base, cand, 1 - opts->alpha, ret_mixed);
    if (status != QS_OK)
        return status;
    if (!isnan(ret_mixed->worth))
        take_kinds(out, ret_mixed, &test);
    struct qs_power_opts power = power_opts(opts);
    const double *sd = test.log.sd;
    out->sd_log = hypot(sd[0], sd[1]) * M_SQRT1_2;
    out->mde_ratio = qs_mde_welch(sd[0], out->n_used[0], sd[1], out->n_used[1], &power);
    out->needed = qs_runs_needed_welch(sd[0], sd[1], opts->margin, &power);
    add_extra(&test.log, opts);
    conclude(out, &test.log, opts);
    return QS_OK;
}

enum qs_status qs_verdict_runs(const struct qs_side_runs *base, const struct qs_side_runs *cand,
                               const struct qs_verdict_opts *opts, struct qs_verdict *out)
{
    struct qs_side_runs x = *base, y = *cand;
    struct qs_mixed mixed;
    x.disturbed = y.disturbed = NULL;
    return qs_verdict_mixed_runs(&x, &y, opts, out, &mixed);
}

static void count_blocks(struct qs_verdict *out, size_t used, size_t dropped)
{
    for (int i = 0; i < 2; i++) {
        out->n_used[i] = used;
        out->n_dropped[i] = dropped;
    }
}

enum qs_status qs_verdict_mixed_blocks(const double *base, const double *cand, const bool *disturbed,
                                       size_t n, size_t n_dropped, const struct qs_verdict_opts *opts,
                                       struct qs_verdict *out, struct qs_mixed *ret_mixed)
{
    *ret_mixed = (struct qs_mixed){.agree_p = NAN, .worth = NAN};
    start(out, "paired-log-t", opts);
    count_blocks(out, n, n_dropped);
    if (!opts_are_valid(opts))
        return QS_EDOM;
    struct qs_paired paired;
    enum qs_status status = qs_mixed_blocks(base, cand, disturbed, n, 1 - opts->alpha, &paired, ret_mixed);
    size_t used = paired.test.log.n[0];
    count_blocks(out, used, n_dropped + n - used);
    if (ret_mixed->worth > 0 && ret_mixed->worth < 1)
        out->method = "paired-log-t-weighted";
    out->ratio = paired.test.ratio;
    if (status == QS_ENODATA || status == QS_ETOOFEW) {
        out->reason = QS_REASON_TOO_FEW_RUNS;
        return QS_OK;
    }
    if (status != QS_OK)
        return status;
    struct qs_power_opts power = power_opts(opts);
    out->sd_log = paired.test.log.sd[0];
    out->sign_p = paired.sign_p;
    out->drift = paired.drift;
    out->flags |= paired.flags;
    out->mde_ratio = qs_mde_paired(out->sd_log, used, &power);
    out->needed = qs_blocks_needed(out->sd_log, opts->margin, &power);
    conclude(out, &paired.test.log, opts);
    return QS_OK;
}
