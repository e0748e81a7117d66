#include "stats/drift.h"

#include "stats/dependence.h"
#include "stats/special.h"

#include <math.h>
#include <stdlib.h>

static const struct qs_drift no_drift = {.raw = {NAN, NAN, NAN, NAN, NAN},
                                         .n_eff = NAN,
                                         .p = NAN,
                                         .slope = NAN,
                                         .intercept = NAN,
                                         .ci = {NAN, NAN, NAN, 0}};

/* Whether the residuals are the values' rounding alone. */
static bool is_rounding(const double *y, const double *rest, size_t n)
{
    double most = 0, level = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(rest[i] - rest[0]));
        level = fmax(level, fabs(y[i]));
    }
    return most <= 1e-12 * level;
}

/* How many independent values n residuals are worth. */
static enum qs_status worth(const double *y, const double *rest, size_t n, double *ret_n_eff)
{
    struct qs_ess ess = {.n_eff = (double)n};
    enum qs_status status = is_rounding(y, rest, n) ? QS_OK : qs_ess(rest, n, NULL, 0, &ess);
    *ret_n_eff = ess.n_eff;
    return status;
}

enum qs_status qs_drift_about(const double *y, const double *residuals, size_t n, double level,
                              const struct qs_progress *progress, struct qs_drift *out)
{
    struct qs_theil_sen line;
    *out = no_drift;
    if (n > QS_DRIFT_MOST || !(level > 0 && level < 1))
        return QS_EDOM;
    struct qs_drift d = no_drift;
    enum qs_status status = qs_mann_kendall(y, n, &d.raw);
    if (status == QS_OK)
        status = qs_theil_sen_ci(y, n, level, progress, &line);
    if (status == QS_OK)
        status = worth(y, residuals, n, &d.n_eff);
    if (status != QS_OK)
        return status;
    double wider = sqrt((double)n / d.n_eff);
    d.p = fmin(1, 2 * qs_pnorm(-fabs(d.raw.z) / wider));
    d.slope = line.slope;
    d.intercept = line.intercept;
    d.ci = line.ci;
    d.ci.lo = line.slope - (line.slope - line.ci.lo) * wider;
    d.ci.hi = line.slope + (line.ci.hi - line.slope) * wider;
    *out = d;
    return QS_OK;
}

enum qs_status qs_drift(const double *y, size_t n, double level, const struct qs_progress *progress,
                        struct qs_drift *out)
{
    double slope, *rest;
    *out = no_drift;
    if (n > QS_DRIFT_MOST)
        return QS_EDOM;
    const struct qs_progress first = qs_progress_part(progress, 0, 0.5),
                             second = qs_progress_part(progress, 0.5, 1);
    enum qs_status status = qs_theil_sen(y, n, &first, &slope);
    if (status != QS_OK)
        return status;
    rest = malloc(n * sizeof *rest);
    if (!rest)
        return QS_ENOMEM;
    for (size_t i = 0; i < n; i++)
        rest[i] = y[i] - slope * (double)i;
    status = qs_drift_about(y, rest, n, level, &second, out);
    free(rest);
    return status;
}

/* --- the ramp ------------------------------------------------------------------------------------------- */

struct sums { /* of the first i values, about the middle: sum, sum of i times them, sum of squares */
    double y, iy, yy;
};

struct fit {
    double before, after, rss;
};

/* Least squares of y on g_i = 0, (i-from)/(to-from), 1: everything it needs is a difference of two sums. */
static struct fit fit_ramp(const struct sums *s, size_t n, size_t from, size_t to)
{
    double width = (double)(to - from), flat = (double)(n - 1 - to), dn = (double)n;
    double inside_y = s[to + 1].y - s[from + 1].y, inside_iy = s[to + 1].iy - s[from + 1].iy;
    double g = (width + 1) / 2 + flat, gg = (width + 1) * (2 * width + 1) / (6 * width) + flat;
    double gy = (inside_iy - (double)from * inside_y) / width + (s[n].y - s[to + 1].y);
    double sxx = gg - g * g / dn, sxy = gy - g * s[n].y / dn, syy = s[n].yy - s[n].y * s[n].y / dn;
    double rise = sxx > 0 ? sxy / sxx : 0, before = (s[n].y - rise * g) / dn;
    return (struct fit){before, before + rise, fmax(0, syy - rise * sxy)};
}

static void best_ramp(const struct sums *s, size_t n, double middle, struct qs_ramp *out)
{
    double step_rss = INFINITY;
    out->rss = INFINITY;
    for (size_t from = 0; from + 1 < n; from++)
        for (size_t to = from + 1; to < n; to++) {
            struct fit fit = fit_ramp(s, n, from, to);
            if (to == from + 1)
                step_rss = fmin(step_rss, fit.rss);
            if (fit.rss < out->rss)
                *out = (struct qs_ramp){from, to, middle + fit.before, middle + fit.after, fit.rss, NAN};
        }
    out->step_rss = step_rss;
}

double qs_ramp_at(const struct qs_ramp *ramp, size_t i)
{
    if (i <= ramp->from || i >= ramp->to)
        return i <= ramp->from ? ramp->before : ramp->after;
    double share = (double)(i - ramp->from) / (double)(ramp->to - ramp->from);
    return ramp->before + share * (ramp->after - ramp->before);
}

enum qs_status qs_ramp_fit(const double *y, size_t n, struct qs_ramp *out)
{
    *out = (struct qs_ramp){0, 0, NAN, NAN, NAN, NAN};
    if (n < 3)
        return n == 0 ? QS_ENODATA : QS_ETOOFEW;
    if (n > QS_DRIFT_MOST)
        return QS_EDOM;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(y[i]))
            return QS_EDOM;
    struct sums *s = calloc(n + 1, sizeof *s);
    if (!s)
        return QS_ENOMEM;
    double middle = y[n / 2];
    for (size_t i = 0; i < n; i++) {
        double d = y[i] - middle;
        s[i + 1] = (struct sums){s[i].y + d, s[i].iy + (double)i * d, s[i].yy + d * d};
    }
    best_ramp(s, n, middle, out);
    free(s);
    return isfinite(out->rss) ? QS_OK : QS_EDOM;
}
