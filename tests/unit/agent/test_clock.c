/* What a clock can tell apart: the agent's figures are those of the statistics. */
#include "core/clock.h"

#include "stats/describe.h"
#include "stats/sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static double intervals_ns[QS_CLOCK_INTERVALS];

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* A clock of 52 ns ticks whose reading costs less than that, and that is delayed now and then. */
static void simulate(struct qs_clock *clock, uint64_t seed)
{
    int64_t readings_ns[QS_CLOCK_BURST + 1] = {0};
    size_t n = 0;
    qs_clock_init(clock);
    while (n < QS_CLOCK_INTERVALS) {
        readings_ns[0] = readings_ns[QS_CLOCK_BURST];
        for (size_t i = 0; i < QS_CLOCK_BURST; i++) {
            uint64_t draw = next_random(&seed);
            int64_t ticks = draw % 400 == 0 ? (int64_t)(draw / 400 % 3000) : (int64_t)(draw % 3);
            readings_ns[i + 1] = readings_ns[i] + 52 * ticks;
            intervals_ns[n++] = 52 * (double)ticks;
        }
        qs_clock_take(clock, readings_ns);
    }
}

static void equals_the_statistics(void **state)
{
    struct qs_clock clock;
    struct qs_port_clock found;
    (void)state;
    for (uint64_t seed = 1; seed < 6; seed++) {
        simulate(&clock, seed);
        qs_clock_judge(&clock, &found);
        assert_int_equal(found.precision_ns, 52);
        double *sorted;
        assert_int_equal(qs_sorted_copy(intervals_ns, QS_CLOCK_INTERVALS, &sorted), QS_OK);
        double want_ns = qs_quantile(sorted, QS_CLOCK_INTERVALS, 0.999, QS_QTYPE_7);
        free(sorted);
        assert_int_equal(found.accuracy_ns, want_ns + 0.5);
        assert_true(want_ns > 104);
    }
}

static void says_nothing_of_a_clock_that_is_none(void **state)
{
    struct qs_clock clock;
    struct qs_port_clock found;
    int64_t readings_ns[QS_CLOCK_BURST + 1] = {0};
    (void)state;
    for (int crime = 0; crime < 3; crime++) { /* too few readings, one that goes back, one that stands */
        qs_clock_init(&clock);
        for (int i = 0; i <= QS_CLOCK_BURST; i++) {
            readings_ns[i] = crime == 2 ? 7 : 10 * i;
        }
        readings_ns[500] -= crime == 1 ? 100 : 0;
        for (int i = 0; i < (crime == 0 ? 99 : 100); i++) {
            qs_clock_take(&clock, readings_ns);
        }
        qs_clock_judge(&clock, &found);
        assert_int_equal(found.precision_ns, 0);
        assert_int_equal(found.accuracy_ns, 0);
    }
}

/* The quantile lies a thousandth of the way from one interval to the next: rounded, a half up. */
static void rounds_the_quantile(void **state)
{
    static const int64_t steps_ns[][2] = {{0, 0}, {499, 0}, {500, 1}, {1499, 1}, {1500, 2}, {2000, 2}};
    (void)state;
    for (size_t s = 0; s < sizeof steps_ns / sizeof steps_ns[0]; s++) {
        int64_t readings_ns[QS_CLOCK_BURST + 1] = {0};
        struct qs_clock clock;
        struct qs_port_clock found;
        qs_clock_init(&clock);
        for (int burst = 0; burst < QS_CLOCK_INTERVALS / QS_CLOCK_BURST; burst++) {
            for (int i = 0; i < QS_CLOCK_BURST; i++) {
                bool above = i == 500, there = burst == 7 && i == 300;
                readings_ns[i + 1] = readings_ns[i] + (above ? 9000 + steps_ns[s][0] : there ? 9000 : 3);
            }
            qs_clock_take(&clock, readings_ns);
        }
        qs_clock_judge(&clock, &found);
        assert_int_equal(found.precision_ns, 3);
        assert_int_equal(found.accuracy_ns, 9000 + steps_ns[s][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_statistics),
        cmocka_unit_test(says_nothing_of_a_clock_that_is_none),
        cmocka_unit_test(rounds_the_quantile),
    };
    return cmocka_run_group_tests_name("agent.clock", tests, NULL, NULL);
}
