/* Fisher's exact test against R, and what must not change it. */
#include "reference.h"

#include "stats/proportion.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_r),
        cmocka_unit_test(test_nothing_to_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
