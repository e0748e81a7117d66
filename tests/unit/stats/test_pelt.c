/* PELT: R's changepoint, the exact optimum by brute force, units; and the classes of warm-up. */
#include "reference.h"
#include "second.h"

#include "stats/pelt.h"
#include "stats/rng.h"
#include "stats/special.h"
#include "stats/steady.h"
#include "stats/sum.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MAX_N = 1024 };

static void check_changes(const char *what, const size_t *got, size_t count, json_t *want)
{
    size_t n = json_is_array(want) ? json_array_size(want) : 1;
    if (count != n)
        fail_msg("%s: %zu changes instead of %zu", what, count, n);
    for (size_t i = 0; i < n; i++)
        check_near(what, (double)got[i], json_is_array(want) ? ref_item(want, i) : json_number_value(want), 0,
                   0);
}

/* R's 1-based last value of the left segment is the 0-based first of the right one. */
static void test_against_r_changepoint(void **state)
{
    (void)state;
    static const char *const names[] = {"otava_tigerbeetle", "perfolizer_real1"};
    json_t *r = ref_json("reference-r.json"), *want = ref_at(r, "changepoint_1based");
    struct qs_pelt_opts opts = qs_pelt_opts_default();
    size_t changes[MAX_N], count;
    opts.least = 2;
    for (size_t i = 0; i < 2; i++)
        for (int raw = 0; raw < 2; raw++) {
            struct series s = ref_series(r, names[i]);
            opts.raw = raw;
            assert_int_equal(qs_pelt(s.v, s.n, &opts, changes, &count), QS_OK);
            check_changes(names[i], changes, count, ref_at(ref_at(want, names[i]), "meanvar_15logn"));
            ref_free(&s);
        }
    json_decref(r);
}

/* R's cpt.mean (MBIC) of values about the median in MADs. Of the second series R gives 191, whose cost is
 * above that of 188 by 0.05: ln m makes its pruning leave out places, and ours others. */
static void test_the_mean_as_r(void **state)
{
    (void)state;
    json_t *r = ref_json("reference-r.json"), *want = ref_at(r, "changepoint_1based");
    struct series tiger = ref_series(r, "otava_tigerbeetle"), real = ref_series(r, "perfolizer_real1");
    size_t changes[MAX_N], count;
    assert_int_equal(qs_pelt_mean(tiger.v, tiger.n, NULL, changes, &count), QS_OK);
    check_changes("tigerbeetle", changes, count, ref_at(ref_at(want, "otava_tigerbeetle"), "mean_mbic_std"));
    assert_int_equal(qs_pelt_mean(real.v, real.n, NULL, changes, &count), QS_OK);
    assert_int_equal(count, 2);
    EXPECT(changes[0] >= 188 && changes[0] <= 191 && changes[1] == 294);
    static const double flat[] = {3, 3, 3, 3};
    assert_int_equal(qs_pelt_mean(flat, 4, NULL, changes, &count), QS_OK);
    assert_int_equal(count, 0);
    ref_free(&tiger);
    ref_free(&real);
    json_decref(r);
}

/* Fifty values of 1 and -1, then fifty that are d higher: median d/2, MAD 1 for d below 2. The one change
 * explains 25 d^2/1.4826^2 and costs 3 ln 100 = 13.8, and ln(50 * 50/100) = 3.2 more for its place in the
 * middle. */
static void test_the_mean_weighs_places(void **state)
{
    (void)state;
    static const struct {
        double step;
        size_t count;
    } cases[] = {{1.05, 0}, {1.16, 0}, {1.3, 1}}; /* explained: 12.5, 15.3, 19.2 */
    size_t changes[MAX_N], count;
    double x[100];
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        for (size_t i = 0; i < 100; i++)
            x[i] = (i % 2 == 0 ? 1 : -1) + (i < 50 ? 0 : cases[c].step);
        assert_int_equal(qs_pelt_mean(x, 100, NULL, changes, &count), QS_OK);
        assert_int_equal(count, cases[c].count);
        if (count > 0)
            assert_int_equal(changes[0], 50);
    }
}

/* A quantised series, where segments of equal values make the floor of the variance matter. */
static void test_quantised(void **state)
{
    (void)state;
    json_t *second = ref_json("reference-second-implementation.json");
    json_t *want = ref_at(ref_at(second, "series"), "perfolizer_manual1");
    struct series s = second_series("perfolizer_manual1");
    struct qs_pelt_opts opts = qs_pelt_opts_default();
    size_t changes[MAX_N], count;
    opts.least = 2;
    opts.raw = true;
    assert_int_equal(qs_pelt(s.v, s.n, &opts, changes, &count), QS_OK);
    check_changes("raw", changes, count, ref_at(want, "pelt_meanvar_15logn"));
    opts.raw = false;
    assert_int_equal(qs_pelt(s.v, s.n, &opts, changes, &count), QS_OK);
    assert_int_equal(count, 2); /* around 280, 191, 160, 175, 648; none around five ties */
    EXPECT(changes[0] == 790 && changes[1] == 795);
    struct qs_moments m;
    assert_int_equal(qs_moments(s.v, s.n, &m), QS_OK);
    for (size_t i = 0; i < s.n; i++)
        s.v[i] = (s.v[i] - m.mean) / sqrt(m.var); /* that implementation's way to standardise */
    opts.raw = true;
    assert_int_equal(qs_pelt(s.v, s.n, &opts, changes, &count), QS_OK);
    check_changes("by mean and sd", changes, count, ref_at(want, "pelt_meanvar_15logn_std"));
    ref_free(&s);
    json_decref(second);
}

/* The reference names the last value before a change. Only the order of values counts: cubes change nothing.
 */
static void test_ed_pelt(void **state)
{
    (void)state;
    static const char *const names[] = {"otava_tigerbeetle", "perfolizer_real1", "perfolizer_manual1"};
    json_t *second = ref_json("reference-second-implementation.json");
    struct qs_progress nobody = {0};
    size_t changes[MAX_N], count;
    for (size_t i = 0; i < 3; i++) {
        struct series s = second_series(names[i]);
        json_t *want = ref_at(ref_at(ref_at(second, "series"), names[i]), "ed_pelt_min20");
        for (int cubed = 0; cubed < 2; cubed++) {
            assert_int_equal(qs_ed_pelt(s.v, s.n, 20, &nobody, changes, &count), QS_OK);
            assert_int_equal(count, json_array_size(want));
            for (size_t k = 0; k < count; k++)
                check_near(names[i], (double)changes[k], ref_item(want, k) + 1, 0, 0);
            for (size_t k = 0; k < s.n; k++)
                s.v[k] = s.v[k] * s.v[k] * s.v[k];
        }
        assert_int_equal(qs_ed_pelt(s.v, s.n, 0, &nobody, changes, &count), QS_EDOM);
        assert_int_equal(qs_ed_pelt(s.v, 1, 1, &nobody, changes, &count), QS_ETOOFEW);
        assert_int_equal(qs_ed_pelt(s.v, 0, 1, &nobody, changes, &count), QS_ENODATA);
        assert_int_equal(qs_ed_pelt(s.v, 10, 20, &nobody, changes, &count), QS_OK);
        assert_int_equal(count, 0);
        s.v[0] = NAN;
        assert_int_equal(qs_ed_pelt(s.v, s.n, 20, &nobody, changes, &count), QS_EDOM);
        ref_free(&s);
    }
    json_decref(second);
}

static double cost_direct(const double *x, size_t n)
{
    double mean = 0, v = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        v += (x[i] - mean) * (x[i] - mean) / (double)n;
    return (double)n * (log(2 * acos(-1)) + log(v) + 1);
}

static double cost_of(const double *x, size_t n, const size_t *changes, size_t count, double penalty)
{
    double sum = penalty * (double)count;
    for (size_t i = 0; i <= count; i++) {
        size_t from = i == 0 ? 0 : changes[i - 1], end = i == count ? n : changes[i];
        sum += cost_direct(x + from, end - from);
    }
    return sum;
}

/* Optimal partitioning without pruning: the definition. */
static double best_cost(const double *x, size_t n, size_t least, double penalty)
{
    double f[128];
    f[0] = -penalty;
    for (size_t t = 1; t <= n; t++) {
        f[t] = INFINITY;
        for (size_t a = 0; a + least <= t; a++)
            f[t] = fmin(f[t], f[a] + cost_direct(x + a, t - a) + penalty);
    }
    return f[n];
}

static void test_the_optimum_is_exact(void **state)
{
    (void)state;
    struct qs_rng rng;
    qs_rng_seed(&rng, 21, 0);
    for (int trial = 0; trial < 200; trial++) {
        double x[120], level = 0;
        size_t n = 20 + (size_t)qs_rng_below(&rng, 100), changes[60], count;
        for (size_t i = 0; i < n; i++) {
            level = qs_rng_below(&rng, 15) == 0 ? 6 * qs_rng_unit(&rng) : level;
            x[i] = level + qs_rng_unit(&rng);
        }
        struct qs_pelt_opts opts = {
            .penalty = 1 + 6 * qs_rng_unit(&rng), .least = 2 + (size_t)qs_rng_below(&rng, 7), .raw = true};
        assert_int_equal(qs_pelt(x, n, &opts, changes, &count), QS_OK);
        check_near("cost", cost_of(x, n, changes, count, opts.penalty),
                   best_cost(x, n, opts.least, opts.penalty), 1e-9, 1e-7);
        for (size_t i = 0; i <= count; i++)
            EXPECT((i == count ? n : changes[i]) - (i == 0 ? 0 : changes[i - 1]) >= opts.least);
    }
}

static double noise(struct qs_rng *rng)
{
    return qs_qnorm(qs_rng_unit(rng) + 1e-12);
}

/* levels[i] for 100 iterations each, in a noise of 1. */
static void levels_of(double *x, const double *levels, size_t n_levels, uint64_t seed)
{
    struct qs_rng rng;
    qs_rng_seed(&rng, seed, 0);
    for (size_t i = 0; i < 100 * n_levels; i++)
        x[i] = levels[i / 100] + noise(&rng);
}

static void test_units_do_not_matter(void **state)
{
    (void)state;
    static const double levels[] = {100, 104, 100};
    double x[300];
    size_t a[150], b[150], na, nb;
    struct qs_pelt_opts opts = qs_pelt_opts_default();
    levels_of(x, levels, 3, 1);
    assert_int_equal(qs_pelt(x, 300, &opts, a, &na), QS_OK);
    assert_int_equal(na, 2);
    EXPECT(a[0] > 96 && a[0] < 104 && a[1] > 196 && a[1] < 204);
    for (size_t i = 0; i < 300; i++)
        x[i] = 3 + 1e-9 * x[i]; /* nanoseconds as seconds */
    assert_int_equal(qs_pelt(x, 300, &opts, b, &nb), QS_OK);
    assert_int_equal(nb, 2);
    assert_int_equal(a[0], b[0]);
    assert_int_equal(a[1], b[1]);
    for (size_t i = 0; i < 300; i++)
        x[i] = i < 150 ? 7 : 8; /* nothing varies but the step; a coarse clock explains it */
    assert_int_equal(qs_pelt(x, 300, &opts, b, &nb), QS_OK);
    assert_int_equal(nb, 1);
    assert_int_equal(b[0], 150);
    opts.resolution = 8;
    assert_int_equal(qs_pelt(x, 300, &opts, b, &nb), QS_OK);
    assert_int_equal(nb, 0);
}

static bool never(void *user, const char *stage, double done_ratio)
{
    (void)stage;
    (void)user;
    return done_ratio < 0;
}

static void test_pelt_degenerate(void **state)
{
    (void)state;
    double x[300] = {0};
    size_t changes[150], count = 9;
    struct qs_pelt_opts opts = qs_pelt_opts_default(), bad = opts;
    assert_int_equal(qs_pelt(x, 300, &opts, changes, &count), QS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(qs_pelt(x, 0, &opts, changes, &count), QS_ENODATA);
    assert_int_equal(qs_pelt(x, 1, &opts, changes, &count), QS_ETOOFEW);
    x[1] = 4;
    assert_int_equal(qs_pelt(x, 2, &opts, changes, &count), QS_OK);
    assert_int_equal(count, 0);
    bad.least = 1;
    assert_int_equal(qs_pelt(x, 300, &bad, changes, &count), QS_EDOM);
    bad = opts;
    bad.penalty = -1;
    assert_int_equal(qs_pelt(x, 300, &bad, changes, &count), QS_EDOM);
    bad = opts;
    bad.progress.go_on = never;
    assert_int_equal(qs_pelt(x, 300, &bad, changes, &count), QS_ECANCELED);
    x[9] = NAN;
    assert_int_equal(qs_pelt(x, 300, &opts, changes, &count), QS_EDOM);
    assert_int_equal(count, 0);
}

static struct qs_steady steady_of(const double *levels, size_t n_levels, bool lower_is_better)
{
    double x[600];
    struct qs_steady got;
    struct qs_steady_opts opts = {.delta_ratio = 0.01, .lower_is_better = lower_is_better};
    levels_of(x, levels, n_levels, 5);
    assert_int_equal(qs_steady_state(x, 100 * n_levels, NULL, &opts, &got), QS_OK);
    return got;
}

static void test_classes(void **state)
{
    (void)state;
    static const double flat[] = {100, 100, 100}, warm[] = {130, 110, 100, 100}, slow[] = {100, 90, 105, 105};
    static const double late[] = {100, 100, 100, 100, 100, 120}, close[] = {100.5, 100, 100};
    struct qs_steady got = steady_of(flat, 3, true);
    EXPECT(got.class == QS_STEADY_FLAT && got.start == 0 && got.segments == 1);
    check_near("mean", got.mean, 100, 0, 0.3);
    got = steady_of(warm, 4, true);
    EXPECT(got.class == QS_STEADY_WARMUP && got.start > 195 && got.start < 205 && got.segments == 3);
    assert_int_equal(steady_of(warm, 4, false).class,
                     QS_STEADY_SLOWDOWN); /* of throughput it is the opposite */
    assert_int_equal(steady_of(slow, 4, true).class, QS_STEADY_SLOWDOWN);
    got = steady_of(late, 6, true); /* 100 of 600 are less than a quarter */
    EXPECT(got.class == QS_STEADY_NONE && got.start == 600);
    assert_int_equal(steady_of(close, 3, true).class, QS_STEADY_FLAT);
    assert_string_equal(qs_steady_class_names[QS_STEADY_NONE], "no-steady-state");
}

static void test_outliers_are_left_out(void **state)
{
    (void)state;
    static const double levels[] = {120, 100, 100};
    double x[300];
    uint8_t leave_out[300] = {0};
    struct qs_steady got;
    struct qs_steady_opts opts = {.delta_ratio = 0.01, .lower_is_better = true};
    levels_of(x, levels, 3, 8);
    for (size_t i = 290; i < 300; i++) {
        x[i] = 500;
        leave_out[i] = 1;
    }
    leave_out[3] = 1;
    assert_int_equal(qs_steady_state(x, 300, leave_out, &opts, &got), QS_OK);
    EXPECT(got.class == QS_STEADY_WARMUP && got.start > 96 && got.start < 104);
    assert_int_equal(qs_steady_state(x, 300, NULL, &opts, &got), QS_OK);
    assert_int_equal(got.class, QS_STEADY_NONE);
}

static void test_few_and_many_runs(void **state)
{
    (void)state;
    double x[60];
    struct qs_rng rng;
    struct qs_steady got;
    struct qs_steady_opts opts = {.delta_ratio = 0.01, .lower_is_better = true};
    int flat = 0;
    qs_rng_seed(&rng, 4, 0);
    for (int run = 0; run < 300; run++) {
        for (size_t i = 0; i < 60; i++)
            x[i] = 100 + noise(&rng);
        assert_int_equal(qs_steady_state(x, 60, NULL, &opts, &got), QS_OK);
        flat += got.class == QS_STEADY_FLAT;
    }
    EXPECT(flat >= 297);
    assert_int_equal(qs_steady_state(x, 39, NULL, &opts, &got), QS_ETOOFEW);
    EXPECT(got.class == QS_STEADY_UNKNOWN && isnan(got.mean));
    x[5] = INFINITY;
    assert_int_equal(qs_steady_state(x, 60, NULL, &opts, &got), QS_EDOM);
    static const enum qs_steady_class runs[] = {QS_STEADY_FLAT, QS_STEADY_FLAT, QS_STEADY_WARMUP};
    assert_int_equal(qs_steady_of_runs(runs, 2), QS_STEADY_FLAT);
    assert_int_equal(qs_steady_of_runs(runs, 3), QS_STEADY_INCONSISTENT);
    assert_int_equal(qs_steady_of_runs(runs, 0), QS_STEADY_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_mean_as_r),
        cmocka_unit_test(test_the_mean_weighs_places),
        cmocka_unit_test(test_against_r_changepoint),
        cmocka_unit_test(test_quantised),
        cmocka_unit_test(test_ed_pelt),
        cmocka_unit_test(test_the_optimum_is_exact),
        cmocka_unit_test(test_units_do_not_matter),
        cmocka_unit_test(test_pelt_degenerate),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_outliers_are_left_out),
        cmocka_unit_test(test_few_and_many_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
