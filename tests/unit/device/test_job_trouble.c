/* Trouble in every state: the link goes down, the job is cancelled or abandoned, the disk refuses. */
#include "stage.h"

static const char hooks_job[] =
    "quiesce: 1\n"
    "benchmarks: [{name: work, argv: [work], setup: [mk], cleanup: [rm]}]\n"
    "arms: {a: {argv: [a]}, b: {argv: [b]}}\n"
    "plan: {seed: 1, blocks: {min: 3, max: 3}, until: {interval: 0%}, warmup: {iterations: 1},"
    " window: {iterations: 5}}\n";

static const char *const waiting_states[] = {"settle",   "setup",  "run",     "gate",   "window",
                                             "evidence", "ending", "cleanup", "restore"};
enum { WAITING_STATES = sizeof waiting_states / sizeof *waiting_states };

static void check_whole_blocks(const struct stage *s)
{
    for (uint32_t b = 1; b <= 3; b++)
        assert_int_equal(stage_counted(s, 0, b), 2);
    for (size_t i = 0; i < s->run_count; i++) {
        for (size_t k = 0; k < i; k++) /* every run has an identity of its own */
            assert_memory_not_equal(s->runs[i].uid, s->runs[k].uid, 16);
    }
}

/* The link goes down before the answer number `after` that comes in this state. */
static bool down_case(const char *where, unsigned after)
{
    struct stage s;
    stage_init(&s, hooks_job);
    s.strike = STRIKE_DOWN;
    s.strike_state = where;
    s.strike_after = after;
    stage_go(&s);
    bool struck = s.struck > 0;
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(s.conflicts, 0);
    check_whole_blocks(&s);
    if (struck && strcmp(where, "restore") != 0) {
        assert_true(stage_told(&s, "job.lost {\"why\":\"cable pulled\"}"));
        assert_true(stage_told(&s, "job.back {\"boot\":\"boot-2\"}"));
        assert_null(strstr(strstr(s.news.data, "job.start") + 1, "job.start")); /* it begins once */
        assert_int_equal(s.sessions, 2);
    }
    stage_done(&s);
    return struck;
}

static void test_link_down_in_each_state(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAITING_STATES; i++) {
        assert_true(down_case(waiting_states[i], 0));
        for (unsigned after = 1; down_case(waiting_states[i], after); after++)
            ;
    }
}

/* What had been measured of the block is kept, marked, and the block comes again whole. */
static void test_interrupted_block_is_kept_and_repeated(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, hooks_job);
    s.strike = STRIKE_DOWN;
    s.strike_state = "window";
    s.strike_after = 5; /* pilots: 0, 1; block 1: 2, 3; block 2: 4 and now its second run */
    stage_go(&s);
    size_t interrupted = 0, warm_ups = 0;
    for (size_t i = 0; i < s.run_count; i++) {
        const struct stage_run *r = &s.runs[i];
        if (r->block == 2 && r->attempt == 0) {
            interrupted++;
            assert_int_equal(r->state, QS_RUN_INTERRUPTED);
            assert_true(r->taint & QS_TAINT_INTERRUPTED);
            assert_non_null(strstr(r->error, "cable pulled"));
        } else {
            assert_int_equal(r->state, QS_RUN_DONE);
            assert_int_equal(r->attempt, r->block == 2 || (r->block == 0 && warm_ups >= 2) ? 1 : 0);
            warm_ups += r->block == 0 ? 1 : 0;
        }
    }
    assert_int_equal(warm_ups, 4); /* for both arms, at the beginning and after the loss */
    assert_int_equal(interrupted, 2);
    assert_true(
        stage_told(&s, "block.repeat {\"point\":0,\"block\":2,\"attempt\":1,\"why\":\"cable pulled\"}"));
    stage_done(&s);
}

static void test_lost_for_good(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, hooks_job);
    s.strike = STRIKE_DOWN;
    s.strike_state = "gate";
    s.away_ns = -1;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_int_equal(s.result.err.code, QS_E_LINK);
    assert_non_null(strstr(s.result.err.text, "did not come back within 600 s: cable pulled"));
    stage_done(&s);
}

static void test_lost_again_and_again(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, hooks_job);
    s.strike = STRIKE_DOWN;
    s.strike_state = "window";
    s.strikes = 1000;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_int_equal(s.struck, QS_JOB_RUN_REPEATS_MAX + 1);
    stage_done(&s);
}

static bool cancel_case(const char *where, unsigned after, enum stage_strike strike)
{
    struct stage s;
    stage_init(&s, hooks_job);
    s.strike = strike;
    s.strike_state = where;
    s.strike_after = after;
    stage_go(&s);
    bool struck = s.struck > 0;
    if (struck) {
        assert_int_equal(s.result.end, QS_END_CANCELLED);
        for (size_t i = 0; i < s.run_count; i++)
            assert_true(s.runs[i].state == QS_RUN_DONE || s.runs[i].state == QS_RUN_CANCELLED);
        for (uint32_t b = 1; b <= 3; b++) /* whole blocks or nothing that could be taken for one */
            assert_true(stage_counted(&s, 0, b) == 2 || stage_counted(&s, 0, b) == 0);
        bool with_cleanup = strike == STRIKE_CANCEL && strcmp(where, "settle") != 0;
        assert_true(!with_cleanup || strstr(s.hooks.data, "rm") != NULL);
    }
    assert_int_equal(s.conflicts, 0);
    stage_done(&s);
    return struck;
}

static void test_cancel_in_each_state(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAITING_STATES; i++) {
        assert_true(cancel_case(waiting_states[i], 0, STRIKE_CANCEL));
        for (unsigned after = 1; cancel_case(waiting_states[i], after, STRIKE_CANCEL); after++)
            ;
    }
}

static void test_abandon_in_each_state(void **state)
{
    (void)state;
    for (size_t i = 0; i < WAITING_STATES; i++) {
        assert_true(cancel_case(waiting_states[i], 0, STRIKE_ABANDON));
        for (unsigned after = 1; cancel_case(waiting_states[i], after, STRIKE_ABANDON); after++)
            ;
    }
}

/* A cancelled setup takes no other setup, and no run, with it. */
static void test_cancel_ends_setup_at_once(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, hooks_job);
    s.strike = STRIKE_CANCEL;
    s.strike_state = "setup";
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_CANCELLED);
    assert_string_equal(s.hooks.data, "mk rm rm ");
    assert_int_equal(s.run_count, 0);
    stage_done(&s);
}

static void lose_patience(void *user)
{
    struct stage *s = user;
    assert_string_equal(qs_job_run_state_name(s->job), "run");
    qs_job_run_cancel(s->job, "nobody waits");
}

/* The same for a program that sets up: its end is that of the run, and no failure. */
static void test_cancel_ends_the_setup_of_a_program(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, NULL);
    s.long_setup = true;
    qs_timer_start(s.loop, INT64_C(1000000000), lose_patience, &s);
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_CANCELLED);
    assert_int_equal(s.opens, 0);
    assert_int_equal(s.run_count, 1);
    assert_int_equal(s.runs[0].state, QS_RUN_CANCELLED);
    stage_done(&s);
}

static void expect_over(void *user)
{
    const struct stage *s = user;
    assert_int_equal(s->ended, 1);
}

static void lose_patience_at_the_end(void *user)
{
    struct stage *s = user;
    qs_timer_start(s->loop, INT64_C(1000000000), expect_over, s);
    assert_string_equal(qs_job_run_state_name(s->job), "ending");
    qs_job_run_cancel(s->job, "nobody waits");
}

/* And for one that tears down: its limit, many minutes, is not waited for. */
static void test_cancel_ends_the_teardown_of_a_program(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, NULL);
    s.long_teardown = true;
    qs_timer_start(s.loop, INT64_C(10000000000), lose_patience_at_the_end, &s);
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_CANCELLED);
    assert_int_equal(s.run_count, 1);
    stage_done(&s);
}

static bool store_case(const char *kind, unsigned nth)
{
    struct stage s;
    stage_init(&s, hooks_job);
    s.fail_kind = kind;
    s.fail_nth = nth;
    stage_go(&s);
    bool failed = s.kind_seen >= nth;
    if (failed) {
        assert_int_equal(s.result.end, QS_END_FAILED);
        assert_int_equal(s.result.err.code, QS_E_STORE);
        assert_non_null(strstr(s.result.err.text, "the disk is full"));
    } else {
        assert_int_equal(s.result.end, QS_END_DONE);
    }
    assert_int_equal(s.conflicts, 0);
    stage_done(&s);
    return failed;
}

static void test_store_errors_end_the_job(void **state)
{
    (void)state;
    static const char *const kinds[] = {"session", "run", "window"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        unsigned nth = 1;
        while (store_case(kinds[i], nth))
            nth++;
        assert_true(nth > 1);
    }
}

/* The end of a run that cannot be written: a window may be open already, it is cut short. */
static void test_quiet_store_errors_end_the_job(void **state)
{
    (void)state;
    for (unsigned nth = 1; nth <= 6; nth++) {
        struct stage s;
        stage_init(&s, hooks_job);
        s.fail_kind = "run_end";
        s.fail_nth = nth;
        stage_play(&s);
        assert_int_equal(s.result.end, QS_END_FAILED);
        assert_int_equal(s.conflicts, 0);
        assert_true(s.run_count <= nth + 2);
        stage_done(&s);
    }
}

static void shut_gate(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    if (run->block == 1)
        w->how = QS_CLOSED_GATE_TIMEOUT;
    if (run->block == 1)
        w->gate = QS_GATE_FAIL;
}

/* What does not fit the wire never will; of acknowledgements nothing depends. */
static bool too_long_case(unsigned nth)
{
    struct stage s;
    stage_init(&s, hooks_job);
    s.unsent_nth = nth;
    s.unsent_code = QS_E_LIMIT;
    stage_go(&s);
    bool struck = s.calls >= nth;
    if (s.result.end != QS_END_DONE)
        assert_int_equal(s.result.err.code, QS_E_LIMIT);
    assert_int_equal(s.conflicts, 0); /* nothing is asked before an answer */
    stage_done(&s);
    return struck;
}

/* Before the first move, and where the tests above do not come by. */
static void rare_moves(void)
{
    struct stage s;
    static const enum qs_job_run_input early[] = {QS_JI_CANCEL, QS_JI_ABANDON};
    for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
        stage_init(&s, hooks_job);
        s.script = shut_gate;
        s.early = early[i];
        stage_play(&s);
        assert_int_equal(s.run_count, 0);
        stage_done(&s);
    }
    stage_init(&s, hooks_job);
    s.refuse_run = true;
    stage_go(&s);
    stage_done(&s);
    stage_init(&s, hooks_job);
    s.hook_fails = 1;
    stage_go(&s);
    stage_done(&s);
    stage_init(&s, hooks_job);
    s.script = shut_gate;
    stage_go(&s);
    stage_done(&s);
    for (unsigned nth = 1; too_long_case(nth); nth++)
        ;
}

static void lost_case(enum stage_strike again, enum qs_job_run_end want)
{
    struct stage s;
    stage_init(&s, hooks_job);
    s.strike = STRIKE_DOWN;
    s.strike_state = "gate";
    s.strike_lost = again;
    stage_go(&s);
    assert_int_equal(s.result.end, want);
    assert_int_equal(s.strike_lost, STRIKE_NONE);
    stage_done(&s);
}

static void test_news_while_the_link_is_away(void **state)
{
    (void)state;
    lost_case(STRIKE_DOWN, QS_END_DONE);
    lost_case(STRIKE_CANCEL, QS_END_CANCELLED);
    lost_case(STRIKE_ABANDON, QS_END_CANCELLED);
}

static void test_disarm(void **state)
{
    (void)state;
    static const char *const states[] = {"gate", "window"};
    for (size_t i = 0; i < 2; i++) {
        struct stage s;
        stage_init(&s, hooks_job);
        s.strike = STRIKE_FEED;
        s.feed = QS_JI_DISARM;
        s.strike_state = states[i];
        stage_go(&s);
        assert_int_equal(s.result.end, QS_END_DONE);
        check_whole_blocks(&s);
        stage_done(&s);
    }
}

static void dirty(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    w->taint = run->block == 2 && run->windows == 0 ? "cpu.steal_ticks" : NULL;
}

static const char points_job[] = "quiesce: 1\n"
                                 "benchmarks: [{name: work, argv: [work, \"{n}\"], params: {n: [1, 2]}}]\n"
                                 "plan: {seed: 1, blocks: {min: 2, max: 2}, window: {iterations: 2}}\n";

static const char traces_job[] =
    "quiesce: 1\n"
    "benchmarks: [{name: work, argv: [work]}]\n"
    "arms: {a: {env: {A: x}}, b: {env: {A: y}}}\n"
    "plan: {seed: 1, blocks: 3, until: {interval: 0%}, warmup: {iterations: 1}, window: {iterations: 2}}\n"
    "trace: {tool: perf, windows: 2}\n";

static void trace_case(const char *where, enum stage_strike strike, unsigned error, enum qs_errc refusal,
                       enum qs_job_run_end end)
{
    bool missing = strike == STRIKE_NONE && error == 0;
    struct stage s;
    stage_init(&s, traces_job);
    s.parts.files = (struct qs_files *)(void *)&s;
    s.strike = strike;
    s.strike_state = where;
    s.trace_errors = error;
    s.refusal = refusal;
    s.no_trace_start = missing ? "none here" : NULL;
    stage_go(&s);
    assert_int_equal(s.result.end, end);
    assert_int_equal(s.conflicts, 0);
    assert_false(s.tracing && end == QS_END_DONE);
    if (strike == STRIKE_DOWN)
        check_whole_blocks(&s);
    stage_done(&s);
}

/* Whatever happens beside a tracer, the job ends in order. */
static void test_trouble_beside_a_tracer(void **state)
{
    static const char *const states[] = {"trace", "untrace"};
    (void)state;
    trace_case("trace", STRIKE_NONE, 0, QS_E_NONE, QS_END_DONE);
    for (unsigned i = 0; i < 2; i++) {
        trace_case(states[i], STRIKE_DOWN, 0, QS_E_NONE, QS_END_DONE);
        trace_case(states[i], STRIKE_CANCEL, 0, QS_E_NONE, QS_END_CANCELLED);
        trace_case(states[i], STRIKE_ABANDON, 0, QS_E_NONE, QS_END_CANCELLED);
        trace_case(states[i], STRIKE_NONE, i + 1, QS_E_COMMAND, QS_END_FAILED);
        trace_case(states[i], STRIKE_NONE, i + 1, QS_E_AGENT, QS_END_FAILED); /* again and again */
    }
}

/* The point is over before its hook is: how that ends is nobody's business any more. */
static void test_an_answer_that_nobody_waits_for(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, "quiesce: 1\nbenchmarks: [{name: work, argv: [work], setup: [make]}]\n"
                   "arms: {a: {argv: [work]}, b: {argv: [work, x]}}\n");
    s.hook_fails = 1;
    s.strike = STRIKE_FEED;
    s.feed = QS_JI_POINT_OVER;
    s.strike_state = "setup";
    stage_go(&s);
    assert_int_equal(s.struck, 1);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_false(stage_told(&s, "no space"));
    stage_done(&s);
}

static void test_every_row_is_taken(void **state)
{
    (void)state;
    struct stage s;
    size_t missing = 0;
    rare_moves();
    test_trouble_beside_a_tracer(NULL);
    stage_init(&s, points_job);
    s.script = dirty;
    stage_go(&s);
    stage_done(&s);
    stage_init(&s, hooks_job);
    s.strike = STRIKE_FEED;
    s.feed = QS_JI_FAIL;
    s.strike_state = "cleanup";
    stage_go(&s);
    stage_done(&s);
    for (unsigned at = 0; at < QS_JS_COUNT; at++) {
        for (unsigned e = 0; e < QS_JI_COUNT; e++) {
            /* The states of locks, probes, pins, apps, installing, files, actions and host commands have
             * programs of their own; a board that is characterized has a bed. */
            bool acts = (at >= QS_JS_TURN && at <= QS_JS_BEFORE_RUN) || at == QS_JS_BEFORE ||
                        at == QS_JS_BEFORE_WINDOW || at == QS_JS_AFTER_WINDOW || at == QS_JS_AFTER_RUN ||
                        at == QS_JS_AFTER;
            bool taken = acts || stage_taken[at][e] || at == QS_JS_LOCK || at == QS_JS_UNLOCK ||
                         at == QS_JS_FILES || at == QS_JS_TIDY || at == QS_JS_ASK || e == QS_JI_ASK ||
                         at == QS_JS_HOLD || e == QS_JI_SLIPPED || at == QS_JS_CHARACTERIZE ||
                         at == QS_JS_PROBE || at == QS_JS_CHECK || at == QS_JS_UNINSTALL;
            if (taken || !qs_job_run_find((enum qs_job_run_state)at, (enum qs_job_run_input)e))
                continue;
            print_message("not taken: %s, %s\n", qs_job_run_state_text((enum qs_job_run_state)at),
                          qs_job_run_input_text((enum qs_job_run_input)e));
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_link_down_in_each_state),
        cmocka_unit_test(test_interrupted_block_is_kept_and_repeated),
        cmocka_unit_test(test_lost_for_good),
        cmocka_unit_test(test_lost_again_and_again),
        cmocka_unit_test(test_cancel_in_each_state),
        cmocka_unit_test(test_abandon_in_each_state),
        cmocka_unit_test(test_cancel_ends_setup_at_once),
        cmocka_unit_test(test_cancel_ends_the_setup_of_a_program),
        cmocka_unit_test(test_cancel_ends_the_teardown_of_a_program),
        cmocka_unit_test(test_store_errors_end_the_job),
        cmocka_unit_test(test_quiet_store_errors_end_the_job),
        cmocka_unit_test(test_news_while_the_link_is_away),
        cmocka_unit_test(test_disarm),
        cmocka_unit_test(test_an_answer_that_nobody_waits_for),
        cmocka_unit_test(test_trouble_beside_a_tracer),
        cmocka_unit_test(test_every_row_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
