/* The job run's table by itself, and every input in every state. */
#include "stage.h"

#include <stdio.h>

static void test_rows_are_unique_and_reachable(void **state)
{
    (void)state;
    bool reached[QS_JS_COUNT] = {[QS_JS_IDLE] = true};
    for (unsigned round = 0; round < QS_JS_COUNT; round++) {
        for (unsigned s = 0; s < QS_JS_COUNT; s++) {
            for (unsigned e = 0; reached[s] && e < QS_JI_COUNT; e++) {
                const struct qs_job_run_row *row =
                    qs_job_run_find((enum qs_job_run_state)s, (enum qs_job_run_input)e);
                if (row)
                    reached[row->next] = true;
            }
        }
    }
    for (unsigned s = 0; s < QS_JS_COUNT; s++) {
        if (!reached[s])
            fail_msg("no way leads to %s", qs_job_run_state_text((enum qs_job_run_state)s));
    }
    for (unsigned e = 0; e < QS_JI_COUNT; e++)
        assert_null(qs_job_run_find(QS_JS_DONE, (enum qs_job_run_input)e));
}

/* Every state in which the job run waits can be left by losing the link and by being abandoned. */
static void test_no_state_is_a_trap(void **state)
{
    (void)state;
    for (unsigned s = 0; s < QS_JS_COUNT; s++) {
        enum qs_job_run_state at = (enum qs_job_run_state)s;
        bool waits = at != QS_JS_JUDGE && at != QS_JS_NEXT && at != QS_JS_ADVANCE && at != QS_JS_DONE;
        if (!waits)
            continue;
        assert_non_null(qs_job_run_find(at, QS_JI_ABANDON));
        assert_non_null(qs_job_run_find(at, QS_JI_CANCEL));
        assert_true(at == QS_JS_IDLE || qs_job_run_find(at, QS_JI_DOWN));
        assert_string_not_equal(qs_job_run_state_text(at), "?");
    }
}

/* What has no row changes nothing: the job ends as it would have. */
static void feed_case(const char *where, enum qs_job_run_input input)
{
    struct stage s;
    stage_init(&s, NULL);
    s.strike = STRIKE_FEED;
    s.strike_state = where;
    s.feed = input;
    stage_go(&s);
    assert_int_equal(s.struck, 1);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(s.run_count, 2 + 2 * 6);
    assert_int_equal(s.conflicts, 0);
    stage_done(&s);
}

static void test_inputs_without_a_row_are_harmless(void **state)
{
    (void)state;
    static const enum qs_job_run_state waiting[] = {QS_JS_SETTLE,   QS_JS_RUN,    QS_JS_GATE,   QS_JS_WINDOW,
                                                    QS_JS_EVIDENCE, QS_JS_ENDING, QS_JS_RESTORE};
    size_t cases = 0;
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++) {
        for (unsigned e = 0; e < QS_JI_COUNT; e++) {
            if (qs_job_run_find(waiting[i], (enum qs_job_run_input)e))
                continue;
            feed_case(qs_job_run_state_text(waiting[i]), (enum qs_job_run_input)e);
            cases++;
        }
    }
    assert_true(cases > 70);
}

/* Rows of another window, before those that are waited for. */
static void tell_of_others(struct stage *s, uint32_t i, struct qs_row *row)
{
    uint8_t mem[STAGE_ITERATIONS * 32];
    struct qs_build rows;
    (void)row;
    if (i > 0)
        return;
    qs_build_init(&rows, mem, sizeof mem);
    for (uint32_t k = 0; k < s->now.iterations; k++)
        assert_true(qs_build_row(&rows, 0, &(struct qs_row){.duration_ns = 99000000}));
    struct qs_msg_iterations m = {.run = s->run, .window = s->window, .rows = qs_build_list(&rows)};
    m.window++;
    s->to.on_iterations(&m, s->to.user);
}

static void test_rows_of_others_are_left_alone(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, NULL);
    s.record.row = tell_of_others;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(s.run_count, 2 + 2 * 6);
    assert_true(s.job->schedule.blocks_done > 0);
    for (size_t b = 0; b < s.job->schedule.blocks_done; b++)
        assert_in_range(s.job->schedule.medians_ns[b], 9999999, 10000001);
    stage_done(&s);
}

static void test_readme_shows_the_table(void **state)
{
    (void)state;
    struct qs_buf want;
    qs_buf_init(&want);
    qs_job_run_dump(&want);
    FILE *f = fopen(DEVICE_README, "re");
    assert_non_null(f);
    char *page = calloc(1, 100000);
    assert_in_range(fread(page, 1, 99999, f), 1000, 99998);
    fclose(f);
    if (!strstr(page, want.data))
        fail_msg("daemon/device/README.md lacks the table as it is; it would be:\n%s", want.data);
    free(page);
    qs_buf_done(&want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_unique_and_reachable),
        cmocka_unit_test(test_no_state_is_a_trap),
        cmocka_unit_test(test_inputs_without_a_row_are_harmless),
        cmocka_unit_test(test_rows_of_others_are_left_alone),
        cmocka_unit_test(test_readme_shows_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
