/* Intervals hold their level, and unchanged binaries are not called changed. Seeds are fixed: the counts
 * are the same on every machine, and the bounds are several standard errors wide. */
#include "nights.h"
#include "reference.h"

#include "stats/bootstrap.h"
#include "stats/dependence.h"
#include "stats/describe.h"
#include "stats/harrell_davis.h"
#include "stats/hier.h"
#include "stats/interval.h"
#include "stats/rng.h"
#include "stats/twosample.h"
#include "stats/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Box and Muller */
static double normal(struct qs_rng *rng)
{
    double u = 1 - qs_rng_unit(rng), v = qs_rng_unit(rng);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static bool covers(const struct qs_ci *ci, double truth)
{
    return ci->lo <= truth && truth <= ci->hi;
}

static void test_t_interval(void **state)
{
    (void)state;
    enum { REPS = 4000 };
    struct qs_rng rng;
    qs_rng_seed(&rng, 2001, 1);
    for (size_t n = 3; n <= 12; n += 9) {
        int hits = 0;
        for (int r = 0; r < REPS; r++) {
            double x[12];
            struct qs_ci ci;
            for (size_t i = 0; i < n; i++)
                x[i] = 50 + 3 * normal(&rng);
            assert_int_equal(qs_mean_ci(x, n, NAN, 0.95, &ci), QS_OK);
            hits += covers(&ci, 50);
        }
        check_near("coverage", (double)hits / REPS, 0.95, 0, 0.014); /* four standard errors */
    }
}

static void test_order_statistics_interval(void **state)
{
    (void)state;
    enum { REPS = 4000 };
    struct qs_rng rng;
    qs_rng_seed(&rng, 2002, 1);
    for (size_t n = 6; n <= 25; n += 19) {
        int hits = 0;
        struct qs_median_ci ci;
        for (int r = 0; r < REPS; r++) {
            double x[25];
            for (size_t i = 0; i < n; i++)
                x[i] = -log(1 - qs_rng_unit(&rng)); /* skewed: the median is ln 2 */
            assert_int_equal(qs_median_ci(x, n, 0.95, &ci), QS_OK);
            hits += covers(&ci.ci, M_LN2);
        }
        EXPECT(ci.ci.level >= 0.95);
        check_near("coverage", (double)hits / REPS, ci.ci.level, 0, 0.014);
    }
}

/* Bootstrap intervals of 30 values are somewhat short: tests/studies has the whole table. */
static void test_bootstrap_and_harrell_davis_intervals(void **state)
{
    (void)state;
    enum { REPS = 600, N = 30 };
    struct qs_rng rng;
    int percentile = 0, bca = 0, hd = 0;
    qs_rng_seed(&rng, 2005, 1);
    for (int r = 0; r < REPS; r++) {
        double x[N];
        struct qs_ci ci;
        struct qs_boot boot;
        struct qs_boot_opts opts = {
            .statistic = qs_statistic_mean, .level = 0.95, .resamples = 500, .stream = (uint64_t)r};
        for (int i = 0; i < N; i++)
            x[i] = 50 + 3 * normal(&rng);
        assert_int_equal(qs_boot_ci(x, N, &opts, &boot), QS_OK);
        percentile += covers(&boot.pct, 50);
        bca += covers(&boot.bca, 50);
        assert_int_equal(qs_hd_ci(x, N, 0.5, 0.95, &ci), QS_OK);
        hd += covers(&ci, 50);
    }
    check_near("percentile", (double)percentile / REPS, 0.935, 0, 0.04); /* four standard errors */
    check_near("BCa", (double)bca / REPS, 0.935, 0, 0.04);
    check_near("Harrell-Davis", (double)hd / REPS, 0.955, 0, 0.035);
}

static void test_paired_interval(void **state)
{
    (void)state;
    enum { REPS = 4000, BLOCKS = 6 };
    struct qs_rng rng;
    qs_rng_seed(&rng, 2003, 1);
    int hits = 0;
    for (int r = 0; r < REPS; r++) {
        double x[BLOCKS], y[BLOCKS];
        struct qs_paired p;
        for (int b = 0; b < BLOCKS; b++) {
            double block = 1000 * exp(0.2 * normal(&rng) + 0.05 * b);
            x[b] = block * exp(0.01 * normal(&rng));
            y[b] = 1.03 * block * exp(0.02 * normal(&rng));
        }
        assert_int_equal(qs_paired_blocks(x, y, BLOCKS, 0.95, &p), QS_OK);
        hits += covers(&p.test.ci, 1.03);
    }
    check_near("coverage", (double)hits / REPS, 0.95, 0, 0.014);
}

/* phi = 0.6, n = 200: an interval that ignores the dependence covers 66 % */
static void test_dependent_interval(void **state)
{
    (void)state;
    enum { REPS = 600, N = 200 };
    struct qs_rng rng;
    qs_rng_seed(&rng, 2004, 1);
    int naive = 0, corrected = 0;
    for (int r = 0; r < REPS; r++) {
        double x[N], last = normal(&rng) / 0.8;
        struct qs_ess ess;
        struct qs_ci ci;
        for (int i = 0; i < N; i++)
            x[i] = last = 0.6 * last + normal(&rng);
        assert_int_equal(qs_ess(x, N, NULL, 0, &ess), QS_OK);
        assert_int_equal(qs_mean_ci(x, N, NAN, 0.95, &ci), QS_OK);
        naive += covers(&ci, 0);
        assert_int_equal(qs_mean_ci(x, N, ess.n_eff, 0.95, &ci), QS_OK);
        corrected += covers(&ci, 0);
    }
    check_near("naive", (double)naive / REPS, 0.66, 0, 0.08);
    check_near("corrected", (double)corrected / REPS, 0.94, 0, 0.035);
}

/* Three runs of ten whose spread between runs is twice that within: eq. 5 of the 2005 paper covers 79 %. */
static void test_interval_over_runs(void **state)
{
    (void)state;
    enum { REPS = 3000, RUNS = 3, ITERATIONS = 10 };
    static const size_t off[] = {0, 10, 20, 30};
    struct qs_rng rng;
    qs_rng_seed(&rng, 2005, 1);
    int hits = 0;
    for (int r = 0; r < REPS; r++) {
        double v[RUNS * ITERATIONS];
        struct qs_ci ci;
        for (int j = 0; j < RUNS; j++) {
            double run = 100 + 2 * normal(&rng);
            for (int i = 0; i < ITERATIONS; i++)
                v[j * ITERATIONS + i] = run + normal(&rng);
        }
        struct qs_nested data = {.v = v, .off = off, .k = RUNS};
        assert_int_equal(qs_hier_ci(&data, 0.95, &ci), QS_OK);
        hits += covers(&ci, 100);
    }
    check_near("coverage", (double)hits / REPS, 0.95, 0, 0.016);
}

static void shuffle(struct qs_rng *rng, double *v, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = qs_rng_below(rng, i);
        double t = v[i - 1];
        v[i - 1] = v[j];
        v[j] = t;
    }
}

struct tally {
    int total, significant, kind[QS_VERDICT_INCONCLUSIVE + 1];
};

/* k random nights against k others, every benchmark; the second side slowed by `factor`. */
static void compare_nights(const struct nights *nights, size_t k, double factor, int draws, struct tally *t)
{
    struct qs_rng rng;
    struct qs_verdict_opts opts = qs_verdict_opts_default();
    qs_rng_seed(&rng, 89, k);
    *t = (struct tally){0};
    for (size_t b = 0; b < nights->n; b++) {
        for (int d = 0; d < draws; d++) {
            double v[NIGHTS];
            struct qs_verdict verdict;
            memcpy(v, nights->median[b], sizeof v);
            shuffle(&rng, v, NIGHTS);
            for (size_t i = k; i < 2 * k; i++)
                v[i] *= factor;
            struct qs_side_runs base = {.v = v, .n = k}, cand = {.v = v + k, .n = k};
            assert_int_equal(qs_verdict_runs(&base, &cand, &opts, &verdict), QS_OK);
            t->total++;
            t->significant += verdict.p < 0.05;
            t->kind[verdict.kind]++;
        }
    }
}

static void test_unchanged_nights(void **state)
{
    (void)state;
    static struct nights nights;
    nights_load(&nights);
    for (size_t k = 3; k <= 5; k += 2) {
        struct tally t;
        compare_nights(&nights, k, 1, 20, &t);
        int changes = t.kind[QS_VERDICT_REGRESSION] + t.kind[QS_VERDICT_IMPROVEMENT] +
                      t.kind[QS_VERDICT_PROBABLE_REGRESSION] + t.kind[QS_VERDICT_PROBABLE_IMPROVEMENT];
        print_message("# k=%zu: %d comparisons, %d significant, %d called a change, %d equivalent\n", k,
                      t.total, t.significant, changes, t.kind[QS_VERDICT_EQUIVALENT]);
        EXPECT(t.significant <= 0.07 * t.total);
        EXPECT(changes <= 0.005 * t.total);
        EXPECT(t.kind[QS_VERDICT_EQUIVALENT] > 0.8 * t.total);
    }
}

static void test_slowed_nights(void **state)
{
    (void)state;
    static struct nights nights;
    struct tally t;
    nights_load(&nights);
    compare_nights(&nights, 3, 1.05, 20, &t);
    print_message("# +5 %%: %d of %d regressions, %d probable\n", t.kind[QS_VERDICT_REGRESSION], t.total,
                  t.kind[QS_VERDICT_PROBABLE_REGRESSION]);
    EXPECT(t.kind[QS_VERDICT_REGRESSION] >= 0.95 * t.total);
    EXPECT(t.kind[QS_VERDICT_IMPROVEMENT] + t.kind[QS_VERDICT_PROBABLE_IMPROVEMENT] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_t_interval),
        cmocka_unit_test(test_order_statistics_interval),
        cmocka_unit_test(test_bootstrap_and_harrell_davis_intervals),
        cmocka_unit_test(test_paired_interval),
        cmocka_unit_test(test_dependent_interval),
        cmocka_unit_test(test_interval_over_runs),
        cmocka_unit_test(test_unchanged_nights),
        cmocka_unit_test(test_slowed_nights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
