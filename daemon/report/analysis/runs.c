/* Statistics of runs of iterations (statistics.md, section 9.1): what varies between runs, and what the mean
 * over runs is worth. */
#include <math.h>
#include <stddef.h>

#include "base/mem.h"
#include "report/analysis/impl.h"
#include "stats/describe.h"
#include "stats/impact.h"
#include "stats/interval.h"
#include "stats/design.h"
#include "stats/variance.h"
#include "stats/sum.h"
#include "stats/tree.h"

#define PLAN_HALF_WIDTH 0.01
#define RUN_COST        10.0 /* of samples_w10: starting a run costs as much as 10 iterations */

struct components {
    struct qs_varcomp of;
    double samples_w10;
};
static const struct qs_field components_rows[] = {
    QS_ROW_AS("k", components, of.k, COUNT, "runs"),
    QS_ROW_AS("n", components, of.n, COUNT, "values"),
    QS_ROW_AS("n0", components, of.n0, DOUBLE, "values per run that count"),
    QS_ROW_AS("ms_between", components, of.ms_between, DOUBLE, "mean square between runs"),
    QS_ROW_AS("ms_within", components, of.ms_within, DOUBLE, "mean square within runs"),
    QS_ROW_AS("f", components, of.f, DOUBLE, "ms_between / ms_within"),
    QS_ROW_AS("t1", components, of.t1, DOUBLE, "variance within runs"),
    QS_ROW_AS("t2", components, of.t2, DOUBLE, "variance between runs, 0 where the estimate is negative"),
    QS_ROW_AS("icc", components, of.icc, DOUBLE, "t2 / (t1 + t2)"),
    QS_ROW_AS("grand_mean", components, of.grand_mean, DOUBLE, "of all values"),
    QS_ROW_AS("mean_of_means", components, of.mean_of_means, DOUBLE, "of the runs, each counting once"),
    QS_ROW_AS("s2_means", components, of.s2_means, DOUBLE, "variance of the means of the runs"),
    QS_ROW(components, samples_w10, DOUBLE,
           "iterations a run that are best where starting one costs as much as 10 iterations"),
    QS_ROW_AS("flags", components, of.flags, FLAGS, QS_FLAGS_MEANING, .words = qs_flag_names),
    {.name = NULL}};

static enum qs_status tell_components(const struct qs_sample *s, void *ret)
{
    struct components *told = ret;
    enum qs_status status = qs_varcomp(&s->nested, &told->of);
    told->samples_w10 = qs_kalibera2005_samples(told->of.t1, told->of.t2, RUN_COST);
    return status;
}

static const struct qs_field reml_rows[] = {QS_ROW(qs_reml, between, DOUBLE, "variance between runs"),
                                            QS_ROW(qs_reml, within, DOUBLE, "variance within runs"),
                                            QS_ROW(qs_reml, mean, DOUBLE, "of the runs, weighted"),
                                            QS_ROW(qs_reml, se, DOUBLE, "standard error of the mean"),
                                            {.name = NULL}};

static enum qs_status tell_reml(const struct qs_sample *s, void *ret)
{
    return qs_reml(&s->nested, ret);
}

static enum qs_status tell_runs_mean_ci(const struct qs_sample *s, void *ret)
{
    struct qs_moments m;
    struct qs_estimate *told = ret;
    (void)qs_moments(s->means, s->runs, &m);
    *told = (struct qs_estimate){m.mean, qs_ci_none(s->opts->level)};
    return qs_hier_ci(&s->nested, s->opts->level, &told->ci);
}

struct run_medians {
    struct qs_summary of;
    struct qs_median_ci median;
};
static const struct qs_field run_medians_rows[] = {
    QS_ROW_AS("estimate", run_medians, of.median, DOUBLE, "the median of the medians"),
    QS_ROW_AS("mean", run_medians, of.mean, DOUBLE, "their mean"),
    QS_ROW_AS("sd", run_medians, of.sd, DOUBLE, "their standard deviation"),
    QS_ROWS_OF(run_medians, median.ci, qs_ci_rows),
    {.name = NULL}};

/* The headline of a series of runs: the median of the run medians, each run counting once. */
static enum qs_status tell_run_medians(const struct qs_sample *s, void *ret)
{
    struct run_medians *told = ret;
    (void)qs_describe(s->medians, s->runs, &told->of);
    return qs_median_ci(s->medians, s->runs, s->opts->level, &told->median);
}

struct kalibera2005 {
    struct qs_kalibera2005 of;
    double samples_w10;
};
static const struct qs_field kalibera2005_rows[] = {
    QS_ROW_AS("estimate", kalibera2005, of.mean, DOUBLE, "mean of all values"),
    QS_ROW_AS("s2_x", kalibera2005, of.s2_x, DOUBLE, "equation 3: mean of the variances of the runs"),
    QS_ROW_AS("s2_a", kalibera2005, of.s2_a, DOUBLE, "equation 4: variance of their means"),
    QS_ROW_AS("se", kalibera2005, of.se, DOUBLE, "of equation 5"),
    QS_ROW_AS("df", kalibera2005, of.df, DOUBLE, "degrees of freedom"),
    QS_ROWS_OF(kalibera2005, of.ci, qs_ci_rows),
    QS_ROW_AS("t_lo", kalibera2005, of.ci_t.lo, DOUBLE, "lower bound with Student's quantile"),
    QS_ROW_AS("t_hi", kalibera2005, of.ci_t.hi, DOUBLE, "upper bound"),
    QS_ROW(kalibera2005, samples_w10, DOUBLE, "equation 8 as printed"),
    {.name = NULL}};

static enum qs_status tell_kalibera2005(const struct qs_sample *s, void *ret)
{
    struct kalibera2005 *told = ret;
    enum qs_status status = qs_hier_kalibera2005(&s->nested, s->opts->level, &told->of);
    told->samples_w10 = qs_kalibera2005_samples(told->of.s2_x, told->of.s2_a, RUN_COST);
    return status;
}

static const struct qs_field impact_rows[] = {
    QS_ROW(qs_impact, raw, DOUBLE, "ratio of both standard deviations, 1: runs make no difference"),
    QS_ROW(qs_impact, transformed, DOUBLE, "the same after subtracting from each run its mean"),
    QS_ROW(qs_impact, analytic, DOUBLE, "sqrt(1 + t2/t1)"),
    QS_ROW(qs_impact, c, COUNT, "values drawn on each side"),
    QS_ROW(qs_impact, rounds, COUNT, "how often"),
    QS_ROW(qs_impact, additive, WORD, "how well subtracting the means of the runs removes their effect",
           .words = qs_additive_names),
    {.name = NULL}};

static enum qs_status tell_impact(const struct qs_sample *s, void *ret)
{
    struct qs_impact *told = ret;
    const struct qs_impact_opts opts = {.seed = s->opts->seed,
                                        .stream = qs_analysis_stream(s->id, "impact_factor"),
                                        .rounds = s->opts->resamples,
                                        .progress = s->opts->progress};
    *told = (struct qs_impact){.raw = NAN, .transformed = NAN, .analytic = NAN};
    return qs_impact_factor(&s->nested, &opts, told);
}

struct plan {
    double run_cost, half_width_ratio;
    size_t iterations, runs;
    bool attainable;
};
static const struct qs_field plan_rows[] = {
    QS_ROW(plan, run_cost, DOUBLE, "starting a run costs as much as so many iterations"),
    QS_ROW(plan, iterations, COUNT, "of each run"),
    QS_ROW(plan, runs, COUNT, "how many"),
    QS_ROW(plan, half_width_ratio, DOUBLE, "what this is expected to reach"),
    QS_ROW(plan, attainable, BOOL, "false: not even the most runs reach it"),
    {.name = NULL}};

struct planner {
    double half_width_ratio;
    struct qs_field_list plans;
};
static const struct qs_field planner_rows[] = {
    QS_ROW(planner, half_width_ratio, DOUBLE, "half of the interval that is wanted, over the mean"),
    QS_ROW(planner, plans, OBJECTS, "the best plan for each cost", .of = plan_rows,
           .bytes = sizeof(struct plan)),
    {.name = NULL}};

/* What an interval of 1 % around the mean takes, where starting a run costs as much as so many iterations. */
static enum qs_status tell_planner(const struct qs_sample *s, void *ret)
{
    static const double weights[] = {1, 10, 100, 1000};
    enum { WEIGHTS = sizeof weights / sizeof *weights };
    const struct qs_tree tree = qs_nested_tree(&s->nested);
    struct qs_design_opts opts = qs_design_opts_default();
    struct qs_components parts;
    enum qs_status status = qs_tree_components(&tree, &parts), last = status;
    struct planner *told = ret;
    struct plan *plans = qs_calloc(WEIGHTS, sizeof *plans);
    *told = (struct planner){PLAN_HALF_WIDTH, {.v = plans}};
    opts.level = s->opts->level;
    opts.half_width_ratio = PLAN_HALF_WIDTH;
    opts.cost_ns[QS_DESIGN_ITERATION] = 1;
    for (size_t i = 0; status == QS_OK && i < WEIGHTS; i++) {
        struct qs_design design;
        opts.cost_ns[QS_DESIGN_RUN] = weights[i];
        last = qs_design_from_pilot(&parts, &opts, &design);
        if (last == QS_OK)
            plans[told->plans.n++] = (struct plan){.run_cost = weights[i],
                                                   .iterations = design.count[QS_DESIGN_ITERATION],
                                                   .runs = design.count[QS_DESIGN_RUN],
                                                   .half_width_ratio = design.half_width_ratio,
                                                   .attainable = design.attainable};
    }
    return last;
}

const struct qs_sample_stat qs_run_stats[] = {
    {QS_STAT("run_medians", run_medians, run_medians_rows, "order statistics of the medians of the runs",
             "The headline of several runs: the median of their medians"),
     .tell = tell_run_medians, .basis = QS_BASIS_RUNS},
    {QS_STAT("runs_mean_ci", qs_estimate, qs_estimate_rows,
             "Student on the means of the runs, k-1 degrees of freedom",
             "The mean over runs, each run counting once"),
     .tell = tell_runs_mean_ci, .basis = QS_BASIS_RUNS},
    {QS_STAT("reml", qs_reml, reml_rows, "one-way random effects by restricted maximum likelihood",
             "Variance between and within runs; weighs runs of unequal length by what they say"),
     .tell = tell_reml, .basis = QS_BASIS_RUNS},
    {QS_STAT("variance_components", components, components_rows, "one-way random effects by moments",
             "One-way random effects: what varies within and between runs"),
     .tell = tell_components, .basis = QS_BASIS_RUNS},
    {QS_STAT(
         "kalibera2005", kalibera2005, kalibera2005_rows, "equations 3 to 5 as printed; n runs of one length",
         "Kalibera, Bulej and Tuma 2005 as printed, to repeat it; the variance within runs is counted twice"),
     .tell = tell_kalibera2005, .basis = QS_BASIS_RUNS},
    {QS_STAT("impact_factor", qs_impact, impact_rows, "Kalibera et al. 2005, figure 2",
             "How much more samples of different runs differ than samples of one", .random = true),
     .tell = tell_impact, .basis = QS_BASIS_RUNS},
    {QS_STAT("planner", planner, planner_rows, "Kalibera-Jones 2013 from the variance components",
             "Iterations and runs for an interval of the mean of this half-width"),
     .tell = tell_planner, .basis = QS_BASIS_RUNS},
    {.tell = NULL},
};
