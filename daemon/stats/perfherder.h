/* Mozilla Perfherder's windows: a t statistic of the values after a point against those before, nearer ones
 * weighing more. A second opinion on change points, and rule=perfherder. treeherder's perfalert, checked with
 * one value a point. */
#ifndef QS_STATS_PERFHERDER_H
#define QS_STATS_PERFHERDER_H

#include "stats/status.h"

#include <stddef.h>

struct qs_perfherder_opts {
    size_t min_back, max_back; /* values before: 12 and 24; 1 <= min_back <= max_back */
    size_t fore;               /* values from the point on: 12; >= 1 */
    double t_limit;            /* 7; >= 0 */
};

/* 12, 24, 12, 7. */
struct qs_perfherder_opts qs_perfherder_opts_default(void);

/* t[i] for the n values (t[0] = 0): |weighted mean after - before| / sqrt(v1/n1 + v2/n2). Weights fall
 * linearly, (n-j)/n for the j-th nearest; variances about the weighted means, denominator n-1. 0 where the
 * means are equal, +Inf where nothing varies but they differ. The window before holds min(max(points since t
 * last passed t_limit, min_back), max_back) values. A point is a change where both windows are full, t >
 * t_limit and neither neighbour has a larger t: its index goes to changes (room for n, ascending, *count
 * entries). QS_ENODATA; QS_EDOM (a value, an option); *count is 0 then. */
enum qs_status qs_perfherder(const double *x, size_t n, const struct qs_perfherder_opts *opts, double *t,
                             size_t *changes, size_t *count);

#endif
