/* The rules that compare iterations, whatever run they come from. */
#include "stats/opinion_parts.h"

#include "stats/android.h"
#include "stats/sum.h"
#include "stats/timer.h"

#include <math.h>

/* The least value of a time, the greatest of a rate. The rule is published for times and memory; a rate's
 * ratio is turned, so that 1.06 always means 6 % worse. */
enum qs_status qs_opinion_judge(const struct qs_opinion_case *c, struct qs_opinion *out)
{
    struct qs_moments m[2];
    enum qs_status status = qs_moments_of_two(c->base.v, c->base.n, c->cand.v, c->cand.n, m);
    if (status != QS_OK)
        return status;
    bool lower = c->opts->lower_is_better;
    double base = lower ? m[0].min : m[0].max, cand = lower ? m[1].min : m[1].max;
    double worse_ratio = lower ? qs_judge_ratio(cand, base) : qs_judge_ratio(base, cand);
    qs_opinion_threshold(out, "tolerance", QS_OPINION_RATIO, QS_JUDGE_TIME_TOLERANCE);
    qs_opinion_number(out, "baseline_best", QS_OPINION_VALUE, base);
    qs_opinion_number(out, "candidate_best", QS_OPINION_VALUE, cand);
    qs_opinion_number(out, "ratio", QS_OPINION_PLAIN, qs_judge_ratio(cand, base));
    enum qs_judgement judgement = qs_judge(worse_ratio, QS_JUDGE_TIME_TOLERANCE);
    int worse = judgement == QS_JUDGE_REGRESSION ? 1 : judgement == QS_JUDGE_IMPROVEMENT ? -1 : 0;
    qs_opinion_decide(out, c->opts, lower ? worse : -worse);
    return QS_OK;
}

/* benchcmp calls a speedup significant where the means differ by more than s1/2 + s2/2, and marks it where it
 * is outside of 0.99 to 1.01. */
enum qs_status qs_opinion_futhark(const struct qs_opinion_case *c, struct qs_opinion *out)
{
    const double band = 0.01;
    struct qs_moments m[2];
    enum qs_status status = qs_moments_of_two(c->base.v, c->base.n, c->cand.v, c->cand.n, m);
    if (status != QS_OK)
        return status;
    double sd[2] = {sqrt(m[0].var), sqrt(m[1].var)}, speedup = m[0].mean / m[1].mean;
    double difference = m[1].mean - m[0].mean, bound = sd[0] / 2 + sd[1] / 2;
    qs_opinion_threshold(out, "band", QS_OPINION_RATIO, band);
    qs_opinion_number(out, "baseline_mean", QS_OPINION_VALUE, m[0].mean);
    qs_opinion_number(out, "candidate_mean", QS_OPINION_VALUE, m[1].mean);
    qs_opinion_number(out, "baseline_sd", QS_OPINION_VALUE, sd[0]);
    qs_opinion_number(out, "candidate_sd", QS_OPINION_VALUE, sd[1]);
    qs_opinion_number(out, "difference", QS_OPINION_VALUE, difference);
    qs_opinion_number(out, "significant_from", QS_OPINION_VALUE, bound);
    qs_opinion_number(out, "speedup", QS_OPINION_PLAIN, speedup);
    if (isnan(bound))
        return QS_ETOOFEW;
    if (!isfinite(speedup))
        return QS_EDEGENERATE;
    bool marked = fabs(difference) > bound && (speedup > 1 + band || speedup < 1 - band);
    qs_opinion_decide(out, c->opts, marked ? (difference > 0 ? 1 : -1) : 0);
    return QS_OK;
}

static void android_checks(const struct qs_android *a, struct qs_opinion *out)
{
    qs_opinion_at_least(out, "baseline_iterations", (double)a->t.n[0], QS_ANDROID_N);
    qs_opinion_at_least(out, "candidate_iterations", (double)a->t.n[1], QS_ANDROID_N);
    qs_opinion_at_least(out, "baseline_normal_p", a->normal_p[0], QS_ANDROID_NORMAL_P);
    qs_opinion_at_least(out, "candidate_normal_p", a->normal_p[1], QS_ANDROID_NORMAL_P);
    qs_opinion_at_most(out, "variance_ratio", a->var_ratio, QS_ANDROID_VAR_RATIO);
    qs_opinion_at_most(out, "baseline_cov", a->cov[0], QS_ANDROID_COV);
    qs_opinion_at_most(out, "candidate_cov", a->cov[1], QS_ANDROID_COV);
}

enum qs_status qs_opinion_android(const struct qs_opinion_case *c, struct qs_opinion *out)
{
    struct qs_android a;
    enum qs_status status = qs_android(c->base.v, c->base.n, c->cand.v, c->cand.n, c->opts->level, &a);
    if (status != QS_OK)
        return status;
    qs_opinion_threshold(out, "level", QS_OPINION_PLAIN, c->opts->level);
    qs_opinion_number(out, "difference", QS_OPINION_VALUE, a.t.diff);
    qs_opinion_number(out, "lo", QS_OPINION_VALUE, a.t.ci.lo);
    qs_opinion_number(out, "hi", QS_OPINION_VALUE, a.t.ci.hi);
    qs_opinion_number(out, "pooled_sd", QS_OPINION_VALUE, a.sp);
    qs_opinion_number(out, "normal_quantile_lo", QS_OPINION_VALUE, a.ci_z.lo);
    qs_opinion_number(out, "normal_quantile_hi", QS_OPINION_VALUE, a.ci_z.hi);
    android_checks(&a, out);
    qs_opinion_decide(out, c->opts, a.t.ci.lo > 0 ? 1 : a.t.ci.hi < 0 ? -1 : 0);
    return QS_OK;
}
