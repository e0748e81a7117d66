#include "stats/modality.h"

#include "stats/pick.h"

#include <math.h>
#include <stdlib.h>

/* Touching points of the convex minorant from high down to low, or of the concave majorant from low up to
 * high. */
struct chain {
    size_t *at; /* borrowed */
    size_t n;
};

struct hull {
    const double *x;     /* borrowed: n ascending values */
    size_t n, low, high; /* the interval in which the mode must be */
    size_t *below;       /* owned: the touching point before each but the first, of the minorant of x[0..i] */
    size_t *above;       /* owned: the touching point after each but the last, of the majorant of x[i..] */
    struct chain minor, major;
};

/* Whether the slope of ranks from a to b is steeper than from b to c; differences in the order of the values.
 */
static bool is_convex(const double *x, size_t a, size_t b, size_t c)
{
    return (x[c] - x[b]) * ((double)b - (double)a) < (x[b] - x[a]) * ((double)c - (double)b);
}

static void touch(struct hull *h)
{
    for (size_t i = 1; i < h->n; i++) {
        size_t b = i - 1;
        while (b > 0 && !is_convex(h->x, h->below[b], b, i))
            b = h->below[b];
        h->below[i] = b;
    }
    for (size_t i = h->n - 1; i-- > 0;) {
        size_t a = i + 1;
        while (a < h->n - 1 && !((h->x[i] - h->x[a]) * ((double)a - (double)h->above[a]) <
                                 (h->x[a] - h->x[h->above[a]]) * ((double)i - (double)a)))
            a = h->above[a];
        h->above[i] = a;
    }
}

static void chains(struct hull *h)
{
    h->minor.n = h->major.n = 0;
    for (size_t i = h->high;; i = h->below[i]) {
        h->minor.at[h->minor.n++] = i;
        if (i <= h->low)
            break;
    }
    for (size_t i = h->low;; i = h->above[i]) {
        h->major.at[h->major.n++] = i;
        if (i >= h->high)
            break;
    }
}

/* How far the chord from a to b lies from the ranks at c; `side` 1: below them, -1: above. */
static double gap(const double *x, size_t a, size_t b, size_t c, double side)
{
    double chord = (x[c] - x[a]) * ((double)b - (double)a) / (x[b] - x[a]);
    return side * ((double)c - (double)a - chord) + 1;
}

/* The largest distance between minorant and majorant; the chains' places that span it. */
static double widest(const struct hull *h, size_t *minor_at, size_t *major_at)
{
    const size_t *g = h->minor.at, *l = h->major.at;
    size_t ix = h->minor.n - 2, iv = 1;
    double most = 0;
    *minor_at = h->minor.n - 1;
    *major_at = h->major.n - 1;
    do {
        double d;
        if (g[ix] > l[iv]) {
            d = gap(h->x, g[ix + 1], g[ix], l[iv], 1);
            iv++;
            if (d >= most) {
                most = d;
                *minor_at = ix + 1;
                *major_at = iv - 1;
            }
        } else {
            d = gap(h->x, l[iv - 1], l[iv], g[ix], -1);
            bool first = ix == 0;
            if (d >= most) {
                most = d;
                *minor_at = ix;
                *major_at = iv;
            }
            ix = first ? 0 : ix - 1;
        }
        iv = qs_less(iv, h->major.n - 1);
    } while (g[ix] != l[iv]);
    return most;
}

/* The farthest that the ranks between two touching points are from their chord. */
static double farthest(const double *x, size_t a, size_t b, double side)
{
    double most = 1;
    if (b - a > 1 && x[b] > x[a])
        for (size_t c = a; c <= b; c++)
            most = fmax(most, gap(x, a, b, c, side));
    return most;
}

static double outside(const struct hull *h, size_t minor_at, size_t major_at)
{
    double most = 0;
    for (size_t i = minor_at; i + 1 < h->minor.n; i++)
        most = fmax(most, farthest(h->x, h->minor.at[i + 1], h->minor.at[i], 1));
    for (size_t i = major_at; i + 1 < h->major.n; i++)
        most = fmax(most, farthest(h->x, h->major.at[i], h->major.at[i + 1], -1));
    return most;
}

/* In ranks, twice the dip. */
static double dip_of(struct hull *h)
{
    double dip = 1;
    touch(h);
    for (;;) {
        size_t minor_at = 1, major_at = 1;
        chains(h);
        double d = h->minor.n > 2 || h->major.n > 2 ? widest(h, &minor_at, &major_at) : 1;
        if (d < dip)
            return dip;
        dip = fmax(dip, outside(h, minor_at, major_at));
        size_t low = h->minor.at[minor_at], high = h->major.at[major_at];
        if (low == h->low && high == h->high)
            return dip;
        h->low = low;
        h->high = high;
    }
}

/* Quantiles of sqrt(n) dip of uniform values, each of 40,000 to 400,000 samples (seed 1985): fewest at the
 * largest n. */
enum { QUANTILES = 12 };
static const double shares[QUANTILES] = {0.01, 0.1,  0.25, 0.5,   0.75,  0.9,
                                         0.95, 0.98, 0.99, 0.995, 0.998, 0.999};
static const struct row {
    double n, q[QUANTILES];
} rows[] = {
    {4, {0.2500, 0.2500, 0.2500, 0.2500, 0.2891, 0.3749, 0.4145, 0.4475, 0.4636, 0.4746, 0.4840, 0.4888}},
    {5, {0.2236, 0.2236, 0.2236, 0.2718, 0.3443, 0.3954, 0.4168, 0.4330, 0.4395, 0.4431, 0.4455, 0.4463}},
    {6, {0.2041, 0.2041, 0.2409, 0.3016, 0.3548, 0.3896, 0.4035, 0.4394, 0.4713, 0.4947, 0.5207, 0.5360}},
    {8, {0.1768, 0.2319, 0.2720, 0.3139, 0.3475, 0.4012, 0.4354, 0.4691, 0.4888, 0.5052, 0.5261, 0.5489}},
    {10, {0.1931, 0.2468, 0.2783, 0.3093, 0.3612, 0.4123, 0.4414, 0.4769, 0.5051, 0.5293, 0.5549, 0.5708}},
    {15, {0.2119, 0.2490, 0.2788, 0.3239, 0.3721, 0.4259, 0.4596, 0.4991, 0.5264, 0.5517, 0.5802, 0.5988}},
    {20, {0.2124, 0.2541, 0.2867, 0.3280, 0.3811, 0.4349, 0.4701, 0.5111, 0.5406, 0.5667, 0.5977, 0.6205}},
    {30, {0.2165, 0.2597, 0.2928, 0.3368, 0.3905, 0.4463, 0.4830, 0.5262, 0.5563, 0.5834, 0.6176, 0.6409}},
    {50, {0.2221, 0.2666, 0.3001, 0.3453, 0.4005, 0.4585, 0.4964, 0.5415, 0.5723, 0.6012, 0.6353, 0.6602}},
    {100, {0.2282, 0.2741, 0.3086, 0.3550, 0.4117, 0.4712, 0.5106, 0.5575, 0.5893, 0.6198, 0.6584, 0.6824}},
    {200, {0.2331, 0.2794, 0.3145, 0.3621, 0.4199, 0.4804, 0.5202, 0.5696, 0.6050, 0.6375, 0.6758, 0.7025}},
    {500, {0.2386, 0.2852, 0.3202, 0.3681, 0.4261, 0.4884, 0.5294, 0.5779, 0.6112, 0.6450, 0.6824, 0.7131}},
    {2000, {0.2412, 0.2899, 0.3252, 0.3746, 0.4336, 0.4951, 0.5371, 0.5897, 0.6250, 0.6573, 0.7037, 0.7324}},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* The chance of as much and more in one row: linear between quantiles. */
static double p_in(const struct row *row, double d)
{
    if (d < row->q[0])
        return 1;
    for (size_t i = 1; i < QUANTILES; i++)
        if (d < row->q[i])
            return 1 - (shares[i - 1] +
                        (shares[i] - shares[i - 1]) * (d - row->q[i - 1]) / (row->q[i] - row->q[i - 1]));
    return 1 - shares[QUANTILES - 1];
}

/* Between two rows in proportion to 1/sqrt(n), towards which the quantiles grow evenly. */
static double p_of(double dip, size_t n)
{
    double dn = (double)n, d = dip * sqrt(dn);
    if (n < 4 || dip <= 1 / (2 * dn))
        return 1;
    size_t i = 1;
    while (i + 1 < ROWS && rows[i].n < dn)
        i++;
    double a = 1 / sqrt(rows[i - 1].n), b = 1 / sqrt(rows[i].n),
           share = fmin(1, (a - 1 / sqrt(dn)) / (a - b));
    return (1 - share) * p_in(&rows[i - 1], d) + share * p_in(&rows[i], d);
}

enum qs_status qs_dip(const double *sorted, size_t n, struct qs_dip *out)
{
    *out = (struct qs_dip){NAN, NAN};
    if (n == 0)
        return QS_ENODATA;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(sorted[i]))
            return QS_EDOM;
    struct hull h = {.x = sorted, .n = n, .high = n - 1};
    size_t *room = calloc(n, 4 * sizeof *room);
    if (!room)
        return QS_ENOMEM;
    h.below = room;
    h.above = room + n;
    h.minor.at = room + 2 * n;
    h.major.at = room + 3 * n;
    bool varies = n > 1 && sorted[n - 1] > sorted[0];
    out->dip = (varies ? dip_of(&h) : 1) / (2 * (double)n);
    free(room);
    out->p = p_of(out->dip, n);
    return QS_OK;
}
