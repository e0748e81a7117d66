/* Statistics of runs of iterations (statistics.md, section 9.1): what varies between runs, and what the mean
 * over runs is worth. */
#include <math.h>
#include <stddef.h>

#include "report/analysis/impl.h"
#include "stats/describe.h"
#include "stats/impact.h"
#include "stats/interval.h"
#include "stats/plan.h"
#include "stats/variance.h"
#include "stats/sum.h"
#include "stats/tree.h"

#define PLAN_HALF_WIDTH 0.01
#define RUN_COST        10.0 /* of samples_w10: starting a run costs as much as 10 iterations */

static enum qs_status put_components(const struct qs_view *v, struct qs_json *j)
{
    static const struct qs_field fields[] = {QS_COUNT_FIELD(struct qs_varcomp, k),
                                             QS_COUNT_FIELD(struct qs_varcomp, n),
                                             QS_NUMBER_FIELD(struct qs_varcomp, n0),
                                             QS_NUMBER_FIELD(struct qs_varcomp, ms_between),
                                             QS_NUMBER_FIELD(struct qs_varcomp, ms_within),
                                             QS_NUMBER_FIELD(struct qs_varcomp, f),
                                             QS_NUMBER_FIELD(struct qs_varcomp, t1),
                                             QS_NUMBER_FIELD(struct qs_varcomp, t2),
                                             QS_NUMBER_FIELD(struct qs_varcomp, icc),
                                             QS_NUMBER_FIELD(struct qs_varcomp, grand_mean),
                                             QS_NUMBER_FIELD(struct qs_varcomp, mean_of_means),
                                             QS_NUMBER_FIELD(struct qs_varcomp, s2_means)};
    struct qs_varcomp c;
    enum qs_status status = qs_varcomp(&v->nested, &c);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &c);
    qs_json_kdouble(j, "samples_w10", qs_kalibera2005_samples(c.t1, c.t2, RUN_COST));
    qs_put_flags(j, c.flags);
    return status;
}

static enum qs_status put_reml(const struct qs_view *v, struct qs_json *j)
{
    static const struct qs_field fields[] = {
        QS_NUMBER_FIELD(struct qs_reml, between), QS_NUMBER_FIELD(struct qs_reml, within),
        QS_NUMBER_FIELD(struct qs_reml, mean), QS_NUMBER_FIELD(struct qs_reml, se)};
    struct qs_reml r;
    enum qs_status status = qs_reml(&v->nested, &r);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &r);
    return status;
}

static enum qs_status put_runs_mean_ci(const struct qs_view *v, struct qs_json *j)
{
    struct qs_moments m;
    struct qs_ci ci = qs_ci_none(v->opts->level);
    (void)qs_moments(v->means, v->runs, &m);
    enum qs_status status = qs_hier_ci(&v->nested, v->opts->level, &ci);
    qs_json_kdouble(j, "estimate", m.mean);
    qs_put_ci(j, &ci);
    return status;
}

/* The headline of a series of runs: the median of the run medians, each run counting once. */
static enum qs_status put_run_medians(const struct qs_view *v, struct qs_json *j)
{
    struct qs_median_ci ci;
    struct qs_summary s;
    (void)qs_describe(v->medians, v->runs, &s);
    enum qs_status status = qs_median_ci(v->medians, v->runs, v->opts->level, &ci);
    qs_json_kdouble(j, "estimate", s.median);
    qs_json_kdouble(j, "mean", s.mean);
    qs_json_kdouble(j, "sd", s.sd);
    qs_put_ci(j, &ci.ci);
    return status;
}

static enum qs_status put_kalibera2005(const struct qs_view *v, struct qs_json *j)
{
    static const struct qs_field fields[] = {
        QS_NUMBER_AS("estimate", struct qs_kalibera2005, mean), QS_NUMBER_FIELD(struct qs_kalibera2005, s2_x),
        QS_NUMBER_FIELD(struct qs_kalibera2005, s2_a), QS_NUMBER_FIELD(struct qs_kalibera2005, se),
        QS_NUMBER_FIELD(struct qs_kalibera2005, df)};
    struct qs_kalibera2005 k;
    enum qs_status status = qs_hier_kalibera2005(&v->nested, v->opts->level, &k);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &k);
    qs_put_ci(j, &k.ci);
    qs_json_kdouble(j, "t_lo", k.ci_t.lo);
    qs_json_kdouble(j, "t_hi", k.ci_t.hi);
    qs_json_kdouble(j, "samples_w10", qs_kalibera2005_samples(k.s2_x, k.s2_a, RUN_COST));
    return status;
}

static enum qs_status put_impact(const struct qs_view *v, struct qs_json *j)
{
    static const struct qs_field fields[] = {
        QS_NUMBER_FIELD(struct qs_impact, raw), QS_NUMBER_FIELD(struct qs_impact, transformed),
        QS_NUMBER_FIELD(struct qs_impact, analytic), QS_COUNT_FIELD(struct qs_impact, c),
        QS_COUNT_FIELD(struct qs_impact, rounds)};
    const struct qs_impact_opts opts = {.seed = v->opts->seed,
                                        .stream = qs_analysis_stream(v->id, "impact_factor"),
                                        .rounds = v->opts->resamples,
                                        .progress = v->opts->progress};
    struct qs_impact i = {.raw = NAN, .transformed = NAN, .analytic = NAN};
    enum qs_status status = qs_impact_factor(&v->nested, &opts, &i);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &i);
    qs_json_kstring(j, "additive", qs_additive_name(i.additive));
    return status;
}

/* What an interval of 1 % around the mean takes, where starting a run costs as much as so many iterations. */
static enum qs_status put_planner(const struct qs_view *v, struct qs_json *j)
{
    static const double weights[] = {1, 10, 100, 1000};
    const struct qs_tree tree = qs_nested_tree(&v->nested);
    struct qs_plan_opts opts = qs_plan_opts_default();
    struct qs_components parts;
    enum qs_status status = qs_tree_components(&tree, &parts), last = status;
    opts.level = v->opts->level;
    opts.half_width_ratio = PLAN_HALF_WIDTH;
    opts.cost_ns[QS_PLAN_ITERATION] = 1;
    qs_json_kdouble(j, "half_width_ratio", opts.half_width_ratio);
    qs_json_karray(j, "plans");
    for (size_t i = 0; status == QS_OK && i < sizeof weights / sizeof *weights; i++) {
        struct qs_design plan;
        opts.cost_ns[QS_PLAN_RUN] = weights[i];
        last = qs_plan_from_pilot(&parts, &opts, &plan);
        if (last != QS_OK)
            continue;
        qs_json_object(j);
        qs_json_kdouble(j, "run_cost", weights[i]);
        qs_json_kint(j, "iterations", (int64_t)plan.count[QS_PLAN_ITERATION]);
        qs_json_kint(j, "runs", (int64_t)plan.count[QS_PLAN_RUN]);
        qs_json_kdouble(j, "half_width_ratio", plan.half_width_ratio);
        qs_json_kbool(j, "attainable", plan.attainable);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
    return last;
}

const struct qs_view_stat qs_run_stats[] = {
    {"run_medians", "order statistics of the medians of the runs", put_run_medians, QS_BASIS_RUNS, false},
    {"runs_mean_ci", "Student on the means of the runs, k-1 degrees of freedom", put_runs_mean_ci,
     QS_BASIS_RUNS, false},
    {"reml", "one-way random effects by restricted maximum likelihood", put_reml, QS_BASIS_RUNS, false},
    {"variance_components", "one-way random effects by moments", put_components, QS_BASIS_RUNS, false},
    {"kalibera2005", "equations 3 to 5 as printed; n runs of one length", put_kalibera2005, QS_BASIS_RUNS,
     false},
    {"impact_factor", "Kalibera et al. 2005, figure 2", put_impact, QS_BASIS_RUNS, true},
    {"planner", "Kalibera-Jones 2013 from the variance components", put_planner, QS_BASIS_RUNS, false},
};
const size_t qs_run_stat_count = sizeof qs_run_stats / sizeof *qs_run_stats;
