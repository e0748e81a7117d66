/* Statistics of one sample of iterations (statistics.md, sections 3 to 7). */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/analysis/impl.h"
#include "stats/dependence.h"
#include "stats/describe.h"
#include "stats/interval.h"
#include "stats/outlier.h"
#include "stats/special.h"
#include "stats/sum.h"

enum { LAGS = 10, LORENZ_MOST = 1000 };

static const struct qs_field describe_rows[] = {
    QS_ROW(qs_summary, mean, DOUBLE, "arithmetic mean"),
    QS_ROW_AS("variance", qs_summary, var, DOUBLE, "denominator n-1, as everywhere"),
    QS_ROW(qs_summary, sd, DOUBLE, "standard deviation"),
    QS_ROW(qs_summary, cov, DOUBLE, "sd / mean"),
    QS_ROW(qs_summary, cov_abs, DOUBLE, "sd / |mean|"),
    QS_ROW(qs_summary, rse, DOUBLE, "sd / (mean sqrt n)"),
    QS_ROW(qs_summary, rse_abs, DOUBLE, "sd / (|mean| sqrt n)"),
    QS_ROW(qs_summary, min, DOUBLE, "the least value"),
    QS_ROW(qs_summary, max, DOUBLE, "the greatest value"),
    QS_ROW(qs_summary, median, DOUBLE, "the middle value, or the mean of both in the middle"),
    QS_ROW(qs_summary, iqr, DOUBLE, "from the lower quartile to the upper one"),
    QS_ROW(qs_summary, rel_iqr, DOUBLE, "iqr / |median|"),
    QS_ROW(qs_summary, mad, DOUBLE, "1.482602218505602 times mad_raw"),
    QS_ROW(qs_summary, mad_raw, DOUBLE, "median of the absolute deviations from the median"),
    QS_ROW(qs_summary, scale, DOUBLE, "a robust sd: mad, else iqr / 1.349, else sd, the first that is not 0"),
    QS_ROW_AS("trimmed_mean_05", qs_summary, trim05, DOUBLE, "without floor(0.05 n) values at each end"),
    QS_ROW_AS("trimmed_mean_10", qs_summary, trim10, DOUBLE, "without floor(0.1 n)"),
    QS_ROW_AS("trimmed_mean_25", qs_summary, trim25, DOUBLE, "without floor(0.25 n)"),
    QS_ROW_AS("geometric_mean", qs_summary, geomean, DOUBLE,
              "exp of the mean of the logarithms; null where a value is not above 0"),
    QS_ROW_AS("geometric_sd", qs_summary, geosd, DOUBLE, "exp of their standard deviation, a factor"),
    QS_ROW(qs_summary, gini, DOUBLE, "Gini coefficient, 0: all values are equal; null with a negative value"),
    QS_ROW_AS("skewness", qs_summary, skew, DOUBLE, "m3 / m2^1.5"),
    QS_ROW_AS("excess_kurtosis", qs_summary, kurt, DOUBLE, "m4 / m2^2 - 3"),
    QS_ROW(qs_summary, scale_source, WORD, "what scale is", .words = qs_scale_source_names),
    {.name = NULL}};

static enum qs_status tell_describe(const struct qs_sample *s, void *ret)
{
    return qs_describe(s->x, s->n, ret);
}

struct quantiles {
    double q[QS_Q_COUNT];
};
static const struct qs_field quantile_rows[] = {
    QS_ROW_AS("p01", quantiles, q[QS_Q01], DOUBLE, "1 % of the values are below it"),
    QS_ROW_AS("p05", quantiles, q[QS_Q05], DOUBLE, "5 %"),
    QS_ROW_AS("p10", quantiles, q[QS_Q10], DOUBLE, "10 %"),
    QS_ROW_AS("p25", quantiles, q[QS_Q25], DOUBLE, "25 %"),
    QS_ROW_AS("p50", quantiles, q[QS_Q50], DOUBLE, "50 %: the median"),
    QS_ROW_AS("p75", quantiles, q[QS_Q75], DOUBLE, "75 %"),
    QS_ROW_AS("p90", quantiles, q[QS_Q90], DOUBLE, "90 %"),
    QS_ROW_AS("p95", quantiles, q[QS_Q95], DOUBLE, "95 %"),
    QS_ROW_AS("p99", quantiles, q[QS_Q99], DOUBLE, "99 %"),
    {.name = NULL}};

static enum qs_status tell_quantiles_of(const struct qs_sample *s, enum qs_qtype type, struct quantiles *ret)
{
    for (size_t i = 0; i < QS_Q_COUNT; i++)
        ret->q[i] = qs_quantile(s->sorted, s->n, qs_summary_probs[i], type);
    return QS_OK;
}

static enum qs_status tell_quantiles(const struct qs_sample *s, void *ret)
{
    return tell_quantiles_of(s, QS_QTYPE_7, ret);
}

static enum qs_status tell_quantiles_type8(const struct qs_sample *s, void *ret)
{
    return tell_quantiles_of(s, QS_QTYPE_8, ret);
}

struct lorenz {
    struct qs_field_list p, share;
};
static const struct qs_field lorenz_rows[] = {
    QS_ROW(lorenz, p, NUMBERS, "share of the values, from the least"),
    QS_ROW(lorenz, share, NUMBERS, "their share of the sum"),
    {.name = NULL}};

/* Points (p, share of the sum in the least p n values); every one of them where they are few. */
static enum qs_status tell_lorenz(const struct qs_sample *s, void *ret)
{
    size_t steps = s->n < LORENZ_MOST ? s->n : LORENZ_MOST;
    double *p = qs_calloc(steps + 1, sizeof *p), *share = qs_calloc(steps + 1, sizeof *share);
    struct qs_acc acc = {0};
    for (size_t i = 0; i < s->n; i++)
        qs_acc_add(&acc, s->sorted[i]);
    double sum = qs_acc_value(&acc);
    bool ok = s->sorted[0] >= 0 && sum > 0;
    size_t done = 0;
    acc = (struct qs_acc){0};
    for (size_t i = 0; i <= steps; i++) {
        size_t upto = (size_t)((double)i * (double)s->n / (double)steps + 0.5);
        for (; done < upto; done++)
            qs_acc_add(&acc, s->sorted[done]);
        p[i] = (double)upto / (double)s->n;
        share[i] = ok ? qs_acc_value(&acc) / sum : NAN;
    }
    *(struct lorenz *)ret = (struct lorenz){{p, ok ? steps + 1 : 0}, {share, ok ? steps + 1 : 0}};
    return ok ? QS_OK : QS_EDOM;
}

struct autocorrelation {
    double lag1, band;
    struct qs_field_list r;
};
static const struct qs_field autocorrelation_rows[] = {
    QS_ROW(autocorrelation, lag1, DOUBLE, "of neighbours"),
    QS_ROW(autocorrelation, band, DOUBLE, "1.96 / sqrt n: independent values seldom exceed it"),
    QS_ROW(autocorrelation, r, NUMBERS, "lags 0 to 10"),
    {.name = NULL}};

static enum qs_status tell_autocorrelation(const struct qs_sample *s, void *ret)
{
    struct autocorrelation *told = ret;
    double *r = qs_calloc(LAGS + 1, sizeof *r);
    size_t lags = s->n - 1 < LAGS ? s->n - 1 : LAGS;
    enum qs_status status = qs_acf(s->x, s->n, NULL, 0, LAGS, r);
    told->lag1 = status == QS_OK ? r[1] : NAN;
    told->band = s->n > 1 ? 1.959963984540054 / sqrt((double)s->n) : NAN;
    told->r = (struct qs_field_list){r, status == QS_OK ? lags + 1 : 0};
    return status;
}

struct ljung_box {
    struct qs_ljung_box all, one, ten; /* lags; the last two are what other tools take */
};
static const struct qs_field ljung_box_rows[] = {
    QS_ROW_AS("q", ljung_box, all.q, DOUBLE, "the statistic"),
    QS_ROW_AS("p", ljung_box, all.p, DOUBLE, "that independent values reach it"),
    QS_ROW_AS("lags", ljung_box, all.lags, COUNT, "how many lags count"),
    QS_ROW_AS("q_lag1", ljung_box, one.q, DOUBLE, "the statistic of the first lag alone"),
    QS_ROW_AS("p_lag1", ljung_box, one.p, DOUBLE, "its p"),
    QS_ROW_AS("q_lag10", ljung_box, ten.q, DOUBLE, "the statistic of ten lags"),
    QS_ROW_AS("p_lag10", ljung_box, ten.p, DOUBLE, "its p"),
    {.name = NULL}};

static enum qs_status tell_ljung_box(const struct qs_sample *s, void *ret)
{
    static const struct qs_ljung_box none = {.q = NAN, .p = NAN};
    struct ljung_box *told = ret;
    *told = (struct ljung_box){none, none, none};
    (void)qs_ljung_box(s->x, s->n, NULL, 0, 1, &told->one);
    (void)qs_ljung_box(s->x, s->n, NULL, 0, LAGS, &told->ten);
    return qs_ljung_box(s->x, s->n, NULL, 0, 0, &told->all);
}

struct worth {
    struct qs_ess ess;
    double n_over_tau;
};
static const struct qs_field worth_rows[] = {
    QS_ROW_AS("n_eff", worth, ess.n_eff, DOUBLE, "the smaller of the next two"),
    QS_ROW_AS("geyer", worth, ess.geyer, DOUBLE,
              "by the sum of autocovariances while pairs of them are positive"),
    QS_ROW_AS("ar1", worth, ess.ar1, DOUBLE, "by the correlation of neighbours alone"),
    QS_ROW_AS("tau", worth, ess.tau, DOUBLE, "integrated autocorrelation time"),
    QS_ROW(worth, n_over_tau, DOUBLE, "n / tau, not bounded by n"),
    {.name = NULL}};

static enum qs_status tell_ess(const struct qs_sample *s, void *ret)
{
    *(struct worth *)ret = (struct worth){s->ess, (double)s->n / s->ess.tau};
    return s->ess_status;
}

static enum qs_status tell_mean_with(const struct qs_sample *s, double n_eff, struct qs_estimate *ret)
{
    struct qs_moments m;
    *ret = (struct qs_estimate){.ci = qs_ci_none(s->opts->level)};
    enum qs_status status = qs_moments(s->x, s->n, &m);
    status = status == QS_OK ? qs_mean_ci(s->x, s->n, n_eff, s->opts->level, &ret->ci) : status;
    ret->estimate = m.mean;
    return status;
}

static enum qs_status tell_mean_ci(const struct qs_sample *s, void *ret)
{
    return tell_mean_with(s, NAN, ret);
}

struct dependent {
    double n_eff;
    struct qs_estimate of;
};
static const struct qs_field dependent_rows[] = {
    QS_ROW(dependent, n_eff, DOUBLE, "how many independent values these are worth"),
    QS_ROWS_OF(dependent, of, qs_estimate_rows),
    {.name = NULL}};

static enum qs_status tell_mean_ci_dependent(const struct qs_sample *s, void *ret)
{
    struct dependent *told = ret;
    *told = (struct dependent){s->ess.n_eff, {NAN, qs_ci_none(s->opts->level)}};
    bool known = s->ess_status == QS_OK || s->ess_status == QS_EDEGENERATE;
    return known ? tell_mean_with(s, s->ess.n_eff, &told->of) : s->ess_status;
}

struct median {
    double estimate;
    struct qs_median_ci of;
};
static const struct qs_field median_rows[] = {
    QS_ROW(median, estimate, DOUBLE, "the median"),
    QS_ROWS_OF(median, of.ci, qs_ci_rows),
    QS_ROW_AS("lo_rank", median, of.lo_rank, COUNT, "the order statistic that is lo, from 1; 0: none"),
    QS_ROW_AS("hi_rank", median, of.hi_rank, COUNT, "the one that is hi"),
    {.name = NULL}};

static enum qs_status tell_median_ci(const struct qs_sample *s, void *ret)
{
    struct median *told = ret;
    told->estimate = qs_quantile(s->sorted, s->n, 0.5, QS_QTYPE_7);
    return qs_median_ci(s->sorted, s->n, s->opts->level, &told->of);
}

/* The ranks as far apart as those of n_eff independent values. */
static enum qs_status tell_median_ci_dependent(const struct qs_sample *s, void *ret)
{
    struct qs_ci ci = qs_ci_none(s->opts->level);
    bool known = s->ess_status == QS_OK && s->ess.n_eff > 1;
    double half = known ? qs_qnorm((1 + ci.level) / 2) / (2 * sqrt(s->ess.n_eff)) : NAN;
    bool inside = half < 0.5; /* else the level would take more values than there are */
    if (inside) {
        ci.lo = qs_quantile(s->sorted, s->n, 0.5 - half, QS_QTYPE_7);
        ci.hi = qs_quantile(s->sorted, s->n, 0.5 + half, QS_QTYPE_7);
    }
    *(struct dependent *)ret =
        (struct dependent){s->ess.n_eff, {qs_quantile(s->sorted, s->n, 0.5, QS_QTYPE_7), ci}};
    return s->ess_status == QS_OK && !inside ? QS_ETOOFEW : s->ess_status;
}

static const struct qs_field tukey_rows[] = {
    QS_ROW(qs_tukey, lo, DOUBLE, "lower fence"),
    QS_ROW(qs_tukey, hi, DOUBLE, "upper fence"),
    QS_ROW(qs_tukey, far_lo, DOUBLE, "the lower one twice as far out"),
    QS_ROW(qs_tukey, far_hi, DOUBLE, "the upper one twice as far out"),
    QS_ROW(qs_tukey, n_low, COUNT, "values below lo"),
    QS_ROW(qs_tukey, n_high, COUNT, "values above hi"),
    QS_ROW(qs_tukey, n_far, COUNT, "those of them beyond the far fences"),
    {.name = NULL}};

static enum qs_status tell_tukey(const struct qs_sample *s, void *ret)
{
    return qs_tukey_flags(s->sorted, s->n, NULL, ret);
}

const struct qs_sample_stat qs_one_stats[] = {
    {QS_STAT("describe", qs_summary, describe_rows,
             "moments, order statistics; mad is 1.482602218505602 times the median deviation (R: 1.4826)",
             "Moments and order statistics"),
     .tell = tell_describe},
    {QS_STAT("quantiles", quantiles, quantile_rows, "Hyndman-Fan type 7", "Quantiles, type 7"),
     .tell = tell_quantiles},
    {QS_STAT("quantiles_type8", quantiles, quantile_rows, "Hyndman-Fan type 8",
             "Quantiles, type 8: nearly median-unbiased"),
     .tell = tell_quantiles_type8},
    {QS_STAT("lorenz", lorenz, lorenz_rows, "cumulative shares of the ordered values",
             "The Lorenz curve; at most 1001 points"),
     .tell = tell_lorenz},
    {QS_STAT("autocorrelation", autocorrelation, autocorrelation_rows,
             "sums of products over the sum of squares", "Autocorrelation in the order of time"),
     .tell = tell_autocorrelation},
    {QS_STAT("ljung_box", ljung_box, ljung_box_rows, "Ljung-Box 1978",
             "Ljung and Box: are all lags together more than chance?"),
     .tell = tell_ljung_box},
    {QS_STAT("effective_sample_size", worth, worth_rows,
             "the smaller of Geyer 1992 and AR(1), each capped to 1 .. n; n_over_tau is not",
             "How many independent values the mean is worth"),
     .tell = tell_ess},
    {QS_STAT("mean_ci", qs_estimate, qs_estimate_rows, "Student", "The mean, as if values were independent"),
     .tell = tell_mean_ci},
    {QS_STAT("mean_ci_dependent", dependent, dependent_rows, "Student with the effective sample size",
             "The mean, n_eff values worth"),
     .tell = tell_mean_ci_dependent},
    {QS_STAT("median_ci", median, median_rows, "order statistics of values taken as independent",
             "The median, free of any shape, of values taken as independent: median_ci_dependent where they "
             "are not"),
     .tell = tell_median_ci},
    {QS_STAT("median_ci_dependent", dependent, dependent_rows,
             "quantiles around the median, normal with the effective sample size",
             "The median of values that resemble their neighbours; without an interval where so few cannot "
             "have one"),
     .tell = tell_median_ci_dependent},
    {QS_STAT("tukey_fences", qs_tukey, tukey_rows, "Tukey 1977, 1.5 and 3 IQR",
             "Outliers are counted, never removed"),
     .tell = tell_tukey},
    {.tell = NULL},
};
