/* Spearman's rank correlation: R's values, what must not change it, and what is not defined. */
#include "reference.h"

#include "stats/rng.h"
#include "stats/dependence.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static const double digits[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
static const double others[] = {2.7, 1.8, 2.8, 1.8, 4.5, 9, 4.5, 2.3, 5.3, 6, 0.2, 8.7};

static void expect(const double *x, const double *y, size_t n, double rho, double p)
{
    struct qs_spearman s;
    assert_int_equal(qs_spearman(x, y, n, &s), QS_OK);
    EXPECT(fabs(s.rho - rho) < 1e-14);
    EXPECT(fabs(s.p - p) <= 1e-9 * p);
}

/* R 4.2.2: cor.test(x, y, method = "spearman", exact = FALSE). */
static void test_against_r(void **state)
{
    (void)state;
    static const double shuffled[] = {14, 3, 9, 1, 15, 2, 8, 4, 5, 12, 13, 6, 10, 7, 11};
    double squares[15], up[20], pairs[20];
    for (int i = 0; i < 15; i++)
        squares[i] = (double)((i + 1) * (i + 1));
    for (int i = 0; i < 20; i++) {
        up[i] = i;
        pairs[i] = i ^ 1;
    }
    expect(digits, others, 12, 0.50710495224911134, 0.092426616394329988);
    expect(squares, shuffled, 15, 0.13928571428571426, 0.62054608762790164);
    expect(up, pairs, 20, 0.98496240601503759, 3.5364320020838812e-15);
}

static void test_properties(void **state)
{
    (void)state;
    struct qs_rng rng;
    struct qs_spearman s, t;
    double x[50], y[50], z[50];
    size_t below = 0, rounds = 2000;
    qs_rng_seed(&rng, 7, 1);
    for (size_t r = 0; r < rounds; r++) {
        for (size_t i = 0; i < 50; i++) {
            x[i] = qs_rng_unit(&rng);
            y[i] = qs_rng_unit(&rng);
            z[i] = -exp(5 * y[i]); /* a falling function */
        }
        assert_int_equal(qs_spearman(x, y, 50, &s), QS_OK);
        EXPECT(s.flags == 0);
        below += s.p < 0.05;
        assert_int_equal(qs_spearman(z, x, 50, &t), QS_OK);
        EXPECT(fabs(s.rho + t.rho) < 1e-12 && fabs(s.p - t.p) < 1e-12);
    }
    EXPECT((double)below > 0.04 * (double)rounds && (double)below < 0.06 * (double)rounds);
    assert_int_equal(qs_spearman(x, x, 50, &s), QS_OK);
    EXPECT(s.rho == 1 && s.p == 0);
    assert_int_equal(qs_spearman(digits, others, 12, &s), QS_OK);
    EXPECT(s.flags == QS_FLAG_TIES);
}

static void test_not_defined(void **state)
{
    (void)state;
    struct qs_spearman s;
    double x[12], same[12];
    for (size_t i = 0; i < 12; i++) {
        x[i] = digits[i];
        same[i] = 4;
    }
    assert_int_equal(qs_spearman(x, x, 0, &s), QS_ENODATA);
    assert_int_equal(qs_spearman(x, x, QS_SPEARMAN_N_MIN - 1, &s), QS_ETOOFEW);
    assert_int_equal(qs_spearman(x, same, 12, &s), QS_EDEGENERATE);
    EXPECT(isnan(s.rho) && isnan(s.p));
    x[3] = INFINITY;
    assert_int_equal(qs_spearman(same, x, 12, &s), QS_EDOM);
    EXPECT(isnan(s.rho) && isnan(s.p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_r),
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_not_defined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
