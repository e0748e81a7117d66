#include "studies/history/histories.h"

#include "stats/special.h"

#include <math.h>
#include <stdlib.h>

enum { NEAR_NIGHTS = 2, EDGE_NIGHTS = 10, SETTLE_NIGHTS = 60 };

static double normal(struct qs_rng *rng)
{
    return qs_qnorm(qs_rng_unit(rng) * (1 - 1e-12) + 5e-13);
}

/* Of sd 1, but for the contaminated one, whose usual nights have it. */
static double draw(enum noise noise, double before, struct qs_rng *rng)
{
    double u, chi = 0;
    switch (noise) {
    case NOISE_NORMAL:
        break;
    case NOISE_LAPLACE:
        u = qs_rng_unit(rng) - 0.5;
        return (u < 0 ? 1 : -1) * log(1 - 2 * fabs(u) + 1e-12) / sqrt(2);
    case NOISE_T3:
        for (int i = 0; i < 3; i++)
            chi += pow(normal(rng), 2);
        return normal(rng) / sqrt(chi); /* t3 has the variance 3 */
    case NOISE_CONTAMINATED:
        return normal(rng) * (qs_rng_below(rng, 20) == 0 ? 5 : 1);
    case NOISE_AR1:
        return 0.5 * before + sqrt(0.75) * normal(rng);
    }
    return normal(rng);
}

static void place_steps(const struct history_kind *k, struct qs_rng *rng, struct made *out)
{
    out->steps = k->shape == SHAPE_STEPS ? k->many : 0;
    for (size_t i = 0; i < out->steps; i++)
        out->step[i] = (i + 1) * k->nights / (k->many + 1);
    if (out->steps == 1)
        out->step[0] = EDGE_NIGHTS + (size_t)qs_rng_below(rng, k->nights - (2 * EDGE_NIGHTS - 1));
}

static double level_at(const struct history_kind *k, const struct made *made, size_t i)
{
    double level = 1000;
    for (size_t s = 0; s < made->steps; s++)
        level *= i >= made->step[s] ? 1 + k->size_ratio : 1;
    if (k->shape == SHAPE_RAMP && i > k->from)
        level *= 1 + k->size_ratio * fmin(1, (double)(i - k->from) / (double)k->width);
    return level;
}

void history_make(const struct history_kind *k, struct qs_rng *rng, struct made *out)
{
    double noise = 0;
    out->n = k->nights;
    place_steps(k, rng, out);
    for (size_t i = 0; k->noise == NOISE_AR1 && i < SETTLE_NIGHTS; i++)
        noise = draw(k->noise, noise, rng);
    for (size_t i = 0; i < out->n; i++) {
        noise = draw(k->noise, noise, rng);
        out->x[i] = level_at(k, out, i) * (1 + k->noise_ratio * noise);
    }
    for (size_t i = 0; k->shape == SHAPE_OUTLIERS && i < k->many; i++)
        out->x[qs_rng_below(rng, out->n)] *= 1 + k->size_ratio;
}

static bool is_met(const struct history_kind *k, const struct made *made, size_t s,
                   const struct qs_changes *all)
{
    const struct qs_change *c = all->at;
    for (size_t i = 0; i < all->count; i++) {
        size_t off = c[i].from > made->step[s] ? c[i].from - made->step[s] : made->step[s] - c[i].from;
        if (c[i].kind == QS_CHANGE_STEP && c[i].confirmed && off <= NEAR_NIGHTS &&
            (c[i].after > c[i].before) == (k->size_ratio > 0))
            return true;
    }
    return false;
}

static bool is_right(const struct history_kind *k, const struct told *t)
{
    switch (k->shape) {
    case SHAPE_RAMP:
        return t->drifts > 0 && t->steps == 0;
    case SHAPE_STEPS:
        return t->steps == k->many && t->drifts == 0;
    case SHAPE_FLAT:
    case SHAPE_OUTLIERS:
        break;
    }
    return t->steps == 0 && t->drifts == 0;
}

struct told history_tell(const struct history_kind *k, const struct made *made)
{
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    struct qs_changes all;
    struct told t = {0};
    opts.min_magnitude = 0.02;
    if (qs_changes_find(made->x, made->n, &opts, &all) != QS_OK)
        abort();
    for (size_t i = 0; i < all.count; i++) {
        t.steps += all.at[i].kind == QS_CHANGE_STEP && all.at[i].confirmed;
        t.drifts += all.at[i].kind == QS_CHANGE_DRIFT;
    }
    for (size_t s = 0; s < made->steps; s++)
        t.met += is_met(k, made, s, &all);
    t.right = is_right(k, &t);
    t.alone = all.n_alone;
    qs_changes_free(&all);
    return t;
}

#define FLAT(what, noise, sd, n)                                                                             \
    {                                                                                                        \
        what, SHAPE_FLAT, noise, sd, n, 0, 0, 0, 0, 0.99                                                     \
    }
#define OUTLIERS(what, size, many)                                                                           \
    {                                                                                                        \
        what, SHAPE_OUTLIERS, NOISE_NORMAL, 0.01, 100, size, many, 0, 0, 0.99                                \
    }
#define STEPS(what, noise, n, size, many, goal)                                                              \
    {                                                                                                        \
        what, SHAPE_STEPS, noise, 0.01, n, size, many, 0, 0, goal                                            \
    }
#define RAMP(what, n, size, from, width, goal)                                                               \
    {                                                                                                        \
        what, SHAPE_RAMP, NOISE_NORMAL, 0.01, n, size, 0, from, width, goal                                  \
    }

const struct history_kind history_kinds[] = {
    FLAT("normal, 20 nights", NOISE_NORMAL, 0.01, 20),
    FLAT("normal, 40 nights", NOISE_NORMAL, 0.01, 40),
    FLAT("normal", NOISE_NORMAL, 0.01, 100),
    FLAT("normal, 400 nights", NOISE_NORMAL, 0.01, 400),
    FLAT("normal, sd 4 %", NOISE_NORMAL, 0.04, 100),
    FLAT("Laplace", NOISE_LAPLACE, 0.01, 100),
    FLAT("Laplace, sd 4 %", NOISE_LAPLACE, 0.04, 100),
    FLAT("t3", NOISE_T3, 0.01, 100),
    FLAT("t3, sd 4 %", NOISE_T3, 0.04, 100),
    FLAT("t3, sd 4 %, 400 nights", NOISE_T3, 0.04, 400),
    FLAT("contaminated", NOISE_CONTAMINATED, 0.01, 100),
    FLAT("contaminated, sd 4 %", NOISE_CONTAMINATED, 0.04, 100),
    FLAT("AR(1) 0.5, 20 nights", NOISE_AR1, 0.01, 20),
    FLAT("AR(1) 0.5, 40 nights", NOISE_AR1, 0.01, 40),
    FLAT("AR(1) 0.5", NOISE_AR1, 0.01, 100),
    FLAT("AR(1) 0.5, 400 nights", NOISE_AR1, 0.01, 400),
    FLAT("AR(1) 0.5, sd 4 %", NOISE_AR1, 0.04, 100),
    FLAT("AR(1) 0.5, sd 4 %, 40 nights", NOISE_AR1, 0.04, 40),
    FLAT("AR(1) 0.5, sd 4 %, 400 nights", NOISE_AR1, 0.04, 400),
    OUTLIERS("one night +10 %", 0.1, 1),
    OUTLIERS("one night +30 %", 0.3, 1),
    OUTLIERS("two nights +10 %", 0.1, 2),
    OUTLIERS("two nights +30 %", 0.3, 2),
    OUTLIERS("three nights +10 %", 0.1, 3),
    OUTLIERS("three nights +30 %", 0.3, 3),
    STEPS("a step of 3 %", NOISE_NORMAL, 100, 0.03, 1, 0.98),
    STEPS("a step of 5 %", NOISE_NORMAL, 100, 0.05, 1, 0.99),
    STEPS("a step of 5 % in 40 nights", NOISE_NORMAL, 40, 0.05, 1, 0.98),
    STEPS("a step of -3 %, t3", NOISE_T3, 100, -0.03, 1, 0.98),
    STEPS("a step of 5 %, AR(1) 0.5", NOISE_AR1, 100, 0.05, 1, 0),
    STEPS("three steps of 2 %", NOISE_NORMAL, 100, 0.02, 3, 0.9),
    STEPS("three steps of 2 %, 60 nights", NOISE_NORMAL, 60, 0.02, 3, 0),
    STEPS("three steps of 2 %, 200 nights", NOISE_NORMAL, 200, 0.02, 3, 0.9),
    STEPS("three steps of 3 %", NOISE_NORMAL, 100, 0.03, 3, 0.9),
    RAMP("10 % in 20 nights", 20, 0.10, 0, 19, 0.93),
    RAMP("8 % in 40 of 120 nights", 120, 0.08, 40, 40, 0.935),
    RAMP("10 % in 100 nights", 100, 0.10, 0, 99, 0.93),
};
const size_t history_kind_count = sizeof history_kinds / sizeof *history_kinds;
