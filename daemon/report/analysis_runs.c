/* Statistics of runs of iterations (statistics.md, section 9.1): what varies between runs, and what the mean
 * over runs is worth. */
#include <math.h>
#include <stddef.h>

#include "report/analysis_impl.h"
#include "stats/describe.h"
#include "stats/interval.h"
#include "stats/sum.h"

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
    qs_put_flags(j, c.flags);
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

const struct qs_view_stat qs_run_stats[] = {
    {"run_medians", "order statistics of the medians of the runs", put_run_medians, QS_BASIS_RUNS, false},
    {"runs_mean_ci", "Student on the means of the runs, k-1 degrees of freedom", put_runs_mean_ci,
     QS_BASIS_RUNS, false},
    {"variance_components", "one-way random effects by moments", put_components, QS_BASIS_RUNS, false},
};
const size_t qs_run_stat_count = sizeof qs_run_stats / sizeof *qs_run_stats;
