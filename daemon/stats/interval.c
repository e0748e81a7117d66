#include "stats/interval.h"

#include "stats/special.h"
#include "stats/sum.h"

#include <stdbool.h>
#include <stdlib.h>

static bool is_level(double level)
{
    return level > 0 && level < 1;
}

/* df infinite: z */
static struct qs_ci around(double mean, double sd, double n, double df, double level)
{
    if (!is_level(level) || !(n > 1) || !(sd >= 0))
        return qs_ci_none(level);
    if (!(sd > 0))
        return (struct qs_ci){.lo = mean, .hi = mean, .level = level, .flags = QS_FLAG_EXACT};
    double half = -qs_qt((1 - level) / 2, df) * sd / sqrt(n);
    return (struct qs_ci){.lo = mean - half, .hi = mean + half, .level = level, .flags = 0};
}

struct qs_ci qs_t_interval(double mean, double sd, double n_eff, double level)
{
    return around(mean, sd, n_eff, n_eff - 1, level);
}

struct qs_ci qs_z_interval(double mean, double sd, double n, double level)
{
    return around(mean, sd, n, INFINITY, level);
}

enum qs_status qs_mean_ci(const double *x, size_t n, double n_eff, double level, struct qs_ci *out)
{
    struct qs_moments m;
    *out = qs_ci_none(level);
    enum qs_status status = qs_moments(x, n, &m);
    if (status != QS_OK)
        return status;
    if (isnan(n_eff))
        n_eff = (double)n;
    if (!is_level(level) || n_eff > (double)n)
        return QS_EDOM;
    if (n < 2 || !(n_eff > 1))
        return QS_ETOOFEW;
    *out = qs_t_interval(m.mean, sqrt(m.var), n_eff, level);
    return QS_OK;
}

/* The largest d with P(Bin(n,1/2) <= d-1) <= tail; 0 where there is none. */
static size_t rank_for(size_t n, double tail)
{
    size_t lo = 0, hi = n / 2 + 1; /* lo holds, hi does not: P(Bin <= n/2) >= 1/2 > tail */
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (qs_pbinom((double)mid - 1, (double)n, 0.5) <= tail)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

enum qs_status qs_median_ci(const double *x, size_t n, double level, struct qs_median_ci *out)
{
    double *sorted;
    *out = (struct qs_median_ci){.ci = qs_ci_none(level)};
    if (!is_level(level))
        return QS_EDOM;
    enum qs_status status = qs_sorted_copy(x, n, &sorted);
    if (status != QS_OK)
        return status;
    size_t d = rank_for(n, (1 - level) / 2);
    if (d > 0) {
        out->lo_rank = d;
        out->hi_rank = n - d + 1;
        out->ci.lo = sorted[d - 1];
        out->ci.hi = sorted[n - d];
        out->ci.level = 1 - 2 * qs_pbinom((double)d - 1, (double)n, 0.5);
    }
    free(sorted);
    return d > 0 ? QS_OK : QS_ETOOFEW;
}
