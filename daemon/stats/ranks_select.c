/* Order statistics of the n1 n2 differences of two sorted samples, without storing them. */
#include "stats/ranks_parts.h"
#include "stats/sum.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

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
