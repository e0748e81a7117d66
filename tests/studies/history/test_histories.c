/* Two hundred generated histories of each kind: false changes, outliers that are no steps, steps that are
 * found, stairs that are no drift. The study counts more of them. */
#include "studies/history/histories.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

enum { HISTORIES = 200, SEED = 7 };

struct counts {
    int right, drifts, met, alone;
};

static struct counts count(size_t k)
{
    static struct made made;
    struct counts c = {0};
    struct qs_rng rng;
    qs_rng_seed(&rng, SEED, k);
    for (int i = 0; i < HISTORIES; i++) {
        history_make(&history_kinds[k], &rng, &made);
        struct told t = history_tell(&history_kinds[k], &made);
        c.right += t.right;
        c.drifts += t.drifts > 0;
        c.met += t.met == made.steps;
        c.alone += t.alone >= history_kinds[k].many;
    }
    return c;
}

/* How many of all were not told right. */
static int check_kinds(enum shape shape,
                       void (*check)(const struct history_kind *kind, const struct counts *c))
{
    size_t seen = 0;
    int wrong = 0;
    for (size_t k = 0; k < history_kind_count; k++) {
        if (history_kinds[k].shape != shape)
            continue;
        struct counts c = count(k);
        check(&history_kinds[k], &c);
        wrong += HISTORIES - c.right;
        seen++;
    }
    assert_true(seen >= 3);
    return wrong;
}

/* At most 1 % of each kind, give or take one. */
static void check_quiet(const struct history_kind *kind, const struct counts *c)
{
    if (c->right < HISTORIES - HISTORIES / 100 - 1)
        fail_msg("%s: %d of %d are told right", kind->name, c->right, HISTORIES);
}

static void check_outliers(const struct history_kind *kind, const struct counts *c)
{
    check_quiet(kind, c);
    if (c->alone < HISTORIES - HISTORIES / 20) /* two of them may fall on one night */
        fail_msg("%s: told as single nights in %d of %d", kind->name, c->alone, HISTORIES);
}

/* One step: found within two nights. Several: no drift instead of them. */
static void check_steps(const struct history_kind *kind, const struct counts *c)
{
    int got = kind->many == 1 ? c->met : HISTORIES - c->drifts;
    if (got < (int)(kind->goal_least_ratio * HISTORIES))
        fail_msg("%s: %d of %d are told", kind->name, got, HISTORIES);
}

static void check_ramp(const struct history_kind *kind, const struct counts *c)
{
    if (c->right < (int)(kind->goal_least_ratio * HISTORIES))
        fail_msg("%s: %d of %d are told as drifts", kind->name, c->right, HISTORIES);
}

static void unchanged_histories_stay_unchanged(void **state)
{
    (void)state;
    assert_true(check_kinds(SHAPE_FLAT, check_quiet) <= 19 * HISTORIES / 200); /* 0.5 % of the 19 kinds */
}

static void single_nights_are_no_steps(void **state)
{
    (void)state;
    assert_true(check_kinds(SHAPE_OUTLIERS, check_outliers) <= 6 * HISTORIES / 200);
}

static void steps_are_told_as_steps(void **state)
{
    (void)state;
    (void)check_kinds(SHAPE_STEPS, check_steps);
}

static void ramps_are_told_as_drifts(void **state)
{
    (void)state;
    (void)check_kinds(SHAPE_RAMP, check_ramp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unchanged_histories_stay_unchanged),
        cmocka_unit_test(single_nights_are_no_steps),
        cmocka_unit_test(steps_are_told_as_steps),
        cmocka_unit_test(ramps_are_told_as_drifts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
