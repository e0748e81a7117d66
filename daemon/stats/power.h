/* What an experiment can see, and how large it must be. Standard deviations are those of the natural logs of
 * run statistics (of block differences for paired designs), effects are ratios: 0.02 is 2 %. */
#ifndef QS_STATS_POWER_H
#define QS_STATS_POWER_H

#include <stddef.h>

struct qs_power_opts {
    double alpha;            /* two-sided level in (0,1), 0.05 as a rule */
    double power;            /* wanted chance to see the effect, in (alpha/2, 1), 0.8 as a rule */
    double resolution_ratio; /* timer resolution over median; what is answered where nothing varies; >= 0 */
};

/* Minimum detectable effect exp((t_{1-a/2,nu} + t_{power,nu}) se) - 1 of k1 against k2 independent runs with
 * Welch's nu. NaN: fewer than 2 runs, or a bad option. Against the noncentral t it is 0.2 % low at 5 runs. */
double qs_mde_welch(double sd1, size_t k1, double sd2, size_t k2, const struct qs_power_opts *opts);

/* The same for k paired blocks: se = sd/sqrt(k), nu = k-1. */
double qs_mde_paired(double sd, size_t k, const struct qs_power_opts *opts);

/* The smallest number of runs per arm >= 2 that sees a change of effect_ratio > 0:
 * (t_{1-a/2,2k-2} + t_{power,2k-2}) s sqrt(2/k) <= ln(1 + effect), s^2 the mean of the two variances.
 * 0: not attainable with QS_RUNS_MAX, or a bad argument. */
enum { QS_RUNS_MAX = 1000000 };
size_t qs_runs_needed_welch(double sd1, double sd2, double effect_ratio, const struct qs_power_opts *opts);

/* The same number of blocks >= 2: (t_{1-a/2,k-1} + t_{power,k-1}) s/sqrt(k) <= ln(1 + effect). */
size_t qs_blocks_needed(double sd, double effect_ratio, const struct qs_power_opts *opts);

#endif
