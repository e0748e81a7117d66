/* Hierarchical bootstrap of the ratio of two means: units are drawn with replacement at each level, the
 * highest first, as the experiment drew them. Kalibera & Jones 2013 (libkalibera). */
#ifndef QS_STATS_HIER_BOOT_H
#define QS_STATS_HIER_BOOT_H

#include "stats/status.h"
#include "stats/tree.h"

#include <stddef.h>
#include <stdint.h>

struct qs_hier_boot_opts {
    uint64_t seed, stream; /* equal keys give equal results */
    size_t resamples;      /* 1 .. 10^7; 10000 as a rule */
    double level;          /* of the interval, in (0,1) */
    struct qs_progress progress;
};

enum { QS_HIER_BOOT_MIN_TOP = 5 };

struct qs_hier_boot {
    double ratio;      /* candidate over baseline, of means in which each unit counts once in the one above */
    struct qs_ci ci;   /* percentiles of the resampled ratios: those at floor(a/2 R) and ceil((1-a/2) R) - 1.
                          A bound is infinite where too many resampled baselines have a mean of 0. Flag
                          QS_FLAG_FEW_UNITS: the highest level of a side has fewer than 5 units, and the
                          interval is mostly too short */
    size_t n_infinite; /* resamples whose baseline mean is 0: their ratio is +Inf */
    size_t resamples;
};

/* x is the baseline, y the candidate; their depths may differ. QS_EDOM: a value, an option, or a baseline
 * mean of 0; QS_ENODATA; QS_ENOMEM; QS_ECANCELED. */
enum qs_status qs_hier_boot_ratio(const struct qs_tree *x, const struct qs_tree *y,
                                  const struct qs_hier_boot_opts *opts, struct qs_hier_boot *out);

#endif
