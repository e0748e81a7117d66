/* What the files of ranks.h share; nobody else includes this. */
#ifndef QS_STATS_RANKS_PARTS_H
#define QS_STATS_RANKS_PARTS_H

#include "stats/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Two samples, ascending. */
struct qs_ranks_pair {
    double *x, *y; /* owned; free both with qs_ranks_pair_done */
    size_t n1, n2;
    double u;      /* #(y > x) + #(y = x)/2 */
    double ties;   /* sum of t^3 - t over the groups of equal values in both; 0: none */
    double groups; /* distinct values in both */
};

/* QS_ENODATA, QS_EDOM, QS_ENOMEM: nothing to free then. */
enum qs_status qs_ranks_pair_init(struct qs_ranks_pair *pair, const double *x, size_t n1, const double *y,
                                  size_t n2);
void qs_ranks_pair_done(struct qs_ranks_pair *pair);

/* Moves *i and *j, values of x and y passed, over the next distinct value of both; false where none is left.
 */
bool qs_ranks_step(const struct qs_ranks_pair *pair, size_t *i, size_t *j);

/* AUTO by R's rule; EXACT as it stands. */
bool qs_ranks_is_exact(const struct qs_ranks_pair *pair, int method);

/* C(n1+n2, n1), infinite where it is beyond doubles. */
double qs_ranks_arrangements(size_t n1, size_t n2);

/* The null distribution of u without ties: *ret[k] = P(U = k), k = 0..n1 n2, owned by the caller. All its
 * sums have positive terms. n1, n2 >= 1. QS_ENOMEM. */
enum qs_status qs_ranks_distribution(size_t n1, size_t n2, double **ret);

/* ret[0] is the k-th smallest, 1 <= k <= n1 n2, of the differences y_j - x_i, which must be finite; ret[1]
 * the one after it (the same for the last). scratch holds QS_RANKS_SCRATCH doubles. False where it was ended.
 */
enum { QS_RANKS_SCRATCH = 4096 };
bool qs_ranks_select(const struct qs_ranks_pair *pair, size_t k, double *scratch,
                     const struct qs_progress *progress, double ret[2]);

#endif
