#include "stats/outlier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/describe.h"
#include "stats/special.h"
#include "stats/sum.h"

enum { MIN_N = 8, WINDOW_MAX = 200, WINDOW_PART = 10 };

static uint8_t classify(double x, const struct qs_tukey *t)
{
    uint8_t far = x < t->far_lo || x > t->far_hi ? QS_OUTLIER_FAR : 0;
    if (x < t->lo)
        return far | QS_OUTLIER_LOW;
    if (x > t->hi)
        return far | QS_OUTLIER_HIGH;
    return 0;
}

static enum qs_status fences(const double *x, size_t n, struct qs_tukey *out)
{
    double *sorted;
    enum qs_status status = qs_sorted_copy(x, n, &sorted);
    if (status != QS_OK)
        return status;
    double q1 = qs_quantile(sorted, n, 0.25, QS_QTYPE_7), q3 = qs_quantile(sorted, n, 0.75, QS_QTYPE_7);
    free(sorted);
    if (n < MIN_N)
        return QS_ETOOFEW;
    double iqr = q3 - q1;
    if (!(iqr > 0))
        return QS_EDEGENERATE;
    if (!isfinite(q1 - 3 * iqr) || !isfinite(q3 + 3 * iqr))
        return QS_EDOM;
    out->lo = q1 - 1.5 * iqr;
    out->hi = q3 + 1.5 * iqr;
    out->far_lo = q1 - 3 * iqr;
    out->far_hi = q3 + 3 * iqr;
    return QS_OK;
}

enum qs_status qs_tukey_flags(const double *x, size_t n, uint8_t *flags, struct qs_tukey *out)
{
    *out = (struct qs_tukey){.lo = NAN, .hi = NAN, .far_lo = NAN, .far_hi = NAN};
    if (flags && n > 0)
        memset(flags, 0, n);
    enum qs_status status = fences(x, n, out);
    for (size_t i = 0; status == QS_OK && i < n; i++) {
        uint8_t flag = classify(x[i], out);
        out->n_low += (flag & QS_OUTLIER_LOW) != 0;
        out->n_high += (flag & QS_OUTLIER_HIGH) != 0;
        out->n_far += (flag & QS_OUTLIER_FAR) != 0;
        if (flags)
            flags[i] = flag;
    }
    return status;
}

/* An ascending window that slides by one value. */
struct window {
    double *sorted; /* owned */
    size_t n;
};

static void window_drop(struct window *w, double x)
{
    size_t at = qs_sorted_place(w->sorted, w->n, x);
    memmove(w->sorted + at, w->sorted + at + 1, (--w->n - at) * sizeof x);
}

static uint8_t classify_in_window(const struct window *w, double x)
{
    double median = qs_quantile(w->sorted, w->n, 0.5, QS_QTYPE_7);
    double band =
        3 * (qs_quantile(w->sorted, w->n, 0.9, QS_QTYPE_7) - qs_quantile(w->sorted, w->n, 0.1, QS_QTYPE_7));
    if (!(band > 0))
        return 0;
    return x < median - band ? QS_OUTLIER_LOW : x > median + band ? QS_OUTLIER_HIGH : 0;
}

static void slide(struct window *w, const double *x, size_t n, uint8_t *flags, struct qs_window_outliers *out)
{
    size_t half = out->window / 2;
    for (size_t i = 0; i < out->window; i++)
        qs_sorted_insert(w->sorted, w->n++, x[i]);
    for (size_t i = half; i < n; i++) {
        if (i > half) {
            window_drop(w, x[i - half - 1]);
            if (i + half <= n)
                qs_sorted_insert(w->sorted, w->n++, x[i + half - 1]);
        }
        uint8_t flag = classify_in_window(w, x[i]);
        out->n_low += flag == QS_OUTLIER_LOW;
        out->n_high += flag == QS_OUTLIER_HIGH;
        out->n_assessed++;
        if (flags)
            flags[i] = flag;
    }
}

enum qs_status qs_window_flags(const double *x, size_t n, size_t window, uint8_t *flags,
                               struct qs_window_outliers *out)
{
    struct qs_moments m;
    if (window == 0)
        window = n / WINDOW_PART >= WINDOW_MAX ? WINDOW_MAX : n / WINDOW_PART / 2 * 2;
    *out = (struct qs_window_outliers){.window = window};
    if (flags && n > 0)
        memset(flags, 0, n);
    enum qs_status status = qs_moments(x, n, &m);
    if (status == QS_OK && window % 2 != 0)
        status = QS_EDOM;
    if (status == QS_OK && (window < MIN_N || n < window))
        status = QS_ETOOFEW;
    if (status != QS_OK)
        return status;
    struct window w = {.sorted = malloc((window + 1) * sizeof *w.sorted), .n = 0};
    if (!w.sorted)
        return QS_ENOMEM;
    slide(&w, x, n, flags, out);
    free(w.sorted);
    return QS_OK;
}

struct rest {
    double *v;     /* owned: the values that are left */
    size_t *index; /* owned: where each stood */
    size_t n;
};

struct centre {
    double location, scale;
};

static enum qs_status centre_of(const struct rest *r, bool robust, struct centre *out)
{
    struct qs_moments m;
    enum qs_status status = qs_moments(r->v, r->n, &m);
    if (status != QS_OK)
        return status;
    *out = (struct centre){m.mean, sqrt(m.var)};
    if (!robust)
        return QS_OK;
    struct qs_summary s;
    status = qs_describe(r->v, r->n, &s);
    *out = (struct centre){s.median, s.mad};
    return status;
}

static size_t farthest(const struct rest *r, double location)
{
    size_t far = 0;
    for (size_t i = 1; i < r->n; i++)
        if (fabs(r->v[i] - location) >= fabs(r->v[far] - location))
            far = i;
    return far;
}

/* lambda for the step that leaves n values before it takes one away. */
static double limit_of(size_t n, double alpha)
{
    double left = (double)n, df = left - 2;
    double t = qs_qt(1 - alpha / (2 * left), df);
    return (left - 1) * t / sqrt((df + t * t) * left);
}

static void take_away(struct rest *r, size_t i)
{
    memmove(r->v + i, r->v + i + 1, (r->n - i - 1) * sizeof *r->v);
    memmove(r->index + i, r->index + i + 1, (r->n - i - 1) * sizeof *r->index);
    r->n--;
}

struct step {
    size_t index;
    uint8_t flag;
};

/* Takes the farthest value away, step by step; what was taken up to the last step beyond its limit counts. */
static enum qs_status steps(struct rest *r, const struct qs_gesd_opts *opts, struct step *step,
                            struct qs_gesd *out)
{
    for (size_t i = 0; i < opts->most; i++) {
        struct centre c;
        if (!qs_progress_go_on(&opts->progress, (double)i / (double)opts->most)) {
            *out = (struct qs_gesd){.statistic = NAN, .limit = NAN};
            return QS_ECANCELED;
        }
        enum qs_status status = centre_of(r, opts->robust, &c);
        if (status != QS_OK)
            return status;
        if (!(c.scale > 0))
            return i == 0 ? QS_EDEGENERATE : QS_OK; /* what is left does not vary */
        size_t far = farthest(r, c.location);
        double statistic = fabs(r->v[far] - c.location) / c.scale, limit = limit_of(r->n, opts->alpha);
        step[i] = (struct step){r->index[far], r->v[far] < c.location ? QS_OUTLIER_LOW : QS_OUTLIER_HIGH};
        bool beyond = statistic > limit;
        if (beyond || i == 0)
            *out = (struct qs_gesd){beyond ? i + 1 : 0, statistic, limit};
        take_away(r, far);
    }
    return QS_OK;
}

static enum qs_status run(const double *x, size_t n, const struct qs_gesd_opts *opts, uint8_t *flags,
                          struct qs_gesd *out)
{
    struct rest r = {.v = calloc(n, sizeof *r.v), .index = calloc(n, sizeof *r.index), .n = n};
    struct step *step = calloc(opts->most, sizeof *step);
    enum qs_status status = QS_ENOMEM;
    if (r.v && r.index && step) {
        memcpy(r.v, x, n * sizeof *x);
        for (size_t i = 0; i < n; i++)
            r.index[i] = i;
        status = steps(&r, opts, step, out);
    }
    for (size_t i = 0; flags && status == QS_OK && i < out->count; i++)
        flags[step[i].index] = step[i].flag;
    free(r.v);
    free(r.index);
    free(step);
    return status;
}

enum qs_status qs_gesd_flags(const double *x, size_t n, const struct qs_gesd_opts *opts, uint8_t *flags,
                             struct qs_gesd *out)
{
    *out = (struct qs_gesd){.statistic = NAN, .limit = NAN};
    if (flags && n > 0)
        memset(flags, 0, n);
    enum qs_status status = qs_check_values(x, n, 3);
    if (status != QS_OK)
        return status;
    if (opts->most < 1 || opts->most > n - 2 || !(opts->alpha > 0 && opts->alpha < 1))
        return QS_EDOM;
    return run(x, n, opts, flags, out);
}
