#include "stats/opinion.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "stats/android.h"
#include "stats/describe.h"
#include "stats/pick.h"
#include "stats/rancid.h"
#include "stats/stepfit.h"
#include "stats/sum.h"
#include "stats/timer.h"

/* One side, looked at in both ways. */
struct side {
    const struct qs_nested *runs;
    const double *v; /* all iterations */
    size_t n;
    const double *medians; /* of the runs, runs->k of them */
};

struct one_case {
    struct side base, cand;
    const struct qs_opinion_opts *opts;
};

/* A rule: fills numbers, thresholds, checks and the answer. QS_ETOOFEW and QS_EDEGENERATE leave it undecided.
 */
typedef enum qs_status form_fn(const struct one_case *c, struct qs_opinion *out);

static form_fn judge_quiesce, judge_android, judge_kalibera2005, judge_futhark, judge_rancid,
    judge_perfherder, judge_skia;

static const struct rule {
    const char *source, *compared, *changed_if;
    form_fn *form;
} rules[QS_OPINION_RULES] = {
    [QS_OPINION_JUDGE] = {"Chen & Revels 2016, BenchmarkTools", "the best iteration of each build",
                          "their ratio is off 1 by more than the tolerance", judge_quiesce},
    [QS_OPINION_ANDROID] = {"Statistically rigorous Android macrobenchmarks",
                            "the means of all iterations, with a pooled standard deviation",
                            "the interval of their difference excludes 0 and every precondition holds",
                            judge_android},
    [QS_OPINION_KALIBERA2005] = {"Kalibera, Bulej & Tuma 2005, equation 5",
                                 "the means over runs of iterations", "their intervals do not meet",
                                 judge_kalibera2005},
    [QS_OPINION_FUTHARK] = {"futhark benchcmp", "the means of all iterations",
                            "they differ by more than half of both standard deviations together, and by more "
                            "than the band",
                            judge_futhark},
    [QS_OPINION_RANCID] = {"Rancid, table 3", "the medians of the run medians",
                           "they differ by more than 1 ms and by more than 1 %", judge_rancid},
    [QS_OPINION_PERFHERDER] =
        {"Mozilla Perfherder, perfalert",
         "the 12 run medians after the change with the 12 to 24 before, near ones weighing more",
         "t passes its limit", judge_perfherder},
    [QS_OPINION_SKIA] = {"Skia Perf, original step fit", "the run medians, baseline before candidate",
                         "the step over its fit's error reaches the threshold", judge_skia},
};

const char *const qs_opinion_rule_names[] = {"judge",  "android",    "kalibera2005", "futhark",
                                             "rancid", "perfherder", "skia",         NULL};
const char *const qs_opinion_answer_names[] = {"undecided", "no-change", "regression", "improvement", NULL};

bool qs_opinion_rule_find(const char *name, enum qs_opinion_rule *ret)
{
    for (enum qs_opinion_rule r = 0; r < QS_OPINION_RULES; r++) {
        if (strcmp(qs_opinion_rule_names[r], name) == 0) {
            *ret = r;
            return true;
        }
    }
    return false;
}

const char *qs_opinion_unit_name(enum qs_opinion_unit unit)
{
    static const char *const names[] = {"value", "ratio", "plain"};
    return (unsigned)unit < sizeof names / sizeof *names ? names[unit] : "plain";
}

static void put_number(struct qs_opinion *out, const char *name, enum qs_opinion_unit unit, double value)
{
    if (out->number_count < QS_OPINION_NUMBERS)
        out->numbers[out->number_count++] = (struct qs_opinion_number){name, unit, value};
}

static void put_threshold(struct qs_opinion *out, const char *name, enum qs_opinion_unit unit, double value)
{
    if (out->threshold_count < QS_OPINION_THRESHOLDS)
        out->thresholds[out->threshold_count++] = (struct qs_opinion_number){name, unit, value};
}

static void check(struct qs_opinion *out, const char *name, double value, double bound, bool at_least)
{
    if (out->check_count < QS_OPINION_CHECKS)
        out->checks[out->check_count++] = (struct qs_opinion_check){
            name, value, bound, at_least, at_least ? value >= bound : value <= bound};
}

static void check_at_least(struct qs_opinion *out, const char *name, double value, double bound)
{
    check(out, name, value, bound, true);
}

static void check_at_most(struct qs_opinion *out, const char *name, double value, double bound)
{
    check(out, name, value, bound, false);
}

static void decide(struct qs_opinion *out, const struct qs_opinion_opts *opts, int up)
{
    bool worse = opts->lower_is_better ? up > 0 : up < 0;
    out->answer = up == 0 ? QS_OPINION_NO_CHANGE : worse ? QS_OPINION_REGRESSION : QS_OPINION_IMPROVEMENT;
}

/* medians: runs->k doubles. */
static enum qs_status look_at(const struct qs_nested *runs, double *medians, struct side *out)
{
    *out = (struct side){.runs = runs, .medians = medians};
    for (size_t j = 0; j < runs->k; j++) {
        enum qs_status status =
            qs_median(runs->v + runs->off[j], runs->off[j + 1] - runs->off[j], &medians[j]);
        if (status != QS_OK)
            return status;
    }
    out->v = runs->v + runs->off[0];
    out->n = runs->off[runs->k] - runs->off[0];
    return QS_OK;
}

static enum qs_status apply(const struct rule *rule, struct one_case *c, const struct qs_nested *base,
                            const struct qs_nested *cand, double *medians, struct qs_opinion *out)
{
    enum qs_status status = look_at(base, medians, &c->base);
    if (status == QS_OK)
        status = look_at(cand, medians + base->k, &c->cand);
    if (status != QS_OK)
        return status;
    out->iterations[0] = c->base.n;
    out->iterations[1] = c->cand.n;
    return rule->form(c, out);
}

/* A rule whose preconditions fail has no answer, whatever its numbers say. */
static void check_conditions(struct qs_opinion *out)
{
    for (size_t i = 0; i < out->check_count && out->answer != QS_OPINION_UNDECIDED; i++) {
        if (!out->checks[i].holds) {
            out->answer = QS_OPINION_UNDECIDED;
            out->reason = "preconditions";
        }
    }
}

enum qs_status qs_opinion(enum qs_opinion_rule rule, const struct qs_nested *base,
                          const struct qs_nested *cand, const struct qs_opinion_opts *opts,
                          struct qs_opinion *out)
{
    *out = (struct qs_opinion){.rule = rule, .reason = qs_status_name(QS_EDOM), .runs = {base->k, cand->k}};
    if ((unsigned)rule >= QS_OPINION_RULES || !(opts->level > 0 && opts->level < 1))
        return QS_EDOM;
    out->source = rules[rule].source;
    out->compared = rules[rule].compared;
    out->changed_if = rules[rule].changed_if;
    struct one_case c = {.opts = opts};
    double *medians = calloc(base->k + cand->k + 1, sizeof *medians);
    enum qs_status status = medians ? QS_OK : QS_ENOMEM;
    if (status == QS_OK && (base->k == 0 || cand->k == 0))
        status = QS_ENODATA;
    if (status == QS_OK)
        status = apply(&rules[rule], &c, base, cand, medians, out);
    free(medians);
    out->reason = status == QS_OK ? "none" : qs_status_name(status);
    if (status != QS_OK)
        out->answer = QS_OPINION_UNDECIDED;
    check_conditions(out);
    return status == QS_ETOOFEW || status == QS_EDEGENERATE ? QS_OK : status;
}

/* The rules that compare iterations, whatever run they come from. */

/* The least value of a time, the greatest of a rate. The rule is published for times and memory; a rate's
 * ratio is turned, so that 1.06 always means 6 % worse. */
static enum qs_status judge_quiesce(const struct one_case *c, struct qs_opinion *out)
{
    struct qs_moments m[2];
    enum qs_status status = qs_moments_of_two(c->base.v, c->base.n, c->cand.v, c->cand.n, m);
    if (status != QS_OK)
        return status;
    bool lower = c->opts->lower_is_better;
    double base = lower ? m[0].min : m[0].max, cand = lower ? m[1].min : m[1].max;
    double worse_ratio = lower ? qs_judge_ratio(cand, base) : qs_judge_ratio(base, cand);
    put_threshold(out, "tolerance", QS_OPINION_RATIO, QS_JUDGE_TIME_TOLERANCE);
    put_number(out, "baseline_best", QS_OPINION_VALUE, base);
    put_number(out, "candidate_best", QS_OPINION_VALUE, cand);
    put_number(out, "ratio", QS_OPINION_PLAIN, qs_judge_ratio(cand, base));
    enum qs_judgement judgement = qs_judge(worse_ratio, QS_JUDGE_TIME_TOLERANCE);
    int worse = judgement == QS_JUDGE_REGRESSION ? 1 : judgement == QS_JUDGE_IMPROVEMENT ? -1 : 0;
    decide(out, c->opts, lower ? worse : -worse);
    return QS_OK;
}

/* benchcmp calls a speedup significant where the means differ by more than s1/2 + s2/2, and marks it where it
 * is outside of 0.99 to 1.01. */
static enum qs_status judge_futhark(const struct one_case *c, struct qs_opinion *out)
{
    const double band = 0.01;
    struct qs_moments m[2];
    enum qs_status status = qs_moments_of_two(c->base.v, c->base.n, c->cand.v, c->cand.n, m);
    if (status != QS_OK)
        return status;
    double sd[2] = {sqrt(m[0].var), sqrt(m[1].var)}, speedup = m[0].mean / m[1].mean;
    double difference = m[1].mean - m[0].mean, bound = sd[0] / 2 + sd[1] / 2;
    put_threshold(out, "band", QS_OPINION_RATIO, band);
    put_number(out, "baseline_mean", QS_OPINION_VALUE, m[0].mean);
    put_number(out, "candidate_mean", QS_OPINION_VALUE, m[1].mean);
    put_number(out, "baseline_sd", QS_OPINION_VALUE, sd[0]);
    put_number(out, "candidate_sd", QS_OPINION_VALUE, sd[1]);
    put_number(out, "difference", QS_OPINION_VALUE, difference);
    put_number(out, "significant_from", QS_OPINION_VALUE, bound);
    put_number(out, "speedup", QS_OPINION_PLAIN, speedup);
    if (isnan(bound))
        return QS_ETOOFEW;
    if (!isfinite(speedup))
        return QS_EDEGENERATE;
    bool marked = fabs(difference) > bound && (speedup > 1 + band || speedup < 1 - band);
    decide(out, c->opts, marked ? (difference > 0 ? 1 : -1) : 0);
    return QS_OK;
}

static void android_checks(const struct qs_android *a, struct qs_opinion *out)
{
    check_at_least(out, "baseline_iterations", (double)a->t.n[0], QS_ANDROID_N);
    check_at_least(out, "candidate_iterations", (double)a->t.n[1], QS_ANDROID_N);
    check_at_least(out, "baseline_normal_p", a->normal_p[0], QS_ANDROID_NORMAL_P);
    check_at_least(out, "candidate_normal_p", a->normal_p[1], QS_ANDROID_NORMAL_P);
    check_at_most(out, "variance_ratio", a->var_ratio, QS_ANDROID_VAR_RATIO);
    check_at_most(out, "baseline_cov", a->cov[0], QS_ANDROID_COV);
    check_at_most(out, "candidate_cov", a->cov[1], QS_ANDROID_COV);
}

static enum qs_status judge_android(const struct one_case *c, struct qs_opinion *out)
{
    struct qs_android a;
    enum qs_status status = qs_android(c->base.v, c->base.n, c->cand.v, c->cand.n, c->opts->level, &a);
    if (status != QS_OK)
        return status;
    put_threshold(out, "level", QS_OPINION_PLAIN, c->opts->level);
    put_number(out, "difference", QS_OPINION_VALUE, a.t.diff);
    put_number(out, "lo", QS_OPINION_VALUE, a.t.ci.lo);
    put_number(out, "hi", QS_OPINION_VALUE, a.t.ci.hi);
    put_number(out, "pooled_sd", QS_OPINION_VALUE, a.sp);
    put_number(out, "normal_quantile_lo", QS_OPINION_VALUE, a.ci_z.lo);
    put_number(out, "normal_quantile_hi", QS_OPINION_VALUE, a.ci_z.hi);
    android_checks(&a, out);
    decide(out, c->opts, a.t.ci.lo > 0 ? 1 : a.t.ci.hi < 0 ? -1 : 0);
    return QS_OK;
}

/* The rules that compare runs. */

static enum qs_status judge_rancid(const struct one_case *c, struct qs_opinion *out)
{
    const double least_ratio = 0.01;
    const struct qs_opinion_opts *opts = c->opts;
    struct qs_rancid r;
    enum qs_status status = qs_rancid(c->base.medians, c->base.runs->k, c->cand.medians, c->cand.runs->k,
                                      opts->level, opts->seed, &c->opts->progress, &r);
    put_threshold(out, "least_difference", QS_OPINION_VALUE, opts->one_ms);
    put_threshold(out, "least_ratio", QS_OPINION_RATIO, least_ratio);
    put_number(out, "baseline_median", QS_OPINION_VALUE, r.median[0]);
    put_number(out, "candidate_median", QS_OPINION_VALUE, r.median[1]);
    put_number(out, "performance_gain", QS_OPINION_VALUE, r.performance);
    put_number(out, "performance_gain_ratio", QS_OPINION_RATIO, r.performance_ratio);
    put_number(out, "baseline_run_sd", QS_OPINION_VALUE, r.sd[0]);
    put_number(out, "candidate_run_sd", QS_OPINION_VALUE, r.sd[1]);
    put_number(out, "precision_gain", QS_OPINION_VALUE, r.precision);
    put_number(out, "precision_gain_ratio", QS_OPINION_RATIO, r.precision_ratio);
    put_number(out, "sd_ratio", QS_OPINION_PLAIN, r.sd_ratio);
    put_number(out, "sd_ratio_lo", QS_OPINION_PLAIN, r.sd_ratio_ci.lo);
    put_number(out, "sd_ratio_hi", QS_OPINION_PLAIN, r.sd_ratio_ci.hi);
    if (status != QS_OK)
        return status;
    /* what is not a time has no millisecond to pass */
    bool large = isnan(opts->one_ms) || fabs(r.performance) > opts->one_ms;
    bool marked = large && fabs(r.performance_ratio) > least_ratio;
    decide(out, opts, marked ? (r.performance < 0 ? 1 : -1) : 0);
    return QS_OK;
}

/* The mean of n values with weights n, n-1, .. 1 from v on, in steps of +1 or -1. */
static double near_mean(const double *v, size_t n, ptrdiff_t step)
{
    double sum = 0, weights = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)(n - i) * v[(ptrdiff_t)i * step];
        weights += (double)(n - i);
    }
    return sum / weights;
}

/* As if each run were a push: the last runs of the baseline, then the first of the candidate. Where an alert
 * would be placed among neighbours does not matter here. */
static enum qs_status judge_perfherder(const struct one_case *c, struct qs_opinion *out)
{
    enum { MOST = 64 };
    const struct qs_perfherder_opts opts = qs_perfherder_opts_default();
    double series[MOST], t[MOST];
    size_t changes[MOST], count, nx = c->base.runs->k, ny = c->cand.runs->k;
    size_t back = qs_less(nx, opts.max_back), fore = qs_less(ny, opts.fore);
    put_threshold(out, "t_limit", QS_OPINION_PLAIN, opts.t_limit);
    put_number(out, "baseline_runs", QS_OPINION_PLAIN, (double)back);
    put_number(out, "candidate_runs", QS_OPINION_PLAIN, (double)fore);
    if (back < opts.min_back || fore < opts.fore)
        return QS_ETOOFEW;
    memcpy(series, c->base.medians + (nx - back), back * sizeof *series);
    memcpy(series + back, c->cand.medians, fore * sizeof *series);
    enum qs_status status = qs_perfherder(series, back + fore, &opts, t, changes, &count);
    if (status != QS_OK)
        return status;
    double before = near_mean(series + back - 1, back, -1), after = near_mean(series + back, fore, 1);
    put_number(out, "baseline_weighted_mean", QS_OPINION_VALUE, before);
    put_number(out, "candidate_weighted_mean", QS_OPINION_VALUE, after);
    put_number(out, "t", QS_OPINION_PLAIN, t[back]);
    decide(out, c->opts, t[back] > opts.t_limit ? (after > before ? 1 : -1) : 0);
    return QS_OK;
}

/* The guide for Android's CI has 25 as its threshold, over 5 builds on each side; Skia leaves values whose sd
 * is below 0.001 unscaled. */
static enum qs_status judge_skia(const struct one_case *c, struct qs_opinion *out)
{
    static const char *const names[QS_STEP_KINDS] = {
        "regression", "absolute_step", "percent_step_ratio", "percent_median_step_ratio",
        "cohen_step", "stepiness",     "mann_whitney_p"};
    static const enum qs_opinion_unit units[QS_STEP_KINDS] = {
        QS_OPINION_PLAIN, QS_OPINION_VALUE, QS_OPINION_RATIO, QS_OPINION_RATIO,
        QS_OPINION_PLAIN, QS_OPINION_PLAIN, QS_OPINION_PLAIN};
    struct qs_stepfit_opts opts = {.kind = QS_STEP_ORIGINAL, .sd_min = 0.001, .interesting = 25};
    struct qs_stepfit fit, other;
    size_t nx = c->base.runs->k, ny = c->cand.runs->k;
    put_threshold(out, "interesting", QS_OPINION_PLAIN, opts.interesting);
    put_threshold(out, "least_sd", QS_OPINION_PLAIN, opts.sd_min);
    enum qs_status status = qs_stepfit_halves(c->base.medians, nx, c->cand.medians, ny, &opts, &fit);
    if (status != QS_OK)
        return status;
    put_number(out, "step", QS_OPINION_PLAIN, fit.step);
    put_number(out, "fit_error", QS_OPINION_PLAIN, fit.lse);
    for (opts.kind = QS_STEP_ORIGINAL; opts.kind < QS_STEP_KINDS; opts.kind++) {
        (void)qs_stepfit_halves(c->base.medians, nx, c->cand.medians, ny, &opts, &other);
        put_number(out, names[opts.kind], units[opts.kind], other.regression);
    }
    if (nx + ny < 3)
        return QS_ETOOFEW;
    decide(out, c->opts, fit.status == QS_STEP_HIGH ? 1 : fit.status == QS_STEP_LOW ? -1 : 0);
    return QS_OK;
}

/* Kalibera, Bulej & Tuma 2005: an interval for each build. */

static size_t shortest(const struct qs_nested *runs)
{
    size_t least = runs->off[1] - runs->off[0];
    for (size_t j = 1; j < runs->k; j++)
        least = qs_less(least, runs->off[j + 1] - runs->off[j]);
    return least;
}

/* Equation 5 is for runs of one length: the first n iterations of each. */
static enum qs_status interval_of(const struct qs_nested *runs, double level, struct qs_kalibera2005 *out)
{
    size_t n = shortest(runs);
    double *v = malloc(runs->k * n * sizeof *v);
    size_t *off = malloc((runs->k + 1) * sizeof *off);
    enum qs_status status = QS_ENOMEM;
    if (v && off) {
        for (size_t j = 0; j < runs->k; j++) {
            memcpy(v + j * n, runs->v + runs->off[j], n * sizeof *v);
            off[j] = j * n;
        }
        off[runs->k] = runs->k * n;
        struct qs_nested equal = {.v = v, .off = off, .k = runs->k};
        status = qs_hier_kalibera2005(&equal, level, out);
    }
    free(v);
    free(off);
    return status;
}

static enum qs_status judge_kalibera2005(const struct one_case *c, struct qs_opinion *out)
{
    struct qs_kalibera2005 base, cand;
    enum qs_status sx = interval_of(c->base.runs, c->opts->level, &base);
    enum qs_status sy = interval_of(c->cand.runs, c->opts->level, &cand);
    if (sx == QS_ENOMEM || sy == QS_ENOMEM)
        return QS_ENOMEM;
    put_threshold(out, "level", QS_OPINION_PLAIN, c->opts->level);
    put_number(out, "baseline_mean", QS_OPINION_VALUE, base.mean);
    put_number(out, "baseline_lo", QS_OPINION_VALUE, base.ci.lo);
    put_number(out, "baseline_hi", QS_OPINION_VALUE, base.ci.hi);
    put_number(out, "candidate_mean", QS_OPINION_VALUE, cand.mean);
    put_number(out, "candidate_lo", QS_OPINION_VALUE, cand.ci.lo);
    put_number(out, "candidate_hi", QS_OPINION_VALUE, cand.ci.hi);
    put_number(out, "baseline_iterations_per_run", QS_OPINION_PLAIN, (double)shortest(c->base.runs));
    put_number(out, "candidate_iterations_per_run", QS_OPINION_PLAIN, (double)shortest(c->cand.runs));
    if (sx != QS_OK || sy != QS_OK)
        return sx != QS_OK ? sx : sy;
    decide(out, c->opts, cand.ci.lo > base.ci.hi ? 1 : cand.ci.hi < base.ci.lo ? -1 : 0);
    return QS_OK;
}
