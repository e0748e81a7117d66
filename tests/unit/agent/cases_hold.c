/* Gates that keep processors busy until the window begins. */
#include "cases.h"
#include "script.h"

#include <string.h>

static const struct script_options plain = {.no_pull = false};

enum { BUSY, HEAT, CLOCK }; /* sensors, in the gate's order */

#define TOP 1800000

/* A quiet machine, cool enough, and the clock at its highest: the window of 1 iteration, 30 ms of lead. */
static void open_gate(struct script *s, const struct qs_expectation *clock)
{
    const struct qs_expectation gate[] = {
        {.sensor = qs_text_of("busy"), .flags = QS_GATE_HAS_HI, .hi = 100, .timeout_ns = 5 * S},
        {.sensor = qs_text_of("thermal:x"),
         .flags = QS_GATE_HAS_HI,
         .hi = 50000,
         .timeout_ns = 100 * S,
         .on_timeout = QS_GATE_ON_TIMEOUT_FAIL},
        *clock};
    peer_open(&s->peer, &(struct open_spec){.window = 4,
                                            .phase = QS_PHASE_MEASURE,
                                            .iterations = 1,
                                            .lead_ns = 30 * MS,
                                            .gate = gate,
                                            .gate_count = 3});
}

static const struct qs_expectation to_top = {.sensor = {.p = "freq:p_khz", .n = 10},
                                             .flags = QS_GATE_HAS_LO | QS_GATE_HOLD,
                                             .lo = TOP,
                                             .timeout_ns = 10 * S};

static struct script *opened(int64_t heat_mc, const struct qs_expectation *clock)
{
    struct script *s = script_new(&plain);
    script_connect(s);
    assert_true((s->peer.agent.features & QS_FEATURE_HOLD) != 0);
    script_run(s, &(struct run_spec){.capture = false});
    script_sensor(s, BUSY, "busy", QS_READING_OK, 0);
    script_sensor(s, HEAT, "thermal:x", QS_READING_OK, heat_mc);
    script_sensor(s, CLOCK, "freq:p_khz", QS_READING_OK, 600000);
    open_gate(s, clock);
    return s;
}

static void reads(struct script *s, int sensor, int64_t value)
{
    s->sensors[sensor].reading.value = value;
}

/* The host hears nothing of its own to say meanwhile. */
static void wait_for(struct script *s, int64_t ns)
{
    for (int64_t left = ns; left > 0; left -= S) {
        script_pass(s, left < S ? left : S);
        peer_plain(&s->peer, QS_MSG_PONG);
    }
}

static const struct letter *after_waiting(struct script *s, uint8_t type)
{
    const struct letter *l = peer_pop(&s->peer);
    while (l && l->type == QS_MSG_WAITING) {
        l = peer_pop(&s->peer);
    }
    assert_string_equal(l ? qs_msg_name(l->type) : "nothing", qs_msg_name(type));
    return l;
}

static void to_armed(struct script *s)
{
    after_waiting(s, QS_MSG_ARM);
    script_expect_state(s, QS_STATE_ARMED);
}

static void close_window(struct script *s, struct qs_msg_closed *m)
{
    script_expect_state(s, QS_STATE_MEASURING);
    script_exit(s, MS, 0);
    script_expect_closed(s, m);
}

/* The load begins when all else is met, and ends directly before the deciding reading. */
static void lasts_until_the_window_begins(void **state)
{
    struct script *s = opened(60000, &to_top);
    struct qs_msg_closed m;
    (void)state;
    wait_for(s, 20 * S); /* twice what the clock has: it is not its turn */
    assert_false(s->burden.on);
    reads(s, HEAT, 50000);
    script_pass(s, 100 * MS);
    assert_true(s->burden.on);
    assert_string_equal(s->burden.cpus, "");
    reads(s, BUSY, 1000000); /* that is us */
    wait_for(s, 9 * S);
    script_expect_state(s, QS_STATE_WAITING);
    reads(s, CLOCK, TOP - 1);
    script_pass(s, 20 * MS);
    script_expect_state(s, QS_STATE_WAITING);
    reads(s, CLOCK, TOP);
    script_pass(s, 20 * MS); /* soon */
    to_armed(s);
    script_pass(s, 300 * MS);
    assert_true(s->burden.on);
    peer_window(&s->peer, QS_MSG_QUIET, 4);
    script_pass(s, 29 * MS);
    assert_true(s->burden.on);
    assert_int_equal(s->burden.stops, 0);
    script_pass(s, 1 * MS);
    assert_false(s->burden.on);
    assert_int_equal(s->burden.stops, 1);
    close_window(s, &m);
    assert_int_equal(m.gate.outcome, QS_GATE_OPEN);
    assert_int_equal(s->burden.stops, 1);
    struct qs_iter it = qs_list_iter(&m.gate.readings);
    struct qs_reading r;
    assert_true(qs_list_reading(&it, &r)); /* how busy it was before, and how long ago */
    assert_int_equal(r.value, 0);
    assert_in_range(r.age_ns, 9 * S + 350 * MS, 9 * S + 400 * MS);
    assert_true(qs_list_reading(&it, &r) && qs_list_reading(&it, &r));
    assert_int_equal(r.value, TOP);
    script_free(s);
}

/* A clock that falls between the load's end and the deciding reading: all begins anew. */
static void is_looked_at_last(void **state)
{
    struct script *s = opened(40000, &to_top);
    (void)state;
    assert_true(s->burden.on); /* with the first look */
    script_expect_state(s, QS_STATE_WAITING);
    reads(s, CLOCK, TOP);
    script_pass(s, 20 * MS);
    to_armed(s);
    peer_window(&s->peer, QS_MSG_QUIET, 4);
    reads(s, CLOCK, 600000);
    script_pass(s, 30 * MS);
    script_expect(s, QS_MSG_DISARM);
    script_expect_state(s, QS_STATE_WAITING);
    assert_false(s->burden.on);
    reads(s, BUSY, 101); /* nor is anything else taken for granted now */
    wait_for(s, S);
    assert_false(s->burden.on);
    reads(s, BUSY, 100);
    script_pass(s, 100 * MS);
    assert_true(s->burden.on);
    reads(s, CLOCK, TOP);
    script_pass(s, 20 * MS);
    to_armed(s);
    script_free(s);
}

/* A reading from before the load does not count. */
static void is_not_there_by_itself(void **state)
{
    struct script *s = script_new(&plain);
    (void)state;
    script_connect(s);
    script_run(s, &(struct run_spec){.capture = false});
    script_sensor(s, BUSY, "busy", QS_READING_OK, 0);
    script_sensor(s, HEAT, "thermal:x", QS_READING_OK, 40000);
    script_sensor(s, CLOCK, "freq:p_khz", QS_READING_OK, TOP);
    open_gate(s, &to_top);
    script_expect_state(s, QS_STATE_WAITING);
    assert_true(s->burden.on);
    script_pass(s, 20 * MS);
    to_armed(s);
    script_free(s);
}

/* Ten seconds of load in all, however often the device becomes too hot for it. */
static void gives_up_in_time(void **state)
{
    struct script *s = opened(40000, &to_top);
    struct qs_msg_closed m;
    int64_t value = 0;
    (void)state;
    wait_for(s, 6 * S);
    reads(s, HEAT, 50001);
    script_pass(s, 20 * MS);
    assert_false(s->burden.on); /* it warms nothing that is to cool down */
    wait_for(s, 30 * S);
    assert_false(s->burden.on);
    reads(s, HEAT, 45000);
    wait_for(s, 3900 * MS);
    assert_true(s->burden.on);
    script_expect_state(s, QS_STATE_WAITING);
    wait_for(s, 200 * MS);
    to_armed(s);
    assert_true(s->burden.on); /* as high as it goes */
    peer_window(&s->peer, QS_MSG_QUIET, 4);
    script_pass(s, 30 * MS);
    assert_false(s->burden.on);
    close_window(s, &m);
    assert_int_equal(m.gate.outcome, QS_GATE_TAINTED);
    assert_true(peer_has_taint(&m, "gate:freq:p_khz", -1, &value));
    assert_int_equal(value, 600000);
    script_free(s);
}

/* While the host has others to wait for nothing is kept busy longer than a moment, nor is it counted. */
static void is_put_off(void **state)
{
    struct script *s = opened(40000, &to_top);
    (void)state;
    wait_for(s, 6 * S);
    reads(s, HEAT, 60000);
    script_pass(s, 20 * MS); /* six of its seconds are over */
    reads(s, HEAT, 40000);
    wait_for(s, 3 * S);
    reads(s, CLOCK, TOP);
    script_pass(s, 20 * MS);
    to_armed(s);
    peer_hold(&s->peer, 4);
    script_expect_state(s, QS_STATE_WAITING);
    assert_false(s->burden.on);
    reads(s, CLOCK, 600000);
    wait_for(s, 9 * S); /* all of it again */
    assert_true(s->burden.on);
    script_expect_state(s, QS_STATE_WAITING);
    reads(s, CLOCK, TOP);
    script_pass(s, 20 * MS);
    to_armed(s);
    script_free(s);
}

/* Nothing can be kept busy: it is said at once. */
static void cannot_be(void **state)
{
    static const enum qs_gate_on_timeout ways[] = {QS_GATE_ON_TIMEOUT_TAINT, QS_GATE_ON_TIMEOUT_FAIL};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct script *s = script_new(&plain);
        struct qs_expectation clock = to_top;
        clock.on_timeout = ways[i];
        script_connect(s);
        script_run(s, &(struct run_spec){.capture = false});
        script_sensor(s, BUSY, "busy", QS_READING_OK, 0);
        script_sensor(s, HEAT, "thermal:x", QS_READING_OK, 40000);
        script_sensor(s, CLOCK, "freq:p_khz", QS_READING_OK, 600000);
        s->burden.answer = QS_LOAD_FAILED;
        open_gate(s, &clock);
        if (i == 0) {
            to_armed(s);
            peer_window(&s->peer, QS_MSG_QUIET, 4);
            script_pass(s, 30 * MS);
            script_expect_state(s, QS_STATE_MEASURING);
        } else {
            after_waiting(s, QS_MSG_CLOSED);
        }
        script_free(s);
    }
}

/* What does not let go would run into the window: that does not begin. */
static void waits_for_its_end(void **state)
{
    struct script *s = opened(40000, &to_top);
    (void)state;
    reads(s, CLOCK, TOP);
    script_pass(s, 20 * MS);
    to_armed(s);
    s->burden.linger = 3;
    peer_window(&s->peer, QS_MSG_QUIET, 4);
    script_pass(s, 30 * MS);
    script_expect(s, QS_MSG_DISARM);
    script_expect_state(s, QS_STATE_WAITING);
    wait_for(s, S);
    script_expect_state(s, QS_STATE_ARMED);
    script_free(s);
}

static void ends_with_the_wait(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct script *s = opened(40000, &to_top);
        wait_for(s, S);
        assert_true(s->burden.on);
        if (i == 0) {
            peer_cancel(&s->peer);
            after_waiting(s, QS_MSG_CLOSED);
        } else {
            script_unplug(s);
        }
        assert_false(s->burden.on);
        assert_int_equal(s->burden.stops, 1);
        script_free(s);
    }
}

/* A clock that cannot be read: busy for its dwell, whatever it does. */
static void may_be_blind(void **state)
{
    const struct qs_expectation blind = {.sensor = qs_text_of("freq:none_khz"),
                                         .flags = QS_GATE_HAS_LO | QS_GATE_UNREADABLE_OK | QS_GATE_HOLD,
                                         .lo = TOP,
                                         .dwell_ns = 1 * S,
                                         .timeout_ns = 10 * S};
    struct script *s = opened(40000, &blind);
    (void)state;
    wait_for(s, 1000 * MS);
    script_expect_state(s, QS_STATE_WAITING);
    assert_true(s->burden.on);
    wait_for(s, 60 * MS);
    to_armed(s);
    peer_window(&s->peer, QS_MSG_QUIET, 4);
    script_pass(s, 30 * MS);
    script_expect_state(s, QS_STATE_MEASURING);
    script_free(s);
}

const struct CMUnitTest cases_hold[] = {
    cmocka_unit_test(lasts_until_the_window_begins),
    cmocka_unit_test(is_looked_at_last),
    cmocka_unit_test(is_not_there_by_itself),
    cmocka_unit_test(gives_up_in_time),
    cmocka_unit_test(is_put_off),
    cmocka_unit_test(cannot_be),
    cmocka_unit_test(waits_for_its_end),
    cmocka_unit_test(ends_with_the_wait),
    cmocka_unit_test(may_be_blind),
};
const size_t cases_hold_count = sizeof cases_hold / sizeof cases_hold[0];
