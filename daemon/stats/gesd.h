/* Single values of a history that stand out: the generalised extreme studentised deviate test, Rosner 1983.
 * It flags, it does not remove. */
#ifndef QS_STATS_GESD_H
#define QS_STATS_GESD_H

#include "stats/outlier.h"
#include "stats/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
