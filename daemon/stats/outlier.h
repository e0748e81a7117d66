/* Outliers are flagged and counted, never removed: only a recorded violation of a precondition excludes a
 * value, and that is not decided here. */
#ifndef QS_STATS_OUTLIER_H
#define QS_STATS_OUTLIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/status.h"

enum { QS_OUTLIER_LOW = 1, QS_OUTLIER_HIGH = 2, QS_OUTLIER_FAR = 4 };

struct qs_tukey {
    double lo, hi;         /* q.25 - 1.5 IQR, q.75 + 1.5 IQR, type 7; NaN where there are no fences */
    double far_lo, far_hi; /* the same with 3 IQR */
    size_t n_low, n_high;  /* values strictly outside the fences, far ones included */
    size_t n_far;
};

/* Tukey 1977. flags (n bytes of QS_OUTLIER_* in the order of x) may be NULL. No value is flagged when n < 8
 * (QS_ETOOFEW) and when the IQR is 0, where the fences would flag everything but the mode (QS_EDEGENERATE).
 * QS_ENODATA, QS_EDOM (a value, or fences that overflow), QS_ENOMEM. */
enum qs_status qs_tukey_flags(const double *x, size_t n, uint8_t *flags, struct qs_tukey *out);

struct qs_window_outliers {
    size_t window;     /* values, even; what was used */
    size_t n_assessed; /* the first window/2 values have no whole window and are not */
    size_t n_low, n_high;
};

/* Outliers of their own neighbourhood, for series that change level (Barrett et al. 2017, warmup_stats; x in
 * time order): strictly outside median +- 3 (P90 - P10) of the window x[i - window/2] .. x[i + window/2 - 1],
 * type 7, cut off at the end of the series. window 0 takes 200, and a tenth of n below 2000. flags as above.
 * A window whose P90 and P10 are equal flags nothing. QS_ETOOFEW: a window below 8, or n < window; QS_EDOM:
 * an odd window, too; otherwise as above. */
enum qs_status qs_window_flags(const double *x, size_t n, size_t window, uint8_t *flags,
                               struct qs_window_outliers *out);

/* Single values of a history that stand out: the generalised extreme studentised deviate test, Rosner 1983.
 * It flags, it does not remove. */
struct qs_gesd_opts {
    size_t most;  /* outliers to look for, 1 .. n-2; what masks one another is found up to this number */
    double alpha; /* chance to flag any value of a normal sample, in (0,1); 0.05 as a rule */
    bool robust;  /* median and MAD in place of mean and sd; the rate is then above alpha */
    struct qs_progress progress;
};

struct qs_gesd {
    size_t count;            /* values flagged */
    double statistic, limit; /* R_i and lambda_i of the last one flagged; of the first step where none is */
};

/* flags (n bytes of QS_OUTLIER_LOW or QS_OUTLIER_HIGH in the order of x) may be NULL. Of equal candidates the
 * last in time is taken. The limits hold from about 15 values on. QS_ENODATA; QS_ETOOFEW for n < 3; QS_EDOM
 * (a value, an option); QS_EDEGENERATE: nothing varies, or half of the values are equal and robust is set;
 * QS_ENOMEM; QS_ECANCELED; all flags are 0 then. */
enum qs_status qs_gesd_flags(const double *x, size_t n, const struct qs_gesd_opts *opts, uint8_t *flags,
                             struct qs_gesd *out);

#endif
