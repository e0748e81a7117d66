/* The session, case by case; then: was every row of its table taken? Link losses in every state come last,
 * because they are many. */
#include "cases.h"
#include "script.h"

#include <stdio.h>
#include <string.h>

static void every_row_was_taken(void **state)
{
    size_t n;
    size_t missed = 0;
    (void)qs_states_rows(&n);
    (void)state;
    for (size_t i = 0; i < n; i++) {
        if (!script_hits[i]) {
            char line[128];
            qs_states_line(i, line, sizeof line);
            print_error("never taken: %s\n", line);
            missed++;
        }
    }
    assert_int_equal(missed, 0);
}

static void no_row_is_doubled(void **state)
{
    size_t n;
    const struct qs_states_row *rows = qs_states_rows(&n);
    (void)state;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = i + 1; k < n; k++) {
            assert_false(rows[i].state == rows[k].state && rows[i].request == rows[k].request &&
                         rows[i].event == rows[k].event);
        }
    }
}

static void names_only_what_there_is(void **state)
{
    char line[128];
    size_t n;
    const struct qs_states_row *rows = qs_states_rows(&n);
    (void)state;
    assert_string_equal(qs_states_event_name(QS_EV_COUNT), "unknown");
    assert_string_equal(qs_states_event_name(rows[0].event), "LINK_UP");
    assert_true(qs_states_line(n - 1, line, sizeof line));
    assert_string_equal(line, "(RUN_END) --CANCEL--> (same)  : stop_child");
    assert_false(qs_states_line(n, line, sizeof line));
    assert_string_equal(qs_states_event_name(QS_EV_NONE), "none");
    assert_string_equal(qs_states_event_name(QS_MSG_HOOK), "HOOK");
    assert_string_equal(qs_states_event_name(QS_EV_ENDED), "ended");
    assert_string_equal(qs_states_name(QS_STATE_ENDING), "ending");
}

static size_t append(struct CMUnitTest *all, size_t n, const struct CMUnitTest *some, size_t count)
{
    memcpy(all + n, some, count * sizeof *some);
    return n + count;
}

int main(void)
{
    static struct CMUnitTest all[180];
    const struct CMUnitTest last[] = {cmocka_unit_test(no_row_is_doubled),
                                      cmocka_unit_test(names_only_what_there_is),
                                      cmocka_unit_test(every_row_was_taken)};
    size_t n = append(all, 0, cases_talk, cases_talk_count);
    n = append(all, n, cases_gate, cases_gate_count);
    n = append(all, n, cases_window, cases_window_count);
    n = append(all, n, cases_measure, cases_measure_count);
    n = append(all, n, cases_keep, cases_keep_count);
    n = append(all, n, cases_harness, cases_harness_count);
    n = append(all, n, cases_trace, cases_trace_count);
    n = append(all, n, cases_files, cases_files_count);
    n = append(all, n, cases_stream, cases_stream_count);
    n = append(all, n, cases_faults, cases_faults_count);
    n = append(all, n, cases_memory, cases_memory_count);
    n = append(all, n, cases_program, cases_program_count);
    n = append(all, n, cases_control, cases_control_count);
    n = append(all, n, cases_tune, cases_tune_count);
    n = append(all, n, cases_load, cases_load_count);
    n = append(all, n, cases_hold, cases_hold_count);
    n = append(all, n, cases_spool, cases_spool_count);
    append(all, n, last, 3);
    return cmocka_run_group_tests_name("agent.session", all, NULL, NULL);
}
