/* Half-widths against numbers from R (t.test, qt, exp) and counted order statistics. */
#include "world.h"

#include "report/job/look.h"

static void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * fabs(want)))
        fail_msg("got %.17g, want %.17g", got, want);
}

/* d = ln(y/x) = 0.01, 0.02, 0.03: mean 0.02, sd 0.01, t(0.975, 2) = 4.302652729911275, half = t sd / sqrt 3
 * = 0.024841377118... ; (exp(m + h) - exp(m - h)) / 2 / exp(m) = sinh(h). */
static void test_paired_by_hand(void **state)
{
    (void)state;
    double m[6];
    for (size_t b = 0; b < 3; b++) {
        m[2 * b] = 1e6 * (double)(b + 1);
        m[2 * b + 1] = m[2 * b] * exp(0.01 * (double)(b + 1));
    }
    double half = 4.302652729911275 * 0.01 / sqrt(3);
    assert_near(qs_look_half_width(m, NULL, 3, 2, 0, 0.05), sinh(half), 1e-9);
    assert_near(qs_look_half_width(m, NULL, 3, 2, 1, 0.05), sinh(half),
                1e-9); /* either arm may be the baseline */
    /* t(0.95, 2) = 2.919985580353726 for alpha 10 % */
    assert_near(qs_look_half_width(m, NULL, 3, 2, 0, 0.1), sinh(2.919985580353726 * 0.01 / sqrt(3)), 1e-9);
}

static void test_too_few(void **state)
{
    (void)state;
    const double m[] = {1, 1.01, 1, 1.02, 1, NAN, 1, 1.03};
    assert_true(isnan(qs_look_half_width(m, NULL, 0, 2, 0, 0.05)));
    assert_true(isnan(qs_look_half_width(m, NULL, 3, 2, 0, 0.05))); /* two of the three are complete */
    assert_true(isfinite(qs_look_half_width(m, NULL, 4, 2, 0, 0.05)));
    const double one[] = {1, 2, 3, 4, 5, 6};
    assert_true(isnan(qs_look_half_width(one, NULL, 5, 1, 0, 0.05)));
    assert_true(isfinite(qs_look_half_width(one, NULL, 6, 1, 0, 0.05)));
}

static void test_incomplete_blocks_are_left_out(void **state)
{
    (void)state;
    const double with[] = {1, 1.01, 5, NAN, 1, 1.02, 0, 7, 1, 1.03}, without[] = {1, 1.01, 1, 1.02, 1, 1.03};
    assert_near(qs_look_half_width(with, NULL, 5, 2, 0, 0.05),
                qs_look_half_width(without, NULL, 3, 2, 0, 0.05), 1e-12);
}

static void test_widest_arm_decides(void **state)
{
    (void)state;
    double three[12], calm[8], wild[8];
    static const double d[] = {0.001, -0.001, 0.002, 0};
    for (size_t b = 0; b < 4; b++) {
        calm[2 * b] = wild[2 * b] = three[3 * b] = 1;
        calm[2 * b + 1] = three[3 * b + 1] = exp(d[b]);
        wild[2 * b + 1] = three[3 * b + 2] = exp(20 * d[b]);
    }
    double all = qs_look_half_width(three, NULL, 4, 3, 0, 0.05);
    assert_near(all, qs_look_half_width(wild, NULL, 4, 2, 0, 0.05), 1e-12);
    assert_true(all > 10 * qs_look_half_width(calm, NULL, 4, 2, 0, 0.05));
}

/* n = 6: P(Bin(6, 1/2) = 0) = 1/64 <= 0.025, so the interval is [x(1), x(6)]; n = 10: [x(2), x(9)]. */
static void test_order_statistics(void **state)
{
    (void)state;
    const double six[] = {106, 101, 103, 102, 110, 104};
    assert_near(qs_look_half_width(six, NULL, 6, 1, 0, 0.05), (110 - 101) / 2.0 / 103.5, 1e-12);
    const double ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 100};
    assert_near(qs_look_half_width(ten, NULL, 10, 1, 0, 0.05), (9 - 2) / 2.0 / 5.5, 1e-12);
}

static void test_equal_blocks_have_no_width(void **state)
{
    (void)state;
    const double m[] = {1e6, 1.1e6, 1e6, 1.1e6, 1e6, 1.1e6};
    assert_true(qs_look_half_width(m, NULL, 3, 2, 0, 0.05) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paired_by_hand),
        cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_incomplete_blocks_are_left_out),
        cmocka_unit_test(test_widest_arm_decides),
        cmocka_unit_test(test_order_statistics),
        cmocka_unit_test(test_equal_blocks_have_no_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
