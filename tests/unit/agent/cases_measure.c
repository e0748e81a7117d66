/* What happens inside a window. */
#include "cases.h"
#include "script.h"

#include "proto/names.h"

#include <string.h>

static const struct script_options plain;

static struct script *measuring(const struct run_spec *spec, uint32_t iterations)
{
    struct script *s = script_new(&plain);
    script_connect(s);
    script_run(s, spec);
    script_measuring(s, 7, iterations);
    return s;
}

static struct qs_row row_of(const struct letter *l, uint32_t index)
{
    struct qs_msg_iterations m;
    struct qs_row row = {.flags = 0};
    assert_int_equal(qs_msg_decode_iterations(l->payload, l->n, &m), 0);
    assert_true(m.rows.count > index);
    struct qs_iter it = qs_list_iter(&m.rows);
    for (uint32_t i = 0; i <= index; i++) {
        assert_true(qs_list_row(&it, m.metrics.count, &row));
    }
    return row;
}

static void measures_a_window(void **state)
{
    struct script *s = measuring(&(struct run_spec){.capture = false}, 2);
    struct qs_msg_closed m;
    struct qs_msg_iterations rows;
    struct qs_evidence e;
    int64_t opened = s->now_ns;
    (void)state;
    script_exit(s, 123456789, 0);
    script_exit(s, 2 * MS, 0);
    script_expect_closed(s, &m);
    assert_int_equal(m.how, QS_CLOSED_DONE);
    assert_int_equal(m.phase, QS_PHASE_MEASURE);
    assert_int_equal(m.window, 4);
    assert_int_equal(m.iterations, 2);
    assert_int_equal(m.opened_ns, opened);
    assert_int_equal(m.closed_ns, opened + 123456789 + 2 * MS);
    assert_int_equal(m.taints.count, 0);
    assert_int_equal(m.frames_in_window, 0);
    assert_int_equal(m.output_bytes, 40);
    assert_true(qs_text_is(m.output, "said"));
    assert_int_equal(m.gate.busiest.n, 0); /* it had not to wait for anybody */
    assert_true(peer_has_evidence(&m, "throttle", &e));
    assert_int_equal(e.status, QS_READING_MISSING);
    const struct letter *l = script_expect(s, QS_MSG_ITERATIONS);
    assert_int_equal(qs_msg_decode_iterations(l->payload, l->n, &rows), 0);
    assert_int_equal(rows.first_seq, 7);
    assert_int_equal(rows.rows.count, 2);
    struct qs_row row = row_of(l, 0);
    assert_int_equal(row.duration_ns, 123456789);
    assert_int_equal(row.start_off_ns, 0);
    assert_int_equal(row.values[0], 5);
    row = row_of(l, 1);
    assert_int_equal(row.start_off_ns, 123456789);
    script_expect_nothing(s);
    script_expect_state(s, QS_STATE_RUN_OPEN);
    script_free(s);
}

static void ends_a_window_by_time(void **state)
{
    struct script *s = script_new(&plain);
    struct qs_msg_closed m;
    (void)state;
    script_connect(s);
    script_run(s, &(struct run_spec){.capture = false});
    peer_open(&s->peer, &(struct open_spec){.iterations = 100, .phase = QS_PHASE_WARMUP, .max_ns = 10 * MS});
    script_expect(s, QS_MSG_ARM);
    peer_window(&s->peer, QS_MSG_QUIET, 0);
    script_exit(s, 6 * MS, 0);
    script_exit(s, 6 * MS, 0);
    script_expect_closed(s, &m);
    assert_int_equal(m.how, QS_CLOSED_TIME_UP);
    assert_int_equal(m.phase, QS_PHASE_WARMUP);
    assert_int_equal(m.iterations, 2);
    script_free(s);
}

/* The window ends before its evidence is read: what that takes is no time of the window. */
static void ends_before_its_evidence(void **state)
{
    struct script *s = measuring(&(struct run_spec){.capture = false}, 1);
    struct qs_msg_closed m;
    int64_t opened = s->now_ns;
    (void)state;
    s->evidence_ns = 50 * MS;
    script_exit(s, 2 * MS, 0);
    script_expect_closed(s, &m);
    assert_int_equal(m.closed_ns, opened + 2 * MS);
    script_free(s);
}

/* Stopped, slept, or used by others: that taints whatever the host bounds, and by its bound where it has one.
 */
static void taints_what_was_stopped(void **state)
{
    static const struct {
        const char *kind;
        int64_t least;
    } cases[] = {{"agent.stops", 1},
                 {"process.stops", 1},
                 {"machine.suspended_ns", 10 * MS + 1},
                 {"link.relay_cpu_us", 101}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int more = 0; more < 2; more++) {
            struct script *s = measuring(&(struct run_spec){.capture = false}, 1);
            struct qs_msg_closed m;
            int64_t value = 0;
            s->third_kind = cases[i].kind; /* it has been 0 before */
            s->third_value = cases[i].least - !more;
            script_exit(s, 1 * MS, 0);
            script_expect_closed(s, &m);
            assert_int_equal(peer_has_taint(&m, cases[i].kind, -1, &value), more);
            assert_int_equal(m.taints.count, more);
            assert_int_equal(value, more ? cases[i].least : 0);
            script_free(s);
        }
    }
}

/* What the host holds somewhere was elsewhere before the window, or after it, or cannot be read. */
static void taints_what_is_not_held(void **state)
{
    static const struct {
        int64_t before, after, value;
        uint8_t status;
        bool tainted;
    } cases[] = {{1800000, 1800000, 0, QS_READING_OK, false},
                 {1800000, 1704000, 1704000, QS_READING_OK, true},
                 {1800001, 1800000, 1800001, QS_READING_OK, true},
                 {1800000, 1800000, 0, QS_READING_UNREADABLE, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct script *s = script_new(&plain);
        struct qs_msg_closed m;
        int64_t value = -1;
        script_connect(s);
        script_run(s, &(struct run_spec){.capture = false});
        s->third_kind = "pin:policy0.max";
        s->third_value = cases[i].before;
        s->third_hi = 1800000;
        script_measuring(s, 0, 1);
        s->third_value = cases[i].after;
        s->third_status = cases[i].status;
        script_exit(s, 1 * MS, 0);
        script_expect_closed(s, &m);
        assert_int_equal(m.taints.count, cases[i].tainted);
        assert_int_equal(peer_has_taint(&m, "pin:policy0.max", -1, &value), cases[i].tainted);
        assert_int_equal(value, cases[i].tainted ? cases[i].value : -1);
        script_free(s);
    }
}

/* What is to be steady: any change, by how much; a bound of its name goes before that. */
static void taints_what_changed(void **state)
{
    static const struct {
        const char *kind;
        int64_t before, after;
        uint8_t status;
        int64_t value;
    } cases[] = {{"residency:policy0", 70, 70, QS_READING_OK, 0},
                 {"residency:policy0", 70, 80, QS_READING_OK, 10},
                 {"residency:policy0", 70, 30, QS_READING_OK, -40},
                 {"residency:policy0", 70, 80, QS_READING_UNREADABLE, 0},
                 {"residency:policy0", INT64_MIN, INT64_MAX, QS_READING_OK, 0},
                 {"cpu.steal_ticks", 70, 73, QS_READING_OK, 0}, /* its bound */
                 {"cpu.steal_ticks", 70, 74, QS_READING_OK, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct script *s = script_new(&plain);
        struct qs_msg_closed m;
        int64_t value = 0;
        script_connect(s);
        script_run(s, &(struct run_spec){.capture = false});
        s->third_kind = cases[i].kind;
        s->third_value = cases[i].before;
        s->third_steady = true;
        script_measuring(s, 0, 1);
        s->third_value = cases[i].after;
        s->third_status = cases[i].status;
        script_exit(s, 1 * MS, 0);
        script_expect_closed(s, &m);
        assert_int_equal(m.taints.count, cases[i].value != 0);
        assert_int_equal(peer_has_taint(&m, cases[i].kind, -1, &value), cases[i].value != 0);
        assert_int_equal(value, cases[i].value);
        script_free(s);
    }
}

static void taints_by_evidence_and_link(void **state)
{
    struct script *s = measuring(&(struct run_spec){.capture = false}, 1);
    struct qs_msg_closed m;
    int64_t value = 0;
    (void)state;
    s->evidence_ticks = 4;
    s->unread = 9;
    peer_ping(&s->peer, 1);
    peer_plain(&s->peer, QS_MSG_PONG);
    peer_bytes(&s->peer, 0x80 | 3, "", 0);
    script_expect_nothing(s);
    script_exit(s, 1 * MS, 0);
    script_expect_closed(s, &m);
    assert_int_equal(m.frames_in_window, 3);
    assert_int_equal(m.unread_bytes_at_close, 9);
    assert_true(peer_has_taint(&m, "link.frames", -1, &value));
    assert_int_equal(value, 3);
    assert_true(peer_has_taint(&m, "link.unread_bytes", -1, &value));
    assert_true(peer_has_taint(&m, "cpu.steal_ticks", -1, &value));
    assert_int_equal(value, 4);
    script_free(s);
}

static void flags_what_went_wrong(void **state)
{
    struct script *s = measuring(&(struct run_spec){.limit_ns = 1 * S}, 4);
    struct qs_msg_closed m;
    (void)state;
    script_exit(s, 1 * MS, 9);
    script_end(s, &(struct qs_port_child){.how = QS_PORT_SIGNALLED, .code = 11, .core_dumped = true});
    script_end(s, &(struct qs_port_child){.left_children = true, .output_cut = true});
    script_pass(s, 1 * S);
    assert_true(s->asked);
    assert_false(s->forced);
    script_pass(s, 1 * S);
    script_expect_closed(s, &m);
    const struct letter *l = script_expect(s, QS_MSG_ITERATIONS);
    assert_int_equal(row_of(l, 0).flags, QS_ITERATION_UNEXPECTED_EXIT);
    assert_int_equal(row_of(l, 0).status, 9);
    assert_int_equal(row_of(l, 1).flags, QS_ITERATION_SIGNALLED | QS_ITERATION_CORE_DUMPED);
    assert_int_equal(row_of(l, 1).status, -11);
    assert_int_equal(row_of(l, 2).flags, QS_ITERATION_LEFT_CHILDREN | QS_ITERATION_OUTPUT_CUT);
    assert_int_equal(row_of(l, 3).flags, QS_ITERATION_TIMED_OUT);
    assert_int_equal(m.taints.count, 5); /* output that was cut is none */
    int64_t value = 0;
    assert_true(peer_has_taint(&m, qs_iteration_flag_name(QS_ITERATION_TIMED_OUT), 3, &value));
    assert_int_equal(value, row_of(l, 3).duration_ns);
    assert_true(peer_has_taint(&m, qs_iteration_flag_name(QS_ITERATION_UNEXPECTED_EXIT), 0, &value));
    assert_int_equal(value, 9);
    assert_true(peer_has_taint(&m, qs_iteration_flag_name(QS_ITERATION_LEFT_CHILDREN), 2, NULL));
    script_free(s);
}

/* Which exit codes are no failure is for the job to say. */
static void knows_the_expected_exits(void **state)
{
    static const struct {
        enum qs_exit_rule rule;
        int32_t code;
        bool expected;
    } cases[] = {{QS_EXIT_RULE_ZERO, 0, true}, {QS_EXIT_RULE_ZERO, 7, false}, {QS_EXIT_RULE_ANY, 9, true},
                 {QS_EXIT_RULE_LIST, 7, true}, {QS_EXIT_RULE_LIST, 0, false}, {QS_EXIT_RULE_LIST, 9, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct script *s = measuring(&(struct run_spec){.exit_rule = cases[i].rule, .exit_code = 7}, 1);
        script_exit(s, 1 * MS, cases[i].code);
        script_expect(s, QS_MSG_CLOSED);
        assert_int_equal(row_of(script_expect(s, QS_MSG_ITERATIONS), 0).flags,
                         cases[i].expected ? 0 : QS_ITERATION_UNEXPECTED_EXIT);
        script_free(s);
    }
}

/* The last process against the first one: what is between them does not matter. */
static void taints_what_grows(void **state)
{
    static const struct {
        int64_t bytes[3], grown;
    } cases[] = {{{5000, 9000, 6000}, 0}, {{5000, 5000, 6001}, 1001}, {{9000, 5000, 6002}, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct script *s = measuring(&(struct run_spec){.capture = false}, 3);
        struct qs_msg_closed m;
        int64_t value = 0;
        for (size_t k = 0; k < 3; k++) {
            struct qs_port_child child = {.start_ns = s->now_ns};
            child.metrics[QS_METRIC_MAX_RSS_BYTES - 1] = cases[i].bytes[k];
            script_pass(s, 1 * MS);
            script_end(s, &child);
        }
        script_expect_closed(s, &m);
        assert_int_equal(m.taints.count, cases[i].grown != 0);
        assert_int_equal(peer_has_taint(&m, "program.rss_bytes", -1, &value), cases[i].grown != 0);
        assert_int_equal(value, cases[i].grown);
        script_free(s);
    }
}

/* A window has room for so many taints; its first ones are told. */
static void bounds_its_taints(void **state)
{
    enum { MANY = 1200 };
    struct script *s = measuring(&(struct run_spec){.capture = false}, MANY);
    struct qs_msg_closed m;
    (void)state;
    for (int i = 0; i < MANY; i++) {
        script_exit(s, 1000, 1);
    }
    script_expect_closed(s, &m);
    assert_int_equal(m.iterations, MANY);
    assert_int_equal(m.taints.count, QS_TAINTS_MAX);
    assert_true(
        peer_has_taint(&m, qs_iteration_flag_name(QS_ITERATION_UNEXPECTED_EXIT), QS_TAINTS_MAX - 1, NULL));
    script_free(s);
}

/* The order of events at a limit: asked after it, forced a second later, given up after five more. */
static void ends_a_process_in_three_stages(void **state)
{
    struct script *s = measuring(&(struct run_spec){.limit_ns = 2 * S}, 1);
    (void)state;
    s->linger = true;
    script_pass(s, 2 * S - 1);
    assert_false(s->asked);
    script_pass(s, 1);
    assert_true(s->asked);
    script_pass(s, 1 * S - 1);
    assert_false(s->forced);
    script_pass(s, 1);
    assert_true(s->forced);
    script_pass(s, 5 * S - 1);
    assert_true(s->child_runs);
    script_pass(s, 1);
    assert_false(s->child_runs);
    script_free(s);
}

static void gives_up_what_does_not_die(void **state)
{
    struct script *s = measuring(&(struct run_spec){.limit_ns = 1 * S}, 4);
    struct qs_msg_closed m;
    (void)state;
    s->linger = true;
    script_pass(s, 8 * S);
    script_expect_closed(s, &m);
    assert_int_equal(m.how, QS_CLOSED_FAILED);
    assert_int_equal(m.iterations, 0);
    assert_true(m.failure.n > 0);
    script_expect_state(s, QS_STATE_RUN_OPEN);
    script_free(s);
}

static const char *const helper[] = {"helper", NULL};

static void prepares_and_concludes(void **state)
{
    struct script *s = measuring(&(struct run_spec){.prepare = helper, .conclude = helper}, 2);
    struct qs_msg_closed m;
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(s->job, QS_JOB_PREPARE);
        script_exit(s, 10 * MS, i);
        assert_int_equal(s->job, QS_JOB_ITERATION);
        script_exit(s, 1 * MS, 0);
        assert_int_equal(s->job, QS_JOB_CONCLUDE);
        script_exit(s, 10 * MS, i);
    }
    script_expect_closed(s, &m);
    const struct letter *l = script_expect(s, QS_MSG_ITERATIONS);
    assert_int_equal(row_of(l, 0).flags, 0);
    assert_int_equal(row_of(l, 0).duration_ns, 1 * MS);
    assert_int_equal(row_of(l, 1).flags, QS_ITERATION_PREPARE_FAILED | QS_ITERATION_CONCLUDE_FAILED);
    script_free(s);
}

/* The process before it has ended: its row is there, whatever becomes of what comes after it. */
static void records_what_a_conclude_leaves(void **state)
{
    struct script *s = measuring(&(struct run_spec){.conclude = helper}, 2);
    struct qs_msg_closed m;
    (void)state;
    script_exit(s, 3 * MS, 0);
    s->linger = true;
    script_pass(s, 66 * S);
    script_expect_closed(s, &m);
    assert_int_equal(m.how, QS_CLOSED_FAILED);
    assert_int_equal(m.iterations, 1);
    const struct letter *l = script_expect(s, QS_MSG_ITERATIONS);
    assert_int_equal(row_of(l, 0).duration_ns, 3 * MS);
    assert_int_equal(row_of(l, 0).flags, QS_ITERATION_CONCLUDE_FAILED);
    script_free(s);
}

static void fails_where_nothing_starts(void **state)
{
    struct qs_msg_closed m;
    (void)state;
    /* at the first process, at a conclude, at the pipe, at a prepare */
    for (int at = 0; at < 4; at++) {
        struct script *s = script_new(&plain);
        script_connect(s);
        script_run(
            s, &(struct run_spec){.conclude = at == 1 ? helper : NULL, .prepare = at >= 2 ? helper : NULL});
        peer_open(&s->peer, &(struct open_spec){.iterations = 3});
        script_expect(s, QS_MSG_ARM);
        s->refuse_start = at == 0 || at == 3;
        s->refuse_window = at == 2;
        peer_window(&s->peer, QS_MSG_QUIET, 0);
        if (at == 1) {
            s->refuse_start = true;
            script_exit(s, 1 * MS, 0);
        }
        script_expect_closed(s, &m);
        assert_int_equal(m.how, QS_CLOSED_FAILED);
        assert_true(qs_text_is(m.failure, at == 2 ? "no pipe" : "cannot start"));
        assert_int_equal(m.iterations, at == 1);
        script_expect_state(s, QS_STATE_RUN_OPEN);
        script_free(s);
    }
}

static void cancels_a_window(void **state)
{
    (void)state;
    /* in the first iteration, in the second, in a prepare */
    for (int at = 0; at < 3; at++) {
        struct script *s = measuring(&(struct run_spec){.prepare = at == 2 ? helper : NULL}, 5);
        struct qs_msg_closed m;
        if (at == 1) {
            script_exit(s, 1 * MS, 0);
        }
        peer_cancel(&s->peer);
        assert_true(s->asked);
        script_pass(s, 1 * S);
        script_expect_closed(s, &m);
        assert_int_equal(m.how, QS_CLOSED_CANCELLED);
        assert_int_equal(m.iterations, at == 1); /* the one that was cut short is no measurement */
        assert_true(peer_has_taint(&m, "link.frames", -1, NULL));
        script_expect_state(s, QS_STATE_RUN_OPEN);
        script_free(s);
    }
}

static void sends_long_windows_in_parts(void **state)
{
    struct script *s = measuring(&(struct run_spec){.capture = false}, 1000);
    struct qs_msg_iterations m;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        script_exit(s, 1000 + i, 1);
    }
    struct qs_msg_closed closed;
    script_expect_closed(s, &closed);
    assert_int_equal(closed.iterations, 1000);
    const struct letter *l = script_expect(s, QS_MSG_ITERATIONS);
    assert_int_equal(qs_msg_decode_iterations(l->payload, l->n, &m), 0);
    assert_int_equal(m.rows.count, QS_ROWS_MAX);
    l = script_expect(s, QS_MSG_ITERATIONS);
    assert_int_equal(qs_msg_decode_iterations(l->payload, l->n, &m), 0);
    assert_int_equal(m.rows.count, 1000 - QS_ROWS_MAX);
    assert_int_equal(m.first_seq, 7 + QS_ROWS_MAX);
    assert_int_equal(row_of(l, 0).duration_ns, 1000 + QS_ROWS_MAX);
    script_free(s);
}

const struct CMUnitTest cases_measure[] = {
    cmocka_unit_test(measures_a_window),
    cmocka_unit_test(ends_a_window_by_time),
    cmocka_unit_test(ends_before_its_evidence),
    cmocka_unit_test(taints_what_was_stopped),
    cmocka_unit_test(taints_by_evidence_and_link),
    cmocka_unit_test(flags_what_went_wrong),
    cmocka_unit_test(gives_up_what_does_not_die),
    cmocka_unit_test(prepares_and_concludes),
    cmocka_unit_test(fails_where_nothing_starts),
    cmocka_unit_test(cancels_a_window),
    cmocka_unit_test(sends_long_windows_in_parts),
    cmocka_unit_test(knows_the_expected_exits),
    cmocka_unit_test(taints_what_grows),
    cmocka_unit_test(bounds_its_taints),
    cmocka_unit_test(taints_what_is_not_held),
    cmocka_unit_test(taints_what_changed),
    cmocka_unit_test(ends_a_process_in_three_stages),
    cmocka_unit_test(records_what_a_conclude_leaves),
};
const size_t cases_measure_count = sizeof cases_measure / sizeof cases_measure[0];
