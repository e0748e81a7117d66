/* Hartigan's dip: how far the values are from having one mode. */
#ifndef QS_STATS_DIP_H
#define QS_STATS_DIP_H

#include "stats/status.h"

#include <stddef.h>

struct qs_dip {
    double dip; /* the largest distance to the nearest distribution with one mode, 1/(2n) .. 0.25 */
    double p; /* that uniform values dip as far, from a table, 0.001 .. 1: 0.001 says at most that; 1 for n <
                 4 */
};

/* Hartigan & Hartigan 1985 of ascending values. QS_ENODATA, QS_EDOM (not finite), QS_ENOMEM: fields are NaN.
 */
enum qs_status qs_dip(const double *sorted, size_t n, struct qs_dip *out);

#endif
