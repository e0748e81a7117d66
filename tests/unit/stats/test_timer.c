/* Evaluations per measurement: the two oracles, the scan, a clock's precision and accuracy, the judge. */
#include "reference.h"

#include "stats/timer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static const struct qs_clock_error MICRO = {.acc_ns = 1000, .prec_ns = 1};

static uint32_t logistic(double t_ns, const struct qs_clock_error *timer)
{
    return qs_oracle_logistic(t_ns, timer, QS_LOGISTIC_SLOPE, QS_LOGISTIC_B);
}

static void test_golden_values(void **state)
{
    (void)state;
    json_t *root = ref_json("reference-second-implementation.json"), *want;
    json_t *evals = ref_at(root, "evals");
    const char *t_ns;
    json_object_foreach(ref_at(evals, "points"), t_ns, want)
        assert_int_equal(qs_oracle_table(strtod(t_ns, NULL), &MICRO), json_integer_value(want));
    json_object_foreach(ref_at(evals, "logistic_paper_Y"), t_ns, want)
        assert_int_equal(logistic(strtod(t_ns, NULL), &MICRO), json_integer_value(want));
    long sum = 0;
    for (int t = 1; t <= 9000; t++)
        sum += qs_oracle_table(t, &MICRO);
    assert_int_equal(sum, json_integer_value(ref_at(evals, "sum_1_9000")));
    assert_int_equal(qs_oracle_table(9001, &MICRO), json_integer_value(ref_at(evals, "over_9000")));
    json_decref(root);
}

static void test_oracles_never_rise(void **state)
{
    (void)state;
    static const struct qs_clock_error timers[] = {{1000, 1}, {1000, 52}, {300, 17}, {40, 40}, {1e6, 1000}};
    for (size_t k = 0; k < sizeof timers / sizeof *timers; k++) {
        uint32_t table = UINT32_MAX, curve = UINT32_MAX, used = UINT32_MAX;
        for (int step = 0; step < 12 * 512; step++) {
            double t = step * timers[k].acc_ns / 512;
            uint32_t next_table = qs_oracle_table(t, &timers[k]), next_curve = logistic(t, &timers[k]);
            uint32_t next_used = qs_evals(QS_ORACLE_TABLE, t, &timers[k]);
            EXPECT(next_table <= table && next_curve <= curve && next_used <= used && next_used >= 1);
            table = next_table;
            curve = next_curve;
            used = next_used;
        }
        assert_int_equal(table, 1);
        assert_int_equal(logistic(1e9, &timers[k]), 1);
    }
}

static void test_scaled_to_other_timers(void **state)
{
    (void)state;
    static const struct qs_clock_error tenfold = {.acc_ns = 10000, .prec_ns = 10}, coarse = {1000, 50},
                                       third = {300, 0.3};
    assert_int_equal(qs_oracle_table(2000, &tenfold), 600); /* as 200 ns of a 1000 ns timer */
    assert_int_equal(qs_oracle_table(90001, &tenfold), 1);
    assert_int_equal(qs_oracle_table(200, &coarse), 12); /* 600 * 20/1000 */
    assert_int_equal(qs_oracle_table(9000, &coarse), 1); /* 3 * 20/1000 */
    assert_int_equal(qs_oracle_table(30, &third), 944);
    assert_int_equal(qs_timer_max_evals(&coarse), 20);
    static const struct qs_clock_error fine = {.acc_ns = 1e9, .prec_ns = 1e-9},
                                       slow = {.acc_ns = 1, .prec_ns = 5};
    assert_int_equal(qs_timer_max_evals(&fine), QS_TIMER_EVALS_MAX);
    assert_int_equal(qs_timer_max_evals(&slow), 1);
}

/* However small j is, the clock's error is at most a hundredth of what a measurement lasts. */
static void test_clock_error_is_a_hundredth(void **state)
{
    (void)state;
    static const struct qs_clock_error coarse = {1000, 52}, fast = {41, 20};
    assert_int_equal(qs_oracle_table(2, &coarse), 19);
    assert_int_equal(qs_evals(QS_ORACLE_TABLE, 2, &coarse), 50000);
    assert_int_equal(qs_evals(QS_ORACLE_LOGISTIC, 2, &coarse), 50000);
    assert_int_equal(qs_evals(QS_ORACLE_TABLE, 0, &coarse), QS_TIMER_LASTING_MAX);
    assert_int_equal(qs_evals(QS_ORACLE_TABLE, -1, &coarse), QS_TIMER_LASTING_MAX);
    assert_int_equal(qs_evals(QS_ORACLE_TABLE, 20, &fast), 205);
    assert_int_equal(qs_evals(QS_ORACLE_TABLE, 4100, &fast), 1);
    assert_int_equal(qs_evals(QS_ORACLE_TABLE, 4099, &fast), 2);
    for (int t = 1; t < 12000; t += 7) {
        double error_ratio = coarse.acc_ns / (t * (double)qs_evals(QS_ORACLE_LOGISTIC, t, &coarse));
        EXPECT(error_ratio <= QS_TIMER_ERROR_RATIO);
    }
    assert_int_equal(qs_evals(QS_ORACLE_TABLE, 200, &MICRO), 600); /* here the oracle asks for more */
    assert_int_equal(qs_evals(QS_ORACLE_TABLE, INFINITY, &coarse), 1);
}

static void test_bad_timers_and_times(void **state)
{
    (void)state;
    static const struct qs_clock_error bad[] = {{0, 1},   {1000, 0},   {-1, 1},
                                                {NAN, 1}, {1000, NAN}, {INFINITY, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct qs_tuner tuner;
        assert_int_equal(qs_timer_max_evals(&bad[i]), 0);
        assert_int_equal(qs_oracle_table(100, &bad[i]), 0);
        assert_int_equal(logistic(100, &bad[i]), 0);
        assert_int_equal(qs_evals(QS_ORACLE_TABLE, 100, &bad[i]), 0);
        assert_int_equal(qs_tuner_init(&tuner, QS_ORACLE_TABLE, &bad[i], 5e9), QS_EDOM);
        assert_int_equal(qs_tuner_next(&tuner), 0);
    }
    assert_int_equal(qs_oracle_table(NAN, &MICRO), 0);
    assert_int_equal(logistic(NAN, &MICRO), 0);
    assert_int_equal(qs_oracle_logistic(100, &MICRO, 0.02, 0.5), 0);
    assert_int_equal(qs_oracle_logistic(100, &MICRO, 0.009, 0.6), 0);
    assert_string_equal(qs_oracle_name(QS_ORACLE_TABLE), "table");
    assert_string_equal(qs_oracle_name(QS_ORACLE_LOGISTIC), "logistic");
}

static void test_scan_takes_the_minimum(void **state)
{
    (void)state;
    struct qs_tuner tuner;
    uint32_t evals = 7;
    assert_int_equal(qs_tuner_init(&tuner, QS_ORACLE_TABLE, &MICRO, 5e9), QS_OK);
    assert_int_equal(qs_tuner_evals(&tuner, &evals), QS_ENODATA);
    assert_int_equal(evals, 0);
    uint32_t i, points = 0;
    while ((i = qs_tuner_next(&tuner)) > 0) {
        /* 199.5 ns each, a delay everywhere but in the 600th measurement */
        assert_int_equal(i, points + 1);
        assert_int_equal(qs_tuner_push(&tuner, 199.5 * i + (i == 600 ? 0 : 40000)), QS_OK);
        points++;
    }
    assert_int_equal(points, 1000);
    assert_int_equal(qs_tuner_evals(&tuner, &evals), QS_OK);
    assert_int_equal(evals, 600); /* t = 200 */
    assert_int_equal(qs_tuner_push(&tuner, 1), QS_ETOOFEW);
}

/* j = 2, and still enough measurements for a minimum; one that was not valid leaves a hole. */
static void test_scan_of_a_coarse_clock(void **state)
{
    (void)state;
    static const struct qs_clock_error fast = {41, 20};
    struct qs_tuner tuner;
    uint32_t i, evals;
    assert_int_equal(qs_tuner_init(&tuner, QS_ORACLE_TABLE, &fast, 5e9), QS_OK);
    qs_tuner_skip(&tuner);
    assert_int_equal(qs_tuner_evals(&tuner, &evals), QS_ENODATA);
    assert_int_equal(qs_tuner_next(&tuner), 2);
    while ((i = qs_tuner_next(&tuner)) > 0)
        assert_int_equal(qs_tuner_push(&tuner, 20 * i + 30), QS_OK);
    assert_int_equal(tuner.done, QS_TUNER_SCAN);
    assert_int_equal(tuner.took, QS_TUNER_SCAN - 1);
    check_near("t", tuner.min_ns, 20.03, 1e-12, 0);
    assert_int_equal(qs_tuner_evals(&tuner, &evals), QS_OK);
    assert_int_equal(evals, 205);
    qs_tuner_skip(&tuner);
    assert_int_equal(tuner.done, QS_TUNER_SCAN);
}

static void test_scan_ends_with_its_budget(void **state)
{
    (void)state;
    struct qs_tuner tuner;
    uint32_t i, evals;
    assert_int_equal(qs_tuner_init(&tuner, QS_ORACLE_TABLE, &MICRO, 5e9), QS_OK);
    while ((i = qs_tuner_next(&tuner)) > 0)
        assert_int_equal(qs_tuner_push(&tuner, 1e8 * i), QS_OK);
    assert_int_equal(tuner.done, 10); /* 1 + .. + 10 = 55 > 50 */
    assert_int_equal(qs_tuner_evals(&tuner, &evals), QS_OK);
    assert_int_equal(evals, 1);
}

static void test_scan_refuses_what_is_no_time(void **state)
{
    (void)state;
    struct qs_tuner tuner;
    uint32_t evals;
    assert_int_equal(qs_tuner_init(&tuner, QS_ORACLE_LOGISTIC, &MICRO, 0), QS_EDOM);
    assert_int_equal(qs_tuner_init(&tuner, QS_ORACLE_LOGISTIC, &MICRO, NAN), QS_EDOM);
    assert_int_equal(qs_tuner_init(&tuner, QS_ORACLE_LOGISTIC, &MICRO, INFINITY), QS_OK);
    assert_int_equal(qs_tuner_push(&tuner, -1), QS_EDOM);
    assert_int_equal(qs_tuner_push(&tuner, NAN), QS_EDOM);
    assert_int_equal(qs_tuner_push(&tuner, INFINITY), QS_EDOM);
    assert_int_equal(qs_tuner_next(&tuner), 1);
    assert_int_equal(qs_tuner_push(&tuner, 0), QS_OK); /* shorter than the clock shows */
    assert_int_equal(qs_tuner_evals(&tuner, &evals), QS_OK);
    assert_int_equal(evals, QS_TIMER_LASTING_MAX);
}

static void test_judge(void **state)
{
    (void)state;
    assert_int_equal(qs_judge(1.05, 0.05), QS_JUDGE_INVARIANT); /* 1.05 - 0.05 is 1 */
    assert_int_equal(qs_judge(1.0501, 0.05), QS_JUDGE_REGRESSION);
    assert_int_equal(qs_judge(0.9499, 0.05), QS_JUDGE_IMPROVEMENT);
    assert_int_equal(qs_judge(0.9501, 0.05), QS_JUDGE_INVARIANT);
    assert_int_equal(qs_judge(NAN, 0.05), QS_JUDGE_REGRESSION);
    assert_int_equal(qs_judge(INFINITY, 0.3), QS_JUDGE_REGRESSION);
    check_near("0/0", qs_judge_ratio(0, 0), 1, 0, 0);
    check_near("3/2", qs_judge_ratio(3, 2), 1.5, 0, 0);
    EXPECT(isinf(qs_judge_ratio(1, 0)) && isnan(qs_judge_ratio(NAN, NAN)));
    assert_string_equal(qs_judgement_names[QS_JUDGE_REGRESSION], "regression");
    assert_string_equal(qs_judgement_names[QS_JUDGE_IMPROVEMENT], "improvement");
    assert_string_equal(qs_judgement_names[QS_JUDGE_INVARIANT], "invariant");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_values),
        cmocka_unit_test(test_oracles_never_rise),
        cmocka_unit_test(test_scaled_to_other_timers),
        cmocka_unit_test(test_clock_error_is_a_hundredth),
        cmocka_unit_test(test_scan_of_a_coarse_clock),
        cmocka_unit_test(test_bad_timers_and_times),
        cmocka_unit_test(test_scan_takes_the_minimum),
        cmocka_unit_test(test_scan_ends_with_its_budget),
        cmocka_unit_test(test_scan_refuses_what_is_no_time),
        cmocka_unit_test(test_judge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
