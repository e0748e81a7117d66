#include "stats/design.h"

#include "stats/pick.h"
#include "stats/special.h"

#include <math.h>

struct qs_design_opts qs_design_opts_default(void)
{
    struct qs_design_opts opts = {.half_width_ratio = 0.01, .level = 0.95, .arms = 1};
    for (size_t i = 0; i <= QS_DEPTH_MAX; i++) {
        opts.cost_ns[i] = NAN;
        opts.least[i] = i == QS_DESIGN_ITERATION ? 10 : 3;
        opts.most[i] = i == QS_DESIGN_ITERATION ? 100000 : 10000;
    }
    return opts;
}

static bool options_hold(const struct qs_design_opts *opts, size_t top)
{
    if (!(opts->half_width_ratio > 0) || !(opts->level > 0 && opts->level < 1) || opts->arms < 1 ||
        opts->arms > 2)
        return false;
    for (size_t i = 0; i <= top; i++)
        if (!(opts->cost_ns[i] >= 0 && opts->cost_ns[i] < INFINITY) || opts->least[i] < 1 ||
            opts->most[i] < opts->least[i])
            return false;
    return opts->cost_ns[0] > 0 && opts->most[top] >= 2;
}

/* How many units of a level in one of the level above. */
static size_t optimum(double var, double var_above, double cost, double cost_above, size_t least, size_t most)
{
    if (!(var > 0))
        return least; /* nothing to average out */
    if (!(var_above > 0))
        return most; /* all that varies is here: stay as long as allowed */
    if (!(cost > 0))
        return cost_above > 0 ? most : least;
    double r = ceil(sqrt(cost_above / cost * (var / var_above)));
    if (!(r > (double)least))
        return least;
    return r < (double)most ? (size_t)r : most;
}

static double half_width(double s, size_t k, const struct qs_design_opts *opts)
{
    double arms = opts->arms, n = (double)k;
    return qs_qt(1 - (1 - opts->level) / 2, arms * (n - 1)) * s * sqrt(arms / n);
}

/* The smallest k in its bounds with a half-width as wanted, which falls with k; `most` where there is none.
 */
static size_t top_units(double s, double wanted, size_t least, size_t most, const struct qs_design_opts *opts)
{
    size_t lo = qs_more(2, least), hi = most;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (half_width(s, mid, opts) <= wanted)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* The variance of the mean of one highest unit. */
static double top_variance(const struct qs_components *pilot, const struct qs_design *design)
{
    double s2 = 0;
    for (size_t i = 0; i < design->levels; i++) {
        double share = pilot->level[i].var;
        for (size_t j = i; j + 1 < design->levels; j++)
            share /= (double)design->count[j];
        s2 += share;
    }
    return s2;
}

static double total_cost_ns(const struct qs_design *design, const struct qs_design_opts *opts)
{
    double cost_ns = 0;
    for (size_t i = 0; i < design->levels; i++)
        cost_ns = (cost_ns + opts->cost_ns[i]) * (double)design->count[i];
    return opts->arms * cost_ns;
}

enum qs_status qs_design_from_pilot(const struct qs_components *pilot, const struct qs_design_opts *opts,
                                    struct qs_design *out)
{
    size_t top = pilot->depth;
    *out = (struct qs_design){.half_width_ratio = NAN, .cost_ns = NAN};
    if (top < 1 || top > QS_DEPTH_MAX || !options_hold(opts, top))
        return QS_EDOM;
    double total = 0;
    for (size_t i = 0; i <= top; i++)
        total += pilot->level[i].var;
    if (isnan(total))
        return QS_ETOOFEW;
    double scale = fabs(pilot->mean);
    if (!(scale > 0))
        return QS_EDOM;
    out->levels = top + 1;
    for (size_t i = 0; i < top; i++)
        out->count[i] = optimum(pilot->level[i].var, pilot->level[i + 1].var, opts->cost_ns[i],
                                opts->cost_ns[i + 1], opts->least[i], opts->most[i]);
    double s = sqrt(top_variance(pilot, out)), wanted = opts->half_width_ratio * scale;
    out->count[top] = top_units(s, wanted, opts->least[top], opts->most[top], opts);
    out->half_width_ratio = half_width(s, out->count[top], opts) / scale;
    out->attainable = out->half_width_ratio <= opts->half_width_ratio;
    out->cost_ns = total_cost_ns(out, opts);
    out->flags = total > 0 ? 0 : QS_FLAG_EXACT;
    return QS_OK;
}
