/* Trouble of link and agent that is not the job's: the block comes again, and the job ends as another's
 * failure where that does not help. */
#include "base/mem.h"
#include "stage.h"

static const char hooks_job[] =
    "quiesce: 1\n"
    "benchmarks: [{name: work, argv: [work], setup: [mk], cleanup: [rm]}]\n"
    "arms: {a: {argv: [a]}, b: {argv: [b]}}\n"
    "plan: {seed: 1, blocks: {min: 3, max: 3}, until: {interval: 0%}, warmup: {iterations: 1},"
    " window: {iterations: 5}}\n";

static void check_whole_blocks(const struct stage *s)
{
    for (uint32_t b = 1; b <= 3; b++)
        assert_int_equal(stage_counted(s, 0, b), 2);
    for (size_t i = 0; i < s->run_count; i++) {
        for (size_t k = 0; k < i; k++) /* every run has an identity of its own */
            assert_memory_not_equal(s->runs[i].uid, s->runs[k].uid, 16);
    }
}

static void failing(struct stage *s, const char *text)
{
    stage_go(s);
    assert_int_equal(s->result.end, QS_END_FAILED);
    assert_non_null(strstr(s->result.err.text, text));
    assert_int_equal(s->conflicts, 0);
    assert_int_equal(s->run_count, 1);
    assert_string_equal(s->hooks.data, "mk mk rm rm ");
    stage_done(s);
}

/* What its operator alone can change ends the job; the agent is left in order. */
static void test_an_error_of_the_operator_ends_the_job(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, hooks_job);
    s.refuse_windows = 1;
    s.refusal = QS_E_COMMAND;
    failing(&s, "no such sensor");
    assert_int_equal(s.drops, 0);
}

static void repeated(struct stage *s, const char *why)
{
    char *told = qs_asprintf("job.lost {\"why\":\"%s\"}", why);
    stage_go(s);
    assert_int_equal(s->result.end, QS_END_DONE);
    assert_int_equal(s->conflicts, 0);
    assert_int_equal(s->sessions, 2);
    check_whole_blocks(s);
    assert_true(stage_told(s, told));
    free(told);
    stage_done(s);
}

/* Trouble of the agent, the host or ours is not the job's: it goes on with a new link. */
static void test_other_errors_of_the_agent_repeat_the_block(void **state)
{
    (void)state;
    static const enum qs_errc codes[] = {QS_E_AGENT, QS_E_INTERNAL, QS_E_RESOURCE};
    struct stage s;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        stage_init(&s, hooks_job);
        s.refuse_windows = 1;
        s.refusal = codes[i];
        repeated(&s, "no such sensor");
        assert_int_equal(s.drops, 1);
    }
    stage_init(&s, hooks_job);
    s.session_error = true;
    repeated(&s, "the agent is in trouble");
}

/* Where it does not end, the job does, and not as its operator's failure. */
static void test_an_agent_that_stays_in_trouble_ends_the_job(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, hooks_job);
    s.refuse_windows = 1000;
    s.refusal = QS_E_AGENT;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_int_equal(qs_errc_blame(s.result.err.code), QS_BLAME_DEVICE);
    assert_non_null(strstr(s.result.err.text, "lost 5 times in one block, the last time: no such sensor"));
    assert_int_equal(s.drops, QS_JOB_RUN_REPEATS_MAX + 1);
    stage_done(&s);
}

/* The nth call on the session fails: with the link, with a full queue, or for its state. */
static bool unsent_case(unsigned nth, enum qs_errc code, bool again)
{
    struct stage s;
    stage_init(&s, hooks_job);
    s.unsent_nth = nth;
    s.unsent_code = code;
    s.unsent_again = again;
    stage_go(&s);
    bool struck = s.calls >= nth;
    if (again)
        assert_int_equal(qs_errc_blame(s.result.err.code), QS_BLAME_DEVICE);
    else
        check_whole_blocks(&s);
    assert_int_equal(s.result.end, again ? QS_END_FAILED : QS_END_DONE);
    stage_done(&s);
    return struck;
}

static void test_what_cannot_be_sent_repeats_the_block(void **state)
{
    (void)state;
    static const enum qs_errc codes[] = {QS_E_LINK, QS_E_AGENT, QS_E_CONFLICT};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        unsigned nth = 1;
        while (unsent_case(nth, codes[i], false))
            nth++;
        assert_true(nth > 20);
    }
    assert_true(unsent_case(1, QS_E_LINK, true));
}

static void nothing_at_first(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    bool spoils = run->block == 2 && run->attempt == 0 && run->pos == 1;
    w->flags = spoils ? QS_ITERATION_UNEXPECTED_EXIT : 0;
    w->status = spoils ? 3 : 0;
}

/* One run of a block gave nothing: the block comes again, and its good run counts once. */
static void test_the_good_run_of_a_spoiled_block_is_set_aside(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, hooks_job);
    s.script = nothing_at_first;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    check_whole_blocks(&s);
    size_t first = 0;
    for (size_t i = 0; i < s.run_count; i++) {
        const struct stage_run *r = &s.runs[i];
        if (r->block != 2 || r->attempt != 0) {
            assert_int_equal(r->taint, 0);
            continue;
        }
        first++;
        assert_int_equal(r->state, r->pos == 1 ? QS_RUN_FAILED : QS_RUN_INTERRUPTED);
        assert_true(r->pos == 1 || r->taint == QS_TAINT_INTERRUPTED);
        assert_true(r->pos == 1 ||
                    strstr(r->error, "the block was repeated: a run gave no accepted iteration"));
        assert_true(r->taint != 0);
    }
    assert_int_equal(first, 2);
    stage_done(&s);
}

/* What the agent is at is cut short where a job waits for it, and goes to its end where that is soon or must
 * be. */
static void test_a_cancelled_step_is_cut_short_or_not(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        unsigned cancels;
    } steps[] = {{"settle", 0},   {"setup", 1},  {"gate", 1},    {"window", 1},
                 {"evidence", 0}, {"ending", 1}, {"cleanup", 0}, {"restore", 0}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct stage s;
        stage_init(&s, hooks_job);
        s.strike = STRIKE_CANCEL;
        s.strike_state = steps[i].in;
        stage_go(&s);
        assert_int_equal(s.struck, 1);
        assert_int_equal(s.cancels, steps[i].cancels);
        stage_done(&s);
    }
}

/* Silence and hub are given back where the device is not quiet enough after all, and taken again. */
static void test_unrest_gives_everything_back(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, hooks_job);
    s.unrest = 3;
    stage_go(&s);
    assert_int_equal(s.unrest, 0);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(s.silences, s.opens + 3);
    check_whole_blocks(&s);
    stage_done(&s);
}

static void talking(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    (void)run;
    w->output = "hello";
}

/* What a run wrote before the link was lost is not the output of the next one. */
static void test_output_of_a_lost_run_goes_with_it(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, "quiesce: 1\nbenchmarks: [{name: work, argv: [work], output: capture}]\n"
                   "plan: {seed: 1, blocks: 1, window: {iterations: 5}}\n");
    s.script = talking;
    s.parts_streams = true;
    s.parts.files = (struct qs_files *)(void *)&s;
    s.strike = STRIKE_DOWN;
    s.strike_state = "evidence";
    stage_go(&s);
    assert_int_equal(s.struck, 1);
    assert_string_equal(s.left.data, "0 output stdout 5 of 5 \n1 output stderr 7 of 9 \n"
                                     "0 output stdout 5 of 5 \n1 output stderr 7 of 9 \n");
    stage_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_error_of_the_operator_ends_the_job),
        cmocka_unit_test(test_other_errors_of_the_agent_repeat_the_block),
        cmocka_unit_test(test_an_agent_that_stays_in_trouble_ends_the_job),
        cmocka_unit_test(test_what_cannot_be_sent_repeats_the_block),
        cmocka_unit_test(test_the_good_run_of_a_spoiled_block_is_set_aside),
        cmocka_unit_test(test_a_cancelled_step_is_cut_short_or_not),
        cmocka_unit_test(test_unrest_gives_everything_back),
        cmocka_unit_test(test_output_of_a_lost_run_goes_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
