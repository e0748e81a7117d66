/* Many comparisons at once. */
#include "reference.h"

#include "stats/multi.h"
#include "stats/ranks.h"
#include "stats/rng.h"
#include "stats/special.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { M = 101 };

static void check_against(json_t *sweep, const char *from, enum qs_multi_method method, const char *want)
{
    struct series p = ref_array(ref_at(sweep, from)), expected = ref_array(ref_at(sweep, want));
    double out[M];
    assert_int_equal(p.n, M);
    assert_int_equal(expected.n, M);
    assert_int_equal(qs_adjust(p.v, M, method, out), QS_OK);
    for (size_t i = 0; i < M; i++)
        check_near(want, out[i], expected.v[i], 1e-12, 0);
    ref_free(&p);
    ref_free(&expected);
}

static void test_against_r(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json"), *sweep = ref_at(root, "sweep");
    check_against(sweep, "p_log_welch", QS_MULTI_BH, "bh_log_welch");
    check_against(sweep, "p_mwu", QS_MULTI_BH, "bh_mwu");
    check_against(sweep, "p_mwu", QS_MULTI_BY, "by_mwu");
    check_against(sweep, "p_mwu", QS_MULTI_HOLM, "holm_mwu");
    json_decref(root);
}

static void test_by_hand(void **state)
{
    (void)state;
    const double p[] = {0.04, 0.01, 0.03, 0.5};
    double out[4];
    assert_int_equal(qs_adjust(p, 4, QS_MULTI_BH, out), QS_OK);
    check_near("4 of 4: .04 4/3", out[0], 0.16 / 3, 1e-14, 0);
    check_near(".01 4", out[1], 0.04, 1e-14, 0);
    check_near("that of the next larger one", out[2], 0.16 / 3, 1e-14, 0);
    check_near("the largest", out[3], 0.5, 0, 0);
    assert_int_equal(qs_adjust(p, 4, QS_MULTI_HOLM, out), QS_OK);
    check_near("holm .03 3", out[2], 0.09, 1e-14, 0);
    check_near("holm: that of the next smaller one", out[0], 0.09, 1e-14, 0);
    check_near("by: 25/12", (qs_adjust(p, 4, QS_MULTI_BY, out), out[1]), 0.04 * 25 / 12, 1e-14, 0);
}

static void test_properties(void **state)
{
    (void)state;
    struct qs_rng rng;
    double p[M], bh[M], by[M], holm[M], turned[M];
    qs_rng_seed(&rng, 3, 8);
    for (size_t i = 0; i < M; i++)
        p[i] = i % 9 ? qs_rng_unit(&rng) : 0.01; /* with ties */
    (void)qs_adjust(p, M, QS_MULTI_BH, bh);
    (void)qs_adjust(p, M, QS_MULTI_BY, by);
    (void)qs_adjust(p, M, QS_MULTI_HOLM, holm);
    for (size_t i = 0; i < M; i++) {
        EXPECT(bh[i] >= p[i] && bh[i] <= 1 && by[i] >= bh[i] && holm[i] >= bh[i] && holm[i] <= 1);
        turned[i] = p[M - 1 - i];
        for (size_t j = 0; j < i; j++)
            EXPECT(p[i] > p[j] ? bh[i] >= bh[j] : bh[i] <= bh[j] || p[i] >= p[j]);
    }
    (void)qs_adjust(turned, M, QS_MULTI_BH, turned); /* in place, in another order */
    for (size_t i = 0; i < M; i++)
        check_near("order", turned[i], bh[M - 1 - i], 0, 0);
}

static void test_edges(void **state)
{
    (void)state;
    const double bad[] = {0.5, NAN}, one[] = {0.2}, ends[] = {0, 1};
    double out[2];
    assert_int_equal(qs_adjust(bad, 0, QS_MULTI_BH, out), QS_ENODATA);
    assert_int_equal(qs_adjust(bad, 2, QS_MULTI_BH, out), QS_EDOM);
    EXPECT(isnan(out[0]) && isnan(out[1]));
    assert_int_equal(qs_adjust(one, 1, QS_MULTI_HOLM, out), QS_OK);
    check_near("one", out[0], 0.2, 0, 0);
    assert_int_equal(qs_adjust(ends, 2, QS_MULTI_BY, out), QS_OK);
    EXPECT(out[0] <= 0 && out[1] >= 1 && out[1] <= 1);
    check_near("5 of 100 at 5 %", qs_fcr_level(5, 100, 0.05), 0.9975, 1e-15, 0);
    check_near("all", qs_fcr_level(7, 7, 0.1), 0.9, 1e-15, 0);
    EXPECT(isnan(qs_fcr_level(0, 7, 0.1)) && isnan(qs_fcr_level(8, 7, 0.1)) && isnan(qs_fcr_level(1, 7, 1)));
    EXPECT(isnan(qs_pocock_p(0)) && isnan(qs_pocock_p(6)));
    assert_string_equal(qs_multi_name(QS_MULTI_BY), "by");
    /* statistics.md 8.12: 101 exact tests need 8 values a side */
    assert_int_equal(qs_mwu_runs_needed(0.05 / 101), 8);
}

/* Random walks: at most 5 % of them cross the bound at any of K equally spaced looks. */
static void test_pocock_holds(void **state)
{
    (void)state;
    enum { WALKS = 100000 };
    struct qs_rng rng;
    qs_rng_seed(&rng, 11, 2);
    for (size_t looks = 1; looks <= 5; looks++) {
        double z = -qs_qnorm(qs_pocock_p(looks) / 2);
        size_t crossed = 0;
        for (int w = 0; w < WALKS; w++) {
            double sum = 0;
            bool out = false;
            for (size_t k = 1; k <= looks; k++) {
                sum += qs_qnorm(qs_rng_unit(&rng) + 0x1p-54);
                out = out || fabs(sum) > z * sqrt((double)k);
            }
            crossed += out;
        }
        check_near("crossings", (double)crossed / WALKS, 0.05, 0, 0.0025); /* 3.6 standard errors */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_r),    cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_properties),   cmocka_unit_test(test_edges),
        cmocka_unit_test(test_pocock_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
