/* What rank methods for two samples stand on: sorted samples, the distribution of u, selected differences. */
#include "stats/ranks.h"

#include "stats/pick.h"
#include "stats/ranks_parts.h"
#include "stats/sum.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool qs_ranks_step(const struct qs_ranks_pair *pair, size_t *i, size_t *j)
{
    if (*i == pair->n1 && *j == pair->n2)
        return false;
    bool from_x = *i < pair->n1 && (*j == pair->n2 || pair->x[*i] <= pair->y[*j]);
    double value = from_x ? pair->x[*i] : pair->y[*j];
    while (*i < pair->n1 && !(pair->x[*i] > value))
        ++*i;
    while (*j < pair->n2 && !(pair->y[*j] > value))
        ++*j;
    return true;
}

static void pool(struct qs_ranks_pair *p)
{
    size_t from_i = 0, from_j = 0;
    for (size_t i = 0, j = 0; qs_ranks_step(p, &i, &j); from_i = i, from_j = j) {
        double a = (double)(i - from_i), b = (double)(j - from_j), t = a + b;
        p->u += b * ((double)from_i + a / 2);
        p->ties += t * (t - 1) * (t + 1);
        p->groups++;
    }
}

enum qs_status qs_ranks_pair_init(struct qs_ranks_pair *pair, const double *x, size_t n1, const double *y,
                                  size_t n2)
{
    *pair = (struct qs_ranks_pair){.n1 = n1, .n2 = n2};
    enum qs_status sx = qs_sorted_copy(x, n1, &pair->x), sy = qs_sorted_copy(y, n2, &pair->y);
    if (sx == QS_OK && sy == QS_OK) {
        pool(pair);
        return QS_OK;
    }
    qs_ranks_pair_done(pair);
    if (sx == QS_EDOM || sy == QS_EDOM)
        return QS_EDOM;
    return sx != QS_OK ? sx : sy;
}

void qs_ranks_pair_done(struct qs_ranks_pair *pair)
{
    free(pair->x);
    free(pair->y);
    pair->x = pair->y = NULL;
}

bool qs_ranks_is_exact(const struct qs_ranks_pair *pair, int method)
{
    if (method != QS_RANKS_AUTO)
        return method == QS_RANKS_EXACT;
    return pair->n1 < QS_RANKS_EXACT_BELOW && pair->n2 < QS_RANKS_EXACT_BELOW && !(pair->ties > 0);
}

double qs_ranks_arrangements(size_t n1, size_t n2)
{
    double all = 1;
    size_t less = qs_less(n1, n2), more = qs_more(n1, n2);
    for (size_t i = 1; i <= less && isfinite(all); i++)
        all = all * (double)(more + i) / (double)i;
    return isfinite(all) ? round(all) : all;
}

size_t qs_mwu_runs_needed(double alpha)
{
    if (!(alpha > 0 && alpha < 1))
        return 0;
    size_t n = 1;
    while (!(2 / qs_ranks_arrangements(n, n) < alpha))
        n++;
    return n;
}

/* w(m,n,u), the ways in which m and n values give u, is w(m-1,n,u-n) + w(m,n-1,u): the highest value is one
 * of the m, above all n, or one of the n. Row m of ways holds it for the present n, up to the middle. */
static void count_ways(double *ways, size_t n1, size_t n2, size_t half)
{
    for (size_t m = 0; m <= n1; m++)
        ways[m * (half + 1)] = 1;
    for (size_t n = 1; n <= n2; n++) {
        for (size_t m = 1; m <= n1; m++) {
            double *row = ways + m * (half + 1);
            const double *above = row - (half + 1);
            for (size_t u = n; u <= half; u++)
                row[u] += above[u - n];
        }
    }
}

enum qs_status qs_ranks_distribution(size_t n1, size_t n2, double **ret)
{
    size_t all = n1 * n2, half = all / 2;
    double *ways = calloc((n1 + 1) * (half + 1), sizeof *ways), *p = malloc((all + 1) * sizeof *p);
    *ret = NULL;
    if (!ways || !p) {
        free(ways);
        free(p);
        return QS_ENOMEM;
    }
    count_ways(ways, n1, n2, half);
    double total = qs_ranks_arrangements(n1, n2);
    const double *last = ways + n1 * (half + 1);
    for (size_t u = 0; u <= half; u++)
        p[u] = p[all - u] = last[u] / total;
    free(ways);
    *ret = p;
    return QS_OK;
}
