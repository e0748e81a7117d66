/* Changes of a history, steps and drifts apart: what corrected Hunter reports of a slow rise is one or more
 * steps that nobody made (statistics.md, section 9.6). */
#ifndef QS_STATS_DRIFT_H
#define QS_STATS_DRIFT_H

#include "stats/hunter.h"
#include "stats/status.h"
#include "stats/trend.h"

#include <stdbool.h>
#include <stddef.h>

/* Longer series are refused: all pairs are looked at. */
enum { QS_DRIFT_MOST = 5000 };

struct qs_drift {
    struct qs_mann_kendall raw; /* as if the values were independent */
    double n_eff;               /* what n values are worth, by the residuals about the Theil-Sen line */
    double p;                   /* two-sided, var(S) times n/n_eff; not below raw.p */
    double slope, intercept;    /* Theil-Sen, per step; level at step 0 */
    struct qs_ci ci;            /* of the slope, Sen's with the same variance; NaN where n is too small */
};

/* Mann-Kendall for dependent values: Yue & Wang 2004, the variance of S times n/n_eff, with the residuals'
 * effective sample size (qs_ess) in place of theirs. Residuals that do not vary beyond
 * rounding count as independent.
 * QS_ENODATA, QS_ETOOFEW (n = 1), QS_EDOM (a value, level outside of (0,1), n > QS_DRIFT_MOST), QS_ENOMEM,
 * QS_ECANCELED: fields are NaN. */
enum qs_status qs_drift(const double *y, size_t n, double level, const struct qs_progress *progress,
                        struct qs_drift *out);
/* The same with the residuals about another fit, n of them. */
enum qs_status qs_drift_about(const double *y, const double *residuals, size_t n, double level,
                              const struct qs_progress *progress, struct qs_drift *out);

/* The best level - line - level by least squares: constant up to `from`, straight to `to`, constant after. A
 * line over everything is from 0 to n-1. */
struct qs_ramp {
    size_t from, to; /* from < to <= n-1 */
    double before, after;
    double rss;      /* sum of squared residuals */
    double step_rss; /* of the best one with to = from + 1 */
};
/* Its level at place i. */
double qs_ramp_at(const struct qs_ramp *ramp, size_t i);

/* Of all places, by sums: n^2/2 steps. QS_ENODATA, QS_ETOOFEW (n < 3), QS_EDOM (a value, n > QS_DRIFT_MOST),
 * QS_ENOMEM. */
enum qs_status qs_ramp_fit(const double *y, size_t n, struct qs_ramp *out);

enum qs_change_kind { QS_CHANGE_STEP, QS_CHANGE_DRIFT };

struct qs_change {
    enum qs_change_kind kind;
    size_t from, to; /* step: both the first value after it; drift: where it begins and ends */
    double p;        /* step: as of qs_steps_find; drift: qs_drift_about the ramp, of its stretch */
    double before,
        after;           /* step: means of the neighbours without what stands out; drift: the fitted levels */
    double ratio;        /* after/before; step: of geometric means. NaN where there is none */
    struct qs_ci ci;     /* of ratio; drift: from the slope's interval */
    double slope, n_eff; /* of a drift, per step; NaN for a step */
    double median_before,
        median_after; /* of the values from the step before, and to the next; NaN: a drift */
    bool confirmed;   /* enough values follow the step; a drift is, by its p */
};

struct qs_changes {
    struct qs_change *at; /* owned: ascending by from */
    size_t count;
    size_t *alone; /* owned: single values that stand out, ascending: they made no step */
    size_t n_alone;
    size_t smaller;            /* steps that are there and surely below min_magnitude: not among `at` */
    double smaller_most_ratio; /* the largest of them, as a magnitude; 0: none */
    double
        detectable_ratio; /* the step in the middle that four of five such histories would tell; NaN: none */
    double phi;           /* as of qs_steps_find */
};

/* The steps of qs_steps_find. Each row of neighbouring ones of one direction is explained again: where one
 * ramp of at least 5 intervals fits better than the k steps do (Schwarz's criterion of as many independent
 * values, 4 against 1.4 k + 1 numbers), Mann-Kendall's p over the stretch is below opts->p_max and it
 * climbs by more than min_magnitude (relative), it is one drift. So is a series without a step where the same
 * holds against the best step. Of what is left the steps whose whole interval is below min_magnitude are only
 * counted. Status as of qs_hunter; beyond QS_DRIFT_MOST values only steps are looked for. To be freed. */
enum qs_status qs_changes_find(const double *x, size_t n, const struct qs_hunter_opts *opts,
                               struct qs_changes *out);
void qs_changes_free(struct qs_changes *changes);

#endif
