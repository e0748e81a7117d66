/* Bootstrap intervals: R's boot, what they are for degenerate samples, blocks, cancelling. */
#include "reference.h"

#include "stats/bootstrap.h"
#include "stats/describe.h"
#include "stats/rng.h"
#include "stats/special.h"
#include "stats/sum.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct qs_boot_opts MEAN = {.statistic = qs_statistic_mean, .level = 0.95, .seed = 42};
static const struct qs_boot_opts MEDIAN = {.statistic = qs_statistic_median, .level = 0.95, .seed = 42};

static void check_interval(const char *name, const struct qs_ci *got, json_t *want, double tolerance)
{
    check_near(name, got->lo, ref_item(want, 0), 0, tolerance);
    check_near(name, got->hi, ref_item(want, 1), 0, tolerance);
}

static void check_boot(const char *name, const struct qs_boot *got, json_t *want)
{
    check_near(name, got->estimate, ref_number(want, "t0"), 1e-12, 0);
    check_near(name, got->se, ref_number(want, "se"), 0.04, 0);
    check_near(name, got->bias, ref_number(want, "bias"), 0, ref_number(want, "se") / 25);
}

/* P(the median of a resample <= x_(k)) of n distinct values, n odd */
static double median_at_most(size_t n, size_t k)
{
    size_t half = n / 2;
    return 1 - qs_pbinom((double)half, (double)n, (double)k / (double)n);
}

static void check_rank(const char *name, const struct series *sorted, double got, double p)
{
    size_t k = 1;
    while (k < sorted->n && sorted->v[k - 1] < got)
        k++;
    double slack = 4 * sqrt(p * (1 - p) / QS_BOOT_RESAMPLES);
    check_near(name, got, sorted->v[k - 1], 1e-15, 0);
    EXPECT(median_at_most(sorted->n, k - 1) < p + slack && median_at_most(sorted->n, k) > p - slack);
}

/* The bootstrap distribution of a median is known, and so are the order statistics at its quantiles. */
static void test_median_against_its_distribution(void **state)
{
    (void)state;
    static const char *const names[] = {"android_12-02-2024-msr-enabled", "android_18-10-2024-msr-enabled",
                                        "perfolizer_real1", "go_BWTS_base_20220105"};
    json_t *root = ref_json("reference-r.json");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct series s = ref_series(root, names[i]);
        struct qs_boot got;
        assert_int_equal(qs_boot_ci(s.v, s.n, &MEDIAN, &got), QS_OK);
        EXPECT(s.n % 2 == 1 && got.bca.lo <= got.estimate && got.estimate <= got.bca.hi);
        qs_sort(s.v, s.n);
        check_rank(names[i], &s, got.pct.lo, 0.025);
        check_rank(names[i], &s, got.pct.hi, 0.975);
        ref_free(&s);
    }
    json_decref(root);
}

static void test_against_r(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json"), *want;
    const char *name;
    int compared = 0;
    json_object_foreach(ref_at(root, "bootstrap"), name, want)
    {
        struct series s = ref_series(root, name);
        struct qs_boot got;
        json_t *mean = ref_at(want, "mean"), *median = ref_at(want, "median");
        assert_int_equal(qs_boot_ci(s.v, s.n, &MEAN, &got), QS_OK);
        check_boot(name, &got, mean);
        check_interval(name, &got.pct, ref_at(mean, "perc"), ref_number(mean, "mc"));
        check_interval(name, &got.bca, ref_at(mean, "bca"), ref_number(mean, "mc"));
        check_near(name, got.accel, ref_number(mean, "accel_jack"), 1e-9, 1e-12);
        /* Intervals of medians jump between order statistics, and boot's BCa counts only t* < t and takes the
         * jackknife about t, not about its mean: these are other intervals. */
        assert_int_equal(qs_boot_ci(s.v, s.n, &MEDIAN, &got), QS_OK);
        check_boot(name, &got, median);
        compared++;
        ref_free(&s);
    }
    json_decref(root);
    assert_int_equal(compared, 4);
}

/* With t* < t counted alone the BCa intervals of medians are those of R's boot and Haskell's statistics. */
static void test_haskell_rule(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-r.json");
    json_t *want = ref_at(ref_at(ref_at(root, "bootstrap"), "nist_Michelso"), "median");
    struct series s = ref_series(root, "nist_Michelso");
    struct qs_boot_opts opts = MEDIAN;
    struct qs_boot ours, haskell;
    opts.haskell = true;
    opts.resamples = 70000;
    assert_int_equal(qs_boot_ci(s.v, s.n, &opts, &haskell), QS_OK);
    check_near("lower", haskell.bca.lo, ref_item(ref_at(want, "bca"), 0), 0, 1e-9);
    assert_int_equal(qs_boot_ci(s.v, s.n, &MEDIAN, &ours), QS_OK);
    EXPECT(ours.z0 > haskell.z0 + 0.1 && ours.bca.lo > haskell.bca.lo + 1e-9);
    ref_free(&s);
    json_decref(root);
}

static void test_seeds_and_streams(void **state)
{
    (void)state;
    struct series s = ref_csv("perfolizer/real1.csv", 0);
    struct qs_boot a, b;
    struct qs_boot_opts opts = MEAN;
    assert_int_equal(qs_boot_ci(s.v, s.n, &opts, &a), QS_OK);
    assert_int_equal(qs_boot_ci(s.v, s.n, &opts, &b), QS_OK);
    assert_memory_equal(&a.se, &b.se, sizeof a.se);
    assert_memory_equal(&a.bca.lo, &b.bca.lo, sizeof a.bca.lo);
    opts.stream = 1;
    assert_int_equal(qs_boot_ci(s.v, s.n, &opts, &b), QS_OK);
    EXPECT(a.se < b.se || a.se > b.se);
    check_near("se", a.se, b.se, 0.05, 0);
    ref_free(&s);
}

/* A statistic of one's own takes the general jackknife. */
static double plain_mean(double *x, size_t n, void *user)
{
    ++*(size_t *)user;
    return qs_statistic_mean(x, n, NULL);
}

static double plain_median(double *x, size_t n, void *user)
{
    ++*(size_t *)user;
    qs_sort(x, n);
    return qs_quantile(x, n, 0.5, QS_QTYPE_7);
}

static void test_direct_jackknives(void **state)
{
    (void)state;
    struct series s = ref_csv("nist/Lew.csv", 0);
    static const size_t sizes[] = {2, 3, 8, 35, 200};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct qs_boot direct, general;
        size_t calls = 0;
        struct qs_boot_opts mean = MEAN, median = MEDIAN;
        mean.statistic = plain_mean;
        median.statistic = plain_median;
        mean.user = median.user = &calls;
        mean.resamples = median.resamples = 1000;
        assert_int_equal(qs_boot_ci(s.v, sizes[i], &mean, &general), QS_OK);
        assert_int_equal(calls, 1 + 1000 + sizes[i]);
        assert_int_equal(qs_boot_ci(s.v, sizes[i], &MEAN, &direct), QS_OK);
        check_near("mean", direct.accel, general.accel, 1e-9, 1e-14);
        assert_int_equal(qs_boot_ci(s.v, sizes[i], &median, &general), QS_OK);
        assert_int_equal(qs_boot_ci(s.v, sizes[i], &MEDIAN, &direct), QS_OK);
        check_near("median", direct.accel, general.accel, 1e-9, 1e-14);
    }
    ref_free(&s);
}

static void test_median_by_selection(void **state)
{
    (void)state;
    struct qs_rng rng;
    double x[41], sorted[41];
    qs_rng_seed(&rng, 7, 0);
    for (int round = 0; round < 2000; round++) {
        size_t n = 1 + (size_t)qs_rng_below(&rng, 41);
        uint64_t distinct = 1 + qs_rng_below(&rng, 50);
        for (size_t i = 0; i < n; i++)
            x[i] = sorted[i] = (double)qs_rng_below(&rng, distinct);
        qs_sort(sorted, n);
        check_near("median", qs_statistic_median(x, n, NULL), qs_quantile(sorted, n, 0.5, QS_QTYPE_7), 0, 0);
        qs_sort(x, n);
        assert_memory_equal(x, sorted, n * sizeof *x);
    }
}

static void test_scale_and_shift(void **state)
{
    (void)state;
    struct series s = ref_csv("nist/Lottery.csv", 0);
    struct qs_boot plain, moved;
    assert_int_equal(qs_boot_ci(s.v, s.n, &MEAN, &plain), QS_OK);
    for (size_t i = 0; i < s.n; i++)
        s.v[i] = s.v[i] * 4 + 0x1p30;
    assert_int_equal(qs_boot_ci(s.v, s.n, &MEAN, &moved), QS_OK);
    check_near("lo", moved.bca.lo, plain.bca.lo * 4 + 0x1p30, 1e-14, 0);
    check_near("hi", moved.pct.hi, plain.pct.hi * 4 + 0x1p30, 1e-14, 0);
    check_near("se", moved.se, plain.se * 4, 1e-6, 0);
    ref_free(&s);
}

static double never_defined(double *x, size_t n, void *user)
{
    (void)x;
    (void)n;
    (void)user;
    return NAN;
}

static double first_of_varied(double *x, size_t n, void *user)
{
    (void)user;
    qs_sort(x, n);
    return x[0] < x[n - 1] ? x[0] : NAN;
}

static void test_degenerate_samples(void **state)
{
    (void)state;
    double x[] = {4, 4, 4, 4, 4, 4, 9};
    struct qs_boot b;
    assert_int_equal(qs_boot_ci(x, 0, &MEAN, &b), QS_ENODATA);
    EXPECT(isnan(b.estimate) && isnan(b.pct.lo));
    assert_int_equal(qs_boot_ci(x, 1, &MEAN, &b), QS_ETOOFEW);
    EXPECT(b.estimate > 3 && isnan(b.pct.lo) && isnan(b.bca.hi) && isnan(b.se));
    assert_int_equal(qs_boot_ci(x, 5, &MEAN, &b), QS_OK);
    EXPECT((b.bca.flags & QS_FLAG_EXACT) && (b.pct.flags & QS_FLAG_EXACT));
    check_near("point", b.bca.hi - b.bca.lo, 0, 0, 0);
    check_near("se", b.se, 0, 0, 0);
    struct qs_boot_opts opts = MEDIAN;
    opts.statistic = never_defined;
    assert_int_equal(qs_boot_ci(x, 7, &opts, &b), QS_EDEGENERATE);
    EXPECT(isnan(b.estimate));
    opts.statistic = first_of_varied;
    assert_int_equal(qs_boot_ci(x, 7, &opts, &b), QS_EDOM);
    EXPECT(isnan(b.pct.lo) && isnan(b.bca.lo) && isnan(b.se));
    x[2] = INFINITY;
    assert_int_equal(qs_boot_ci(x, 7, &MEAN, &b), QS_EDOM);
    x[2] = 1e308;
    x[3] = 1e308;
    assert_int_equal(qs_boot_ci(x, 7, &MEAN, &b), QS_EDOM);
}

static double least(double *x, size_t n, void *user)
{
    (void)user;
    qs_sort(x, n);
    return x[0];
}

/* No resample has a smaller minimum than the sample: with the rule that does not count ties z0 is infinite.
 */
/* Skewed values: the acceleration moves both ends up. By R 4.2.2, boot 1.3-28.1, the mean of 400,000
 * resamples, seeds 1 and 2: BCa (1.695, 6.211) and (1.694, 6.199), percentile (1.445, 5.110); empinf(type =
 * "jack") for the acceleration. */
static void test_bca_of_skewed_values(void **state)
{
    (void)state;
    static const double x[] = {1.01, 1.02, 1.05, 1.07, 1.1, 1.14, 1.2, 1.31,
                               1.45, 1.7,  2.1,  2.9,  4.4, 7.8,  15.2};
    struct qs_boot got;
    assert_int_equal(qs_boot_ci(x, sizeof x / sizeof *x, &MEAN, &got), QS_OK);
    check_near("acceleration", got.accel, 0.105597675005, 1e-9, 0);
    check_near("BCa lower", got.bca.lo, 1.6945, 0, 0.05);
    check_near("BCa upper", got.bca.hi, 6.205, 0, 0.3);
    check_near("percentile lower", got.pct.lo, 1.445, 0, 0.05);
    check_near("percentile upper", got.pct.hi, 5.110, 0, 0.2);
}

static void test_bca_that_is_not_defined(void **state)
{
    (void)state;
    static const double x[] = {5, 8, 2, 11, 7, 3, 13};
    struct qs_boot_opts opts = {.statistic = least, .level = 0.9, .haskell = true};
    struct qs_boot b;
    assert_int_equal(qs_boot_ci(x, 7, &opts, &b), QS_OK);
    EXPECT(isinf(b.z0) && (b.bca.flags & QS_FLAG_PERCENTILE));
    check_near("lo", b.bca.lo, b.pct.lo, 0, 0);
    check_near("hi", b.bca.hi, b.pct.hi, 0, 0);
}

static void test_options(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3};
    struct qs_boot b;
    struct qs_boot_opts bad[5] = {MEAN, MEAN, MEAN, MEAN, MEAN};
    bad[0].statistic = NULL;
    bad[1].level = 1;
    bad[2].level = NAN;
    bad[3].resamples = 99;
    bad[4].resamples = (size_t)QS_BOOT_RESAMPLES_MAX + 1;
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(qs_boot_ci(x, 3, &bad[i], &b), QS_EDOM);
    assert_int_equal(qs_block_boot_ci(x, 3, NULL, 0, 4, &MEAN, &b), QS_EDOM);
    assert_int_equal(qs_block_boot_ci(x, 3, (const size_t[]){3}, 1, 1, &MEAN, &b), QS_EDOM);
    assert_int_equal(qs_block_boot_ci(x, 0, NULL, 0, 0, &MEAN, &b), QS_ENODATA);
    assert_int_equal(qs_block_boot_ci(x, 1, NULL, 0, 0, &MEAN, &b), QS_ETOOFEW);
    assert_int_equal(qs_block_boot_ci((const double[]){7, 7, 7}, 3, NULL, 0, 0, &MEAN, &b), QS_OK);
    EXPECT(b.pct.flags & QS_FLAG_EXACT);
}

struct watch {
    int questions, answer_no_at;
    double last_ratio;
};

static bool watched(void *user, const char *stage, double done_ratio)
{
    (void)stage;
    struct watch *w = user;
    EXPECT(done_ratio >= w->last_ratio && done_ratio <= 1);
    w->last_ratio = done_ratio;
    return ++w->questions != w->answer_no_at;
}

static void test_cancel(void **state)
{
    (void)state;
    struct series s = ref_csv("perfolizer/manual1_modality.csv", 0);
    struct watch w = {.answer_no_at = 0};
    struct qs_boot_opts opts = MEAN;
    struct qs_boot b;
    opts.progress = (struct qs_progress){.go_on = watched, .user = &w};
    assert_int_equal(qs_boot_ci(s.v, s.n, &opts, &b), QS_OK);
    EXPECT(w.questions > 50 && w.last_ratio > 0.8);
    w = (struct watch){.answer_no_at = 3};
    assert_int_equal(qs_boot_ci(s.v, s.n, &opts, &b), QS_ECANCELED);
    assert_int_equal(w.questions, 3);
    EXPECT(isnan(b.pct.lo) && isnan(b.se));
    w = (struct watch){.answer_no_at = 1};
    assert_int_equal(qs_block_boot_ci(s.v, s.n, NULL, 0, 5, &opts, &b), QS_ECANCELED);
    ref_free(&s);
}

static double block_probe(double *x, size_t n, void *user)
{
    double *seen = user;
    for (size_t i = 0; i < n; i++)
        seen[(size_t)x[i]]++;
    return qs_statistic_mean(x, n, NULL);
}

/* Stretches of 3, 1 and 6 values: each value is drawn as often as any other. */
static void test_blocks_draw_every_value_equally(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const size_t breaks[] = {3, 4};
    double seen[10] = {0};
    struct qs_boot_opts opts = {
        .statistic = block_probe, .user = seen, .level = 0.95, .resamples = 100000, .seed = 5};
    struct qs_boot b;
    assert_int_equal(qs_block_boot_ci(x, 10, breaks, 2, 5, &opts, &b), QS_OK);
    assert_int_equal(b.block_length, 5);
    for (int i = 0; i < 10; i++)
        check_near("times drawn", seen[i], 100001, 0.03, 0);
    EXPECT(isnan(b.z0) && isnan(b.bca.lo));
}

/* A block is a run of neighbours that does not cross a break. */
static double neighbours(double *x, size_t n, void *user)
{
    (void)user;
    for (size_t i = 1; i < n; i++) {
        bool wraps = (x[i - 1] >= 3 && x[i - 1] <= 3) ? x[i] <= 0 : x[i] >= 4 && x[i] <= 4;
        if (i % 4 != 0 && !(x[i] - x[i - 1] >= 1 && x[i] - x[i - 1] <= 1) && !wraps)
            return NAN;
        if (i % 4 != 0 && (x[i - 1] < 4) != (x[i] < 4))
            return NAN;
    }
    return x[0];
}

static void test_blocks_respect_breaks(void **state)
{
    (void)state;
    static const double x[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct qs_boot_opts opts = {.statistic = neighbours, .level = 0.95};
    struct qs_boot b;
    assert_int_equal(qs_block_boot_ci(x, 8, (const size_t[]){4}, 1, 4, &opts, &b), QS_OK);
    assert_int_equal(qs_block_boot_ci(x, 8, NULL, 0, 4, &opts, &b), QS_EDOM);
}

/* AR(1), phi 0.8: the mean's error is known, and single values see a third of it. */
static void test_blocks_see_dependence(void **state)
{
    (void)state;
    enum { N = 2000 };
    static double x[N];
    struct qs_rng rng;
    double e = 0;
    qs_rng_seed(&rng, 1, 1);
    for (int i = -100; i < N; i++) {
        e = 0.8 * e + qs_qnorm(qs_rng_unit(&rng) + 0x1p-54);
        if (i >= 0)
            x[i] = e;
    }
    struct qs_boot single, block;
    struct qs_boot_opts opts = MEAN;
    opts.resamples = 2000;
    double true_se = 1 / 0.2 / sqrt(N);
    assert_int_equal(qs_boot_ci(x, N, &opts, &single), QS_OK);
    assert_int_equal(qs_block_boot_ci(x, N, NULL, 0, 0, &opts, &block), QS_OK);
    check_near("block se", block.se, true_se, 0.2, 0);
    EXPECT(single.se < 0.45 * true_se);
    EXPECT(block.block_length > 25 && block.block_length < 80);
    assert_int_equal(qs_block_boot_ci(x, N, NULL, 0, 1, &opts, &block), QS_OK);
    check_near("blocks of one", block.se, single.se, 0.06, 0);
}

static void test_block_length(void **state)
{
    (void)state;
    assert_int_equal(qs_block_length(1000, 1), 10);
    assert_int_equal(qs_block_length(1000, 0.2), 10);
    assert_int_equal(qs_block_length(1000, 4), 18); /* phi 0.6: (6 0.36/0.64^2)^(1/3) 10 = 17.4 */
    assert_int_equal(qs_block_length(1000, 19), 52);
    assert_int_equal(qs_block_length(40, 1000), 10);
    assert_int_equal(qs_block_length(2, 3), 1);
    assert_int_equal(qs_block_length(64, NAN), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_r),
        cmocka_unit_test(test_median_against_its_distribution),
        cmocka_unit_test(test_haskell_rule),
        cmocka_unit_test(test_seeds_and_streams),
        cmocka_unit_test(test_direct_jackknives),
        cmocka_unit_test(test_median_by_selection),
        cmocka_unit_test(test_scale_and_shift),
        cmocka_unit_test(test_degenerate_samples),
        cmocka_unit_test(test_bca_of_skewed_values),
        cmocka_unit_test(test_bca_that_is_not_defined),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_blocks_draw_every_value_equally),
        cmocka_unit_test(test_blocks_respect_breaks),
        cmocka_unit_test(test_blocks_see_dependence),
        cmocka_unit_test(test_block_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
