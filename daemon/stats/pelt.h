/* Segments of constant mean and variance: the best segmentation under a penalty for each change. Killick,
 * Fearnhead & Eckley 2012 (PELT), normal likelihood. For warm-up inside a run, and as a second opinion. */
#ifndef QS_STATS_PELT_H
#define QS_STATS_PELT_H

#include "stats/status.h"

#include <stdbool.h>
#include <stddef.h>

struct qs_pelt_opts {
    double penalty;    /* per change; NaN takes 15 ln n */
    size_t least;      /* values in a segment, >= 2; 0 takes max(5, ceil(n/100)): shorter ones fit outliers */
    bool raw;          /* as they are, and variances of 0 taken as 1e-11 (R's changepoint); otherwise relative
                          to median and scale, so that the unit of the values does not matter */
    double resolution; /* of the clock, >= 0, in the unit of the values: no segment varies by less than its
                          quantisation, resolution^2/12; not used with raw */
    struct qs_progress progress;
};

/* 15 ln n, the default least, standardised, 0, nobody asks. */
struct qs_pelt_opts qs_pelt_opts_default(void);

/* Minimises sum of cost(segment) + penalty a change, cost = m (ln 2 pi + ln v + 1), v the variance with
 * denominator m. changes has room for n/2; *count entries are set, ascending: the first value of each segment
 * but the first. A change of t becomes a candidate after `least` values, and what it beats is dropped only
 * then, so that the optimum is exact for any `least`. Up to n^2/2 steps where little changes. QS_ENODATA;
 * QS_ETOOFEW for n < 2; QS_EDOM (a value, an option); QS_ENOMEM; QS_ECANCELED; *count is 0 then, as for
 * constant values. */
enum qs_status qs_pelt(const double *x, size_t n, const struct qs_pelt_opts *opts, size_t *changes,
                       size_t *count);

/* The same search for changes of the mean alone, as R's cpt.mean on standardised values: cost = sum of
 * squares about the mean + ln m (Zhang & Siegmund 2007), penalty 3 ln n, segments of 1 value and more. The ln
 * m makes the search not quite exact, as it does R's. Status as for qs_pelt; changes has room for n. */
enum qs_status qs_pelt_mean(const double *x, size_t n, const struct qs_progress *progress, size_t *changes,
                            size_t *count);

/* The same search for changes of the distribution, whatever it is: Haynes, Fearnhead & Eckley 2017 (ED-PELT),
 * as in perfolizer. cost = -2 ln(2n-1)/k sum_i m (f_i ln f_i + (1-f_i) ln(1-f_i)), f_i the share of the
 * segment below the quantile p_i = 1/(1 + (2n-1)^-z), z = -1 + (2i+1)/k, of the series, i < k = ceil(4 ln n);
 * equal values count half. Penalty 3 ln n; least >= 1, 20 as a rule. Memory for k (n+1) numbers. changes and
 * status as for qs_pelt. */
enum qs_status qs_ed_pelt(const double *x, size_t n, size_t least, const struct qs_progress *progress,
                          size_t *changes, size_t *count);

#endif
