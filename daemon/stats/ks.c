#include "stats/ks.h"

#include "stats/pick.h"
#include "stats/ranks_parts.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

double qs_pkolmogorov_upper(double lambda)
{
    if (isnan(lambda))
        return NAN;
    if (!(lambda > 0))
        return 1;
    double sum = 0;
    if (lambda < 1) { /* both series reach a double's precision within these terms at 1 */
        double q = M_PI * M_PI / (8 * lambda * lambda);
        for (int k = 1; k < 20; k += 2)
            sum += exp(-k * k * q);
        return 1 - sqrt(2 * M_PI) / lambda * sum;
    }
    for (int k = 10; k > 0; k--)
        sum += (k % 2 ? 2 : -2) * exp(-2.0 * k * k * lambda * lambda);
    return sum;
}

/* |i/n1 - j/n2| n1 n2, in whole numbers */
static size_t distance(size_t i, size_t j, size_t n1, size_t n2)
{
    size_t a = i * n2, b = j * n1;
    return a > b ? a - b : b - a;
}

/* ends[i+j]: the first i+j pooled values and the next one differ, so that the distance counts there. Returns
 * the greatest one. */
static size_t mark_ends(const struct qs_ranks_pair *pair, bool *ends)
{
    size_t most = 0;
    for (size_t i = 0, j = 0; qs_ranks_step(pair, &i, &j);) {
        size_t here = distance(i, j, pair->n1, pair->n2);
        most = qs_more(most, here);
        if (ends)
            ends[i + j] = true;
    }
    return most;
}

/* crossed[j]: the chance that a random way to (i, j) was at the distance somewhere. The last step of a way to
 * (i, j) came from (i-1, j) with chance i/(i+j). */
static double chance_to_cross(size_t n1, size_t n2, const bool *ends, size_t most, double *crossed)
{
    for (size_t i = 0; i <= n1; i++) {
        for (size_t j = 0; j <= n2; j++) {
            double from_i = crossed[j] * (double)i;
            double from_j = j > 0 ? crossed[j - 1] * (double)j : 0;
            if (ends[i + j] && distance(i, j, n1, n2) >= most)
                crossed[j] = 1;
            else
                crossed[j] = i + j > 0 ? (from_i + from_j) / (double)(i + j) : 0;
        }
    }
    return crossed[n2];
}

static enum qs_status exact_p(const struct qs_ranks_pair *pair, struct qs_ks2 *out)
{
    bool *ends = calloc(pair->n1 + pair->n2 + 1, sizeof *ends);
    double *crossed = calloc(pair->n2 + 1, sizeof *crossed);
    if (ends && crossed) {
        size_t most = mark_ends(pair, ends);
        out->p = most > 0 ? fmin(1, chance_to_cross(pair->n1, pair->n2, ends, most, crossed)) : 1;
        out->exact = true;
    }
    free(ends);
    free(crossed);
    return out->exact ? QS_OK : QS_ENOMEM;
}

enum qs_status qs_ks2(const double *x, size_t nx, const double *y, size_t ny, struct qs_ks2 *out)
{
    static const struct qs_ks2 none = {.d = NAN, .p = NAN, .p_asym = NAN};
    struct qs_ranks_pair pair;
    size_t all;
    *out = none;
    if (__builtin_mul_overflow(nx, ny, &all))
        return QS_ENOMEM;
    enum qs_status status = qs_ranks_pair_init(&pair, x, nx, y, ny);
    if (status != QS_OK)
        return status;
    double n1 = (double)nx, n2 = (double)ny;
    out->d = (double)mark_ends(&pair, NULL) / n1 / n2;
    out->p = out->p_asym = qs_pkolmogorov_upper(out->d * sqrt(n1 / (n1 + n2) * n2));
    out->flags = pair.ties != 0 ? QS_FLAG_TIES : 0;
    if (all < QS_KS_EXACT_BELOW)
        status = exact_p(&pair, out);
    if (status != QS_OK)
        *out = none;
    qs_ranks_pair_done(&pair);
    return status;
}
