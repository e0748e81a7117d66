/* The table of the stand-alone main against values of BenchmarkTools. */
#include "quiesce/bench.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_values(void **state)
{
    static const struct {
        double t_ns;
        uint32_t evals;
    } want[] = {{0, 1000},   {1, 1000},  {10, 999},   {100, 944}, {200, 600}, {300, 257},
                {400, 200},  {401, 200}, {500, 194},  {800, 94},  {999, 10},  {1000, 10},
                {1001, 10},  {2000, 10}, {2001, 9},   {5000, 7},  {9000, 3},  {9001, 1},
                {9000.5, 1}, {1e12, 1},  {999.5, 10}, {99.5, 944}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        assert_int_equal(quiesce_i_oracle(want[i].t_ns), want[i].evals);
    }
    (void)state;
}

static void test_sum_and_order(void **state)
{
    uint64_t sum = 0;
    uint32_t last = UINT32_MAX;
    for (int t = 1; t <= 9000; t++) {
        uint32_t evals = quiesce_i_oracle(t);
        assert_true(evals <= last);
        last = evals;
        sum += evals;
    }
    assert_int_equal(sum, 367712);
    (void)state;
}

static void test_exp(void **state)
{
    static const struct {
        double x, y;
    } want[] = {{0, 1}, {1, 2.718281828459045}, {-5, 0.006737946999085467}, {5, 148.4131591025766}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        double error = quiesce_i_exp(want[i].x) / want[i].y - 1;
        assert_true(error < 1e-11 && error > -1e-11);
    }
    (void)state;
}

static void test_quantile(void **state)
{
    static const double x[] = {1, 2, 4, 8};
    assert_true(quiesce_i_quantile(x, 4, 0) == 1 && quiesce_i_quantile(x, 4, 0.5) == 3);
    assert_true(quiesce_i_quantile(x, 4, 0.25) == 1.75 && quiesce_i_quantile(x, 4, 1) == 8);
    assert_true(quiesce_i_quantile(x, 1, 0.95) == 1);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_sum_and_order),
                                       cmocka_unit_test(test_exp), cmocka_unit_test(test_quantile)};
    return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
