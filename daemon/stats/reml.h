/* Variance between and within runs by restricted maximum likelihood: where runs are of unequal length it uses
 * what each says better than the method of moments (hier.h); for equal lengths both agree. */
#ifndef QS_STATS_REML_H
#define QS_STATS_REML_H

#include "stats/hier.h"
#include "stats/status.h"

struct qs_reml {
    double between, within; /* variances; between is 0 where no run effect was found */
    double mean, se;        /* of the runs, weighted by what each says; its standard error */
};

/* Patterson & Thompson 1971 for one-way random effects; the ratio of the variances by a search along the
 * likelihood, relative to 1e-8. QS_ENODATA; QS_ETOOFEW: k < 2 or no run with two values; QS_EDOM;
 * QS_EDEGENERATE: no run varies; QS_ENOMEM. Fields are NaN then. */
enum qs_status qs_reml(const struct qs_nested *data, struct qs_reml *out);

#endif
