#include "stats/describe.h"

#include "stats/sum.h"

#include <math.h>
#include <stdlib.h>

const double qs_summary_probs[QS_Q_COUNT] = {0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99};

static const double MAD_TO_SD = 1.482602218505602; /* 1 / qnorm(3/4) */
static const double IQR_TO_SD = 1.349;

const char *const qs_scale_source_names[] = {"none", "mad", "iqr", "sd", NULL};

double qs_quantile(const double *sorted, size_t n, double p, enum qs_qtype type)
{
    if (n == 0 || !(p >= 0 && p <= 1))
        return NAN;
    double last = (double)(n - 1);
    double h = type == QS_QTYPE_8 ? ((double)n + 1.0 / 3) * p - 2.0 / 3 : last * p;
    if (h <= 0)
        return sorted[0];
    if (h >= last)
        return sorted[n - 1];
    size_t i = (size_t)h;
    return sorted[i] + (h - (double)i) * (sorted[i + 1] - sorted[i]);
}

double qs_trimmed_mean(const double *sorted, size_t n, double trim)
{
    if (n == 0 || !(trim >= 0 && trim < 0.5))
        return NAN;
    size_t cut = (size_t)((double)n * trim);
    struct qs_moments m;
    return qs_moments(sorted + cut, n - 2 * cut, &m) == QS_OK ? m.mean : NAN;
}

enum qs_status qs_median(const double *x, size_t n, double *out)
{
    double *sorted;
    enum qs_status status = qs_sorted_copy(x, n, &sorted);
    *out = status == QS_OK ? qs_quantile(sorted, n, 0.5, QS_QTYPE_7) : NAN;
    free(sorted);
    return status;
}

static enum qs_status cumulate(const double *sorted, size_t n, double *share)
{
    struct qs_acc acc = {0};
    if (sorted[0] < 0)
        return QS_EDOM;
    if (!(sorted[n - 1] > 0))
        return QS_EDEGENERATE;
    share[0] = 0;
    for (size_t i = 0; i < n; i++) {
        qs_acc_add(&acc, sorted[i]);
        share[i + 1] = qs_acc_value(&acc);
    }
    double total = share[n];
    for (size_t i = 1; i <= n; i++)
        share[i] /= total;
    return isfinite(total) ? QS_OK : QS_EDOM;
}

enum qs_status qs_lorenz(const double *x, size_t n, double *share)
{
    double *sorted;
    enum qs_status status = qs_sorted_copy(x, n, &sorted);
    if (status == QS_OK)
        status = cumulate(sorted, n, share);
    for (size_t i = 0; status != QS_OK && n > 0 && i <= n; i++)
        share[i] = NAN;
    free(sorted);
    return status;
}

static void fill_nan(struct qs_summary *s, size_t n)
{
    *s = (struct qs_summary){.n = n,
                             .mean = NAN,
                             .var = NAN,
                             .sd = NAN,
                             .cov = NAN,
                             .cov_abs = NAN,
                             .rse = NAN,
                             .rse_abs = NAN,
                             .min = NAN,
                             .max = NAN,
                             .median = NAN,
                             .iqr = NAN,
                             .rel_iqr = NAN,
                             .mad_raw = NAN,
                             .mad = NAN,
                             .scale = NAN,
                             .trim05 = NAN,
                             .trim10 = NAN,
                             .trim25 = NAN,
                             .geomean = NAN,
                             .geosd = NAN,
                             .gini = NAN,
                             .skew = NAN,
                             .kurt = NAN};
    for (int i = 0; i < QS_Q_COUNT; i++)
        s->q[i] = NAN;
}

static void fill_location(struct qs_summary *s, const double *sorted)
{
    for (int i = 0; i < QS_Q_COUNT; i++)
        s->q[i] = qs_quantile(sorted, s->n, qs_summary_probs[i], QS_QTYPE_7);
    s->min = sorted[0];
    s->max = sorted[s->n - 1];
    s->median = s->q[QS_Q50];
    s->trim05 = qs_trimmed_mean(sorted, s->n, 0.05);
    s->trim10 = qs_trimmed_mean(sorted, s->n, 0.10);
    s->trim25 = qs_trimmed_mean(sorted, s->n, 0.25);
}

static void fill_spread(struct qs_summary *s)
{
    double root_n = sqrt((double)s->n);
    s->sd = sqrt(s->var);
    if (s->mean < 0 || s->mean > 0) {
        s->cov = s->sd / s->mean;
        s->cov_abs = fabs(s->cov);
        s->rse = s->sd / (s->mean * root_n);
        s->rse_abs = fabs(s->rse);
    }
    s->iqr = s->q[QS_Q75] - s->q[QS_Q25];
    if (s->median < 0 || s->median > 0)
        s->rel_iqr = s->iqr / fabs(s->median);
}

/* Distances from a centre in ascending order: the nearest of both sides, outwards. */
static void distances(const double *sorted, size_t n, double centre, double *out)
{
    size_t above = qs_sorted_place(sorted, n, centre), below = above;
    for (size_t i = 0; i < n; i++) {
        double down = below > 0 ? centre - sorted[below - 1] : INFINITY;
        double up = above < n ? sorted[above] - centre : INFINITY;
        bool take_up = above < n && (below == 0 || up <= down);
        out[i] = take_up ? up : down;
        above += take_up;
        below -= !take_up;
    }
}

/* work: n doubles, overwritten */
static void fill_robust(struct qs_summary *s, const double *sorted, double *work)
{
    distances(sorted, s->n, s->median, work);
    s->mad_raw = qs_quantile(work, s->n, 0.5, QS_QTYPE_7);
    s->mad = MAD_TO_SD * s->mad_raw;
    const double candidates[] = {s->mad, s->iqr / IQR_TO_SD, s->sd};
    s->scale = 0;
    for (int i = 0; i < 3 && !(s->scale > 0); i++) {
        s->scale = candidates[i];
        s->scale_source = candidates[i] > 0 ? (enum qs_scale_source)(QS_SCALE_MAD + i) : QS_SCALE_NONE;
    }
}

/* The weights 2i-n-1 sum to 0, so that values may be shifted before they are weighted: no cancellation. */
static double gini_of(const double *sorted, size_t n, double mean)
{
    if (sorted[0] < 0 || !(mean > 0))
        return NAN;
    double pivot = sorted[n / 2];
    struct qs_acc acc = {0};
    for (size_t i = 0; i < n; i++)
        qs_acc_add(&acc, (2 * (double)i + 1 - (double)n) * (sorted[i] - pivot));
    return qs_acc_value(&acc) / ((double)n * (double)n * mean);
}

static void fill_shape(struct qs_summary *s, const double *sorted)
{
    struct qs_acc rest = {0, 0}, sum[3] = {{0, 0}, {0, 0}, {0, 0}};
    double n = (double)s->n;
    if (!(s->sd > 0))
        return;
    for (size_t i = 0; i < s->n; i++)
        qs_acc_add(&rest, (sorted[i] - s->mean) / s->sd);
    double off = qs_acc_value(&rest) / n; /* the mean is rounded, and that weighs where it is large */
    for (size_t i = 0; i < s->n; i++) {
        double d = (sorted[i] - s->mean) / s->sd - off; /* scaled: the powers cannot overflow */
        qs_acc_add(&sum[0], d * d);
        qs_acc_add(&sum[1], d * d * d);
        qs_acc_add(&sum[2], d * d * d * d);
    }
    double m2 = qs_acc_value(&sum[0]) / n;
    s->skew = qs_acc_value(&sum[1]) / n / (m2 * sqrt(m2));
    s->kurt = qs_acc_value(&sum[2]) / n / (m2 * m2) - 3;
}

static void fill_geometric(struct qs_summary *s, const double *sorted, double *work)
{
    struct qs_moments m;
    if (qs_logs(sorted, s->n, work) != QS_OK || qs_moments(work, s->n, &m) != QS_OK)
        return;
    s->geomean = exp(m.mean);
    s->geosd = exp(sqrt(m.var));
}

enum qs_status qs_describe(const double *x, size_t n, struct qs_summary *out)
{
    struct qs_moments m;
    double *sorted = NULL, *work = NULL;
    fill_nan(out, n);
    enum qs_status status = qs_moments(x, n, &m);
    if (status == QS_OK)
        status = qs_sorted_copy(x, n, &sorted);
    if (status == QS_OK && !(work = malloc(n * sizeof *work)))
        status = QS_ENOMEM;
    if (status != QS_OK)
        goto out;
    out->mean = m.mean;
    out->var = m.var;
    fill_location(out, sorted);
    fill_geometric(out, sorted, work);
    if (n > 1) {
        fill_spread(out);
        fill_robust(out, sorted, work);
        fill_shape(out, sorted);
        out->gini = gini_of(sorted, n, m.mean);
    }
out:
    free(sorted);
    free(work);
    return status;
}
