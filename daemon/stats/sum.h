/* Compensated sums and the moments that everything else starts from. */
#ifndef QS_STATS_SUM_H
#define QS_STATS_SUM_H

#include "stats/status.h"

#include <math.h>
#include <stddef.h>

/* Neumaier 1974: the lost low parts are gathered in comp. Start from {0}. */
struct qs_acc {
    double sum, comp;
};

static inline void qs_acc_add(struct qs_acc *acc, double x)
{
    double t = acc->sum + x;
    acc->comp += fabs(acc->sum) >= fabs(x) ? (acc->sum - t) + x : (x - t) + acc->sum;
    acc->sum = t;
}

static inline double qs_acc_value(const struct qs_acc *acc)
{
    return acc->sum + acc->comp;
}

struct qs_moments {
    size_t n;
    double mean, min, max;
    double var; /* denominator n-1; NaN for n = 1, exactly 0 for constant data */
};

/* Two passes with compensated sums. QS_ENODATA; QS_EDOM for NaN, infinities, and values whose squared
 * deviations overflow or underflow (fields NaN then, n is set). */
enum qs_status qs_moments(const double *x, size_t n, struct qs_moments *out);

/* Whether there are at least `least` values, all of which qs_moments takes: its status, else QS_ETOOFEW. */
enum qs_status qs_check_values(const double *x, size_t n, size_t least);

/* The moments of two samples. QS_EDOM of either comes before QS_ENODATA. */
enum qs_status qs_moments_of_two(const double *x, size_t nx, const double *y, size_t ny,
                                 struct qs_moments m[2]);

/* A sorted copy of n finite values, owned by the caller (free()). QS_ENODATA, QS_EDOM, QS_ENOMEM. */
enum qs_status qs_sorted_copy(const double *x, size_t n, double **out);

/* Sorts in place, ascending; no NaN. A zero may lose its sign. */
void qs_sort(double *x, size_t n);
/* The same; false where it was ended, x is in no order then. */
bool qs_sort_asking(double *x, size_t n, const struct qs_progress *progress);

/* How many of n ascending values are below v. */
size_t qs_sorted_place(const double *sorted, size_t n, double v);
/* Puts v into its place among n ascending values; sorted has room for one more. */
void qs_sorted_insert(double *sorted, size_t n, double v);

/* The natural logarithms of n values into out (n doubles, may be x). QS_EDOM where one is not finite or not
 * positive, QS_ENODATA. */
enum qs_status qs_logs(const double *x, size_t n, double *out);

#endif
