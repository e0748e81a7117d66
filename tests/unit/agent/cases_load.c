/* Processors that are kept busy: on request, between runs, and for how long. */
#include "cases.h"
#include "script.h"

#include <string.h>

static const struct script_options plain = {.no_pull = false};

static void ask(struct script *s, const char *cpus, uint32_t for_ms)
{
    const struct qs_msg_load m = {.id = 5, .cpus = qs_text_of(cpus), .for_ms = for_ms};
    size_t at = peer_begin(&s->peer);
    assert_true(qs_msg_encode_load(&s->peer.w, &m));
    peer_end(&s->peer, at, QS_MSG_LOAD);
}

static void load(struct script *s, const char *cpus, uint32_t for_ms, enum qs_load_outcome wanted)
{
    struct qs_msg_loaded m;
    ask(s, cpus, for_ms);
    const struct letter *l = script_expect(s, QS_MSG_LOADED);
    assert_int_equal(qs_msg_decode_loaded(l->payload, l->n, &m), 0);
    assert_int_equal(m.id, 5);
    assert_int_equal(m.outcome, wanted);
}

static struct script *connected(void)
{
    struct script *s = script_new(&plain);
    script_connect(s);
    assert_true((s->peer.agent.features & QS_FEATURE_LOAD) != 0);
    return s;
}

static void lasts_as_long_as_was_asked(void **state)
{
    struct script *s = connected();
    (void)state;
    load(s, "0-3,6", 2500, QS_LOAD_ON);
    assert_string_equal(s->burden.cpus, "0-3,6");
    script_expect_state(s, QS_STATE_READY);
    assert_int_equal(qs_agent_next_deadline_ns(s->agent), s->now_ns + 2500 * MS);
    script_pass(s, 2499 * MS);
    assert_true(s->burden.on);
    script_pass(s, 1 * MS);
    assert_false(s->burden.on);
    assert_int_equal(s->burden.stops, 1);
    script_pass(s, 400 * MS);
    assert_int_equal(s->burden.stops, 1); /* once */
    script_free(s);
}

static void is_replaced_and_ended(void **state)
{
    struct script *s = connected();
    (void)state;
    load(s, "0", 2500, QS_LOAD_ON);
    script_pass(s, 2 * S);
    load(s, "", 2500, QS_LOAD_ON);
    assert_int_equal(s->burden.stops, 1);
    assert_string_equal(s->burden.cpus, "");
    script_pass(s, 1 * S); /* beyond the first one's time */
    assert_true(s->burden.on);
    load(s, "", 0, QS_LOAD_OFF);
    assert_false(s->burden.on);
    assert_int_equal(s->burden.stops, 2);
    load(s, "", 0, QS_LOAD_OFF); /* there is none */
    assert_int_equal(s->burden.stops, 2);
    script_free(s);
}

static void says_what_cannot_be(void **state)
{
    struct script *s = connected();
    (void)state;
    load(s, "0", 10000, QS_LOAD_ON);
    s->burden.answer = QS_LOAD_NO_CPUS;
    load(s, "77", 10000, QS_LOAD_NO_CPUS);
    assert_int_equal(s->burden.stops, 1); /* nor goes the one before on */
    assert_false(s->burden.on);
    s->burden.answer = QS_LOAD_FAILED;
    load(s, "", 10000, QS_LOAD_FAILED);
    script_free(s);
}

/* Whatever is measured, or would be taken for something's child, begins without it. */
static void ends_with_what_comes(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct script *s = connected();
        load(s, "", 60000, QS_LOAD_ON);
        if (i == 0) {
            script_run(s, &(struct run_spec){.capture = false});
        } else if (i == 1) {
            const char *const argv[] = {"hook", NULL};
            peer_hook(&s->peer, 1, argv, S);
        } else if (i == 2) {
            script_unplug(s);
        } else {
            qs_agent_stop(s->agent, "the end");
        }
        assert_false(s->burden.on);
        assert_int_equal(s->burden.stops, 1);
        if (i == 1) {
            script_exit(s, MS, 0);
        }
        script_free(s);
    }
}

static void refuses_what_is_not_agreed(void **state)
{
    struct script *s = script_new(&(struct script_options){.no_load = true});
    (void)state;
    script_connect(s);
    assert_int_equal(s->peer.agent.features & QS_FEATURE_LOAD, 0);
    ask(s, "", 1000);
    script_expect_fatal(s);
    script_free(s);
    s = script_new(&plain);
    s->peer.features = ~(uint32_t)QS_FEATURE_AMID;
    script_connect(s);
    script_run(s, &(struct run_spec){.capture = false});
    ask(s, "", 1000); /* in a run */
    script_expect_fatal(s);
    assert_false(s->burden.on);
    script_free(s);
}

/* Between the windows of a run, where that is agreed: nothing else of it begins or ends with the load on. */
static void ends_before_a_window(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct script *s = connected();
        script_run(s, &(struct run_spec){.capture = false});
        load(s, "", 60000, QS_LOAD_ON);
        script_expect_state(s, QS_STATE_RUN_OPEN);
        if (i == 0) {
            peer_open(&s->peer, &(struct open_spec){.window = 1, .phase = QS_PHASE_MEASURE, .iterations = 1});
        } else if (i == 1) {
            peer_run_end(&s->peer);
        } else {
            script_unplug(s);
        }
        assert_false(s->burden.on);
        assert_int_equal(s->burden.stops, 1);
        script_free(s);
    }
    struct script *s = connected(); /* one that cannot be ended */
    script_run(s, &(struct run_spec){.capture = false});
    load(s, "", 60000, QS_LOAD_ON);
    s->burden.linger = 100;
    peer_open(&s->peer, &(struct open_spec){.window = 1, .phase = QS_PHASE_MEASURE, .iterations = 1});
    script_expect(s, QS_MSG_ERROR);
    script_expect_state(s, QS_STATE_RUN_OPEN);
    script_free(s);
}

/* A gate that warms the device: heat from 30 to 38 degrees, and a quiet processor for 300 ms. */
static void open_cold(struct script *s, enum qs_gate_on_timeout on_timeout)
{
    const struct qs_expectation gate[] = {{.sensor = qs_text_of("busy"),
                                           .flags = QS_GATE_HAS_HI,
                                           .hi = 100,
                                           .dwell_ns = 300 * MS,
                                           .timeout_ns = 2 * S,
                                           .on_timeout = QS_GATE_ON_TIMEOUT_FAIL},
                                          {.sensor = qs_text_of("heat"),
                                           .flags = QS_GATE_HAS_LO | QS_GATE_HAS_HI | QS_GATE_HEAT,
                                           .lo = 30000,
                                           .hi = 38000,
                                           .timeout_ns = 30 * S,
                                           .on_timeout = on_timeout}};
    script_connect(s);
    script_run(s, &(struct run_spec){.capture = false});
    script_sensor(s, 0, "busy", QS_READING_OK, 0);
    script_sensor(s, 1, "heat", QS_READING_OK, 20000);
    peer_open(&s->peer, &(struct open_spec){.window = 4,
                                            .phase = QS_PHASE_MEASURE,
                                            .iterations = 2,
                                            .lead_ns = 30 * MS,
                                            .gate = gate,
                                            .gate_count = 2});
}

/* Seconds pass; what it says of its wait is not looked at. */
static void wait_for(struct script *s, int64_t ns)
{
    for (int64_t left = ns; left > 0; left -= S) {
        script_pass(s, left < S ? left : S);
        peer_plain(&s->peer, QS_MSG_PONG);
    }
}

static void expect_after_waiting(struct script *s, uint8_t type)
{
    const struct letter *l = peer_pop(&s->peer);
    while (l && l->type == QS_MSG_WAITING) {
        l = peer_pop(&s->peer);
    }
    assert_string_equal(l ? qs_msg_name(l->type) : "nothing", qs_msg_name(type));
}

static void heats_what_is_too_cold(void **state)
{
    struct script *s = script_new(&plain);
    struct qs_msg_waiting m;
    (void)state;
    open_cold(s, QS_GATE_ON_TIMEOUT_FAIL);
    assert_true(s->burden.on);
    assert_string_equal(s->burden.cpus, "");
    const struct letter *l = script_expect(s, QS_MSG_WAITING);
    assert_int_equal(qs_msg_decode_waiting(l->payload, l->n, &m), 0);
    assert_int_equal(m.expectation, 1); /* what it heats for, not what stands before it */
    assert_int_equal(m.value, 20000);
    s->sensors[0].reading.value = 1000; /* the heating itself */
    wait_for(s, 10 * S);                /* five times the other's timeout, which does not run */
    script_expect_state(s, QS_STATE_WAITING);
    s->sensors[1].reading.value = 30000; /* in the band, not yet far enough */
    wait_for(s, S);
    assert_true(s->burden.on);
    s->sensors[1].reading.value = 31999;
    wait_for(s, S);
    assert_true(s->burden.on);
    s->sensors[1].reading.value = 32000; /* a quarter of it */
    s->sensors[0].reading.value = 0;
    script_pass(s, 100 * MS);
    assert_false(s->burden.on);
    script_expect_state(s, QS_STATE_WAITING);
    s->sensors[1].reading.value = 30000; /* nor does it begin again at once */
    script_pass(s, 100 * MS);            /* the dwell begins with the first look without it */
    script_pass(s, 200 * MS);
    script_expect_state(s, QS_STATE_WAITING);
    script_pass(s, 100 * MS);
    script_expect_state(s, QS_STATE_ARMED);
    assert_false(s->burden.on);
    assert_int_equal(s->burden.stops, 1);
    script_free(s);
}

/* A limit without a timeout ends the wait at its next look, the heating too, and not before it is passed. */
static void ends_heating_above_a_limit(void **state)
{
    struct script *s = script_new(&plain);
    const struct qs_expectation gate[] = {{.sensor = qs_text_of("heat"),
                                           .flags = QS_GATE_HAS_LO | QS_GATE_HEAT,
                                           .lo = 30000,
                                           .timeout_ns = 30 * S,
                                           .on_timeout = QS_GATE_ON_TIMEOUT_FAIL},
                                          {.sensor = qs_text_of("skin"),
                                           .flags = QS_GATE_HAS_HI | QS_GATE_UNREADABLE_OK,
                                           .hi = 60000,
                                           .on_timeout = QS_GATE_ON_TIMEOUT_FAIL}};
    struct qs_msg_closed m;
    (void)state;
    script_connect(s);
    script_run(s, &(struct run_spec){.capture = false});
    script_sensor(s, 0, "heat", QS_READING_OK, 20000);
    script_sensor(s, 1, "skin", QS_READING_OK, 60000);
    peer_open(&s->peer, &(struct open_spec){
                            .window = 4, .iterations = 2, .lead_ns = MS, .gate = gate, .gate_count = 2});
    wait_for(s, 5 * S);
    script_expect_state(s, QS_STATE_WAITING);
    assert_true(s->burden.on);
    s->sensors[1].reading.status = QS_READING_UNREADABLE;
    wait_for(s, S);
    script_expect_state(s, QS_STATE_WAITING);
    script_sensor(s, 1, "skin", QS_READING_OK, 60001);
    wait_for(s, S);
    script_expect_state(s, QS_STATE_RUN_OPEN);
    assert_false(s->burden.on);
    const struct letter *l = peer_pop(&s->peer);
    while (l && l->type == QS_MSG_WAITING) {
        l = peer_pop(&s->peer);
    }
    assert_non_null(l);
    assert_int_equal(qs_msg_decode_closed(l->payload, l->n, &m), 0);
    assert_int_equal(m.how, QS_CLOSED_GATE_TIMEOUT);
    assert_int_equal(m.gate.outcome, QS_GATE_FAIL);
    script_free(s);
}

/* What does not end at once is waited for; too cold again, the gate is lost. */
static void opens_without_heat_alone(void **state)
{
    struct script *s = script_new(&plain);
    (void)state;
    open_cold(s, QS_GATE_ON_TIMEOUT_FAIL);
    s->burden.linger = 3;
    s->sensors[1].reading.value = 33000;
    wait_for(s, 600 * MS); /* three times it has not ended: nothing has begun to dwell before 400 ms */
    script_expect_state(s, QS_STATE_WAITING);
    assert_int_equal(s->burden.stops, 4);
    wait_for(s, 200 * MS);
    script_expect_state(s, QS_STATE_ARMED);
    s->sensors[1].reading.value = 29999;
    script_pass(s, 100 * MS);
    script_expect_state(s, QS_STATE_WAITING);
    assert_true(s->burden.on);
    script_free(s);
}

static void stops_when_it_cannot_know(void **state)
{
    struct script *s = script_new(&plain);
    (void)state;
    open_cold(s, QS_GATE_ON_TIMEOUT_FAIL);
    s->sensors[1].reading.status = QS_READING_STALE;
    script_pass(s, 100 * MS);
    assert_true(s->burden.on); /* a reading will come */
    s->sensors[1].reading.status = QS_READING_UNREADABLE;
    script_pass(s, 100 * MS);
    assert_false(s->burden.on);
    script_free(s);
}

static void heats_no_longer_than_it_may(void **state)
{
    static const struct {
        enum qs_gate_on_timeout on_timeout;
        enum qs_agent_state state;
    } cases[] = {{QS_GATE_ON_TIMEOUT_DEFER, QS_STATE_RUN_OPEN}, {QS_GATE_ON_TIMEOUT_TAINT, QS_STATE_ARMED}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct script *s = script_new(&plain);
        open_cold(s, cases[i].on_timeout);
        wait_for(s, 29900 * MS);
        assert_true(s->burden.on);
        wait_for(s, S);
        script_expect_state(s, cases[i].state);
        assert_false(s->burden.on);
        assert_int_equal(s->burden.stops, 1);
        script_free(s);
    }
}

static void ends_heating_with_the_wait(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct script *s = script_new(&plain);
        open_cold(s, QS_GATE_ON_TIMEOUT_FAIL);
        wait_for(s, S);
        if (i == 0) {
            peer_cancel(&s->peer);
            expect_after_waiting(s, QS_MSG_CLOSED);
        } else {
            script_unplug(s);
        }
        assert_false(s->burden.on);
        assert_int_equal(s->burden.stops, 1);
        script_free(s);
    }
}

/* Where nothing can heat, it is tried once, and the others are judged. */
static void says_that_it_stays_cold(void **state)
{
    struct script *s = script_new(&plain);
    (void)state;
    s->burden.answer = QS_LOAD_FAILED;
    open_cold(s, QS_GATE_ON_TIMEOUT_DEFER);
    s->burden.answer = 0;
    wait_for(s, 20 * S);
    assert_false(s->burden.on);
    script_expect_state(s, QS_STATE_WAITING);
    wait_for(s, 11 * S);
    expect_after_waiting(s, QS_MSG_CLOSED);
    script_free(s);
}

/* A processor that does not let go of its work: nothing begins beside it, and it is ended until it ends. */
static void is_ended_until_it_ends(void **state)
{
    struct script *s = connected();
    (void)state;
    load(s, "", 60000, QS_LOAD_ON);
    s->burden.linger = 4;
    load(s, "0", 1000, QS_LOAD_FAILED);
    assert_int_equal(qs_agent_next_deadline_ns(s->agent), s->now_ns + 1 * S);
    const char *const argv[] = {"hook", NULL};
    peer_hook(&s->peer, 1, argv, S);
    struct qs_msg_hook_done done;
    const struct letter *l = script_expect(s, QS_MSG_HOOK_DONE);
    assert_int_equal(qs_msg_decode_hook_done(l->payload, l->n, &done), 0);
    assert_int_equal(done.how, QS_HOOK_NOT_STARTED);
    peer_run_begin(&s->peer, &(struct run_spec){.argv = argv});
    assert_int_equal(script_expect_error(s), QS_CODE_RESOURCE);
    script_expect_state(s, QS_STATE_READY);
    assert_int_equal(s->burden.stops, 3);
    script_pass(s, 1 * S);
    assert_int_equal(s->burden.stops, 4);
    assert_true(s->burden.on);
    script_pass(s, 1 * S);
    assert_int_equal(s->burden.stops, 5);
    assert_false(s->burden.on);
    peer_plain(&s->peer, QS_MSG_PONG);
    script_pass(s, 2 * S);
    assert_int_equal(s->burden.stops, 5);
    peer_plain(&s->peer, QS_MSG_PONG);
    script_run(s, &(struct run_spec){.capture = false});
    script_free(s);
}

const struct CMUnitTest cases_load[] = {
    cmocka_unit_test(lasts_as_long_as_was_asked), cmocka_unit_test(is_replaced_and_ended),
    cmocka_unit_test(says_what_cannot_be),        cmocka_unit_test(ends_with_what_comes),
    cmocka_unit_test(refuses_what_is_not_agreed), cmocka_unit_test(ends_before_a_window),
    cmocka_unit_test(heats_what_is_too_cold),     cmocka_unit_test(opens_without_heat_alone),
    cmocka_unit_test(stops_when_it_cannot_know),  cmocka_unit_test(heats_no_longer_than_it_may),
    cmocka_unit_test(ends_heating_with_the_wait), cmocka_unit_test(says_that_it_stays_cold),
    cmocka_unit_test(is_ended_until_it_ends),     cmocka_unit_test(ends_heating_above_a_limit),
};
const size_t cases_load_count = sizeof cases_load / sizeof cases_load[0];
