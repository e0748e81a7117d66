/* Traced windows: after the measured ones, in no number, and their traces with the run. */
#include "stage.h"

static const char job[] =
    "quiesce: 1\n"
    "benchmarks: [{name: work, argv: [work]}]\n"
    "plan: {seed: 1, blocks: 4, until: {interval: 0%}, warmup: {iterations: 1}, window: {iterations: 5}}\n"
    "trace: {tool: perf, every: 2, windows: 2}\n";

static void begin(struct stage *s, const char *text)
{
    stage_init(s, text);
    s->parts.files = (struct qs_files *)(void *)s;
}

/* A traced iteration takes a hundred times as long, and its window is violated in every way. */
static void disturbed(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)run;
    if (!s->tracing)
        return;
    w->taint = "cpu.steal_ticks";
    w->flags = QS_ITERATION_UNEXPECTED_EXIT;
    for (size_t i = 0; i < STAGE_ITERATIONS; i++)
        w->duration_ns[i] = 1000000000;
}

static void traced_windows_follow_and_count_for_nothing(void **state)
{
    (void)state;
    struct stage s;
    begin(&s, job);
    s.script = disturbed;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(s.run_count, 5);
    assert_int_equal(s.traces, 4); /* two windows of blocks 1 and 3 */
    assert_int_equal(s.traced_windows, 4);
    for (size_t i = 0; i < s.run_count; i++) {
        const struct stage_run *r = &s.runs[i];
        bool traced = r->block % 2 == 1;
        assert_int_equal(r->state, QS_RUN_DONE);
        assert_int_equal(r->taint, 0);
        assert_int_equal(r->windows, traced ? 3 : 1);
        assert_int_equal(r->acked, r->iterations);
    }
    /* The median and the accepted iterations are those of the measured window. */
    assert_true(stage_told(&s, "\"n\":5,\"tainted\":0"));
    assert_false(stage_told(&s, "\"tainted\":10"));
    assert_string_equal(s.left.data, "0 trace perf.1 7 of 7 \n1 trace perf.2 7 of 7 \n"
                                     "0 trace perf.1 7 of 7 \n1 trace perf.2 7 of 7 \n");
    stage_done(&s);
}

static void talkative(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    (void)run;
    w->output = "x";
}

/* Its traces are numbered first, then what else the run has left: none takes another's place. */
static void what_a_traced_run_has_left_is_numbered_through(void **state)
{
    (void)state;
    struct stage s;
    begin(&s, job);
    s.script = talkative;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_string_equal(s.left.data,
                        "0 output output 1 of 1 \n"
                        "0 trace perf.1 7 of 7 \n1 trace perf.2 7 of 7 \n2 output output 3 of 3 \n"
                        "0 output output 1 of 1 \n"
                        "0 trace perf.1 7 of 7 \n1 trace perf.2 7 of 7 \n2 output output 3 of 3 \n"
                        "0 output output 1 of 1 \n");
    stage_done(&s);
}

/* Once to people, in every run for the record; the job goes on. */
static void what_is_missing_is_recorded(void **state)
{
    (void)state;
    struct stage s;
    begin(&s, job);
    s.no_trace_start = "no program 'perf' in PATH";
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(s.traces, 2);
    assert_int_equal(s.traced_windows, 0);
    assert_string_equal(s.left.data, "0 trace perf 0 of 0 no program 'perf' in PATH\n"
                                     "0 trace perf 0 of 0 no program 'perf' in PATH\n");
    assert_true(stage_told(&s, "no trace by perf: no program 'perf' in PATH"));
    stage_done(&s);
    begin(&s, job);
    s.no_trace_end = "it was empty";
    stage_go(&s);
    assert_int_equal(s.traced_windows, 2); /* the second one of each run is not tried */
    assert_string_equal(s.left.data,
                        "0 trace perf.1 0 of 0 it was empty\n0 trace perf.1 0 of 0 it was empty\n");
    stage_done(&s);
    begin(&s, job);
    s.file_is_gone = true;
    stage_go(&s);
    assert_non_null(strstr(s.left.data, "0 trace perf.1 0 of 7 No such file\n"));
    assert_int_equal(s.result.end, QS_END_DONE);
    stage_done(&s);
    begin(&s, job);
    s.no_tracers = true;
    stage_go(&s);
    assert_int_equal(s.traces, 0);
    assert_non_null(strstr(s.left.data, "0 trace perf 0 of 0 the agent is too old to start tracers"));
    stage_done(&s);
}

static void a_trace_that_is_required_fails_the_job(void **state)
{
    (void)state;
    struct stage s;
    begin(&s, "quiesce: 1\n"
              "benchmarks: [{name: work, argv: [work]}]\n"
              "plan: {seed: 1, blocks: 4, window: {iterations: 5}}\n"
              "trace: {tool: command, argv: [t, \"{output}\"], required: true}\n");
    s.no_trace_end = "it was empty";
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_non_null(strstr(s.result.err.text, "no trace by command: it was empty"));
    stage_done(&s);
}

/* A tracer that starts is cut short, one that stops is soon over; an answer that comes after the end changes
 * nothing. */
static void trouble_while_a_tracer_is_asked(void **state)
{
    (void)state;
    static const char *const where[] = {"trace", "untrace"};
    static const enum stage_strike strikes[] = {STRIKE_DOWN, STRIKE_CANCEL, STRIKE_ABANDON};
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < 3; k++) {
            struct stage s;
            begin(&s, job);
            s.strike = strikes[k];
            s.strike_state = where[i];
            stage_go(&s);
            assert_int_equal(s.struck, 1);
            assert_int_equal(s.conflicts, 0);
            assert_int_equal(s.result.end, strikes[k] == STRIKE_DOWN ? QS_END_DONE : QS_END_CANCELLED);
            assert_int_equal(s.cancels, strikes[k] == STRIKE_CANCEL && i == 0 ? 2 : 0); /* and its window */
            if (strikes[k] == STRIKE_ABANDON)
                assert_string_equal(s.left.data, "");
            stage_done(&s);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traced_windows_follow_and_count_for_nothing),
        cmocka_unit_test(what_a_traced_run_has_left_is_numbered_through),
        cmocka_unit_test(what_is_missing_is_recorded),
        cmocka_unit_test(a_trace_that_is_required_fails_the_job),
        cmocka_unit_test(trouble_while_a_tracer_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
