/* Steps of a history that hold: what corrected Hunter proposes, tested again so that single nights, heavy
 * tails and dependent nights do not make steps. README.md has the rates. */
#ifndef QS_STATS_STEPS_H
#define QS_STATS_STEPS_H

#include "stats/hunter.h"
#include "stats/status.h"

#include <stdbool.h>
#include <stddef.h>

struct qs_steps {
    struct qs_change_point *point; /* n_points, ascending; before and after are means of y, p is as below */
    size_t n_points;
    double *y;    /* n: the values, those that stand out cut back to 2.5 sd from their level */
    bool *alone;  /* n: values that stand out from their stretch's level by more than 5 sd, and no step */
    double scale; /* the robust sd of a value about its level; 0: nothing varies */
    double phi; /* upper estimate of the correlation of neighbours that is left beside the steps, 0 .. 0.95 */
};

/* Candidates are qs_hunter's of y (of any magnitude, opts->p_max without a correction). The weakest go until
 * all that are left have
 * - opts->confirm_after values before and after them to the next change; the last one at least two after it,
 * - p < opts->p_max: Student's t between the neighbouring stretches of y, with the variance of means of AR(1)
 *   values (phi), for the best of all places of the two stretches (Miller & Siegmund 1982), and where these
 *   are less than half of the series, times the square of how often they fit into that half.
 *
 * opts->min_magnitude is not looked at. Status as of qs_hunter; everything is NULL and 0 then. To be freed.
 */
enum qs_status qs_steps_find(const double *x, size_t n, const struct qs_hunter_opts *opts,
                             struct qs_steps *out);
void qs_steps_free(struct qs_steps *steps);

/* The standard normal value that a step in the middle of n must pass. */
double qs_steps_least_z(size_t n, const struct qs_hunter_opts *opts);

/* The first autocorrelation of n residuals about a fit of so many numbers, without the bias that these bring:
 * at most 0.95, may be negative. */
double qs_ar1_phi(const double *rest, size_t n, size_t numbers);

/* How many times the variance of independent ones the mean of n AR(1) values has. */
double qs_ar1_inflation(double phi, size_t n);

#endif
