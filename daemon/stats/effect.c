#include "stats/effect.h"

#include "stats/ranks.h"
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
