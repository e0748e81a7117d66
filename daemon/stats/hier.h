/* Runs of iterations: how much varies between runs, and what the mean over runs is worth. tree.h does the
 * same for any number of levels. */
#ifndef QS_STATS_HIER_H
#define QS_STATS_HIER_H

#include <stddef.h>
#include <stdint.h>

#include "stats/status.h"
#include "stats/tree.h"

/* k runs: run j holds v[off[j]] .. v[off[j+1]-1]; off has k+1 ascending entries. All borrowed. */
struct qs_nested {
    const double *v;
    const size_t *off;
    size_t k;
};

/* The same runs as a tree of one level. */
struct qs_tree qs_nested_tree(const struct qs_nested *data);

/* One-way random effects, method of moments (ANOVA). */
struct qs_varcomp {
    size_t k, n; /* runs, values */
    double n0;   /* values per run that count: (N - sum n_j^2/N)/(k-1) */
    double ms_between, ms_within, f;
    double t1;            /* variance within runs: MS_within */
    double t2;            /* variance between runs: (MS_between - MS_within)/n0, 0 where that is negative */
    double icc;           /* t2/(t1+t2); NaN where both are 0 */
    double grand_mean;    /* of all values */
    double mean_of_means; /* each run counts once */
    double s2_means;      /* variance of the run means, which holds var(A) + var(X)/n */
    unsigned flags;       /* QS_FLAG_CLAMPED: no run effect was found */
};

/* QS_ENODATA (no run, or an empty one); QS_ETOOFEW: k < 2 or no run with two values (what can be computed is
 * set); QS_EDOM; QS_ENOMEM. */
enum qs_status qs_varcomp(const struct qs_nested *data, struct qs_varcomp *out);

/* Mean of run means +- t_{1-a/2,k-1} sqrt(var(run means)/k). Needs no variance components and holds its level
 * for few runs, which Kalibera et al. 2005 eq. 5 does not. QS_ETOOFEW for k < 2; otherwise as qs_varcomp. */
enum qs_status qs_hier_ci(const struct qs_nested *data, double level, struct qs_ci *out);

/* Kalibera, Bulej & Tuma 2005 as printed, to reproduce it; README.md says what is wrong with it. */
struct qs_kalibera2005 {
    double mean;       /* eq. of section 5.2: all samples */
    double s2_x;       /* eq. 3: mean of the variances of the runs */
    double s2_a;       /* eq. 4: variance of the run means */
    double se;         /* of eq. 5: sqrt((n s2_a + s2_x)/(k n)) */
    double df;         /* k(n-1) */
    struct qs_ci ci;   /* eq. 5 with the normal quantile */
    struct qs_ci ci_t; /* eq. 5 with Student's, df: for small k n */
};

/* Runs of one length n >= 2, k >= 2 of them: QS_EDOM for unequal lengths, to which the equations do not
 * apply; QS_ETOOFEW; otherwise as qs_varcomp. */
enum qs_status qs_hier_kalibera2005(const struct qs_nested *data, double level, struct qs_kalibera2005 *out);

/* Eq. 8: ceil(sqrt(w s2_x/s2_a)) samples a run where starting one costs as much as w samples; at least 1.
 * +Inf for s2_a = 0, NaN for NaN. With t1 and t2 of qs_varcomp in place of s2_x and s2_a it is corrected. */
double qs_kalibera2005_samples(double s2_x, double s2_a, double w);

/* Hierarchical bootstrap of the ratio of two means: units are drawn with replacement at each level, the
 * highest first, as the experiment drew them. Kalibera & Jones 2013 (libkalibera). */
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
