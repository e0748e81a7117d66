/* The gate, and the way to silence. */
#include "cases.h"
#include "peer_files.h"
#include "script.h"

#include <string.h>

#include "proto/names.h"

static const struct script_options plain;

static struct script *in_run(void)
{
    struct script *s = script_new(&plain);
    script_connect(s);
    script_run(s, &(struct run_spec){.capture = false});
    return s;
}

static struct qs_expectation expect_below(int64_t hi, int64_t timeout_ns, enum qs_gate_on_timeout on_timeout)
{
    return (struct qs_expectation){.sensor = qs_text_of("heat"),
                                   .flags = QS_GATE_HAS_HI,
                                   .hi = hi,
                                   .timeout_ns = timeout_ns,
                                   .on_timeout = on_timeout};
}

static void open_gate(struct script *s, const struct qs_expectation *gate, size_t n)
{
    peer_open(&s->peer, &(struct open_spec){.window = 4,
                                            .phase = QS_PHASE_MEASURE,
                                            .iterations = 2,
                                            .lead_ns = 30 * MS,
                                            .gate = gate,
                                            .gate_count = n});
}

static void expect_waiting(struct script *s, int64_t value, uint8_t status, int64_t eta_ns)
{
    struct qs_msg_waiting m;
    const struct letter *l = script_expect(s, QS_MSG_WAITING);
    assert_int_equal(qs_msg_decode_waiting(l->payload, l->n, &m), 0);
    assert_int_equal(m.expectation, 0);
    assert_int_equal(m.value, value);
    assert_int_equal(m.status, status);
    assert_int_equal(m.eta_ns, eta_ns);
    assert_true(qs_text_is(m.note, "spinner[7] 99%"));
}

static void waits_and_says_so_once_a_second(void **state)
{
    struct script *s = in_run();
    const struct qs_expectation e = expect_below(40, 60 * S, QS_GATE_ON_TIMEOUT_TAINT);
    struct qs_msg_closed m;
    struct qs_reading r;
    (void)state;
    script_sensor(s, 0, "heat", QS_READING_OK, 50);
    open_gate(s, &e, 1);
    expect_waiting(s, 50, QS_READING_OK, -1);
    script_pass(s, 900 * MS);
    script_expect_nothing(s);
    script_pass(s, 100 * MS);
    expect_waiting(s, 50, QS_READING_OK, -1);
    peer_ping(&s->peer, 5);
    script_expect(s, QS_MSG_PONG);
    peer_plain(&s->peer, QS_MSG_PONG);
    s->sensors[0].reading.value = 40;
    script_pass(s, 100 * MS);
    script_expect(s, QS_MSG_ARM);
    script_pass(s, 500 * MS);
    peer_window(&s->peer, QS_MSG_QUIET, 4);
    script_expect_state(s, QS_STATE_DRAINING);
    assert_int_equal(s->drains, 1);
    script_pass(s, 29 * MS);
    script_expect_state(s, QS_STATE_DRAINING);
    script_pass(s, 1 * MS);
    script_expect_state(s, QS_STATE_MEASURING);
    script_exit(s, 1 * MS, 0);
    script_exit(s, 1 * MS, 0);
    script_expect_closed(s, &m);
    assert_int_equal(m.gate.outcome, QS_GATE_OPEN);
    assert_true(m.gate.polls > 10);
    assert_int_equal(m.gate.decided_ns - m.gate.began_ns, 1630 * MS);
    assert_int_equal(m.taints.count, 0);
    assert_true(qs_text_is(m.gate.busiest, "spinner[7] 99%"));
    struct qs_iter it = qs_list_iter(&m.gate.readings);
    assert_true(qs_list_reading(&it, &r));
    assert_int_equal(r.value, 40);
    assert_int_equal(r.age_ns, 11);
    script_free(s);
}

static void wants_the_whole_dwell(void **state)
{
    struct script *s = in_run();
    struct qs_expectation e = expect_below(40, 60 * S, QS_GATE_ON_TIMEOUT_TAINT);
    (void)state;
    e.flags |= QS_GATE_HAS_LO;
    e.lo = 30;
    e.dwell_ns = 500 * MS;
    script_sensor(s, 0, "heat", QS_READING_OK, 35);
    open_gate(s, &e, 1);
    expect_waiting(s, 35, QS_READING_OK, 500 * MS);
    script_pass(s, 300 * MS);
    s->sensors[0].reading.value = 29; /* too cold */
    script_pass(s, 100 * MS);
    s->sensors[0].reading.value = 30;
    script_pass(s, 500 * MS);
    script_expect_nothing(s);
    script_pass(s, 100 * MS);
    script_expect(s, QS_MSG_ARM);
    script_free(s);
}

static void ends_a_wait_as_the_gate_says(void **state)
{
    static const struct {
        enum qs_gate_on_timeout on_timeout;
        enum qs_gate_outcome outcome;
    } cases[] = {{QS_GATE_ON_TIMEOUT_DEFER, QS_GATE_DEFER},
                 {QS_GATE_ON_TIMEOUT_REQUEUE, QS_GATE_REQUEUE},
                 {QS_GATE_ON_TIMEOUT_FAIL, QS_GATE_FAIL}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct script *s = in_run();
        struct qs_msg_closed m;
        const struct qs_expectation e = expect_below(40, 500 * MS, cases[i].on_timeout);
        script_sensor(s, 0, "heat", QS_READING_OK, 50);
        open_gate(s, &e, 1);
        script_expect(s, QS_MSG_WAITING);
        script_pass(s, 500 * MS);
        script_expect_closed(s, &m);
        assert_int_equal(m.how, QS_CLOSED_GATE_TIMEOUT);
        assert_int_equal(m.gate.outcome, cases[i].outcome);
        assert_int_equal(m.iterations, 0);
        assert_int_equal(m.opened_ns, 0);
        script_expect_nothing(s);
        script_expect_state(s, QS_STATE_RUN_OPEN);
        assert_int_equal(s->agent->ring.count, 0);
        script_free(s);
    }
}

static void taints_and_runs_where_the_gate_says_so(void **state)
{
    struct script *s = in_run();
    struct qs_msg_closed m;
    struct qs_taint t;
    const struct qs_expectation e = expect_below(40, 0, QS_GATE_ON_TIMEOUT_TAINT);
    (void)state;
    script_sensor(s, 0, "heat", QS_READING_OK, 50);
    open_gate(s, &e, 1);
    script_expect(s, QS_MSG_ARM);
    peer_window(&s->peer, QS_MSG_QUIET, 4);
    script_pass(s, 30 * MS);
    script_exit(s, 1 * MS, 0);
    script_exit(s, 1 * MS, 0);
    script_expect_closed(s, &m);
    assert_int_equal(m.gate.outcome, QS_GATE_TAINTED);
    struct qs_iter it = qs_list_iter(&m.taints);
    assert_true(qs_list_taint(&it, &t));
    assert_true(qs_text_is(t.code, "gate:heat"));
    assert_int_equal(t.iteration, -1);
    assert_int_equal(t.value, 50);
    assert_int_equal(t.bound, 40);
    script_free(s);
}

static void fails_on_what_it_cannot_read(void **state)
{
    static const uint8_t statuses[] = {QS_READING_UNREADABLE, QS_READING_MISSING};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct script *s = in_run();
        struct qs_msg_closed m;
        struct qs_expectation e = expect_below(40, 1 * S, QS_GATE_ON_TIMEOUT_FAIL);
        script_sensor(s, 0, "heat", statuses[i], 0);
        open_gate(s, &e, 1);
        expect_waiting(s, 0, statuses[i], -1);
        script_pass(s, 1 * S);
        script_expect_closed(s, &m);
        assert_int_equal(m.gate.outcome, QS_GATE_FAIL);
        e.flags |= QS_GATE_UNREADABLE_OK;
        open_gate(s, &e, 1);
        script_expect(s, QS_MSG_ARM);
        script_free(s);
    }
}

static void waits_for_a_stale_sensor(void **state)
{
    struct script *s = in_run();
    const struct qs_expectation e = expect_below(40, 0, QS_GATE_ON_TIMEOUT_FAIL);
    (void)state;
    script_sensor(s, 0, "heat", QS_READING_STALE, 0);
    open_gate(s, &e, 1);
    script_pass(s, 100 * MS);
    script_expect_nothing(s);
    script_sensor(s, 0, "heat", QS_READING_OK, 1);
    script_pass(s, 20 * MS);
    script_expect(s, QS_MSG_ARM);
    script_free(s);
}

/* In the band, and a newer reading is on its way: what runs for it must not reach into the window. */
static void waits_for_a_pending_sensor(void **state)
{
    struct script *s = in_run();
    const struct qs_expectation e = expect_below(40, 0, QS_GATE_ON_TIMEOUT_FAIL);
    (void)state;
    for (int ends = 1; ends >= 0; ends--) {
        script_sensor(s, 0, "heat", QS_READING_OK, 1);
        s->sensors[0].reading.pending = true;
        open_gate(s, &e, 1);
        for (int i = 0; i < 199; i++) {
            script_pass(s, 100 * MS);
            peer_plain(&s->peer, QS_MSG_PONG);
        }
        script_expect_state(s, QS_STATE_WAITING);
        s->sensors[0].reading.pending = !ends;
        script_pass(s, 200 * MS);
        script_expect_state(s, ends ? QS_STATE_ARMED : QS_STATE_RUN_OPEN);
        script_free(s);
        s = in_run();
    }
    script_free(s);
}

/* Without a word: there is no expectation to tell of. */
static void waits_for_evidence_that_takes_its_time(void **state)
{
    struct script *s = in_run();
    (void)state;
    s->knobs.unsettled = true;
    open_gate(s, NULL, 0);
    script_pass(s, 500 * MS);
    script_expect_nothing(s);
    script_expect_state(s, QS_STATE_WAITING);
    s->knobs.unsettled = false;
    script_pass(s, 20 * MS);
    script_expect(s, QS_MSG_ARM);
    script_free(s);
}

static struct script *armed(const struct qs_expectation *e)
{
    struct script *s = in_run();
    script_sensor(s, 0, "heat", QS_READING_OK, 1);
    open_gate(s, e, 1);
    script_expect(s, QS_MSG_ARM);
    script_expect_state(s, QS_STATE_ARMED);
    return s;
}

static void loses_the_gate(void **state)
{
    const struct qs_expectation e = expect_below(40, 60 * S, QS_GATE_ON_TIMEOUT_FAIL);
    (void)state;
    for (int quiet = 0; quiet < 2; quiet++) {
        struct script *s = armed(&e);
        peer_ping(&s->peer, 1);
        script_expect(s, QS_MSG_PONG);
        peer_plain(&s->peer, QS_MSG_PONG);
        if (quiet) {
            peer_window(&s->peer, QS_MSG_QUIET, 4);
            peer_ping(&s->peer, 2); /* crossed: counted, not answered */
            peer_plain(&s->peer, QS_MSG_PONG);
        }
        s->sensors[0].reading.value = 41;
        script_pass(s, 100 * MS);
        script_expect(s, QS_MSG_DISARM);
        script_expect_state(s, QS_STATE_WAITING);
        peer_window(&s->peer, QS_MSG_QUIET, 4); /* both crossed the DISARM */
        peer_hold(&s->peer, 4);
        s->sensors[0].reading.value = 39;
        script_pass(s, 100 * MS);
        const struct letter *l = peer_pop(&s->peer);
        while (l && l->type == QS_MSG_WAITING) {
            l = peer_pop(&s->peer);
        }
        assert_non_null(l);
        assert_int_equal(l->type, QS_MSG_ARM);
        peer_window(&s->peer, QS_MSG_QUIET, 4); /* what crossed the first one is forgotten */
        script_pass(s, 2 * S);
        script_exit(s, 1 * MS, 0);
        script_exit(s, 1 * MS, 0);
        struct qs_msg_closed m;
        script_expect_closed(s, &m);
        assert_int_equal(m.how, QS_CLOSED_DONE);
        assert_int_equal(m.frames_in_window, 0);
        assert_int_equal(m.taints.count, 0);
        script_free(s);
    }
}

/* A long silence before the window is watched as well. */
static void watches_the_gate_to_the_last(void **state)
{
    struct qs_msg_window_why m;
    const struct qs_expectation e = expect_below(40, 60 * S, QS_GATE_ON_TIMEOUT_FAIL);
    struct script *s = in_run();
    (void)state;
    script_sensor(s, 0, "heat", QS_READING_OK, 1);
    peer_open(&s->peer, &(struct open_spec){
                            .window = 4, .iterations = 1, .lead_ns = 900 * MS, .gate = &e, .gate_count = 1});
    script_expect(s, QS_MSG_ARM);
    peer_window(&s->peer, QS_MSG_QUIET, 4);
    script_pass(s, 300 * MS);
    s->sensors[0].reading.value = 41;
    script_pass(s, 100 * MS);
    const struct letter *l = script_expect(s, QS_MSG_DISARM);
    assert_int_equal(qs_msg_decode_window_why(l->payload, l->n, &m), 0);
    assert_true(qs_text_is(m.why, "heat left its band: 41"));
    assert_int_equal(m.arming, 0);
    assert_int_equal(m.window, 4);
    script_free(s);
}

static void holds_and_arms_again(void **state)
{
    const struct qs_expectation e = expect_below(40, 60 * S, QS_GATE_ON_TIMEOUT_FAIL);
    struct script *s = armed(&e);
    (void)state;
    peer_hold(&s->peer, 4);
    script_expect_state(s, QS_STATE_WAITING);
    script_pass(s, 100 * MS);
    script_expect(s, QS_MSG_ARM);
    script_free(s);
}

/* ARM, DISARM and ARM cross one slow answer to the first: it is not taken for one to the second, and the
 * answer to the second still counts. */
static void drops_a_late_answer(void **state)
{
    const struct qs_expectation e = expect_below(40, 60 * S, QS_GATE_ON_TIMEOUT_FAIL);
    (void)state;
    for (int quiet = 0; quiet < 2; quiet++) {
        struct script *s = armed(&e);
        s->sensors[0].reading.value = 41;
        script_pass(s, 100 * MS);
        script_expect(s, QS_MSG_DISARM);
        s->sensors[0].reading.value = 39;
        script_pass(s, 100 * MS);
        script_expect(s, QS_MSG_ARM);
        assert_int_equal(s->peer.arming, 1);
        s->peer.arming = 0;
        if (quiet) {
            peer_window(&s->peer, QS_MSG_QUIET, 4);
        } else {
            peer_hold(&s->peer, 4);
        }
        script_expect_state(s, QS_STATE_ARMED);
        s->peer.arming = 1;
        peer_window(&s->peer, QS_MSG_QUIET, 4);
        script_expect_state(s, QS_STATE_DRAINING);
        script_expect_nothing(s);
        script_free(s);
    }
}

/* An ARM that was never sent has no answer. */
static void refuses_an_answer_to_nothing(void **state)
{
    const struct qs_expectation e = expect_below(40, 60 * S, QS_GATE_ON_TIMEOUT_FAIL);
    (void)state;
    for (int quiet = 0; quiet < 2; quiet++) {
        struct script *s = armed(&e);
        s->peer.arming = 1;
        if (quiet) {
            peer_window(&s->peer, QS_MSG_QUIET, 4);
        } else {
            peer_hold(&s->peer, 4);
        }
        script_expect_fatal(s);
        script_free(s);
    }
}

static void times_out_while_armed_or_draining(void **state)
{
    const struct qs_expectation e = expect_below(40, 10 * MS, QS_GATE_ON_TIMEOUT_DEFER);
    (void)state;
    for (int quiet = 0; quiet < 2; quiet++) {
        struct script *s = armed(&e);
        struct qs_msg_closed m;
        if (quiet) {
            peer_window(&s->peer, QS_MSG_QUIET, 4);
        }
        s->sensors[0].reading.value = 41;
        script_pass(s, 100 * MS);
        script_expect_closed(s, &m);
        assert_int_equal(m.gate.outcome, QS_GATE_DEFER);
        script_expect_state(s, QS_STATE_RUN_OPEN);
        script_free(s);
    }
}

/* In each state on the way: 0 waiting, 1 armed, 2 draining. */
static struct script *on_the_way(int where)
{
    const struct qs_expectation e = expect_below(40, 60 * S, QS_GATE_ON_TIMEOUT_FAIL);
    struct script *s = in_run();
    script_sensor(s, 0, "heat", QS_READING_OK, where == 0 ? 50 : 1);
    open_gate(s, &e, 1);
    script_expect(s, where == 0 ? QS_MSG_WAITING : QS_MSG_ARM);
    if (where == 2) {
        peer_window(&s->peer, QS_MSG_QUIET, 4);
        script_expect_state(s, QS_STATE_DRAINING);
    }
    return s;
}

static void cancels_on_the_way(void **state)
{
    (void)state;
    for (int where = 0; where < 3; where++) {
        struct script *s = on_the_way(where);
        struct qs_msg_closed m;
        peer_cancel(&s->peer);
        script_expect_closed(s, &m);
        assert_int_equal(m.how, QS_CLOSED_CANCELLED);
        assert_int_equal(m.iterations, 0);
        script_expect_state(s, QS_STATE_RUN_OPEN);
        assert_int_equal(qs_agent_next_deadline_ns(s->agent), s->now_ns + 3 * S); /* heartbeats only */
        script_free(s);
    }
}

static void forgets_a_window_of_a_lost_link(void **state)
{
    static const uint8_t types[] = {QS_MSG_BYE, QS_MSG_ERROR, QS_MSG_RUN_BEGIN, QS_MSG_CANCEL, QS_MSG_ACK, 0};
    (void)state;
    for (int where = 0; where < 3; where++) {
        for (size_t i = 0; i < sizeof types; i++) {
            struct script *s = on_the_way(where);
            if (types[i]) {
                peer_plain(&s->peer, types[i]);
            } else {
                script_unplug(s);
            }
            script_expect_state(s, QS_STATE_DOWN);
            assert_false(s->link_open);
            assert_int_equal(s->agent->ring.count, 0);
            assert_false(s->agent->ring.open);
            assert_int_equal(s->run_ends, 1);
            script_pass(s, 100 * S);
            script_connect(s);
            script_free(s);
        }
    }
}

static void refuses_windows_that_do_not_fit(void **state)
{
    struct script *s = in_run();
    (void)state;
    s->peer.run.b[0]++;
    open_gate(s, NULL, 0);
    assert_int_equal(script_expect_error(s), QS_CODE_UNKNOWN_RUN);
    script_expect_state(s, QS_STATE_RUN_OPEN);
    s->peer.run.b[0]--;
    script_measuring(s, 10, 1);
    script_exit(s, 1 * MS, 0);
    script_expect(s, QS_MSG_CLOSED);
    script_expect(s, QS_MSG_ITERATIONS);
    peer_open(&s->peer,
              &(struct open_spec){.iterations = 1, .first_seq = 11, .evals = 1, .phase = QS_PHASE_TUNE});
    assert_int_equal(script_expect_error(s), QS_CODE_STATE); /* that is harness mode's */
    peer_open(&s->peer, &(struct open_spec){.window = 5, .first_seq = 12, .iterations = 1});
    assert_int_equal(script_expect_error(s), QS_CODE_STATE);
    peer_open(&s->peer, &(struct open_spec){.window = 5, .first_seq = 11, .iterations = 1});
    script_expect(s, QS_MSG_ARM);
    peer_window(&s->peer, QS_MSG_QUIET, 6); /* not the one that is armed */
    script_expect_fatal(s);
    script_expect_state(s, QS_STATE_DOWN);
    script_free(s);
}

const struct CMUnitTest cases_window[] = {
    cmocka_unit_test(waits_and_says_so_once_a_second),
    cmocka_unit_test(wants_the_whole_dwell),
    cmocka_unit_test(ends_a_wait_as_the_gate_says),
    cmocka_unit_test(taints_and_runs_where_the_gate_says_so),
    cmocka_unit_test(fails_on_what_it_cannot_read),
    cmocka_unit_test(waits_for_a_stale_sensor),
    cmocka_unit_test(waits_for_a_pending_sensor),
    cmocka_unit_test(waits_for_evidence_that_takes_its_time),
    cmocka_unit_test(loses_the_gate),
    cmocka_unit_test(watches_the_gate_to_the_last),
    cmocka_unit_test(holds_and_arms_again),
    cmocka_unit_test(drops_a_late_answer),
    cmocka_unit_test(refuses_an_answer_to_nothing),
    cmocka_unit_test(times_out_while_armed_or_draining),
    cmocka_unit_test(cancels_on_the_way),
    cmocka_unit_test(forgets_a_window_of_a_lost_link),
    cmocka_unit_test(refuses_windows_that_do_not_fit),
};
const size_t cases_window_count = sizeof cases_window / sizeof cases_window[0];
