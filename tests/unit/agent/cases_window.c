/* The way to silence. */
#include "cases_gate.h"

#include "cases.h"
#include "peer_files.h"

#include <string.h>

#include "proto/names.h"

static void loses_the_gate(void **state)
{
    const struct qs_expectation e = gate_below(40, 60 * S, QS_GATE_ON_TIMEOUT_FAIL);
    (void)state;
    for (int quiet = 0; quiet < 2; quiet++) {
        struct script *s = gate_armed(&e);
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
    const struct qs_expectation e = gate_below(40, 60 * S, QS_GATE_ON_TIMEOUT_FAIL);
    struct script *s = gate_in_run();
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
    const struct qs_expectation e = gate_below(40, 60 * S, QS_GATE_ON_TIMEOUT_FAIL);
    struct script *s = gate_armed(&e);
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
    const struct qs_expectation e = gate_below(40, 60 * S, QS_GATE_ON_TIMEOUT_FAIL);
    (void)state;
    for (int quiet = 0; quiet < 2; quiet++) {
        struct script *s = gate_armed(&e);
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
    const struct qs_expectation e = gate_below(40, 60 * S, QS_GATE_ON_TIMEOUT_FAIL);
    (void)state;
    for (int quiet = 0; quiet < 2; quiet++) {
        struct script *s = gate_armed(&e);
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
    const struct qs_expectation e = gate_below(40, 10 * MS, QS_GATE_ON_TIMEOUT_DEFER);
    (void)state;
    for (int quiet = 0; quiet < 2; quiet++) {
        struct script *s = gate_armed(&e);
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
    const struct qs_expectation e = gate_below(40, 60 * S, QS_GATE_ON_TIMEOUT_FAIL);
    struct script *s = gate_in_run();
    script_sensor(s, 0, "heat", QS_READING_OK, where == 0 ? 50 : 1);
    gate_open(s, &e, 1);
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
    struct script *s = gate_in_run();
    (void)state;
    s->peer.run.b[0]++;
    gate_open(s, NULL, 0);
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
