/* Laws that hold for every method: nothing depends on the order where order means nothing, units and offsets
 * change results as they must, intervals enclose their estimates, shares lie in [0,1], and what has no answer
 * gives none. */
#include "answers.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/rng.h"

enum { N = 60, M = 45, MOST = 80 };

struct pair {
    double x[MOST], y[MOST];
    size_t nx, ny;
};

typedef void law(const struct method *m, const struct pair *data);

static void for_all(law *check, const struct pair *data)
{
    const struct method *tables[] = {answers_sample, answers_series, answers_pairs, answers_runs};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct method *m = tables[t]; m->name; m++)
            check(m, data);
}

static struct answer ask(const struct method *m, const struct pair *data)
{
    struct answer a = {.status = QS_OK};
    m->ask(data->x, data->nx, data->y, data->ny, &a);
    return a;
}

/* Whole numbers, so that the sums below are exact; a step in the middle of x. */
static struct pair sample(uint64_t seed, double step, uint64_t width)
{
    struct pair p = {.nx = N, .ny = M};
    struct qs_rng rng;
    qs_rng_seed(&rng, seed, 0);
    for (size_t i = 0; i < N; i++)
        p.x[i] = 100 + (double)(qs_rng_below(&rng, width) * qs_rng_below(&rng, width) / width) +
                 (i < N / 2 ? 0 : step);
    for (size_t i = 0; i < M; i++)
        p.y[i] = 110 + (double)qs_rng_below(&rng, width);
    return p;
}

static void shuffle(double *v, size_t n, struct qs_rng *rng)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)qs_rng_below(rng, i);
        double t = v[i - 1];
        v[i - 1] = v[k];
        v[k] = t;
    }
}

/* ---- equal up to a law ---- */

static double by_law(const struct answer_number *n, double c, double s)
{
    switch (n->kind) {
    case ANSWER_LOCATION:
        return n->v * c + s;
    case ANSWER_SPREAD:
    case ANSWER_SCALED:
        return n->v * c;
    case ANSWER_AREA:
        return n->v * c * c;
    case ANSWER_SAME:
    case ANSWER_FREE:
        return n->v;
    }
    return NAN;
}

static bool has_law(const struct answer_number *n, double s)
{
    return s == 0 || (n->kind != ANSWER_FREE && n->kind != ANSWER_SCALED);
}

static void same(const struct method *m, const struct answer *was, const struct answer *is, double c,
                 double s, double tolerance)
{
    if (was->status != is->status || was->count != is->count)
        fail_msg("%s: status %s and %zu numbers, before %s and %zu", m->name, qs_status_name(is->status),
                 is->count, qs_status_name(was->status), was->count);
    for (size_t i = 0; i < was->count; i++) {
        const struct answer_number *n = &was->number[i];
        double want = by_law(n, c, s), got = is->number[i].v;
        if (!has_law(n, s) || (isnan(want) && isnan(got)) || want == got)
            continue;
        /* what a shift costs is measured by the values' own spread, about 100 */
        double size = s != 0 && n->kind != ANSWER_SAME ? fmax(fabs(want - s), 100 * c) : fabs(want);
        if (!(fabs(got - want) <= tolerance * size))
            fail_msg("%s: %s is %.17g, not %.17g (c = %g, s = %g)", m->name, n->name, got, want, c, s);
    }
}

static struct pair moved(const struct pair *p, double c, double s)
{
    struct pair q = *p;
    for (size_t i = 0; i < p->nx; i++)
        q.x[i] = p->x[i] * c + s;
    for (size_t i = 0; i < p->ny; i++)
        q.y[i] = p->y[i] * c + s;
    return q;
}

static void order_means_nothing(const struct method *m, const struct pair *data)
{
    struct pair other = *data;
    struct qs_rng rng;
    if (m->flags & (METHOD_ORDERED | METHOD_PAIRED))
        return;
    qs_rng_seed(&rng, 11, 0);
    shuffle(other.x, other.nx, &rng);
    shuffle(other.y, other.ny, &rng);
    struct answer a = ask(m, data), b = ask(m, &other);
    same(m, &a, &b, 1, 0, 1e-12);
}

/* Powers of two are exact, so that no rounding can move a value over an edge. */
static void units_carry_through(const struct method *m, const struct pair *data)
{
    static const double units[] = {4, 0x1p-30};
    struct answer a = ask(m, data);
    for (size_t i = 0; i < 2; i++) {
        struct pair other = moved(data, units[i], 0);
        struct answer b = ask(m, &other);
        same(m, &a, &b, units[i], 0, 1e-9);
    }
}

static void offsets_carry_through(const struct method *m, const struct pair *data)
{
    static const struct {
        double offset, tolerance;
    } offsets[] = {{4096, 1e-9}, {0x1p30, 1e-5}};
    struct answer a = ask(m, data);
    for (size_t i = 0; i < 2; i++) {
        struct pair other = moved(data, 1, offsets[i].offset);
        struct answer b = ask(m, &other);
        same(m, &a, &b, 1, offsets[i].offset, offsets[i].tolerance);
    }
}

static void try_laws(void **state)
{
    (void)state;
    const struct pair sets[] = {sample(1, 60, 200), sample(2, 0, 300), sample(3, 9, 12)};
    for (size_t i = 0; i < 3; i++) {
        for_all(order_means_nothing, &sets[i]);
        for_all(units_carry_through, &sets[i]);
        for_all(offsets_carry_through, &sets[i]);
    }
}

/* ---- what no answer may be ---- */

static void is_possible(const struct method *m, const struct pair *data)
{
    struct answer a = ask(m, data);
    for (size_t i = 0; i < a.count; i++) {
        const struct answer_number *n = &a.number[i];
        if (isinf(n->v) && !n->infinite)
            fail_msg("%s: %s is infinite", m->name, n->name);
        if (n->share && !isnan(n->v) && !(n->v >= 0 && n->v <= 1))
            fail_msg("%s: %s = %.17g is no share", m->name, n->name, n->v);
    }
    for (size_t i = 0; i < a.intervals; i++) {
        double t = a.number[a.interval[i].estimate].v, lo = a.number[a.interval[i].lo].v,
               hi = a.number[a.interval[i].hi].v, slack = 1e-12 * (fabs(lo) + fabs(hi));
        if (isnan(lo) != isnan(hi) || lo > hi || lo > t + slack || hi < t - slack || (isnan(t) && !isnan(lo)))
            fail_msg("%s: %.17g does not lie in [%.17g, %.17g]", m->name, t, lo, hi);
    }
}

static double draw(struct qs_rng *rng, int shape)
{
    double u = qs_rng_unit(rng);
    switch (shape) {
    case 0:
        return 1 + u;
    case 1:
        return exp(3 * u * u * u);
    case 2:
        return 1 + floor(3 * u);
    case 3:
        return u < 0.5 ? 1 : 2;
    case 4:
        return u < 0.9 ? 5 : 500 * u;
    default:
        return 1 / (u + 1e-3);
    }
}

static void try_what_may_be(void **state)
{
    (void)state;
    struct qs_rng rng;
    qs_rng_seed(&rng, 21, 0);
    for (int k = 0; k < 120; k++) {
        struct pair p = {.nx = 1 + (size_t)qs_rng_below(&rng, 70), .ny = 1 + (size_t)qs_rng_below(&rng, 70)};
        for (size_t i = 0; i < p.nx; i++)
            p.x[i] = draw(&rng, k % 6);
        for (size_t i = 0; i < p.ny; i++)
            p.y[i] = draw(&rng, k / 6 % 6);
        for_all(is_possible, &p);
    }
}

/* ---- degenerate input ---- */

/* A count of nothing found is 0. */
static bool is_nothing(const struct answer_number *n)
{
    static const char *const counts[] = {"changes", "count", "distinct", "stride", "low", "high"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(n->name, counts[i]) == 0)
            return n->v == 0;
    return isnan(n->v);
}

static void refuses(const struct method *m, const struct pair *data, enum qs_status status)
{
    struct answer a = ask(m, data);
    if (a.status != status)
        fail_msg("%s: %s, not %s", m->name, qs_status_name(a.status), qs_status_name(status));
    for (size_t i = 0; i < a.count; i++)
        if (status != QS_ETOOFEW && !is_nothing(&a.number[i]))
            fail_msg("%s: %s, and yet %s = %.17g", m->name, qs_status_name(status), a.number[i].name,
                     a.number[i].v);
}

static bool answers_anything(const struct method *m)
{
    return strcmp(m->name, "verdict") == 0; /* too few runs is an answer there */
}

/* Some have no bounded answer for these values (Fieller), and say that. */
static bool is_answer(enum qs_status status)
{
    return status == QS_OK || status == QS_EDEGENERATE;
}

static void nothing_and_too_few(const struct method *m, const struct pair *data)
{
    for (size_t n = 0; n <= 40; n++) {
        struct pair p = *data;
        p.nx = p.ny = n;
        if (n == 0 && !answers_anything(m))
            refuses(m, &p, QS_ENODATA);
        else if (n < m->least && n > 0)
            refuses(m, &p, QS_ETOOFEW);
        else if (n >= m->least && !is_answer(ask(m, &p).status))
            fail_msg("%s: no answer for %zu values", m->name, n);
    }
}

static void not_finite(const struct method *m, const struct pair *data)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    static const size_t places[] = {0, M / 2, M - 1};
    for (size_t i = 0; i < 9; i++) {
        struct pair p = *data;
        p.nx = M;
        p.x[places[i / 3]] = bad[i % 3];
        refuses(m, &p, QS_EDOM);
        p = *data;
        p.y[places[i / 3]] = bad[i % 3];
        if (m->flags & METHOD_TWO)
            refuses(m, &p, QS_EDOM);
    }
}

static void not_positive(const struct method *m, const struct pair *data)
{
    static const double bad[] = {0, -1};
    for (size_t i = 0; i < 4; i++) {
        struct pair p = *data;
        p.nx = M;
        (i < 2 ? p.x : p.y)[7] = bad[i % 2];
        if (m->flags & METHOD_POSITIVE)
            refuses(m, &p, QS_EDOM);
        else
            is_possible(m, &p);
    }
}

static void constant(const struct method *m, const struct pair *data)
{
    struct pair p = *data;
    for (size_t i = 0; i < MOST; i++)
        p.x[i] = p.y[i] = 7.3;
    is_possible(m, &p);
    struct answer a = ask(m, &p);
    if (!is_answer(a.status))
        fail_msg("%s: %s for constant values", m->name, qs_status_name(a.status));
    for (size_t i = 0; i < a.count; i++) {
        const struct answer_number *n = &a.number[i];
        bool spread = n->kind == ANSWER_SPREAD || n->kind == ANSWER_AREA;
        if (!isnan(n->v) && ((spread && n->v != 0) || (n->kind == ANSWER_LOCATION && n->v != 7.3)))
            fail_msg("%s: %s = %.17g of values that are all 7.3", m->name, n->name, n->v);
    }
}

/* The ends of what a double holds: an answer or a refusal, never a number that overflowed. */
static void extreme(const struct method *m, const struct pair *data)
{
    static const double sizes[] = {DBL_MAX, DBL_MAX / 4, DBL_MIN, 0x1p-1074, 1e200, 1e-200};
    (void)data;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct pair p = {.nx = N, .ny = M};
        for (size_t i = 0; i < MOST; i++) {
            p.x[i] = sizes[k] * (i % 3 == 0 ? 1 : 0.5);
            p.y[i] = (m->flags & METHOD_POSITIVE) ? sizes[k] : sizes[k] * (i % 2 == 0 ? 1 : -1);
        }
        struct answer a = ask(m, &p);
        if (is_answer(a.status))
            is_possible(m, &p);
        else
            refuses(m, &p, QS_EDOM);
    }
}

static void try_the_degenerate(void **state)
{
    (void)state;
    const struct pair data = sample(4, 40, 200);
    for_all(nothing_and_too_few, &data);
    for_all(not_finite, &data);
    for_all(not_positive, &data);
    for_all(constant, &data);
    for_all(extreme, &data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(try_laws), cmocka_unit_test(try_what_may_be),
                                       cmocka_unit_test(try_the_degenerate)};
    return cmocka_run_group_tests_name("properties", tests, NULL, NULL);
}
