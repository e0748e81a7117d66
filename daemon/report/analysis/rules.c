/* Two samples by the procedures of two of the sources: the Android article's (statistics.md, 8.1) and
 * Rancid's (9.7). */
#include <math.h>

#include "report/analysis/impl.h"
#include "stats/android.h"
#include "stats/rancid.h"

static enum qs_status put_android(const struct qs_pair *p, struct qs_json *j)
{
    static const struct qs_field fields[] = {
        QS_NUMBER_FIELD(struct qs_android, var_ratio),   QS_BOOL_FIELD(struct qs_android, enough),
        QS_BOOL_FIELD(struct qs_android, normal),        QS_BOOL_FIELD(struct qs_android, alike),
        QS_BOOL_FIELD(struct qs_android, steady),        QS_BOOL_FIELD(struct qs_android, holds),
        QS_NUMBER_AS("pooled_sd", struct qs_android, sp)};
    struct qs_android a;
    enum qs_status status = qs_android(p->x, p->nx, p->y, p->ny, p->opts->level, &a);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &a);
    qs_put_numbers(j, "w", a.w, 2);
    qs_put_numbers(j, "normal_p", a.normal_p, 2);
    qs_put_numbers(j, "cov", a.cov, 2);
    qs_json_kdouble(j, "estimate", a.t.diff);
    qs_put_ci(j, &a.t.ci);
    qs_json_kdouble(j, "z_lo", a.ci_z.lo);
    qs_json_kdouble(j, "z_hi", a.ci_z.hi);
    return status;
}

static enum qs_status put_rancid(const struct qs_pair *p, struct qs_json *j)
{
    static const struct qs_field fields[] = {
        QS_NUMBER_FIELD(struct qs_rancid, performance), QS_NUMBER_FIELD(struct qs_rancid, performance_ratio),
        QS_NUMBER_FIELD(struct qs_rancid, precision), QS_NUMBER_FIELD(struct qs_rancid, precision_ratio),
        QS_NUMBER_FIELD(struct qs_rancid, sd_ratio)};
    struct qs_rancid r;
    enum qs_status status =
        qs_rancid(p->x, p->nx, p->y, p->ny, p->opts->level, p->opts->seed, &p->opts->progress, &r);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &r);
    qs_put_numbers(j, "median", r.median, 2);
    qs_put_numbers(j, "sd", r.sd, 2);
    qs_put_ci(j, &r.sd_ratio_ci);
    return status;
}

const struct qs_pair_stat qs_rule_stats[] = {
    {"android", "preconditions and pooled interval of the Android article", put_android, false, false},
    {"rancid", "gains of medians and of standard deviations, bootstrap of their ratio", put_rancid, true,
     false},
};
const size_t qs_rule_stat_count = sizeof qs_rule_stats / sizeof *qs_rule_stats;
