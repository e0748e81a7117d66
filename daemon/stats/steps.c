#include "stats/steps.h"

#include "stats/describe.h"
#include "stats/hunter_parts.h"
#include "stats/pick.h"
#include "stats/special.h"
#include "stats/sum.h"
#include "stats/twosample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HALF_WINDOW = 5, HALF_AT_ENDS = 2, UNCONFIRMED_LEAST = 2 };
static const double CUT_SDS = 2.5, ALONE_SDS = 5, PHI_MOST = 0.95, PHI_SPARE = 6;

struct finder {
    const double *x;
    size_t n, least; /* values between two changes */
    double p_max, level;
    double *rest; /* owned: n residuals */
    struct qs_steps *out;
};

static size_t start_of(const struct finder *f, size_t i)
{
    return i == 0 ? 0 : f->out->point[i - 1].index;
}

static size_t end_of(const struct finder *f, size_t i)
{
    return i < f->out->n_points ? f->out->point[i].index : f->n;
}

static struct qs_moments moments(const struct finder *f, size_t from, size_t end)
{
    struct qs_moments m;
    (void)qs_moments(f->out->y + from, end - from, &m); /* finite: Hunter looked at all values */
    return m;
}

/* --- values that stand out --------------------------------------------------------------------- */

/* Of the values on either side, as many as there are on the nearer: the ends of a slope are no outliers. */
static double median_around(const double *x, size_t n, size_t i)
{
    double v[2 * HALF_WINDOW + 1];
    size_t half = qs_more(HALF_AT_ENDS, qs_less(HALF_WINDOW, qs_less(i, n - 1 - i)));
    size_t from = i - qs_less(i, half), end = qs_less(n, i + half + 1);
    size_t count = 0;
    for (size_t k = from; k < end; k++) {
        size_t at = count++;
        for (; at > 0 && v[at - 1] > x[k]; at--)
            v[at] = v[at - 1];
        v[at] = x[k];
    }
    return count % 2 ? v[count / 2] : (v[count / 2 - 1] + v[count / 2]) / 2;
}

/* y holds the levels, and then the values cut back to them. */
static enum qs_status cut_back(const struct finder *f)
{
    double *y = f->out->y, *rest = f->rest;
    struct qs_summary s;
    for (size_t i = 0; i < f->n; i++)
        rest[i] = f->x[i] - y[i];
    enum qs_status status = qs_describe(rest, f->n, &s);
    f->out->scale = s.scale;
    for (size_t i = 0; status == QS_OK && i < f->n; i++)
        y[i] = f->x[i] - rest[i] + fmax(-CUT_SDS * s.scale, fmin(CUT_SDS * s.scale, rest[i]));
    return status;
}

static void levels_around(const struct finder *f)
{
    for (size_t i = 0; i < f->n; i++)
        f->out->y[i] = median_around(f->x, f->n, i);
}

static enum qs_status levels_of_stretches(const struct finder *f)
{
    enum qs_status status = QS_OK;
    for (size_t s = 0; status == QS_OK && s <= f->out->n_points; s++) {
        size_t from = start_of(f, s), end = end_of(f, s);
        double median;
        status = qs_median(f->x + from, end - from, &median);
        for (size_t i = from; i < end; i++)
            f->out->y[i] = median;
    }
    return status;
}

/* How far a value is from a level, squared, in a way that one value cannot decide alone. */
static double distance(const struct finder *f, double x, double level)
{
    double far = (CUT_SDS + 1) * f->out->scale, d = fmin(fabs(x - level), far);
    return d * d;
}

/* Cutting back beside an edge takes a value to the wrong side: the place between both levels that fits the
 * values themselves. y holds the levels. */
static void place(const struct finder *f, size_t i)
{
    struct qs_change_point *c = &f->out->point[i];
    double before = f->out->y[c->index - 1], after = f->out->y[c->index], cost = 0, least = 0;
    size_t first = start_of(f, i) + f->least, end = end_of(f, i + 1), best = c->index, tail = f->n - c->index;
    size_t last = end - (end == f->n ? qs_less(tail, f->least) : f->least);
    for (size_t k = c->index; k < last && k < c->index + HALF_WINDOW; k++) {
        cost += distance(f, f->x[k], before) - distance(f, f->x[k], after);
        best = cost < least ? k + 1 : best;
        least = fmin(least, cost);
    }
    cost = 0;
    for (size_t k = c->index; k > first && k + HALF_WINDOW > c->index; k--) {
        cost += distance(f, f->x[k - 1], after) - distance(f, f->x[k - 1], before);
        best = cost < least ? k - 1 : best;
        least = fmin(least, cost);
    }
    for (size_t k = c->index; k < best; k++)
        f->out->y[k] = before;
    for (size_t k = best; k < c->index; k++)
        f->out->y[k] = after;
    c->index = best;
}

/* --- dependence -------------------------------------------------------------------------------- */

double qs_ar1_inflation(double phi, size_t n)
{
    double dn = (double)n, left = 1 - phi;
    return (1 + phi) / left - 2 * phi * (1 - pow(phi, dn)) / (dn * left * left);
}

double qs_ar1_phi(const double *rest, size_t n, size_t numbers)
{
    double products = 0, squares = 0, share = (double)numbers / (double)n;
    for (size_t i = 0; i < n; i++) {
        squares += rest[i] * rest[i];
        products += i > 0 ? rest[i] * rest[i - 1] : 0;
    }
    return squares > 0 ? fmin(PHI_MOST, (products / squares + share) / fmax(0.25, 1 - 3 * share)) : 0;
}

/* About the stretches' means; more than the estimate by what a short series may hide. */
static double phi_of(const struct finder *f)
{
    const struct qs_steps *s = f->out;
    for (size_t i = 0; i <= s->n_points; i++) {
        size_t from = start_of(f, i), end = end_of(f, i);
        struct qs_moments m = moments(f, from, end);
        for (size_t k = from; k < end; k++)
            f->rest[k] = s->y[k] - m.mean;
    }
    double phi = qs_ar1_phi(f->rest, f->n, s->n_points + 1) + PHI_SPARE / (double)f->n;
    return fmax(0, fmin(PHI_MOST, phi));
}

/* --- the test ---------------------------------------------------------------------------------- */

/* The chance that the best of the places of `n` values with `least` on either side has a two-sided p as
 * small. */
static double p_of_best(double p, size_t least, size_t n)
{
    if (!(p > 0) || !(p < 1))
        return p > 0 ? 1 : 0;
    double z = -qs_qnorm(p / 2), share = (double)least / (double)n;
    if (!(z > 1) || share >= 0.5)
        return z > 1 ? p : 1;
    double places = (z - 1 / z) * 2 * log((1 - share) / share) + 4 / z;
    return fmin(1, fmax(p, places * exp(-z * z / 2) / sqrt(2 * acos(-1))));
}

double qs_steps_least_z(size_t n, const struct qs_hunter_opts *opts)
{
    double lo = 0, hi = 40;
    while (hi - lo > 1e-13) {
        double z = (lo + hi) / 2;
        bool passes = p_of_best(2 * qs_pnorm(-z), opts->confirm_after, n) < opts->p_max;
        lo = passes ? lo : z;
        hi = passes ? z : hi;
    }
    return hi;
}

/* What lies between the neighbours of point i. Where its two stretches are less than half of the series they
 * are one of several such pairs, which can begin and end in as many places each. */
static void measure(const struct finder *f, size_t i)
{
    struct qs_change_point *c = &f->out->point[i];
    struct qs_moments a = moments(f, start_of(f, i), c->index), b = moments(f, c->index, end_of(f, i + 1));
    double na = (double)a.n, nb = (double)b.n, phi = f->out->phi, diff = fabs(b.mean - a.mean);
    double ss = (a.n > 1 ? a.var * (na - 1) : 0) + (b.n > 1 ? b.var * (nb - 1) : 0);
    double var = na + nb > 2 ? ss / (na + nb - 2) : 0;
    double df = fmax(1, (na + nb) * (1 - phi * phi) / (1 + phi * phi) - 2);
    double se = sqrt(var * (qs_ar1_inflation(phi, a.n) / na + qs_ar1_inflation(phi, b.n) / nb));
    size_t least = b.n < f->least ? UNCONFIRMED_LEAST : f->least;
    c->before = a.mean;
    c->after = b.mean;
    double p = !(diff > 0) ? 1 : p_of_best(se > 0 ? qs_pt_two_sided(diff / se, df) : 0, least, a.n + b.n);
    c->p = fmin(1, p * fmax(1, pow((double)f->n / (2 * (na + nb)), 2)));
}

/* --- elimination ------------------------------------------------------------------------------- */

static size_t weakest_of(const struct finder *f)
{
    size_t weakest = 0;
    for (size_t i = 1; i < f->out->n_points; i++)
        if (f->out->point[i].p > f->out->point[weakest].p)
            weakest = i;
    return weakest;
}

static void drop(const struct finder *f, size_t i)
{
    struct qs_steps *s = f->out;
    memmove(s->point + i, s->point + i + 1, (s->n_points - i - 1) * sizeof *s->point);
    s->n_points--;
    if (i > 0)
        measure(f, i - 1);
    if (i < s->n_points)
        measure(f, i);
}

/* The change that a stretch of too few values costs, or n_points. */
static size_t too_short(const struct finder *f)
{
    const struct qs_steps *s = f->out;
    for (size_t i = 0; i <= s->n_points && s->n_points > 0; i++) {
        size_t n = end_of(f, i) - start_of(f, i);
        if (n >= (i < s->n_points ? f->least : UNCONFIRMED_LEAST))
            continue;
        if (i == 0 || i == s->n_points)
            return i == 0 ? 0 : i - 1;
        return s->point[i - 1].p > s->point[i].p ? i - 1 : i;
    }
    return s->n_points;
}

static void eliminate(const struct finder *f)
{
    struct qs_steps *s = f->out;
    for (bool again = true; again && s->n_points > 0;) {
        s->phi = phi_of(f);
        for (size_t i = 0; i < s->n_points; i++)
            measure(f, i);
        again = false;
        for (;;) {
            size_t i = too_short(f);
            if (i == s->n_points && i > 0) {
                size_t weakest = weakest_of(f);
                i = s->point[weakest].p >= f->p_max ? weakest : i;
            }
            if (i >= s->n_points)
                break;
            drop(f, i);
            again = true;
        }
    }
    s->phi = phi_of(f);
}

/* --- the whole --------------------------------------------------------------------------------- */

static enum qs_status finish(const struct finder *f, size_t i)
{
    struct qs_change_point *c = &f->out->point[i];
    struct qs_ratio_test test;
    size_t from = start_of(f, i), end = end_of(f, i + 1), na = c->index - from, nb = end - c->index;
    enum qs_status status = qs_log_welch(f->out->y + from, na, f->out->y + c->index, nb, f->level, &test);
    if (status == QS_ENOMEM)
        return status;
    double wider = sqrt(qs_ar1_inflation(f->out->phi, qs_more(na, nb)));
    c->ratio = test.ratio; /* NaN where there are no logarithms */
    c->ci = test.ci;
    c->ci.lo = test.ratio * pow(test.ci.lo / test.ratio, wider);
    c->ci.hi = test.ratio * pow(test.ci.hi / test.ratio, wider);
    c->magnitude = qs_change_magnitude(c->before, c->after);
    c->confirmed = f->n - c->index >= f->least;
    return QS_OK;
}

static void mark_alone(const struct finder *f)
{
    for (size_t i = 0; i < f->n; i++) {
        double off = fabs(f->x[i] - f->out->y[i]);
        f->out->alone[i] = off > (ALONE_SDS - CUT_SDS) * f->out->scale;
    }
}

static enum qs_status find(struct finder *f, const struct qs_hunter_opts *opts)
{
    struct qs_hunter_opts hunter = *opts;
    hunter.min_magnitude = 0;
    levels_around(f);
    enum qs_status status = cut_back(f);
    if (status == QS_OK)
        status = qs_hunter(f->out->y, f->n, &hunter, f->out->point, &f->out->n_points);
    if (status == QS_OK) {
        eliminate(f);
        status = levels_of_stretches(f);
    }
    for (size_t i = 0; status == QS_OK && i < f->out->n_points; i++)
        place(f, i);
    if (status == QS_OK)
        status = cut_back(f);
    if (status == QS_OK)
        eliminate(f);
    for (size_t i = 0; status == QS_OK && i < f->out->n_points; i++)
        status = finish(f, i);
    if (status == QS_OK)
        mark_alone(f);
    return status;
}

enum qs_status qs_steps_find(const double *x, size_t n, const struct qs_hunter_opts *opts,
                             struct qs_steps *out)
{
    *out = (struct qs_steps){0};
    enum qs_status status = qs_check_values(x, n, 2);
    if (status != QS_OK)
        return status;
    *out = (struct qs_steps){.point = calloc(n, sizeof *out->point),
                             .y = calloc(n, sizeof *out->y),
                             .alone = calloc(n, sizeof *out->alone)};
    struct finder f = {x,           n,           opts->confirm_after > 0 ? opts->confirm_after : 1,
                       opts->p_max, opts->level, calloc(n, sizeof *f.rest),
                       out};
    status = out->point && out->y && out->alone && f.rest ? find(&f, opts) : QS_ENOMEM;
    free(f.rest);
    if (status != QS_OK)
        qs_steps_free(out);
    return status;
}

void qs_steps_free(struct qs_steps *steps)
{
    free(steps->point);
    free(steps->y);
    free(steps->alone);
    *steps = (struct qs_steps){0};
}
