/* Resamples without single draws have the distribution of single draws; those that are drawn several at a
 * time, their very numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stats/abreast.h"
#include "stats/bootstrap.h"
#include "stats/rancid.h"
#include "stats/resample.h"
#include "stats/special.h"
#include "stats/sum.h"

enum { N = 4099, RESAMPLES = 4000 };

/* Within five standard errors of a share. */
static void expect_share(const char *what, size_t count, double p)
{
    double share = (double)count / RESAMPLES, slack = 5 * sqrt(p * (1 - p) / RESAMPLES) + 1e-9;
    if (fabs(share - p) > slack)
        fail_msg("%s: %g, not %g", what, share, p);
}

static void test_counts_are_multinomial(void **state)
{
    (void)state;
    struct qs_resample r;
    struct qs_rng rng;
    double *one = calloc(N, sizeof *one), *all = calloc(N, sizeof *all), *half = calloc(N, sizeof *half);
    size_t seen[4] = {0};
    double squares = 0;
    qs_resample_init(&r, N);
    qs_rng_seed(&rng, 11, 1);
    one[N / 2] = 1;
    for (size_t i = 0; i < N; i++) {
        all[i] = 1;
        half[i] = i % 2 == 0;
    }
    for (size_t k = 0; k < RESAMPLES; k++) {
        assert_true(qs_resample_sums(&r, &rng, all).sum == N); /* exactly n draws */
        size_t count = (size_t)qs_resample_sums(&r, &rng, one).sum;
        seen[count < 3 ? count : 3]++;
        double d = qs_resample_sums(&r, &rng, half).sum - (double)(N / 2 + 1);
        squares += d * d;
    }
    double p = 1.0 / N, binomial = pow(1 - p, N), left = 1;
    for (size_t k = 0; k < 3; k++) { /* of one value Binomial(n, 1/n) */
        expect_share("times drawn", seen[k], binomial);
        left -= binomial;
        binomial *= (double)(N - k) / (double)(k + 1) * p / (1 - p);
    }
    expect_share("often drawn", seen[3], left);
    double share = (double)(N / 2 + 1) / N, var = N * share * (1 - share);
    assert_true(fabs(squares / RESAMPLES / var - 1) < 5 * sqrt(2.0 / RESAMPLES)); /* of half of them */
    free(one);
    free(all);
    free(half);
}

/* P(the median of a resample stands at <= i) = P(Binomial(n, (i+1)/n) >= (n+1)/2) for odd n. */
static void test_middles_are_those_of_draws(void **state)
{
    (void)state;
    struct qs_rng rng;
    qs_rng_seed(&rng, 12, 1);
    const int at[] = {-80, -30, 0, 30, 80};
    size_t below[5] = {0}, rank[2];
    for (size_t k = 0; k < RESAMPLES; k++) {
        qs_resample_middle(&rng, N, rank);
        assert_true(rank[0] == rank[1] && rank[0] < N);
        for (size_t i = 0; i < 5; i++)
            below[i] += (double)rank[0] <= (N - 1) / 2 + at[i];
    }
    for (size_t i = 0; i < 5; i++) {
        double share = (double)((N - 1) / 2 + at[i] + 1) / N;
        expect_share("rank", below[i], 1 - qs_pbinom((N - 1) / 2, N, share));
    }
}

static void test_two_middles(void **state)
{
    (void)state;
    struct qs_rng rng;
    size_t same = 0, rank[2];
    double gap = 0;
    qs_rng_seed(&rng, 13, 1);
    for (size_t k = 0; k < RESAMPLES; k++) {
        qs_resample_middle(&rng, 5000, rank);
        assert_true(rank[0] <= rank[1] && rank[1] < 5000);
        same += rank[0] == rank[1];
        gap += (double)(rank[1] - rank[0]) / RESAMPLES;
    }
    /* Neighbours of ordered uniforms are an exponential of mean 1 apart, in values; the first lies anywhere
     * in its value: P(same) = integral of P(gap < 1-u) = 1 - (1 - e^-1) = e^-1, E(gap) = 1. */
    expect_share("the same value twice", same, exp(-1));
    assert_true(fabs(gap - 1) < 5 * sqrt(1.2 / RESAMPLES));
}

static double plain_mean(double *x, size_t n, void *user)
{
    return qs_statistic_mean(x, n, user);
}

static double plain_median(double *x, size_t n, void *user)
{
    return qs_statistic_median(x, n, user);
}

/* Another pointer to the same statistic draws every value. */
static void test_intervals_are_those_of_draws(void **state)
{
    (void)state;
    double *x = malloc(N * sizeof *x);
    struct qs_rng rng;
    qs_rng_seed(&rng, 14, 1);
    for (size_t i = 0; i < N; i++)
        x[i] = 1e6 + exp(2 * qs_rng_unit(&rng));
    struct qs_boot_opts opts = {.level = 0.95, .resamples = 2000, .seed = 3};
    struct qs_boot quick, drawn;
    double (*const pairs[2][2])(double *, size_t, void *) = {{qs_statistic_mean, plain_mean},
                                                             {qs_statistic_median, plain_median}};
    for (size_t i = 0; i < 2; i++) {
        opts.statistic = pairs[i][0];
        assert_int_equal(qs_boot_ci(x, N, &opts, &quick), QS_OK);
        opts.statistic = pairs[i][1];
        assert_int_equal(qs_boot_ci(x, N, &opts, &drawn), QS_OK);
        assert_true(quick.estimate == drawn.estimate);
        assert_true(fabs(quick.se / drawn.se - 1) < 0.12);
        assert_true(fabs(quick.pct.lo - drawn.pct.lo) < drawn.se / 2);
        assert_true(fabs(quick.pct.hi - drawn.pct.hi) < drawn.se / 2);
    }
    const size_t breaks[] = {1000, 1007};
    opts.statistic = qs_statistic_mean;
    assert_int_equal(qs_block_boot_ci(x, N, breaks, 2, 30, &opts, &quick), QS_OK);
    opts.statistic = plain_mean;
    assert_int_equal(qs_block_boot_ci(x, N, breaks, 2, 30, &opts, &drawn), QS_OK);
    assert_true(fabs(quick.se / drawn.se - 1) < 1e-6); /* the same blocks */
    assert_true(fabs(quick.pct.lo - drawn.pct.lo) < 1e-6 * drawn.se);
    free(x);
}

/* Values of all sizes and both signs: sums that do not compensate, or otherwise, end in other digits. Beside
 * an offset, what the rounding of the mean took away is most of what is left. */
static void fill_uneven(double *x, size_t n, double offset)
{
    struct qs_rng rng;
    qs_rng_seed(&rng, 13, 1);
    for (size_t i = 0; i < n && offset > 0; i++)
        x[i] = offset + 2 * (double)qs_rng_below(&rng, 5);
    for (size_t i = 0; i < n && !(offset > 0); i++)
        x[i] = (qs_rng_unit(&rng) - 0.4) * pow(10, (double)qs_rng_below(&rng, 17));
}

static void expect_lanes_as_single(double offset)
{
    enum { MOST = 300 };
    static double x[MOST], one[QS_ABREAST][MOST], lanes[MOST * QS_ABREAST];
    uint32_t index[MOST];
    static const size_t counts[] = {1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 17, MOST};
    fill_uneven(x, MOST, offset);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t n = counts[c];
        struct qs_rng single, batch;
        double mean[QS_ABREAST], sd[QS_ABREAST];
        qs_rng_seed(&single, 14, n);
        batch = single;
        for (size_t k = 0; k < QS_ABREAST; k++) {
            qs_abreast_draw(&batch, x, n, index, lanes + k);
            for (size_t i = 0; i < n; i++)
                one[k][i] = x[qs_rng_below(&single, n)];
        }
        for (size_t i = 0; i < n; i++) /* one that does not vary, although its mean is no double */
            one[2][i] = lanes[i * QS_ABREAST + 2] = 0.1;
        qs_abreast_means(lanes, n, mean);
        qs_abreast_sds(lanes, n, sd);
        for (size_t k = 0; k < QS_ABREAST; k++) {
            struct qs_moments m;
            assert_true(mean[k] == qs_statistic_mean(one[k], n, NULL));
            assert_int_equal(qs_moments(one[k], n, &m), QS_OK);
            assert_true(n == 1 ? isnan(sd[k]) : sd[k] == sqrt(m.var));
        }
        assert_true(n == 1 || !(sd[2] > 0));
    }
}

static void test_lanes_are_resamples_by_themselves(void **state)
{
    (void)state;
    expect_lanes_as_single(0);
    expect_lanes_as_single(0x1p53);
    expect_lanes_as_single(0x1.8p53);
    /* Of 2^53 + {0, 2, 2}, whose mean is no double, the variance is (4/3 - 0)^2 + 2 (2 - 4/3)^2 over 2. */
    const double v[3 * QS_ABREAST] = {0x1p53, 1,     1e308,      1, 0x1p53 + 2, 2,
                                      1e308,  1e200, 0x1p53 + 2, 4, 1e308,      -1e200};
    double sd[QS_ABREAST];
    qs_abreast_sds(v, 3, sd);
    assert_true(fabs(sd[0] - sqrt(4.0 / 3)) < 1e-15);
    assert_true(fabs(sd[1] - sqrt(7.0 / 3)) < 1e-15);
    assert_true(isnan(sd[3])); /* the squares are beyond a double, and so is the sum of the third */
    assert_true(isnan(sd[2]));
}

/* A statistic that is not known is computed of each resample; 1002 is no multiple of what is drawn at a time.
 */
static void expect_as_single(const double *x, size_t n, size_t block,
                             double (*known)(double *, size_t, void *),
                             double (*same)(double *, size_t, void *))
{
    struct qs_boot a, b;
    struct qs_boot_opts opts = {.level = 0.9, .resamples = 1002, .seed = 15, .statistic = known};
    enum qs_status first =
        block > 0 ? qs_block_boot_ci(x, n, NULL, 0, block, &opts, &a) : qs_boot_ci(x, n, &opts, &a);
    opts.statistic = same;
    assert_int_equal(
        block > 0 ? qs_block_boot_ci(x, n, NULL, 0, block, &opts, &b) : qs_boot_ci(x, n, &opts, &b), first);
    assert_int_equal(first, QS_OK);
    assert_true(a.estimate == b.estimate && a.bias == b.bias && a.se == b.se);
    assert_true(a.pct.lo == b.pct.lo && a.pct.hi == b.pct.hi);
    assert_true(block > 0 || a.z0 == b.z0);
}

static void test_few_values_keep_the_numbers_of_single_draws(void **state)
{
    (void)state;
    static double x[101];
    fill_uneven(x, 101, 0);
    for (size_t i = 0; i < 40; i++)
        x[60 + i] = x[i % 7]; /* ties */
    static const size_t counts[] = {2, 3, 10, 100, 101};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        expect_as_single(x, counts[c], 0, qs_statistic_mean, plain_mean);
        expect_as_single(x, counts[c], 0, qs_statistic_median, plain_median);
        expect_as_single(x, counts[c], 2, qs_statistic_mean, plain_mean);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of both sides in turn, one resample after the other. */
static void test_scatter_of_few_values_is_that_of_single_draws(void **state)
{
    (void)state;
    enum { NX = 6, NY = 9 };
    static double x[NX + NY], ratio[QS_RANCID_RESAMPLES];
    struct qs_rng rng;
    struct qs_rancid got;
    const struct qs_progress nobody = {.go_on = NULL};
    fill_uneven(x, NX + NY, 0);
    qs_rng_seed(&rng, 16, 0);
    for (size_t r = 0; r < QS_RANCID_RESAMPLES; r++) {
        double sd[2], drawn[NY];
        for (size_t k = 0; k < 2; k++) {
            struct qs_moments m;
            size_t n = k == 0 ? NX : NY;
            for (size_t i = 0; i < n; i++)
                drawn[i] = x[(k == 0 ? 0 : NX) + qs_rng_below(&rng, n)];
            assert_int_equal(qs_moments(drawn, n, &m), QS_OK);
            sd[k] = sqrt(m.var);
        }
        bool both = sd[0] > 0 && sd[1] > 0;
        ratio[r] = both ? log(sd[1] / sd[0]) : sd[0] > 0 ? -INFINITY : sd[1] > 0 ? INFINITY : 0;
    }
    qsort(ratio, QS_RANCID_RESAMPLES, sizeof *ratio, by_value);
    assert_int_equal(qs_rancid(x, NX, x + NX, NY, 0.9, 16, &nobody, &got), QS_OK);
    size_t lo = (size_t)((1 - 0.9) / 2 * (QS_RANCID_RESAMPLES - 1));
    assert_true(got.sd_ratio_ci.lo == exp(ratio[lo]));
    assert_true(got.sd_ratio_ci.hi == exp(ratio[QS_RANCID_RESAMPLES - 1 - lo]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_are_multinomial),
        cmocka_unit_test(test_middles_are_those_of_draws),
        cmocka_unit_test(test_two_middles),
        cmocka_unit_test(test_intervals_are_those_of_draws),
        cmocka_unit_test(test_lanes_are_resamples_by_themselves),
        cmocka_unit_test(test_few_values_keep_the_numbers_of_single_draws),
        cmocka_unit_test(test_scatter_of_few_values_is_that_of_single_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
