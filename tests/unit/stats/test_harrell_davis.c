/* Harrell-Davis quantiles: R's Hmisc, a second implementation, and properties. */
#include "reference.h"
#include "second.h"

#include "stats/harrell_davis.h"
#include "stats/rng.h"
#include "stats/special.h"
#include "stats/sum.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static void test_against_r(void **state)
{
    (void)state;
    static const double probs[] = {0.25, 0.5, 0.75, 0.9};
    json_t *root = ref_json("reference-r.json"), *want;
    const char *name;
    int compared = 0;
    json_object_foreach(ref_at(root, "univariate"), name, want)
    {
        struct series s = ref_series(root, name);
        json_t *hd = ref_at(want, "harrell_davis");
        qs_sort(s.v, s.n);
        for (size_t i = 0; hd && i < 4; i++) {
            double q;
            assert_int_equal(qs_hd_quantile(s.v, s.n, probs[i], &q, NULL), QS_OK);
            check_near(name, q, ref_item(hd, i), 1e-12, 0);
            compared++;
        }
        ref_free(&s);
    }
    json_decref(root);
    assert_int_equal(compared, 4 * 21);
}

/* Many values are weighed another way: the same weights, also where the values have steps. */
static void test_narrow_cells(void **state)
{
    (void)state;
    static const double probs[] = {0.11, 0.5, 0.77, 0.93};
    enum { N = 2500 };
    static double x[N];
    for (size_t i = 0; i < N; i++)
        x[i] = (i < N / 10 ? 1 : i < N / 2 ? 2 : i < N * 3 / 4 ? 5 : 9) + 1e-4 * (double)i;
    for (size_t k = 0; k < sizeof probs / sizeof *probs; k++) {
        double p = probs[k], a = (N + 1) * p, b = (N + 1) * (1 - p), want = 0, square = 0, q, se;
        for (size_t i = 0; i < N; i++) {
            double lo = (double)i / N, hi = (double)(i + 1) / N;
            double weight = hi < p ? qs_pbeta(hi, a, b) - qs_pbeta(lo, a, b)
                                   : qs_pbeta(1 - lo, b, a) - qs_pbeta(1 - hi, b, a);
            want += weight * x[i];
            square += weight * x[i] * x[i];
        }
        assert_int_equal(qs_hd_quantile(x, N, p, &q, &se), QS_OK);
        check_near("narrow cells", q, want, 1e-11, 0);
        check_near("their error", se, sqrt(square - want * want), 1e-7, 0);
    }
}

static void check_second(const char *name, json_t *want, const struct series *s)
{
    const char *p;
    json_t *value;
    double q, se;
    qs_sort(s->v, s->n);
    json_object_foreach(ref_at(want, "hd"), p, value)
    {
        assert_int_equal(qs_hd_quantile(s->v, s->n, strtod(p, NULL), &q, NULL), QS_OK);
        check_near(name, q, json_number_value(value), 1e-9, 0);
    }
    assert_int_equal(qs_hd_quantile(s->v, s->n, 0.5, &q, &se), QS_OK);
    /* The reference subtracts two squares, which leaves the root of a rounding error. */
    if (ref_at(want, "hd_se_median"))
        check_near(name, se, ref_number(want, "hd_se_median"), 1e-9, 4e-8 * fabs(q));
}

static void test_against_second_implementation(void **state)
{
    (void)state;
    assert_int_equal(second_each(check_second), 31);
}

static void test_edges(void **state)
{
    (void)state;
    static const double x[] = {2, 3, 5, 11}, same[] = {7, 7, 7};
    double q, se;
    assert_int_equal(qs_hd_quantile(x, 4, 0, &q, &se), QS_OK);
    EXPECT(q <= 2 && isnan(se));
    assert_int_equal(qs_hd_quantile(x, 4, 1, &q, &se), QS_OK);
    EXPECT(q >= 11 && isnan(se));
    assert_int_equal(qs_hd_quantile(x, 1, 0.5, &q, &se), QS_OK);
    EXPECT(q <= 2 && q >= 2 && isnan(se));
    assert_int_equal(qs_hd_quantile(same, 3, 0.3, &q, &se), QS_OK);
    check_near("constant", q, 7, 0, 0);
    check_near("constant", se, 0, 0, 0);
    assert_int_equal(qs_hd_quantile(x, 0, 0.5, &q, &se), QS_ENODATA);
    EXPECT(isnan(q) && isnan(se));
    assert_int_equal(qs_hd_quantile(x, 4, 1.01, &q, &se), QS_EDOM);
    assert_int_equal(qs_hd_quantile(x, 4, NAN, &q, NULL), QS_EDOM);
}

/* An extreme p puts nearly all weight on one end, a large n uses few of the values. */
static void test_large_samples_and_tails(void **state)
{
    (void)state;
    enum { N = 200000 };
    double *x = malloc(N * sizeof *x), q, se;
    if (!x) {
        fail_msg("out of memory");
        return;
    }
    for (size_t i = 0; i < N; i++)
        x[i] = qs_qnorm(((double)i + 0.5) / N);
    static const double probs[] = {1e-4, 0.01, 0.5, 0.9, 0.999};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(qs_hd_quantile(x, N, probs[i], &q, &se), QS_OK);
        check_near("normal quantile", q, qs_qnorm(probs[i]), 0, 0.02);
        double density = exp(-q * q / 2) / sqrt(2 * M_PI);
        check_near("asymptotic error", se, sqrt(probs[i] * (1 - probs[i]) / N) / density, 0.05, 0);
    }
    assert_int_equal(qs_hd_quantile(x, 30, 1e-9, &q, &se), QS_OK);
    check_near("p near 0", q, x[0], 1e-6, 0);
    free(x);
}

static void test_scale_shift_and_mirror(void **state)
{
    (void)state;
    struct series s = ref_csv("otava/tigerbeetle.csv", 0);
    double plain[2], other[2];
    qs_sort(s.v, s.n);
    assert_int_equal(qs_hd_quantile(s.v, s.n, 0.3, &plain[0], &plain[1]), QS_OK);
    for (size_t i = 0; i < s.n; i++)
        s.v[i] += 0x1p50;
    assert_int_equal(qs_hd_quantile(s.v, s.n, 0.3, &other[0], &other[1]), QS_OK);
    check_near("shifted", other[0], plain[0] + 0x1p50, 0, 0.25);
    check_near("shifted se", other[1], plain[1], 0.01, 0);
    for (size_t i = 0; i < s.n; i++)
        s.v[i] = (s.v[i] - 0x1p50) * -1e-9;
    qs_sort(s.v, s.n);
    assert_int_equal(qs_hd_quantile(s.v, s.n, 0.7, &other[0], &other[1]), QS_OK);
    check_near("mirrored", other[0], plain[0] * -1e-9, 1e-12, 0);
    check_near("mirrored se", other[1], plain[1] * 1e-9, 1e-11, 0);
    ref_free(&s);
}

static void test_interval(void **state)
{
    (void)state;
    double x[] = {9, 2, 4, 4, 7, 1}, sorted[] = {1, 2, 4, 4, 7, 9}, q, se;
    struct qs_ci ci;
    assert_int_equal(qs_hd_quantile(sorted, 6, 0.5, &q, &se), QS_OK);
    assert_int_equal(qs_hd_ci(x, 6, 0.5, 0.95, &ci), QS_OK);
    check_near("middle", (ci.lo + ci.hi) / 2, q, 1e-14, 0);
    check_near("half width", (ci.hi - ci.lo) / 2, 2.570581835636314 * se, 1e-13, 0);
    assert_int_equal(qs_hd_ci((const double[]){3, 3}, 2, 0.5, 0.95, &ci), QS_OK);
    EXPECT(ci.flags & QS_FLAG_EXACT);
    check_near("point", ci.hi - ci.lo, 0, 0, 0);
    assert_int_equal(qs_hd_ci(x, 1, 0.5, 0.95, &ci), QS_ETOOFEW);
    assert_int_equal(qs_hd_ci(x, 0, 0.5, 0.95, &ci), QS_ENODATA);
    assert_int_equal(qs_hd_ci(x, 6, 0, 0.95, &ci), QS_EDOM);
    assert_int_equal(qs_hd_ci(x, 6, 0.5, 1, &ci), QS_EDOM);
    x[2] = NAN;
    assert_int_equal(qs_hd_ci(x, 6, 0.5, 0.95, &ci), QS_EDOM);
    EXPECT(isnan(ci.lo) && isnan(ci.hi));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_r),
        cmocka_unit_test(test_narrow_cells),
        cmocka_unit_test(test_against_second_implementation),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_large_samples_and_tails),
        cmocka_unit_test(test_scale_shift_and_mirror),
        cmocka_unit_test(test_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
