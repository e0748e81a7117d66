/* Hello, proof, heartbeats, facts, runs, hooks. */
#include "cases.h"
#include "script.h"

#include <string.h>

static const struct script_options plain;

static void greets(void **state)
{
    struct script *s = script_new(&plain);
    (void)state;
    script_connect(s);
    assert_true(qs_uid_equal(&s->peer.agent.session, &s->peer.session));
    assert_int_equal(s->peer.agent.auth, QS_AUTH_NONE);
    script_expect_nothing(s);
    assert_false(qs_agent_takes_link(s->agent));
    script_free(s);
}

static void proves_both_sides(void **state)
{
    struct script *s = script_new(&(struct script_options){.key = true});
    uint8_t mac[QS_SHA256_BYTES];
    (void)state;
    script_plug(s);
    peer_hello(&s->peer, 1000);
    script_expect(s, QS_MSG_HELLO_AGENT);
    script_expect_nothing(s);
    script_expect_state(s, QS_STATE_AUTH);
    peer_auth(&s->peer, s->key, sizeof s->key);
    const struct letter *l = script_expect(s, QS_MSG_AUTH);
    qs_auth_mac_agent(s->key, sizeof s->key, &s->peer.session, s->peer.agent.nonce, &s->peer.farm, mac);
    assert_memory_equal(l->payload, mac, sizeof mac);
    script_expect(s, QS_MSG_HELD);
    script_expect_state(s, QS_STATE_READY);
    script_free(s);
}

static void refuses_a_wrong_proof(void **state)
{
    struct script *s = script_new(&(struct script_options){.key = true});
    const uint8_t wrong[32] = {1};
    (void)state;
    script_plug(s);
    peer_hello(&s->peer, 1000);
    script_expect(s, QS_MSG_HELLO_AGENT);
    peer_auth(&s->peer, wrong, sizeof wrong);
    assert_int_equal(script_expect_error(s), QS_CODE_AUTH);
    script_expect_nothing(s);
    assert_false(s->link_open);
    script_expect_state(s, QS_STATE_DOWN);
    script_free(s);
}

static void answers_nothing_before_the_proof(void **state)
{
    static const uint8_t types[] = {QS_MSG_FACTS_GET, QS_MSG_PING, QS_MSG_RESEND,
                                    QS_MSG_RUN_BEGIN, QS_MSG_HOOK, QS_MSG_ACK};
    (void)state;
    for (size_t i = 0; i < sizeof types; i++) {
        struct script *s = script_new(&(struct script_options){.key = true});
        script_plug(s);
        peer_hello(&s->peer, 1000);
        script_expect(s, QS_MSG_HELLO_AGENT);
        peer_plain(&s->peer, types[i]);
        script_expect_fatal(s);
        script_expect_state(s, QS_STATE_DOWN);
        script_free(s);
    }
}

static void leaves_on_bye_and_on_error(void **state)
{
    static const uint8_t types[] = {QS_MSG_BYE, QS_MSG_ERROR};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct script *s = script_new(&(struct script_options){.key = true});
        script_plug(s);
        peer_hello(&s->peer, 1000);
        peer_plain(&s->peer, types[i]);
        script_expect_state(s, QS_STATE_DOWN);
        assert_false(s->link_open);
        script_free(s);
        s = script_new(&plain);
        script_connect(s);
        peer_plain(&s->peer, types[i]);
        script_expect_state(s, QS_STATE_DOWN);
        script_connect(s);
        script_run(s, &(struct run_spec){.capture = false});
        peer_plain(&s->peer, types[i]);
        script_expect_state(s, QS_STATE_DOWN);
        script_connect(s);
        script_unplug(s);
        script_expect_state(s, QS_STATE_DOWN);
        script_free(s);
    }
}

/* Before the first HELLO everything else is a banner. */
static void tolerates_a_banner(void **state)
{
    struct script *s = script_new(&plain);
    static const char banner[] = "Welcome to the board\n";
    (void)state;
    script_plug(s);
    qs_agent_on_bytes(s->agent, (const uint8_t *)banner, sizeof banner - 1);
    script_expect_nothing(s);
    peer_hello(&s->peer, 1000);
    script_expect(s, QS_MSG_HELLO_AGENT);
    script_expect_state(s, QS_STATE_READY);
    script_free(s);
}

static void answers_pings_and_facts(void **state)
{
    struct script *s = script_new(&plain);
    struct qs_msg_pong pong;
    struct qs_msg_facts facts;
    (void)state;
    script_connect(s);
    for (int in_run = 0; in_run < 2; in_run++) {
        peer_ping(&s->peer, 77);
        const struct letter *l = script_expect(s, QS_MSG_PONG);
        assert_int_equal(qs_msg_decode_pong(l->payload, l->n, &pong), 0);
        assert_int_equal(pong.id, 77);
        assert_int_equal(pong.t_send_ns, 7);
        assert_int_equal(pong.t_recv_ns, s->now_ns);
        peer_plain(&s->peer, QS_MSG_PONG);
        peer_empty(&s->peer, QS_MSG_FACTS_GET);
        l = script_expect(s, QS_MSG_FACTS);
        assert_int_equal(qs_msg_decode_facts(l->payload, l->n, &facts), 0);
        assert_int_equal(facts.facts.count, 3);
        if (!in_run) {
            script_run(s, &(struct run_spec){.capture = false});
        }
    }
    script_free(s);
}

static void drops_a_silent_host(void **state)
{
    struct script *s = script_new(&plain);
    (void)state;
    script_connect(s);
    script_pass(s, 2900 * MS);
    assert_true(s->link_open);
    peer_ping(&s->peer, 1);
    script_expect(s, QS_MSG_PONG);
    script_pass(s, 2900 * MS);
    assert_true(s->link_open);
    script_pass(s, 100 * MS);
    script_expect_fatal(s);
    script_expect_state(s, QS_STATE_DOWN);
    assert_int_equal(qs_agent_next_deadline_ns(s->agent), INT64_MAX);
    script_free(s);
}

/* It sums up a large executable, or is kept from the processor: meanwhile it hears nothing, and that is not
 * the host's silence. */
static void does_not_blame_the_host_for_its_own_stall(void **state)
{
    struct script *s = script_new(&plain);
    (void)state;
    script_connect(s);
    s->run_begin_ns = 4 * S;
    script_run(s, &(struct run_spec){.capture = false});
    script_pass(s, 2900 * MS);
    assert_true(s->link_open);
    s->unread = 32; /* a PING that nobody has read yet */
    s->now_ns += 4 * S;
    qs_agent_on_time(s->agent);
    assert_true(s->link_open);
    peer_ping(&s->peer, 1);
    script_expect(s, QS_MSG_PONG);
    s->unread = 0;
    script_pass(s, 3000 * MS);
    script_expect_fatal(s);
    script_free(s);
}

/* The pieces of one long frame over a slow link: somebody is there. */
static void hears_half_a_frame(void **state)
{
    struct script *s = script_new(&plain);
    const struct qs_msg_ping m = {.id = 1, .t_send_ns = 7};
    (void)state;
    script_connect(s);
    size_t at = peer_begin(&s->peer);
    qs_msg_encode_ping(&s->peer.w, &m);
    assert_true(qs_frame_end(&s->peer.w, at, QS_MSG_PING, s->peer.seq));
    for (size_t i = 0; i < s->peer.w.len; i++) {
        script_pass(s, 2000 * MS);
        assert_true(s->link_open);
        qs_agent_on_bytes(s->agent, s->peer.tx + i, 1);
    }
    script_expect(s, QS_MSG_PONG);
    script_free(s);
}

static void refuses_another_version(void **state)
{
    struct script *s = script_new(&plain);
    struct qs_msg_hello_host m = {.proto_min = 9,
                                  .proto_max = 9,
                                  .farm = s->peer.farm,
                                  .session = s->peer.session,
                                  .heartbeat_ms = 1000,
                                  .max_frame_bytes = QS_FRAME_MAX_BYTES};
    (void)state;
    script_plug(s);
    size_t at = peer_begin(&s->peer);
    qs_msg_encode_hello_host(&s->peer.w, &m);
    peer_end(&s->peer, at, QS_MSG_HELLO_HOST);
    script_expect(s, QS_MSG_HELLO_AGENT);
    assert_int_equal(script_expect_error(s), QS_CODE_VERSION);
    script_expect_state(s, QS_STATE_DOWN);
    script_free(s);
}

static void takes_no_garbage(void **state)
{
    struct script *s = script_new(&plain);
    uint8_t junk[64];
    (void)state;
    memset(junk, 0x41, sizeof junk);
    script_connect(s);
    qs_agent_on_bytes(s->agent, junk, sizeof junk);
    script_expect_fatal(s);
    qs_agent_on_bytes(s->agent, junk, sizeof junk);
    script_expect_nothing(s);
    script_free(s);
}

static void ignores_optional_messages_only(void **state)
{
    struct script *s = script_new(&plain);
    (void)state;
    script_connect(s);
    peer_bytes(&s->peer, 0x80 | 100, "x", 1);
    script_expect_nothing(s);
    assert_true(s->link_open);
    peer_bytes(&s->peer, QS_MSG_FACTS, "x", 1); /* ours to send, not theirs */
    script_expect_fatal(s);
    script_connect(s);
    peer_bytes(&s->peer, 100, "x", 1);
    script_expect_fatal(s);
    script_free(s);
}

static void refuses_short_messages(void **state)
{
    static const uint8_t types[] = {QS_MSG_PING, QS_MSG_RESEND, QS_MSG_ACK, QS_MSG_RUN_BEGIN, QS_MSG_HOOK};
    (void)state;
    for (size_t i = 0; i < sizeof types; i++) {
        struct script *s = script_new(&plain);
        script_connect(s);
        peer_bytes(&s->peer, types[i], "x", 1);
        script_expect_fatal(s);
        script_free(s);
    }
}

static void begins_and_ends_runs(void **state)
{
    struct script *s = script_new(&plain);
    struct qs_msg_run_seq ended;
    (void)state;
    script_connect(s);
    s->refuse_run = true;
    peer_run_begin(&s->peer, &(struct run_spec){.argv = (const char *const[]){"tool", NULL}});
    assert_int_equal(script_expect_error(s), QS_CODE_EXECUTABLE);
    script_expect_state(s, QS_STATE_READY);
    s->refuse_run = false;
    script_run(s, &(struct run_spec){.capture = false});
    s->peer.run.b[0]++;
    peer_run_end(&s->peer);
    assert_int_equal(script_expect_error(s), QS_CODE_UNKNOWN_RUN);
    script_expect_state(s, QS_STATE_RUN_OPEN);
    s->peer.run.b[0]--;
    peer_cancel(&s->peer); /* late: the window it was for is over */
    peer_window(&s->peer, QS_MSG_QUIET, 1);
    peer_hold(&s->peer, 1);
    peer_run_end(&s->peer);
    const struct letter *l = script_expect(s, QS_MSG_RUN_ENDED);
    assert_int_equal(qs_msg_decode_run_seq(l->payload, l->n, &ended), 0);
    assert_int_equal(ended.seq, 0);
    peer_cancel(&s->peer);
    script_expect_nothing(s);
    script_expect_state(s, QS_STATE_READY);
    script_run(s, &(struct run_spec){.capture = false});
    peer_plain(&s->peer, QS_MSG_BYE);
    script_expect_state(s, QS_STATE_DOWN);
    assert_int_equal(s->run_ends, 2);
    script_free(s);
}

static void expect_hook(struct script *s, uint32_t id, enum qs_hook_how how, int32_t code)
{
    struct qs_msg_hook_done m;
    const struct letter *l = script_expect(s, QS_MSG_HOOK_DONE);
    assert_int_equal(qs_msg_decode_hook_done(l->payload, l->n, &m), 0);
    assert_int_equal(m.id, id);
    assert_int_equal(m.how, how);
    assert_int_equal(m.code, code);
}

/* Everything that may happen in a hook, outside a run and inside one. */
static void run_hooks(struct script *s, enum qs_agent_state state)
{
    const char *const argv[] = {"tool", NULL};
    peer_hook(&s->peer, 1, argv, 1 * S);
    script_expect_work(s, state, QS_MSG_HOOK);
    peer_ping(&s->peer, 1);
    script_expect(s, QS_MSG_PONG);
    peer_plain(&s->peer, QS_MSG_PONG);
    peer_seq(&s->peer, QS_MSG_ACK, 0);
    assert_int_equal(script_expect_error(s), QS_CODE_UNKNOWN_RUN);
    script_exit(s, 5 * MS, 3);
    expect_hook(s, 1, QS_HOOK_EXITED, 3);
    script_expect_state(s, state);
    peer_hook(&s->peer, 2, argv, 1 * S);
    script_pass(s, 1 * S);
    assert_true(s->asked);
    script_end(s, &(struct qs_port_child){.how = QS_PORT_SIGNALLED, .code = 15});
    expect_hook(s, 2, QS_HOOK_TIMED_OUT, 0);
    peer_hook(&s->peer, 3, argv, 1 * S);
    peer_cancel(&s->peer);
    assert_true(s->asked);
    script_pass(s, 1 * S);
    expect_hook(s, 3, QS_HOOK_SIGNALLED, 9);
    s->refuse_start = true;
    peer_hook(&s->peer, 4, argv, 1 * S);
    expect_hook(s, 4, QS_HOOK_NOT_STARTED, 2);
    s->refuse_start = false;
    script_expect_state(s, state);
    script_expect_nothing(s);
}

static void runs_hooks(void **state)
{
    struct script *s = script_new(&plain);
    (void)state;
    script_connect(s);
    run_hooks(s, QS_STATE_READY);
    script_run(s, &(struct run_spec){.capture = false});
    run_hooks(s, QS_STATE_RUN_OPEN);
    script_free(s);
}

static void ask_to_pull(struct script *s, const struct qs_uid *run, enum qs_pull_source source,
                        uint64_t offset)
{
    const struct qs_msg_pull m = {.run = *run,
                                  .id = 5,
                                  .source = source,
                                  .path = qs_text_of(source == QS_PULL_FILE ? "out" : ""),
                                  .offset = offset,
                                  .max_bytes = 3};
    size_t at = peer_begin(&s->peer);
    assert_true(qs_msg_encode_pull(&s->peer.w, &m));
    peer_end(&s->peer, at, QS_MSG_PULL);
}

static void expect_pulled(struct script *s, enum qs_pull_status status, const char *bytes)
{
    struct qs_msg_pulled m;
    const struct letter *l = script_expect(s, QS_MSG_PULLED);
    assert_int_equal(qs_msg_decode_pulled(l->payload, l->n, &m), 0);
    assert_int_equal(m.id, 5);
    assert_int_equal(m.status, status);
    assert_int_equal(m.bytes.n, strlen(bytes));
    assert_memory_equal(m.bytes.p, bytes, m.bytes.n);
}

/* What a run has left, between its windows; of another run, or where the port has no such thing, an ERROR. */
static void hands_out_what_a_run_has_left(void **state)
{
    struct qs_uid other = {{1}};
    (void)state;
    for (int no = 0; no < 2; no++) {
        struct script *s = script_new(&(struct script_options){.no_pull = no});
        script_connect(s);
        assert_int_equal((s->peer.agent.features & QS_FEATURE_PULL) != 0, !no);
        script_run(s, &(struct run_spec){.capture = false});
        ask_to_pull(s, &s->peer.run, QS_PULL_FILE, 4);
        if (no) {
            script_expect(s, QS_MSG_ERROR);
        } else {
            expect_pulled(s, QS_PULL_OK, "456");
            ask_to_pull(s, &s->peer.run, QS_PULL_KERNEL_LOG, 0);
            expect_pulled(s, QS_PULL_UNREADABLE, "");
            ask_to_pull(s, &other, QS_PULL_FILE, 0);
            script_expect(s, QS_MSG_ERROR);
        }
        script_expect_state(s, QS_STATE_RUN_OPEN);
        script_free(s);
    }
}

/* A host that does not know a thing, by its own word, cannot ask for it. */
static void does_nothing_that_was_not_agreed(void **state)
{
    static const struct run_spec specs[] = {
        {.benchmark = "work"}, {.document_max_bytes = 1}, {.apart = true}, {.output_path = "x"}};
    const struct open_spec opens[] = {{.iterations = 1, .phase = QS_PHASE_TUNE, .evals = 1},
                                      {.iterations = 1, .phase = QS_PHASE_TRACED}};
    struct script *s = script_new(&plain);
    (void)state;
    s->peer.features = QS_FEATURE_COMMAND;
    script_connect(s);
    for (size_t i = 0; i <= sizeof specs / sizeof specs[0]; i++) {
        struct run_spec spec = i < 4 ? specs[i] : (struct run_spec){.start = {.flags = 1}};
        spec.argv = (const char *const[]){"x", NULL};
        spec.hook_limit_ns = 1 * S;
        peer_run_begin(&s->peer, &spec);
        assert_int_equal(script_expect_error(s), QS_CODE_UNSUPPORTED);
        script_expect_state(s, QS_STATE_READY);
    }
    script_run(s, &(struct run_spec){.capture = false});
    ask_to_pull(s, &s->peer.run, QS_PULL_FILE, 0);
    assert_int_equal(script_expect_error(s), QS_CODE_UNSUPPORTED);
    s->agent->features |= QS_FEATURE_PULL;
    ask_to_pull(s, &s->peer.run, QS_PULL_TRACE, 0);
    assert_int_equal(script_expect_error(s), QS_CODE_UNSUPPORTED);
    for (size_t i = 0; i < 2; i++) {
        peer_open(&s->peer, &opens[i]);
        assert_int_equal(script_expect_error(s), QS_CODE_UNSUPPORTED);
        script_expect_state(s, QS_STATE_RUN_OPEN);
    }
    script_free(s);
}

static void ends_the_hook_of_a_lost_link(void **state)
{
    static const uint8_t types[] = {QS_MSG_BYE, QS_MSG_ERROR, QS_MSG_OPEN};
    (void)state;
    for (int in_run = 0; in_run < 2; in_run++) {
        for (size_t i = 0; i < sizeof types; i++) {
            struct script *s = script_new(&plain);
            script_connect(s);
            if (in_run) {
                script_run(s, &(struct run_spec){.capture = false});
            }
            peer_hook(&s->peer, 1, (const char *const[]){"tool", NULL}, 60 * S);
            peer_plain(&s->peer, types[i]);
            script_expect_state(s, QS_STATE_ENDING);
            assert_true(s->forced);
            assert_false(qs_agent_takes_link(s->agent));
            s->linger = true;
            script_pass(s, 5 * S); /* it does not die: given up */
            script_expect_state(s, QS_STATE_DOWN);
            assert_true(qs_agent_takes_link(s->agent));
            script_free(s);
        }
    }
}

const struct CMUnitTest cases_talk[] = {
    cmocka_unit_test(greets),
    cmocka_unit_test(proves_both_sides),
    cmocka_unit_test(refuses_a_wrong_proof),
    cmocka_unit_test(answers_nothing_before_the_proof),
    cmocka_unit_test(leaves_on_bye_and_on_error),
    cmocka_unit_test(tolerates_a_banner),
    cmocka_unit_test(answers_pings_and_facts),
    cmocka_unit_test(drops_a_silent_host),
    cmocka_unit_test(does_not_blame_the_host_for_its_own_stall),
    cmocka_unit_test(hears_half_a_frame),
    cmocka_unit_test(refuses_another_version),
    cmocka_unit_test(takes_no_garbage),
    cmocka_unit_test(ignores_optional_messages_only),
    cmocka_unit_test(refuses_short_messages),
    cmocka_unit_test(begins_and_ends_runs),
    cmocka_unit_test(runs_hooks),
    cmocka_unit_test(hands_out_what_a_run_has_left),
    cmocka_unit_test(does_nothing_that_was_not_agreed),
    cmocka_unit_test(ends_the_hook_of_a_lost_link),
};
const size_t cases_talk_count = sizeof cases_talk / sizeof cases_talk[0];
