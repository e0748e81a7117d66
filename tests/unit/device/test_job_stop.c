/* When a run has enough: stop rules at window ends, their caps, and the planner. */
#include <math.h>

#include "stage.h"

static void test_stop_rule_asks_for_windows(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\n"
                   "plan: {seed: 1, blocks: {min: 2, max: 2}, window: {iterations: 4}, stop: {fixed: 10}}\n");
    stage_go(&s);
    for (size_t i = 0; i < s.run_count; i++)
        assert_int_equal(s.runs[i].windows, s.runs[i].block == 0 ? 1 : 3);
    assert_int_equal(s.result.end, QS_END_DONE);
    stage_done(&s);
}

static void slow_first_window(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    for (size_t i = 0; i < STAGE_ITERATIONS && run->windows == 0; i++)
        w->duration_ns[i] = 50000000;
}

/* The second half agrees with itself after two windows; the first window is warm-up and does not count. */
static void test_stop_rule_sets_warmup_aside(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\n"
                   "plan: {seed: 1, blocks: {min: 2, max: 2}, window: {iterations: 4},"
                   " stop: {settled: {least: 8, parts: 2}}}\n");
    s.script = slow_first_window;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    size_t counted = 0;
    for (size_t i = 0; i < s.run_count; i++) {
        if (s.runs[i].block == 0)
            continue;
        assert_int_equal(s.runs[i].windows, 2);
        assert_int_equal(s.runs[i].warmup_n, 4);
        assert_string_equal(s.runs[i].stop_reason, "settled(8, 2 %, parts 2)");
        counted++;
    }
    assert_int_equal(counted, 2);
    assert_int_equal(s.job->schedule.blocks_done, 2);
    for (size_t b = 0; b < 2; b++) /* what the interval is looked at with: without the warm-up, too */
        assert_true(fabs(s.job->schedule.medians_ns[b] - 10e6) < 1);
    stage_done(&s);
}

static void steal_at_first(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    w->taint = run->windows == 0 ? "cpu.steal_ticks" : NULL;
}

/* A rule counts what is accepted: of a window that is kept although it is tainted, nothing. */
static void test_tainted_iterations_are_not_enough(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\nconditions: {repeat_tainted: 0}\n"
                   "plan: {seed: 1, blocks: {min: 2, max: 2}, window: {iterations: 4}, stop: {fixed: 10}}\n");
    s.script = steal_at_first;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    for (size_t i = 0; i < s.run_count; i++)
        assert_int_equal(s.runs[i].windows, s.runs[i].block == 0 ? 1 : 4);
    stage_done(&s);
}

/* Three blocks are the pilot of the plan; nothing varies in them, so that the least there may be is enough.
 */
static void test_precision_is_planned_for(void **state)
{
    (void)state;
    struct stage s;
    stage_init(
        &s, "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\narms: {a: {argv: [a]}, b: {argv: [b]}}\n"
            "plan: {seed: 1, blocks: {min: 3, max: 9}, precision: 1%, window: {target: 1ms}}\n");
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_string_equal(s.result.stopped, "interval");
    assert_true(stage_told(&s, "job.plan {\"point\":0,\"iterations_per_run\":2"));
    assert_true(stage_told(&s, "job.planned {\"point\":0,\"iterations_per_run\":2,\"blocks\":3"));
    for (size_t i = 0; i < s.run_count; i++)
        assert_true(s.runs[i].block <= 3);
    stage_done(&s);
}

/* The planner as a rule: its least while the variances are unknown, and what they ask for afterwards. */
static void test_planner_rule(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\n"
                   "plan: {seed: 1, blocks: {min: 3, max: 5}, window: {iterations: 4}, until: {interval: 0},"
                   " stop: {planner: {least: 6}}}\n");
    stage_go(&s);
    assert_true(stage_told(&s, "job.planned {\"point\":0"));
    for (size_t i = 0; i < s.run_count; i++) {
        assert_int_equal(s.runs[i].windows, s.runs[i].block == 0 ? 1 : 2);
        assert_string_equal(s.runs[i].stop_reason, s.runs[i].block == 0 ? "" : "planner(least 6)");
    }
    stage_done(&s);
}

/* One arm's runs end by the rule, in windows as before; those of the other have what was planned for both. */
static void test_planner_of_two_sets(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s,
               "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\n"
               "condition_sets: {ruled: {stop: {planner: {least: 6}}}}\n"
               "arms: {a: {conditions: ruled}, b: {argv: [b]}}\n"
               "plan: {seed: 1, blocks: {min: 3, max: 5}, until: {interval: 0}, window: {target: 200ms}}\n");
    stage_go(&s);
    for (size_t i = 0; i < s.run_count; i++) {
        bool planned = s.runs[i].arm == 1 && s.runs[i].block > 3;
        assert_int_equal(s.runs[i].windows, 1);
        assert_int_equal(s.runs[i].iterations, s.runs[i].block == 0 ? 2 : planned ? 10 : 20);
    }
    stage_done(&s);
}

static void test_caps_end_what_no_rule_ends(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\n"
                   "plan: {seed: 1, blocks: {min: 2, max: 2}, window: {iterations: 4},"
                   " stop: {not: {fixed: 1}}, caps: {iterations: 9}}\n");
    stage_go(&s);
    for (size_t i = 0; i < s.run_count; i++) {
        assert_int_equal(s.runs[i].windows, s.runs[i].block == 0 ? 1 : 3);
        assert_string_equal(s.runs[i].stop_reason, s.runs[i].block == 0 ? "" : "cap of 9 iterations");
    }
    stage_done(&s);
}

/* A run has the caps of its arm's set; what a set does not say of them is the job's own. */
static void test_caps_are_those_of_the_set(void **state)
{
    static const struct {
        uint32_t windows;
        const char *reason;
    } of_arms[] = {{3, "cap of 9 iterations"}, {2, "cap of 5 iterations"}, {2, "cap of 0.05 s"}};
    (void)state;
    struct stage s;
    stage_init(&s, "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\n"
                   "condition_sets: {few: {caps: {iterations: 5}}, brief: {caps: {time: 50ms}}}\n"
                   "arms: {a: {argv: [a]}, b: {conditions: few}, c: {conditions: brief}}\n"
                   "plan: {seed: 1, blocks: {min: 2, max: 2}, window: {iterations: 4},"
                   " stop: {not: {fixed: 1}}, caps: {iterations: 9}}\n");
    stage_go(&s);
    size_t seen = 0;
    for (size_t i = 0; i < s.run_count; i++) {
        if (s.runs[i].block == 0)
            continue;
        assert_int_equal(s.runs[i].windows, of_arms[s.runs[i].arm].windows);
        assert_string_equal(s.runs[i].stop_reason, of_arms[s.runs[i].arm].reason);
        seen++;
    }
    assert_int_equal(seen, 6);
    stage_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop_rule_asks_for_windows),
        cmocka_unit_test(test_stop_rule_sets_warmup_aside),
        cmocka_unit_test(test_tainted_iterations_are_not_enough),
        cmocka_unit_test(test_precision_is_planned_for),
        cmocka_unit_test(test_planner_rule),
        cmocka_unit_test(test_planner_of_two_sets),
        cmocka_unit_test(test_caps_end_what_no_rule_ends),
        cmocka_unit_test(test_caps_are_those_of_the_set),
    };
    return cmocka_run_group_tests_name("control_stop", tests, NULL, NULL);
}
