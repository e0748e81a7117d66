#include "stats/effect.h"

#include "stats/ranks.h"
#include "stats/special.h"
#include "stats/twosample.h"

#include <math.h>

const char *qs_cliff_band(double delta)
{
    double size = fabs(delta);
    if (isnan(size))
        return "unknown";
    return size < 0.147 ? "negligible" : size < 0.33 ? "small" : size < 0.474 ? "medium" : "large";
}

enum qs_status qs_effect(const double *x, size_t nx, const double *y, size_t ny, struct qs_effect *out)
{
    struct qs_mwu mwu;
    struct qs_ttest t;
    double sd;
    *out = (struct qs_effect){.cohen_d = NAN, .hedges_g = NAN, .cles = NAN, .cliff = NAN};
    enum qs_status ranks = qs_mwu(x, nx, y, ny, QS_RANKS_NORMAL, &mwu);
    enum qs_status means = ranks == QS_OK ? qs_pooled(x, nx, y, ny, 0.95, &t, &sd) : ranks;
    if (means != QS_OK && means != QS_ETOOFEW)
        return means;
    out->cles = mwu.cles;
    out->cliff = mwu.cliff;
    if (means == QS_ETOOFEW)
        return means;
    double n = (double)nx + (double)ny;
    out->cohen_d = sd > 0 ? t.diff / sd : NAN;
    out->hedges_g = out->cohen_d * (1 - 3 / (4 * n - 9));
    return QS_OK;
}

/* Newcombe's variance of A at a. */
static double variance_at(double a, double nx, double ny)
{
    double n = (nx + ny) / 2;
    return a * (1 - a) / (nx * ny) * (1 + (n - 1) * ((1 - a) / (2 - a) + a / (1 + a)));
}

/* Where the distance of a from the estimate is z standard errors: between `out`, where it is more, and the
 * estimate. Halved until doubles end. */
static double end_of(double estimate, double out, double z, double nx, double ny)
{
    enum { HALVINGS = 60 };
    double in = estimate;
    for (int i = 0; i < HALVINGS; i++) {
        double a = out + (in - out) / 2, off = estimate - a;
        if (off * off > z * z * variance_at(a, nx, ny))
            out = a;
        else
            in = a;
    }
    return in;
}

static struct qs_superiority nothing(double level)
{
    return (struct qs_superiority){.a = NAN, .ci = qs_ci_none(level)};
}

enum qs_status qs_superiority(const double *x, size_t nx, const double *y, size_t ny, double level,
                              struct qs_superiority *out)
{
    struct qs_mwu mwu;
    *out = nothing(level);
    if (!(level > 0 && level < 1))
        return QS_EDOM;
    enum qs_status status = qs_mwu(x, nx, y, ny, QS_RANKS_NORMAL, &mwu);
    if (status != QS_OK)
        return status;
    double z = qs_qnorm((1 + level) / 2);
    out->a = mwu.cles;
    out->ci.lo = out->a > 0 ? end_of(out->a, 0, z, (double)nx, (double)ny) : 0;
    out->ci.hi = out->a < 1 ? end_of(out->a, 1, z, (double)nx, (double)ny) : 1;
    return QS_OK;
}

enum qs_status qs_superiority_paired(const double *x, const double *y, size_t n, double level,
                                     struct qs_superiority *out)
{
    double above = 0, pairs = (double)n;
    *out = nothing(level);
    if (n == 0)
        return QS_ENODATA;
    if (!(level > 0 && level < 1))
        return QS_EDOM;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i]))
            return QS_EDOM;
        above += y[i] > x[i] ? 1 : y[i] == x[i] ? 0.5 : 0;
    }
    double a = above / pairs, z = qs_qnorm((1 + level) / 2), more = z * z / pairs;
    double half = z * sqrt(a * (1 - a) / pairs + more / (4 * pairs));
    out->a = a;
    out->ci.lo = fmax(0, (a + more / 2 - half) / (1 + more));
    out->ci.hi = fmin(1, (a + more / 2 + half) / (1 + more));
    return QS_OK;
}
