/* Values of two sides that fold into groups (sessions, or builds of several), some of them disturbed.
 *
 * What a disturbance adds is seen inside a session that has both kinds: the weighted mean of these contrasts
 * is taken off the disturbed values (the covariate of an analysis of covariance, within groups: Cochran
 * 1957), so that sides of which one was more disturbed than the other can be compared, and no good value
 * makes data fewer. In a group a disturbed value has the weight of stats/mixed.h, by the variances within
 * sessions. How far the shift is known goes into the difference of the sides as far as the shares of
 * disturbed values differ; it has the degrees of freedom of the contrasts. */
#ifndef QS_STATS_MIXED_FOLD_H
#define QS_STATS_MIXED_FOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "stats/status.h"

struct qs_fold_value {
    double v; /* a logarithm */
    bool disturbed;
    size_t cell;  /* its session: cells of one number stand together */
    size_t group; /* what counts once on its side, below n; a cell lies in one group */
    int side;     /* 0 or 1 */
};

struct qs_mixed_fold {
    size_t cells;        /* sessions that have both kinds; 0: nothing is known, and all else is NaN */
    double shift;        /* of disturbed values against clean ones of their session */
    double shift_se, df; /* of it */
    double worth;        /* of a disturbed value where a clean one is worth 1 */
    double share[2]; /* of the weight of a side's groups that is of disturbed values: the mean over groups */
    double extra_se; /* what the difference of both sides owes to shift_se */
    struct qs_ci ci; /* of the shift */
};

/* QS_ENODATA where no session has both kinds, or one has that has one value of each; QS_EDOM; QS_ENOMEM. */
enum qs_status qs_mixed_fold(const struct qs_fold_value *values, size_t n, double level,
                             struct qs_mixed_fold *out);

#endif
