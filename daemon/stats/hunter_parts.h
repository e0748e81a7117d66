/* Inside Hunter, for its test the form that upstream has, to compare with upstream's expectations. */
#ifndef QS_STATS_HUNTER_PARTS_H
#define QS_STATS_HUNTER_PARTS_H

#include "stats/hunter.h"

enum qs_hunter_form {
    QS_HUNTER_CORRECTED,
    QS_HUNTER_OTAVA /* variances with denominator n in the t test; after point i is dropped, the statistics of
                       the second neighbour on the right are computed again instead of that on the left */
};

/* qs_hunter in one of its forms. */
enum qs_status qs_hunter_run(const double *x, size_t n, const struct qs_hunter_opts *opts,
                             enum qs_hunter_form form, struct qs_change_point *out, size_t *count);

/* max(|b/a - 1|, |a/b - 1|); +Inf from or to 0, 0 for two zeros. */
double qs_change_magnitude(double a, double b);

#endif
