/* Evaluations on one device: found before anything is measured, the same in every arm, kept for the next
 * job. */
#include "stage.h"

#include <stdio.h>

static const char job[] =
    "quiesce: 1\n"
    "benchmarks: [{name: work, mode: harness, argv: [work, -n, '{size}'], benchmark: w,\n"
    "  env: {A: '1'}, params: {size: [3], deep: [4]}%s}]\n"
    "arms: {slow: {argv: [s, -n, '{size}']}, base: {env: {B: '2'}}}\n"
    "compare: {baseline: base}\n"
    "plan:\n"
    "  seed: 1\n"
    "  blocks: 3\n"
    "  until: {interval: 0%%}\n"
    "  warmup: {iterations: 2}\n"
    "  window: {iterations: 5}\n";

/* The baseline is arm 1 and takes 20 ns, the other one 45 ns. */
static void give_programs(struct stage *s)
{
    s->harness = (struct stage_harness){
        .able = true,
        .place = {"quiesce-agent 1", "monotonic-raw", "{\"governors\":\"policy0=performance 2 GHz\"}"},
        .sha256 = {0xaa},
        .cpus = "1-3",
        .evaluation_ns = {45, 20},
        .precision_ns = 20,
        .accuracy_ns = 41};
}

static void begin_with(struct stage *s, const char *more)
{
    char text[1024];
    snprintf(text, sizeof text, job, more);
    stage_init(s, text);
    give_programs(s);
}

static void begin(struct stage *s)
{
    begin_with(s, "");
}

static unsigned scans(const struct stage *s)
{
    unsigned n = 0;
    for (size_t i = 0; i < s->run_count; i++)
        n += s->runs[i].scans;
    return n;
}

static void expect_everywhere(const struct stage *s, uint32_t evals)
{
    assert_int_equal(s->result.end, QS_END_DONE);
    for (size_t i = 0; i < s->run_count; i++)
        if (s->runs[i].state == QS_RUN_DONE)
            assert_int_equal(s->runs[i].evals, evals);
    for (uint32_t block = 1; block <= 3; block++)
        assert_int_equal(stage_counted(s, 0, block), 2);
}

static void test_tunes_the_baseline_for_both(void **state)
{
    (void)state;
    struct stage s;
    begin(&s);
    stage_go(&s);
    expect_everywhere(&s, 205);
    assert_int_equal(s.runs[0].arm, 1); /* whatever the order of the block */
    assert_int_equal(s.runs[0].block, 0);
    assert_int_equal(s.runs[0].windows, 3); /* warm, scan, pilot */
    assert_int_equal(s.runs[0].scans, 1);
    assert_int_equal(scans(&s), 1);
    assert_true(stage_told(&s, "job.evals {\"point\":0,\"evaluations\":{\"evals\":205,\"how\":\"tuned\","
                               "\"oracle\":\"table\",\"precision_ns\":20,\"accuracy_ns\":41,\"tries\":64,"
                               "\"evaluation_ns\":20,"));
    assert_int_equal(s.kept_count, 1);
    assert_string_equal(s.kept[0].depends,
                        "{\"agent\":\"quiesce-agent 1\",\"arguments\":[\"-n\",\"3\"],\"benchmark\":\"w\","
                        "\"clock\":\"monotonic-raw\",\"cpus\":\"1-3\",\"device\":\"local\","
                        "\"env\":[\"A=1\",\"B=2\"],\"executable\":"
                        "\"aa00000000000000000000000000000000000000000000000000000000000000\","
                        "\"operating\":{\"governors\":\"policy0=performance 2 GHz\"},\"params\":[\"deep=4\"],"
                        "\"scan_ns\":500000000}");
    stage_done(&s);
}

/* What one job found, the next one finds. */
static void inherit(struct stage *to, struct stage *from)
{
    memcpy(to->kept, from->kept, sizeof to->kept);
    to->kept_count = from->kept_count;
    from->kept_count = 0;
}

static void change(struct stage *s, int what)
{
    switch (what) {
    case 1:
        s->parts.device = "other";
        break;
    case 2:
        s->harness.place.software = "quiesce-agent 2";
        break;
    case 3:
        s->harness.place.clock = "monotonic";
        break;
    case 4:
        s->harness.place.operating_json = "{\"governors\":\"policy0=powersave 1 GHz\"}";
        break;
    case 5:
        s->harness.sha256[31] = 1;
        break;
    case 6:
        s->harness.cpus = "0";
        break;
    default:
        break;
    }
}

static void test_the_next_job_takes_what_was_found(void **state)
{
    (void)state;
    for (int what = 0; what <= 6; what++) {
        struct stage first, next;
        begin(&first);
        stage_go(&first);
        begin(&next);
        inherit(&next, &first);
        change(&next, what);
        stage_go(&next);
        expect_everywhere(&next, 205);
        assert_int_equal(scans(&next), what == 0 ? 0 : 1);
        assert_int_equal(next.kept_count, what == 0 ? 1 : 2);
        assert_int_equal(stage_told(&next, "\"how\":\"cached\""), what == 0);
        assert_int_equal(next.runs[0].windows, what == 0 ? 1 : 3);
        stage_done(&first);
        stage_done(&next);
    }
}

static void test_other_parameters_are_tuned_anew(void **state)
{
    (void)state;
    static const char changed[] =
        "quiesce: 1\nbenchmarks: [{name: work, mode: harness, argv: [work, -n, '{size}'],"
        " benchmark: w, env: {A: '1'}, params: {size: [%s], deep: [%s]}}]\n"
        "arms: {slow: {argv: [s, -n, '{size}']}, base: {env: {B: '%s'}}}\n"
        "compare: {baseline: base}\nplan: {blocks: 3, warmup: {iterations: 2},"
        " window: {iterations: 5}, until: {interval: 0%%}}\n";
    static const char *const params[][3] = {
        {"3", "4", "2"}, {"9", "4", "2"}, {"3", "9", "2"}, {"3", "4", "9"}};
    struct stage s, last;
    begin(&last);
    stage_go(&last);
    for (size_t i = 0; i < 4; i++) {
        char text[1024];
        snprintf(text, sizeof text, changed, params[i][0], params[i][1], params[i][2]);
        stage_init(&s, text);
        give_programs(&s);
        inherit(&s, &last);
        stage_go(&s);
        assert_int_equal(scans(&s), i == 0 ? 0 : 1);
        inherit(&last, &s);
        stage_done(&s);
    }
    assert_int_equal(last.kept_count, 4);
    stage_done(&last);
}

static void test_an_executable_that_cannot_be_read_is_not_kept(void **state)
{
    (void)state;
    struct stage s;
    begin(&s);
    memset(s.harness.sha256, 0, sizeof s.harness.sha256);
    stage_go(&s);
    expect_everywhere(&s, 205);
    assert_int_equal(scans(&s), 1);
    assert_int_equal(s.kept_count, 0);
    stage_done(&s);
}

static void test_numbers_without_a_scan(void **state)
{
    (void)state;
    static const struct {
        const char *more, *told;
        bool able;
        uint32_t most, evals;
    } cases[] = {
        {", evals: 12", "job.progress", true, 0, 12},
        {"", "\"how\":\"once\"", true, 1, 1},
        {"", "the agent is too old to tune evaluations", false, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage s;
        begin_with(&s, cases[i].more);
        s.harness.able = cases[i].able;
        s.harness.evals_max[0] = s.harness.evals_max[1] = cases[i].most;
        stage_go(&s);
        expect_everywhere(&s, cases[i].evals);
        assert_int_equal(scans(&s), 0);
        assert_int_equal(s.kept_count, 0);
        assert_true(stage_told(&s, cases[i].told));
        stage_done(&s);
    }
}

static void test_a_clock_that_nobody_knows(void **state)
{
    (void)state;
    struct stage s;
    begin(&s);
    s.harness.precision_ns = 0;
    stage_go(&s);
    expect_everywhere(&s, 5000); /* 1000 ns are 1 % of 5000 * 20 ns */
    stage_done(&s);
}

static void test_an_arm_that_takes_fewer_ends_the_job(void **state)
{
    (void)state;
    struct stage s;
    begin(&s);
    s.harness.evals_max[0] = 1;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_string_equal(s.result.err.text, "the program of slow takes at most 1 evaluation an iteration, not "
                                           "205 (as the baseline needs): write `evals: 1`");
    stage_done(&s);
    begin_with(&s, ", evals: 7");
    s.harness.evals_max[1] = 4;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_non_null(strstr(s.result.err.text, "at most 4 evaluations an iteration, not 7 (as the job says)"));
    stage_done(&s);
}

/* A link that is lost while they are found, in the look or in a window: the pilot begins again with the
 * baseline. */
static void test_a_lost_link_finds_them_again(void **state)
{
    (void)state;
    static const char *const where[] = {"run", "gate", "window", "evidence"};
    for (size_t i = 0; i < 4; i++) {
        for (unsigned after = 1; after <= 3; after++) {
            struct stage s;
            begin(&s);
            s.strike = STRIKE_DOWN;
            s.strike_state = where[i];
            s.strike_after = after;
            stage_go(&s);
            assert_int_equal(s.struck, 1);
            expect_everywhere(&s, 205);
            stage_done(&s);
        }
    }
}

static void test_it_can_be_cancelled(void **state)
{
    (void)state;
    for (unsigned after = 1; after <= 3; after++) {
        struct stage s;
        begin(&s);
        s.strike = STRIKE_CANCEL;
        s.strike_state = "run";
        s.strike_after = after;
        stage_go(&s);
        assert_int_equal(s.result.end, QS_END_CANCELLED);
        stage_done(&s);
    }
}

static void test_a_store_that_cannot_be_read(void **state)
{
    (void)state;
    struct stage s;
    begin(&s);
    s.harness.look_fails = true;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_string_equal(s.result.err.text, "the disk cannot be read");
    stage_done(&s);
}

/* What a point was measured with before the daemon ended, it is measured with afterwards. */
static void test_a_restart_keeps_the_number(void **state)
{
    (void)state;
    struct qs_measured_run runs[2];
    double ns[] = {20};
    struct stage s;
    begin(&s);
    for (uint32_t a = 0; a < 2; a++)
        runs[a] = (struct qs_measured_run){.run_uid = {1, (uint8_t)a},
                                           .arm = a,
                                           .block = 1,
                                           .pos = a,
                                           .device = (char *)(uintptr_t)s.parts.device,
                                           .state = QS_RUN_DONE,
                                           .values = {.at = ns, .n = 1},
                                           .window_n = 5,
                                           .evals = 77};
    const struct qs_measured_runs earlier = {.at = runs, .count = 2};
    stage_earlier(&s, &earlier);
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(scans(&s), 0);
    for (size_t i = 0; i < s.run_count; i++)
        assert_int_equal(s.runs[i].evals, 77);
    stage_done(&s);
}

/* Where there is nothing to warm up there is a pilot all the same; the tuning is of no block. */
static void test_tunes_without_a_warm_up(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, "quiesce: 1\nbenchmarks: [{name: work, mode: harness, argv: [work]}]\n"
                   "plan: {seed: 1, blocks: 3, warmup: {iterations: 0}, window: {iterations: 5},"
                   " stop: {budget: {iterations: 10}}, until: {interval: 0%}}\n");
    s.harness = (struct stage_harness){.able = true,
                                       .place = {"a", "c", "{}"},
                                       .cpus = "1",
                                       .evaluation_ns = {20, 20},
                                       .precision_ns = 20,
                                       .accuracy_ns = 41};
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(s.run_count, 4);
    assert_int_equal(s.runs[0].block, 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(s.runs[i].evals, 205);
        assert_int_equal(s.runs[i].windows, i == 0 ? 3 : 2); /* ten iterations, none of them the scan's */
        assert_string_equal(s.runs[i].stop_reason, i == 0 ? "" : "budget(5 s, 10)");
    }
    stage_done(&s);
}

/* Each point has a number of its own. */
static void test_each_point_is_tuned(void **state)
{
    (void)state;
    struct stage s;
    stage_init(
        &s,
        "quiesce: 1\nbenchmarks: [{name: work, mode: harness, argv: [work, '{n}'], params: {n: [1, 2]}}]\n"
        "plan: {seed: 1, blocks: 3, window: {iterations: 5}, until: {interval: 0%}}\n");
    give_programs(&s);
    s.harness.evaluation_ns[0] = 20;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(scans(&s), 2);
    assert_int_equal(s.kept_count, 2);
    assert_true(stage_told(&s, "job.evals {\"point\":0,\"evaluations\":{\"evals\":205,\"how\":\"tuned\""));
    assert_true(stage_told(&s, "job.evals {\"point\":1,\"evaluations\":{\"evals\":205,\"how\":\"tuned\""));
    stage_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tunes_the_baseline_for_both),
        cmocka_unit_test(test_the_next_job_takes_what_was_found),
        cmocka_unit_test(test_other_parameters_are_tuned_anew),
        cmocka_unit_test(test_an_executable_that_cannot_be_read_is_not_kept),
        cmocka_unit_test(test_numbers_without_a_scan),
        cmocka_unit_test(test_a_clock_that_nobody_knows),
        cmocka_unit_test(test_an_arm_that_takes_fewer_ends_the_job),
        cmocka_unit_test(test_a_lost_link_finds_them_again),
        cmocka_unit_test(test_it_can_be_cancelled),
        cmocka_unit_test(test_a_store_that_cannot_be_read),
        cmocka_unit_test(test_a_restart_keeps_the_number),
        cmocka_unit_test(test_tunes_without_a_warm_up),
        cmocka_unit_test(test_each_point_is_tuned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
