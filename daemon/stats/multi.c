#include "stats/multi.h"

#include "stats/special.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

const char *qs_multi_name(enum qs_multi_method method)
{
    static const char *const names[] = {"bh", "by", "holm"};
    return (unsigned)method < sizeof names / sizeof *names ? names[method] : "unknown";
}

struct ranked {
    double p;
    size_t at;
};

static int by_p(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->p, y = ((const struct ranked *)b)->p;
    return (x > y) - (x < y);
}

/* From the largest p down: an adjusted p is at most that of the next larger one. */
static void step_up(const struct ranked *sorted, size_t m, double factor, double *out)
{
    double least = 1;
    for (size_t i = m; i > 0; i--) {
        least = fmin(least, factor * (double)m * sorted[i - 1].p / (double)i);
        out[sorted[i - 1].at] = least;
    }
}

static void step_down(const struct ranked *sorted, size_t m, double *out)
{
    double most = 0;
    for (size_t i = 0; i < m; i++) {
        most = fmin(1, fmax(most, (double)(m - i) * sorted[i].p));
        out[sorted[i].at] = most;
    }
}

static double harmonic(size_t m)
{
    double sum = 0;
    for (size_t i = m; i > 0; i--)
        sum += 1 / (double)i;
    return sum;
}

static bool are_chances(const double *p, size_t m)
{
    for (size_t i = 0; i < m; i++)
        if (!(p[i] >= 0 && p[i] <= 1))
            return false;
    return true;
}

enum qs_status qs_adjust(const double *p, size_t m, enum qs_multi_method method, double *out)
{
    if (m == 0)
        return QS_ENODATA;
    bool valid = are_chances(p, m);
    struct ranked *sorted = valid ? malloc(m * sizeof *sorted) : NULL;
    if (!sorted) {
        for (size_t i = 0; i < m; i++)
            out[i] = NAN;
        return valid ? QS_ENOMEM : QS_EDOM;
    }
    for (size_t i = 0; i < m; i++)
        sorted[i] = (struct ranked){p[i], i};
    qsort(sorted, m, sizeof *sorted, by_p);
    if (method == QS_MULTI_HOLM)
        step_down(sorted, m, out);
    else
        step_up(sorted, m, method == QS_MULTI_BY ? harmonic(m) : 1, out);
    free(sorted);
    return QS_OK;
}

double qs_fcr_level(size_t selected, size_t m, double q)
{
    if (selected == 0 || selected > m || !(q > 0 && q < 1))
        return NAN;
    return 1 - (double)selected * q / (double)m;
}

double qs_pocock_p(size_t looks)
{
    static const double z[] = {1.959963984540054, 2.178, 2.289, 2.361, 2.413};
    return looks >= 1 && looks <= sizeof z / sizeof *z ? 2 * qs_pnorm(-z[looks - 1]) : NAN;
}
