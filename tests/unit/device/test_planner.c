/* From the first runs to iterations and runs: worked by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/job/planner.h"
#include "stats/special.h"

enum { RUNS = 4, ITERATIONS = 4 };

/* Run j has the mean 1 ms + shift[j] and iterations of +-spread about it; an iteration takes 1 ms of window,
 * a run 100 ms besides. */
static void add_runs(struct qs_planner *p, size_t arm, const int64_t *shift_ns, int64_t spread_ns)
{
    for (size_t j = 0; j < RUNS; j++) {
        double v[ITERATIONS];
        for (size_t i = 0; i < ITERATIONS; i++)
            v[i] = (double)(1000000 + shift_ns[j] + (i % 2 ? spread_ns : -spread_ns));
        qs_planner_add(p, arm, v, ITERATIONS, 4000000, ITERATIONS, 104000000);
    }
}

static const struct qs_planner_wish wish = {.half_width_ratio = 0.01,
                                            .level = 0.95,
                                            .iterations_least = 2,
                                            .iterations_most = 4000,
                                            .runs_least = 3,
                                            .runs_most = 1000};

/* Within: T1 = 16 d^2/12. Between: var(means) = 4 s^2/3, T2 = that less T1/4. r = ceil(sqrt(100 T1/T2)). */
static void test_variances_within_and_between(void **state)
{
    (void)state;
    const int64_t shift_ns[RUNS] = {-20000, 20000, -20000, 20000};
    const double d = 30000, s = 20000;
    struct qs_planner *p = qs_planner_new(1);
    struct qs_planner_answer a;
    add_runs(p, 0, shift_ns, (int64_t)d);
    assert_true(qs_planner_ask(p, &wish, &a));
    double t1 = 16 * d * d / 12, t2 = 4 * s * s / 3 - t1 / 4, r = ceil(sqrt(100 * t1 / t2));
    assert_int_equal(a.iterations, (size_t)r);
    double sd = sqrt(t1 / r + t2) / 1e6;
    assert_true(qs_qt(0.975, (double)a.runs - 1) * sd / sqrt((double)a.runs) <= 0.01);
    assert_true(qs_qt(0.975, (double)a.runs - 2) * sd / sqrt((double)a.runs - 1) > 0.01);
    assert_true(a.attainable);
    qs_planner_free(p);
}

/* Runs that are equal: enough iterations for the fewest runs, and not the 4000 that are allowed. */
static void test_runs_that_do_not_differ(void **state)
{
    (void)state;
    const int64_t shift_ns[RUNS] = {0};
    struct qs_planner *p = qs_planner_new(1);
    struct qs_planner_answer a;
    add_runs(p, 0, shift_ns, 30000);
    assert_true(qs_planner_ask(p, &wish, &a));
    double t1 = 16 * 9e8 / 12, se = 0.01 * 1e6 / qs_qt(0.975, 2);
    assert_int_equal(a.iterations, (size_t)ceil(t1 / (3 * se * se)));
    assert_int_equal(a.runs, 3);
    qs_planner_free(p);
}

static void test_nothing_varies(void **state)
{
    (void)state;
    const int64_t shift_ns[RUNS] = {0};
    struct qs_planner *p = qs_planner_new(2);
    struct qs_planner_answer a;
    add_runs(p, 0, shift_ns, 0);
    assert_false(qs_planner_ask(p, &wish, &a)); /* nothing is known of the other arm */
    add_runs(p, 1, shift_ns, 0);
    assert_true(qs_planner_ask(p, &wish, &a));
    assert_int_equal(a.iterations, 2);
    assert_int_equal(a.runs, 3);
    qs_planner_free(p);
}

/* The noisier arm decides; with given iterations only the runs are planned; too few allowed runs are told. */
static void test_the_noisier_arm_decides(void **state)
{
    (void)state;
    const int64_t calm_ns[RUNS] = {-1000, 1000, -1000, 1000}, wild_ns[RUNS] = {-50000, 50000, -50000, 50000};
    struct qs_planner *p = qs_planner_new(2), *q = qs_planner_new(2);
    struct qs_planner_answer both, calm;
    add_runs(p, 0, calm_ns, 1000);
    add_runs(p, 1, wild_ns, 1000);
    add_runs(q, 0, calm_ns, 1000);
    add_runs(q, 1, calm_ns, 1000);
    struct qs_planner_wish given = wish;
    given.iterations_least = given.iterations_most = 7;
    assert_true(qs_planner_ask(p, &given, &both));
    assert_true(qs_planner_ask(q, &given, &calm));
    assert_int_equal(both.iterations, 7);
    assert_true(both.runs > calm.runs);
    given.runs_most = 10;
    assert_true(qs_planner_ask(p, &given, &both));
    assert_int_equal(both.runs, 10);
    assert_false(both.attainable);
    assert_true(both.half_width_ratio > 0.01);
    qs_planner_free(p);
    qs_planner_free(q);
}

static void test_too_little(void **state)
{
    (void)state;
    struct qs_planner *p = qs_planner_new(1);
    struct qs_planner_answer a;
    const double v[] = {5, 6, 7};
    for (int i = 0; i < 5; i++)
        qs_planner_add(p, 0, v, 1, 10, 1, 20); /* one iteration says nothing about the spread within */
    assert_false(qs_planner_ask(p, &wish, &a));
    qs_planner_add(p, 0, v, 3, 18, 3, 20);
    qs_planner_add(p, 0, v, 3, 18, 3, 20);
    assert_false(qs_planner_ask(p, &wish, &a));
    qs_planner_free(p);
    qs_planner_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variances_within_and_between),
        cmocka_unit_test(test_runs_that_do_not_differ),
        cmocka_unit_test(test_nothing_varies),
        cmocka_unit_test(test_the_noisier_arm_decides),
        cmocka_unit_test(test_too_little),
    };
    return cmocka_run_group_tests_name("planner", tests, NULL, NULL);
}
