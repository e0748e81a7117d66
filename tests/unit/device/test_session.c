/* The session against a scripted agent in real time: whole runs, and every row of the table. */
#include "bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session_files.h"
#include "session_stream.h"
#include "session_traces.h"

static int new_bed_of(void **state, enum peer_kind kind)
{
    *state = bed_new(kind);
    return 0;
}

static int new_bed(void **state)
{
    return new_bed_of(state, PEER_UNIX);
}

static int new_tcp_bed(void **state)
{
    return new_bed_of(state, PEER_TLS);
}

static int new_keyed_bed(void **state)
{
    return new_bed_of(state, PEER_KEYED);
}

static int free_bed(void **state)
{
    bed_free(*state);
    return 0;
}

static void become_ready(struct bed *b)
{
    qs_session_start(b->host.session);
    host_wait(&b->host, "ready");
}

static void open_run(struct bed *b)
{
    become_ready(b);
    assert_true(host_begin(&b->host));
    host_wait(&b->host, "run_ready");
}

static void quiet_window(struct bed *b)
{
    open_run(b);
    assert_true(host_open(&b->host, 0, 0, 0));
    host_wait(&b->host, "quiet");
}

/* Takes over one type of message; what it does with it is the test's. */
static enum qs_msg_type taken;
static bool take(struct peer *p, const struct qs_frame *f)
{
    (void)p;
    return f->type == (uint8_t)taken;
}

static void it_greets_and_maps_the_clock(void **state)
{
    struct bed *b = *state;
    b->peer->held_runs = 2;
    assert_string_equal(qs_session_state_name(b->host.session), "stopped");
    assert_false(host_begin(&b->host));
    host_assert_why(&b->host, QS_E_LINK, "stopped");
    become_ready(b);
    assert_string_equal(b->host.log.data, "held a0 5-9\nheld a1 5-9\nclock\nready\n");
    assert_string_equal(b->host.facts, "{\"kernel\":\"6.1 \\\"lts\\\"\",\"machine\":\"x86_64\"}");
    assert_int_equal(b->peer->pings, 8);
    assert_true(b->host.rtt_ns >= 0);
    int64_t error = b->host.clock_offset_ns - 1000000000000;
    assert_true(error <= b->host.rtt_ns && -error <= b->host.rtt_ns);
}

static void a_run_of_two_windows(void **state)
{
    struct bed *b = *state;
    open_run(b);
    b->host.log.len = 0;
    assert_true(host_open(&b->host, 0, 0, 0));
    host_wait(&b->host, "rows 4+1");
    assert_true(b->host.silent);
    assert_false(b->host.proven);
    assert_true(qs_session_ack(b->host.session, &host_run, 5, NULL));
    assert_true(host_open(&b->host, 1, 5, 0));
    host_wait(&b->host, "rows 9+1");
    assert_string_equal(b->host.log.data, "waiting\ngrant\nquiet\nclosed 5\nrows 0+2\nrows 2+2\nrows 4+1\n"
                                          "waiting\ngrant\nquiet\nclosed 5\nrows 5+2\nrows 7+2\nrows 9+1\n");
    assert_int_equal(b->peer->last_ack, 5);
    assert_true(host_end(&b->host));
    host_wait(&b->host, "run_ended 10");
    assert_int_equal(b->host.rows, 10);
    assert_int_equal(b->host.downs, 0);
    qs_session_stop(b->host.session);
    host_idle(&b->host, 5000000);
    assert_int_equal(b->peer->byes, 1);
}

static void a_key_is_proven_by_both(void **state)
{
    struct bed *b = *state;
    open_run(b);
    assert_true(b->peer->tx_seal.on); /* and what follows is sealed */
}

/* Its middle comes after the kernel's delayed acknowledgement of QUIET (40 ms): the peer does not hurry it.
 */
static const int64_t lead_ns = 2000000000;

static void tls_proves_the_silence(void **state)
{
    struct bed *b = *state;
    open_run(b);
    taken = QS_MSG_QUIET;
    b->peer->script = take;
    assert_true(host_open(&b->host, 0, 0, lead_ns));
    host_wait(&b->host, "quiet");
    host_idle(&b->host, lead_ns / 2 + 50000000);
    peer_window_result(b->peer);
    host_wait(&b->host, "rows 4+1");
    assert_true(b->host.silent);
    assert_true(b->host.proven);
    /* without a lead there is no moment at which the segments could be read */
    b->peer->script = NULL;
    assert_true(host_open(&b->host, 1, 5, 0));
    host_wait(&b->host, "rows 9+1");
    assert_true(b->host.silent);
    assert_false(b->host.proven);
}

static void a_byte_in_the_window_is_no_proof(void **state)
{
    struct bed *b = *state;
    open_run(b);
    taken = QS_MSG_QUIET;
    b->peer->script = take;
    assert_true(host_open(&b->host, 0, 0, lead_ns));
    host_wait(&b->host, "quiet");
    host_idle(&b->host, lead_ns / 2 + 50000000);
    peer_ping(b->peer);
    host_idle(&b->host, 20000000);
    peer_window_result(b->peer);
    host_wait(&b->host, "rows 4+1");
    assert_false(b->host.silent);
    assert_false(b->host.proven);
}

static void nothing_is_sent_in_a_window(void **state)
{
    struct bed *b = *state;
    taken = QS_MSG_QUIET;
    b->peer->script = take;
    quiet_window(b);
    unsigned pings = b->peer->pings;
    assert_true(qs_session_ack(b->host.session, &host_run, 0, NULL));
    assert_false(host_hook(&b->host, 1));
    host_assert_why(&b->host, QS_E_CONFLICT, "no HOOK in state quiet");
    host_idle(&b->host, 3 * HOST_HEARTBEAT_MS * INT64_C(1000000));
    assert_int_equal(b->peer->pings, pings);
    assert_int_equal(b->peer->acks, 0);
    peer_window_result(b->peer);
    host_wait(&b->host, "rows 4+1");
    assert_true(b->host.silent);
    host_idle(&b->host, 2 * HOST_HEARTBEAT_MS * INT64_C(1000000));
    assert_int_equal(b->peer->acks, 1);
    assert_true(b->peer->pings > pings);
}

static void frames_in_a_window_are_told_as_noise(void **state)
{
    struct bed *b = *state;
    for (uint32_t i = 0; i < 5; i++) {
        taken = QS_MSG_QUIET;
        b->peer->script = take;
        if (i == 0)
            quiet_window(b);
        else {
            assert_true(host_open(&b->host, i, 5 * (uint64_t)i, 0));
            host_wait(&b->host, "quiet");
        }
        if (i == 0)
            peer_ping(b->peer);
        if (i == 1)
            peer_pong(b->peer, &(struct qs_msg_ping){.id = 1});
        if (i == 2)
            peer_waiting(b->peer);
        if (i == 3)
            peer_error(b->peer, &host_run, QS_CODE_RESOURCE, "no space");
        if (i == 4)
            assert_true(qs_session_cancel(b->host.session, &host_run, "enough", NULL));
        if (i < 4)
            peer_window_result(b->peer);
        char last[32] = "closed 0";
        if (i < 4)
            snprintf(last, sizeof last, "rows %u+1", 5 * (unsigned)i + 4);
        host_wait(&b->host, last);
        assert_false(b->host.silent);
    }
    assert_int_equal(b->host.downs, 0);
}

static void hold_and_disarm_lead_back_to_waiting(void **state)
{
    struct bed *b = *state;
    taken = QS_MSG_QUIET;
    b->peer->script = take;
    open_run(b);
    b->host.refuse_quiet = true;
    assert_true(host_open(&b->host, 0, 0, 0));
    host_wait(&b->host, "quiet"); /* at the second ARM */
    assert_non_null(strstr(b->host.log.data, "hold\ngrant\nquiet\n"));
    peer_disarm(b->peer);
    host_wait(&b->host, "disarm");
    assert_string_equal(qs_session_state_name(b->host.session), "waiting");
    peer_disarm(b->peer); /* crossed a HOLD */
    host_wait(&b->host, "disarm");
    host_idle(&b->host, 2 * HOST_HEARTBEAT_MS * INT64_C(1000000));
    assert_true(b->peer->pings > 8); /* the heart beats again */
    assert_int_equal(b->peer->answered, 1);
    b->peer->script = NULL;
    peer_window(b->peer, QS_MSG_ARM);
    host_wait(&b->host, "rows 4+1");
    assert_int_equal(b->peer->answered, 2);
    assert_true(b->host.silent);
}

/* An answer to a heartbeat must not fall into the window: the session waits for it before QUIET. */
static void quiet_waits_for_the_heartbeats_answer(void **state)
{
    struct bed *b = *state;
    open_run(b);
    taken = QS_MSG_PING;
    b->peer->script = take;
    host_idle(&b->host, 2 * HOST_HEARTBEAT_MS * INT64_C(1000000)); /* one is out and unanswered */
    b->host.log.len = 0;
    assert_true(host_open(&b->host, 0, 0, 0));
    host_wait(&b->host, "waiting");
    host_idle(&b->host, 20000000);
    assert_string_equal(qs_session_state_name(b->host.session), "armed");
    assert_string_equal(b->host.log.data, "waiting\n");
    peer_disarm(b->peer);
    host_wait(&b->host, "disarm");
}

static struct qs_msg_ping kept_ping;
static bool keep_ping(struct peer *p, const struct qs_frame *f)
{
    (void)p;
    if (f->type != QS_MSG_PING)
        return false;
    assert_int_equal(qs_msg_decode_ping(f->payload, f->len, &kept_ping), 0);
    return true;
}

static void quiet_follows_the_late_answer(void **state)
{
    struct bed *b = *state;
    open_run(b);
    b->peer->script = keep_ping;
    host_idle(&b->host, 2 * HOST_HEARTBEAT_MS * INT64_C(1000000));
    assert_true(host_open(&b->host, 0, 0, 0));
    host_wait(&b->host, "waiting");
    host_idle(&b->host, 5000000);
    peer_ping(b->peer); /* the agent may ask too */
    peer_pong(b->peer, &kept_ping);
    host_wait(&b->host, "rows 4+1");
    assert_true(b->host.silent);
}

static void cancel_ends_a_wait(void **state)
{
    struct bed *b = *state;
    taken = QS_MSG_OPEN;
    b->peer->script = take;
    open_run(b);
    assert_true(host_open(&b->host, 0, 0, 0));
    assert_true(qs_session_cancel(b->host.session, &host_run, "enough", NULL));
    b->peer->open.phase = QS_PHASE_MEASURE;
    b->peer->open.window = 0;
    peer_window(b->peer, QS_MSG_ARM); /* crossed the CANCEL: it is not answered */
    host_wait(&b->host, "closed 0");
    assert_null(strstr(b->host.log.data, "grant"));
    assert_string_equal(qs_session_state_name(b->host.session), "run_open");
    assert_true(host_end(&b->host));
    host_wait(&b->host, "run_ended 0");
}

static void refusals_lead_back(void **state)
{
    struct bed *b = *state;
    taken = QS_MSG_RUN_BEGIN;
    b->peer->script = take;
    become_ready(b);
    assert_true(host_begin(&b->host));
    peer_error(b->peer, &host_run, QS_CODE_EXECUTABLE, "no such \033 program");
    host_wait(&b->host, "error");
    host_assert_why(&b->host, QS_E_COMMAND, "no such \\x1b program");
    assert_string_equal(qs_session_state_name(b->host.session), "ready");
    peer_error(b->peer, &host_run, QS_CODE_STATE, "by the way");
    host_wait(&b->host, "error of nobody");
    b->peer->script = NULL;
    assert_true(host_begin(&b->host));
    host_wait(&b->host, "run_ready");
    taken = QS_MSG_OPEN;
    b->peer->script = take;
    assert_true(host_open(&b->host, 0, 0, 0));
    peer_error(b->peer, &host_run, QS_CODE_UNSUPPORTED, "no such sensor");
    host_wait(&b->host, "error");
    assert_string_equal(qs_session_state_name(b->host.session), "run_open");
}

static void hooks_run_outside_windows(void **state)
{
    struct bed *b = *state;
    become_ready(b);
    assert_true(host_hook(&b->host, 7));
    assert_false(host_begin(&b->host));
    host_assert_why(&b->host, QS_E_CONFLICT, "no RUN_BEGIN before the answer to HOOK");
    host_wait(&b->host, "hook_done 7");
    assert_true(host_begin(&b->host));
    host_wait(&b->host, "run_ready");
    assert_true(host_hook(&b->host, 8));
    host_wait(&b->host, "hook_done 8");
    assert_string_equal(qs_session_state_name(b->host.session), "run_open");
}

static bool pull(struct bed *b, uint32_t id)
{
    const struct qs_msg_pull m = {
        .run = host_run, .id = id, .path = qs_text_of("out"), .max_bytes = QS_PULL_MAX_BYTES};
    return host_call(&b->host, QS_MSG_PULL, &m, 0);
}

static void what_a_run_has_left_is_fetched_between_windows(void **state)
{
    struct bed *b = *state;
    become_ready(b);
    assert_true(qs_session_has(b->host.session, QS_FEATURE_PULL));
    assert_false(pull(b, 1));
    host_assert_why(&b->host, QS_E_CONFLICT, "no PULL in state ready");
    assert_true(host_begin(&b->host));
    host_wait(&b->host, "run_ready");
    assert_true(pull(b, 2));
    assert_false(pull(b, 3)); /* one after the other */
    assert_false(host_open(&b->host, 0, 0, 0));
    host_wait(&b->host, "pulled 2 4");
    const struct qs_msg_run other = {.run = {{0xA0}}};
    assert_false(host_call(&b->host, QS_MSG_RUN_END, &other, 0));
    host_assert_why(&b->host, QS_E_CONFLICT, "another run is open");
    taken = QS_MSG_PULL;
    b->peer->script = take;
    assert_true(pull(b, 4));
    peer_error(b->peer, &other.run, QS_CODE_UNKNOWN_RUN, "not of this run");
    host_wait(&b->host, "error of nobody");
    assert_false(pull(b, 5)); /* it is still awaited */
    peer_error(b->peer, &host_run, QS_CODE_UNSUPPORTED, "nothing can be fetched here");
    host_wait(&b->host, "error");
    session_traces(&b->host, b->peer);
}

static void what_is_held_comes_again(void **state)
{
    struct bed *b = *state;
    const struct qs_uid held = {{0xA0}};
    b->peer->held_runs = 2;
    become_ready(b);
    assert_false(host_resend(&b->host, &held, 9));
    host_assert_why(&b->host, QS_E_CONFLICT, "5 to 9");
    assert_false(host_resend(&b->host, &held, 4));
    host_assert_why(&b->host, QS_E_CONFLICT, "5 to 9 of this run, not 4");
    assert_false(host_resend(&b->host, &host_run, 0));
    host_assert_why(&b->host, QS_E_NOT_FOUND, "keeps no iterations");
    assert_true(host_resend(&b->host, &held, 5));
    host_wait(&b->host, "rows 7+2");
    assert_non_null(strstr(b->host.log.data, "closed 3\nrows 4+3\nclosed 2\nrows 7+2\n"));
    assert_string_equal(qs_session_state_name(b->host.session), "ready");
    taken = QS_MSG_RESEND;
    b->peer->script = take;
    assert_true(host_resend(&b->host, &held, 5));
    peer_error(b->peer, &held, QS_CODE_UNKNOWN_RUN, "gone");
    host_wait(&b->host, "error");
    assert_true(host_begin(&b->host));
    host_wait(&b->host, "run_ready");
    assert_true(host_resend(&b->host, &held, 5));
    peer_error(b->peer, &held, QS_CODE_UNKNOWN_RUN, "gone");
    host_wait(&b->host, "error");
    b->peer->script = NULL;
    assert_true(host_resend(&b->host, &held, 6));
    host_wait(&b->host, "rows 7+2");
    assert_string_equal(qs_session_state_name(b->host.session), "run_open");
    assert_true(host_open(&b->host, 0, 0, 0)); /* counting goes on as if nothing had been */
    host_wait(&b->host, "rows 4+1");
}

static void open_is_checked_before_it_is_sent(void **state)
{
    struct bed *b = *state;
    open_run(b);
    assert_false(host_open(&b->host, 0, 3, 0));
    host_assert_why(&b->host, QS_E_CONFLICT, "continues at 0");
    struct qs_msg_open m = {.run = host_run, .iterations = 1001, .max_ns = 1, .lease_ns = 9};
    assert_false(qs_session_open(b->host.session, &m, &b->host.why));
    host_assert_why(&b->host, QS_E_LIMIT, "at most 1000");
    m.iterations = 1;
    m.lease_ns = 1;
    assert_false(qs_session_open(b->host.session, &m, &b->host.why));
    host_assert_why(&b->host, QS_E_LIMIT, "lease");
    m.run.b[0] ^= 1;
    assert_false(qs_session_open(b->host.session, &m, &b->host.why));
    host_assert_why(&b->host, QS_E_CONFLICT, "another run");
    assert_string_equal(qs_session_state_name(b->host.session), "run_open");
}

static void it_comes_back_after_a_loss(void **state)
{
    struct bed *b = *state;
    open_run(b);
    peer_hang_up(b->peer);
    host_wait(&b->host, "down");
    host_assert_why(&b->host, QS_E_LINK, "closed the connection");
    assert_false(qs_session_is_ready(b->host.session));
    assert_string_equal(qs_session_state_name(b->host.session), "backoff");
    host_wait(&b->host, "ready");
    assert_int_equal(b->peer->connections, 2);
    taken = QS_MSG_HOOK;
    b->peer->script = take;
    assert_true(host_hook(&b->host, 1)); /* its answer is lost with the link */
    peer_bye(b->peer);
    host_wait(&b->host, "down");
    host_assert_why(&b->host, QS_E_LINK, "rebooting");
    host_wait(&b->host, "ready");
    assert_true(host_hook(&b->host, 2));
}

static void a_window_without_an_end_is_given_up_with_its_lease(void **state)
{
    struct bed *b = *state;
    taken = QS_MSG_QUIET;
    b->peer->script = take;
    host_lease_ns = 1;
    quiet_window(b);
    host_lease_ns = 60000000000;
    host_wait(&b->host, "down");
    host_assert_why(&b->host, QS_E_LINK, "the lease ran out");
}

static void the_agents_refusal_is_told(void **state)
{
    struct bed *b = *state;
    b->peer->key[0] ^= 1; /* the file has another one */
    qs_session_start(b->host.session);
    host_wait(&b->host, "down");
    host_assert_why(&b->host, QS_E_AUTH, "the host's proof is wrong");
}

static void every_row_was_reached(void **state)
{
    (void)state;
    assert_int_equal(host_rows_not_seen(), 0);
}

int main(void)
{
#define CASE(test)       cmocka_unit_test_setup_teardown(test, new_bed, free_bed)
#define KEYED_CASE(test) cmocka_unit_test_setup_teardown(test, new_keyed_bed, free_bed)
#define TCP_CASE(test)   cmocka_unit_test_setup_teardown(test, new_tcp_bed, free_bed)
    const struct CMUnitTest tests[] = {
        CASE(it_greets_and_maps_the_clock),
        CASE(a_run_of_two_windows),
        KEYED_CASE(a_key_is_proven_by_both),
        TCP_CASE(tls_proves_the_silence),
        TCP_CASE(a_byte_in_the_window_is_no_proof),
        CASE(nothing_is_sent_in_a_window),
        CASE(frames_in_a_window_are_told_as_noise),
        CASE(hold_and_disarm_lead_back_to_waiting),
        CASE(quiet_waits_for_the_heartbeats_answer),
        CASE(quiet_follows_the_late_answer),
        CASE(cancel_ends_a_wait),
        CASE(refusals_lead_back),
        CASE(hooks_run_outside_windows),
        CASE(what_a_run_has_left_is_fetched_between_windows),
        CASE(what_is_held_comes_again),
        CASE(open_is_checked_before_it_is_sent),
        CASE(it_comes_back_after_a_loss),
        CASE(a_window_without_an_end_is_given_up_with_its_lease),
        KEYED_CASE(the_agents_refusal_is_told),
        SESSION_FILES_CASES,
        SESSION_STREAM_CASES,
        cmocka_unit_test(every_row_was_reached),
    };
    return cmocka_run_group_tests_name("device session", tests, NULL, NULL);
}
