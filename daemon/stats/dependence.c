#include "stats/dependence.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "stats/pick.h"
#include "stats/special.h"
#include "stats/sum.h"

/* The deviations from the mean, and where the series is broken. */
struct series {
    double *d; /* owned */
    size_t n;
    const size_t *breaks; /* borrowed */
    size_t n_breaks;
    double c0; /* sum of squares > 0 */
};

static bool breaks_are_valid(const size_t *breaks, size_t n_breaks, size_t n)
{
    for (size_t i = 0; i < n_breaks; i++)
        if (breaks[i] < 1 || breaks[i] >= n || (i > 0 && breaks[i] <= breaks[i - 1]))
            return false;
    return true;
}

static enum qs_status series_init(struct series *s, const double *x, size_t n, const size_t *breaks,
                                  size_t n_breaks)
{
    struct qs_moments m;
    *s = (struct series){.n = n, .breaks = breaks, .n_breaks = n_breaks};
    enum qs_status status = qs_moments(x, n, &m);
    if (status != QS_OK)
        return status;
    if (n < 2)
        return QS_ETOOFEW;
    if (!breaks_are_valid(breaks, n_breaks, n))
        return QS_EDOM;
    if (!(m.var > 0))
        return QS_EDEGENERATE;
    s->d = malloc(n * sizeof *s->d);
    if (!s->d)
        return QS_ENOMEM;
    struct qs_acc acc = {0};
    for (size_t i = 0; i < n; i++) {
        s->d[i] = x[i] - m.mean;
        qs_acc_add(&acc, s->d[i] * s->d[i]);
    }
    s->c0 = qs_acc_value(&acc);
    return QS_OK;
}

static double correlation_at(const struct series *s, size_t lag)
{
    struct qs_acc acc = {0};
    size_t start = 0;
    for (size_t b = 0; b <= s->n_breaks; b++) {
        size_t end = b < s->n_breaks ? s->breaks[b] : s->n;
        for (size_t i = start; lag < end - start && i < end - lag; i++)
            qs_acc_add(&acc, s->d[i] * s->d[i + lag]);
        start = end;
    }
    return qs_acc_value(&acc) / s->c0;
}

enum qs_status qs_acf(const double *x, size_t n, const size_t *breaks, size_t n_breaks, size_t max_lag,
                      double *r)
{
    struct series s;
    enum qs_status status = series_init(&s, x, n, breaks, n_breaks);
    for (size_t h = 0; h <= max_lag; h++)
        r[h] = status == QS_OK ? (h == 0 ? 1 : correlation_at(&s, h)) : NAN;
    free(s.d);
    return status;
}

enum qs_status qs_ljung_box(const double *x, size_t n, const size_t *breaks, size_t n_breaks, size_t lags,
                            struct qs_ljung_box *out)
{
    if (lags == 0)
        lags = qs_less(n / 5, 10);
    *out = (struct qs_ljung_box){.q = NAN, .p = NAN, .lags = lags};
    struct series s;
    enum qs_status status = series_init(&s, x, n, breaks, n_breaks);
    if (status == QS_OK && (lags == 0 || lags >= n))
        status = QS_ETOOFEW;
    if (status == QS_OK) {
        struct qs_acc acc = {0};
        for (size_t k = 1; k <= lags; k++) {
            double r = correlation_at(&s, k);
            qs_acc_add(&acc, r * r / (double)(n - k));
        }
        out->q = (double)n * ((double)n + 2) * qs_acc_value(&acc);
        out->p = qs_pchisq_upper(out->q, (double)lags);
    }
    free(s.d);
    return status;
}

static double clamp(double x, double lo, double hi)
{
    return fmax(lo, fmin(hi, x));
}

/* -1 + 2 sum G_m over the leading pairs G_m = r_{2m} + r_{2m+1} that are positive; NaN where they do not end
 * within the lags that a series of this length is given */
static double correlation_time(const struct series *s)
{
    double tau = -1;
    size_t lags = s->n > QS_ESS_WHOLE ? QS_ESS_PRODUCTS_MOST / s->n : s->n;
    for (size_t lag = 0; lag < s->n; lag += 2) {
        if (lag > lags)
            return NAN;
        double pair = (lag == 0 ? 1 : correlation_at(s, lag)) + correlation_at(s, lag + 1);
        if (!(pair > 0))
            break;
        tau += 2 * pair;
    }
    return tau;
}

enum qs_status qs_ess(const double *x, size_t n, const size_t *breaks, size_t n_breaks, struct qs_ess *out)
{
    *out = (struct qs_ess){.n_eff = NAN, .geyer = NAN, .ar1 = NAN, .tau = NAN, .r1 = NAN};
    struct series s;
    enum qs_status status = series_init(&s, x, n, breaks, n_breaks);
    if (status == QS_OK) {
        double count = (double)n;
        out->r1 = correlation_at(&s, 1);
        out->tau = correlation_time(&s);
        double r = clamp(out->r1, 0, 0.99);
        out->ar1 = clamp(count * (1 - r) / (1 + r), 1, count);
        status = isnan(out->tau) ? QS_EDOM : QS_OK;
    }
    if (status == QS_OK) {
        double count = (double)n;
        out->geyer = out->tau > 1 ? clamp(count / out->tau, 1, count) : count;
        out->n_eff = fmin(out->geyer, out->ar1);
    }
    free(s.d);
    return status;
}

/* kept[k] = x[k stride]; kept_breaks gets each k >= 1 with a break in ((k-1) stride, k stride]. */
static size_t keep(const double *x, size_t n_kept, size_t stride, const size_t *breaks, size_t n_breaks,
                   double *kept, size_t *kept_breaks)
{
    size_t count = 0;
    for (size_t k = 0; k < n_kept; k++)
        kept[k] = x[k * stride];
    for (size_t b = 0; b < n_breaks; b++) {
        size_t k = (breaks[b] + stride - 1) / stride;
        if (k < n_kept && (count == 0 || kept_breaks[count - 1] < k))
            kept_breaks[count++] = k;
    }
    return count;
}

static const double THIN_MAX_R1 = 0.25;
static const double THIN_MIN_P = 0.01;
enum { THIN_MIN_KEPT = 30 };

/* Whether what is kept with this stride passes. */
static enum qs_status try_stride(const double *kept, size_t n_kept, const size_t *breaks, size_t n_breaks,
                                 bool *passes, struct qs_thinning *out)
{
    double r[2];
    struct qs_ljung_box test;
    enum qs_status status = qs_acf(kept, n_kept, breaks, n_breaks, 1, r);
    if (status == QS_OK)
        status = qs_ljung_box(kept, n_kept, breaks, n_breaks, 0, &test);
    if (status != QS_OK)
        return status;
    *passes = fabs(r[1]) <= fmax(THIN_MAX_R1, 1.96 / sqrt((double)n_kept)) && test.p >= THIN_MIN_P;
    if (*passes) {
        out->r1 = r[1];
        out->p = test.p;
    }
    return QS_OK;
}

enum qs_status qs_thin(const double *x, size_t n, const size_t *breaks, size_t n_breaks,
                       struct qs_thinning *out)
{
    struct series s;
    *out = (struct qs_thinning){.r1 = NAN, .p = NAN};
    enum qs_status status = series_init(&s, x, n, breaks, n_breaks);
    free(s.d);
    if (status == QS_OK && n < THIN_MIN_KEPT)
        status = QS_ETOOFEW;
    if (status != QS_OK)
        return status;
    double *kept = malloc(n * sizeof *kept);
    size_t *kept_breaks = malloc((n_breaks + 1) * sizeof *kept_breaks);
    if (!kept || !kept_breaks)
        status = QS_ENOMEM;
    for (size_t stride = 1; status == QS_OK && n / stride >= THIN_MIN_KEPT; stride *= 2) {
        bool passes = false;
        size_t n_kept = n / stride;
        size_t count = keep(x, n_kept, stride, breaks, n_breaks, kept, kept_breaks);
        status = try_stride(kept, n_kept, kept_breaks, count, &passes, out);
        status = status == QS_EDEGENERATE ? QS_OK : status; /* kept values that do not vary pass nothing */
        if (passes) {
            out->stride = stride;
            out->n_kept = n_kept;
            break;
        }
    }
    free(kept);
    free(kept_breaks);
    return status;
}

struct place {
    double v;
    size_t i;
};

static int by_value(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->v != y->v)
        return x->v < y->v ? -1 : 1;
    return 0;
}

/* Ranks from 1, those of ties shared; true where there are ties. */
static bool rank(const double *v, size_t n, struct place *places, double *ranks)
{
    bool ties = false;
    for (size_t i = 0; i < n; i++)
        places[i] = (struct place){v[i], i};
    qsort(places, n, sizeof *places, by_value);
    for (size_t from = 0, end; from < n; from = end) {
        for (end = from + 1; end < n && places[end].v <= places[from].v;)
            end++;
        for (size_t i = from; i < end; i++)
            ranks[places[i].i] = ((double)from + (double)end + 1) / 2;
        ties = ties || end > from + 1;
    }
    return ties;
}

/* The mean of the ranks is (n+1)/2 whatever the ties. */
static double correlation(const double *x, const double *y, size_t n)
{
    double middle = ((double)n + 1) / 2, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        double dx = x[i] - middle, dy = y[i] - middle;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    return xx > 0 && yy > 0 ? fmax(-1, fmin(1, xy / sqrt(xx * yy))) : NAN;
}

static bool finite_all(const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i]))
            return false;
    return true;
}

enum qs_status qs_spearman(const double *x, const double *y, size_t n, struct qs_spearman *out)
{
    *out = (struct qs_spearman){.rho = NAN, .p = NAN};
    if (n == 0)
        return QS_ENODATA;
    if (!finite_all(x, n) || !finite_all(y, n))
        return QS_EDOM;
    if (n < QS_SPEARMAN_N_MIN)
        return QS_ETOOFEW;
    struct place *places = calloc(n, sizeof *places);
    double *ranks = calloc(n, 2 * sizeof *ranks);
    enum qs_status status = QS_ENOMEM;
    if (places && ranks) {
        bool ties = rank(x, n, places, ranks);
        ties = rank(y, n, places, ranks + n) || ties;
        double rho = correlation(ranks, ranks + n, n), df = (double)n - 2;
        status = isnan(rho) ? QS_EDEGENERATE : QS_OK;
        out->rho = rho;
        out->flags = ties && status == QS_OK ? QS_FLAG_TIES : 0;
        if (status == QS_OK)
            out->p = 2 * qs_pt(-fabs(rho) * sqrt(df / fmax(0, 1 - rho * rho)), df);
    }
    free(places);
    free(ranks);
    return status;
}
