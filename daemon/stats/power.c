#include "stats/power.h"

#include "stats/special.h"

#include <math.h>
#include <stdbool.h>

static bool opts_are_valid(const struct qs_power_opts *o)
{
    return o->alpha > 0 && o->alpha < 1 && o->power > o->alpha / 2 && o->power < 1 &&
           o->resolution_ratio >= 0 && isfinite(o->resolution_ratio);
}

/* t_{1-a/2,df} + t_{power,df} */
static double quantile_sum(double df, const struct qs_power_opts *o)
{
    return qs_qt(o->power, df) - qs_qt(o->alpha / 2, df);
}

static double mde(double se, double df, const struct qs_power_opts *o)
{
    return se > 0 ? expm1(quantile_sum(df, o) * se) : o->resolution_ratio;
}

double qs_mde_welch(double sd1, size_t k1, double sd2, size_t k2, const struct qs_power_opts *opts)
{
    if (!opts_are_valid(opts) || k1 < 2 || k2 < 2 || !(sd1 >= 0) || !(sd2 >= 0))
        return NAN;
    double se1 = sd1 / sqrt((double)k1), se2 = sd2 / sqrt((double)k2);
    double se = hypot(se1, se2);
    if (!(se > 0))
        return opts->resolution_ratio;
    double share = (se1 / se) * (se1 / se);
    double df = 1 / (share * share / (double)(k1 - 1) + (1 - share) * (1 - share) / (double)(k2 - 1));
    return mde(se, df, opts);
}

double qs_mde_paired(double sd, size_t k, const struct qs_power_opts *opts)
{
    if (!opts_are_valid(opts) || k < 2 || !(sd >= 0))
        return NAN;
    return mde(sd / sqrt((double)k), (double)k - 1, opts);
}

/* The smallest k in 2..QS_RUNS_MAX with quantile_sum(arms (k-1)) s sqrt(arms/k) <= goal: the left side falls
 * with k. */
static size_t smallest_k(double sd, int arms, double effect_ratio, const struct qs_power_opts *o)
{
    double goal = log1p(effect_ratio);
    if (!opts_are_valid(o) || !(sd >= 0) || !(effect_ratio > 0) || !isfinite(effect_ratio))
        return 0;
    size_t lo = 1, hi = QS_RUNS_MAX + 1; /* lo is too small; hi is enough, or out of range */
    while (hi - lo > 1) {
        size_t k = lo + (hi - lo) / 2;
        double need = quantile_sum(arms * ((double)k - 1), o) * sd * sqrt(arms / (double)k);
        if (need <= goal)
            hi = k;
        else
            lo = k;
    }
    return hi <= QS_RUNS_MAX ? hi : 0;
}

size_t qs_runs_needed_welch(double sd1, double sd2, double effect_ratio, const struct qs_power_opts *opts)
{
    return smallest_k(hypot(sd1, sd2) * M_SQRT1_2, 2, effect_ratio, opts);
}

size_t qs_blocks_needed(double sd, double effect_ratio, const struct qs_power_opts *opts)
{
    return smallest_k(sd, 1, effect_ratio, opts);
}
