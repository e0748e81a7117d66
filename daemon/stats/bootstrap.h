/* Bootstrap intervals for a statistic of one sample. The same (seed, stream) give the same numbers. The
 * bootstrap is not free of the assumption that values are independent: where neighbours correlate, use
 * blocks, or qs_mean_ci with an effective sample size. */
#ifndef QS_STATS_BOOTSTRAP_H
#define QS_STATS_BOOTSTRAP_H

#include "stats/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two statistics for the options below, of n >= 1 finite values, which may be reordered. user: NULL. */
double qs_statistic_mean(double *x, size_t n, void *user);
double qs_statistic_median(double *x, size_t n, void *user);

enum { QS_BOOT_RESAMPLES = 10000, QS_BOOT_RESAMPLES_MIN = 100, QS_BOOT_RESAMPLES_MAX = 10000000 };

struct qs_boot_opts {
    /* Of n >= 1 finite values, which it may reorder; not finite where it is not defined. */
    double (*statistic)(double *x, size_t n, void *user);
    void *user;       /* borrowed */
    double level;     /* of both intervals, in (0,1) */
    size_t resamples; /* 0: QS_BOOT_RESAMPLES */
    uint64_t seed, stream;
    /* As Haskell's statistics (futhark, criterion): order statistics by rounded index, resamples that equal
     * the estimate not counted for z0, which biases it where values are tied. */
    bool haskell;
    struct qs_progress progress;
};

struct qs_boot {
    double estimate;
    double bias, se;     /* mean and sd (n-1) of the resamples' statistics, the mean less the estimate */
    double z0, accel;    /* BCa's bias correction and acceleration; NaN from blocks */
    struct qs_ci pct;    /* percentile interval: quantiles (type 7) of the resamples' statistics */
    struct qs_ci bca;    /* Efron 1987; the percentile one with QS_FLAG_PERCENTILE where it is not defined */
    size_t resamples;    /* what was used */
    size_t block_length; /* values; 1: single values */
};

/* Draws n of n values with replacement; for mean and median of QS_RESAMPLE_MANY values and more without
 * drawing each of them, as exact in distribution (resample.h). bca: z0 = Phi^-1((#{t* < t} + #{t* = t}/2)/R),
 * a = sum d^3/(6 (sum d^2)^1.5) with d from the jackknife (0 where all d are 0). Costs resamples + n
 * evaluations of the statistic (the jackknife of mean and median is direct). QS_ENODATA; QS_EDOM: bad values,
 * options, or a statistic that is not defined for a resample; QS_ETOOFEW: n = 1 (the estimate is set);
 * QS_EDEGENERATE: the statistic is not defined for x; QS_ENOMEM; QS_ECANCELED. Resamples that do not vary
 * give points and QS_FLAG_EXACT. */
enum qs_status qs_boot_ci(const double *x, size_t n, const struct qs_boot_opts *opts, struct qs_boot *out);

/* Blocks of neighbours (Kunsch 1989), circular (Politis & Romano 1992) within each unbroken stretch, so that
 * every value is drawn equally often. Breaks as in dependence.h. block_length 0 takes qs_block_length of
 * qs_ess. No BCa. Status as qs_boot_ci; QS_EDOM also for a block_length > n and for bad breaks. */
enum qs_status qs_block_boot_ci(const double *x, size_t n, const size_t *breaks, size_t n_breaks,
                                size_t block_length, const struct qs_boot_opts *opts, struct qs_boot *out);

/* n^(1/3) times (3/2 ((tau^2-1)/(2 tau))^2)^(1/3), at least n^(1/3), at most n/4, rounded up: the length that
 * is best for the mean of an AR(1) series (Politis & White 2004, circular) with the autocorrelation time tau.
 */
size_t qs_block_length(size_t n, double tau);

#endif
