/* What rank methods for two samples stand on: sorted samples, the distribution of u, selected differences. */
#include "stats/ranks.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stats/pick.h"
#include "stats/ranks_parts.h"
#include "stats/sum.h"

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

/* Order statistics of the n1 n2 differences of two sorted samples, without storing them. */

enum { VALUES_A_LOOK = 10000 };

/* Differences in (lo, hi] hold the wanted one: `below` are <= lo, `upto` are <= hi. hi and next, the least
 * above lo, are differences themselves. */
struct bracket {
    double lo, hi, next;
    size_t below, upto;
};

struct census {
    size_t upto;  /* differences <= v */
    double under; /* the greatest of them */
    double over;  /* the least one above v */
};

/* One walk along the staircase that separates the differences <= v from the others. */
static struct census take_census(const struct qs_ranks_pair *p, double v)
{
    struct census c = {.under = -INFINITY, .over = INFINITY};
    size_t j = 0;
    for (size_t i = 0; i < p->n1; i++) {
        double x = p->x[i];
        while (j < p->n2 && p->y[j] - x <= v)
            j++;
        c.upto += j;
        if (j > 0 && p->y[j - 1] - x > c.under)
            c.under = p->y[j - 1] - x;
        if (j < p->n2 && p->y[j] - x < c.over)
            c.over = p->y[j] - x;
    }
    return c;
}

static void narrow(struct bracket *b, const struct qs_ranks_pair *p, size_t k, double v)
{
    struct census c = take_census(p, v);
    if (c.upto >= k) {
        b->hi = c.under;
        b->upto = c.upto;
    } else {
        b->lo = v;
        b->next = c.over;
        b->below = c.upto;
    }
}

/* Doubles in their order as integers: halving the distance of keys ends after 64 steps, however the values
 * lie. */
static int64_t key_of(double v)
{
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits >= 0 ? bits : INT64_MIN - bits;
}

static double value_of(int64_t key)
{
    int64_t bits = key >= 0 ? key : INT64_MIN - key;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static double middle_of(const struct bracket *b)
{
    int64_t lo = key_of(b->lo), hi = key_of(b->hi);
    return value_of(lo + (int64_t)(((uint64_t)hi - (uint64_t)lo) / 2));
}

/* Where the wanted rank would lie if ranks rose in proportion, a sixteenth of the bracket to one side, so
 * that both ends come nearer. */
static double guess(const struct bracket *b, size_t k, bool to_right)
{
    double span = (double)(b->upto - b->below), share = (double)(k - b->below) / span;
    share += to_right ? 1.0 / 16 : -1.0 / 16;
    double v = b->lo * (1 - share) + b->hi * share;
    return v > b->lo && v < b->hi ? v : middle_of(b);
}

/* Each walk leaves about the same part of what was left: the logarithm counts walks. */
static double share_of(const struct bracket *b, const struct qs_ranks_pair *p)
{
    double all = log((double)p->n1) + log((double)p->n2), least = log(QS_RANKS_SCRATCH);
    return all > least ? (all - log((double)(b->upto - b->below))) / (all - least) : 0;
}

/* False where it was ended. */
static bool close_in(struct bracket *b, const struct qs_ranks_pair *p, size_t k,
                     const struct qs_progress *progress)
{
    bool to_right = false, halve = false;
    while (b->next < b->hi && b->upto - b->below > QS_RANKS_SCRATCH) {
        if (p->n1 + p->n2 > VALUES_A_LOOK && !qs_progress_go_on(progress, share_of(b, p)))
            return false;
        size_t before = b->upto - b->below;
        narrow(b, p, k, halve ? middle_of(b) : guess(b, k, to_right));
        to_right = !to_right;
        halve = !halve && b->upto - b->below > before / 4 * 3;
    }
    return true;
}

static size_t gather(const struct bracket *b, const struct qs_ranks_pair *p, double *out)
{
    size_t n = 0, from = 0;
    for (size_t i = 0; i < p->n1; i++) {
        while (from < p->n2 && p->y[from] - p->x[i] <= b->lo)
            from++;
        for (size_t j = from; j < p->n2 && p->y[j] - p->x[i] <= b->hi; j++)
            out[n++] = p->y[j] - p->x[i];
    }
    return n;
}

bool qs_ranks_select(const struct qs_ranks_pair *pair, size_t k, double *scratch,
                     const struct qs_progress *progress, double ret[2])
{
    double least = pair->y[0] - pair->x[pair->n1 - 1], most = pair->y[pair->n2 - 1] - pair->x[0];
    struct bracket b = {.lo = -INFINITY, .hi = most, .next = least, .below = 0, .upto = pair->n1 * pair->n2};
    b.lo = nextafter(least, -INFINITY);
    if (!close_in(&b, pair, k, progress))
        return false;
    if (b.next >= b.hi) {
        ret[0] = b.hi;
    } else {
        qs_sort(scratch, gather(&b, pair, scratch));
        ret[0] = scratch[k - b.below - 1];
    }
    struct census c = take_census(pair, ret[0]);
    ret[1] = c.upto > k || !isfinite(c.over) ? ret[0] : c.over;
    return true;
}
