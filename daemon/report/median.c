#include "report/median.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stats/describe.h"

double qs_median_i64(const int64_t *v, size_t n)
{
    if (n == 0)
        return NAN;
    double *x = qs_malloc(n * sizeof *x), median;
    for (size_t i = 0; i < n; i++)
        x[i] = (double)v[i];
    if (qs_median(x, n, &median) != QS_OK)
        median = NAN;
    free(x);
    return median;
}
