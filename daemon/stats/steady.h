/* Does a run settle, and where? After Barrett et al. 2017 (warmup_stats), with a tolerance that has a unit.
 */
#ifndef QS_STATS_STEADY_H
#define QS_STATS_STEADY_H

#include "stats/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum qs_steady_class {
    QS_STEADY_UNKNOWN,     /* too few iterations to tell */
    QS_STEADY_FLAT,        /* steady from the first iteration */
    QS_STEADY_WARMUP,      /* steady later, and nothing before was better */
    QS_STEADY_SLOWDOWN,    /* steady later, and something before was better */
    QS_STEADY_NONE,        /* no steady state */
    QS_STEADY_INCONSISTENT /* of several runs: they differ */
};

/* "unknown", "flat", "warmup", "slowdown", "no-steady-state", "inconsistent". Static. */
extern const char *const qs_steady_class_names[]; /* by value, NULL at the end */

enum { QS_STEADY_MIN_N = 40 };

struct qs_steady_opts {
    double delta_ratio;   /* means that differ by this share of the last are alike, >= 0; 0.01 as a rule */
    bool lower_is_better; /* durations: true */
    double resolution;    /* of the clock, as in qs_pelt */
    struct qs_progress progress;
};

struct qs_steady {
    enum qs_steady_class class;
    size_t start; /* the first steady iteration, to tag those before it; n where there is no steady state */
    size_t segments; /* that the run was cut into */
    double mean;     /* of the last segment; NaN where unknown */
};

/* x in the order of time; leave_out (n bytes, NULL for none) marks outliers that must not make segments of
 * their own. Segments by qs_pelt; a segment is like the last where its mean differs by at most max(delta
 * |mean|, 2 standard errors); the steady state is the unbroken row of such segments at the end, of at least
 * max(30, n/4) iterations. QS_ETOOFEW for fewer than 40 values that are not left out; QS_ENODATA; QS_EDOM;
 * QS_ENOMEM; QS_ECANCELED; the class is unknown then. */
enum qs_status qs_steady_state(const double *x, size_t n, const uint8_t *leave_out,
                               const struct qs_steady_opts *opts, struct qs_steady *out);

/* Of several runs: the class of all, inconsistent where they differ; unknown for none. */
enum qs_steady_class qs_steady_of_runs(const enum qs_steady_class *runs, size_t n);

#endif
