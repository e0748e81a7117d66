/* Summaries: certified values (NIST StRD), R's values, and properties that hold for any data. */
#include "reference.h"

#include "stats/describe.h"
#include "stats/rng.h"
#include "stats/sum.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const double REL = 1e-12;

static void test_nist_certified(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double sd_lre;
    } sets[] = {{"Lew", 12},     {"Lottery", 12}, {"Michelso", 12},
                {"NumAcc1", 12}, {"NumAcc2", 12}, {"NumAcc3", 9}};
    json_t *certified = ref_json("nist/certified.json");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "nist/%s.csv", sets[i].name);
        struct series s = ref_csv(path, 0);
        json_t *want = ref_at(certified, sets[i].name);
        assert_int_equal(s.n, (size_t)ref_number(want, "n"));
        struct qs_summary got;
        assert_int_equal(qs_describe(s.v, s.n, &got), QS_OK);
        check_lre(sets[i].name, got.mean, ref_number(want, "mean"), 14);
        check_lre(sets[i].name, got.sd, ref_number(want, "sd"), sets[i].sd_lre);
        ref_free(&s);
    }
    json_decref(certified);
}

/* NumAcc4 by its published rule: 10000000.2, then .1 and .3 in turns, 1001 values; sd 0.1 is certified. */
static void test_nist_numacc4(void **state)
{
    (void)state;
    static double x[1001];
    for (int i = 0; i < 1001; i++)
        x[i] = i == 0 ? 10000000.2 : i % 2 == 1 ? 10000000.1 : 10000000.3;
    struct qs_summary got;
    assert_int_equal(qs_describe(x, 1001, &got), QS_OK);
    check_lre("NumAcc4 mean", got.mean, 10000000.2, 14);
    check_lre("NumAcc4 sd", got.sd, 0.1, 8);
    /* of these doubles, in fractions (Python) */
    check_near("NumAcc4 skewness", got.skew, 2.7925717712453463e-11, 0, 1e-13);
    check_near("NumAcc4 kurtosis", got.kurt, -1.9989999999999997, 1e-14, 0);
}

static void check_location(const char *name, const struct qs_summary *got, json_t *want)
{
    check_near(name, got->mean, ref_number(want, "mean"), REL, 0);
    check_near(name, got->min, ref_number(want, "min"), 1e-14, 0);
    check_near(name, got->max, ref_number(want, "max"), 1e-14, 0);
    check_near(name, got->median, ref_number(want, "median"), REL, 0);
    for (size_t i = 0; i < QS_Q_COUNT; i++)
        check_near(name, got->q[i], ref_item(ref_at(want, "q7"), i), REL, 0);
    check_near(name, got->trim05, ref_number(want, "trim05"), REL, 0);
    check_near(name, got->trim10, ref_number(want, "trim10"), REL, 0);
    check_near(name, got->trim25, ref_number(want, "trim25"), REL, 0);
    check_near(name, got->geomean, ref_number(want, "geomean"), REL, 0);
}

static double ulps_of(const struct qs_summary *s)
{
    return 8 * DBL_EPSILON * fmax(fabs(s->min), fabs(s->max));
}

/* abs: R's own values of data with a large common offset carry this much rounding */
static void check_spread(const char *name, const struct qs_summary *got, json_t *want)
{
    double ulps = ulps_of(got);
    check_near(name, got->sd, ref_number(want, "sd"), REL, ulps);
    check_near(name, got->var, ref_number(want, "var"), REL, ulps * got->sd);
    check_near(name, got->cov, ref_number(want, "cov"), REL, 1e-15);
    check_near(name, got->rse, ref_number(want, "rse"), REL, 1e-15);
    check_near(name, got->iqr, ref_number(want, "iqr"), REL, ulps);
    check_near(name, got->mad_raw, ref_number(want, "mad_raw"), REL, ulps);
    /* R multiplies by the rounded constant 1.4826 */
    check_near(name, got->mad, ref_number(want, "mad") / 1.4826 * 1.482602218505602, REL, ulps);
    check_near(name, got->geosd, ref_number(want, "geosd"), REL, 0);
    check_near(name, got->gini, ref_number(want, "gini"), REL, 2e-15);
    /* R's table has no shape for fewer than three values, where it says nothing */
    if (got->n < 3)
        return;
    /* R takes the rounded mean for the centre: of Michelso the cubes' exact mean is ours */
    check_near(name, got->skew, ref_number(want, "skew_g1"), 1e-11, ulps_of(got) / got->sd);
    check_near(name, got->kurt, ref_number(want, "kurt_g2"), 1e-11, 1e-12);
}

static void test_against_r(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json"), *want;
    const char *name;
    int compared = 0;
    json_object_foreach(ref_at(root, "univariate"), name, want)
    {
        struct series s = ref_series(root, name);
        assert_int_equal(s.n, (size_t)ref_number(want, "n"));
        struct qs_summary got;
        assert_int_equal(qs_describe(s.v, s.n, &got), QS_OK);
        check_location(name, &got, want);
        if (s.n > 1)
            check_spread(name, &got, want);
        compared++;
        ref_free(&s);
    }
    json_decref(root);
    assert_int_equal(compared, 22);
}

static void test_quantile_types(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json"), *want;
    const char *name;
    static const double probs[] = {0.05, 0.25, 0.5, 0.75, 0.95};
    json_object_foreach(ref_at(root, "univariate"), name, want)
    {
        struct series s = ref_series(root, name);
        qs_sort(s.v, s.n);
        for (size_t i = 0; i < 5; i++)
            check_near(name, qs_quantile(s.v, s.n, probs[i], QS_QTYPE_8), ref_item(ref_at(want, "q8"), i),
                       REL, 1e-12);
        check_near(name, qs_quantile(s.v, s.n, 0, QS_QTYPE_7), s.v[0], 0, 0);
        check_near(name, qs_quantile(s.v, s.n, 1, QS_QTYPE_7), s.v[s.n - 1], 0, 0);
        ref_free(&s);
    }
    json_decref(root);
    double one = 3;
    EXPECT(isnan(qs_quantile(&one, 0, 0.5, QS_QTYPE_7)));
    EXPECT(isnan(qs_quantile(&one, 1, 1.5, QS_QTYPE_7)));
    EXPECT(isnan(qs_quantile(&one, 1, NAN, QS_QTYPE_7)));
}

static void test_bad_input(void **state)
{
    (void)state;
    struct qs_summary s;
    double bad[] = {1, 2, NAN, 4};
    assert_int_equal(qs_describe(bad, 0, &s), QS_ENODATA);
    assert_int_equal(qs_describe(bad, 4, &s), QS_EDOM);
    EXPECT(isnan(s.mean) && isnan(s.q[0]) && isnan(s.trim05) && s.n == 4);
    bad[2] = INFINITY;
    assert_int_equal(qs_describe(bad, 4, &s), QS_EDOM);
    bad[2] = -INFINITY;
    assert_int_equal(qs_describe(bad, 4, &s), QS_EDOM);
    double huge[] = {1e308, -1e308, 1e308};
    assert_int_equal(qs_describe(huge, 3, &s), QS_EDOM);
    double tiny[] = {1e-165, 2e-165, 4e-165}, small[] = {1e-150, 2e-150, 4e-150};
    assert_int_equal(qs_describe(tiny, 3, &s), QS_EDOM); /* their deviation is not 0 */
    EXPECT(isnan(s.sd) && isnan(s.var));
    assert_int_equal(qs_describe(small, 3, &s), QS_OK);
    check_near("sd", s.sd, sqrt(7.0 / 3) * 1e-150, 1e-14, 0);
}

static void test_one_value_has_location_only(void **state)
{
    (void)state;
    double x = 5;
    struct qs_summary s;
    assert_int_equal(qs_describe(&x, 1, &s), QS_OK);
    EXPECT(s.mean >= 5 && s.mean <= 5 && s.median >= 5 && s.q[QS_Q99] <= 5 && s.geomean > 4.9);
    const double null[] = {s.var, s.sd,      s.cov,   s.cov_abs, s.rse,  s.iqr,  s.rel_iqr,
                           s.mad, s.mad_raw, s.scale, s.geosd,   s.gini, s.skew, s.kurt};
    for (size_t i = 0; i < sizeof null / sizeof *null; i++)
        EXPECT(isnan(null[i]));
    assert_int_equal(s.scale_source, QS_SCALE_NONE);
}

static void test_constant_is_exactly_zero(void **state)
{
    (void)state;
    double x[7];
    for (int i = 0; i < 7; i++)
        x[i] = 0.1; /* seven of them do not sum to 0.7 */
    struct qs_summary s;
    assert_int_equal(qs_describe(x, 7, &s), QS_OK);
    check_near("mean", s.mean, 0.1, 0, 0);
    const double zero[] = {s.var, s.sd, s.cov, s.rse, s.iqr, s.mad, s.scale, s.gini};
    for (size_t i = 0; i < sizeof zero / sizeof *zero; i++)
        check_near("spread of a constant", zero[i], 0, 0, 0);
    EXPECT(isnan(s.skew) && isnan(s.kurt));
}

static void test_scale_falls_back(void **state)
{
    (void)state;
    struct qs_summary s;
    double mad[] = {1, 2, 3, 4, 10}, iqr[] = {5, 5, 5, 5, 5, 6, 7, 8, 9}, sd[] = {5, 5, 5, 5, 5, 5, 5, 5, 9};
    assert_int_equal(qs_describe(mad, 5, &s), QS_OK);
    assert_int_equal(s.scale_source, QS_SCALE_MAD);
    check_near("mad", s.scale, 1.482602218505602, 1e-15, 0);
    assert_int_equal(qs_describe(iqr, 9, &s), QS_OK);
    assert_int_equal(s.scale_source, QS_SCALE_IQR);
    check_near("iqr", s.scale, 2 / 1.349, 1e-15, 0);
    assert_int_equal(qs_describe(sd, 9, &s), QS_OK);
    assert_int_equal(s.scale_source, QS_SCALE_SD);
    check_near("sd", s.scale, s.sd, 0, 0);
    assert_string_equal(qs_scale_source_names[s.scale_source], "sd");
}

static void test_undefined_ratios_are_null(void **state)
{
    (void)state;
    struct qs_summary s;
    double zero_mean[] = {-1, 0, 1}, negative[] = {-4, -2, -3}, with_zero[] = {0, 1, 2}, zeros[] = {0, 0, 0};
    assert_int_equal(qs_describe(zero_mean, 3, &s), QS_OK);
    EXPECT(isnan(s.cov) && isnan(s.rse) && isnan(s.rel_iqr) && isnan(s.gini) && isnan(s.geomean));
    assert_int_equal(qs_describe(negative, 3, &s), QS_OK);
    check_near("relative IQR", s.rel_iqr, 1.0 / 3, 1e-15, 0);
    EXPECT(s.cov < 0 && s.cov_abs > 0 && s.rse_abs > 0 && isnan(s.geosd) && isnan(s.gini));
    assert_int_equal(qs_describe(with_zero, 3, &s), QS_OK);
    EXPECT(isnan(s.geomean) && isnan(s.geosd));
    check_near("gini", s.gini, 4.0 / 9, 1e-14, 0);
    assert_int_equal(qs_describe(zeros, 3, &s), QS_OK);
    EXPECT(isnan(s.gini) && isnan(s.cov));
}

static void check_same(const struct qs_summary *a, const struct qs_summary *b, double factor)
{
    check_near("mean", a->mean, b->mean * factor, 1e-13, 0);
    check_near("sd", a->sd, b->sd * factor, 1e-12, 0);
    check_near("median", a->median, b->median * factor, 1e-15, 0);
    check_near("mad", a->mad, b->mad * factor, 1e-12, 0);
    check_near("trim", a->trim10, b->trim10 * factor, 1e-13, 0);
    check_near("gini", a->gini, b->gini, 1e-12, 0);
    check_near("cov", a->cov, b->cov, 1e-12, 0);
    check_near("skew", a->skew, b->skew, 1e-10, 1e-12);
    check_near("geosd", a->geosd, b->geosd, 1e-12, 0);
}

static void test_order_and_unit_do_not_matter(void **state)
{
    (void)state;
    struct series s = ref_csv("otava/tigerbeetle.csv", 0);
    struct qs_summary plain, other;
    assert_int_equal(qs_describe(s.v, s.n, &plain), QS_OK);
    for (size_t i = 0; i < s.n / 2; i++) {
        double t = s.v[i];
        s.v[i] = s.v[s.n - 1 - i];
        s.v[s.n - 1 - i] = t;
    }
    assert_int_equal(qs_describe(s.v, s.n, &other), QS_OK);
    check_same(&other, &plain, 1);
    for (size_t i = 0; i < s.n; i++)
        s.v[i] *= 1e-9;
    assert_int_equal(qs_describe(s.v, s.n, &other), QS_OK);
    check_same(&other, &plain, 1e-9);
    ref_free(&s);
}

static void test_a_shift_moves_location_only(void **state)
{
    (void)state;
    struct series s = ref_csv("perfolizer/real1.csv", 0);
    struct qs_summary plain, moved;
    assert_int_equal(qs_describe(s.v, s.n, &plain), QS_OK);
    for (size_t i = 0; i < s.n; i++)
        s.v[i] += 0x1p50; /* whole numbers: the shift is exact */
    assert_int_equal(qs_describe(s.v, s.n, &moved), QS_OK);
    check_near("mean", moved.mean, plain.mean + 0x1p50, 1e-15, 0);
    check_near("sd", moved.sd, plain.sd, 1e-12, 0);
    check_near("iqr", moved.iqr, plain.iqr, 1e-3, 0);
    check_near("skew", moved.skew, plain.skew, 1e-2, 0);
    ref_free(&s);
}

static void test_lorenz(void **state)
{
    (void)state;
    /* Twice the area between the diagonal and the curve is the Gini coefficient. */
    double x[] = {15, 1, 3, 13, 5, 7, 11, 9}, share[9], area = 0;
    assert_int_equal(qs_lorenz(x, 8, share), QS_OK);
    for (int i = 0; i <= 8; i++)
        check_near("share", share[i], i * i / 64.0, 1e-15, 0);
    for (int i = 0; i < 8; i++)
        area += (share[i] + share[i + 1]) / 16;
    check_near("gini", 1 - 2 * area, 0.328125, 1e-14, 0);
    x[4] = 0;
    assert_int_equal(qs_lorenz(x, 8, share), QS_OK);
    check_near("a zero has no share", share[1], 0, 0, 0);
    x[4] = -1;
    assert_int_equal(qs_lorenz(x, 8, share), QS_EDOM);
    EXPECT(isnan(share[0]) && isnan(share[8]));
    x[4] = INFINITY;
    assert_int_equal(qs_lorenz(x, 8, share), QS_EDOM);
    assert_int_equal(qs_lorenz((const double[]){0, 0}, 2, share), QS_EDEGENERATE);
    assert_int_equal(qs_lorenz((const double[]){DBL_MAX, DBL_MAX}, 2, share), QS_EDOM);
    EXPECT(isnan(share[2]));
    assert_int_equal(qs_lorenz((const double[]){7}, 1, share), QS_OK);
    check_near("one value has all", share[1], 1, 0, 0);
    assert_int_equal(qs_lorenz(x, 0, share), QS_ENODATA);
}

/* Of ten values a fifth at most goes from either end; of none, and of no share of them, there is none. */
static void test_trimmed_means(void **state)
{
    (void)state;
    static const double x[] = {-90, 1, 2, 3, 4, 5, 6, 7, 8, 1009};
    check_near("nothing cut", qs_trimmed_mean(x, 10, 0), 95.5, 1e-15, 0);
    check_near("less than one", qs_trimmed_mean(x, 10, 0.09), 95.5, 1e-15, 0);
    check_near("one", qs_trimmed_mean(x, 10, 0.1), 4.5, 1e-15, 0);
    check_near("four", qs_trimmed_mean(x, 10, 0.49), 4.5, 1e-15, 0);
    check_near("the middle", qs_trimmed_mean(x, 5, 0.4), 2, 1e-15, 0);
    EXPECT(isnan(qs_trimmed_mean(x, 0, 0.1)) && isnan(qs_trimmed_mean(x, 10, 0.5)));
    EXPECT(isnan(qs_trimmed_mean(x, 10, -0.01)) && isnan(qs_trimmed_mean(x, 10, NAN)));
    EXPECT(isnan(qs_quantile(x, 10, -0.01, QS_QTYPE_7)));
}

static void test_sums_keep_lost_parts(void **state)
{
    (void)state;
    struct qs_acc acc = {0};
    static const double x[] = {1, 1e100, 1, -1e100};
    for (int i = 0; i < 4; i++)
        qs_acc_add(&acc, x[i]);
    check_near("sum", qs_acc_value(&acc), 2, 0, 0);
}

static void test_status_names(void **state)
{
    (void)state;
    assert_string_equal(qs_status_name(QS_OK), "ok");
    assert_string_equal(qs_status_name(QS_ECANCELED), "canceled");
    assert_string_equal(qs_status_name(QS_EDEGENERATE), "degenerate");
    struct qs_ci none = qs_ci_none(0.9);
    EXPECT(isnan(none.lo) && isnan(none.hi) && none.flags == 0);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Few and many values are sorted differently: the C library's order for both, whatever the values are. */
static void test_sort(void **state)
{
    (void)state;
    enum { N = 20000 };
    static const double edges[] = {0,       INFINITY, -INFINITY, DBL_MAX, -DBL_MAX,
                                   DBL_MIN, -DBL_MIN, 5e-324,    -5e-324, -1e300};
    static const size_t sizes[] = {0, 1, 2, 10, 4095, 4096, N};
    double *x = calloc(N, sizeof *x), *want = calloc(N, sizeof *want);
    struct qs_rng rng;
    assert_true(x && want);
    qs_rng_seed(&rng, 9, 9);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        for (size_t i = 0; i < sizes[k]; i++) {
            double v = (double)qs_rng_below(&rng, 2000) - 1000;
            x[i] = want[i] = i < 10 ? edges[i] : v * exp(5 * v / 1000 * (double)(i % 8));
        }
        qsort(want, sizes[k], sizeof *want, ascending);
        qs_sort(x, sizes[k]);
        for (size_t i = 0; i < sizes[k]; i++)
            check_near("sorted", x[i] / 2, want[i] / 2, 0, 0);
    }
    free(x);
    free(want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_nist_certified),
        cmocka_unit_test(test_nist_numacc4),
        cmocka_unit_test(test_against_r),
        cmocka_unit_test(test_quantile_types),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_one_value_has_location_only),
        cmocka_unit_test(test_constant_is_exactly_zero),
        cmocka_unit_test(test_scale_falls_back),
        cmocka_unit_test(test_undefined_ratios_are_null),
        cmocka_unit_test(test_order_and_unit_do_not_matter),
        cmocka_unit_test(test_a_shift_moves_location_only),
        cmocka_unit_test(test_lorenz),
        cmocka_unit_test(test_trimmed_means),
        cmocka_unit_test(test_sums_keep_lost_parts),
        cmocka_unit_test(test_status_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
