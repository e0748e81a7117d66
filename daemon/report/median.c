#include "report/median.h"

#include <math.h>

#include "stats/describe.h"

double qs_median_ns(const double *v, size_t n)
{
    double median;
    return n > 0 && qs_median(v, n, &median) == QS_OK ? median : NAN;
}
