/* Values nested in any number of levels: iterations in runs, runs in sessions, sessions on devices. How much
 * each level varies, and what the mean over the highest is worth. Levels may hold unequal numbers. */
#ifndef QS_STATS_TREE_H
#define QS_STATS_TREE_H

#include "stats/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { QS_DEPTH_MAX = 7 };

/* depth grouping levels (1: runs of iterations), low to high. off[0] has count[0]+1 ascending entries: run j
 * holds v[off[0][j]] .. v[off[0][j+1]-1]. off[g], g > 0, counts units of level g-1 in the same way, from 0 to
 * count[g-1]. All borrowed. */
struct qs_tree {
    const double *v;
    size_t depth;
    const size_t *off[QS_DEPTH_MAX];
    size_t count[QS_DEPTH_MAX];
};

/* QS_ENODATA: no level, or an empty unit; QS_EDOM: too deep, or offsets that do not meet the level below. */
enum qs_status qs_tree_check(const struct qs_tree *tree);

/* The number of values. The tree is one that qs_tree_check accepts. */
size_t qs_tree_size(const struct qs_tree *tree);

/* The mean in which each unit counts once in the unit above it. The same holds for the tree. */
double qs_tree_mean(const struct qs_tree *tree);

/* One source of variation: units of a level within one unit of the level above. NaN: cannot be told. */
struct qs_component {
    size_t units;
    double df;      /* units minus units of the level above (1 above the highest) */
    double ms;      /* mean square; NaN where df is 0 */
    double size;    /* the coefficient of this level's variance in E(ms): values per unit that count */
    double var_raw; /* as estimated: negative by chance where the level adds nothing */
    double var;     /* the same, 0 where it is negative */
    double share;   /* of the sum of the variances, in [0,1]; NaN where nothing varies */
    double f;       /* ms over that of the level below; NaN at level 0 */
    unsigned flags; /* QS_FLAG_CLAMPED: var_raw is negative */
};

struct qs_components {
    size_t depth, n;
    struct qs_component level[QS_DEPTH_MAX + 1]; /* [0]: iterations in a run .. [depth]: the highest level */
    double grand_mean;                           /* each value counts once */
    double mean;                                 /* each unit counts once in the one above */
    double s2_top;                               /* variance of the means of the highest level's units */
    bool balanced;                               /* units of a level hold equally many */
};

/* Nested random effects by the method of moments: mean squares equated to their expectations, level by level
 * (Searle, Casella & McCulloch 1992, 5.2 and appendix F; for equal numbers it is Kalibera & Jones 2013,
 * T_i^2 = S_i^2 - S_{i-1}^2/r_{i-1}). Lower estimates enter those above unclamped. QS_ETOOFEW: a level has
 * no degree of freedom, so that its variance and those above cannot be told apart (the rest is set); QS_EDOM;
 * QS_ENODATA; QS_ENOMEM. */
enum qs_status qs_tree_components(const struct qs_tree *tree, struct qs_components *out);

/* Mean of the highest level's means +- t_{1-a/2,k-1} sqrt(var/k), whatever lies below: Kalibera & Jones 2013,
 * section 6.2. QS_ETOOFEW for one unit at the highest level; otherwise as qs_tree_components. */
enum qs_status qs_tree_ci(const struct qs_tree *tree, double level, struct qs_ci *out);

#endif
