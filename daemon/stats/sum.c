#include "stats/sum.h"

#include <float.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static double mean_of(const double *x, size_t n)
{
    struct qs_acc acc = {0};
    for (size_t i = 0; i < n; i++)
        qs_acc_add(&acc, x[i]);
    double mean = qs_acc_value(&acc) / (double)n;
    struct qs_acc rest = {0};
    for (size_t i = 0; i < n; i++)
        qs_acc_add(&rest, x[i] - mean);
    return mean + qs_acc_value(&rest) / (double)n;
}

static double var_about(const double *x, size_t n, double mean)
{
    struct qs_acc squares = {0}, rest = {0};
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - mean;
        qs_acc_add(&squares, d * d);
        qs_acc_add(&rest, d);
    }
    double r = qs_acc_value(&rest);
    double ss = qs_acc_value(&squares) - r * (r / (double)n);
    return (ss < 0 ? 0 : ss) / (double)(n - 1); /* an overflow stays NaN */
}

enum qs_status qs_moments(const double *x, size_t n, struct qs_moments *out)
{
    *out = (struct qs_moments){.n = n, .mean = NAN, .min = NAN, .max = NAN, .var = NAN};
    if (n == 0)
        return QS_ENODATA;
    double min = x[0], max = x[0];
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            return QS_EDOM;
        min = x[i] < min ? x[i] : min;
        max = x[i] > max ? x[i] : max;
    }
    bool constant = !(min < max);
    double mean = constant ? x[0] : mean_of(x, n);
    double var = constant ? 0 : var_about(x, n, mean);
    if (!isfinite(mean) || !isfinite(var) || (!constant && var < DBL_MIN))
        return QS_EDOM;
    *out = (struct qs_moments){.n = n, .mean = mean, .min = min, .max = max, .var = n > 1 ? var : NAN};
    return QS_OK;
}

enum qs_status qs_check_values(const double *x, size_t n, size_t least)
{
    struct qs_moments m;
    enum qs_status status = qs_moments(x, n, &m);
    return status == QS_OK && n < least ? QS_ETOOFEW : status;
}

enum qs_status qs_moments_of_two(const double *x, size_t nx, const double *y, size_t ny,
                                 struct qs_moments m[2])
{
    enum qs_status sx = qs_moments(x, nx, &m[0]), sy = qs_moments(y, ny, &m[1]);
    return sx == QS_EDOM || sx == sy ? sx : sy == QS_EDOM ? sy : QS_ENODATA;
}

enum qs_status qs_sorted_copy(const double *x, size_t n, double **out)
{
    *out = NULL;
    if (n == 0)
        return QS_ENODATA;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return QS_EDOM;
    double *copy = malloc(n * sizeof *copy);
    if (!copy)
        return QS_ENOMEM;
    memcpy(copy, x, n * sizeof *copy);
    qs_sort(copy, n);
    *out = copy;
    return QS_OK;
}

size_t qs_sorted_place(const double *sorted, size_t n, double v)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (sorted[mid] < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void qs_sorted_insert(double *sorted, size_t n, double v)
{
    size_t at = qs_sorted_place(sorted, n, v);
    memmove(sorted + at + 1, sorted + at, (n - at) * sizeof *sorted);
    sorted[at] = v;
}

enum qs_status qs_logs(const double *x, size_t n, double *out)
{
    if (n == 0)
        return QS_ENODATA;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]) || !(x[i] > 0))
            return QS_EDOM;
        out[i] = log(x[i]);
    }
    return QS_OK;
}
