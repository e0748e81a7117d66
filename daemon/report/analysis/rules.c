/* Two samples by the procedures of two of the sources: the Android article's (statistics.md, 8.1) and
 * Rancid's (9.7). */
#include <math.h>

#include "report/analysis/impl.h"
#include "stats/android.h"
#include "stats/rancid.h"

static const struct qs_field android_rows[] = {
    QS_ROW(qs_android, var_ratio, DOUBLE, "the greater variance over the smaller one"),
    QS_ROW(qs_android, enough, BOOL, "more than 30 values each"),
    QS_ROW(qs_android, normal, BOOL, "Shapiro and Wilk do not reject either"),
    QS_ROW(qs_android, alike, BOOL, "variances within a factor of 2"),
    QS_ROW(qs_android, steady, BOOL, "cov at most 6 %"),
    QS_ROW(qs_android, holds, BOOL, "all four"),
    QS_ROW_AS("pooled_sd", qs_android, sp, DOUBLE, "standard deviation of both together"),
    QS_ROW(qs_android, w, NUMBERS, "Shapiro and Wilk's statistic", .count = 2),
    QS_ROW(qs_android, normal_p, NUMBERS, "its p", .count = 2),
    QS_ROW(qs_android, cov, NUMBERS, "sd / |mean|", .count = 2),
    QS_ROW_AS("estimate", qs_android, t.diff, DOUBLE, "candidate - baseline, of means"),
    QS_ROWS_OF(qs_android, t.ci, qs_ci_rows),
    QS_ROW_AS("z_lo", qs_android, ci_z.lo, DOUBLE, "lower bound with the normal quantile"),
    QS_ROW_AS("z_hi", qs_android, ci_z.hi, DOUBLE, "upper bound"),
    {.name = NULL}};

static enum qs_status tell_android(const struct qs_pair *p, void *ret)
{
    return qs_android(p->x, p->nx, p->y, p->ny, p->opts->level, ret);
}

static const struct qs_field rancid_rows[] = {
    QS_ROW(qs_rancid, performance, DOUBLE, "baseline - candidate, of medians"),
    QS_ROW(qs_rancid, performance_ratio, DOUBLE, "that over the baseline's median"),
    QS_ROW(qs_rancid, precision, DOUBLE, "baseline - candidate, of standard deviations"),
    QS_ROW(qs_rancid, precision_ratio, DOUBLE, "that over the baseline's"),
    QS_ROW(qs_rancid, sd_ratio, DOUBLE, "candidate / baseline"),
    QS_ROW(qs_rancid, median, NUMBERS, "of baseline and candidate", .count = 2),
    QS_ROW(qs_rancid, sd, NUMBERS, "their standard deviations", .count = 2),
    QS_ROWS_OF(qs_rancid, sd_ratio_ci, qs_ci_rows),
    {.name = NULL}};

static enum qs_status tell_rancid(const struct qs_pair *p, void *ret)
{
    return qs_rancid(p->x, p->nx, p->y, p->ny, p->opts->level, p->opts->seed, &p->opts->progress, ret);
}

const struct qs_pair_stat qs_rule_stats[] = {
    {QS_STAT("android", qs_android, android_rows, "preconditions and pooled interval of the Android article",
             "The Android article; pairs are baseline, candidate"),
     .tell = tell_android},
    {QS_STAT("rancid", qs_rancid, rancid_rows,
             "gains of medians and of standard deviations, bootstrap of their ratio",
             "The Rancid paper: how much lower and how much less scattered; the interval is that of sd_ratio",
             .random = true),
     .tell = tell_rancid},
    {.tell = NULL},
};
