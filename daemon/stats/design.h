/* How many iterations, runs and sessions a wanted interval needs, from a pilot. Kalibera & Jones 2013,
 * section 6; for two levels it is eq. 8 of Kalibera et al. 2005 with the corrected variances. */
#ifndef QS_STATS_DESIGN_H
#define QS_STATS_DESIGN_H

#include "stats/status.h"
#include "stats/tree.h"

#include <stddef.h>

/* The levels of a design, low to high; a design may be shorter or longer. */
enum { QS_DESIGN_ITERATION, QS_DESIGN_RUN, QS_DESIGN_SESSION };

struct qs_design_opts {
    double half_width_ratio; /* wanted half-width over |location|, > 0 */
    double level;            /* of the interval, in (0,1) */
    unsigned arms; /* 1: the mean of one arm; 2: the ratio of two independent arms that vary alike */
    /* What one more costs, in one unit of time: cost[0] an iteration (> 0), cost[1] starting a run (install,
     * launch, warm-up), cost[2] a session (cool-down, reboot), ..., >= 0. */
    double cost_ns[QS_DEPTH_MAX + 1];
    size_t least[QS_DEPTH_MAX + 1]; /* how many there are at least: 10 iterations a run, 3 runs a session */
    size_t most[QS_DEPTH_MAX + 1];  /* and at most; most >= least >= 1, at the highest level >= 2 */
};

/* 1 %, 95 %, one arm; iterations 10 .. 10^5, anything else 3 .. 10^4; costs are NaN and the caller's to set.
 */
struct qs_design_opts qs_design_opts_default(void);

struct qs_design { /* of an experiment: how many of each level */
    size_t levels; /* of count: depth + 1 */
    size_t count[QS_DEPTH_MAX +
                 1];         /* [0] iterations a run, [1] runs a session .. the highest: how many per arm */
    double half_width_ratio; /* that this design is expected to reach; wider than wanted with attainable
                                false */
    double cost_ns;          /* of all arms */
    bool attainable;         /* with `most` of the highest level */
    unsigned flags;          /* QS_FLAG_EXACT: nothing varied in the pilot; the counts are the least */
};

/* Below the highest level r_i = ceil(sqrt((c_{i+1}/c_i) (T_i/T_{i+1}))) within its bounds, `most` where
 * T_{i+1} = 0; then the smallest number of highest units whose expected half-width is as wanted:
 * t_{1-a/2, k-1} S/sqrt(k), for two arms t_{1-a/2, 2k-2} S sqrt(2/k), with S^2 = sum T_i / (r_i ..
 * r_{top-1}). S is an estimate: it is a plan, not a promise. QS_ETOOFEW: the pilot has a variance of NaN;
 * QS_EDOM: an option, or a location of 0. */
enum qs_status qs_design_from_pilot(const struct qs_components *pilot, const struct qs_design_opts *opts,
                                    struct qs_design *out);

#endif
