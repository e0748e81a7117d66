/* Statistics of two samples (statistics.md, section 8): of runs, which a verdict may rest on, and the same of
 * iterations, which it may not. */
#include <math.h>

#include "report/analysis/impl.h"
#include "stats/ratio.h"
#include "stats/timer.h"
#include "stats/twosample.h"

static const struct qs_field ttest_rows[] = {QS_ROW_AS("estimate", qs_ttest, diff, DOUBLE, "the difference"),
                                             QS_ROW(qs_ttest, se, DOUBLE, "its standard error"),
                                             QS_ROW(qs_ttest, t, DOUBLE, "estimate / se"),
                                             QS_ROW(qs_ttest, df, DOUBLE, "degrees of freedom"),
                                             QS_ROW(qs_ttest, p, DOUBLE, "two-sided"),
                                             QS_ROWS_OF(qs_ttest, ci, qs_ci_rows),
                                             {.name = NULL}};

static enum qs_status tell_welch(const struct qs_pair *p, void *ret)
{
    struct qs_ttest *t = ret;
    enum qs_status status = qs_welch(p->x, p->nx, p->y, p->ny, p->opts->level, t);
    t->ci.flags |= t->flags;
    return status;
}

struct pooled {
    struct qs_ttest of;
    double sd;
};
static const struct qs_field pooled_rows[] = {QS_ROWS_OF(pooled, of, ttest_rows),
                                              QS_ROW(pooled, sd, DOUBLE, "pooled standard deviation"),
                                              {.name = NULL}};

static enum qs_status tell_pooled(const struct qs_pair *p, void *ret)
{
    struct pooled *told = ret;
    told->sd = NAN;
    enum qs_status status = qs_pooled(p->x, p->nx, p->y, p->ny, p->opts->level, &told->of, &told->sd);
    told->of.ci.flags |= told->of.flags;
    return status;
}

static const struct qs_field ratio_rows[] = {
    QS_ROW_AS("estimate", qs_ratio_test, ratio, DOUBLE, "the ratio"),
    QS_ROWS_OF(qs_ratio_test, ci, qs_ci_rows),
    QS_ROW_AS("t", qs_ratio_test, log.t, DOUBLE, "its logarithm over the standard error of that"),
    QS_ROW_AS("df", qs_ratio_test, log.df, DOUBLE, "degrees of freedom"),
    QS_ROW_AS("p", qs_ratio_test, log.p, DOUBLE, "two-sided"),
    {.name = NULL}};

static enum qs_status tell_log_welch(const struct qs_pair *p, void *ret)
{
    struct qs_ratio_test *t = ret;
    enum qs_status status = qs_log_welch(p->x, p->nx, p->y, p->ny, p->opts->level, t);
    t->ci.flags |= t->log.flags;
    return status;
}

static const struct qs_field paired_rows[] = {
    QS_ROWS_OF(qs_paired, test, ratio_rows),
    QS_ROW(qs_paired, n_up, COUNT, "pairs in which the candidate is above"),
    QS_ROW(qs_paired, n_down, COUNT, "pairs in which it is below"),
    QS_ROW(qs_paired, sign_p, DOUBLE, "of these two numbers: sign test"),
    QS_ROW(qs_paired, drift, DOUBLE, "slope of the log ratios, per pair"),
    {.name = NULL}};

static enum qs_status tell_paired(const struct qs_pair *p, void *ret)
{
    struct qs_paired *t = ret;
    bool pairs = p->nx == p->ny;
    enum qs_status status = qs_paired_blocks(p->x, p->y, pairs ? p->nx : 0, p->opts->level, t);
    t->test.ci.flags |= t->test.log.flags;
    return pairs ? status : QS_EDOM;
}

struct judged {
    struct qs_point_ratios of;
    double tolerance;
    enum qs_judgement judge;
};
static const struct qs_field judged_rows[] = {
    QS_ROW_AS("minima", judged, of.minima, DOUBLE, "of the least values"),
    QS_ROW_AS("medians", judged, of.medians, DOUBLE, "of the medians"),
    QS_ROW_AS("means", judged, of.means, DOUBLE, "of the means"),
    QS_ROW(judged, tolerance, DOUBLE, "the judge's: a change of minima beyond it counts"),
    QS_ROW(judged, judge, WORD, "its answer", .words = qs_judgement_names),
    {.name = NULL}};

static enum qs_status tell_point_ratios(const struct qs_pair *p, void *ret)
{
    struct judged *told = ret;
    enum qs_status status = qs_point_ratios(p->x, p->nx, p->y, p->ny, &told->of);
    told->tolerance = QS_JUDGE_TIME_TOLERANCE;
    told->judge = qs_judge(told->of.minima, QS_JUDGE_TIME_TOLERANCE);
    return status;
}

const struct qs_pair_stat qs_two_stats[] = {
    {QS_STAT("log_welch", qs_ratio_test, ratio_rows, "Welch 1947 on logarithms, ratio of geometric means",
             "Ratio candidate / baseline of geometric means"),
     .tell = tell_log_welch},
    {QS_STAT("welch", qs_ttest, ttest_rows, "Welch 1947, difference of means",
             "Difference of means, candidate - baseline"),
     .tell = tell_welch},
    {QS_STAT("pooled", pooled, pooled_rows, "Student with the pooled variance, difference of means",
             "Difference of means, candidate - baseline, one variance"),
     .tell = tell_pooled},
    {QS_STAT(
         "paired_blocks", qs_paired, paired_rows, "paired t on logarithms of the ratios, in the order given",
         "Ratio where the runs of both files were interleaved: the i-th belong together", .runs_only = true),
     .tell = tell_paired},
    {QS_STAT("point_ratios", judged, judged_rows,
             "candidate over baseline, no interval; judge of BenchmarkTools on minima",
             "Ratios candidate / baseline without an interval"),
     .tell = tell_point_ratios},
    {.tell = NULL},
};
