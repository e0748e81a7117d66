/* Change points in a history of one value a night: corrected Hunter (Fleming et al. 2023), the primary
 * method. Splits by the energy statistic inside sliding windows, then drops what does not hold between its
 * full neighbours. README.md says what Apache Otava does differently. */
#ifndef QS_STATS_HUNTER_H
#define QS_STATS_HUNTER_H

#include "stats/status.h"

#include <stdbool.h>
#include <stddef.h>

struct qs_hunter_opts {
    size_t window;        /* 2 .. 10000 values; 50 as a rule */
    double p_max;         /* a point stays with p < p_max, in (0,1); 0.001: p at a maximum is optimistic */
    double min_magnitude; /* and with a magnitude above this, >= 0: the smallest change that matters */
    size_t confirm_after; /* values from the point on that it takes to report it; 4 as a rule */
    double level;         /* of the interval of the ratio, in (0,1) */
    struct qs_progress progress;
};

/* 50, 0.001, 0, 4, 95 %, nobody asks. */
struct qs_hunter_opts qs_hunter_opts_default(void);

/* A change between two neighbouring stretches: from the change before to this, from this to the next. */
struct qs_change_point {
    size_t index;         /* the first value after the change, 1 .. n-1 */
    double p;             /* Student's t, pooled; 1 for two single values and for equal constants */
    double before, after; /* means */
    double magnitude;     /* max(|after/before - 1|, |before/after - 1|); +Inf from or to 0 */
    double ratio;         /* after/before of geometric means, NaN where a value is <= 0 */
    struct qs_ci ci; /* of ratio, Welch on logs; as optimistic as p, for the place was chosen by the data.
                        NaN also where a stretch is a single value */
    bool confirmed;  /* enough values follow: report it, once */
};

/* x in the order of time, gaps left out. out has room for n; *count entries are set, ascending by index.
 * QS_ENODATA; QS_ETOOFEW for n = 1; QS_EDOM (a value, an option); QS_ENOMEM; QS_ECANCELED; *count is 0
 * then. */
enum qs_status qs_hunter(const double *x, size_t n, const struct qs_hunter_opts *opts,
                         struct qs_change_point *out, size_t *count);

#endif
