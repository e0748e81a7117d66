/* Tracers beside a run, under a scripted port. */
#include "cases.h"
#include "script.h"

#include <string.h>

static const struct script_options plain;

static void ask(struct script *s, uint32_t id, const struct qs_uid *run)
{
    uint8_t mem[64];
    struct qs_build argv;
    qs_build_init(&argv, mem, sizeof mem);
    qs_build_text(&argv, qs_text_of("tracer"));
    const struct qs_msg_trace m = {.run = *run,
                                   .id = id,
                                   .argv = qs_build_list(&argv),
                                   .settle_ns = 500 * MS,
                                   .stop_ns = 2 * S,
                                   .max_bytes = 100};
    size_t at = peer_begin(&s->peer);
    assert_true(qs_msg_encode_trace(&s->peer.w, &m));
    peer_end(&s->peer, at, QS_MSG_TRACE);
}

static void stop(struct script *s, uint32_t id, const struct qs_uid *run)
{
    const struct qs_msg_trace_stop m = {.run = *run, .id = id};
    size_t at = peer_begin(&s->peer);
    assert_true(qs_msg_encode_trace_stop(&s->peer.w, &m));
    peer_end(&s->peer, at, QS_MSG_TRACE_STOP);
}

static struct qs_msg_traced expect_traced(struct script *s, uint32_t id, enum qs_trace_status status)
{
    struct qs_msg_traced m;
    const struct letter *l = script_expect(s, QS_MSG_TRACED);
    assert_int_equal(qs_msg_decode_traced(l->payload, l->n, &m), 0);
    assert_int_equal(m.id, id);
    assert_int_equal(m.status, status);
    return m;
}

static struct script *in_run(void)
{
    struct script *s = script_new(&plain);
    script_connect(s);
    script_run(s, &(struct run_spec){.capture = false});
    return s;
}

/* A tracer of the run stands. */
static struct script *traced(void)
{
    struct script *s = in_run();
    ask(s, 7, &s->peer.run);
    script_pass(s, 500 * MS);
    expect_traced(s, 7, QS_TRACE_RUNS);
    script_expect_state(s, QS_STATE_RUN_OPEN);
    return s;
}

static void goes_around_a_window(void **state)
{
    (void)state;
    struct script *s = in_run();
    int64_t began = s->now_ns;
    assert_int_not_equal(s->peer.agent.features & QS_FEATURE_TRACE, 0);
    ask(s, 7, &s->peer.run);
    script_expect_work(s, QS_STATE_RUN_OPEN, QS_MSG_TRACE);
    script_expect_nothing(s);
    script_pass(s, 499 * MS);
    script_expect_nothing(s);
    script_pass(s, 1 * MS);
    struct qs_msg_traced m = expect_traced(s, 7, QS_TRACE_RUNS);
    assert_int_equal(m.started_ns, began);
    assert_int_equal(m.stopped_ns, 0);
    script_measuring(s, 0, 1);
    script_exit(s, 10 * MS, 0);
    script_expect(s, QS_MSG_CLOSED);
    script_expect(s, QS_MSG_ITERATIONS);
    int64_t told = s->now_ns;
    stop(s, 7, &s->peer.run);
    script_expect_work(s, QS_STATE_RUN_OPEN, QS_MSG_TRACE_STOP);
    assert_int_equal(s->tracer.asked, 1);
    script_pass(s, 30 * MS);
    script_tracer_ends(s);
    m = expect_traced(s, 7, QS_TRACE_STOPPED);
    assert_int_equal(m.started_ns, began);
    assert_int_equal(m.stopped_ns, told);
    assert_int_equal(m.total_bytes, 10);
    assert_int_equal(m.flags, 0);
    assert_int_equal(m.why.n, 0);
    script_expect_state(s, QS_STATE_RUN_OPEN);
    script_free(s);
}

static void says_what_does_not_start_or_stand(void **state)
{
    (void)state;
    struct script *s = in_run();
    s->tracer.refuse = true;
    ask(s, 1, &s->peer.run);
    struct qs_msg_traced m = expect_traced(s, 1, QS_TRACE_MISSING);
    assert_int_equal(m.started_ns, 0);
    assert_true(qs_text_is(m.why, "no such tracer"));
    s->tracer.refuse = false;
    ask(s, 2, &s->peer.run);
    script_pass(s, 100 * MS);
    script_tracer_ends(s);
    m = expect_traced(s, 2, QS_TRACE_MISSING); /* although it has left a file */
    assert_int_equal(m.flags, QS_TRACE_ENDED_EARLY);
    assert_true(qs_text_is(m.why, "it ended"));
    script_expect_state(s, QS_STATE_RUN_OPEN);
    ask(s, 3, &s->peer.run);
    script_pass(s, 100 * MS);
    peer_cancel(&s->peer); /* ends the settling */
    expect_traced(s, 3, QS_TRACE_RUNS);
    script_free(s);
}

static void notices_one_that_has_ended_by_itself(void **state)
{
    (void)state;
    struct script *s = traced();
    int64_t ended = s->now_ns;
    script_tracer_ends(s);
    script_expect_nothing(s);
    script_pass(s, 200 * MS);
    stop(s, 7, &s->peer.run);
    struct qs_msg_traced m = expect_traced(s, 7, QS_TRACE_STOPPED);
    assert_int_equal(m.flags, QS_TRACE_ENDED_EARLY);
    assert_int_equal(m.stopped_ns, ended);
    script_expect_state(s, QS_STATE_RUN_OPEN);
    script_free(s);
}

/* SIGINT, SIGKILL, and giving up. */
static void ends_one_that_does_not_want_to(void **state)
{
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        struct script *s = traced();
        s->tracer.file_is_gone = lost;
        stop(s, 7, &s->peer.run);
        peer_cancel(&s->peer); /* it is being ended already */
        peer_ping(&s->peer, 1);
        script_expect(s, QS_MSG_PONG);
        script_pass(s, 1999 * MS);
        assert_int_equal(s->tracer.forced, 0);
        peer_ping(&s->peer, 2);
        script_expect(s, QS_MSG_PONG);
        script_pass(s, 1 * MS);
        assert_int_equal(s->tracer.forced, 1);
        if (lost) {
            for (int i = 0; i < 5; i++) {
                peer_ping(&s->peer, 3);
                script_expect(s, QS_MSG_PONG);
                script_pass(s, 1 * S);
            }
        } else {
            script_tracer_ends(s);
        }
        struct qs_msg_traced m = expect_traced(s, 7, lost ? QS_TRACE_MISSING : QS_TRACE_STOPPED);
        assert_int_equal(m.flags, QS_TRACE_KILLED);
        script_free(s);
    }
}

static void refuses_what_has_no_place(void **state)
{
    (void)state;
    struct qs_uid other = {{1}};
    struct script *s = in_run();
    stop(s, 7, &s->peer.run);
    assert_int_equal(script_expect_error(s), QS_CODE_STATE);
    ask(s, 7, &other);
    assert_int_equal(script_expect_error(s), QS_CODE_UNKNOWN_RUN);
    script_free(s);
    s = traced();
    ask(s, 8, &s->peer.run);
    assert_int_equal(script_expect_error(s), QS_CODE_STATE);
    stop(s, 8, &s->peer.run);
    assert_int_equal(script_expect_error(s), QS_CODE_STATE);
    stop(s, 7, &other);
    assert_int_equal(script_expect_error(s), QS_CODE_UNKNOWN_RUN);
    peer_run_end(&s->peer); /* takes the tracer along */
    script_expect(s, QS_MSG_RUN_ENDED);
    assert_false(s->tracer.runs);
    peer_bytes(&s->peer, QS_MSG_TRACE, "x", 1);
    script_expect_fatal(s);
    script_free(s);
}

static void offers_none_where_the_port_has_none(void **state)
{
    (void)state;
    struct script *s = script_new(&(struct script_options){.no_tracer = true});
    script_connect(s);
    assert_int_equal(s->peer.agent.features & QS_FEATURE_TRACE, 0);
    script_run(s, &(struct run_spec){.capture = false});
    ask(s, 7, &s->peer.run);
    assert_int_equal(script_expect_error(s), QS_CODE_UNSUPPORTED);
    script_free(s);
}

/* Acknowledgements, heartbeats and farewells have their place while a tracer settles or ends. */
static void talks_meanwhile(void **state)
{
    (void)state;
    for (int ending = 0; ending < 2; ending++) {
        for (int last = 0; last < 3; last++) {
            struct script *s = ending ? traced() : in_run();
            ending ? stop(s, 7, &s->peer.run) : ask(s, 7, &s->peer.run);
            peer_ping(&s->peer, 1);
            script_expect(s, QS_MSG_PONG);
            const struct qs_msg_pong pong = {.id = 1};
            size_t at = peer_begin(&s->peer);
            assert_true(qs_msg_encode_pong(&s->peer.w, &pong));
            peer_end(&s->peer, at, QS_MSG_PONG);
            peer_seq(&s->peer, QS_MSG_ACK, 0);
            assert_int_equal(script_expect_error(s), QS_CODE_UNKNOWN_RUN);
            if (last == 0) {
                script_unplug(s);
            } else if (last == 1) {
                const struct qs_msg_bye bye = {.why = qs_text_of("over")};
                at = peer_begin(&s->peer);
                assert_true(qs_msg_encode_bye(&s->peer.w, &bye));
                peer_end(&s->peer, at, QS_MSG_BYE);
            } else {
                const struct qs_msg_error error = {
                    .code = QS_CODE_INTERNAL, .blame = QS_WIRE_BLAME_HOST, .text = qs_text_of("over")};
                at = peer_begin(&s->peer);
                assert_true(qs_msg_encode_error(&s->peer.w, &error));
                peer_end(&s->peer, at, QS_MSG_ERROR);
            }
            script_expect_state(s, QS_STATE_DOWN);
            assert_false(s->tracer.runs);
            script_free(s);
        }
    }
}

/* The end of the traced program takes no deadline away. */
static void outlives_the_program(void **state)
{
    (void)state;
    for (int ending = 0; ending < 2; ending++) {
        struct script *s = script_new(&plain);
        script_connect(s);
        script_program(s);
        script_park(s);
        ask(s, 7, &s->peer.run);
        if (ending) {
            script_pass(s, 500 * MS);
            expect_traced(s, 7, QS_TRACE_RUNS);
            stop(s, 7, &s->peer.run);
        }
        script_exit(s, 1 * MS, 3);
        script_expect_nothing(s);
        script_pass(s, ending ? 2 * S : 500 * MS);
        if (ending) {
            assert_int_equal(s->tracer.forced, 1);
            script_tracer_ends(s);
        }
        expect_traced(s, 7, ending ? QS_TRACE_STOPPED : QS_TRACE_RUNS);
        peer_run_end(&s->peer); /* and nobody is asked to quit */
        script_expect(s, QS_MSG_RUN_ENDED);
        script_expect_state(s, QS_STATE_READY);
        script_free(s);
    }
}

const struct CMUnitTest cases_trace[] = {
    cmocka_unit_test(goes_around_a_window),
    cmocka_unit_test(says_what_does_not_start_or_stand),
    cmocka_unit_test(notices_one_that_has_ended_by_itself),
    cmocka_unit_test(ends_one_that_does_not_want_to),
    cmocka_unit_test(refuses_what_has_no_place),
    cmocka_unit_test(offers_none_where_the_port_has_none),
    cmocka_unit_test(talks_meanwhile),
    cmocka_unit_test(outlives_the_program),
};
const size_t cases_trace_count = sizeof cases_trace / sizeof cases_trace[0];
