/* The rules that compare runs. */
#include "stats/opinion_parts.h"

#include "stats/perfherder.h"
#include "stats/pick.h"
#include "stats/rancid.h"
#include "stats/stepfit.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum qs_status qs_opinion_rancid(const struct qs_opinion_case *c, struct qs_opinion *out)
{
    const double least_ratio = 0.01;
    const struct qs_opinion_opts *opts = c->opts;
    struct qs_rancid r;
    enum qs_status status = qs_rancid(c->base.medians, c->base.runs->k, c->cand.medians, c->cand.runs->k,
                                      opts->level, opts->seed, &c->opts->progress, &r);
    qs_opinion_threshold(out, "least_difference", QS_OPINION_VALUE, opts->one_ms);
    qs_opinion_threshold(out, "least_ratio", QS_OPINION_RATIO, least_ratio);
    qs_opinion_number(out, "baseline_median", QS_OPINION_VALUE, r.median[0]);
    qs_opinion_number(out, "candidate_median", QS_OPINION_VALUE, r.median[1]);
    qs_opinion_number(out, "performance_gain", QS_OPINION_VALUE, r.performance);
    qs_opinion_number(out, "performance_gain_ratio", QS_OPINION_RATIO, r.performance_ratio);
    qs_opinion_number(out, "baseline_run_sd", QS_OPINION_VALUE, r.sd[0]);
    qs_opinion_number(out, "candidate_run_sd", QS_OPINION_VALUE, r.sd[1]);
    qs_opinion_number(out, "precision_gain", QS_OPINION_VALUE, r.precision);
    qs_opinion_number(out, "precision_gain_ratio", QS_OPINION_RATIO, r.precision_ratio);
    qs_opinion_number(out, "sd_ratio", QS_OPINION_PLAIN, r.sd_ratio);
    qs_opinion_number(out, "sd_ratio_lo", QS_OPINION_PLAIN, r.sd_ratio_ci.lo);
    qs_opinion_number(out, "sd_ratio_hi", QS_OPINION_PLAIN, r.sd_ratio_ci.hi);
    if (status != QS_OK)
        return status;
    /* what is not a time has no millisecond to pass */
    bool large = isnan(opts->one_ms) || fabs(r.performance) > opts->one_ms;
    bool marked = large && fabs(r.performance_ratio) > least_ratio;
    qs_opinion_decide(out, opts, marked ? (r.performance < 0 ? 1 : -1) : 0);
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
enum qs_status qs_opinion_perfherder(const struct qs_opinion_case *c, struct qs_opinion *out)
{
    enum { MOST = 64 };
    const struct qs_perfherder_opts opts = qs_perfherder_opts_default();
    double series[MOST], t[MOST];
    size_t changes[MOST], count, nx = c->base.runs->k, ny = c->cand.runs->k;
    size_t back = qs_less(nx, opts.max_back), fore = qs_less(ny, opts.fore);
    qs_opinion_threshold(out, "t_limit", QS_OPINION_PLAIN, opts.t_limit);
    qs_opinion_number(out, "baseline_runs", QS_OPINION_PLAIN, (double)back);
    qs_opinion_number(out, "candidate_runs", QS_OPINION_PLAIN, (double)fore);
    if (back < opts.min_back || fore < opts.fore)
        return QS_ETOOFEW;
    memcpy(series, c->base.medians + (nx - back), back * sizeof *series);
    memcpy(series + back, c->cand.medians, fore * sizeof *series);
    enum qs_status status = qs_perfherder(series, back + fore, &opts, t, changes, &count);
    if (status != QS_OK)
        return status;
    double before = near_mean(series + back - 1, back, -1), after = near_mean(series + back, fore, 1);
    qs_opinion_number(out, "baseline_weighted_mean", QS_OPINION_VALUE, before);
    qs_opinion_number(out, "candidate_weighted_mean", QS_OPINION_VALUE, after);
    qs_opinion_number(out, "t", QS_OPINION_PLAIN, t[back]);
    qs_opinion_decide(out, c->opts, t[back] > opts.t_limit ? (after > before ? 1 : -1) : 0);
    return QS_OK;
}

/* The guide for Android's CI has 25 as its threshold, over 5 builds on each side; Skia leaves values whose sd
 * is below 0.001 unscaled. */
enum qs_status qs_opinion_skia(const struct qs_opinion_case *c, struct qs_opinion *out)
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
    qs_opinion_threshold(out, "interesting", QS_OPINION_PLAIN, opts.interesting);
    qs_opinion_threshold(out, "least_sd", QS_OPINION_PLAIN, opts.sd_min);
    enum qs_status status = qs_stepfit_halves(c->base.medians, nx, c->cand.medians, ny, &opts, &fit);
    if (status != QS_OK)
        return status;
    qs_opinion_number(out, "step", QS_OPINION_PLAIN, fit.step);
    qs_opinion_number(out, "fit_error", QS_OPINION_PLAIN, fit.lse);
    for (opts.kind = QS_STEP_ORIGINAL; opts.kind < QS_STEP_KINDS; opts.kind++) {
        (void)qs_stepfit_halves(c->base.medians, nx, c->cand.medians, ny, &opts, &other);
        qs_opinion_number(out, names[opts.kind], units[opts.kind], other.regression);
    }
    if (nx + ny < 3)
        return QS_ETOOFEW;
    qs_opinion_decide(out, c->opts, fit.status == QS_STEP_HIGH ? 1 : fit.status == QS_STEP_LOW ? -1 : 0);
    return QS_OK;
}
