/* Minimum detectable effects and numbers of runs. */
#include "reference.h"

#include "stats/power.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct qs_power_opts USUAL = {.alpha = 0.05, .power = 0.8, .resolution_ratio = 0.004};

/* The effect in units of the sd, which the ratio hides: ln(1 + MDE)/sd. */
static double effect_in_sd(size_t k, const struct qs_power_opts *opts)
{
    return log1p(qs_mde_welch(0.01, k, 0.01, k, opts)) / 0.01;
}

/* R's power.t.test knows the noncentral t; two quantiles of the central one come this close. */
static void test_against_r(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json"), *row;
    struct qs_power_opts ninety = USUAL;
    const char *n;
    int rows = 0;
    ninety.power = 0.9;
    json_object_foreach(ref_at(root, "power"), n, row)
    {
        size_t k = strtoul(n, NULL, 10);
        double rel = k < 10 ? 3e-3 : 5e-4;
        check_near(n, effect_in_sd(k, &USUAL), ref_number(row, "delta_over_sd_power80"), rel, 0);
        check_near(n, effect_in_sd(k, &ninety), ref_number(row, "delta_over_sd_power90"), 3 * rel, 0);
        rows++;
    }
    json_decref(root);
    assert_int_equal(rows, 6);
}

static void test_known_values(void **state)
{
    (void)state;
    check_near("n = 5", effect_in_sd(5, &USUAL), 2.021, 0, 5e-4);
    check_near("n = 10", effect_in_sd(10, &USUAL), 1.325, 0, 5e-4);
    /* 4 blocks: (t_{.975,3} + t_{.8,3}) sd/2 */
    check_near("paired", qs_mde_paired(0.02, 4, &USUAL),
               expm1((3.182446305284263 + 0.978472312363303) * 0.01), 1e-10, 0);
    /* one arm does not vary: its runs do not count, nor do its degrees of freedom */
    check_near("one-sided spread", qs_mde_welch(0.02, 4, 0, 50, &USUAL), qs_mde_paired(0.02, 4, &USUAL),
               1e-12, 0);
}

static void test_needed_is_the_smallest(void **state)
{
    (void)state;
    static const double sds[] = {0.002, 0.01, 0.03, 0.2};
    for (size_t i = 0; i < 4; i++) {
        size_t k = qs_runs_needed_welch(sds[i], sds[i], 0.02, &USUAL);
        EXPECT(k >= 2 && qs_mde_welch(sds[i], k, sds[i], k, &USUAL) <= 0.02 * (1 + 1e-12));
        EXPECT(k == 2 || qs_mde_welch(sds[i], k - 1, sds[i], k - 1, &USUAL) > 0.02);
        k = qs_blocks_needed(sds[i], 0.02, &USUAL);
        EXPECT(k >= 2 && qs_mde_paired(sds[i], k, &USUAL) <= 0.02 * (1 + 1e-12));
        EXPECT(k == 2 || qs_mde_paired(sds[i], k - 1, &USUAL) > 0.02);
    }
}

static void test_edges(void **state)
{
    (void)state;
    struct qs_power_opts bad = USUAL;
    check_near("nothing varies", qs_mde_welch(0, 3, 0, 3, &USUAL), 0.004, 0, 0);
    check_near("nothing varies", qs_mde_paired(0, 3, &USUAL), 0.004, 0, 0);
    assert_int_equal(qs_runs_needed_welch(0, 0, 0.02, &USUAL), 2);
    assert_int_equal(qs_runs_needed_welch(100, 100, 1e-4, &USUAL), 0);
    assert_int_equal(qs_runs_needed_welch(0.1, 0.1, 0, &USUAL), 0);
    assert_int_equal(qs_blocks_needed(NAN, 0.02, &USUAL), 0);
    assert_int_equal(qs_blocks_needed(INFINITY, 0.02, &USUAL), 0);
    EXPECT(isnan(qs_mde_welch(0.1, 1, 0.1, 5, &USUAL)) && isnan(qs_mde_paired(0.1, 1, &USUAL)));
    EXPECT(isnan(qs_mde_welch(-1, 3, 0.1, 5, &USUAL)) && isnan(qs_mde_welch(NAN, 3, 0.1, 5, &USUAL)));
    bad.power = 1;
    EXPECT(isnan(qs_mde_paired(0.1, 5, &bad)));
    bad = USUAL;
    bad.alpha = 0;
    assert_int_equal(qs_blocks_needed(0.1, 0.02, &bad), 0);
    assert_int_equal(qs_blocks_needed(-0.1, 0.02, &USUAL), 0);
    assert_int_equal(qs_blocks_needed(0.1, INFINITY, &USUAL), 0);
    EXPECT(isnan(qs_mde_welch(0.1, 5, 0.1, 1, &USUAL)) && isnan(qs_mde_welch(0.1, 3, -1, 5, &USUAL)));
    EXPECT(isnan(qs_mde_paired(-0.1, 5, &USUAL)) && qs_mde_paired(0.1, 2, &USUAL) > 0.3);
    const struct qs_power_opts others[] = {
        {1, 0.8, 0}, {0.05, 0.025, 0}, {0.05, 0.8, -1e-9}, {0.05, 0.8, INFINITY}};
    for (size_t i = 0; i < 4; i++)
        EXPECT(isnan(qs_mde_paired(0.1, 5, &others[i])));
    const struct qs_power_opts last = {0.999, 0.9999, 0};
    EXPECT(qs_mde_paired(0.1, 5, &last) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_r),
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_needed_is_the_smallest),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
