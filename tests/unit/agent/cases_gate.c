/* The gate: what it waits for, and how a wait ends. */
#include "cases_gate.h"

#include "cases.h"
#include "peer_files.h"

#include <string.h>

#include "proto/names.h"

static const struct script_options plain;

struct script *gate_in_run(void)
{
    struct script *s = script_new(&plain);
    script_connect(s);
    script_run(s, &(struct run_spec){.capture = false});
    return s;
}

struct qs_expectation gate_below(int64_t hi, int64_t timeout_ns, enum qs_gate_on_timeout on_timeout)
{
    return (struct qs_expectation){.sensor = qs_text_of("heat"),
                                   .flags = QS_GATE_HAS_HI,
                                   .hi = hi,
                                   .timeout_ns = timeout_ns,
                                   .on_timeout = on_timeout};
}

void gate_open(struct script *s, const struct qs_expectation *gate, size_t n)
{
    peer_open(&s->peer, &(struct open_spec){.window = 4,
                                            .phase = QS_PHASE_MEASURE,
                                            .iterations = 2,
                                            .lead_ns = 30 * MS,
                                            .gate = gate,
                                            .gate_count = n});
}

struct script *gate_armed(const struct qs_expectation *e)
{
    struct script *s = gate_in_run();
    script_sensor(s, 0, "heat", QS_READING_OK, 1);
    gate_open(s, e, 1);
    script_expect(s, QS_MSG_ARM);
    script_expect_state(s, QS_STATE_ARMED);
    return s;
}

static void expect_waiting_for(struct script *s, unsigned line, int64_t value, uint8_t status, int64_t eta_ns)
{
    struct qs_msg_waiting m;
    const struct letter *l = script_expect(s, QS_MSG_WAITING);
    assert_int_equal(qs_msg_decode_waiting(l->payload, l->n, &m), 0);
    assert_int_equal(m.expectation, line);
    assert_int_equal(m.value, value);
    assert_int_equal(m.status, status);
    assert_int_equal(m.eta_ns, eta_ns);
    assert_true(qs_text_is(m.note, "spinner[7] 99%"));
}

static void expect_waiting(struct script *s, int64_t value, uint8_t status, int64_t eta_ns)
{
    expect_waiting_for(s, 0, value, status, eta_ns);
}

static void waits_and_says_so_once_a_second(void **state)
{
    struct script *s = gate_in_run();
    const struct qs_expectation e = gate_below(40, 60 * S, QS_GATE_ON_TIMEOUT_TAINT);
    struct qs_msg_closed m;
    struct qs_reading r;
    (void)state;
    script_sensor(s, 0, "heat", QS_READING_OK, 50);
    gate_open(s, &e, 1);
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
    struct script *s = gate_in_run();
    struct qs_expectation e = gate_below(40, 60 * S, QS_GATE_ON_TIMEOUT_TAINT);
    (void)state;
    e.flags |= QS_GATE_HAS_LO;
    e.lo = 30;
    e.dwell_ns = 500 * MS;
    script_sensor(s, 0, "heat", QS_READING_OK, 35);
    gate_open(s, &e, 1);
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
        struct script *s = gate_in_run();
        struct qs_msg_closed m;
        const struct qs_expectation e = gate_below(40, 500 * MS, cases[i].on_timeout);
        script_sensor(s, 0, "heat", QS_READING_OK, 50);
        gate_open(s, &e, 1);
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
    struct script *s = gate_in_run();
    struct qs_msg_closed m;
    struct qs_taint t;
    const struct qs_expectation e = gate_below(40, 0, QS_GATE_ON_TIMEOUT_TAINT);
    (void)state;
    script_sensor(s, 0, "heat", QS_READING_OK, 50);
    gate_open(s, &e, 1);
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
        struct script *s = gate_in_run();
        struct qs_msg_closed m;
        struct qs_expectation e = gate_below(40, 1 * S, QS_GATE_ON_TIMEOUT_FAIL);
        script_sensor(s, 0, "heat", statuses[i], 0);
        gate_open(s, &e, 1);
        expect_waiting(s, 0, statuses[i], -1);
        script_pass(s, 1 * S);
        script_expect_closed(s, &m);
        assert_int_equal(m.gate.outcome, QS_GATE_FAIL);
        e.flags |= QS_GATE_UNREADABLE_OK;
        gate_open(s, &e, 1);
        script_expect(s, QS_MSG_ARM);
        script_free(s);
    }
}

static void waits_for_a_stale_sensor(void **state)
{
    struct script *s = gate_in_run();
    const struct qs_expectation e = gate_below(40, 0, QS_GATE_ON_TIMEOUT_FAIL);
    (void)state;
    script_sensor(s, 0, "heat", QS_READING_STALE, 0);
    gate_open(s, &e, 1);
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
    struct script *s = gate_in_run();
    const struct qs_expectation e = gate_below(40, 0, QS_GATE_ON_TIMEOUT_FAIL);
    (void)state;
    for (int ends = 1; ends >= 0; ends--) {
        script_sensor(s, 0, "heat", QS_READING_OK, 1);
        s->sensors[0].reading.pending = true;
        gate_open(s, &e, 1);
        for (int i = 0; i < 199; i++) {
            script_pass(s, 100 * MS);
            peer_plain(&s->peer, QS_MSG_PONG);
        }
        script_expect_state(s, QS_STATE_WAITING);
        s->sensors[0].reading.pending = !ends;
        script_pass(s, 200 * MS);
        script_expect_state(s, ends ? QS_STATE_ARMED : QS_STATE_RUN_OPEN);
        script_free(s);
        s = gate_in_run();
    }
    script_free(s);
}

/* Without a word: there is no expectation to tell of. */
static void waits_for_evidence_that_takes_its_time(void **state)
{
    struct script *s = gate_in_run();
    (void)state;
    s->knobs.unsettled = true;
    gate_open(s, NULL, 0);
    script_pass(s, 500 * MS);
    script_expect_nothing(s);
    script_expect_state(s, QS_STATE_WAITING);
    s->knobs.unsettled = false;
    script_pass(s, 20 * MS);
    script_expect(s, QS_MSG_ARM);
    script_free(s);
}

/* At 45 it opens at once; once it was above, it wants 38, also where it was above only on the way to silence.
 */
static void comes_down_again(void **state)
{
    const struct qs_expectation gate[] = {gate_below(45, 60 * S, QS_GATE_ON_TIMEOUT_FAIL),
                                          {.sensor = qs_text_of("heat"),
                                           .flags = QS_GATE_HAS_HI | QS_GATE_RETURN,
                                           .hi = 38,
                                           .timeout_ns = 60 * S}};
    struct script *s = gate_in_run();
    (void)state;
    script_sensor(s, 0, "heat", QS_READING_OK, 45);
    gate_open(s, gate, 2);
    script_expect(s, QS_MSG_ARM); /* it was not above */
    s->sensors[0].reading.value = 46;
    script_pass(s, 100 * MS);
    script_expect(s, QS_MSG_DISARM);
    s->sensors[0].reading.value = 39;
    script_pass(s, 2 * S);
    script_expect_state(s, QS_STATE_WAITING);
    expect_waiting_for(s, 1, 39, QS_READING_OK, -1);
    while (peer_pop(&s->peer)) {
    }
    s->sensors[0].reading.value = 38;
    script_pass(s, 100 * MS);
    script_expect(s, QS_MSG_ARM);
    s->sensors[0].reading.value = 45; /* it has been down: the upper bound counts alone */
    script_pass(s, 100 * MS);
    script_expect_nothing(s);
    script_expect_state(s, QS_STATE_ARMED);
    script_free(s);
}

const struct CMUnitTest cases_gate[] = {
    cmocka_unit_test(waits_and_says_so_once_a_second),
    cmocka_unit_test(wants_the_whole_dwell),
    cmocka_unit_test(ends_a_wait_as_the_gate_says),
    cmocka_unit_test(taints_and_runs_where_the_gate_says_so),
    cmocka_unit_test(fails_on_what_it_cannot_read),
    cmocka_unit_test(waits_for_a_stale_sensor),
    cmocka_unit_test(waits_for_a_pending_sensor),
    cmocka_unit_test(waits_for_evidence_that_takes_its_time),
    cmocka_unit_test(comes_down_again),
};
const size_t cases_gate_count = sizeof cases_gate / sizeof cases_gate[0];
