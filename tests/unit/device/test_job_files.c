/* A job's files: to the device, laid out for each arm, and off it again; whatever happens meanwhile. */
#include "stage.h"

static const char files_job[] = "quiesce: 1\n"
                                "benchmarks: [{name: work, argv: [./work], inputs: {data/in: d.in}}]\n"
                                "arms:\n"
                                "  a: {build: {label: va, files: {work: a.out, lib/x.so: c.so}}}\n"
                                "  b: {build: {label: vb, files: {work: b.out, lib/x.so: c.so}}}\n"
                                "plan: {seed: 1, blocks: {min: 3, max: 3}, until: {interval: 0%},"
                                " warmup: {iterations: 1}, window: {iterations: 5}}\n";

static void begin(struct stage *s)
{
    stage_init(s, files_job);
    stage_bind(s);
}

static void test_files_come_before_setup_and_go_at_the_end(void **state)
{
    (void)state;
    struct stage s;
    begin(&s);
    s.disk.odd = true; /* no reason to send more */
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(s.disk.kept, 4); /* c.so is one content */
    assert_string_equal(s.disk.places.data,
                        "0 data/in\n0 work*\n0 lib/x.so*\n1 data/in\n1 work*\n1 lib/x.so*\n");
    assert_int_equal(s.disk.cleans, 1);
    assert_true(stage_told(&s, "job.push {\"files\":4,\"bytes\":6000000,\"there\":0}"));
    assert_true(stage_told(&s, "job.pushed {\"files\":4,\"bytes\":6000000,\"elapsed_ns\":"));
    assert_false(stage_told(&s, "a program has written into")); /* none has */
    assert_int_equal(s.conflicts, 0);
    stage_done(&s);
}

static void test_what_is_there_is_not_sent(void **state)
{
    (void)state;
    struct stage s;
    begin(&s);
    s.disk.there[0] = (struct qs_content){.bytes = STAGE_FILE_BYTES, .flags = QS_FILE_EXECUTABLE};
    memset(s.disk.there[0].sha256, 0xaa, sizeof s.disk.there[0].sha256); /* "a" 64 times */
    s.disk.there_n = 1;
    s.disk.changed = 2;
    stage_go(&s);
    assert_int_equal(s.disk.kept, 3);
    assert_true(stage_told(&s, "\"files\":3,\"bytes\":4500000,\"there\":1}"));
    assert_true(stage_told(&s, "a program has written into 2 of the files"));
    stage_done(&s);
}

static void test_the_hub_is_lent(void **state)
{
    (void)state;
    struct stage s;
    begin(&s);
    s.token_refusals = 7;
    stage_go(&s);
    assert_int_equal(s.token_refusals, 0);
    assert_int_equal(s.result.end, QS_END_DONE);
    stage_done(&s);
}

static void expect_failure(struct stage *s, enum qs_errc code, const char *part)
{
    stage_go(s);
    assert_int_equal(s->result.end, QS_END_FAILED);
    if (s->result.err.code != code || !strstr(s->result.err.text, part))
        fail_msg("'%s' does not say '%s'", s->result.err.text, part);
    assert_int_equal(s->run_count, 0);
    assert_int_equal(s->conflicts, 0);
    stage_done(s);
}

/* e_machine 183 is arm64's, 62 that of x86-64. */
static void test_a_program_for_another_processor_is_refused(void **state)
{
    (void)state;
    struct stage s;
    begin(&s);
    s.facts = "{\"kernel\":\"6.1\",\"machine\":\"x86_64\",\"os\":\"x\"}";
    s.disk.elf = 183;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_int_equal(s.result.err.code, QS_E_JOB);
    assert_int_equal(qs_errc_blame(s.result.err.code), QS_BLAME_OPERATOR);
    assert_string_equal(s.result.err.text, "arm a: `a.out` is a program for arm64; local needs x86-64 "
                                           "(x86_64): build it with x86_64-linux-gnu-gcc -static");
    assert_int_equal(s.disk.haves, 0); /* nothing is sent, nothing measured */
    assert_int_equal(s.run_count, 0);
    stage_done(&s);
    begin(&s);
    s.facts = "{\"machine\":\"x86_64\"}";
    s.disk.elf = 62;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    stage_done(&s);
    begin(&s); /* an agent that does not tell */
    s.disk.elf = 183;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    stage_done(&s);
}

static void test_what_cannot_be_had_fails_the_job(void **state)
{
    (void)state;
    struct stage s;
    begin(&s);
    s.disk.old_agent = true;
    expect_failure(&s, QS_E_AGENT, "takes no files");
    begin(&s);
    s.disk.no_blob = true;
    expect_failure(&s, QS_E_NOT_FOUND, "no file with this content");
    begin(&s);
    s.disk.short_blob = true;
    expect_failure(&s, QS_E_IO, "cannot be read to its end");
    begin(&s);
    s.disk.refuse_put = QS_PUT_NO_SPACE;
    expect_failure(&s, QS_E_SPACE, "no space for the job's files: because");
    begin(&s);
    s.disk.refuse_put = QS_PUT_WRONG;
    expect_failure(&s, QS_E_AGENT, "cannot be kept: because");
    begin(&s);
    s.disk.refuse_stage = QS_STAGED_FAILED;
    expect_failure(&s, QS_E_AGENT, "cannot be laid out: because");
    begin(&s);
    s.disk.refuse_stage = QS_STAGED_NO_SPACE;
    expect_failure(&s, QS_E_SPACE, "laid out");
}

/* At each answer while files are on their way, and at each while they are cleaned up. */
static void strike_everywhere(enum stage_strike strike, const char *where, unsigned most,
                              void (*check)(const struct stage *s))
{
    unsigned struck = 0;
    for (unsigned after = 0; after < most; after++) {
        struct stage s;
        begin(&s);
        s.strike = strike;
        s.strike_state = where;
        s.strike_after = after;
        s.feed = QS_JI_FAIL;
        stage_go(&s);
        assert_int_equal(s.conflicts, 0);
        struck += s.struck;
        if (s.struck > 0)
            check(&s);
        stage_done(&s);
    }
    assert_true(struck > 0);
}

static void is_done(const struct stage *s)
{
    assert_int_equal(s->result.end, QS_END_DONE);
}

static void is_cancelled(const struct stage *s)
{
    assert_int_equal(s->result.end, QS_END_CANCELLED);
}

static void is_over(const struct stage *s)
{
    assert_int_equal(s->ended, 1);
}

static void test_trouble_on_the_way(void **state)
{
    (void)state;
    strike_everywhere(STRIKE_DOWN, "files", 110, is_done);
    strike_everywhere(STRIKE_CANCEL, "files", 110, is_cancelled);
    strike_everywhere(STRIKE_ABANDON, "files", 30, is_over);
    strike_everywhere(STRIKE_DOWN, "tidy", 1, is_done);
    strike_everywhere(STRIKE_CANCEL, "tidy", 1, is_cancelled);
    strike_everywhere(STRIKE_ABANDON, "tidy", 1, is_over);
    strike_everywhere(STRIKE_FEED, "tidy", 1, is_done);
}

static void test_cancel_while_the_hub_is_used(void **state)
{
    (void)state;
    struct stage s;
    begin(&s);
    s.token_refusals = 1000000;
    s.strike = STRIKE_CANCEL;
    s.strike_state = "settle";
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_CANCELLED);
    assert_int_equal(s.disk.haves, 0);
    stage_done(&s);
}

static void test_every_row_about_files_is_taken(void **state)
{
    (void)state;
    for (unsigned e = 0; e < QS_JI_COUNT; e++) {
        assert_true(stage_taken[QS_JS_FILES][e] || !qs_job_run_find(QS_JS_FILES, (enum qs_job_run_input)e));
        assert_true(stage_taken[QS_JS_TIDY][e] || !qs_job_run_find(QS_JS_TIDY, (enum qs_job_run_input)e));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_come_before_setup_and_go_at_the_end),
        cmocka_unit_test(test_what_is_there_is_not_sent),
        cmocka_unit_test(test_the_hub_is_lent),
        cmocka_unit_test(test_what_cannot_be_had_fails_the_job),
        cmocka_unit_test(test_trouble_on_the_way),
        cmocka_unit_test(test_cancel_while_the_hub_is_used),
        cmocka_unit_test(test_a_program_for_another_processor_is_refused),
        cmocka_unit_test(test_every_row_about_files_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
