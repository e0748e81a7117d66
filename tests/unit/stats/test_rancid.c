/* Rancid's gains and the evolution of its errors. */
#include "reference.h"

#include "stats/rancid.h"
#include "stats/rng.h"
#include "stats/special.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_by_hand(void **state)
{
    (void)state;
    static const double x[] = {10, 12, 14, 11, 18}, y[] = {9, 10, 10, 11, 10};
    struct qs_rancid r;
    assert_int_equal(qs_rancid(x, 5, y, 5, 0.95, 1, NULL, &r), QS_OK);
    check_near("median 12 - 10", r.performance, 2, 0, 0);
    check_near("2/12", r.performance_ratio, 2.0 / 12, 1e-15, 0);
    check_near("sd sqrt 10", r.sd[0], sqrt(10), 1e-15, 0);
    check_near("sd sqrt .5", r.sd[1], sqrt(0.5), 1e-15, 0);
    check_near("precision", r.precision_ratio, 1 - sqrt(0.05), 1e-14, 0);
    check_near("sd ratio", r.sd_ratio, sqrt(0.05), 1e-14, 0);
    EXPECT(r.sd_ratio_ci.lo <= r.sd_ratio && r.sd_ratio <= r.sd_ratio_ci.hi);
    /* Table 2, P8L C/C++: sigma 2.35 ms and 0.42 ms more are -17.8 % */
    static const double base[] = {1000 - 2.35 * M_SQRT1_2, 1000 + 2.35 * M_SQRT1_2};
    static const double managed[] = {1000 - 2.77 * M_SQRT1_2, 1000 + 2.77 * M_SQRT1_2};
    assert_int_equal(qs_rancid(base, 2, managed, 2, 0.95, 1, NULL, &r), QS_OK);
    check_near("the paper's", r.precision_ratio, -0.178, 0, 0.001);
    EXPECT(isnan(r.sd_ratio_ci.lo));
}

/* The interval of a sd ratio of 30 normal runs: about +-30 % (statistics.md 9.7), near the one of F. */
static void test_interval_of_thirty_runs(void **state)
{
    (void)state;
    enum { N = 30, ROUNDS = 60 };
    struct qs_rng rng;
    double x[N], y[N];
    int covered = 0;
    double width = 0;
    qs_rng_seed(&rng, 40, 1);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            x[i] = 100 + qs_qnorm(qs_rng_unit(&rng) + 0x1p-54);
            y[i] = 100 + 2 * qs_qnorm(qs_rng_unit(&rng) + 0x1p-54);
        }
        struct qs_rancid r;
        assert_int_equal(qs_rancid(x, N, y, N, 0.95, round, NULL, &r), QS_OK);
        covered += r.sd_ratio_ci.lo <= 2 && 2 <= r.sd_ratio_ci.hi;
        width += log(r.sd_ratio_ci.hi / r.sd_ratio_ci.lo) / ROUNDS;
    }
    EXPECT(covered >= 50); /* nominal 57 of 60; the percentile bootstrap of 30 is a little short */
    EXPECT(width > 0.5 && width < 0.85);
}

static void test_seed_and_unit(void **state)
{
    (void)state;
    static const double x[] = {10, 12, 14, 11, 18}, y[] = {9, 10, 10.5, 11, 10.2};
    double xs[5], ys[5];
    struct qs_rancid a, b, c;
    for (int i = 0; i < 5; i++) {
        xs[i] = 1024 * x[i];
        ys[i] = 1024 * y[i];
    }
    (void)qs_rancid(x, 5, y, 5, 0.9, 7, NULL, &a);
    (void)qs_rancid(x, 5, y, 5, 0.9, 7, NULL, &b);
    (void)qs_rancid(xs, 5, ys, 5, 0.9, 7, NULL, &c);
    check_near("same seed", a.sd_ratio_ci.lo, b.sd_ratio_ci.lo, 0, 0);
    check_near("unit", a.sd_ratio_ci.hi, c.sd_ratio_ci.hi, 1e-12, 0);
    check_near("unit", 1024 * a.performance, c.performance, 0, 0);
    check_near("unit", a.performance_ratio, c.performance_ratio, 0, 0);
}

/* Many values take fewer resamples; the interval still holds the ratio. */
static void test_many_values(void **state)
{
    (void)state;
    enum { N = 500000 };
    double *x = calloc(2 * N, sizeof *x);
    struct qs_rancid r;
    struct qs_rng rng;
    assert_non_null(x);
    qs_rng_seed(&rng, 3, 1);
    for (int i = 0; i < 2 * N; i++)
        x[i] = (i < N ? 1 : 2) * qs_rng_unit(&rng);
    assert_int_equal(qs_rancid(x, N, x + N, N, 0.95, 1, NULL, &r), QS_OK);
    EXPECT(r.sd_ratio_ci.lo < r.sd_ratio && r.sd_ratio < r.sd_ratio_ci.hi);
    EXPECT(r.sd_ratio_ci.hi / r.sd_ratio_ci.lo < 1.01);
    free(x);
}

static void test_edges(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 4, 5}, same[] = {2, 2, 2, 2, 2}, zero[] = {-1, 0, 1}, bad[] = {NAN};
    struct qs_rancid r;
    assert_int_equal(qs_rancid(same, 5, x, 5, 0.95, 1, NULL, &r), QS_OK);
    EXPECT(isnan(r.precision_ratio) && isnan(r.sd_ratio) && isnan(r.sd_ratio_ci.lo));
    assert_int_equal(qs_rancid(x, 5, same, 5, 0.95, 1, NULL, &r), QS_OK);
    check_near("none is left", r.precision_ratio, 1, 0, 0);
    EXPECT(isnan(r.sd_ratio_ci.lo));
    assert_int_equal(qs_rancid(x, 5, same, 1, 0.95, 1, NULL, &r), QS_ETOOFEW);
    check_near("performance", r.performance, 1, 0, 0);
    EXPECT(isnan(r.precision));
    assert_int_equal(qs_rancid(zero, 3, x, 5, 0.95, 1, NULL, &r), QS_OK);
    EXPECT(isnan(r.performance_ratio));
    assert_int_equal(qs_rancid(x, 5, bad, 1, 0.95, 1, NULL, &r), QS_EDOM);
    assert_int_equal(qs_rancid(x, 5, bad, 0, 0.95, 1, NULL, &r), QS_ENODATA);
    assert_int_equal(qs_rancid(x, 5, x, 5, 1, 1, NULL, &r), QS_EDOM);
}

static void test_evolution(void **state)
{
    (void)state;
    static const double x[] = {8, 4, 6, 10};
    double error[4], iqr[4];
    assert_int_equal(qs_error_evolution(x, 4, 5, error, iqr), QS_OK);
    static const double medians[] = {8, 6, 6, 7}, iqrs[] = {0, 2, 2, 3}; /* quartiles of type 7 */
    for (int i = 0; i < 4; i++) {
        check_near("error", error[i], fabs(medians[i] - 5) / 5, 1e-15, 1e-16);
        check_near("iqr", iqr[i], iqrs[i] / medians[i], 1e-15, 0);
    }
    static const double zero[] = {0, 1};
    assert_int_equal(qs_error_evolution(zero, 2, -2, error, iqr), QS_OK);
    EXPECT(isnan(iqr[0]) && !isnan(iqr[1]));
    check_near("of a negative reference", error[0], 1, 0, 0);
    assert_int_equal(qs_error_evolution(x, 0, 5, error, iqr), QS_ENODATA);
    assert_int_equal(qs_error_evolution(x, 4, 0, error, iqr), QS_EDOM);
    assert_int_equal(qs_error_evolution((const double[]){INFINITY}, 1, 1, error, iqr), QS_EDOM);
    assert_int_equal(qs_error_evolution(x, QS_EVOLUTION_MAX + 1, 1, error, iqr), QS_EDOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),       cmocka_unit_test(test_interval_of_thirty_runs),
        cmocka_unit_test(test_seed_and_unit), cmocka_unit_test(test_many_values),
        cmocka_unit_test(test_edges),         cmocka_unit_test(test_evolution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
