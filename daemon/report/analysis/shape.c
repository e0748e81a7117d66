/* Intervals by resampling, and the shape of one sample (statistics.md, sections 3, 4.5, 5 and 6). */
#include <math.h>
#include <stdio.h>

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

/* p05 and its standard error p05_se, and so on. */
static enum qs_status put_harrell_davis(const struct qs_view *v, struct qs_json *j)
{
    enum qs_status status = QS_OK;
    for (size_t i = 0; i < QS_Q_COUNT; i++) {
        char name[16];
        double q, se;
        int percent = (int)(qs_summary_probs[i] * 100 + 0.5);
        status = qs_hd_quantile(v->sorted, v->n, qs_summary_probs[i], &q, &se);
        snprintf(name, sizeof name, "p%02d", percent);
        qs_json_kdouble(j, name, q);
        snprintf(name, sizeof name, "p%02d_se", percent);
        qs_json_kdouble(j, name, se);
    }
    return status;
}

static enum qs_status put_hd_median_ci(const struct qs_view *v, struct qs_json *j)
{
    struct qs_ci ci = qs_ci_none(v->opts->level);
    double q = NAN;
    (void)qs_hd_quantile(v->sorted, v->n, 0.5, &q, NULL);
    enum qs_status status = qs_hd_ci(v->sorted, v->n, 0.5, v->opts->level, &ci);
    qs_json_kdouble(j, "estimate", q);
    qs_put_ci(j, &ci);
    return status;
}

static enum qs_status put_mean_ci_z(const struct qs_view *v, struct qs_json *j)
{
    struct qs_moments m;
    struct qs_ci ci = qs_ci_none(v->opts->level);
    enum qs_status status = qs_moments(v->x, v->n, &m);
    if (status == QS_OK && v->n > 1)
        ci = qs_z_interval(m.mean, sqrt(m.var), (double)v->n, v->opts->level);
    qs_json_kdouble(j, "estimate", m.mean);
    qs_put_ci(j, &ci);
    return v->n > 1 ? status : QS_ETOOFEW;
}

static const struct qs_field boot_fields[] = {
    QS_NUMBER_FIELD(struct qs_boot, estimate), QS_NUMBER_FIELD(struct qs_boot, bias),
    QS_NUMBER_FIELD(struct qs_boot, se), QS_COUNT_FIELD(struct qs_boot, resamples)};
enum { BOOT_FIELDS = sizeof boot_fields / sizeof *boot_fields };

static struct qs_boot_opts boot_opts(const struct qs_view *v, const char *name,
                                     double (*statistic)(double *x, size_t n, void *user))
{
    /* ranks of the middle are drawn then, whatever the number of values */
    bool is_quick = statistic == qs_statistic_median && v->n >= QS_RESAMPLE_MANY;
    return (struct qs_boot_opts){.statistic = statistic,
                                 .level = v->opts->level,
                                 .resamples =
                                     is_quick ? v->opts->resamples : qs_analysis_resamples(v->opts, v->n),
                                 .seed = v->opts->seed,
                                 .stream = qs_analysis_stream(v->id, name),
                                 .progress = v->opts->progress};
}

static enum qs_status put_bootstrap(const struct qs_view *v, const char *name,
                                    double (*statistic)(double *x, size_t n, void *user), struct qs_json *j)
{
    struct qs_boot b;
    const struct qs_boot_opts opts = boot_opts(v, name, statistic);
    enum qs_status status = qs_boot_ci(v->x, v->n, &opts, &b);
    qs_put_fields(j, boot_fields, BOOT_FIELDS, &b);
    qs_json_kdouble(j, "z0", b.z0);
    qs_json_kdouble(j, "accel", b.accel);
    qs_json_kdouble(j, "percentile_lo", b.pct.lo);
    qs_json_kdouble(j, "percentile_hi", b.pct.hi);
    qs_json_kdouble(j, "basic_lo", 2 * b.estimate - b.pct.hi);
    qs_json_kdouble(j, "basic_hi", 2 * b.estimate - b.pct.lo);
    qs_json_kdouble(j, "bca_lo", b.bca.lo);
    qs_json_kdouble(j, "bca_hi", b.bca.hi);
    qs_json_kdouble(j, "level", b.bca.level);
    qs_put_flags(j, b.bca.flags);
    return status;
}

static enum qs_status put_bootstrap_mean(const struct qs_view *v, struct qs_json *j)
{
    return put_bootstrap(v, "bootstrap_mean", qs_statistic_mean, j);
}

static enum qs_status put_bootstrap_median(const struct qs_view *v, struct qs_json *j)
{
    return put_bootstrap(v, "bootstrap_median", qs_statistic_median, j);
}

static enum qs_status put_block_bootstrap(const struct qs_view *v, struct qs_json *j)
{
    struct qs_boot b = {.estimate = NAN, .bias = NAN, .se = NAN, .pct = qs_ci_none(v->opts->level)};
    const struct qs_boot_opts opts = boot_opts(v, "block_bootstrap_mean", qs_statistic_mean);
    size_t length = v->ess_status == QS_OK ? qs_block_length(v->n, v->ess.tau) : 0;
    enum qs_status status = qs_block_boot_ci(v->x, v->n, NULL, 0, length, &opts, &b);
    qs_put_fields(j, boot_fields, BOOT_FIELDS, &b);
    qs_json_kint(j, "block_length", (int64_t)b.block_length);
    qs_put_ci(j, &b.pct);
    return status;
}

static enum qs_status put_thinning(const struct qs_view *v, struct qs_json *j)
{
    struct qs_thinning t = {.r1 = NAN, .p = NAN};
    enum qs_status status = qs_thin(v->x, v->n, NULL, 0, &t);
    qs_json_kint(j, "stride", (int64_t)t.stride);
    qs_json_kint(j, "n_kept", (int64_t)t.n_kept);
    qs_json_kdouble(j, "lag1", t.r1);
    qs_json_kdouble(j, "p", t.p);
    return status;
}

static enum qs_status put_futhark(const struct qs_view *v, struct qs_json *j)
{
    struct qs_futhark f = {NAN, NAN};
    struct qs_summary d;
    enum qs_status status = qs_describe(v->x, v->n, &d);
    (void)qs_futhark_metrics(v->x, v->n, NULL, 0, QS_ROOT_SQUARE, &f);
    qs_json_kdouble(j, "rse", d.rse * sqrt((double)(v->n - 1) / (double)v->n)); /* also of negative means */
    qs_json_kdouble(j, "lag1", f.r1);
    return status;
}

/* A test whose statistic has a name of its own. */
static enum qs_status put_fit(struct qs_json *j, const char *name, const struct qs_fit *fit,
                              enum qs_status status)
{
    qs_json_kdouble(j, name, fit->statistic);
    qs_json_kdouble(j, "p", fit->p);
    return status;
}

static enum qs_status put_shapiro(const struct qs_view *v, struct qs_json *j)
{
    struct qs_fit fit;
    enum qs_status status = qs_shapiro(v->x, v->n, &fit);
    return put_fit(j, "w", &fit, status);
}

static enum qs_status put_log_normality(const struct qs_view *v, struct qs_json *j)
{
    struct qs_shape_test t;
    enum qs_status status = qs_shape_test(v->x, v->n, 0.05, &t);
    qs_json_kstring(j, "shape", qs_shape_name(t.shape));
    return put_fit(j, "w", &t.log, status == QS_OK && isnan(t.log.statistic) ? QS_EDOM : status);
}

static enum qs_status put_anderson_darling(const struct qs_view *v, struct qs_json *j)
{
    struct qs_fit fit;
    enum qs_status status = qs_anderson_darling(v->x, v->n, &fit);
    return put_fit(j, "a2", &fit, status);
}

static enum qs_status put_lilliefors(const struct qs_view *v, struct qs_json *j)
{
    struct qs_fit fit;
    enum qs_status status = qs_lilliefors(v->x, v->n, &fit);
    return put_fit(j, "d", &fit, status);
}

static enum qs_status put_qq(const struct qs_view *v, struct qs_json *j)
{
    double r = NAN;
    enum qs_status status = qs_qq_correlation(v->x, v->n, &r);
    qs_json_kdouble(j, "r", r);
    return status;
}

const struct qs_view_stat qs_shape_stats[] = {
    {"harrell_davis", "Harrell-Davis 1982, errors of Maritz-Jarrett 1978", put_harrell_davis,
     QS_BASIS_ITERATIONS, false},
    {"hd_median_ci", "Student around the Harrell-Davis median", put_hd_median_ci, QS_BASIS_ITERATIONS, false},
    {"mean_ci_z", "normal quantile, to repeat papers that take it", put_mean_ci_z, QS_BASIS_ITERATIONS,
     false},
    {"bootstrap_mean", "percentile, basic and BCa intervals of the mean; equal resamples count half for z0",
     put_bootstrap_mean, QS_BASIS_ITERATIONS, true},
    {"bootstrap_median",
     "percentile, basic and BCa intervals of the median; equal resamples count half for z0",
     put_bootstrap_median, QS_BASIS_ITERATIONS, true},
    {"block_bootstrap_mean", "circular blocks, percentile interval of the mean", put_block_bootstrap,
     QS_BASIS_ITERATIONS, true},
    {"thinning", "the least power of two that leaves independent values", put_thinning, QS_BASIS_ITERATIONS,
     false},
    {"futhark", "relative standard error with denominator n, and lag-1 autocorrelation", put_futhark,
     QS_BASIS_ITERATIONS, false},
    {"shapiro_wilk", "Royston 1995, AS R94", put_shapiro, QS_BASIS_ITERATIONS, false},
    {"shapiro_wilk_log", "the same of the logarithms; shape at 5 %", put_log_normality, QS_BASIS_ITERATIONS,
     false},
    {"anderson_darling", "Stephens 1986, mean and sd estimated", put_anderson_darling, QS_BASIS_ITERATIONS,
     false},
    {"lilliefors", "Dallal-Wilkinson 1986, mean and sd estimated", put_lilliefors, QS_BASIS_ITERATIONS,
     false},
    {"qq_correlation", "with normal quantiles at (i - 3/8)/(n + 1/4)", put_qq, QS_BASIS_ITERATIONS, false},
};
const size_t qs_shape_stat_count = sizeof qs_shape_stats / sizeof *qs_shape_stats;
