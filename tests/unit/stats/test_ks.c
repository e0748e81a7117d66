/* Two-sample Kolmogorov-Smirnov. */
#include "reference.h"

#include "stats/ks.h"
#include "stats/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* R ends its series for small lambda after one term: its error is the next one. */
static double error_of_r(double lambda)
{
    return lambda < 1 ? sqrt(2 * M_PI) / lambda * exp(-9 * M_PI * M_PI / (8 * lambda * lambda)) : 0;
}

static void check_pair(const char *name, const struct series *x, const struct series *y, json_t *want)
{
    json_t *ks = ref_at(want, "ks");
    struct qs_ks2 got;
    assert_int_equal(qs_ks2(x->v, x->n, y->v, y->n, &got), QS_OK);
    check_near(name, got.d, ref_number(ks, "D"), 1e-12, 0);
    check_near(name, got.p, ref_number(ks, "p_exact"), 0, 1e-12);
    double lambda = got.d * sqrt((double)(x->n * y->n) / (double)(x->n + y->n));
    check_near(name, got.p_asym + error_of_r(lambda), ref_number(ks, "p_asym"), 0, 1e-12);
    EXPECT(got.exact);
}

static void test_against_r(void **state)
{
    (void)state;
    ref_each_pair(check_pair);
}

/* Complete separation of n v n: 2 of C(2n, n) ways, and the digits stay far below 1e-15, where 1 - P has
 * none. */
static void test_small_p_keep_their_digits(void **state)
{
    (void)state;
    enum { N = 40 };
    double x[N], y[N], ways = 1;
    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = N + i;
        ways = ways * (N + i + 1) / (i + 1);
    }
    struct qs_ks2 got;
    assert_int_equal(qs_ks2(x, N, y, N, &got), QS_OK);
    check_near("d", got.d, 1, 0, 0);
    check_near("p", got.p, 2 / ways, 1e-12, 0);
}

/* By counting all ways to deal the pooled values. */
static double p_by_counting(const double *pool, unsigned n1, unsigned n, double d)
{
    unsigned hits = 0, all = 0;
    for (unsigned set = 0; set < 1u << n; set++) {
        if (__builtin_popcount(set) != (int)n1)
            continue;
        double most = 0, fx = 0, fy = 0;
        for (unsigned k = 0; k < n; k++) {
            if (set >> k & 1)
                fx += 1.0 / n1;
            else
                fy += 1.0 / (n - n1);
            if (k + 1 == n || pool[k + 1] > pool[k])
                most = fmax(most, fabs(fx - fy));
        }
        all++;
        hits += most >= d - 1e-12;
    }
    return (double)hits / all;
}

static void test_ties_by_counting(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 2, 4}, y[] = {2, 3, 3, 4, 5, 5, 6},
                        pool[] = {1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6};
    struct qs_ks2 got;
    assert_int_equal(qs_ks2(x, 4, y, 7, &got), QS_OK);
    EXPECT(got.flags & QS_FLAG_TIES);
    check_near("p", got.p, p_by_counting(pool, 4, 11, got.d), 1e-13, 0);
    static const double a[] = {1, 2, 3, 5}, b[] = {4, 6, 7, 8, 9}, no_ties[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    assert_int_equal(qs_ks2(a, 4, b, 5, &got), QS_OK);
    check_near("p", got.p, p_by_counting(no_ties, 4, 9, got.d), 1e-13, 0);
}

static void test_kolmogorov(void **state)
{
    (void)state;
    /* R: 1 - .Call(C_pKolmogorov2x...) is not exported; Smirnov's table has 0.05 at 1.3581 and 0.01 at 1.6276
     */
    check_near("5 %", qs_pkolmogorov_upper(1.3580986393225505), 0.05, 1e-12, 0);
    check_near("1 %", qs_pkolmogorov_upper(1.6276236115189503), 0.01, 1e-12, 0);
    check_near("both series", qs_pkolmogorov_upper(nextafter(1, 0)), qs_pkolmogorov_upper(1), 1e-13, 0);
    check_near("0", qs_pkolmogorov_upper(0), 1, 0, 0);
    check_near("tiny", qs_pkolmogorov_upper(0.05), 1, 0, 0);
    EXPECT(isnan(qs_pkolmogorov_upper(NAN)));
}

static void test_swap_scale_and_range(void **state)
{
    (void)state;
    struct qs_rng rng;
    double x[120], y[120], xs[120], ys[120];
    qs_rng_seed(&rng, 9, 9);
    for (int round = 0; round < 30; round++) {
        size_t nx = 1 + qs_rng_below(&rng, 120), ny = 1 + qs_rng_below(&rng, 120);
        for (size_t i = 0; i < 120; i++) {
            x[i] = (double)qs_rng_below(&rng, round % 2 ? 9 : 9000);
            y[i] = (double)qs_rng_below(&rng, round % 2 ? 9 : 9000);
            xs[i] = exp(x[i] / 9000); /* any increasing function keeps it */
            ys[i] = exp(y[i] / 9000);
        }
        struct qs_ks2 a, b, c;
        assert_int_equal(qs_ks2(x, nx, y, ny, &a), QS_OK);
        assert_int_equal(qs_ks2(y, ny, x, nx, &b), QS_OK);
        assert_int_equal(qs_ks2(xs, nx, ys, ny, &c), QS_OK);
        EXPECT(a.exact == (nx * ny < QS_KS_EXACT_BELOW));
        EXPECT(a.p >= 0 && a.p <= 1 && a.d >= 0 && a.d <= 1);
        check_near("swapped", a.p, b.p, 1e-12, 0);
        check_near("d", a.d, c.d, 0, 0);
        check_near("p", a.p, c.p, 0, 0);
    }
}

static void test_edges(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3}, same[] = {5, 5}, bad[] = {NAN};
    struct qs_ks2 got;
    assert_int_equal(qs_ks2(x, 0, x, 3, &got), QS_ENODATA);
    assert_int_equal(qs_ks2(x, 3, bad, 1, &got), QS_EDOM);
    EXPECT(isnan(got.d) && isnan(got.p));
    assert_int_equal(qs_ks2(same, 2, same, 2, &got), QS_OK);
    check_near("d", got.d, 0, 0, 0);
    check_near("p", got.p, 1, 0, 0);
    assert_int_equal(qs_ks2(x, 1, x, 3, &got), QS_OK);
    check_near("p", got.p, 1, 1e-15, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_r),
        cmocka_unit_test(test_small_p_keep_their_digits),
        cmocka_unit_test(test_ties_by_counting),
        cmocka_unit_test(test_kolmogorov),
        cmocka_unit_test(test_swap_scale_and_range),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
