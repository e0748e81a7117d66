/* Variance components and the interval over runs: NIST StRD and R. */
#include "reference.h"

#include "stats/hier.h"
#include "stats/variance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MAX_RUNS = 64 };

struct nested {
    struct series values;
    size_t off[MAX_RUNS + 1];
    struct qs_nested data;
};

/* Balanced: k runs of equal length. */
static void nest(struct nested *n, struct series values, size_t k)
{
    n->values = values;
    for (size_t j = 0; j <= k; j++)
        n->off[j] = j * (values.n / k);
    n->data = (struct qs_nested){.v = n->values.v, .off = n->off, .k = k};
}

static void test_nist_anova(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t k;
        double lre;
    } sets[] = {{"SiRstv", 5, 12}, {"SmLs01", 9, 14}, {"SmLs04", 9, 9}};
    json_t *certified = ref_json("nist_anova/certified.json");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char path[64];
        struct nested n;
        struct qs_varcomp got;
        (void)snprintf(path, sizeof path, "nist_anova/%s.csv", sets[i].name);
        nest(&n, ref_csv(path, 1), sets[i].k);
        json_t *want = ref_at(certified, sets[i].name);
        assert_int_equal(qs_varcomp(&n.data, &got), QS_OK);
        check_lre(sets[i].name, got.f, ref_number(want, "F"), sets[i].lre);
        check_lre(sets[i].name, got.ms_between, ref_number(want, "ms_between"), sets[i].lre);
        check_lre(sets[i].name, got.ms_within, ref_number(want, "ms_within"), sets[i].lre);
        ref_free(&n.values);
    }
    json_decref(certified);
}

/* SmLs07: the values of SmLs01 with an offset of 10^12, certified to the same F = 21. */
static void test_twelve_common_digits(void **state)
{
    (void)state;
    struct nested n;
    struct qs_varcomp got;
    nest(&n, ref_csv("nist_anova/SmLs01.csv", 1), 9);
    for (size_t i = 0; i < n.values.n; i++)
        n.values.v[i] = 1e12 + (n.values.v[i] - 1);
    assert_int_equal(qs_varcomp(&n.data, &got), QS_OK);
    check_lre("SmLs07 F", got.f, 21, 4);
    ref_free(&n.values);
}

/* lme4's, which stops where the likelihood is flat enough. */
static void check_reml(const char *name, const struct qs_nested *data, json_t *want)
{
    struct qs_reml got;
    if (!want)
        return;
    assert_int_equal(qs_reml(data, &got), QS_OK);
    check_near(name, got.between, ref_number(want, "between"), 1e-4, 0);
    check_near(name, got.within, ref_number(want, "within"), 1e-4, 0);
    check_near(name, got.mean, ref_number(want, "mean"), 1e-9, 0);
    check_near(name, got.se, ref_number(want, "se"), 1e-4, 0);
}

static void check_components(const char *name, struct nested *n, json_t *want)
{
    struct qs_varcomp got;
    struct qs_ci ci;
    double rel = strstr(name, "SmLs04") ? 1e-9 : 1e-10; /* R loses digits to the offset */
    assert_int_equal(qs_varcomp(&n->data, &got), QS_OK);
    check_reml(name, &n->data, ref_at(want, "reml"));
    check_near(name, got.n0, ref_number(want, "n0"), 1e-12, 0);
    check_near(name, got.f, ref_number(want, "F"), rel, 0);
    check_near(name, got.t1, ref_number(want, "T1"), rel, 0);
    check_near(name, got.t2, ref_number(want, "T2"), rel, 0);
    check_near(name, got.icc, ref_number(want, "icc"), rel, 0);
    check_near(name, got.grand_mean, ref_number(want, "grand"), 1e-12, 0);
    check_near(name, got.mean_of_means, ref_number(want, "mean_of_means"), 1e-12, 0);
    check_near(name, got.s2_means, ref_number(want, "S2A"), 1e-9, 0);
    assert_int_equal(qs_hier_ci(&n->data, 0.95, &ci), QS_OK);
    check_near(name, ci.lo, ref_item(ref_at(want, "ci_anova_t"), 0), 1e-11, 0);
    check_near(name, ci.hi, ref_item(ref_at(want, "ci_anova_t"), 1), 1e-11, 0);
    assert_int_equal(got.flags, 0);
}

static void test_against_r(void **state)
{
    (void)state;
    static const struct {
        const char *name, *series;
        size_t k;
    } sets[] = {{"michelson_5x20", "nist_Michelso", 5}, {"pyperf_telco_40x3", "pyperf_telco", 40}};
    static const char *const anova[] = {"SiRstv", "SmLs01", "SmLs04"};
    json_t *root = ref_json("reference-r.json"), *hier = ref_at(root, "hierarchical");
    struct nested n;
    char text[64];
    for (size_t i = 0; i < 2; i++) {
        nest(&n, ref_series(root, sets[i].series), sets[i].k);
        check_components(sets[i].name, &n, ref_at(hier, sets[i].name));
        ref_free(&n.values);
    }
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(text, sizeof text, "nist_anova/%s.csv", anova[i]);
        nest(&n, ref_csv(text, 1), i == 0 ? 5 : 9);
        (void)snprintf(text, sizeof text, "nist_%s", anova[i]);
        check_components(text, &n, ref_at(hier, text));
        ref_free(&n.values);
    }
    json_decref(root);
}

/* Runs {1,3}, {2,4,6}, {10}: means 2, 4, 10; SSW = 2 + 8 = 10, grand 26/6. */
static void test_unbalanced_by_hand(void **state)
{
    (void)state;
    static const double v[] = {-7, 1, 3, 2, 4, 6, 10};
    static const size_t off[] = {1, 3, 6, 7};
    struct qs_nested data = {.v = v, .off = off, .k = 3};
    struct qs_varcomp got;
    assert_int_equal(qs_varcomp(&data, &got), QS_OK);
    double g = 26.0 / 6, ssb = 2 * (2 - g) * (2 - g) + 3 * (4 - g) * (4 - g) + (10 - g) * (10 - g);
    check_near("MSB", got.ms_between, ssb / 2, 1e-14, 0);
    check_near("MSW", got.ms_within, 10.0 / 3, 1e-14, 0);
    check_near("n0", got.n0, (6 - 14.0 / 6) / 2, 1e-14, 0);
    check_near("T2", got.t2, (ssb / 2 - 10.0 / 3) / got.n0, 1e-13, 0);
    check_near("mean of means", got.mean_of_means, 16.0 / 3, 1e-14, 0);
    check_near("variance of means", got.s2_means, 52.0 / 3, 1e-13, 0);
    struct qs_ci ci;
    assert_int_equal(qs_hier_ci(&data, 0.95, &ci), QS_OK);
    check_near("lo", ci.lo, 16.0 / 3 - 4.302652729749464 * sqrt(52.0 / 9), 1e-12, 0);
    struct qs_reml r; /* nlme 3.1-162: VarCorr(lme(y ~ 1, random = ~ 1 | run)) */
    assert_int_equal(qs_reml(&data, &r), QS_OK);
    check_near("between", r.between, 13.845818, 1e-4, 0);
    check_near("within", r.within, 3.433066, 1e-4, 0);
    check_near("mean", r.mean, 5.158265753, 1e-5, 0);
    check_near("se", r.se, 2.30117983, 1e-4, 0);
}

/* Whole numbers at 2^52, where the grand mean cannot be written down to better than 1/2. */
static void test_an_offset_changes_nothing(void **state)
{
    (void)state;
    double v[] = {0, 1, 1, 3, 0, 2, 5, 4, 4};
    static const size_t off[] = {0, 2, 5, 9};
    struct qs_nested data = {.v = v, .off = off, .k = 3};
    struct qs_varcomp plain, moved;
    assert_int_equal(qs_varcomp(&data, &plain), QS_OK);
    for (int i = 0; i < 9; i++)
        v[i] += 0x1p52;
    assert_int_equal(qs_varcomp(&data, &moved), QS_OK);
    check_near("MSB", moved.ms_between, plain.ms_between, 1e-13, 0);
    check_near("T2", moved.t2, plain.t2, 1e-13, 0);
    check_near("variance of means", moved.s2_means, plain.s2_means, 1e-13, 0);
}

static void test_no_run_effect_is_clamped(void **state)
{
    (void)state;
    static const double v[] = {1, 9, 2, 8, 3, 7};
    static const size_t off[] = {0, 2, 4, 6};
    struct qs_nested data = {.v = v, .off = off, .k = 3};
    struct qs_varcomp got;
    assert_int_equal(qs_varcomp(&data, &got), QS_OK);
    check_near("T2", got.t2, 0, 0, 0);
    EXPECT(got.flags & QS_FLAG_CLAMPED);
    check_near("icc", got.icc, 0, 0, 0);
}

static void test_degenerate(void **state)
{
    (void)state;
    double v[] = {5, 5, 7, 7};
    static const size_t two[] = {0, 2, 4}, single[] = {0, 1, 2, 3, 4}, hole[] = {0, 2, 2, 4};
    struct qs_nested data = {.v = v, .off = two, .k = 0};
    struct qs_varcomp got;
    struct qs_ci ci;
    assert_int_equal(qs_varcomp(&data, &got), QS_ENODATA);
    data.k = 1;
    assert_int_equal(qs_varcomp(&data, &got), QS_ETOOFEW);
    check_near("one run", got.mean_of_means, 5, 0, 0);
    assert_int_equal(qs_hier_ci(&data, 0.95, &ci), QS_ETOOFEW);
    EXPECT(isnan(ci.lo) && isnan(got.t2) && isnan(got.f));
    check_near("one run varies within", got.t1, 0, 0, 0);
    data.k = 2;
    assert_int_equal(qs_varcomp(&data, &got), QS_OK); /* all of the variance is between runs */
    EXPECT(isinf(got.f) && got.t2 > 1.99 && got.icc >= 1);
    data = (struct qs_nested){.v = v, .off = single, .k = 4};
    assert_int_equal(qs_varcomp(&data, &got), QS_ETOOFEW);
    EXPECT(isnan(got.t1) && isnan(got.t2));
    assert_int_equal(qs_hier_ci(&data, 0.95, &ci), QS_OK);
    check_near("centre", (ci.lo + ci.hi) / 2, 6, 1e-15, 0);
    data = (struct qs_nested){.v = v, .off = hole, .k = 3};
    assert_int_equal(qs_varcomp(&data, &got), QS_ENODATA);
    v[1] = NAN;
    data = (struct qs_nested){.v = v, .off = two, .k = 2};
    assert_int_equal(qs_varcomp(&data, &got), QS_EDOM);
    assert_int_equal(qs_hier_ci(&data, 2, &ci), QS_EDOM);
}

static void test_all_equal(void **state)
{
    (void)state;
    static const double v[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    static const size_t off[] = {0, 2, 4, 6};
    struct qs_nested data = {.v = v, .off = off, .k = 3};
    struct qs_varcomp got;
    struct qs_ci ci;
    assert_int_equal(qs_varcomp(&data, &got), QS_OK);
    EXPECT(isnan(got.f) && isnan(got.icc) && got.t1 <= 0 && got.t2 <= 0);
    assert_int_equal(qs_hier_ci(&data, 0.95, &ci), QS_OK);
    EXPECT(ci.flags & QS_FLAG_EXACT);
    check_near("point", ci.lo, 0.1, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nist_anova),
        cmocka_unit_test(test_twelve_common_digits),
        cmocka_unit_test(test_against_r),
        cmocka_unit_test(test_unbalanced_by_hand),
        cmocka_unit_test(test_an_offset_changes_nothing),
        cmocka_unit_test(test_no_run_effect_is_clamped),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_all_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
