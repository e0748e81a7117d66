/* Fisher's exact test and the probability of superiority against R, and what must not change them. */
#include "reference.h"

#include "stats/effect.h"
#include "stats/twosample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

/* R 4.2.2: fisher.test(matrix(c(hit1, n1 - hit1, hit2, n2 - hit2), 2))$p.value */
static const struct {
    size_t hit1, n1, hit2, n2;
    double p;
} from_r[] = {
    {3, 4, 1, 4, 0.485714285714286},
    {1, 10, 11, 14, 0.00275945618522009},
    {0, 12, 5, 12, 0.0372670807453416},
    {0, 12, 6, 12, 0.0137299771167048},
    {2, 30, 9, 28, 0.0189534602321564},
    {7, 200, 1, 180, 0.0704557111261946},
    {5, 5, 0, 5, 0.00793650793650794},
    {10, 11, 9, 10, 1},
    {40, 400, 70, 390, 0.00139273804837757},
    {12, 40, 3, 40, 0.0197570267584467},
    {8, 20, 8, 20, 1},
};

static void test_against_r(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof from_r / sizeof *from_r; i++) {
        size_t a = from_r[i].hit1, m = from_r[i].n1, b = from_r[i].hit2, n = from_r[i].n2;
        check_near("p", qs_fisher_exact(a, m, b, n), from_r[i].p, 1e-10, 0);
        check_near("sides", qs_fisher_exact(b, n, a, m), from_r[i].p, 1e-10, 0);
        check_near("misses", qs_fisher_exact(m - a, m, n - b, n), from_r[i].p, 1e-10, 0);
    }
}

static void test_nothing_to_tell(void **state)
{
    static const size_t nothing[][4] = {{0, 0, 3, 5}, {3, 5, 0, 0}, {0, 5, 0, 7}, {5, 5, 7, 7}};
    (void)state;
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        check_near("p", qs_fisher_exact(nothing[i][0], nothing[i][1], nothing[i][2], nothing[i][3]), 1, 0, 0);
    assert_true(isnan(qs_fisher_exact(6, 5, 1, 5)));
    assert_true(isnan(qs_fisher_exact(1, 5, 6, 5)));
}

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12))
        fail_msg("%.17g is not %.17g", got, want);
}

/* Of independent samples: the roots as R's uniroot finds them from Newcombe's formula. */
static void superiority_of_samples(void **state)
{
    static const struct {
        double x[5], y[6];
        size_t nx, ny;
        double level, a, lo, hi;
    } of[] = {{{1.1, 2.2, 3.3, 4.4, 5.5},
               {2.5, 3.5, 4.5, 5.5, 6.5, 7.5},
               5,
               6,
               0.95,
               0.78333333333333333,
               0.42964143023947249,
               0.94036590419021782},
              {{1, 2, 3}, {4, 5, 6, 7}, 3, 4, 0.95, 1, 0.53969166719672734, 1},
              {{1, 2, 2, 3}, {2, 2, 3, 1}, 4, 4, 0.9, 0.5, 0.21486603598251031, 0.78513396401748969},
              {{10, 11, 12}, {1, 2}, 3, 2, 0.99, 0, 0, 0.68527413145552318}};
    struct qs_superiority s;
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        assert_int_equal(qs_superiority(of[i].x, of[i].nx, of[i].y, of[i].ny, of[i].level, &s), QS_OK);
        near(s.a, of[i].a);
        near(s.ci.lo, of[i].lo);
        near(s.ci.hi, of[i].hi);
        near(s.ci.level, of[i].level);
        /* the other way round it is what is left of 1 */
        assert_int_equal(qs_superiority(of[i].y, of[i].ny, of[i].x, of[i].nx, of[i].level, &s), QS_OK);
        near(s.a, 1 - of[i].a);
        near(s.ci.lo, 1 - of[i].hi);
        near(s.ci.hi, 1 - of[i].lo);
    }
    assert_int_equal(qs_superiority(of[0].x, 0, of[0].y, 6, 0.95, &s), QS_ENODATA);
    assert_true(isnan(s.a) && isnan(s.ci.lo) && isnan(s.ci.hi));
    assert_int_equal(qs_superiority(of[0].x, 5, of[0].y, 6, 1, &s), QS_EDOM);
}

/* Of pairs: R's prop.test(above, n, correct = FALSE). */
static void superiority_of_pairs(void **state)
{
    static const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                        y[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 11}, tied[] = {2, 2, 4, 3};
    struct qs_superiority s;
    (void)state;
    assert_int_equal(qs_superiority_paired(x, y, 12, 0.95, &s), QS_OK);
    near(s.a, 11.0 / 12);
    near(s.ci.lo, 0.64612008885888306);
    near(s.ci.hi, 0.98513490559508299);
    assert_int_equal(qs_superiority_paired(x, y, 8, 0.95, &s), QS_OK);
    near(s.a, 1);
    near(s.ci.lo, 0.67559243511611977);
    near(s.ci.hi, 1);
    assert_int_equal(qs_superiority_paired(x, tied, 4, 0.9, &s), QS_OK); /* 1 + 1/2 + 1 + 0 of 4 */
    near(s.a, 0.625);
    near(s.ci.lo, 0.26294204261751075);
    near(s.ci.hi, 0.88618830108181312);
    assert_int_equal(qs_superiority_paired(x, y, 0, 0.95, &s), QS_ENODATA);
    assert_int_equal(qs_superiority_paired(x, y, 3, 0, &s), QS_EDOM);
    assert_int_equal(qs_superiority_paired(x, (double[]){1, NAN}, 2, 0.95, &s), QS_EDOM);
    assert_true(isnan(s.a) && isnan(s.ci.lo));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_r),
        cmocka_unit_test(test_nothing_to_tell),
        cmocka_unit_test(superiority_of_samples),
        cmocka_unit_test(superiority_of_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
