/* Second opinions: each rule's answer, its edges, and what all of them share. */
#include "reference.h"

#include "stats/opinion.h"
#include "stats/rng.h"
#include "stats/special.h"
#include "stats/sum.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 12, EACH = 10, ALL = RUNS * EACH };

struct build {
    double v[ALL];
    size_t off[RUNS + 1];
    struct qs_nested runs;
};

static const struct qs_opinion_opts TIMES = {.lower_is_better = true, .level = 0.95, .one_ms = 1, .seed = 1};

/* Normal values about `at`, sd of runs and of iterations as given. */
static void draw(struct build *b, uint64_t seed, double at, double run_sd, double sd)
{
    struct qs_rng rng;
    qs_rng_seed(&rng, seed, 9);
    for (size_t j = 0; j < RUNS; j++) {
        double run = at + run_sd * qs_qnorm(qs_rng_unit(&rng) + 0x1p-54);
        b->off[j] = j * EACH;
        for (size_t i = 0; i < EACH; i++)
            b->v[j * EACH + i] = run + sd * qs_qnorm(qs_rng_unit(&rng) + 0x1p-54);
    }
    b->off[RUNS] = ALL;
    b->runs = (struct qs_nested){.v = b->v, .off = b->off, .k = RUNS};
}

static struct qs_opinion ask(enum qs_opinion_rule rule, const struct build *base, const struct build *cand,
                             const struct qs_opinion_opts *opts)
{
    struct qs_opinion got;
    assert_int_equal(qs_opinion(rule, &base->runs, &cand->runs, opts, &got), QS_OK);
    return got;
}

static double number(const struct qs_opinion *o, const char *name)
{
    for (size_t i = 0; i < o->number_count; i++)
        if (strcmp(o->numbers[i].name, name) == 0)
            return o->numbers[i].value;
    fail_msg("no number %s", name);
    return NAN;
}

static const struct qs_opinion_check *condition(const struct qs_opinion *o, const char *name)
{
    for (size_t i = 0; i < o->check_count; i++)
        if (strcmp(o->checks[i].name, name) == 0)
            return &o->checks[i];
    fail_msg("no check %s", name);
    return NULL;
}

/* A change of ten standard deviations and 20 % is one by every rule; the same values again by none. */
static void test_large_change_and_none(void **state)
{
    (void)state;
    struct build x, y;
    draw(&x, 1, 100, 0.2, 0.5);
    draw(&y, 2, 120, 0.2, 0.5);
    struct qs_opinion_opts rates = TIMES;
    rates.lower_is_better = false;
    for (enum qs_opinion_rule r = 0; r < QS_OPINION_RULES; r++) {
        EXPECT(ask(r, &x, &y, &TIMES).answer == QS_OPINION_REGRESSION);
        EXPECT(ask(r, &y, &x, &TIMES).answer == QS_OPINION_IMPROVEMENT);
        EXPECT(ask(r, &x, &y, &rates).answer == QS_OPINION_IMPROVEMENT);
        EXPECT(ask(r, &y, &x, &rates).answer == QS_OPINION_REGRESSION);
        struct qs_opinion same = ask(r, &x, &x, &TIMES);
        EXPECT(same.answer == QS_OPINION_NO_CHANGE && same.runs[1] == RUNS && same.iterations[0] == ALL);
        assert_string_equal(same.reason, "none");
        EXPECT(same.number_count > 0 && same.threshold_count + same.check_count > 0);
        EXPECT(*same.source && *same.compared && *same.changed_if);
    }
}

/* Everything that programs read of an opinion: thresholds; numbers (and their units); checks. */
static void test_what_each_rule_says(void **state)
{
    (void)state;
    static const char *const want[QS_OPINION_RULES] = {
        [QS_OPINION_JUDGE] = "tolerance:ratio; baseline_best:value candidate_best:value ratio:plain;",
        [QS_OPINION_ANDROID] =
            "level:plain; difference:value lo:value hi:value pooled_sd:value normal_quantile_lo:value "
            "normal_quantile_hi:value; baseline_iterations>=31 candidate_iterations>=31 "
            "baseline_normal_p>=0.05 "
            "candidate_normal_p>=0.05 variance_ratio<=2 baseline_cov<=0.06 candidate_cov<=0.06",
        [QS_OPINION_KALIBERA2005] =
            "level:plain; baseline_mean:value baseline_lo:value baseline_hi:value candidate_mean:value "
            "candidate_lo:value candidate_hi:value baseline_iterations_per_run:plain "
            "candidate_iterations_per_run:plain;",
        [QS_OPINION_FUTHARK] =
            "band:ratio; baseline_mean:value candidate_mean:value baseline_sd:value candidate_sd:value "
            "difference:value significant_from:value speedup:plain;",
        [QS_OPINION_RANCID] =
            "least_difference:value least_ratio:ratio; baseline_median:value candidate_median:value "
            "performance_gain:value performance_gain_ratio:ratio baseline_run_sd:value "
            "candidate_run_sd:value "
            "precision_gain:value precision_gain_ratio:ratio sd_ratio:plain sd_ratio_lo:plain "
            "sd_ratio_hi:plain;",
        [QS_OPINION_PERFHERDER] =
            "t_limit:plain; baseline_runs:plain candidate_runs:plain baseline_weighted_mean:value "
            "candidate_weighted_mean:value t:plain;",
        [QS_OPINION_SKIA] =
            "interesting:plain least_sd:plain; step:plain fit_error:plain regression:plain "
            "absolute_step:value "
            "percent_step_ratio:ratio percent_median_step_ratio:ratio cohen_step:plain stepiness:plain "
            "mann_whitney_p:plain;",
    };
    struct build x, y;
    draw(&x, 1, 100, 0.2, 0.5);
    draw(&y, 2, 120, 0.2, 0.5);
    for (enum qs_opinion_rule r = 0; r < QS_OPINION_RULES; r++) {
        struct qs_opinion got = ask(r, &x, &y, &TIMES);
        char text[1024];
        size_t n = 0;
        for (size_t i = 0; i < got.threshold_count + got.number_count; i++) {
            bool limit = i < got.threshold_count;
            const struct qs_opinion_number *one =
                limit ? &got.thresholds[i] : &got.numbers[i - got.threshold_count];
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s:%s", i > 0 ? " " : "", one->name,
                                  qs_opinion_unit_name(one->unit));
            if (i + 1 == got.threshold_count || i + 1 == got.threshold_count + got.number_count)
                n += (size_t)snprintf(text + n, sizeof text - n, ";");
            EXPECT(isfinite(one->value));
        }
        for (size_t i = 0; i < got.check_count; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, " %s%s%g", got.checks[i].name,
                                  got.checks[i].at_least ? ">=" : "<=", got.checks[i].bound);
        assert_string_equal(text, want[r]);
    }
}

static void test_numbers_are_those_of_their_names(void **state)
{
    (void)state;
    struct build x, y;
    draw(&x, 1, 100, 0.2, 0.5);
    draw(&y, 2, 120, 0.2, 0.5);
    struct qs_opinion got = ask(QS_OPINION_ANDROID, &x, &y, &TIMES);
    struct qs_moments m[2];
    assert_int_equal(qs_moments_of_two(x.v, ALL, y.v, ALL, m), QS_OK);
    double pooled = sqrt((m[0].var + m[1].var) / 2), se = pooled * sqrt(2.0 / ALL);
    check_near("difference", number(&got, "difference"), m[1].mean - m[0].mean, 1e-12, 0);
    check_near("pooled", number(&got, "pooled_sd"), pooled, 1e-12, 0);
    check_near("normal", number(&got, "normal_quantile_hi") - number(&got, "difference"),
               1.959963984540054 * se, 1e-9, 0);
    got = ask(QS_OPINION_FUTHARK, &x, &y, &TIMES);
    check_near("from", number(&got, "significant_from"), (sqrt(m[0].var) + sqrt(m[1].var)) / 2, 1e-12, 0);
    check_near("speedup", number(&got, "speedup"), m[0].mean / m[1].mean, 1e-12, 0);
    got = ask(QS_OPINION_JUDGE, &x, &y, &TIMES);
    check_near("best", number(&got, "baseline_best"), m[0].min, 0, 0);
    check_near("best", number(&got, "candidate_best"), m[1].min, 0, 0);
}

static void test_judge(void **state)
{
    (void)state;
    struct build x, y;
    draw(&x, 1, 100, 0.2, 0.5);
    for (size_t i = 0; i < ALL; i++)
        x.v[i] = y.v[i] = 200 + (double)i;
    memcpy(y.off, x.off, sizeof y.off);
    y.runs = (struct qs_nested){.v = y.v, .off = y.off, .k = RUNS};
    y.v[57] = 210; /* 5 % on the minimum is within the tolerance, however much else moved */
    for (size_t i = 0; i < ALL; i++)
        y.v[i] += i == 57 ? 0 : 40;
    struct qs_opinion got = ask(QS_OPINION_JUDGE, &x, &y, &TIMES);
    EXPECT(got.answer == QS_OPINION_NO_CHANGE);
    check_near("ratio", number(&got, "ratio"), 1.05, 1e-15, 0);
    y.v[57] = 210.1;
    EXPECT(ask(QS_OPINION_JUDGE, &x, &y, &TIMES).answer == QS_OPINION_REGRESSION);
}

static void test_futhark(void **state)
{
    (void)state;
    struct build x, y;
    draw(&x, 1, 100, 0, 4);
    for (size_t i = 0; i < ALL; i++)
        y.v[i] = x.v[i] + 3.4; /* below half of both sd, which is about 4 */
    memcpy(y.off, x.off, sizeof y.off);
    y.runs = (struct qs_nested){.v = y.v, .off = y.off, .k = RUNS};
    struct qs_opinion got = ask(QS_OPINION_FUTHARK, &x, &y, &TIMES);
    check_near("difference", number(&got, "difference"), 3.4, 1e-12, 0);
    check_near("bound", number(&got, "significant_from"), number(&got, "baseline_sd"), 1e-12, 0);
    EXPECT(number(&got, "significant_from") > 3.4 && got.answer == QS_OPINION_NO_CHANGE);
    for (size_t i = 0; i < ALL; i++)
        y.v[i] = x.v[i] + 5;
    EXPECT(ask(QS_OPINION_FUTHARK, &x, &y, &TIMES).answer == QS_OPINION_REGRESSION);
    for (size_t i = 0; i < ALL; i++) { /* significant, and within 1 % */
        x.v[i] = 100 + 0.001 * (double)(i % 2);
        y.v[i] = x.v[i] + 0.9;
    }
    EXPECT(ask(QS_OPINION_FUTHARK, &x, &y, &TIMES).answer == QS_OPINION_NO_CHANGE);
}

static void test_rancid(void **state)
{
    (void)state;
    struct build x, y;
    struct qs_opinion_opts other = TIMES;
    draw(&x, 3, 1000, 0.1, 0.1);
    draw(&y, 4, 1008, 0.3, 0.1);
    EXPECT(ask(QS_OPINION_RANCID, &x, &y, &TIMES).answer == QS_OPINION_NO_CHANGE); /* 8 ms, but 0.8 % */
    draw(&y, 4, 1020, 0.3, 0.1);
    struct qs_opinion got = ask(QS_OPINION_RANCID, &x, &y, &TIMES);
    EXPECT(got.answer == QS_OPINION_REGRESSION);
    EXPECT(number(&got, "precision_gain") < 0 && number(&got, "sd_ratio") > 1);
    EXPECT(number(&got, "sd_ratio_lo") <= number(&got, "sd_ratio"));
    other.one_ms = 1000; /* values in microseconds: 20 of them are less than a millisecond */
    EXPECT(ask(QS_OPINION_RANCID, &x, &y, &other).answer == QS_OPINION_NO_CHANGE);
    other.one_ms = NAN;
    EXPECT(ask(QS_OPINION_RANCID, &x, &y, &other).answer == QS_OPINION_REGRESSION);
}

static void test_kalibera(void **state)
{
    (void)state;
    struct build x, y;
    draw(&x, 5, 100, 1, 0.1);
    draw(&y, 6, 103, 1, 0.1);
    struct qs_opinion got = ask(QS_OPINION_KALIBERA2005, &x, &y, &TIMES);
    EXPECT((number(&got, "candidate_lo") > number(&got, "baseline_hi")) ==
           (got.answer == QS_OPINION_REGRESSION));
    EXPECT(got.answer == QS_OPINION_REGRESSION);
    check_near("n", number(&got, "baseline_iterations_per_run"), EACH, 0, 0);
    y.off[RUNS] = ALL - 3; /* the last run is shorter: the first 7 of each count */
    got = ask(QS_OPINION_KALIBERA2005, &x, &y, &TIMES);
    check_near("n", number(&got, "candidate_iterations_per_run"), EACH - 3, 0, 0);
    EXPECT(got.answer == QS_OPINION_REGRESSION && isfinite(number(&got, "candidate_mean")));
}

static void test_skia(void **state)
{
    (void)state;
    struct build x, y;
    draw(&x, 7, 100, 1, 0);
    draw(&y, 8, 102, 1, 0);
    struct qs_opinion got = ask(QS_OPINION_SKIA, &x, &y, &TIMES);
    EXPECT(number(&got, "regression") < 0 && number(&got, "regression") > -25);
    EXPECT(got.answer == QS_OPINION_NO_CHANGE && number(&got, "mann_whitney_p") < 0.05);
    check_near("absolute", number(&got, "absolute_step"), number(&got, "percent_step_ratio") * 100, 0, 0.1);
}

static void test_perfherder(void **state)
{
    (void)state;
    struct build x, y;
    draw(&x, 7, 100, 1, 0);
    draw(&y, 8, 102, 1, 0);
    struct qs_opinion got = ask(QS_OPINION_PERFHERDER, &x, &y, &TIMES);
    EXPECT(number(&got, "t") > 2 && number(&got, "t") < 7 && got.answer == QS_OPINION_NO_CHANGE);
    EXPECT(number(&got, "candidate_weighted_mean") > number(&got, "baseline_weighted_mean"));
    y.runs.k = RUNS - 1; /* one run less than the window has */
    got = ask(QS_OPINION_PERFHERDER, &x, &y, &TIMES);
    EXPECT(got.answer == QS_OPINION_UNDECIDED);
    assert_string_equal(got.reason, "too-few");
}

static void test_android_conditions(void **state)
{
    (void)state;
    struct build x, y;
    draw(&x, 1, 100, 0, 0.5);
    draw(&y, 2, 101, 0, 1.5);
    struct qs_opinion got = ask(QS_OPINION_ANDROID, &x, &y, &TIMES);
    EXPECT(got.answer == QS_OPINION_UNDECIDED);
    assert_string_equal(got.reason, "preconditions");
    EXPECT(!condition(&got, "variance_ratio")->holds && condition(&got, "baseline_iterations")->holds);
    EXPECT(condition(&got, "baseline_cov")->holds && number(&got, "lo") > 0);
}

static void test_too_little(void **state)
{
    (void)state;
    static const double v[] = {1, 2};
    static const size_t off[] = {0, 1}, none[] = {0, 0};
    struct qs_nested one = {.v = v, .off = off, .k = 1}, empty = {.v = v, .off = none, .k = 1},
                     zero = {.k = 0};
    struct qs_opinion got;
    for (enum qs_opinion_rule r = 0; r < QS_OPINION_RULES; r++) {
        assert_int_equal(qs_opinion(r, &one, &one, &TIMES, &got), QS_OK);
        if (r != QS_OPINION_JUDGE) {
            EXPECT(got.answer == QS_OPINION_UNDECIDED);
            assert_string_equal(got.reason, "too-few");
        }
        assert_int_equal(qs_opinion(r, &one, &empty, &TIMES, &got), QS_ENODATA);
        EXPECT(got.answer == QS_OPINION_UNDECIDED);
        assert_int_equal(qs_opinion(r, &zero, &one, &TIMES, &got), QS_ENODATA);
        assert_string_equal(got.reason, "no-data");
    }
    struct qs_opinion_opts bad = TIMES;
    bad.level = 1;
    assert_int_equal(qs_opinion(QS_OPINION_JUDGE, &one, &one, &bad, &got), QS_EDOM);
    assert_int_equal(qs_opinion(QS_OPINION_RULES, &one, &one, &TIMES, &got), QS_EDOM);
}

static void test_nothing_varies(void **state)
{
    (void)state;
    struct build x, y;
    draw(&x, 1, 100, 0, 0);
    draw(&y, 1, 110, 0, 0);
    for (enum qs_opinion_rule r = 0; r < QS_OPINION_RULES; r++) {
        struct qs_opinion got = ask(r, &x, &y, &TIMES), same = ask(r, &x, &x, &TIMES);
        if (r == QS_OPINION_ANDROID) { /* normality of constants is not defined */
            EXPECT(got.answer == QS_OPINION_UNDECIDED && same.answer == QS_OPINION_UNDECIDED);
            continue;
        }
        EXPECT(got.answer == QS_OPINION_REGRESSION && same.answer == QS_OPINION_NO_CHANGE);
    }
}

static void test_names(void **state)
{
    (void)state;
    enum qs_opinion_rule found;
    for (enum qs_opinion_rule r = 0; r < QS_OPINION_RULES; r++)
        EXPECT(qs_opinion_rule_find(qs_opinion_rule_names[r], &found) && found == r);
    EXPECT(!qs_opinion_rule_find("verdict", &found) && !qs_opinion_rule_names[QS_OPINION_RULES]);
    assert_string_equal(qs_opinion_answer_names[QS_OPINION_NO_CHANGE], "no-change");
    assert_string_equal(qs_opinion_unit_name(QS_OPINION_RATIO), "ratio");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_change_and_none),
        cmocka_unit_test(test_what_each_rule_says),
        cmocka_unit_test(test_numbers_are_those_of_their_names),
        cmocka_unit_test(test_judge),
        cmocka_unit_test(test_futhark),
        cmocka_unit_test(test_rancid),
        cmocka_unit_test(test_kalibera),
        cmocka_unit_test(test_skia),
        cmocka_unit_test(test_perfherder),
        cmocka_unit_test(test_android_conditions),
        cmocka_unit_test(test_too_little),
        cmocka_unit_test(test_nothing_varies),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
