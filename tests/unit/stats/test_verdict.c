/* The verdict: every row of its table, both directions, and inputs that admit no answer. */
#include "reference.h"

#include "stats/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { K = 5 };

/* K values with the geometric mean centre and the sd of logs sd. */
static void runs_around(double centre, double sd, double *v)
{
    static const double unit[K] = {-1, 0.5, 0, 1, -0.5}; /* sum of squares 2.5: variance 0.625 */
    for (int i = 0; i < K; i++)
        v[i] = centre * exp(sd * unit[i] / sqrt(0.625));
}

static struct qs_verdict compare(double ratio, double sd, bool lower_is_better)
{
    double x[K], y[K];
    struct qs_verdict out;
    struct qs_verdict_opts opts = qs_verdict_opts_default();
    opts.lower_is_better = lower_is_better;
    runs_around(1e6, sd, x);
    runs_around(1e6 * ratio, sd, y);
    struct qs_side_runs base = {.v = x, .n = K, .n_dropped = 1}, cand = {.v = y, .n = K, .n_dropped = 2};
    assert_int_equal(qs_verdict_runs(&base, &cand, &opts, &out), QS_OK);
    check_near("ratio", out.ratio, ratio, 1e-12, 0);
    check_near("sd", out.sd_log, sd, 1e-9, 0);
    return out;
}

/* half width at sd s: 2.306 s sqrt(2/5) = 1.458 s; of the 90 % interval 1.860 s sqrt(2/5) = 1.176 s */
static void test_the_table(void **state)
{
    (void)state;
    static const struct {
        double ratio, sd;
        enum qs_verdict_kind lower, higher;
        enum qs_verdict_reason reason;
        int direction;
    } rows[] = {
        {1.10, 0.02, QS_VERDICT_REGRESSION, QS_VERDICT_IMPROVEMENT, QS_REASON_NONE, 1},
        {0.90, 0.02, QS_VERDICT_IMPROVEMENT, QS_VERDICT_REGRESSION, QS_REASON_NONE, -1},
        {1.03, 0.015, QS_VERDICT_PROBABLE_REGRESSION, QS_VERDICT_PROBABLE_IMPROVEMENT, QS_REASON_NONE, 1},
        {0.97, 0.015, QS_VERDICT_PROBABLE_IMPROVEMENT, QS_VERDICT_PROBABLE_REGRESSION, QS_REASON_NONE, -1},
        {1.01, 0.004, QS_VERDICT_NEGLIGIBLE, QS_VERDICT_NEGLIGIBLE, QS_REASON_NONE, 1},
        {0.99, 0.004, QS_VERDICT_NEGLIGIBLE, QS_VERDICT_NEGLIGIBLE, QS_REASON_NONE, -1},
        {1.002, 0.01, QS_VERDICT_EQUIVALENT, QS_VERDICT_EQUIVALENT, QS_REASON_NONE, 0},
        /* the 95 % interval leaves the margin, the 90 % one does not */
        {1.0, 0.015, QS_VERDICT_EQUIVALENT, QS_VERDICT_EQUIVALENT, QS_REASON_NONE, 0},
        {1.0, 0.018, QS_VERDICT_INCONCLUSIVE, QS_VERDICT_INCONCLUSIVE, QS_REASON_WIDE_INTERVAL, 0},
        {1.10, 0.2, QS_VERDICT_INCONCLUSIVE, QS_VERDICT_INCONCLUSIVE, QS_REASON_WIDE_INTERVAL, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qs_verdict low = compare(rows[i].ratio, rows[i].sd, true);
        struct qs_verdict high = compare(rows[i].ratio, rows[i].sd, false);
        assert_string_equal(qs_verdict_name(low.kind), qs_verdict_name(rows[i].lower));
        assert_string_equal(qs_verdict_name(high.kind), qs_verdict_name(rows[i].higher));
        assert_int_equal(low.reason, rows[i].reason);
        assert_int_equal(low.direction, rows[i].direction);
        assert_int_equal(high.direction, -rows[i].direction);
    }
}

static void test_the_numbers(void **state)
{
    (void)state;
    struct qs_verdict v = compare(1.03, 0.015, true);
    double half = 0.015 * sqrt(0.4);
    check_near("L95", log(v.l95.lo), log(1.03) - 2.3060041352 * half, 1e-8, 0);
    check_near("L95", log(v.l95.hi), log(1.03) + 2.3060041352 * half, 1e-8, 0);
    check_near("L90", log(v.l90.hi), log(1.03) + 1.8595480375 * half, 1e-8, 0);
    check_near("level", v.l90.level, 0.9, 1e-15, 0);
    check_near("df", v.df, 8, 1e-9, 0);
    check_near("MDE", v.mde_ratio, expm1((2.3060041352 + 0.8888895178) * half), 1e-8, 0);
    EXPECT(v.needed > K && v.needed < 12);
    EXPECT(v.p < 0.05 && v.p > 0.01);
    EXPECT(v.n_used[0] == K && v.n_used[1] == K && v.n_dropped[0] == 1 && v.n_dropped[1] == 2);
    assert_string_equal(v.method, "log-welch");
    assert_int_equal(v.version, QS_VERDICT_VERSION);
    EXPECT(isnan(v.sign_p) && isnan(v.drift));
}

static void test_too_few_runs_is_an_answer(void **state)
{
    (void)state;
    static const double v[] = {10, 11, 12};
    struct qs_verdict_opts opts = qs_verdict_opts_default();
    struct qs_verdict out;
    struct qs_mixed m;
    for (size_t n1 = 0; n1 < 3; n1++) {
        for (size_t n2 = 0; n2 < 3; n2++) {
            struct qs_side_runs a = {.v = v, .n = n1}, b = {.v = v, .n = n2};
            assert_int_equal(qs_verdict_runs(&a, &b, &opts, &out), QS_OK);
            bool few = n1 < 2 || n2 < 2;
            assert_int_equal(out.reason == QS_REASON_TOO_FEW_RUNS, few);
            EXPECT(!few || (out.kind == QS_VERDICT_INCONCLUSIVE && isnan(out.l95.lo) && isnan(out.p)));
            EXPECT(isnan(out.ratio) == (n1 == 0 || n2 == 0));
        }
    }
    assert_int_equal(qs_verdict_mixed_blocks(v, v + 1, NULL, 1, 0, &opts, &out, &m), QS_OK);
    assert_int_equal(out.reason, QS_REASON_TOO_FEW_RUNS);
    check_near("ratio of one block", out.ratio, 1.1, 1e-14, 0);
    assert_int_equal(qs_verdict_mixed_blocks(v, v, NULL, 0, 4, &opts, &out, &m), QS_OK);
    assert_int_equal(out.reason, QS_REASON_TOO_FEW_RUNS);
    assert_int_equal(out.n_dropped[1], 4);
}

static void test_bad_values_are_refused(void **state)
{
    (void)state;
    static const double good[] = {10, 11, 12};
    static const double bad[][3] = {{10, 0, 12}, {10, -1, 12}, {10, NAN, 12}, {10, INFINITY, 12}};
    struct qs_verdict_opts opts = qs_verdict_opts_default();
    struct qs_verdict out;
    struct qs_mixed m;
    for (int i = 0; i < 4; i++) {
        struct qs_side_runs a = {.v = good, .n = 3}, b = {.v = bad[i], .n = 3};
        assert_int_equal(qs_verdict_runs(&a, &b, &opts, &out), QS_EDOM);
        assert_int_equal(out.kind, QS_VERDICT_INCONCLUSIVE);
        EXPECT(isnan(out.ratio) && isnan(out.l95.lo));
        assert_int_equal(qs_verdict_runs(&b, &a, &opts, &out), QS_EDOM);
        assert_int_equal(qs_verdict_mixed_blocks(good, bad[i], NULL, 3, 0, &opts, &out, &m), QS_EDOM);
        EXPECT(isnan(out.ratio) && out.kind == QS_VERDICT_INCONCLUSIVE);
    }
}

static void test_bad_options_are_refused(void **state)
{
    (void)state;
    static const double v[] = {10, 11, 12};
    struct qs_verdict_opts opts[6];
    struct qs_verdict out;
    struct qs_mixed m;
    for (int i = 0; i < 6; i++)
        opts[i] = qs_verdict_opts_default();
    opts[0].margin = -0.01;
    opts[1].margin = NAN;
    opts[2].alpha = 0.5;
    opts[3].power = 1;
    opts[4].version = 0;
    opts[5].resolution_ratio = -1;
    for (int i = 0; i < 6; i++) {
        struct qs_side_runs a = {.v = v, .n = 3};
        assert_int_equal(qs_verdict_runs(&a, &a, &opts[i], &out), QS_EDOM);
        assert_int_equal(qs_verdict_mixed_blocks(v, v, NULL, 3, 0, &opts[i], &out, &m), QS_EDOM);
    }
}

static void test_nothing_varies(void **state)
{
    (void)state;
    static const double a[] = {1000, 1000, 1000}, b[] = {1001, 1001, 1001}, c[] = {1100, 1100};
    struct qs_verdict_opts opts = qs_verdict_opts_default();
    opts.resolution_ratio = 0.001;
    struct qs_verdict out;
    struct qs_mixed m;
    struct qs_side_runs base = {.v = a, .n = 3}, near = {.v = b, .n = 3}, far = {.v = c, .n = 2};
    assert_int_equal(qs_verdict_runs(&base, &base, &opts, &out), QS_OK);
    EXPECT(out.kind == QS_VERDICT_EQUIVALENT && out.reason == QS_REASON_NO_SPREAD && out.p >= 1);
    check_near("MDE", out.mde_ratio, 0.001, 0, 0);
    assert_int_equal(out.needed, 2);
    assert_int_equal(qs_verdict_runs(&base, &near, &opts, &out), QS_OK);
    /* one tick apart: the truth may be no difference at all */
    EXPECT(out.kind == QS_VERDICT_EQUIVALENT && out.direction == 0 && (out.flags & QS_FLAG_EXACT));
    assert_int_equal(qs_verdict_runs(&base, &far, &opts, &out), QS_OK);
    EXPECT(out.kind == QS_VERDICT_REGRESSION && out.p <= 0 && isnan(out.df));
    check_near("interval", out.l95.lo, 1.1 / 1.001, 1e-9, 0);
    opts.resolution_ratio = 0; /* a counter: the interval is the point */
    assert_int_equal(qs_verdict_runs(&base, &near, &opts, &out), QS_OK);
    EXPECT(out.kind == QS_VERDICT_NEGLIGIBLE && out.direction == 1 && out.mde_ratio <= 0);
    check_near("point", out.l95.lo, 1.001, 1e-14, 0);
    opts.resolution_ratio = 0.05; /* a clock so coarse that equal readings say little */
    assert_int_equal(qs_verdict_runs(&base, &base, &opts, &out), QS_OK);
    EXPECT(out.kind == QS_VERDICT_INCONCLUSIVE && out.reason == QS_REASON_NO_SPREAD);
    opts.resolution_ratio = 0;
    assert_int_equal(qs_verdict_mixed_blocks(a, a, NULL, 3, 0, &opts, &out, &m), QS_OK);
    EXPECT(out.kind == QS_VERDICT_EQUIVALENT && out.reason == QS_REASON_NO_SPREAD);
}

/* A margin of 50 % is ln 1.5 = 0.405 either way on the axis of logarithms, not 0.5. */
static void test_a_wide_margin_is_one_of_ratios(void **state)
{
    (void)state;
    static const struct {
        double ratio;
        enum qs_verdict_kind want;
    } rows[] = {{1.45, QS_VERDICT_NEGLIGIBLE},
                {1.55, QS_VERDICT_REGRESSION},
                {0.68, QS_VERDICT_NEGLIGIBLE},
                {0.65, QS_VERDICT_IMPROVEMENT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double x[K], y[K];
        struct qs_verdict out;
        struct qs_verdict_opts opts = qs_verdict_opts_default();
        opts.margin = 0.5;
        runs_around(1e6, 0.001, x);
        runs_around(1e6 * rows[i].ratio, 0.001, y);
        struct qs_side_runs base = {.v = x, .n = K}, cand = {.v = y, .n = K};
        assert_int_equal(qs_verdict_runs(&base, &cand, &opts, &out), QS_OK);
        assert_int_equal(out.kind, rows[i].want);
    }
}

static void test_no_margin(void **state)
{
    (void)state;
    static const double a[] = {100, 101, 99, 100.5}, b[] = {103, 104, 102, 103.5};
    struct qs_verdict_opts opts = qs_verdict_opts_default();
    struct qs_verdict out;
    struct qs_side_runs base = {.v = a, .n = 4}, cand = {.v = b, .n = 4};
    opts.margin = 0;
    assert_int_equal(qs_verdict_runs(&base, &cand, &opts, &out), QS_OK);
    assert_int_equal(out.kind, QS_VERDICT_REGRESSION);
    assert_int_equal(out.needed, 0);
    assert_int_equal(qs_verdict_runs(&base, &base, &opts, &out), QS_OK);
    assert_int_equal(out.kind, QS_VERDICT_INCONCLUSIVE);
}

/* The machine slows by a fifth from block to block: pairs see the 3 % that independent runs cannot. */
static void test_blocks_see_through_drift(void **state)
{
    (void)state;
    static const double noise[] = {0.001, -0.002, 0.0015, -0.0005, 0.001, -0.001};
    double x[6], y[6];
    struct qs_verdict_opts opts = qs_verdict_opts_default();
    struct qs_verdict pairs, runs;
    struct qs_mixed m;
    for (int b = 0; b < 6; b++) {
        x[b] = 5000 * pow(1.2, b);
        y[b] = x[b] * 1.03 * exp(noise[b]);
    }
    assert_int_equal(qs_verdict_mixed_blocks(x, y, NULL, 6, 0, &opts, &pairs, &m), QS_OK);
    struct qs_side_runs base = {.v = x, .n = 6}, cand = {.v = y, .n = 6};
    assert_int_equal(qs_verdict_runs(&base, &cand, &opts, &runs), QS_OK);
    assert_int_equal(pairs.kind, QS_VERDICT_REGRESSION);
    assert_int_equal(runs.kind, QS_VERDICT_INCONCLUSIVE);
    check_near("same estimate", pairs.ratio, runs.ratio, 1e-12, 0);
    EXPECT(pairs.mde_ratio < 0.01 && runs.mde_ratio > 0.5 && pairs.needed == 2);
    check_near("sign test", pairs.sign_p, 0.03125, 1e-12, 0);
    EXPECT(fabs(pairs.drift) < 0.001);
    assert_string_equal(pairs.method, "paired-log-t");
}

static void test_swapping_the_arms_mirrors(void **state)
{
    (void)state;
    static const double sds[] = {0.001, 0.008, 0.02, 0.1};
    for (size_t s = 0; s < 4; s++) {
        for (double ratio = 0.9; ratio < 1.11; ratio += 0.007) {
            struct qs_verdict a = compare(ratio, sds[s], true), b = compare(1 / ratio, sds[s], false);
            assert_int_equal(a.kind, b.kind);
            assert_int_equal(a.direction, b.direction);
            check_near("mirror", a.l95.lo * b.l95.hi, 1, 1e-12, 0);
            check_near("p", a.p, b.p, 1e-6, 0);
        }
    }
}

/* A stricter level for calls turns a borderline one into an inconclusive one and touches nothing else. */
static void test_a_call_may_want_more(void **state)
{
    (void)state;
    static const struct {
        double ratio, sd;
        enum qs_verdict_kind at_alpha, stricter;
    } rows[] = {
        {1.10, 0.02, QS_VERDICT_REGRESSION, QS_VERDICT_REGRESSION},                    /* p = 5e-5 */
        {1.03, 0.015, QS_VERDICT_PROBABLE_REGRESSION, QS_VERDICT_PROBABLE_REGRESSION}, /* p = .014 */
        {0.97, 0.0185, QS_VERDICT_PROBABLE_IMPROVEMENT, QS_VERDICT_INCONCLUSIVE},      /* p = .032 */
        {1.01, 0.0062, QS_VERDICT_NEGLIGIBLE, QS_VERDICT_NEGLIGIBLE},                  /* p = .035 */
        {1.002, 0.01, QS_VERDICT_EQUIVALENT, QS_VERDICT_EQUIVALENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double x[K], y[K];
        struct qs_verdict out;
        struct qs_verdict_opts opts = qs_verdict_opts_default();
        runs_around(1e6, rows[i].sd, x);
        runs_around(1e6 * rows[i].ratio, rows[i].sd, y);
        struct qs_side_runs base = {.v = x, .n = K}, cand = {.v = y, .n = K};
        assert_int_equal(qs_verdict_runs(&base, &cand, &opts, &out), QS_OK);
        assert_string_equal(qs_verdict_name(out.kind), qs_verdict_name(rows[i].at_alpha));
        double lo = out.l95.lo;
        opts.call_alpha = 0.02;
        assert_int_equal(qs_verdict_runs(&base, &cand, &opts, &out), QS_OK);
        assert_string_equal(qs_verdict_name(out.kind), qs_verdict_name(rows[i].stricter));
        assert_int_equal(out.reason == QS_REASON_BORDERLINE, rows[i].at_alpha != rows[i].stricter);
        assert_true(out.l95.lo == lo);
        opts.call_alpha = 0.06; /* looser than alpha makes no sense */
        assert_int_equal(qs_verdict_runs(&base, &cand, &opts, &out), QS_EDOM);
    }
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(qs_verdict_name(QS_VERDICT_PROBABLE_REGRESSION), "probable-regression");
    assert_string_equal(qs_verdict_name(QS_VERDICT_INCONCLUSIVE), "inconclusive");
    assert_string_equal(qs_verdict_reason_name(QS_REASON_TOO_FEW_RUNS), "too-few-runs");
    assert_string_equal(qs_verdict_reason_name(QS_REASON_NO_SPREAD), "no-spread");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table),
        cmocka_unit_test(test_the_numbers),
        cmocka_unit_test(test_too_few_runs_is_an_answer),
        cmocka_unit_test(test_bad_values_are_refused),
        cmocka_unit_test(test_bad_options_are_refused),
        cmocka_unit_test(test_nothing_varies),
        cmocka_unit_test(test_a_wide_margin_is_one_of_ratios),
        cmocka_unit_test(test_no_margin),
        cmocka_unit_test(test_blocks_see_through_drift),
        cmocka_unit_test(test_swapping_the_arms_mirrors),
        cmocka_unit_test(test_a_call_may_want_more),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
