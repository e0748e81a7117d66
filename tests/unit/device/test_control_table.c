/* The controller's table by itself, and every input in every state. */
#include "stage.h"

#include <stdio.h>

static void test_rows_are_unique_and_reachable(void **state)
{
    (void)state;
    bool reached[QS_CS_COUNT] = {[QS_CS_IDLE] = true};
    for (unsigned round = 0; round < QS_CS_COUNT; round++) {
        for (unsigned s = 0; s < QS_CS_COUNT; s++) {
            for (unsigned e = 0; reached[s] && e < QS_CE_COUNT; e++) {
                const struct qs_control_row *row =
                    qs_control_find((enum qs_control_state)s, (enum qs_control_input)e);
                if (row)
                    reached[row->next] = true;
            }
        }
    }
    for (unsigned s = 0; s < QS_CS_COUNT; s++) {
        if (!reached[s])
            fail_msg("no way leads to %s", qs_control_state_text((enum qs_control_state)s));
    }
    for (unsigned e = 0; e < QS_CE_COUNT; e++)
        assert_null(qs_control_find(QS_CS_DONE, (enum qs_control_input)e));
}

/* Every state in which the controller waits can be left by losing the link and by being abandoned. */
static void test_no_state_is_a_trap(void **state)
{
    (void)state;
    for (unsigned s = 0; s < QS_CS_COUNT; s++) {
        enum qs_control_state at = (enum qs_control_state)s;
        bool waits = at != QS_CS_JUDGE && at != QS_CS_NEXT && at != QS_CS_ADVANCE && at != QS_CS_DONE;
        if (!waits)
            continue;
        assert_non_null(qs_control_find(at, QS_CE_ABANDON));
        assert_non_null(qs_control_find(at, QS_CE_CANCEL));
        assert_true(at == QS_CS_IDLE || qs_control_find(at, QS_CE_DOWN));
        assert_string_not_equal(qs_control_state_text(at), "?");
    }
}

/* What has no row changes nothing: the job ends as it would have. */
static void feed_case(const char *where, enum qs_control_input input)
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
    static const enum qs_control_state waiting[] = {QS_CS_SETTLE,   QS_CS_RUN,    QS_CS_GATE,   QS_CS_WINDOW,
                                                    QS_CS_EVIDENCE, QS_CS_ENDING, QS_CS_RESTORE};
    size_t cases = 0;
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++) {
        for (unsigned e = 0; e < QS_CE_COUNT; e++) {
            if (qs_control_find(waiting[i], (enum qs_control_input)e))
                continue;
            feed_case(qs_control_state_text(waiting[i]), (enum qs_control_input)e);
            cases++;
        }
    }
    assert_true(cases > 70);
}

/* Rows of another run, then of another window, before those that are waited for. */
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
    m.run.b[0] ^= 1;
    qs_control_on_iterations(s->control, &m);
    m.run.b[0] ^= 1;
    m.window++;
    qs_control_on_iterations(s->control, &m);
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
    assert_true(s.control->plan.blocks_done > 0);
    for (size_t b = 0; b < s.control->plan.blocks_done; b++)
        assert_in_range(s.control->plan.medians_ns[b], 9999999, 10000001);
    stage_done(&s);
}

static void test_readme_shows_the_table(void **state)
{
    (void)state;
    struct qs_buf want;
    qs_buf_init(&want);
    qs_control_dump(&want);
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
