/* Harness runs: the program of a run from its start to its end, whatever happens on the way. */
#include "cases.h"
#include "script.h"

#include "proto/names.h"

#include <string.h>

static const struct script_options plain;

static struct script *started(void)
{
    struct script *s = script_new(&plain);
    script_connect(s);
    script_program(s);
    return s;
}

static struct script *parked(void)
{
    struct script *s = started();
    script_park(s);
    return s;
}

static struct script *measuring(uint32_t iterations)
{
    struct script *s = parked();
    script_measuring(s, 0, iterations);
    return s;
}

static struct script *quitting(void)
{
    struct script *s = parked();
    peer_run_end(&s->peer);
    script_expect_work(s, QS_STATE_RUN_OPEN, QS_MSG_RUN_END);
    return s;
}

/* The program has finished its window with these rows. */
static void finish(struct script *s, uint32_t count)
{
    s->look.state = QS_PROGRAM_PARKED;
    s->look.done = true;
    s->look.count = count;
    qs_agent_on_wake(s->agent);
}

static struct qs_msg_run_ended expect_ended(struct script *s)
{
    struct qs_msg_run_ended m;
    const struct letter *l = script_expect(s, QS_MSG_RUN_ENDED);
    assert_int_equal(qs_msg_decode_run_ended(l->payload, l->n, &m), 0);
    script_expect_state(s, QS_STATE_READY);
    return m;
}

static void runs_one_program_for_all_windows(void **state)
{
    struct qs_msg_closed m;
    struct qs_evidence e;
    struct script *s = measuring(2);
    int64_t opened = s->now_ns;
    (void)state;
    assert_int_equal(s->go.start_at_ns, opened + 200000);
    s->rows[0] = (struct qs_port_row){.start_ns = opened + 300000, .duration_ns = 1000};
    s->rows[1] = (struct qs_port_row){.start_ns = opened + 301000, .duration_ns = 2000};
    s->now_ns = opened + 303000;
    finish(s, 2);
    script_expect_closed(s, &m);
    assert_int_equal(m.how, QS_CLOSED_DONE);
    assert_int_equal(m.iterations, 2);
    assert_int_equal(m.evals, 1);
    assert_int_equal(m.opened_ns, opened);
    assert_int_equal(m.taints.count, 0);
    assert_true(peer_has_evidence(&m, QS_SENSOR_START_DELAY, &e));
    assert_int_equal(e.after, 300000);
    script_expect(s, QS_MSG_ITERATIONS);
    script_measuring(s, 2, 1);
    assert_int_equal(s->goes, 2);
    assert_int_equal(s->starts[QS_JOB_PROGRAM], 1);
    s->rows[0].start_ns = s->now_ns;
    s->now_ns += 1 * MS;
    finish(s, 1);
    script_expect_closed(s, &m);
    script_expect(s, QS_MSG_ITERATIONS);
    peer_run_end(&s->peer);
    assert_int_equal(s->quits, 1);
    s->look.state = QS_PROGRAM_OVER;
    script_end(s, &(struct qs_port_child){.how = QS_PORT_EXITED});
    struct qs_msg_run_ended ended = expect_ended(s);
    assert_int_equal(ended.how, QS_ENDED_EXITED);
    assert_int_equal(ended.flags, 0);
    assert_int_equal(ended.seq, 3);
    script_free(s);
}

static void marks_times_that_cannot_be(void **state)
{
    struct qs_msg_closed m;
    int64_t bound = 0;
    struct script *s = measuring(4);
    int64_t t = s->now_ns;
    (void)state;
    s->rows[0] = (struct qs_port_row){.start_ns = t - 1, .duration_ns = 10};    /* before the window */
    s->rows[1] = (struct qs_port_row){.start_ns = t + 1000, .duration_ns = 10}; /* good */
    s->rows[2] = (struct qs_port_row){.start_ns = t + 1009, .duration_ns = 10}; /* inside of the last one */
    s->rows[3] = (struct qs_port_row){.start_ns = t + 2000, .duration_ns = 2 * S}; /* not over yet */
    s->now_ns += 1 * S;
    finish(s, 4);
    script_expect_closed(s, &m);
    assert_int_equal(m.how, QS_CLOSED_DONE);
    assert_int_equal(m.taints.count, 3);
    for (int32_t i = 0; i < 4; i++) {
        assert_int_equal(peer_has_taint(&m, "clock", i, &bound), i != 1);
    }
    script_free(s);
}

static void waits_for_what_is_not_done(void **state)
{
    struct qs_msg_closed m;
    int64_t value = 0;
    struct script *s = measuring(1);
    (void)state;
    qs_agent_on_wake(s->agent);
    script_expect_nothing(s);
    s->rows[0] = (struct qs_port_row){.start_ns = s->now_ns};
    finish(s, 1);
    script_expect_closed(s, &m);
    assert_true(peer_has_taint(&m, "program.wakes", -1, &value));
    assert_int_equal(value, 2); /* one is due */
    script_free(s);
}

static void ends_a_program_at_its_limits(void **state)
{
    struct qs_msg_closed m;
    struct script *s = quitting();
    (void)state;
    s->agent->heartbeat_ns = 1000 * S;
    script_pass(s, 62 * S);
    struct qs_msg_run_ended ended = expect_ended(s);
    assert_int_equal(ended.how, QS_ENDED_SIGNALLED);
    assert_int_equal(ended.flags, QS_ENDED_NO_TEARDOWN | QS_ENDED_TIMED_OUT);
    script_free(s);
    s = measuring(3);
    s->look.count = 1; /* it got so far */
    s->rows[0] = (struct qs_port_row){.start_ns = s->now_ns};
    script_pass(s, 122 * S);
    script_expect_closed(s, &m);
    assert_int_equal(m.how, QS_CLOSED_FAILED);
    assert_int_equal(m.iterations, 1);
    script_free(s);
    s = started();
    s->agent->heartbeat_ns = 1000 * S;
    script_pass(s, 62 * S);
    assert_int_equal(script_expect_error(s), QS_CODE_EXECUTABLE);
    script_expect_state(s, QS_STATE_READY);
    script_free(s);
}

static struct script *on_the_way(int where)
{
    static const struct qs_expectation never = {.flags = QS_GATE_HAS_HI, .hi = -1, .timeout_ns = 100 * S};
    struct qs_expectation e = never;
    struct script *s = parked();
    e.sensor = qs_text_of("load");
    script_sensor(s, 0, "load", QS_READING_OK, where == 0 ? 5 : -5);
    peer_open(&s->peer, &(struct open_spec){.iterations = 1, .gate = &e, .gate_count = 1, .lead_ns = 1 * S});
    if (where == 0) {
        script_expect(s, QS_MSG_WAITING);
        return s;
    }
    script_expect(s, QS_MSG_ARM);
    if (where == 2) {
        peer_window(&s->peer, QS_MSG_QUIET, 0);
        script_expect_state(s, QS_STATE_DRAINING);
    }
    return s;
}

static void fails_windows_without_a_program(void **state)
{
    struct qs_msg_closed m;
    (void)state;
    for (int where = 0; where < 3; where++) {
        struct script *s = on_the_way(where);
        script_end(s, &(struct qs_port_child){.how = QS_PORT_SIGNALLED, .code = 11});
        script_expect_closed(s, &m);
        assert_int_equal(m.how, QS_CLOSED_FAILED);
        assert_true(m.failure.n > 0);
        assert_int_equal(m.opened_ns, 0);
        script_expect_state(s, QS_STATE_RUN_OPEN);
        peer_open(&s->peer, &(struct open_spec){.window = 1, .iterations = 1});
        script_expect_closed(s, &m);
        assert_int_equal(m.how, QS_CLOSED_FAILED);
        peer_run_end(&s->peer);
        assert_int_equal(expect_ended(s).how, QS_ENDED_SIGNALLED);
        assert_int_equal(s->run_ends, 1);
        script_free(s);
    }
    struct script *s = parked();
    script_end(s, &(struct qs_port_child){.how = QS_PORT_EXITED, .code = 3});
    script_expect_state(s, QS_STATE_RUN_OPEN);
    peer_run_end(&s->peer);
    assert_int_equal(expect_ended(s).code, 3);
    script_free(s);
}

/* Whatever is said to a program that starts or quits, by state. */
static struct script *in_between(int which)
{
    return which == 0 ? started() : quitting();
}

static void talks_while_a_program_starts_and_quits(void **state)
{
    static const uint8_t last[] = {QS_MSG_ACK, QS_MSG_ERROR, QS_MSG_BYE, QS_MSG_OPEN, 0};
    (void)state;
    for (int which = 0; which < 2; which++) {
        struct script *s = in_between(which);
        peer_ping(&s->peer, 3);
        script_expect(s, QS_MSG_PONG);
        peer_plain(&s->peer, QS_MSG_PONG);
        peer_seq(&s->peer, QS_MSG_ACK, 0);
        assert_int_equal(script_expect_error(s), QS_CODE_UNKNOWN_RUN);
        peer_cancel(&s->peer);
        assert_true(s->asked);
        script_end(s, &(struct qs_port_child){.how = QS_PORT_SIGNALLED, .code = 15});
        script_expect(s, which == 0 ? QS_MSG_ERROR : QS_MSG_RUN_ENDED);
        script_expect_state(s, QS_STATE_READY);
        script_free(s);
        for (size_t i = 0; i < sizeof last; i++) {
            s = in_between(which);
            if (last[i]) {
                peer_plain(&s->peer, last[i]);
            } else {
                script_unplug(s);
            }
            script_expect_state(s, QS_STATE_ENDING);
            assert_true(s->forced);
            script_end(s, &(struct qs_port_child){.how = QS_PORT_SIGNALLED, .code = 9});
            script_expect_state(s, QS_STATE_DOWN);
            script_connect(s);
            script_free(s);
        }
    }
}

static void ends_the_program_of_a_lost_link(void **state)
{
    (void)state;
    for (int where = 0; where < 4; where++) {
        struct script *s = where < 3 ? on_the_way(where) : parked();
        script_unplug(s);
        script_expect_state(s, QS_STATE_ENDING);
        assert_true(s->forced);
        assert_false(s->agent->ring.open);
        script_pass(s, 5 * S); /* it does not come back from the kernel */
        script_expect_state(s, QS_STATE_DOWN);
        script_free(s);
    }
    struct script *s = measuring(1);
    script_unplug(s);
    script_expect_state(s, QS_STATE_ALONE);
    s->rows[0] = (struct qs_port_row){.start_ns = s->now_ns};
    finish(s, 1);
    script_expect_state(s, QS_STATE_ENDING);
    assert_int_equal(s->agent->ring.count, 1);
    script_end(s, &(struct qs_port_child){.how = QS_PORT_SIGNALLED, .code = 9});
    script_expect_state(s, QS_STATE_DOWN);
    script_free(s);
}

static void refuses_programs_that_cannot_be(void **state)
{
    struct script *s = script_new(&plain);
    (void)state;
    script_connect(s);
    s->refuse_start = true;
    peer_run_begin(&s->peer,
                   &(struct run_spec){.argv = (const char *const[]){"tool", NULL}, .benchmark = "b"});
    script_expect_error(s);
    script_expect_state(s, QS_STATE_READY);
    assert_int_equal(s->run_ends, 1);
    s->refuse_start = false;
    script_program(s);
    s->look = (struct qs_port_look){.state = QS_PROGRAM_PARKED, .layout = 1, .metrics = 1};
    qs_agent_on_wake(s->agent); /* a metric without a name */
    assert_true(s->forced);
    script_expect_nothing(s);
    script_end(s, &(struct qs_port_child){.how = QS_PORT_SIGNALLED, .code = 9});
    script_expect_error(s);
    s->agent->features = QS_FEATURE_COMMAND; /* as it were without a port for it */
    peer_run_begin(&s->peer,
                   &(struct run_spec){.argv = (const char *const[]){"tool", NULL}, .benchmark = "b"});
    assert_int_equal(script_expect_error(s), QS_CODE_UNSUPPORTED);
    script_free(s);
}

/* A window of rising evaluations; the clock is read on both of its sides, where it can be. */
static void tunes(void **state)
{
    struct qs_msg_closed m;
    struct qs_evidence e;
    struct script *s = parked();
    (void)state;
    for (uint32_t known = 0; known < 2; known++) {
        s->clock = (struct qs_port_clock){.precision_ns = known ? 52 : 0, .accuracy_ns = 104};
        peer_open(&s->peer, &(struct open_spec){.window = known,
                                                .first_seq = known * 2,
                                                .iterations = 2,
                                                .evals = 5,
                                                .phase = QS_PHASE_TUNE});
        script_expect(s, QS_MSG_ARM);
        peer_window(&s->peer, QS_MSG_QUIET, known);
        assert_int_equal(s->go.phase, QS_PHASE_TUNE);
        assert_int_equal(s->go.evals, 5);
        s->rows[0] = (struct qs_port_row){.start_ns = s->now_ns, .duration_ns = 50};
        s->rows[1] = (struct qs_port_row){.start_ns = s->now_ns + 50, .duration_ns = 60};
        s->now_ns += 1 * MS;
        finish(s, 2);
        script_expect_closed(s, &m);
        assert_int_equal(m.phase, QS_PHASE_TUNE);
        assert_int_equal(m.evals, 5);
        assert_int_equal(peer_has_evidence(&m, QS_SENSOR_CLOCK_PRECISION, &e), known == 1);
        assert_int_equal(peer_has_evidence(&m, QS_SENSOR_CLOCK_ACCURACY, &e), known == 1);
        script_expect(s, QS_MSG_ITERATIONS);
    }
    assert_int_equal(e.before, 104);
    assert_int_equal(e.after, 111);
    script_measuring(s, 4, 1); /* what comes after it has nothing of that */
    s->rows[0].start_ns = s->now_ns;
    s->now_ns += 1 * MS;
    finish(s, 1);
    script_expect_closed(s, &m);
    assert_false(peer_has_evidence(&m, QS_SENSOR_CLOCK_PRECISION, &e));
    script_free(s);
}

/* What a program cannot do is refused before its window; the run stays open. */
static void refuses_more_evaluations_than_there_may_be(void **state)
{
    static const struct {
        enum qs_phase phase;
        uint32_t evals, iterations;
        bool taken;
    } asked[] = {
        {QS_PHASE_MEASURE, 4, 1, false}, {QS_PHASE_TUNE, 1, 4, false}, {QS_PHASE_MEASURE, 3, 4, true}};
    struct qs_msg_run_ready ready;
    struct script *s = started();
    (void)state;
    s->look = (struct qs_port_look){.state = QS_PROGRAM_PARKED, .layout = 1, .evals_max = 3};
    qs_agent_on_wake(s->agent);
    const struct letter *l = script_expect(s, QS_MSG_RUN_READY);
    assert_int_equal(qs_msg_decode_run_ready(l->payload, l->n, &ready), 0);
    assert_int_equal(ready.evals_max, 3);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        peer_open(&s->peer, &(struct open_spec){.iterations = asked[i].iterations,
                                                .evals = asked[i].evals,
                                                .phase = asked[i].phase});
        if (asked[i].taken) {
            script_expect(s, QS_MSG_ARM);
        } else {
            assert_int_equal(script_expect_error(s), QS_CODE_UNSUPPORTED);
            script_expect_state(s, QS_STATE_RUN_OPEN);
        }
    }
    peer_cancel(&s->peer);
    script_expect(s, QS_MSG_CLOSED);
    peer_open(&s->peer, &(struct open_spec){.iterations = 3, .evals = 1, .phase = QS_PHASE_TUNE});
    script_expect(s, QS_MSG_ARM); /* 1, 2 and 3 of them */
    script_free(s);
}

const struct CMUnitTest cases_harness[] = {
    cmocka_unit_test(runs_one_program_for_all_windows),
    cmocka_unit_test(marks_times_that_cannot_be),
    cmocka_unit_test(waits_for_what_is_not_done),
    cmocka_unit_test(ends_a_program_at_its_limits),
    cmocka_unit_test(fails_windows_without_a_program),
    cmocka_unit_test(talks_while_a_program_starts_and_quits),
    cmocka_unit_test(ends_the_program_of_a_lost_link),
    cmocka_unit_test(refuses_programs_that_cannot_be),
    cmocka_unit_test(tunes),
    cmocka_unit_test(refuses_more_evaluations_than_there_may_be),
};
const size_t cases_harness_count = sizeof cases_harness / sizeof cases_harness[0];
