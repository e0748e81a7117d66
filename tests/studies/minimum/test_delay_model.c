/* Timings of the delay model go where equations 8 and 9 say. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "studies/minimum/delay_model.h"
#include "stats/describe.h"

enum { MEASUREMENTS = 60 };

static void summarise(const struct delay_model *m, size_t n, struct qs_summary *out)
{
    double per_n_ns[MEASUREMENTS];
    struct qs_rng rng;
    qs_rng_seed(&rng, 2016, n);
    for (size_t i = 0; i < MEASUREMENTS; i++)
        per_n_ns[i] = delay_model_measure_ns(m, n, &rng) / (double)n;
    assert_int_equal(qs_describe(per_n_ns, MEASUREMENTS, out), QS_OK);
}

/* Eq. 8: the clock's error is amortised. */
static void test_the_clock_alone(void **state)
{
    (void)state;
    const struct delay_model m = {.t0_ns = 100, .k = 10, .acc_ns = 1000};
    struct qs_summary s;
    for (size_t n = 1; n <= 10000; n *= 10) {
        summarise(&m, n, &s);
        assert_true(s.min >= 100 - 1000 / (double)n && s.max <= 100 + 1000 / (double)n);
        assert_true(s.max - s.min > 1000 / (double)n); /* and used */
    }
    assert_true(delay_model_limit_ns(&m) == 100);
}

/* Eq. 8, the best case: counts of o(n) vanish in T/n, for the mean as well as for the minimum. */
static void test_fading_delays_converge(void **state)
{
    (void)state;
    static const struct delay_factor factors[] = {{200, 1, 1}, {5000, 0.05, 1}};
    const struct delay_model m = {.t0_ns = 100, .k = 10, .factors = factors, .factor_count = 2, .acc_ns = 50};
    struct qs_summary few, some, many;
    summarise(&m, 1, &few);
    summarise(&m, 100, &some);
    summarise(&m, 10000, &many);
    assert_true(delay_model_limit_ns(&m) == 100);
    assert_true(few.mean - 100 > 400 && some.mean - 100 < 60 && fabs(many.mean - 100) < 1);
    assert_true(fabs(many.min - 100) < 0.3 && many.min <= many.median && many.median <= many.mean + 0.1);
    /* The expected count of the first is the harmonic number of n k. */
    assert_true(fabs((many.mean - 100) * 10000 - (200 + 0.05 * 5000) * (log(1e5) + 0.5772)) < 1200);
}

/* Eq. 9: what triggers on every instruction stays, whatever n is. */
static void test_delays_at_every_instruction_are_a_bias(void **state)
{
    (void)state;
    static const struct delay_factor factors[] = {{0.5, 1, 0}, {2, 1, 0}};
    const struct delay_model m = {
        .t0_ns = 100, .k = 10, .factors = factors, .factor_count = 2, .acc_ns = 1000};
    struct qs_summary s;
    assert_true(delay_model_limit_ns(&m) == 125);
    for (size_t n = 10; n <= 100000; n *= 10) {
        summarise(&m, n, &s);
        assert_true(s.min >= 125 - 1000 / (double)n && s.max <= 125 + 1000 / (double)n);
    }
    assert_true(s.min > 124.9); /* 25 % above t0, and no minimum brings it down */
}

/* Between the two: in proportion to n. The mean goes to t0 + k sum of p tau; the minimum of many short
 * measurements does not see the delays, that of long ones does. */
static void test_delays_in_proportion(void **state)
{
    (void)state;
    static const struct delay_factor factors[] = {{100, 0.02, 0}};
    const struct delay_model m = {.t0_ns = 100, .k = 10, .factors = factors, .factor_count = 1};
    struct qs_summary few, many;
    assert_true(delay_model_limit_ns(&m) == 120);
    summarise(&m, 1, &few);
    summarise(&m, 10000, &many);
    assert_true(few.min == 100);
    assert_true(fabs(many.mean - 120) < 0.2 && many.min > 119);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_clock_alone),
        cmocka_unit_test(test_fading_delays_converge),
        cmocka_unit_test(test_delays_at_every_instruction_are_a_bias),
        cmocka_unit_test(test_delays_in_proportion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
