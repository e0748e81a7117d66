/* The article's procedure for Android macrobenchmarks. */
#include "reference.h"

#include "stats/android.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_pair(const char *name, const struct series *x, const struct series *y, json_t *want)
{
    struct qs_android a;
    json_t *z = ref_at(want, "seed_ci_z");
    assert_int_equal(qs_android(x->v, x->n, y->v, y->n, 0.95, &a), QS_OK);
    check_near(name, a.sp, ref_number(want, "pooled_sd"), 1e-9, 0);
    check_near(name, a.var_ratio, ref_number(want, "var_ratio_max"), 1e-9, 0);
    check_near(name, a.ci_z.lo, ref_item(z, 0), 1e-9, 0);
    check_near(name, a.ci_z.hi, ref_item(z, 1), 1e-9, 0);
    check_near(name, a.t.ci.lo, ref_item(ref_at(ref_at(want, "pooled"), "ci"), 0), 1e-9, 0);
    EXPECT(a.enough == (x->n > 30 && y->n > 30));
    EXPECT(a.alike == (ref_number(want, "var_ratio_max") <= 2));
}

/* statistics.md 8.1: start-up of 12-02-2024 on a Pixel 4a passes all four. */
static void check_golden(const char *name, const struct series *x, const struct series *y, json_t *want)
{
    (void)want;
    struct qs_android a;
    if (strcmp(name, "android_12-02-2024") != 0)
        return;
    assert_int_equal(qs_android(x->v, x->n, y->v, y->n, 0.95, &a), QS_OK);
    check_near("W", a.w[1], 0.94082, 0, 1e-5);
    check_near("p", a.normal_p[1], 0.05929, 0, 1e-5);
    check_near("d", a.t.diff, 32.9389, 0, 5e-5);
    check_near("z lo", a.ci_z.lo, 27.3534, 0, 5e-5);
    check_near("t hi", a.t.ci.hi, 38.6256, 0, 1e-4);
    EXPECT(a.enough && a.normal && a.alike && a.steady && a.holds);
}

static void test_against_r(void **state)
{
    (void)state;
    ref_each_pair(check_pair);
    ref_each_pair(check_golden);
}

static void test_edges(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 4}, same[] = {2, 2, 2}, bad[] = {1, NAN};
    struct qs_android a;
    assert_int_equal(qs_android(same, 3, same, 3, 0.95, &a), QS_OK);
    EXPECT(isnan(a.normal_p[0]) && isnan(a.var_ratio) && !a.normal && !a.alike && !a.holds);
    check_near("point", a.ci_z.hi, 0, 0, 0);
    assert_int_equal(qs_android(x, 4, same, 1, 0.95, &a), QS_ETOOFEW);
    EXPECT(!a.holds && isnan(a.ci_z.lo) && isnan(a.sp));
    assert_int_equal(qs_android(x, 4, bad, 2, 0.95, &a), QS_EDOM);
    assert_int_equal(qs_android(x, 4, x, 0, 0.95, &a), QS_ENODATA);
    assert_int_equal(qs_android(x, 4, x, 4, 2, &a), QS_EDOM);
}

static void test_swap(void **state)
{
    (void)state;
    static const double x[] = {10, 11, 12, 13.5, 12.2}, y[] = {11, 12.5, 11.8, 14};
    struct qs_android a, b;
    assert_int_equal(qs_android(x, 5, y, 4, 0.9, &a), QS_OK);
    assert_int_equal(qs_android(y, 4, x, 5, 0.9, &b), QS_OK);
    check_near("diff", a.t.diff, -b.t.diff, 1e-14, 0);
    check_near("interval", a.ci_z.lo, -b.ci_z.hi, 1e-12, 0);
    check_near("variances", a.var_ratio, b.var_ratio, 1e-14, 0);
    check_near("normality", a.normal_p[0], b.normal_p[1], 0, 0);
    EXPECT(a.ci_z.lo > a.t.ci.lo && a.ci_z.hi < a.t.ci.hi); /* z is shorter than t */
}

/* Each condition at its bound: 31 values a side, variances of 36 and 72, deviations of 6 %. */
static void test_bounds(void **state)
{
    (void)state;
    static const double x[] = {94, 100, 106}, twice[] = {94, 106}, wider[] = {93.9, 106}, zero[] = {-1, 0, 1};
    struct qs_android a;
    double many[QS_ANDROID_N];
    for (size_t i = 0; i < QS_ANDROID_N; i++)
        many[i] = 100 + (double)(i % 5);
    assert_int_equal(qs_android(x, 3, x, 3, 0.95, &a), QS_OK);
    EXPECT(a.steady && a.alike && a.normal && !a.enough && !a.holds);
    check_near("cov", a.cov[1], QS_ANDROID_COV, 0, 0);
    assert_int_equal(qs_android(x, 3, twice, 2, 0.95, &a), QS_OK);
    EXPECT(a.alike && !a.steady && !a.normal);
    check_near("ratio", a.var_ratio, 2, 0, 0);
    assert_int_equal(qs_android(wider, 2, x, 3, 0.95, &a), QS_OK);
    EXPECT(!a.alike && !a.steady);
    assert_int_equal(qs_android(zero, 3, x, 3, 0.95, &a), QS_OK);
    EXPECT(isnan(a.cov[0]) && !isnan(a.cov[1]) && !a.steady);
    assert_int_equal(qs_android(many, QS_ANDROID_N, many, QS_ANDROID_N, 0.95, &a), QS_OK);
    EXPECT(a.enough);
    assert_int_equal(qs_android(many, QS_ANDROID_N, many, QS_ANDROID_N - 1, 0.95, &a), QS_OK);
    EXPECT(!a.enough);
    assert_int_equal(qs_android(many, QS_ANDROID_N - 1, many, QS_ANDROID_N, 0.95, &a), QS_OK);
    EXPECT(!a.enough);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_against_r),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_swap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
