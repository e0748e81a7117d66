/* Tests of normality against R (shapiro.test, ks.test, nortest), properties, and what they refuse. */
#include "reference.h"

#include "stats/normality.h"
#include "stats/rng.h"
#include "stats/special.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static int check_fit(const char *name, const struct qs_fit *got, json_t *want, const char *statistic,
                     double rel)
{
    if (!want)
        return 0;
    check_near(name, got->statistic, ref_number(want, statistic), rel, 0);
    check_near(name, got->p, ref_number(want, "p"), 1e-5, 1e-14);
    return 1;
}

static void test_against_r(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json"), *want;
    const char *name;
    int shapiro = 0, logs = 0, others = 0;
    json_object_foreach(ref_at(root, "univariate"), name, want)
    {
        struct series s = ref_series(root, name);
        struct qs_shape_test shape;
        struct qs_fit fit;
        assert_int_equal(qs_shapiro(s.v, s.n, &fit) == QS_OK, ref_at(want, "shapiro") != NULL);
        shapiro += check_fit(name, &fit, ref_at(want, "shapiro"), "W", 1e-6);
        (void)qs_shape_test(s.v, s.n, 0.05, &shape);
        logs += check_fit(name, &shape.log, ref_at(want, "shapiro_log"), "W", 1e-6);
        (void)qs_anderson_darling(s.v, s.n, &fit);
        others += check_fit(name, &fit, ref_at(want, "ad"), "A", 1e-9);
        (void)qs_lilliefors(s.v, s.n, &fit);
        others += check_fit(name, &fit, ref_at(want, "lillie"), "D", 1e-9);
        ref_free(&s);
    }
    json_decref(root);
    assert_int_equal(shapiro, 19);
    assert_int_equal(logs, 18);
    assert_int_equal(others, 34);
}

/* Values of R 4.2.2's shapiro.test on the first n of a real series, and on shapes that reach each branch. */
static void test_shapiro_of_each_size(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double w, p;
    } want[] = {{3, 0.9886709342383364, 0.7963324310656452},  {4, 0.9508085490862025, 0.721169729267481},
                {5, 0.893815614114142, 0.3766538960484727},   {6, 0.867084486698096, 0.2148288171166356},
                {7, 0.8303640769206367, 0.0806571570306575},  {11, 0.9092218373090821, 0.2387655568997888},
                {12, 0.9266244693530588, 0.3457023870650328}, {13, 0.9320841459833895, 0.3627912965203396}};
    json_t *root = ref_json("reference-r.json");
    struct series s = ref_series(root, "android_12-02-2024-msr-enabled");
    struct qs_fit fit;
    for (size_t i = 0; i < COUNT(want); i++) {
        assert_int_equal(qs_shapiro(s.v, want[i].n, &fit), QS_OK);
        check_near("W", fit.statistic, want[i].w, 1e-6, 0);
        check_near("p", fit.p, want[i].p, 1e-5, 0);
    }
    ref_free(&s);
    json_decref(root);
    static double powers[5000];
    for (int i = 0; i < 5000; i++)
        powers[i] = pow(i + 1, 1.5);
    assert_int_equal(qs_shapiro(powers, 5000, &fit), QS_OK);
    check_near("W", fit.statistic, 0.9297628701589801, 1e-6, 0);
    check_near("p", fit.p, 1.884656593121151e-43, 1e-5, 0);
    static const double spike[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 50};
    assert_int_equal(qs_shapiro(spike, 11, &fit), QS_OK);
    check_near("W", fit.statistic, 0.3449912051158479, 1e-6, 0);
    check_near("p", fit.p, 2.243401901612211e-08, 1e-5, 0);
    assert_int_equal(qs_shapiro(spike + 8, 3, &fit), QS_OK);
    check_near("W of three", fit.statistic, 0.75, 1e-12, 0);
    check_near("p of three", fit.p, 0, 0, 1e-12);
}

static void test_qq_correlation(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json");
    struct series s = ref_series(root, "android_12-02-2024-msr-enabled");
    double r;
    assert_int_equal(qs_qq_correlation(s.v, s.n, &r), QS_OK);
    check_near("R's cor(sort(x), qnorm(ppoints(x, 3/8)))", r, 0.9747115229948353, 1e-12, 0);
    ref_free(&s);
    json_decref(root);
    static double scores[9000];
    for (int i = 0; i < 9000; i++)
        scores[i] = 5 - 2 * qs_qnorm((i + 0.625) / 9000.25);
    assert_int_equal(qs_qq_correlation(scores, 9000, &r), QS_OK);
    check_near("scores themselves", r, 1, 1e-14, 0);
    assert_int_equal(qs_qq_correlation(scores, 2, &r), QS_ETOOFEW);
    EXPECT(isnan(r));
}

/* Values of R 4.2.2's ks.test (exact for n < 100) and of the paper: P(D_10 < 0.274) = 0.6284796154565. */
static void test_kolmogorov_smirnov(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double d, p;
    } want[] = {{1, 0.8970548362306594, 0.2058903275386812},
                {2, 0.4770315338622084, 0.5876534610573835},
                {5, 0.4970548362306594, 0.1159575030007449},
                {10, 0.240695637569361, 0.5318584958200155},
                {35, 0.2184692474736761, 0.06021557292941493}};
    json_t *root = ref_json("reference-r.json");
    struct series s = ref_series(root, "android_12-02-2024-msr-enabled");
    struct qs_fit fit;
    for (size_t i = 0; i < COUNT(want); i++) {
        assert_int_equal(qs_ks_normal(s.v, want[i].n, 400, 12, &fit), QS_OK);
        check_near("D", fit.statistic, want[i].d, 1e-12, 0);
        check_near("p", fit.p, want[i].p, 1e-10, 0);
    }
    assert_int_equal(qs_ks_normal(s.v, s.n, 390, 12, &fit), QS_OK);
    check_near("p in the tail", fit.p, 7.439788094254496e-06, 1e-8, 0);
    assert_int_equal(qs_ks_normal(s.v, s.n, 300, 12, &fit), QS_OK);
    EXPECT(fit.p >= 0 && fit.p < 1e-20);
    ref_free(&s);
    json_decref(root);
    /* Ten values 0.274 above their places: D = 0.274 */
    double x[10];
    for (int i = 0; i < 10; i++)
        x[i] = qs_qnorm(fmin((i + 1) / 10.0 + 0.174, 1 - 1e-9 * (10 - i)));
    assert_int_equal(qs_ks_normal(x, 10, 0, 1, &fit), QS_OK);
    check_near("D", fit.statistic, 0.274, 1e-12, 0);
    check_near("p", fit.p, 1 - 0.6284796154565, 1e-11, 0);
}

/* Exact values of R's ks.test for n = 250, where the approximation takes over. */
static void test_kolmogorov_smirnov_of_many(void **state)
{
    (void)state;
    double x[250];
    struct qs_fit fit;
    for (int i = 0; i < 250; i++)
        x[i] = qs_qnorm((i + 0.5) / 250);
    assert_int_equal(qs_ks_normal(x, 250, 0.08, 1, &fit), QS_OK);
    check_near("D", fit.statistic, 0.03390649087046194, 1e-10, 0);
    check_near("p", fit.p, 0.9266015527668353, 1e-3, 0);
    assert_int_equal(qs_ks_normal(x, 250, 0.3, 1, &fit), QS_OK);
    check_near("p", fit.p, 0.001165612709884134, 0.02, 0);
    assert_int_equal(qs_ks_normal(x, 250, 0, 1, &fit), QS_OK);
    check_near("p", fit.p, 1, 1e-12, 0);
    assert_int_equal(qs_ks_normal(x, 250, 0, 0, &fit), QS_EDOM);
    assert_int_equal(qs_ks_normal(x, 250, NAN, 1, &fit), QS_EDOM);
    assert_int_equal(qs_ks_normal(x, 0, 0, 1, &fit), QS_ENODATA);
    EXPECT(isnan(fit.p) && isnan(fit.statistic));
}

typedef enum qs_status fit_fn(const double *x, size_t n, struct qs_fit *out);
static fit_fn *const FITS[] = {qs_shapiro, qs_anderson_darling, qs_lilliefors};

static void test_order_scale_and_shift(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(FITS); k++) {
        struct series s = ref_csv("nist/Lottery.csv", 0);
        struct qs_fit plain, other;
        assert_int_equal(FITS[k](s.v, s.n, &plain), QS_OK);
        for (size_t i = 0; i < s.n / 2; i++) {
            double t = s.v[i];
            s.v[i] = s.v[s.n - 1 - i];
            s.v[s.n - 1 - i] = t;
        }
        for (size_t i = 0; i < s.n; i++)
            s.v[i] = s.v[i] * 1e-9 + 1;
        assert_int_equal(FITS[k](s.v, s.n, &other), QS_OK);
        check_near("statistic", other.statistic, plain.statistic, 1e-7, 0);
        for (size_t i = 0; i < s.n; i++)
            s.v[i] = -s.v[i] * 1e300;
        assert_int_equal(FITS[k](s.v, s.n, &other), QS_EDOM); /* squares overflow */
        ref_free(&s);
    }
}

static void test_p_is_uniform_for_normal_values(void **state)
{
    (void)state;
    struct qs_rng rng;
    qs_rng_seed(&rng, 9, 1);
    int rejected[COUNT(FITS)] = {0};
    for (int round = 0; round < 2000; round++) {
        double x[20];
        for (int i = 0; i < 20; i++)
            x[i] = qs_qnorm(qs_rng_unit(&rng) + 0x1p-54);
        for (size_t k = 0; k < COUNT(FITS); k++) {
            struct qs_fit fit;
            assert_int_equal(FITS[k](x, 20, &fit), QS_OK);
            EXPECT(fit.p >= 0 && fit.p <= 1);
            rejected[k] += fit.p < 0.1;
        }
    }
    for (size_t k = 0; k < COUNT(FITS); k++)
        check_near("rejected at 10 %", rejected[k] / 2000.0, 0.1, 0, 0.025);
}

static void test_refusals(void **state)
{
    (void)state;
    static double x[5001];
    struct qs_fit fit;
    static const size_t least[] = {3, 8, 5};
    for (int i = 0; i < 5001; i++)
        x[i] = sin(i);
    for (size_t k = 0; k < COUNT(FITS); k++) {
        assert_int_equal(FITS[k](x, 0, &fit), QS_ENODATA);
        assert_int_equal(FITS[k](x, least[k] - 1, &fit), QS_ETOOFEW);
        EXPECT(isnan(fit.statistic) && isnan(fit.p));
        assert_int_equal(FITS[k](x, least[k], &fit), QS_OK);
        assert_int_equal(FITS[k](x, 5001, &fit), k == 0 ? QS_EDOM : QS_OK);
        double same[9] = {2, 2, 2, 2, 2, 2, 2, 2, 2};
        assert_int_equal(FITS[k](same, 9, &fit), QS_EDEGENERATE);
        EXPECT(isnan(fit.statistic) && isnan(fit.p));
        same[3] = NAN;
        assert_int_equal(FITS[k](same, 9, &fit), QS_EDOM);
        same[3] = 1e150;
        assert_int_equal(FITS[k](same, 9, &fit), QS_OK);
        EXPECT(isfinite(fit.statistic) && fit.p >= 0 && fit.p < 0.01);
    }
}

static void test_shapes(void **state)
{
    (void)state;
    double normal[60], logs[60], two[60], negative[60];
    struct qs_shape_test shape;
    for (int i = 0; i < 60; i++) {
        normal[i] = 10 + qs_qnorm((i + 0.5) / 60);
        logs[i] = exp(normal[i]);
        two[i] = i % 2 ? 5 + i * 1e-3 : 50 - i * 1e-3;
        negative[i] = logs[i] - exp(8);
    }
    assert_int_equal(qs_shape_test(normal, 60, 0.05, &shape), QS_OK);
    assert_string_equal(qs_shape_names[shape.shape], "normal");
    assert_int_equal(qs_shape_test(logs, 60, 0.05, &shape), QS_OK);
    assert_string_equal(qs_shape_names[shape.shape], "log-normal");
    assert_int_equal(qs_shape_test(two, 60, 0.05, &shape), QS_OK);
    assert_string_equal(qs_shape_names[shape.shape], "other");
    assert_int_equal(qs_shape_test(negative, 60, 0.05, &shape), QS_OK);
    EXPECT(shape.shape == QS_SHAPE_OTHER && isnan(shape.log.p));
    assert_int_equal(qs_shape_test(normal, 2, 0.05, &shape), QS_ETOOFEW);
    assert_string_equal(qs_shape_names[shape.shape], "unknown");
    assert_int_equal(qs_shape_test(normal, 60, 0, &shape), QS_EDOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_r),
        cmocka_unit_test(test_shapiro_of_each_size),
        cmocka_unit_test(test_qq_correlation),
        cmocka_unit_test(test_kolmogorov_smirnov),
        cmocka_unit_test(test_kolmogorov_smirnov_of_many),
        cmocka_unit_test(test_order_scale_and_shift),
        cmocka_unit_test(test_p_is_uniform_for_normal_values),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
