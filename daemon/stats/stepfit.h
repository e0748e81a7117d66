/* Skia Perf's step detection, which Android's CI guide calls step fitting: half of a series against the other
 * half. Kept to read and repeat other people's results: "original" divides by an error that shrinks with the
 * length twice, so that its threshold has no meaning as a test. A step is first minus second half: negative
 * means that values went up. */
#ifndef QS_STATS_STEPFIT_H
#define QS_STATS_STEPFIT_H

#include <stddef.h>

#include "stats/status.h"

enum qs_step_kind {
    QS_STEP_ORIGINAL, /* of the normalised series: step over sqrt(SSE1 + SSE2)/n */
    QS_STEP_ABSOLUTE, /* y0 - y1, means of the halves */
    QS_STEP_PERCENT,  /* (y0 - y1)/y0; +-FLT_MAX for y0 = 0, 0 for 0/0, as upstream */
    QS_STEP_PERCENT_MEDIAN,
    QS_STEP_COHEN,        /* (y0 - y1) over the mean of both sd */
    QS_STEP_STEPINESS,    /* +-(1 - sqrt((SSE1 + SSE2)/SSE)), the sign of y0 - y1 */
    QS_STEP_MANN_WHITNEY, /* p; the step is y0 - y1 */
    QS_STEP_KINDS
};
/* "original", "absolute", "percent", "percent-median", "cohen", "stepiness", "mann-whitney". Static. */
const char *qs_step_kind_name(enum qs_step_kind kind);

enum qs_step_status { QS_STEP_UNINTERESTING, QS_STEP_LOW, QS_STEP_HIGH }; /* LOW: values went down */

struct qs_stepfit_opts {
    enum qs_step_kind kind;
    double sd_min;      /* > 0: sd at or below it are not divided by, errors below it count as it */
    double interesting; /* >= 0: the |regression| to reach; for MANN_WHITNEY the p not to exceed */
};

struct qs_stepfit {
    double step, regression;
    double lse; /* ORIGINAL: the error divided by; MANN_WHITNEY: U of the second half; else NaN */
    enum qs_step_status status;
};

/* x: the first half, y: the second. Equal halves give a step of 0. QS_ENODATA; QS_ETOOFEW: fewer than 4
 * values in all for COHEN; QS_EDOM; QS_ENOMEM: numbers NaN and uninteresting. */
enum qs_status qs_stepfit_halves(const double *x, size_t nx, const double *y, size_t ny,
                                 const struct qs_stepfit_opts *opts, struct qs_stepfit *out);

/* A trace of 2N + 1 points, split at n/2; all kinds but ORIGINAL drop the last point first. QS_ETOOFEW: n <
 * 3; otherwise as above. */
enum qs_status qs_stepfit(const double *trace, size_t n, const struct qs_stepfit_opts *opts,
                          struct qs_stepfit *out);

/* Mozilla Perfherder's windows: a t statistic of the values after a point against those before, nearer ones
 * weighing more. A second opinion on change points, and rule=perfherder. treeherder's perfalert, checked with
 * one value a point. */
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
