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

static enum qs_status put_describe(const struct qs_view *v, struct qs_json *j)
{
    static const struct qs_field fields[] = {QS_NUMBER_FIELD(struct qs_summary, mean),
                                             QS_NUMBER_AS("variance", struct qs_summary, var),
                                             QS_NUMBER_FIELD(struct qs_summary, sd),
                                             QS_NUMBER_FIELD(struct qs_summary, cov),
                                             QS_NUMBER_FIELD(struct qs_summary, cov_abs),
                                             QS_NUMBER_FIELD(struct qs_summary, rse),
                                             QS_NUMBER_FIELD(struct qs_summary, rse_abs),
                                             QS_NUMBER_FIELD(struct qs_summary, min),
                                             QS_NUMBER_FIELD(struct qs_summary, max),
                                             QS_NUMBER_FIELD(struct qs_summary, median),
                                             QS_NUMBER_FIELD(struct qs_summary, iqr),
                                             QS_NUMBER_FIELD(struct qs_summary, rel_iqr),
                                             QS_NUMBER_FIELD(struct qs_summary, mad),
                                             QS_NUMBER_FIELD(struct qs_summary, mad_raw),
                                             QS_NUMBER_FIELD(struct qs_summary, scale),
                                             QS_NUMBER_AS("trimmed_mean_05", struct qs_summary, trim05),
                                             QS_NUMBER_AS("trimmed_mean_10", struct qs_summary, trim10),
                                             QS_NUMBER_AS("trimmed_mean_25", struct qs_summary, trim25),
                                             QS_NUMBER_AS("geometric_mean", struct qs_summary, geomean),
                                             QS_NUMBER_AS("geometric_sd", struct qs_summary, geosd),
                                             QS_NUMBER_FIELD(struct qs_summary, gini),
                                             QS_NUMBER_AS("skewness", struct qs_summary, skew),
                                             QS_NUMBER_AS("excess_kurtosis", struct qs_summary, kurt)};
    struct qs_summary s;
    enum qs_status status = qs_describe(v->x, v->n, &s);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &s);
    qs_json_kstring(j, "scale_source", qs_scale_source_name(s.scale_source));
    return status;
}

static enum qs_status put_quantiles_of(const struct qs_view *v, enum qs_qtype type, struct qs_json *j)
{
    static const char *const names[QS_Q_COUNT] = {"p01", "p05", "p10", "p25", "p50",
                                                  "p75", "p90", "p95", "p99"};
    for (size_t i = 0; i < QS_Q_COUNT; i++)
        qs_json_kdouble(j, names[i], qs_quantile(v->sorted, v->n, qs_summary_probs[i], type));
    return QS_OK;
}

static enum qs_status put_quantiles(const struct qs_view *v, struct qs_json *j)
{
    return put_quantiles_of(v, QS_QTYPE_7, j);
}

static enum qs_status put_quantiles_type8(const struct qs_view *v, struct qs_json *j)
{
    return put_quantiles_of(v, QS_QTYPE_8, j);
}

/* Points (p, share of the sum in the least p n values); every one of them where they are few. */
static enum qs_status put_lorenz(const struct qs_view *v, struct qs_json *j)
{
    size_t steps = v->n < LORENZ_MOST ? v->n : LORENZ_MOST;
    double *p = qs_calloc(steps + 1, sizeof *p), *share = qs_calloc(steps + 1, sizeof *share);
    struct qs_acc acc = {0};
    for (size_t i = 0; i < v->n; i++)
        qs_acc_add(&acc, v->sorted[i]);
    double sum = qs_acc_value(&acc);
    bool ok = v->sorted[0] >= 0 && sum > 0;
    size_t done = 0;
    acc = (struct qs_acc){0};
    for (size_t i = 0; i <= steps; i++) {
        size_t upto = (size_t)((double)i * (double)v->n / (double)steps + 0.5);
        for (; done < upto; done++)
            qs_acc_add(&acc, v->sorted[done]);
        p[i] = (double)upto / (double)v->n;
        share[i] = ok ? qs_acc_value(&acc) / sum : NAN;
    }
    qs_put_numbers(j, "p", p, ok ? steps + 1 : 0);
    qs_put_numbers(j, "share", share, ok ? steps + 1 : 0);
    free(p);
    free(share);
    return ok ? QS_OK : QS_EDOM;
}

static enum qs_status put_autocorrelation(const struct qs_view *v, struct qs_json *j)
{
    double r[LAGS + 1];
    size_t lags = v->n - 1 < LAGS ? v->n - 1 : LAGS;
    enum qs_status status = qs_acf(v->x, v->n, NULL, 0, LAGS, r);
    qs_json_kdouble(j, "lag1", status == QS_OK ? r[1] : NAN);
    qs_json_kdouble(j, "band", v->n > 1 ? 1.959963984540054 / sqrt((double)v->n) : NAN);
    qs_put_numbers(j, "r", r, status == QS_OK ? lags + 1 : 0);
    return status;
}

/* At a number of lags that other tools take. */
static void put_ljung_box_at(const struct qs_view *v, size_t lags, const char *q, const char *p,
                             struct qs_json *j)
{
    struct qs_ljung_box b = {.q = NAN, .p = NAN};
    (void)qs_ljung_box(v->x, v->n, NULL, 0, lags, &b);
    qs_json_kdouble(j, q, b.q);
    qs_json_kdouble(j, p, b.p);
}

static enum qs_status put_ljung_box(const struct qs_view *v, struct qs_json *j)
{
    struct qs_ljung_box b = {.q = NAN, .p = NAN};
    enum qs_status status = qs_ljung_box(v->x, v->n, NULL, 0, 0, &b);
    qs_json_kdouble(j, "q", b.q);
    qs_json_kdouble(j, "p", b.p);
    qs_json_kint(j, "lags", (int64_t)b.lags);
    put_ljung_box_at(v, 1, "q_lag1", "p_lag1", j);
    put_ljung_box_at(v, LAGS, "q_lag10", "p_lag10", j);
    return status;
}

static enum qs_status put_ess(const struct qs_view *v, struct qs_json *j)
{
    static const struct qs_field fields[] = {
        QS_NUMBER_FIELD(struct qs_ess, n_eff), QS_NUMBER_FIELD(struct qs_ess, geyer),
        QS_NUMBER_FIELD(struct qs_ess, ar1), QS_NUMBER_FIELD(struct qs_ess, tau)};
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &v->ess);
    qs_json_kdouble(j, "n_over_tau", (double)v->n / v->ess.tau);
    return v->ess_status;
}

static enum qs_status put_mean_with(const struct qs_view *v, double n_eff, struct qs_json *j)
{
    struct qs_moments m;
    struct qs_ci ci = qs_ci_none(v->opts->level);
    enum qs_status status = qs_moments(v->x, v->n, &m);
    status = status == QS_OK ? qs_mean_ci(v->x, v->n, n_eff, v->opts->level, &ci) : status;
    qs_json_kdouble(j, "estimate", m.mean);
    qs_put_ci(j, &ci);
    return status;
}

static enum qs_status put_mean_ci(const struct qs_view *v, struct qs_json *j)
{
    return put_mean_with(v, NAN, j);
}

static enum qs_status put_mean_ci_dependent(const struct qs_view *v, struct qs_json *j)
{
    qs_json_kdouble(j, "n_eff", v->ess.n_eff);
    if (v->ess_status == QS_OK || v->ess_status == QS_EDEGENERATE)
        return put_mean_with(v, v->ess.n_eff, j);
    const struct qs_ci none = qs_ci_none(v->opts->level);
    qs_json_kdouble(j, "estimate", NAN);
    qs_put_ci(j, &none);
    return v->ess_status;
}

static enum qs_status put_median_ci(const struct qs_view *v, struct qs_json *j)
{
    struct qs_median_ci ci;
    enum qs_status status = qs_median_ci(v->sorted, v->n, v->opts->level, &ci);
    qs_json_kdouble(j, "estimate", qs_quantile(v->sorted, v->n, 0.5, QS_QTYPE_7));
    qs_put_ci(j, &ci.ci);
    qs_json_kint(j, "lo_rank", (int64_t)ci.lo_rank);
    qs_json_kint(j, "hi_rank", (int64_t)ci.hi_rank);
    return status;
}

/* The ranks as far apart as those of n_eff independent values. */
static enum qs_status put_median_ci_dependent(const struct qs_view *v, struct qs_json *j)
{
    struct qs_ci ci = qs_ci_none(v->opts->level);
    bool known = v->ess_status == QS_OK && v->ess.n_eff > 1;
    double half = known ? qs_qnorm((1 + ci.level) / 2) / (2 * sqrt(v->ess.n_eff)) : NAN;
    bool inside = half < 0.5; /* else the level would take more values than there are */
    if (inside) {
        ci.lo = qs_quantile(v->sorted, v->n, 0.5 - half, QS_QTYPE_7);
        ci.hi = qs_quantile(v->sorted, v->n, 0.5 + half, QS_QTYPE_7);
    }
    qs_json_kdouble(j, "n_eff", v->ess.n_eff);
    qs_json_kdouble(j, "estimate", qs_quantile(v->sorted, v->n, 0.5, QS_QTYPE_7));
    qs_put_ci(j, &ci);
    return v->ess_status == QS_OK && !inside ? QS_ETOOFEW : v->ess_status;
}

static enum qs_status put_tukey(const struct qs_view *v, struct qs_json *j)
{
    static const struct qs_field fields[] = {
        QS_NUMBER_FIELD(struct qs_tukey, lo),     QS_NUMBER_FIELD(struct qs_tukey, hi),
        QS_NUMBER_FIELD(struct qs_tukey, far_lo), QS_NUMBER_FIELD(struct qs_tukey, far_hi),
        QS_COUNT_FIELD(struct qs_tukey, n_low),   QS_COUNT_FIELD(struct qs_tukey, n_high),
        QS_COUNT_FIELD(struct qs_tukey, n_far)};
    struct qs_tukey t = {0};
    enum qs_status status = qs_tukey_flags(v->sorted, v->n, NULL, &t);
    qs_put_fields(j, fields, sizeof fields / sizeof *fields, &t);
    return status;
}

const struct qs_view_stat qs_one_stats[] = {
    {"describe", "moments, order statistics; mad is 1.482602218505602 times the median deviation (R: 1.4826)",
     put_describe, QS_BASIS_ITERATIONS, false},
    {"quantiles", "Hyndman-Fan type 7", put_quantiles, QS_BASIS_ITERATIONS, false},
    {"quantiles_type8", "Hyndman-Fan type 8", put_quantiles_type8, QS_BASIS_ITERATIONS, false},
    {"lorenz", "cumulative shares of the ordered values", put_lorenz, QS_BASIS_ITERATIONS, false},
    {"autocorrelation", "sums of products over the sum of squares", put_autocorrelation, QS_BASIS_ITERATIONS,
     false},
    {"ljung_box", "Ljung-Box 1978", put_ljung_box, QS_BASIS_ITERATIONS, false},
    {"effective_sample_size", "the smaller of Geyer 1992 and AR(1), each capped to 1 .. n; n_over_tau is not",
     put_ess, QS_BASIS_ITERATIONS, false},
    {"mean_ci", "Student", put_mean_ci, QS_BASIS_ITERATIONS, false},
    {"mean_ci_dependent", "Student with the effective sample size", put_mean_ci_dependent,
     QS_BASIS_ITERATIONS, false},
    {"median_ci", "order statistics of values taken as independent", put_median_ci, QS_BASIS_ITERATIONS,
     false},
    {"median_ci_dependent", "quantiles around the median, normal with the effective sample size",
     put_median_ci_dependent, QS_BASIS_ITERATIONS, false},
    {"tukey_fences", "Tukey 1977, 1.5 and 3 IQR", put_tukey, QS_BASIS_ITERATIONS, false},
};
const size_t qs_one_stat_count = sizeof qs_one_stats / sizeof *qs_one_stats;
