/* A job's way through the job run where everything goes well, and where gates, hooks and commands do not.
 */
#include <stdio.h>

#include "stage.h"

static const char hooks_job[] =
    "quiesce: 1\n"
    "benchmarks: [{name: work, argv: [work, \"{n}\"], params: {n: [1, 2]}, setup: [mk, \"{n}\"],"
    " cleanup: [rm, \"{n}\"]}]\n"
    "arms: {a: {argv: [a]}, b: {argv: [b], setup: [own]}}\n"
    "plan: {seed: 1, blocks: {min: 2, max: 2}, warmup: {iterations: 1},"
    " window: {iterations: 2}}\n";

static const char auto_job[] = "quiesce: 1\n"
                               "benchmarks: [{name: work, argv: [work]}]\n"
                               "arms: {a: {argv: [a]}, b: {argv: [b]}}\n"
                               "plan: {seed: 1, blocks: {min: 3, max: 9}, until: {interval: 1%}}\n";

static void test_happy(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, NULL);
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_string_equal(s.result.stopped, "blocks");
    assert_int_equal(s.run_count, 2 + 2 * 6);
    assert_int_equal(s.conflicts, 0);
    assert_int_equal(s.silences, 14);
    for (uint32_t b = 1; b <= 6; b++)
        assert_int_equal(stage_counted(&s, 0, b), 2);
    for (size_t i = 0; i < s.run_count; i++) {
        assert_int_equal(s.runs[i].state, QS_RUN_DONE);
        assert_int_equal(s.runs[i].iterations, s.runs[i].block == 0 ? 1 : 5);
        assert_int_equal(s.runs[i].acked, s.runs[i].iterations);
        assert_int_equal(s.runs[i].phase, s.runs[i].block == 0 ? QS_PHASE_WARMUP : QS_PHASE_MEASURE);
        assert_int_equal(s.runs[i].attempt, 0);
    }
    assert_true(stage_told(&s, "job.start"));
    assert_true(stage_told(&s, "job.plan {\"point\":0,\"iterations_per_run\":5"));
    assert_null(strstr(s.news.data, "ratio\":1")); /* never the running effect */
    stage_done(&s);
}

static void test_store_that_is_busy_holds_the_window(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, NULL);
    s.busy_store = true;
    stage_go(&s);
    assert_int_equal(s.disarms, 1);
    assert_int_equal(s.result.end, QS_END_DONE);
    stage_done(&s);
}

static const char leaving_job[] = "quiesce: 1\n"
                                  "benchmarks:\n"
                                  "  - {name: work, argv: [work], output: capture, params: {n: [1]},\n"
                                  "     artifacts: [out.bin, \"core.{n}\"], limits: {artifact: 10000B}}\n"
                                  "plan: {seed: 1, blocks: 1, until: {interval: 0%}, warmup: {iterations: 1},"
                                  " window: {iterations: 5}}\n";

static void talking(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    (void)run;
    w->output = "hello";
}

static size_t times(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

static void test_what_a_run_has_left_is_kept(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, leaving_job);
    s.script = talking;
    s.log = "[1.000000] hot\n";
    s.token_refusals = 3;
    s.parts.files = (struct qs_files *)(void *)&s;
    stage_go(&s);
    assert_int_equal(s.token_refusals, 0);
    assert_int_equal(s.run_count, 2); /* the pilot's too */
    const char *each[] = {"0 output output 5 of 5 \n", "1 kernel-log kernel-log 15 of 15 \n",
                          "2 file out.bin 10000 of 20000 \n", "3 file core.1 0 of 0 No such file\n"};
    for (size_t i = 0; i < 4; i++) {
        if (times(s.left.data, each[i]) != 2)
            fail_msg("not twice: %s in\n%s", each[i], s.left.data);
    }
    stage_done(&s);
    stage_init(&s, leaving_job); /* streams of their own */
    s.script = talking;
    s.parts_streams = true;
    s.parts.files = (struct qs_files *)(void *)&s;
    stage_go(&s);
    assert_int_equal(times(s.left.data, "0 output stdout 5 of 5 \n"), 2);
    assert_int_equal(times(s.left.data, "1 output stderr 7 of 9 \n"), 2);
    stage_done(&s);
    stage_init(&s, leaving_job); /* a quiet kernel leaves nothing to keep */
    s.log = "";
    s.parts.files = (struct qs_files *)(void *)&s;
    stage_go(&s);
    assert_null(strstr(s.left.data, "kernel-log"));
    stage_done(&s);
    stage_init(&s,
               leaving_job); /* an agent that refuses costs the reason, not the run, and gives the hub back */
    s.script = talking;
    s.log = "";
    s.refuse_pull = true;
    s.parts.files = (struct qs_files *)(void *)&s;
    stage_go(&s);
    assert_int_equal(s.tokens, 0);
    assert_int_equal(times(s.left.data, "1 kernel-log kernel-log 0 of 0 nothing can be fetched here\n"), 2);
    assert_int_equal(times(s.left.data, "2 file out.bin 0 of 0 nothing can be fetched here\n"), 2);
    stage_done(&s);
}

static void slow_b(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    for (size_t i = 0; i < STAGE_ITERATIONS; i++)
        w->duration_ns[i] =
            (run->arm == 0 ? 4000000 : 6000000) + 10 * (int64_t)(run->block % 3) + (int64_t)(s->opens % 5);
}

static void test_interval_stops_at_a_look(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, auto_job);
    s.script = slow_b;
    stage_go(&s);
    assert_string_equal(s.result.stopped, "interval");
    assert_int_equal(stage_counted(&s, 0, 9), 2);            /* the last block is a look too */
    assert_true(stage_told(&s, "\"iterations_per_run\":9")); /* ceil(50 ms / 6 ms) */
    stage_done(&s);
    stage_init(
        &s, "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\narms: {a: {argv: [a]}, b: {argv: [b]}}\n"
            "plan: {seed: 1, blocks: {min: 3, max: 30}, looks: [4, 8], until: {interval: 1%}}\n");
    s.script = slow_b;
    stage_go(&s);
    assert_string_equal(s.result.stopped, "interval");
    assert_int_equal(stage_counted(&s, 0, 4), 2);
    assert_int_equal(stage_counted(&s, 0, 5), 0);
    stage_done(&s);
}

static void test_hooks_and_points(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, hooks_job);
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_string_equal(s.hooks.data, "mk 1 own rm 1 rm 1 mk 2 own rm 2 rm 2 ");
    assert_int_equal(stage_counted(&s, 0, 2), 2);
    assert_int_equal(stage_counted(&s, 1, 2), 2);
    assert_int_equal(s.conflicts, 0);
    stage_done(&s);
}

static void test_setup_that_fails_ends_the_job(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, hooks_job);
    s.hook_fails = 2;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_int_equal(s.result.err.code, QS_E_COMMAND);
    assert_non_null(strstr(s.result.err.text, "setup of b exited with code 3; it wrote: no space"));
    assert_int_equal(s.run_count, 0);
    assert_string_equal(s.hooks.data, "mk 1 own rm 1 rm 1 ");
    stage_done(&s);
}

static void test_cleanup_that_fails_is_told(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, hooks_job);
    s.hook_fails = 3;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_true(stage_told(&s, "cleanup of a exited with code 3"));
    stage_done(&s);
}

static void broken_b(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    if (run->arm != 1)
        return;
    w->flags = QS_ITERATION_UNEXPECTED_EXIT;
    w->status = 2;
    w->output = "b: bad option";
}

static void test_pilot_that_fails_ends_the_job(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, NULL);
    s.script = broken_b;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_int_equal(s.result.err.code, QS_E_COMMAND);
    assert_string_equal(
        s.result.err.text,
        "b exited with code 2 in its first, uncounted run (`exit: any` accepts it in a job file, "
        "--ignore-failure with run); it wrote: b: bad option");
    const struct stage_run *last = &s.runs[s.run_count - 1];
    assert_int_equal(last->block, 0);
    assert_int_equal(last->state, QS_RUN_FAILED); /* failed, not merely interrupted */
    assert_non_null(strstr(last->error, "exited with code 2"));
    stage_done(&s);
}

static void stuck_b(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    if (run->arm != 1)
        return;
    w->how = QS_CLOSED_FAILED;
    w->failure = "cannot start './b': Permission denied";
    w->iterations = 0;
}

static void test_pilot_that_cannot_start_ends_the_job(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, NULL);
    s.script = stuck_b;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_int_equal(s.result.err.code, QS_E_COMMAND);
    assert_string_equal(s.result.err.text, "b could not be measured: cannot start './b': Permission denied");
    stage_done(&s);
}

static void test_program_that_is_not_there(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, hooks_job);
    s.refuse_run = true;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_non_null(strstr(s.result.err.text, "no such program"));
    assert_int_equal(s.run_count, 1);
    assert_int_equal(s.runs[0].state, QS_RUN_FAILED);
    assert_non_null(strstr(s.runs[0].error, "no such program"));
    assert_int_equal(s.conflicts, 0);
    assert_string_equal(s.hooks.data, "mk 1 own rm 1 rm 1 ");
    stage_done(&s);
}

static void broken_later(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    if (run->block > 0)
        broken_b(s, run, w);
}

static void test_blocks_without_data_end_the_job(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, NULL);
    s.script = broken_later;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_true(stage_told(&s, "block.repeat"));
    assert_non_null(strstr(s.result.err.text, "3 blocks in a row"));
    stage_done(&s);
}

static enum qs_gate_outcome outcome;

static void shut_gate(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    if (run->block != 2 || run->pos != 1 || s->opens > 20)
        return;
    w->gate = outcome;
    w->how = outcome == QS_GATE_TAINTED ? QS_CLOSED_DONE : QS_CLOSED_GATE_TIMEOUT;
    w->busiest = "make -j8";
}

static void gate_case(enum qs_gate_outcome what, enum qs_job_run_end want)
{
    struct stage s;
    outcome = what;
    stage_init(&s, NULL);
    s.script = shut_gate;
    stage_go(&s);
    assert_int_equal(s.result.end, want);
    assert_int_equal(s.conflicts, 0);
    if (what != QS_GATE_TAINTED) {
        assert_int_equal(s.result.err.code, QS_E_PRECONDITION);
        assert_non_null(strstr(s.result.err.text, "busiest: make -j8"));
        assert_true(stage_told(&s, "gate.timeout"));
        assert_int_equal(stage_counted(&s, 0, 1), 2); /* what was complete stays */
        assert_int_equal(stage_counted(&s, 0, 2), 0); /* half a block does not */
        assert_int_equal(stage_counted(&s, 0, 3), 0);
    } else {
        assert_int_equal(stage_counted(&s, 0, 2), 2);
        assert_int_equal(s.opens, 14); /* a gate that gave way is not tried again */
    }
    stage_done(&s);
}

static void test_gate_timeouts(void **state)
{
    (void)state;
    gate_case(QS_GATE_TAINTED, QS_END_DONE);
    gate_case(QS_GATE_DEFER, QS_END_DEFER);
    gate_case(QS_GATE_REQUEUE, QS_END_REQUEUE);
    gate_case(QS_GATE_FAIL, QS_END_FAILED);
}

static const char patient_job[] =
    "quiesce: 1\n"
    "name: patient\n"
    "benchmarks: [{name: x, argv: [x]}]\n"
    "plan: {blocks: 3, seed: 7, window: {iterations: 2}, warmup: {iterations: 1}}\n"
    "conditions: {repeat_tainted: 0, gate: [{sensor: cpu.busy_ratio_ppm, below: 10%%, timeout: 800ms%s}]}\n";

static int64_t timeouts_ns[8];

/* The gate gives way before the first two windows, and opens before the third. */
static void give_way(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)run;
    assert_in_range(s->opens, 1, 8);
    timeouts_ns[s->opens - 1] = s->gate_timeout_ns;
    w->gate = s->opens < 3 ? QS_GATE_TAINTED : QS_GATE_OPEN;
}

static void backoff_case(const char *key, const int64_t want_ms[4])
{
    struct stage s;
    char job[600];
    snprintf(job, sizeof job, patient_job, key);
    stage_init(&s, job);
    s.script = give_way;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(s.opens, 4); /* the warm-up and three blocks */
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(timeouts_ns[i], want_ms[i] * 1000000);
    stage_done(&s);
}

/* With backoff a neighbour that stays is waited for less and less, until the gate opens once. */
static void test_gate_backoff(void **state)
{
    (void)state;
    backoff_case(", backoff: false", (const int64_t[]){800, 800, 800, 800});
    backoff_case("", (const int64_t[]){800, 400, 200, 800});
}

static void stay_busy(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s, (void)run;
    *w = (struct stage_window){
        .gate = QS_GATE_FAIL, .how = QS_CLOSED_GATE_TIMEOUT, .waited_ns = 800000000, .busy_ppm = 730000};
}

static void test_what_kept_the_gate_shut(void **state)
{
    struct stage s;
    char job[600];
    (void)state;
    snprintf(job, sizeof job, patient_job, ", on_timeout: fail");
    stage_init(&s, job);
    s.script = stay_busy;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_string_equal(
        s.result.err.text,
        "the gate did not open within 800 ms: cpu.busy_ratio_ppm is 73.0 %, wanted at most 10.0 %. Let the "
        "device come to rest, or give the gate more time (`timeout`) or a wider range; `on_timeout: taint` "
        "measures all the same, and marks it");
    stage_done(&s);
}

static unsigned dirty_windows;

static void dirty(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    if (run->block == 1 && run->pos == 0 && run->windows < dirty_windows)
        w->taint = "cpu.steal_ticks";
}

static void dirty_case(unsigned windows, unsigned want_windows)
{
    struct stage s;
    dirty_windows = windows;
    stage_init(&s, NULL);
    s.script = dirty;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    for (size_t i = 0; i < s.run_count; i++) {
        const struct stage_run *r = &s.runs[i];
        bool here = r->block == 1 && r->pos == 0;
        assert_int_equal(r->windows, here ? want_windows : 1);
        assert_int_equal(r->iterations, (r->block == 0 ? 1 : 5) * r->windows); /* kept, all of them */
        assert_int_equal(r->attempt, 0);
    }
    assert_int_equal(stage_counted(&s, 0, 1), 2); /* softly tainted data are data */
    stage_done(&s);
}

static void test_tainted_windows_are_repeated(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, NULL);
    uint32_t most = s.spec->conditions[0].repeat_tainted;
    qs_job_free(s.spec);
    s.spec = NULL;
    qs_loop_free(s.loop);
    qs_buf_done(&s.news);
    qs_buf_done(&s.hooks);
    assert_true(most > 0);
    dirty_case(0, 1);
    dirty_case(1, 2);
    dirty_case(most, most + 1);
    dirty_case(most + 5, most + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_happy),
        cmocka_unit_test(test_store_that_is_busy_holds_the_window),
        cmocka_unit_test(test_what_a_run_has_left_is_kept),
        cmocka_unit_test(test_interval_stops_at_a_look),
        cmocka_unit_test(test_hooks_and_points),
        cmocka_unit_test(test_setup_that_fails_ends_the_job),
        cmocka_unit_test(test_cleanup_that_fails_is_told),
        cmocka_unit_test(test_pilot_that_fails_ends_the_job),
        cmocka_unit_test(test_pilot_that_cannot_start_ends_the_job),
        cmocka_unit_test(test_program_that_is_not_there),
        cmocka_unit_test(test_blocks_without_data_end_the_job),
        cmocka_unit_test(test_gate_timeouts),
        cmocka_unit_test(test_what_kept_the_gate_shut),
        cmocka_unit_test(test_gate_backoff),
        cmocka_unit_test(test_tainted_windows_are_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
