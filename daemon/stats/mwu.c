#include "stats/ranks.h"

#include "stats/pick.h"
#include "stats/ranks_parts.h"
#include "stats/special.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static struct qs_mwu nothing(size_t nx, size_t ny)
{
    return (struct qs_mwu){.u = NAN, .cles = NAN, .cliff = NAN, .p = NAN, .p_min = NAN, .n = {nx, ny}};
}

static double normal_p(const struct qs_ranks_pair *pair, bool corrected)
{
    double n1 = (double)pair->n1, n2 = (double)pair->n2, n = n1 + n2;
    double sigma = sqrt(n1 * n2 / 12 * (n + 1 - pair->ties / (n * (n - 1))));
    double off = fabs(pair->u - n1 * n2 / 2);
    if (corrected)
        off = fmax(off - 0.5, 0);
    return sigma > 0 && pair->groups > 1 ? fmin(1, 2 * qs_pnorm(-off / sigma)) : 1;
}

static enum qs_status exact_p(const struct qs_ranks_pair *pair, double *ret)
{
    double *chance, tail = 0, all = (double)pair->n1 * (double)pair->n2;
    enum qs_status status = qs_ranks_distribution(pair->n1, pair->n2, &chance);
    if (status != QS_OK)
        return status;
    for (size_t u = 0; (double)u <= fmin(pair->u, all - pair->u); u++)
        tail += chance[u];
    free(chance);
    *ret = fmin(1, 2 * tail);
    return QS_OK;
}

/* Twice the midrank less two of each pooled value, ascending: whole numbers from 0. */
static void doubled_ranks(const struct qs_ranks_pair *pair, unsigned *scores)
{
    size_t from = 0;
    for (size_t i = 0, j = 0; qs_ranks_step(pair, &i, &j); from = i + j) {
        for (size_t k = from; k < i + j; k++)
            scores[k] = (unsigned)(from + i + j - 1);
    }
}

/* ways[m][s]: the subsets of m of the scores so far that sum to s. */
static void count_subsets(double *ways, const unsigned *scores, size_t n, size_t m_max, size_t s_max)
{
    ways[0] = 1;
    for (size_t k = 0; k < n; k++) {
        for (size_t m = qs_less(k + 1, m_max); m > 0; m--) {
            double *row = ways + m * (s_max + 1);
            const double *less = row - (s_max + 1);
            for (size_t s = scores[k]; s <= s_max; s++)
                row[s] += less[s - scores[k]];
        }
    }
}

static double both_tails(const double *ways, size_t s_max, size_t seen)
{
    double below = 0, above = 0, all = 0;
    for (size_t s = 0; s <= s_max; s++) {
        all += ways[s];
        below += s <= seen ? ways[s] : 0;
        above += s >= seen ? ways[s] : 0;
    }
    return fmin(1, 2 * fmin(below, above) / all);
}

/* The distribution of y's rank sum over all ways to deal out these very values (Streitberg & Roehmel 1986).
 */
static enum qs_status tied_p(const struct qs_ranks_pair *pair, double *ret)
{
    size_t n = pair->n1 + pair->n2, s_max = 0;
    unsigned *scores = calloc(n, sizeof *scores);
    if (!scores)
        return QS_ENOMEM;
    doubled_ranks(pair, scores);
    for (size_t k = n - pair->n2; k < n; k++)
        s_max += scores[k];
    double *ways = calloc((pair->n2 + 1) * (s_max + 1), sizeof *ways);
    if (ways) {
        /* the rank sum of y is u + n2(n2+1)/2; doubled, less two for each */
        size_t seen = (size_t)(2 * pair->u) + pair->n2 * (pair->n2 - 1);
        count_subsets(ways, scores, n, pair->n2, s_max);
        *ret = both_tails(ways + pair->n2 * (s_max + 1), s_max, seen);
    }
    free(scores);
    free(ways);
    return ways ? QS_OK : QS_ENOMEM;
}

static enum qs_status find_p(const struct qs_ranks_pair *pair, enum qs_ranks_method method,
                             struct qs_mwu *out)
{
    out->exact = qs_ranks_is_exact(pair, (int)method);
    if (!out->exact) {
        out->p = normal_p(pair, method != QS_RANKS_NORMAL_UNCORRECTED);
        return QS_OK;
    }
    if (pair->n1 > QS_RANKS_EXACT_MAX || pair->n2 > QS_RANKS_EXACT_MAX)
        return QS_EDOM;
    return pair->ties > 0 ? tied_p(pair, &out->p) : exact_p(pair, &out->p);
}

enum qs_status qs_mwu(const double *x, size_t nx, const double *y, size_t ny, enum qs_ranks_method method,
                      struct qs_mwu *out)
{
    struct qs_ranks_pair pair;
    *out = nothing(nx, ny);
    enum qs_status status = qs_ranks_pair_init(&pair, x, nx, y, ny);
    if (status != QS_OK)
        return status;
    out->u = pair.u;
    out->cles = pair.u / (double)nx / (double)ny;
    out->cliff = 2 * out->cles - 1;
    out->p_min = fmin(1, 2 / qs_ranks_arrangements(nx, ny));
    out->flags = pair.ties != 0 ? QS_FLAG_TIES : 0;
    status = find_p(&pair, method, out);
    qs_ranks_pair_done(&pair);
    return status;
}
