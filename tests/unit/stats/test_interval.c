/* Intervals of the mean and of the median, and outlier fences. */
#include "reference.h"

#include "stats/describe.h"
#include "stats/interval.h"
#include "stats/outlier.h"
#include "stats/sum.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_mean_against_r(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json"), *want;
    const char *name;
    int compared = 0;
    json_object_foreach(ref_at(root, "univariate"), name, want)
    {
        json_t *ci = ref_at(want, "mean_ci95_t");
        struct series s = ref_series(root, name);
        struct qs_ci got;
        if (ci) {
            assert_int_equal(qs_mean_ci(s.v, s.n, NAN, 0.95, &got), QS_OK);
            check_near(name, got.lo, ref_item(ci, 0), 1e-12, 0);
            check_near(name, got.hi, ref_item(ci, 1), 1e-12, 0);
            compared++;
        }
        ref_free(&s);
    }
    json_decref(root);
    EXPECT(compared >= 19);
}

static void test_median_against_r(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json"), *want;
    const char *name;
    json_object_foreach(ref_at(root, "univariate"), name, want)
    {
        json_t *ci = ref_at(want, "median_ci95");
        struct series s = ref_series(root, name);
        struct qs_median_ci got;
        enum qs_status status = qs_median_ci(s.v, s.n, 0.95, &got);
        assert_int_equal(status, s.n < 6 ? QS_ETOOFEW : QS_OK);
        check_near(name, got.ci.lo, ref_number(ci, "lo"), 1e-14, 0);
        check_near(name, got.ci.hi, ref_number(ci, "hi"), 1e-14, 0);
        if (s.n >= 6) {
            check_near(name, (double)got.lo_rank, ref_number(ci, "lo_index"), 0, 0);
            check_near(name, (double)got.hi_rank, ref_number(ci, "hi_index"), 0, 0);
            check_near(name, got.ci.level, ref_number(ci, "conf"), 1e-12, 0);
        }
        ref_free(&s);
    }
    json_decref(root);
}

static void test_effective_size_widens(void **state)
{
    (void)state;
    static const double x[] = {4, 8, 6, 5, 3, 7};
    struct qs_ci iid, dependent;
    assert_int_equal(qs_mean_ci(x, 6, NAN, 0.95, &iid), QS_OK);
    assert_int_equal(qs_mean_ci(x, 6, 3, 0.95, &dependent), QS_OK);
    /* t_{.975,2} s/sqrt(3) with s^2 = 3.5 */
    check_near("lo", dependent.lo, 5.5 - 4.302652729749464 * sqrt(3.5 / 3), 1e-13, 0);
    EXPECT(dependent.lo < iid.lo && dependent.hi > iid.hi);
    assert_int_equal(qs_mean_ci(x, 6, 1, 0.95, &dependent), QS_ETOOFEW);
    EXPECT(isnan(dependent.lo) && isnan(dependent.hi));
    assert_int_equal(qs_mean_ci(x, 6, 7, 0.95, &dependent), QS_EDOM);
}

static void test_z_interval(void **state)
{
    (void)state;
    struct qs_ci ci = qs_z_interval(10, 2, 16, 0.95);
    check_near("half width", ci.hi - 10, 1.959963984540054 / 2, 1e-13, 0);
    check_near("symmetric", ci.lo + ci.hi, 20, 1e-14, 0);
    EXPECT(qs_z_interval(10, 0, 16, 0.95).flags & QS_FLAG_EXACT);
    EXPECT(isnan(qs_z_interval(10, 2, 1, 0.95).lo) && isnan(qs_z_interval(10, 2, 16, 1).hi));
}

static void test_degenerate_intervals(void **state)
{
    (void)state;
    double x[] = {5, 5, 5, 5, 5, 5};
    struct qs_ci ci;
    struct qs_median_ci median;
    assert_int_equal(qs_mean_ci(x, 0, NAN, 0.95, &ci), QS_ENODATA);
    assert_int_equal(qs_mean_ci(x, 1, NAN, 0.95, &ci), QS_ETOOFEW);
    EXPECT(isnan(ci.lo) && isnan(ci.hi));
    assert_int_equal(qs_mean_ci(x, 6, NAN, 0.95, &ci), QS_OK);
    EXPECT(ci.flags & QS_FLAG_EXACT);
    check_near("point", ci.hi - ci.lo, 0, 0, 0);
    assert_int_equal(qs_mean_ci(x, 6, NAN, 1, &ci), QS_EDOM);
    assert_int_equal(qs_median_ci(x, 6, 0, &median), QS_EDOM);
    assert_int_equal(qs_median_ci(x, 0, 0.95, &median), QS_ENODATA);
    x[3] = INFINITY;
    assert_int_equal(qs_mean_ci(x, 6, NAN, 0.95, &ci), QS_EDOM);
    assert_int_equal(qs_median_ci(x, 6, 0.95, &median), QS_EDOM);
    EXPECT(isnan(median.ci.lo));
    EXPECT(isnan(qs_t_interval(1, NAN, 5, 0.95).lo));
}

static void test_tukey_against_r(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json"), *want;
    const char *name;
    int compared = 0;
    json_object_foreach(ref_at(root, "univariate"), name, want)
    {
        json_t *fence = ref_at(want, "tukey");
        struct series s = ref_series(root, name);
        struct qs_tukey got;
        if (s.n >= 8 && ref_number(want, "iqr") > 0) {
            assert_int_equal(qs_tukey_flags(s.v, s.n, NULL, &got), QS_OK);
            check_near(name, got.lo, ref_number(fence, "lo"), 1e-11, 0);
            check_near(name, got.hi, ref_number(fence, "hi"), 1e-11, 0);
            check_near(name, (double)(got.n_low + got.n_high), ref_number(fence, "n_out"), 0, 0);
            compared++;
        }
        ref_free(&s);
    }
    json_decref(root);
    EXPECT(compared >= 16);
}

static void test_tukey_flags(void **state)
{
    (void)state;
    /* q.25 = 4, q.75 = 7: fences -0.5 and 11.5, far ones -5 and 16 */
    static const double x[] = {5, 3, 7, -4, 13, 14, 4, 6, 5, -9, 5, 20, 5};
    uint8_t flags[13];
    struct qs_tukey t;
    double sorted_q1 = 4, sorted_q3 = 7;
    assert_int_equal(qs_tukey_flags(x, 13, flags, &t), QS_OK);
    check_near("lo", t.lo, sorted_q1 - 4.5, 1e-15, 0);
    check_near("hi", t.hi, sorted_q3 + 4.5, 1e-15, 0);
    check_near("far", t.far_hi, 16, 1e-15, 0);
    static const uint8_t want[] = {0,
                                   0,
                                   0,
                                   QS_OUTLIER_LOW,
                                   QS_OUTLIER_HIGH,
                                   QS_OUTLIER_HIGH,
                                   0,
                                   0,
                                   0,
                                   QS_OUTLIER_LOW | QS_OUTLIER_FAR,
                                   0,
                                   QS_OUTLIER_HIGH | QS_OUTLIER_FAR,
                                   0};
    assert_memory_equal(flags, want, sizeof want);
    assert_int_equal(t.n_low, 2);
    assert_int_equal(t.n_high, 3);
    assert_int_equal(t.n_far, 2);
}

static void test_tukey_declines(void **state)
{
    (void)state;
    double tied[] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 99};
    uint8_t flags[10];
    struct qs_tukey t;
    memset(flags, 7, sizeof flags);
    assert_int_equal(qs_tukey_flags(tied, 10, flags, &t), QS_EDEGENERATE);
    EXPECT(flags[9] == 0 && t.n_high == 0 && isnan(t.hi));
    assert_int_equal(qs_tukey_flags(tied, 7, flags, &t), QS_ETOOFEW);
    assert_int_equal(qs_tukey_flags(tied, 0, flags, &t), QS_ENODATA);
    tied[0] = NAN;
    assert_int_equal(qs_tukey_flags(tied, 10, flags, &t), QS_EDOM);
}

/* The definition itself, window by window. */
static uint8_t flag_of(const double *x, size_t n, size_t half, size_t i)
{
    double sorted[40];
    size_t count = 0, end = i + half < n ? i + half : n;
    for (size_t k = i - half; k < end; k++)
        sorted[count++] = x[k];
    qs_sort(sorted, count);
    double median = qs_quantile(sorted, count, 0.5, QS_QTYPE_7);
    double band =
        3 * (qs_quantile(sorted, count, 0.9, QS_QTYPE_7) - qs_quantile(sorted, count, 0.1, QS_QTYPE_7));
    if (!(band > 0))
        return 0;
    return x[i] > median + band ? QS_OUTLIER_HIGH : x[i] < median - band ? QS_OUTLIER_LOW : 0;
}

/* Of 20 values with quantiles 0 and 1 (or -1 and 0) the band is 3 wide: what lies on it is within. */
static void test_what_lies_on_the_band(void **state)
{
    (void)state;
    for (int side = -1; side <= 1; side += 2) {
        for (int beyond = 0; beyond < 2; beyond++) {
            double x[20] = {[3] = -side, [7] = -side, [15] = -side, [10] = side * (beyond ? 3.001 : 3)};
            uint8_t flags[20];
            struct qs_window_outliers got;
            assert_int_equal(qs_window_flags(x, 20, 20, flags, &got), QS_OK);
            assert_int_equal(flags[10], !beyond ? 0 : side < 0 ? QS_OUTLIER_LOW : QS_OUTLIER_HIGH);
        }
    }
}

static void test_window_flags(void **state)
{
    (void)state;
    struct series s = ref_csv("otava/tigerbeetle.csv", 0);
    static uint8_t flags[365];
    struct qs_window_outliers got;
    s.v[100] *= 3;
    s.v[360] /= 3;
    s.v[5] *= 3;
    assert_int_equal(qs_window_flags(s.v, s.n, 0, flags, &got), QS_OK);
    assert_int_equal(got.window, 36);
    assert_int_equal(got.n_assessed, s.n - 18);
    size_t low = 0, high = 0;
    for (size_t i = 18; i < s.n; i++) {
        uint8_t want = flag_of(s.v, s.n, 18, i);
        assert_int_equal(flags[i], want);
        low += want == QS_OUTLIER_LOW;
        high += want == QS_OUTLIER_HIGH;
    }
    assert_int_equal(got.n_low, low);
    assert_int_equal(got.n_high, high);
    EXPECT(flags[100] == QS_OUTLIER_HIGH && flags[360] == QS_OUTLIER_LOW && flags[5] == 0);
    ref_free(&s);
}

static void test_window_declines(void **state)
{
    (void)state;
    static double x[2500];
    struct qs_window_outliers got;
    uint8_t flags[100];
    x[50] = 7;
    assert_int_equal(qs_window_flags(x, 100, 0, flags, &got), QS_OK);
    EXPECT(got.window == 10 && got.n_high == 1 && flags[50] == QS_OUTLIER_HIGH);
    assert_int_equal(qs_window_flags(x, 100, 50, flags, &got), QS_OK);
    EXPECT(got.window == 50 && got.n_high == 0 && flags[50] == 0); /* no band */
    assert_int_equal(qs_window_flags(x, 2500, 0, NULL, &got), QS_OK);
    assert_int_equal(got.window, 200);
    assert_int_equal(qs_window_flags(x, 79, 0, NULL, &got), QS_ETOOFEW);
    assert_int_equal(qs_window_flags(x, 20, 22, NULL, &got), QS_ETOOFEW);
    assert_int_equal(qs_window_flags(x, 20, 9, NULL, &got), QS_EDOM);
    assert_int_equal(qs_window_flags(x, 0, 0, NULL, &got), QS_ENODATA);
    x[3] = NAN;
    assert_int_equal(qs_window_flags(x, 100, 0, flags, &got), QS_EDOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mean_against_r),
        cmocka_unit_test(test_median_against_r),
        cmocka_unit_test(test_effective_size_widens),
        cmocka_unit_test(test_degenerate_intervals),
        cmocka_unit_test(test_z_interval),
        cmocka_unit_test(test_tukey_against_r),
        cmocka_unit_test(test_tukey_flags),
        cmocka_unit_test(test_tukey_declines),
        cmocka_unit_test(test_window_flags),
        cmocka_unit_test(test_what_lies_on_the_band),
        cmocka_unit_test(test_window_declines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
