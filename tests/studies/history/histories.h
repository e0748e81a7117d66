/* Generated histories of nights whose changes are known: what a method tells of them can be counted. Levels
 * about 1000; every night has a noise of sd 1 % (or `noise`) of the level. */
#ifndef QS_TESTS_HISTORIES_H
#define QS_TESTS_HISTORIES_H

#include "stats/drift.h"
#include "stats/rng.h"

#include <stdbool.h>
#include <stddef.h>

enum { HISTORY_NIGHTS_MOST = 1000, HISTORY_STEPS_MOST = 3 };

enum noise {
    NOISE_NORMAL,
    NOISE_LAPLACE,
    NOISE_T3,
    NOISE_CONTAMINATED, /* one night in twenty has five times the sd */
    NOISE_AR1           /* with coefficient 0.5 */
};

enum shape { SHAPE_FLAT, SHAPE_STEPS, SHAPE_RAMP, SHAPE_OUTLIERS };

struct history_kind {
    const char *name;
    enum shape shape;
    enum noise noise;
    double noise_ratio; /* sd of a night */
    size_t nights;      /* .. HISTORY_NIGHTS_MOST */
    double size_ratio;  /* of a step, of the whole ramp, of an outlier */
    size_t many; /* steps (evenly placed; one is anywhere but the first and last ten nights) or outliers */
    size_t from, width;      /* of the ramp */
    double goal_least_ratio; /* share of these histories that must be told right: README.md has them */
};

/* One of them: the values, and where its steps are (the first night after each). */
struct made {
    double x[HISTORY_NIGHTS_MOST];
    size_t n, step[HISTORY_STEPS_MOST], steps;
};
void history_make(const struct history_kind *kind, struct qs_rng *rng, struct made *out);

/* What was told of one. */
struct told {
    size_t steps; /* confirmed ones */
    size_t drifts, alone;
    size_t met; /* made steps that have a told one of their direction within two nights */
    bool right; /* flat and outliers: nothing; steps: all of them and no other change; ramp: drifts alone */
};
struct told history_tell(const struct history_kind *kind, const struct made *made);

/* All kinds that are looked at. */
extern const struct history_kind history_kinds[];
extern const size_t history_kind_count;

#endif
