#include "stats/proportion.h"

#include "stats/pick.h"

#include <math.h>

static double ln_choose(size_t n, size_t k)
{
    return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

double qs_fisher_exact(size_t hit1, size_t n1, size_t hit2, size_t n2)
{
    const double slack = 1 + 1e-7; /* R's allowance for ties in floating point */
    if (hit1 > n1 || hit2 > n2)
        return NAN;
    size_t hits = hit1 + hit2, n = n1 + n2;
    if (n1 == 0 || n2 == 0 || hits == 0 || hits == n)
        return 1;
    double all = ln_choose(n, hits), seen = exp(ln_choose(n1, hit1) + ln_choose(n2, hit2) - all), p = 0;
    size_t lo = hits > n2 ? hits - n2 : 0, hi = qs_less(hits, n1);
    for (size_t k = lo; k <= hi; k++) {
        double one = exp(ln_choose(n1, k) + ln_choose(n2, hits - k) - all);
        if (one <= seen * slack)
            p += one;
    }
    return fmin(1, p);
}
