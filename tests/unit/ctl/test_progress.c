#include "cm.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/progress.h"

static void tell(struct qs_progress *p, const char *kind, const char *json)
{
    json_t *data = json_loads(json, 0, NULL);
    assert_non_null(data);
    qs_progress_on_event(p, kind, data);
    json_decref(data);
}

static void expect_line(struct qs_progress *p, const char *kind, const char *json, const char *line)
{
    tell(p, kind, json);
    assert_string_equal(p->line.data, line);
}

static void the_line_of_a_job(void **state)
{
    (void)state;
    struct qs_progress p;
    qs_progress_init(&p, true, false);
    expect_line(&p, "job.queued", "{\"position\":0,\"why\":\"\"}", "");
    expect_line(&p, "job.start", "{\"device\":\"local\",\"seed\":\"42\",\"simulated\":false}",
                "measuring on local, seed 42: warming up");
    expect_line(
        &p, "gate.waiting",
        "{\"sensor\":\"cpu.busy_ratio_ppm\",\"value\":380000,\"lo\":null,\"hi\":100000,"
        "\"text\":\"cpu.busy_ratio_ppm is 38.0 %, wanted at most 10.0 %\",\"busiest\":\"cc1[7] 38%\"}",
        "waiting for quiet: cpu.busy_ratio_ppm is 38.0 %, wanted at most 10.0 %, busiest: cc1[7] 38%");
    expect_line(
        &p, "gate.waiting",
        "{\"text\":\"busy\",\"busiest\":\"cc1\",\"timeout_ns\":5000000000,\"waited_ns\":166000000000}",
        "waiting for quiet: busy, busiest: cc1, for 5.00 s at most; 2 min 46 s before");
    expect_line(&p, "window.held", "{\"why\":\"b measures on hub desk\"}",
                "waiting for others: b measures on hub desk");
    expect_line(&p, "job.evals", "{\"point\":0,\"evaluations\":{\"evals\":7,\"how\":\"given\"}}",
                "evaluations: 7 an iteration, as the job says");
    expect_line(
        &p, "job.evals",
        "{\"evaluations\":{\"evals\":205,\"how\":\"tuned\",\"oracle\":\"table\",\"precision_ns\":20,"
        "\"accuracy_ns\":41,\"tries\":999,\"evaluation_ns\":20.03,\"table_evals\":1,"
        "\"logistic_evals\":2,\"found_by\":\"ab\"}}",
        "evaluations: 205 an iteration, tuned: one takes 20.0 ns, the clock is precise to 20.0 ns and "
        "accurate to 41.0 ns (999 tries; the table says 1, the logistic curve 2)");
    expect_line(
        &p, "job.evals",
        "{\"evaluations\":{\"evals\":1,\"how\":\"cached\",\"tries\":9,\"evaluation_ns\":1e6,"
        "\"table_evals\":1,\"logistic_evals\":1,\"found_by\":\"ab\"}}",
        "evaluations: 1 an iteration, as run ab found: one takes 1.00 ms (9 tries; the table says 1, the "
        "logistic curve 1)");
    expect_line(&p, "job.progress",
                "{\"point\":0,\"points\":1,\"block\":7,\"blocks_min\":6,\"blocks_max\":30,\"next_look\":10,"
                "\"half_width_ratio\":0.012,\"goal_ratio\":0.01,\"eta_ns\":8600000000}",
                "block 7 of 10–30, ±1.2 % (goal ±1 %), ≤ 9 s left");
    expect_line(&p, "job.progress",
                "{\"point\":1,\"points\":3,\"block\":30,\"blocks_max\":30,\"next_look\":30,"
                "\"half_width_ratio\":null,\"goal_ratio\":null,\"eta_ns\":null}",
                "point 2 of 3, block 30 of 30");
    expect_line(
        &p, "job.progress",
        "{\"block\":7,\"blocks_max\":30,\"next_look\":30,\"eta_ns\":75000000000,\"waited_ns\":166000000000,"
        "\"busiest\":\"cc1\"}",
        "block 7 of 30, ≤ 1 min 15 s left, waited 2 min 46 s for quiet (cc1)");
    expect_line(&p, "window.announce", "{\"arm\":\"b\",\"predicted_ns\":12000000000}",
                "silent now: b takes about 12.0 s");
    assert_string_equal(p.notes.data, "");
    qs_progress_done(&p);
}

static void a_short_window_is_not_announced(void **state)
{
    (void)state;
    struct qs_progress p;
    qs_progress_init(&p, true, false);
    expect_line(&p, "window.announce", "{\"arm\":\"b\",\"predicted_ns\":1900000000}", "");
    qs_progress_done(&p);
}

static void a_log_gets_few_lines(void **state)
{
    (void)state;
    struct qs_progress p;
    size_t lines = 0;
    qs_progress_init(&p, false, false);
    for (int block = 1; block <= 30; block++) {
        char json[200];
        snprintf(json, sizeof(json), "{\"points\":1,\"block\":%d,\"blocks_max\":30,\"next_look\":30}", block);
        tell(&p, "gate.waiting", "{\"sensor\":\"x\",\"value\":1}");
        tell(&p, "gate.timeout", "{\"outcome\":\"tainted\",\"busiest\":\"cc1\"}");
        tell(&p, "job.progress", json);
    }
    for (const char *s = p.notes.data; *s != '\0'; s++)
        lines += *s == '\n';
    assert_int_equal(lines, 7 + 2); /* blocks 1, 5, 10 ... 30; one wait, one timeout */
    assert_int_equal(p.gate_timeouts, 30);
    assert_non_null(strstr(p.notes.data, "not quiet in time, busiest: cc1; measured anyway"));
    qs_progress_done(&p);
}

static void the_queue_says_behind_what(void **state)
{
    (void)state;
    struct qs_progress p;
    qs_progress_init(&p, true, false);
    tell(&p, "job.queued", "{\"position\":2,\"why\":\"job 6 (x) is before it\"}");
    assert_string_equal(p.notes.data, "queued, 2 jobs before it: job 6 (x) is before it\n");
    qs_progress_done(&p);
}

/* A note, whatever the line shows; it is no end yet. */
static void an_end_that_waits_for_the_disk_is_told(void **state)
{
    (void)state;
    struct qs_progress p;
    qs_progress_init(&p, true, false);
    tell(&p, "job.progress", "{\"points\":1,\"block\":7,\"blocks_max\":30,\"next_look\":30}");
    char *line = strdup(p.line.data);
    tell(&p, "job.waiting", "{\"why\":\"waiting for the disk: it is full\",\"wall_ns\":5,\"job\":7}");
    assert_string_equal(p.notes.data, "the job has ended, waiting for the disk: it is full\n");
    assert_string_equal(p.line.data, line);
    assert_false(p.ended);
    free(line);
    qs_progress_done(&p);
}

static void only_final_states_end(void **state)
{
    (void)state;
    static const struct {
        const char *state;
        bool ends;
    } states[] = {
        {"queued", false}, {"running", false}, {"done", true}, {"failed", true}, {"cancelled", true}};
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        struct qs_progress p;
        char json[100];
        qs_progress_init(&p, true, false);
        snprintf(json, sizeof(json), "{\"state\":\"%s\",\"reason\":null}", states[i].state);
        tell(&p, "job.result", "{\"exit\":5}");
        tell(&p, "job.state", json);
        assert_int_equal(p.ended, states[i].ends);
        assert_string_equal(p.state, states[i].state);
        assert_int_equal(p.exit, 5);
        qs_progress_done(&p);
    }
}

static void quiet_keeps_warnings_only(void **state)
{
    (void)state;
    struct qs_progress p;
    qs_progress_init(&p, false, true);
    tell(&p, "job.start", "{\"device\":\"local\",\"seed\":\"1\"}");
    tell(&p, "job.progress", "{\"block\":1,\"blocks_max\":3}");
    tell(&p, "gate.timeout", "{}");
    tell(&p, "job.warning", "{\"text\":\"hot\"}");
    tell(&p, "no.such.kind", "{}");
    assert_string_equal(p.notes.data, "warning: hot\n");
    qs_progress_done(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_line_of_a_job),
                                       cmocka_unit_test(a_short_window_is_not_announced),
                                       cmocka_unit_test(a_log_gets_few_lines),
                                       cmocka_unit_test(the_queue_says_behind_what),
                                       cmocka_unit_test(an_end_that_waits_for_the_disk_is_told),
                                       cmocka_unit_test(only_final_states_end),
                                       cmocka_unit_test(quiet_keeps_warnings_only)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
