#include "stats/outlier.h"

#include "stats/describe.h"
#include "stats/sum.h"

#include <stdlib.h>
#include <string.h>

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
