/* Intervals by resampling, and the shape of one sample (statistics.md, sections 3, 4.5, 5 and 6). */
#include <math.h>

#include "report/analysis/impl.h"
#include "stats/bootstrap.h"
#include "stats/stopping.h"
#include "stats/dependence.h"
#include "stats/describe.h"
#include "stats/harrell_davis.h"
#include "stats/interval.h"
#include "stats/normality.h"
#include "stats/resample.h"
#include "stats/sum.h"

struct harrell_davis {
    double q[QS_Q_COUNT], se[QS_Q_COUNT];
};
static const struct qs_field harrell_davis_rows[] = {
    QS_ROW_AS("p01", harrell_davis, q[QS_Q01], DOUBLE, "1 % of the values are below it"),
    QS_ROW_AS("p01_se", harrell_davis, se[QS_Q01], DOUBLE, "its standard error"),
    QS_ROW_AS("p05", harrell_davis, q[QS_Q05], DOUBLE, "5 %"),
    QS_ROW_AS("p05_se", harrell_davis, se[QS_Q05], DOUBLE, "its standard error"),
    QS_ROW_AS("p10", harrell_davis, q[QS_Q10], DOUBLE, "10 %"),
    QS_ROW_AS("p10_se", harrell_davis, se[QS_Q10], DOUBLE, "its standard error"),
    QS_ROW_AS("p25", harrell_davis, q[QS_Q25], DOUBLE, "25 %"),
    QS_ROW_AS("p25_se", harrell_davis, se[QS_Q25], DOUBLE, "its standard error"),
    QS_ROW_AS("p50", harrell_davis, q[QS_Q50], DOUBLE, "50 %"),
    QS_ROW_AS("p50_se", harrell_davis, se[QS_Q50], DOUBLE, "its standard error"),
    QS_ROW_AS("p75", harrell_davis, q[QS_Q75], DOUBLE, "75 %"),
    QS_ROW_AS("p75_se", harrell_davis, se[QS_Q75], DOUBLE, "its standard error"),
    QS_ROW_AS("p90", harrell_davis, q[QS_Q90], DOUBLE, "90 %"),
    QS_ROW_AS("p90_se", harrell_davis, se[QS_Q90], DOUBLE, "its standard error"),
    QS_ROW_AS("p95", harrell_davis, q[QS_Q95], DOUBLE, "95 %"),
    QS_ROW_AS("p95_se", harrell_davis, se[QS_Q95], DOUBLE, "its standard error"),
    QS_ROW_AS("p99", harrell_davis, q[QS_Q99], DOUBLE, "99 %"),
    QS_ROW_AS("p99_se", harrell_davis, se[QS_Q99], DOUBLE, "its standard error"),
    {.name = NULL}};

static enum qs_status tell_harrell_davis(const struct qs_sample *s, void *ret)
{
    struct harrell_davis *told = ret;
    enum qs_status status = QS_OK;
    for (size_t i = 0; i < QS_Q_COUNT; i++)
        status = qs_hd_quantile(s->sorted, s->n, qs_summary_probs[i], &told->q[i], &told->se[i]);
    return status;
}

static enum qs_status tell_hd_median_ci(const struct qs_sample *s, void *ret)
{
    struct qs_estimate *told = ret;
    *told = (struct qs_estimate){NAN, qs_ci_none(s->opts->level)};
    (void)qs_hd_quantile(s->sorted, s->n, 0.5, &told->estimate, NULL);
    return qs_hd_ci(s->sorted, s->n, 0.5, s->opts->level, &told->ci);
}

static enum qs_status tell_mean_ci_z(const struct qs_sample *s, void *ret)
{
    struct qs_moments m;
    struct qs_estimate *told = ret;
    enum qs_status status = qs_moments(s->x, s->n, &m);
    *told = (struct qs_estimate){m.mean, qs_ci_none(s->opts->level)};
    if (status == QS_OK && s->n > 1)
        told->ci = qs_z_interval(m.mean, sqrt(m.var), (double)s->n, s->opts->level);
    return s->n > 1 ? status : QS_ETOOFEW;
}

struct bootstrap {
    struct qs_boot boot;
    double basic_lo, basic_hi;
};
static const struct qs_field drawn_rows[] = {
    QS_ROW(qs_boot, estimate, DOUBLE, "of the values themselves"),
    QS_ROW(qs_boot, bias, DOUBLE, "mean of the resamples less the estimate"),
    QS_ROW(qs_boot, se, DOUBLE, "standard deviation of the resamples"),
    QS_ROW(qs_boot, resamples, COUNT, "how many were drawn"),
    {.name = NULL}};
static const struct qs_field bootstrap_rows[] = {
    QS_ROWS_OF(bootstrap, boot, drawn_rows),
    QS_ROW_AS("z0", bootstrap, boot.z0, DOUBLE, "BCa's correction of the bias"),
    QS_ROW_AS("accel", bootstrap, boot.accel, DOUBLE, "BCa's acceleration"),
    QS_ROW_AS("percentile_lo", bootstrap, boot.pct.lo, DOUBLE, "lower bound: a quantile of the resamples"),
    QS_ROW_AS("percentile_hi", bootstrap, boot.pct.hi, DOUBLE, "upper bound"),
    QS_ROW(bootstrap, basic_lo, DOUBLE, "2 estimate - percentile_hi"),
    QS_ROW(bootstrap, basic_hi, DOUBLE, "2 estimate - percentile_lo"),
    QS_ROW_AS("bca_lo", bootstrap, boot.bca.lo, DOUBLE, "lower bound, corrected for bias and skew"),
    QS_ROW_AS("bca_hi", bootstrap, boot.bca.hi, DOUBLE, "upper bound"),
    QS_ROW_AS("level", bootstrap, boot.bca.level, DOUBLE, "confidence of all three"),
    QS_ROW_AS("flags", bootstrap, boot.bca.flags, FLAGS, QS_FLAGS_MEANING, .words = qs_flag_names),
    {.name = NULL}};

static struct qs_boot_opts boot_opts(const struct qs_sample *s, const char *name,
                                     double (*statistic)(double *x, size_t n, void *user))
{
    /* ranks of the middle are drawn then, whatever the number of values */
    bool is_quick = statistic == qs_statistic_median && s->n >= QS_RESAMPLE_MANY;
    return (struct qs_boot_opts){.statistic = statistic,
                                 .level = s->opts->level,
                                 .resamples =
                                     is_quick ? s->opts->resamples : qs_analysis_resamples(s->opts, s->n),
                                 .seed = s->opts->seed,
                                 .stream = qs_analysis_stream(s->id, name),
                                 .progress = s->opts->progress};
}

static enum qs_status tell_bootstrap(const struct qs_sample *s, const char *name,
                                     double (*statistic)(double *x, size_t n, void *user),
                                     struct bootstrap *ret)
{
    const struct qs_boot_opts opts = boot_opts(s, name, statistic);
    enum qs_status status = qs_boot_ci(s->x, s->n, &opts, &ret->boot);
    ret->basic_lo = 2 * ret->boot.estimate - ret->boot.pct.hi;
    ret->basic_hi = 2 * ret->boot.estimate - ret->boot.pct.lo;
    return status;
}

static enum qs_status tell_bootstrap_mean(const struct qs_sample *s, void *ret)
{
    return tell_bootstrap(s, "bootstrap_mean", qs_statistic_mean, ret);
}

static enum qs_status tell_bootstrap_median(const struct qs_sample *s, void *ret)
{
    return tell_bootstrap(s, "bootstrap_median", qs_statistic_median, ret);
}

static const struct qs_field block_bootstrap_rows[] = {
    QS_ROWS_OF(bootstrap, boot, drawn_rows),
    QS_ROW_AS("block_length", bootstrap, boot.block_length, COUNT, "values of a block"),
    QS_ROWS_OF(bootstrap, boot.pct, qs_ci_rows),
    {.name = NULL}};

static enum qs_status tell_block_bootstrap(const struct qs_sample *s, void *ret)
{
    struct bootstrap *told = ret;
    told->boot = (struct qs_boot){.estimate = NAN, .bias = NAN, .se = NAN, .pct = qs_ci_none(s->opts->level)};
    const struct qs_boot_opts opts = boot_opts(s, "block_bootstrap_mean", qs_statistic_mean);
    size_t length = s->ess_status == QS_OK ? qs_block_length(s->n, s->ess.tau) : 0;
    return qs_block_boot_ci(s->x, s->n, NULL, 0, length, &opts, &told->boot);
}

static const struct qs_field thinning_rows[] = {
    QS_ROW(qs_thinning, stride, COUNT, "every so many-th value is kept; 0: not attainable"),
    QS_ROW(qs_thinning, n_kept, COUNT, "values that are kept"),
    QS_ROW_AS("lag1", qs_thinning, r1, DOUBLE, "correlation of neighbours of what is kept"),
    QS_ROW(qs_thinning, p, DOUBLE, "Ljung-Box of what is kept"),
    {.name = NULL}};

static enum qs_status tell_thinning(const struct qs_sample *s, void *ret)
{
    *(struct qs_thinning *)ret = (struct qs_thinning){.r1 = NAN, .p = NAN};
    return qs_thin(s->x, s->n, NULL, 0, ret);
}

static const struct qs_field futhark_rows[] = {
    QS_ROW(qs_futhark, rse, DOUBLE, "denominator n"),
    QS_ROW_AS("lag1", qs_futhark, r1, DOUBLE, "correlation of neighbours"),
    {.name = NULL}};

static enum qs_status tell_futhark(const struct qs_sample *s, void *ret)
{
    struct qs_futhark *f = ret;
    struct qs_summary d;
    enum qs_status status = qs_describe(s->x, s->n, &d);
    *f = (struct qs_futhark){NAN, NAN};
    (void)qs_futhark_metrics(s->x, s->n, NULL, 0, QS_ROOT_SQUARE, f);
    f->rse = d.rse * sqrt((double)(s->n - 1) / (double)s->n); /* also of negative means */
    return status;
}

static const char P_MEANING[] = "that a normal sample is so far from normal";

static const struct qs_field shapiro_rows[] = {
    QS_ROW_AS("w", qs_fit, statistic, DOUBLE, "the statistic, 1: as normal as can be"),
    QS_ROW(qs_fit, p, DOUBLE, P_MEANING),
    {.name = NULL}};

static enum qs_status tell_shapiro(const struct qs_sample *s, void *ret)
{
    return qs_shapiro(s->x, s->n, ret);
}

static const struct qs_field log_normality_rows[] = {
    QS_ROW(qs_shape_test, shape, WORD, "log-normal: the values are rejected at 5 %, the logarithms are not",
           .words = qs_shape_names),
    QS_ROWS_OF(qs_shape_test, log, shapiro_rows),
    {.name = NULL}};

static enum qs_status tell_log_normality(const struct qs_sample *s, void *ret)
{
    struct qs_shape_test *t = ret;
    enum qs_status status = qs_shape_test(s->x, s->n, 0.05, t);
    return status == QS_OK && isnan(t->log.statistic) ? QS_EDOM : status;
}

static const struct qs_field anderson_darling_rows[] = {
    QS_ROW_AS("a2", qs_fit, statistic, DOUBLE, "the statistic, 0: as normal as can be"),
    QS_ROW(qs_fit, p, DOUBLE, P_MEANING),
    {.name = NULL}};

static enum qs_status tell_anderson_darling(const struct qs_sample *s, void *ret)
{
    return qs_anderson_darling(s->x, s->n, ret);
}

static const struct qs_field lilliefors_rows[] = {
    QS_ROW_AS("d", qs_fit, statistic, DOUBLE, "greatest distance of both distributions"),
    QS_ROW(qs_fit, p, DOUBLE, P_MEANING),
    {.name = NULL}};

static enum qs_status tell_lilliefors(const struct qs_sample *s, void *ret)
{
    return qs_lilliefors(s->x, s->n, ret);
}

struct qq {
    double r;
};
static const struct qs_field qq_rows[] = {QS_ROW(qq, r, DOUBLE, "correlation, 1: as normal as can be"),
                                          {.name = NULL}};

static enum qs_status tell_qq(const struct qs_sample *s, void *ret)
{
    struct qq *told = ret;
    told->r = NAN;
    return qs_qq_correlation(s->x, s->n, &told->r);
}

const struct qs_sample_stat qs_shape_stats[] = {
    {QS_STAT("harrell_davis", harrell_davis, harrell_davis_rows,
             "Harrell-Davis 1982, errors of Maritz-Jarrett 1978",
             "Quantiles as weighted means of all order statistics, with their standard errors"),
     .tell = tell_harrell_davis},
    {QS_STAT("hd_median_ci", qs_estimate, qs_estimate_rows, "Student around the Harrell-Davis median",
             "The Harrell-Davis median"),
     .tell = tell_hd_median_ci},
    {QS_STAT("mean_ci_z", qs_estimate, qs_estimate_rows, "normal quantile, to repeat papers that take it",
             "The mean with the normal quantile, only to repeat papers"),
     .tell = tell_mean_ci_z},
    {QS_STAT("bootstrap_mean", bootstrap, bootstrap_rows,
             "percentile, basic and BCa intervals of the mean; equal resamples count half for z0",
             "Bootstrap of the mean, single values drawn", .random = true),
     .tell = tell_bootstrap_mean},
    {QS_STAT("bootstrap_median", bootstrap, bootstrap_rows,
             "percentile, basic and BCa intervals of the median; equal resamples count half for z0",
             "Bootstrap of the median, single values drawn", .random = true),
     .tell = tell_bootstrap_median},
    {QS_STAT("block_bootstrap_mean", bootstrap, block_bootstrap_rows,
             "circular blocks, percentile interval of the mean",
             "Bootstrap of the mean, blocks of neighbours drawn", .random = true),
     .tell = tell_block_bootstrap},
    {QS_STAT("thinning", qs_thinning, thinning_rows, "the least power of two that leaves independent values",
             "Keeping every stride-th value until they look independent"),
     .tell = tell_thinning},
    {QS_STAT("futhark", qs_futhark, futhark_rows,
             "relative standard error with denominator n, and lag-1 autocorrelation",
             "What futhark bench looks at"),
     .tell = tell_futhark},
    {QS_STAT("shapiro_wilk", qs_fit, shapiro_rows, "Royston 1995, AS R94", "Normality; n from 3 to 5000"),
     .tell = tell_shapiro},
    {QS_STAT("shapiro_wilk_log", qs_shape_test, log_normality_rows,
             "the same of the logarithms; shape at 5 %", "Normality of the logarithms"),
     .tell = tell_log_normality},
    {QS_STAT("anderson_darling", qs_fit, anderson_darling_rows, "Stephens 1986, mean and sd estimated",
             "Normality, by the squared distance of the distributions"),
     .tell = tell_anderson_darling},
    {QS_STAT("lilliefors", qs_fit, lilliefors_rows, "Dallal-Wilkinson 1986, mean and sd estimated",
             "Normality, by the greatest distance of the distributions"),
     .tell = tell_lilliefors},
    {QS_STAT("qq_correlation", qq, qq_rows, "with normal quantiles at (i - 3/8)/(n + 1/4)",
             "Correlation with normal quantiles, for any n"),
     .tell = tell_qq},
    {.tell = NULL},
};
