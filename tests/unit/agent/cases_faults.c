/* What a host gets wrong and how it is told; guests; frames that are too small. */
#include "cases.h"
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct script_options plain;

/* The session ends with these words. */
static void expect_end(struct script *s, const char *words)
{
    struct qs_msg_error m;
    const struct letter *l = script_expect(s, QS_MSG_ERROR);
    assert_int_equal(qs_msg_decode_error(l->payload, l->n, &m), 0);
    assert_int_equal(m.code, QS_CODE_PROTOCOL);
    assert_int_equal(m.blame, QS_WIRE_BLAME_HOST);
    if (!memmem(m.text.p, m.text.n, words, strlen(words))) {
        fail_msg("'%.*s' does not say '%s'", (int)m.text.n, m.text.p, words);
    }
    assert_false(s->link_open);
    script_free(s);
}

static struct script *in_state(enum qs_agent_state state)
{
    struct script *s = script_new(&(struct script_options){.key = state == QS_STATE_AUTH});
    if (state == QS_STATE_HELLO || state == QS_STATE_AUTH) {
        script_plug(s);
    } else {
        script_connect(s);
    }
    if (state == QS_STATE_AUTH) {
        peer_hello(&s->peer, 1000);
        script_expect(s, QS_MSG_HELLO_AGENT);
    }
    if (state == QS_STATE_RUN_OPEN || state == QS_STATE_ARMED || state == QS_STATE_MEASURING) {
        script_run(s, &(struct run_spec){.capture = false});
    }
    if (state == QS_STATE_ARMED) {
        peer_open(&s->peer, &(struct open_spec){.iterations = 1, .phase = QS_PHASE_MEASURE});
        script_expect(s, QS_MSG_ARM);
    } else if (state == QS_STATE_MEASURING) {
        script_measuring(s, 0, 1);
    }
    script_expect_state(s, state);
    return s;
}

static void names_what_is_malformed(void **state)
{
    static const struct {
        enum qs_agent_state state;
        uint8_t type;
    } cases[] = {{QS_STATE_AUTH, QS_MSG_AUTH},        {QS_STATE_READY, QS_MSG_PING},
                 {QS_STATE_READY, QS_MSG_RUN_BEGIN},  {QS_STATE_READY, QS_MSG_HOOK},
                 {QS_STATE_READY, QS_MSG_ACK},        {QS_STATE_READY, QS_MSG_RESEND},
                 {QS_STATE_READY, QS_MSG_HAVE},       {QS_STATE_READY, QS_MSG_PUT},
                 {QS_STATE_READY, QS_MSG_PUT_DATA},   {QS_STATE_READY, QS_MSG_STAGE},
                 {QS_STATE_READY, QS_MSG_CLEAN},      {QS_STATE_RUN_OPEN, QS_MSG_OPEN},
                 {QS_STATE_RUN_OPEN, QS_MSG_RUN_END}, {QS_STATE_RUN_OPEN, QS_MSG_PULL},
                 {QS_STATE_RUN_OPEN, QS_MSG_TRACE},   {QS_STATE_RUN_OPEN, QS_MSG_TRACE_STOP},
                 {QS_STATE_ARMED, QS_MSG_QUIET},      {QS_STATE_ARMED, QS_MSG_HOLD},
                 {QS_STATE_ARMED, QS_MSG_CANCEL}};
    char words[64];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct script *s = in_state(cases[i].state);
        peer_bytes(&s->peer, cases[i].type, "x", 1);
        snprintf(words, sizeof words, "%s: ", qs_msg_name(cases[i].type));
        expect_end(s, words);
    }
    struct script *s = in_state(QS_STATE_MEASURING);
    peer_bytes(&s->peer, QS_MSG_CANCEL, "x", 1);
    expect_end(s, "CANCEL: ");
    s = in_state(QS_STATE_HELLO);
    peer_bytes(&s->peer, QS_MSG_HELLO_HOST, "x", 1); /* before a hello of ours nobody could read an ERROR */
    script_expect_state(s, QS_STATE_DOWN);
    assert_false(s->link_open);
    script_free(s);
}

static void says_what_has_no_place(void **state)
{
    (void)state;
    struct script *s = in_state(QS_STATE_READY);
    peer_bytes(&s->peer, QS_MSG_FACTS, "x", 1);
    expect_end(s, "(FACTS) is not for an agent");
    s = in_state(QS_STATE_READY);
    peer_bytes(&s->peer, 100, "x", 1);
    expect_end(s, "message type 100 (");
    s = in_state(QS_STATE_READY);
    peer_bytes(&s->peer, QS_MSG_OPEN, "x", 1);
    expect_end(s, "OPEN is not expected in state ready");
    s = in_state(QS_STATE_READY);
    qs_agent_on_bytes(s->agent, (const uint8_t *)"no frame at all", 16);
    expect_end(s, "what arrived is not a frame: ");
}

/* Until a request is answered, no message is taken but what keeps the session and ends the work. */
static void takes_one_request_at_a_time(void **state)
{
    static const uint8_t talk[] = {QS_MSG_PING,  QS_MSG_PONG, QS_MSG_ACK,
                                   QS_MSG_ERROR, QS_MSG_BYE,  QS_MSG_CANCEL};
    const char *const argv[] = {"tool", NULL};
    char words[96];
    (void)state;
    for (uint8_t type = 1; type <= QS_MSG_LAST; type++) {
        for (int in_run = 0; in_run < 2; in_run++) {
            if (qs_msg_accept(type, QS_SIDE_HOST) != 1 || memchr(talk, type, sizeof talk)) {
                continue;
            }
            struct script *s = in_state(in_run ? QS_STATE_RUN_OPEN : QS_STATE_READY);
            peer_hook(&s->peer, 1, argv, 1000000000);
            peer_bytes(&s->peer, type, "x", 1);
            snprintf(words, sizeof words, "%s is not expected in state %s, before the answer to HOOK",
                     qs_msg_name(type), in_run ? "run_open" : "ready");
            expect_end(s, words);
        }
    }
}

/* Each request has its phase. */
static void takes_a_request_in_its_phase(void **state)
{
    char words[96];
    (void)state;
    for (uint8_t type = 1; type <= QS_MSG_LAST; type++) {
        const struct qs_request *request = qs_request_of(type);
        for (int in_run = 0; request && in_run < 2; in_run++) {
            struct script *s = in_state(in_run ? QS_STATE_RUN_OPEN : QS_STATE_READY);
            peer_bytes(&s->peer, type, "x", 1);
            bool taken = request->phases & (in_run ? QS_REQUEST_RUN : QS_REQUEST_IDLE);
            snprintf(words, sizeof words, taken ? "%s: " : "%s is not expected in state", qs_msg_name(type));
            expect_end(s, words);
        }
    }
}

/* What a peer says, for later. */
struct said {
    uint8_t bytes[2 * QS_HELLO_MAX_BYTES];
    size_t n;
};

static void keep(void *ctx, const uint8_t *bytes, size_t n)
{
    struct said *said = ctx;
    memcpy(said->bytes + said->n, bytes, n);
    said->n += n;
}

/* Somebody was greeted before the agent has to do with him: his hello and his proof come at once. */
static void lets_a_guest_in(void **state)
{
    uint8_t greeting[QS_HELLO_MAX_BYTES], nonce[QS_NONCE_BYTES];
    enum { RIGHT, WRONG, UNPROVEN };
    (void)state;
    for (int how = RIGHT; how <= UNPROVEN; how++) {
        struct script *s = script_new(&(struct script_options){.key = true});
        struct said said = {.n = 0};
        void (*to_agent)(void *, const uint8_t *, size_t) = s->peer.deliver;
        s->peer.deliver = keep;
        s->peer.ctx = &said;
        peer_hello(&s->peer, 1000);
        const uint8_t *hello = said.bytes + QS_FRAME_HEADER_BYTES;
        size_t n = said.n - QS_FRAME_HEADER_BYTES;
        assert_int_equal(qs_agent_greeting(s->agent, hello, n - 1, nonce, greeting, sizeof greeting), 0);
        assert_int_equal(qs_agent_greeting(s->agent, hello, n, nonce, greeting, 20), 0);
        peer_receive(&s->peer, greeting,
                     qs_agent_greeting(s->agent, hello, n, nonce, greeting, sizeof greeting));
        script_expect(s, QS_MSG_HELLO_AGENT);
        assert_int_equal(s->agent->state, QS_STATE_DOWN);
        if (how != UNPROVEN) {
            s->key[0] = (uint8_t)(s->key[0] ^ (how == WRONG));
            peer_auth(&s->peer, s->key, sizeof s->key);
            s->key[0] = (uint8_t)(s->key[0] ^ (how == WRONG));
        }
        s->link_open = true;
        s->peer.deliver = to_agent;
        s->peer.ctx = s;
        assert_int_equal(qs_agent_on_guest(s->agent, nonce, said.bytes, said.n), how == RIGHT);
        if (how == RIGHT) {
            script_expect(s, QS_MSG_AUTH); /* and no second hello */
            script_expect(s, QS_MSG_HELD);
            script_expect_state(s, QS_STATE_READY);
            peer_ping(&s->peer, 1);
            script_expect(s, QS_MSG_PONG);
            script_unplug(s);
            script_plug(s); /* the next one is none */
            peer_hello(&s->peer, 1000);
            script_expect(s, QS_MSG_HELLO_AGENT);
        } else if (how == WRONG) {
            assert_int_equal(script_expect_error(s), QS_CODE_AUTH);
            assert_false(s->link_open);
        } else {
            script_expect_nothing(s);
            script_expect_state(s, QS_STATE_AUTH);
        }
        script_free(s);
    }
}

static void expect_bye(struct script *s)
{
    struct qs_msg_bye m;
    const struct letter *l = script_expect(s, QS_MSG_BYE);
    assert_int_equal(qs_msg_decode_bye(l->payload, l->n, &m), 0);
    assert_true(qs_text_is(m.why, "it is late"));
    script_expect_nothing(s);
}

/* The agent is told to end: what runs ends with it, and whoever is there is told. */
static void says_goodbye(void **state)
{
    (void)state;
    struct script *s = in_state(QS_STATE_READY);
    qs_agent_stop(s->agent, "it is late");
    expect_bye(s);
    peer_hook(&s->peer, 1, (const char *const[]){"tool", NULL}, 1 * S);
    qs_agent_stop(s->agent, "it is late");
    assert_true(s->forced);
    expect_bye(s);
    script_free(s);
    s = in_state(QS_STATE_MEASURING);
    qs_agent_stop(s->agent, "it is late");
    assert_true(s->forced);
    expect_bye(s);
    script_free(s);
    s = in_state(QS_STATE_MEASURING);
    script_unplug(s);
    qs_agent_stop(s->agent, "it is late");
    assert_true(s->forced);
    script_expect_nothing(s);
    script_free(s);
}

static struct script *in_small_frames(void)
{
    struct script *s = script_new(&plain);
    s->peer.max_frame_bytes = QS_FRAME_FLOOR_BYTES;
    script_connect(s);
    return s;
}

static void expect_cut(struct script *s, bool lists, struct qs_msg_closed *m)
{
    script_expect_closed(s, m);
    assert_int_equal(m->output.n, 0);
    assert_int_equal(m->output_bytes, 20000);
    assert_int_equal(m->taints.count > 0, lists);
    assert_int_equal(m->evidence.count > 0, lists);
}

/* Where a frame has no room for all of a window, its output goes first, then its lists; its iterations never.
 */
static void cuts_what_no_frame_can_hold(void **state)
{
    enum { MANY = 600 };
    struct qs_msg_closed m;
    (void)state;
    for (int lists = 0; lists < 2; lists++) {
        struct script *s = in_small_frames();
        size_t rows = 0;
        s->output_bytes = 20000;
        script_run(s, &(struct run_spec){.capture = true, .output_max_bytes = 30000});
        script_measuring(s, 0, lists ? 1 : MANY);
        for (int i = 0; i < (lists ? 1 : MANY); i++) {
            script_exit(s, 1, 9); /* each has its taint */
        }
        expect_cut(s, lists, &m);
        for (const struct letter *l = peer_pop(&s->peer); l; l = peer_pop(&s->peer)) {
            struct qs_msg_iterations rows_of;
            assert_true(l->n <= QS_FRAME_FLOOR_BYTES);
            assert_int_equal(qs_msg_decode_iterations(l->payload, l->n, &rows_of), 0);
            assert_int_equal(rows_of.first_index, rows);
            rows += rows_of.rows.count;
        }
        assert_int_equal(rows, m.iterations);
        script_free(s);
    }
    struct script *s = script_new(&plain); /* whole at first, for a later host of smaller frames cut */
    s->output_bytes = 20000;
    script_connect(s);
    script_run(s, &(struct run_spec){.capture = true, .output_max_bytes = 30000});
    script_measuring(s, 0, 1);
    script_exit(s, 1, 9);
    script_expect_closed(s, &m);
    assert_int_equal(m.output.n, 20000);
    script_unplug(s);
    s->peer.max_frame_bytes = QS_FRAME_FLOOR_BYTES;
    script_plug(s);
    peer_hello(&s->peer, 1000);
    script_expect(s, QS_MSG_HELLO_AGENT);
    script_expect(s, QS_MSG_HELD);
    peer_seq(&s->peer, QS_MSG_RESEND, 0);
    expect_cut(s, true, &m);
    script_free(s);
}

static void says_that_a_frame_is_too_small(void **state)
{
    struct script *s = in_small_frames();
    struct qs_msg_hook_done done;
    struct qs_msg_error m;
    (void)state;
    s->output_bytes = 20000;
    peer_hook(&s->peer, 1, (const char *const[]){"tool", NULL}, 1 * S);
    script_exit(s, 5 * MS, 3);
    const struct letter *l = script_expect(s, QS_MSG_HOOK_DONE);
    assert_int_equal(qs_msg_decode_hook_done(l->payload, l->n, &done), 0);
    assert_int_equal(done.code, 3);
    assert_int_equal(done.duration_ns, 5 * MS);
    assert_int_equal(done.output.n, 0);
    s->output_bytes = 0;
    peer_hook(&s->peer, 2, (const char *const[]){"tool", NULL}, 1 * S);
    script_exit(s, 5 * MS, 0);
    l = script_expect(s, QS_MSG_HOOK_DONE);
    assert_int_equal(qs_msg_decode_hook_done(l->payload, l->n, &done), 0);
    assert_true(qs_text_is(done.output, "said"));
    peer_hook(&s->peer, 3, (const char *const[]){"tool", NULL}, 1 * S);
    s->deaf = true; /* whether it has room or not */
    script_exit(s, 5 * MS, 0);
    s->deaf = false;
    s->agent->tx_seq = s->peer.framer.next_seq;
    s->facts = 15; /* of a kilobyte each: they just fit */
    peer_empty(&s->peer, QS_MSG_FACTS_GET);
    assert_true(script_expect(s, QS_MSG_FACTS)->n > 15 * 1024);
    s->facts = 16;
    peer_empty(&s->peer, QS_MSG_FACTS_GET);
    l = script_expect(s, QS_MSG_ERROR);
    assert_int_equal(qs_msg_decode_error(l->payload, l->n, &m), 0);
    assert_int_equal(m.code, QS_CODE_INTERNAL);
    assert_int_equal(m.blame, QS_WIRE_BLAME_QUIESCE);
    script_expect_state(s, QS_STATE_READY);
    script_free(s);
}

const struct CMUnitTest cases_faults[] = {
    cmocka_unit_test(names_what_is_malformed),
    cmocka_unit_test(says_what_has_no_place),
    cmocka_unit_test(takes_one_request_at_a_time),
    cmocka_unit_test(takes_a_request_in_its_phase),
    cmocka_unit_test(lets_a_guest_in),
    cmocka_unit_test(says_goodbye),
    cmocka_unit_test(cuts_what_no_frame_can_hold),
    cmocka_unit_test(says_that_a_frame_is_too_small),
};
const size_t cases_faults_count = sizeof cases_faults / sizeof cases_faults[0];
