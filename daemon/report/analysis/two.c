/* Statistics of two samples (statistics.md, section 8): of runs, which a verdict may rest on, and the same of
 * iterations, which it may not. */
#include <math.h>

#include "report/analysis/impl.h"
#include "stats/ratio.h"
#include "stats/timer.h"
#include "stats/twosample.h"

static const struct qs_field ttest_fields[] = {
    QS_NUMBER_AS("estimate", struct qs_ttest, diff), QS_NUMBER_FIELD(struct qs_ttest, se),
    QS_NUMBER_FIELD(struct qs_ttest, t), QS_NUMBER_FIELD(struct qs_ttest, df),
    QS_NUMBER_FIELD(struct qs_ttest, p)};

static void put_ttest(struct qs_json *j, const struct qs_ttest *t)
{
    struct qs_ci ci = t->ci;
    ci.flags |= t->flags;
    qs_put_fields(j, ttest_fields, sizeof ttest_fields / sizeof *ttest_fields, t);
    qs_put_ci(j, &ci);
}

static enum qs_status put_welch(const struct qs_pair *p, struct qs_json *j)
{
    struct qs_ttest t;
    enum qs_status status = qs_welch(p->x, p->nx, p->y, p->ny, p->opts->level, &t);
    put_ttest(j, &t);
    return status;
}

static enum qs_status put_pooled(const struct qs_pair *p, struct qs_json *j)
{
    struct qs_ttest t;
    double sd = NAN;
    enum qs_status status = qs_pooled(p->x, p->nx, p->y, p->ny, p->opts->level, &t, &sd);
    put_ttest(j, &t);
    qs_json_kdouble(j, "sd", sd);
    return status;
}

static void put_ratio_test(struct qs_json *j, const struct qs_ratio_test *t)
{
    struct qs_ci ci = t->ci;
    ci.flags |= t->log.flags;
    qs_json_kdouble(j, "estimate", t->ratio);
    qs_put_ci(j, &ci);
    qs_json_kdouble(j, "t", t->log.t);
    qs_json_kdouble(j, "df", t->log.df);
    qs_json_kdouble(j, "p", t->log.p);
}

static enum qs_status put_log_welch(const struct qs_pair *p, struct qs_json *j)
{
    struct qs_ratio_test t;
    enum qs_status status = qs_log_welch(p->x, p->nx, p->y, p->ny, p->opts->level, &t);
    put_ratio_test(j, &t);
    return status;
}

static enum qs_status put_paired(const struct qs_pair *p, struct qs_json *j)
{
    struct qs_paired t;
    bool pairs = p->nx == p->ny;
    enum qs_status status = qs_paired_blocks(p->x, p->y, pairs ? p->nx : 0, p->opts->level, &t);
    put_ratio_test(j, &t.test);
    qs_json_kint(j, "n_up", (int64_t)t.n_up);
    qs_json_kint(j, "n_down", (int64_t)t.n_down);
    qs_json_kdouble(j, "sign_p", t.sign_p);
    qs_json_kdouble(j, "drift", t.drift);
    return pairs ? status : QS_EDOM;
}

static enum qs_status put_point_ratios(const struct qs_pair *p, struct qs_json *j)
{
    struct qs_point_ratios r;
    enum qs_status status = qs_point_ratios(p->x, p->nx, p->y, p->ny, &r);
    qs_json_kdouble(j, "minima", r.minima);
    qs_json_kdouble(j, "medians", r.medians);
    qs_json_kdouble(j, "means", r.means);
    qs_json_kdouble(j, "tolerance", QS_JUDGE_TIME_TOLERANCE);
    qs_json_kstring(j, "judge", qs_judgement_name(qs_judge(r.minima, QS_JUDGE_TIME_TOLERANCE)));
    return status;
}

const struct qs_pair_stat qs_two_stats[] = {
    {"log_welch", "Welch 1947 on logarithms, ratio of geometric means", put_log_welch, false, false},
    {"welch", "Welch 1947, difference of means", put_welch, false, false},
    {"pooled", "Student with the pooled variance, difference of means", put_pooled, false, false},
    {"paired_blocks", "paired t on logarithms of the ratios, in the order given", put_paired, false, true},
    {"point_ratios", "candidate over baseline, no interval; judge of BenchmarkTools on minima",
     put_point_ratios, false, false},
};
const size_t qs_two_stat_count = sizeof qs_two_stats / sizeof *qs_two_stats;
