/* Autocorrelation, Ljung-Box and effective sample size. */
#include "reference.h"
#include "second.h"

#include "stats/dependence.h"
#include "stats/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_nist_r1(void **state)
{
    (void)state;
    static const char *const names[] = {"Lew", "Lottery", "Michelso", "NumAcc1", "NumAcc2", "NumAcc3"};
    json_t *certified = ref_json("nist/certified.json");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "nist/%s.csv", names[i]);
        struct series s = ref_csv(path, 0);
        double r[2];
        assert_int_equal(qs_acf(s.v, s.n, NULL, 0, 1, r), QS_OK);
        check_lre(names[i], r[1], ref_number(ref_at(certified, names[i]), "r1"), 12);
        ref_free(&s);
    }
    json_decref(certified);
}

static void check_ljung(const char *name, const struct series *s, size_t lags, json_t *want)
{
    if (!want || s->n <= lags)
        return;
    struct qs_ljung_box got;
    assert_int_equal(qs_ljung_box(s->v, s->n, NULL, 0, lags, &got), QS_OK);
    check_near(name, got.q, ref_number(want, "stat"), 1e-11, 0);
    check_near(name, got.p, ref_number(want, "p"), 1e-9, 1e-15); /* R says 1 - P: nothing below 1e-16 */
}

static void test_against_r(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json"), *want;
    const char *name;
    int compared = 0;
    json_object_foreach(ref_at(root, "univariate"), name, want)
    {
        json_t *acf = ref_at(want, "acf");
        struct series s = ref_series(root, name);
        double r[6];
        size_t lags = json_is_array(acf) ? json_array_size(acf) : 1;
        if (acf && s.n > 2) {
            assert_int_equal(qs_acf(s.v, s.n, NULL, 0, lags, r), QS_OK);
            for (size_t h = 1; h <= lags; h++, compared++)
                check_near(name, r[h], ref_item(acf, h - 1), 1e-11, 1e-13);
            check_ljung(name, &s, 1, ref_at(want, "ljung1"));
            check_ljung(name, &s, 10, ref_at(want, "ljung10"));
        }
        ref_free(&s);
    }
    json_decref(root);
    EXPECT(compared > 80);
}

static void test_pairs_across_a_break_are_dropped(void **state)
{
    (void)state;
    static const double x[] = {1, 4, 2, 8, 5, 7};
    static const size_t breaks[] = {2, 3};
    double r[6], mean = 4.5, c0 = 0;
    for (int i = 0; i < 6; i++)
        c0 += (x[i] - mean) * (x[i] - mean);
    assert_int_equal(qs_acf(x, 6, breaks, 2, 5, r), QS_OK);
    /* the pieces are {1,4}, {2}, {8,5,7} */
    check_near("lag 1", r[1], (-3.5 * -0.5 + 3.5 * 0.5 + 0.5 * 2.5) / c0, 1e-14, 0);
    check_near("lag 2", r[2], (3.5 * 2.5) / c0, 1e-14, 0);
    check_near("lag 3", r[3], 0, 0, 0);
    static const size_t bad[][2] = {{0, 3}, {3, 3}, {4, 2}, {2, 6}};
    for (int i = 0; i < 4; i++)
        assert_int_equal(qs_acf(x, 6, bad[i], 2, 5, r), QS_EDOM);
}

static void test_degenerate(void **state)
{
    (void)state;
    double x[] = {3, 3, 3, 3, 3, 3}, r[4];
    struct qs_ljung_box lb;
    struct qs_ess ess;
    assert_int_equal(qs_acf(x, 0, NULL, 0, 3, r), QS_ENODATA);
    EXPECT(isnan(r[0]) && isnan(r[3]));
    assert_int_equal(qs_acf(x, 1, NULL, 0, 3, r), QS_ETOOFEW);
    assert_int_equal(qs_acf(x, 6, NULL, 0, 3, r), QS_EDEGENERATE);
    EXPECT(isnan(r[1]));
    assert_int_equal(qs_ljung_box(x, 6, NULL, 0, 1, &lb), QS_EDEGENERATE);
    assert_int_equal(qs_ess(x, 6, NULL, 0, &ess), QS_EDEGENERATE);
    EXPECT(isnan(ess.n_eff));
    x[0] = NAN;
    assert_int_equal(qs_acf(x, 6, NULL, 0, 3, r), QS_EDOM);
    assert_int_equal(qs_ess(x, 6, NULL, 0, &ess), QS_EDOM);
    x[0] = 1;
    assert_int_equal(qs_ljung_box(x, 4, NULL, 0, 0, &lb), QS_ETOOFEW);
    assert_int_equal(qs_ljung_box(x, 6, NULL, 0, 6, &lb), QS_ETOOFEW);
    assert_int_equal(qs_ljung_box(x, 6, NULL, 0, 0, &lb), QS_OK);
    assert_int_equal(lb.lags, 1);
    assert_int_equal(qs_acf(x, 2, NULL, 0, 3, r), QS_OK);
    check_near("two values", r[1], -0.5, 1e-15, 0);
    check_near("beyond the end", r[3], 0, 0, 0);
}

/* From the autocorrelations of a series that was worked out apart. */
static void test_ess_definition(void **state)
{
    (void)state;
    struct series s = ref_csv("nist/Michelso.csv", 0);
    double *r = calloc(s.n + 2, sizeof *r);
    assert_non_null(r);
    assert_int_equal(qs_acf(s.v, s.n, NULL, 0, s.n + 1, r), QS_OK);
    double tau = -1;
    for (size_t m = 0; 2 * m < s.n && r[2 * m] + r[2 * m + 1] > 0; m++)
        tau += 2 * (r[2 * m] + r[2 * m + 1]);
    struct qs_ess ess;
    assert_int_equal(qs_ess(s.v, s.n, NULL, 0, &ess), QS_OK);
    check_near("tau", ess.tau, tau, 1e-13, 0);
    check_near("geyer", ess.geyer, 100 / tau, 1e-13, 0);
    check_near("ar1", ess.ar1, 100 * (1 - 0.535199668621283) / (1 + 0.535199668621283), 1e-12, 0);
    check_near("n_eff", ess.n_eff, fmin(ess.geyer, ess.ar1), 0, 0);
    free(r);
    ref_free(&s);
}

static void test_ess_is_bounded(void **state)
{
    (void)state;
    struct qs_ess ess;
    double x[200];
    for (int i = 0; i < 200; i++)
        x[i] = i % 2; /* alternating: worth more than n, and counted as n */
    assert_int_equal(qs_ess(x, 200, NULL, 0, &ess), QS_OK);
    check_near("alternating", ess.n_eff, 200, 0, 0);
    for (int i = 0; i < 200; i++)
        x[i] = i;
    assert_int_equal(qs_ess(x, 200, NULL, 0, &ess), QS_OK);
    EXPECT(ess.n_eff >= 1 && ess.n_eff < 5);
}

/* A long series that soon forgets has one; a drift of that length would take its square in time. */
static void test_ess_of_long_series(void **state)
{
    (void)state;
    enum { N = 60000 };
    double *x = calloc(N, sizeof *x);
    struct qs_ess ess;
    struct qs_rng rng;
    assert_non_null(x);
    qs_rng_seed(&rng, 5, 5);
    for (int i = 1; i < N; i++)
        x[i] = 0.6 * x[i - 1] + qs_rng_unit(&rng) - 0.5;
    assert_int_equal(qs_ess(x, N, NULL, 0, &ess), QS_OK);
    check_near("n (1-phi)/(1+phi)", ess.n_eff, N * 0.4 / 1.6, 0.1, 0);
    for (int i = 0; i < N; i++)
        x[i] = i;
    assert_int_equal(qs_ess(x, N, NULL, 0, &ess), QS_EDOM);
    EXPECT(isnan(ess.n_eff) && isnan(ess.tau) && isnan(ess.geyer));
    check_near("ar1", ess.ar1, N * 0.01 / 1.99, 1e-12, 0);
    free(x);
}

static void test_ess_of_an_autoregression(void **state)
{
    (void)state;
    enum { N = 20000 };
    static double x[N];
    struct qs_rng rng;
    qs_rng_seed(&rng, 11, 0);
    double last = 0;
    for (int i = 0; i < N; i++) {
        double e = 0;
        for (int k = 0; k < 12; k++)
            e += qs_rng_unit(&rng) - 0.5;
        x[i] = last = 0.6 * last + e;
    }
    struct qs_ess ess;
    assert_int_equal(qs_ess(x, N, NULL, 0, &ess), QS_OK);
    check_near("n (1-phi)/(1+phi)", ess.n_eff, N * 0.4 / 1.6, 0.1, 0);
}

static void check_correlation(const char *name, json_t *want, const struct series *s)
{
    struct qs_ess ess;
    enum qs_status status = qs_ess(s->v, s->n, NULL, 0, &ess);
    check_near(name, ess.r1, ref_number(want, "acf1"), 1e-9, 1e-12);
    if (status == QS_OK) {
        double n = (double)s->n; /* the reference bounds n_eff by n log10(n), the library by n */
        check_near(name, n / fmax(ess.tau, 1 / log10(n)), ref_number(want, "ess_ips"), 1e-9, 0);
    }
}

static void check_thinning(const char *name, json_t *want, const struct series *s)
{
    struct qs_thinning got;
    enum qs_status status = qs_thin(s->v, s->n, NULL, 0, &got);
    bool constant = ref_at(want, "acf1") == NULL;
    assert_int_equal(status, constant ? QS_EDEGENERATE : s->n < 30 ? QS_ETOOFEW : QS_OK);
    json_t *stride = ref_at(want, "thin_stride");
    check_near(name, (double)got.stride, stride ? json_number_value(stride) : 0, 0, 0);
    EXPECT(got.stride > 0 ? got.p >= 0.01 && got.n_kept == s->n / got.stride : isnan(got.p));
}

static void test_against_second_implementation(void **state)
{
    (void)state;
    assert_int_equal(second_each(check_correlation), 31);
    assert_int_equal(second_each(check_thinning), 31);
}

/* Two independent halves, each value twice: every second value will do, and so it does where the halves are
 * broken apart. */
static void test_thinning_with_breaks(void **state)
{
    (void)state;
    enum { N = 128 };
    double x[N];
    struct qs_rng rng;
    struct qs_thinning got;
    qs_rng_seed(&rng, 3, 3);
    for (int i = 0; i < N; i++)
        x[i] = i % 2 == 0 ? qs_rng_unit(&rng) : x[i - 1];
    assert_int_equal(qs_thin(x, N, NULL, 0, &got), QS_OK);
    assert_int_equal(got.stride, 2);
    assert_int_equal(got.n_kept, 64);
    static const size_t breaks[] = {1, 2, 64, 127};
    assert_int_equal(qs_thin(x, N, breaks, 4, &got), QS_OK);
    assert_int_equal(got.stride, 2);
    /* The breaks at 1 and 2 fall between kept 0 and 1, that at 127 behind the last: {1, 32} is left. */
    double kept[64], r[2];
    for (int k = 0; k < 64; k++)
        kept[k] = x[(size_t)k * 2];
    assert_int_equal(qs_acf(kept, 64, (const size_t[]){1, 32}, 2, 1, r), QS_OK);
    check_near("r1", got.r1, r[1], 1e-15, 0);
    assert_int_equal(qs_thin(x, N, (const size_t[]){0}, 1, &got), QS_EDOM);
    for (int i = 0; i < N; i++)
        x[i] = i;
    assert_int_equal(qs_thin(x, N, NULL, 0, &got), QS_OK);
    EXPECT(got.stride == 0 && got.n_kept == 0 && isnan(got.r1));
    /* Every second value is the same: a stride of 2 keeps a constant, which passes nothing. */
    for (int i = 0; i < N; i++)
        x[i] = i % 2;
    assert_int_equal(qs_thin(x, N, NULL, 0, &got), QS_OK);
    assert_int_equal(got.stride, 0);
    assert_int_equal(qs_thin(x, 0, NULL, 0, &got), QS_ENODATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nist_r1),
        cmocka_unit_test(test_against_r),
        cmocka_unit_test(test_pairs_across_a_break_are_dropped),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_ess_definition),
        cmocka_unit_test(test_ess_is_bounded),
        cmocka_unit_test(test_ess_of_long_series),
        cmocka_unit_test(test_ess_of_an_autoregression),
        cmocka_unit_test(test_against_second_implementation),
        cmocka_unit_test(test_thinning_with_breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
