/* Resamples without single draws have the distribution of single draws. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stats/bootstrap.h"
#include "stats/resample.h"
#include "stats/special.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_are_multinomial),
        cmocka_unit_test(test_middles_are_those_of_draws),
        cmocka_unit_test(test_two_middles),
        cmocka_unit_test(test_intervals_are_those_of_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
