/* What an agent must not do: each ends the connection with a reason, none harms the host, and it tries again.
 */
#include "bed.h"

#include <string.h>

#include "proto/names.h"

/* ---- greetings ---- */

static void another_version_is_named(void **state)
{
    (void)state;
    struct bed *b = bed_new(PEER_UNIX);
    b->peer->proto_min = b->peer->proto_max = QS_PROTO_MAX + 1;
    qs_session_start(b->host.session);
    host_wait(&b->host, "down");
    host_idle(&b->host, 20000000);
    assert_int_equal(b->peer->last_error, QS_CODE_PROTOCOL);
    bed_fails(b, QS_E_PROTOCOL, "this quiesced is too old");
}

static void a_greeting_for_another_session_is_refused(void **state)
{
    (void)state;
    struct bed *b = bed_new(PEER_UNIX);
    b->peer->wrong_session = true;
    qs_session_start(b->host.session);
    bed_fails(b, QS_E_PROTOCOL, "greeting");
}

static void an_agent_that_cannot_run_commands_is_refused(void **state)
{
    (void)state;
    struct bed *b = bed_new(PEER_UNIX);
    b->peer->features = 0;
    qs_session_start(b->host.session);
    bed_fails(b, QS_E_PROTOCOL, "cannot run commands");
}

static void a_key_on_one_side_only_is_refused(void **state)
{
    (void)state;
    struct bed *b = bed_new(PEER_KEYED);
    b->peer->asks_proof = false;
    qs_session_start(b->host.session);
    bed_fails(b, QS_E_AUTH, "does not ask for proof");
    b = bed_new(PEER_UNIX);
    b->peer->asks_proof = true;
    qs_session_start(b->host.session);
    bed_fails(b, QS_E_AUTH, "has no key_file");
}

/* No way back to frames without seals: neither by an older agent nor by somebody who changes its greeting. */
static void a_proof_without_seals_is_refused(void **state)
{
    (void)state;
    struct bed *b = bed_new(PEER_KEYED);
    b->peer->auth = QS_AUTH_PROOF_ONLY;
    qs_session_start(b->host.session);
    bed_fails(b, QS_E_PROTOCOL, "does not seal");
}

/* What somebody in between does to a frame of the agent's. */
static int meddling;
enum { UNSEALED, FLIPPED, REFLECTED, REPEATED };

/* Instead of FACTS. */
static bool meddle(struct peer *p, const struct qs_frame *f)
{
    if (f->type != QS_MSG_FACTS_GET)
        return false;
    struct qs_seal seal = p->tx_seal;
    struct qs_msg_ping ping = {.id = 1};
    if (meddling == UNSEALED)
        p->tx_seal.on = false;
    if (meddling == REFLECTED)
        p->tx_seal = p->framer.seal;
    if (meddling == REPEATED)
        p->tx_seq--;
    size_t at = peer_begin(p);
    qs_msg_encode_ping(&p->w, &ping);
    if (meddling == FLIPPED) { /* with a checksum that is right: it is no accident */
        assert_true(qs_frame_end_sealed(&p->w, at, QS_MSG_PING, p->tx_seq++, &p->tx_seal));
        uint8_t *payload = p->tx + QS_FRAME_HEADER_BYTES;
        payload[0] ^= 1;
        qs_frame_header(p->tx, QS_MSG_PING, p->tx_seq - 1, payload,
                        (uint32_t)(p->w.len - QS_FRAME_HEADER_BYTES));
        peer_raw(p, p->tx, p->w.len);
    } else {
        peer_end(p, at, QS_MSG_PING);
    }
    p->tx_seal = seal;
    return true;
}

static void nobody_speaks_in_the_agents_place(void **state)
{
    static const enum qs_errc codes[] = {QS_E_LINK, QS_E_LINK, QS_E_LINK, QS_E_PROTOCOL};
    (void)state;
    for (int i = UNSEALED; i <= REPEATED; i++) {
        struct bed *b = bed_new(PEER_KEYED);
        meddling = i;
        b->peer->script = meddle;
        qs_session_start(b->host.session);
        bed_fails(b, codes[i], qs_wire_err_text(i == REPEATED ? QS_WIRE_E_SEQ : QS_WIRE_E_SEAL));
    }
}

static void a_wrong_proof_is_refused(void **state)
{
    (void)state;
    struct bed *b = bed_new(PEER_KEYED);
    b->peer->wrong_proof = true;
    qs_session_start(b->host.session);
    host_wait(&b->host, "down");
    host_idle(&b->host, 20000000);
    assert_int_equal(b->peer->last_error, QS_CODE_AUTH);
    bed_fails(b, QS_E_AUTH, "proof is wrong");
}

static bool say_no_such_host(struct peer *p, const struct qs_frame *f)
{
    static char banner[5000] = "ssh: \033[1mno route\033[0m to host\n";
    if (f->type == QS_MSG_HELLO_HOST)
        peer_raw(p, banner, sizeof banner);
    return f->type == QS_MSG_HELLO_HOST;
}

static void a_banner_without_end_is_quoted(void **state)
{
    (void)state;
    struct bed *b = bed_new(PEER_UNIX);
    b->peer->script = say_no_such_host;
    qs_session_start(b->host.session);
    bed_fails(b, QS_E_PROTOCOL, "it said instead: ssh: \\x1b[1mno route");
}

/* It was sent a greeting that it cannot read, or is about to go: that is no banner. */
static bool refuse_at_once(struct peer *p, const struct qs_frame *f)
{
    if (f->type == QS_MSG_HELLO_HOST)
        peer_error(p, &(struct qs_uid){{0}}, QS_CODE_PROTOCOL, "the checksum is wrong");
    return f->type == QS_MSG_HELLO_HOST;
}

static bool leave_at_once(struct peer *p, const struct qs_frame *f)
{
    if (f->type == QS_MSG_HELLO_HOST)
        peer_bye(p);
    return f->type == QS_MSG_HELLO_HOST;
}

static void a_reason_instead_of_a_greeting_is_told(void **state)
{
    (void)state;
    struct bed *b = bed_new(PEER_UNIX);
    b->peer->script = refuse_at_once;
    qs_session_start(b->host.session);
    bed_fails(b, QS_E_PROTOCOL, "board: the agent refuses the session (protocol): the checksum is wrong");
    b = bed_new(PEER_UNIX);
    b->peer->script = leave_at_once;
    qs_session_start(b->host.session);
    bed_fails(b, QS_E_LINK, "board: the agent left: rebooting");
}

static bool greet_after_a_banner(struct peer *p, const struct qs_frame *f)
{
    if (f->type == QS_MSG_HELLO_HOST)
        peer_raw(p, "Welcome!\n", 9);
    return false;
}

static void a_short_banner_is_tolerated(void **state)
{
    (void)state;
    struct bed *b = bed_new(PEER_UNIX);
    b->peer->script = greet_after_a_banner;
    qs_session_start(b->host.session);
    host_wait(&b->host, "ready");
    bed_free(b);
}

static bool facts_twice(struct peer *p, const struct qs_frame *f)
{
    uint8_t mem[256];
    struct qs_build list;
    if (f->type != QS_MSG_FACTS_GET)
        return false;
    qs_build_init(&list, mem, sizeof mem);
    for (int i = 0; i < 2; i++)
        qs_build_fact(&list, &(struct qs_fact){qs_text_of("kernel"), qs_text_of("6.1")});
    size_t at = peer_begin(p);
    qs_msg_encode_facts(&p->w, &(struct qs_msg_facts){.facts = qs_build_list(&list)});
    peer_end(p, at, QS_MSG_FACTS);
    return true;
}

static void a_fact_named_twice_is_refused(void **state)
{
    (void)state;
    struct bed *b = bed_new(PEER_UNIX);
    b->peer->script = facts_twice;
    qs_session_start(b->host.session);
    bed_fails(b, QS_E_PROTOCOL, "names a fact twice");
}

/* ---- windows ---- */

/* What comes in answer to QUIET; each breaks one rule. */
static enum crime {
    SEQ_GAP,
    INDEX_GAP,
    TOO_MANY_ROWS,
    NO_ROWS,
    OTHER_RUN,
    OTHER_WINDOW,
    OTHER_PHASE,
    MORE_THAN_ASKED,
    OTHER_METRICS
} crime;

static bool answer_badly(struct peer *p, const struct qs_frame *f)
{
    if (f->type != QS_MSG_QUIET)
        return false;
    struct qs_uid other = {{9}};
    if (crime == OTHER_RUN)
        p->run = other;
    if (crime == OTHER_WINDOW)
        p->open.window++;
    if (crime == OTHER_PHASE)
        p->open.phase = QS_PHASE_WARMUP;
    peer_closed(p, QS_CLOSED_DONE, crime == MORE_THAN_ASKED ? 6 : 5);
    if (crime == SEQ_GAP)
        peer_rows(p, &p->run, 1, 0, 4);
    if (crime == INDEX_GAP)
        peer_rows(p, &p->run, 0, 1, 4);
    if (crime == TOO_MANY_ROWS)
        peer_rows(p, &p->run, 0, 0, 6);
    if (crime == NO_ROWS)
        peer_rows(p, &p->run, 0, 0, 0);
    if (crime == OTHER_METRICS) {
        peer_rows(p, &p->run, 0, 0, 2);
        p->metric = QS_METRIC_SYSTEM_TIME_US;
        peer_rows(p, &p->run, 2, 2, 3);
    }
    return true;
}

static void a_window_must_be_what_was_asked_for(void **state)
{
    (void)state;
    static const char *const reasons[] = {
        "0 (0) is next",  "0 (0) is next", "5 are due",     "0 iterations came",
        "another run",    "another run",   "another phase", "5 iterations were asked",
        "metrics changed"};
    for (int i = SEQ_GAP; i <= OTHER_METRICS; i++) {
        crime = (enum crime)i;
        struct bed *b = bed_new(PEER_UNIX);
        b->peer->script = answer_badly;
        qs_session_start(b->host.session);
        host_wait(&b->host, "ready");
        assert_true(host_begin(&b->host));
        host_wait(&b->host, "run_ready");
        assert_true(host_open(&b->host, 0, 0, 0));
        bed_fails(b, QS_E_PROTOCOL, reasons[i]);
    }
}

static struct bed *ready_bed(void)
{
    struct bed *b = bed_new(PEER_UNIX);
    qs_session_start(b->host.session);
    host_wait(&b->host, "ready");
    return b;
}

static void a_message_out_of_place_ends_the_link(void **state)
{
    (void)state;
    struct bed *b = ready_bed();
    peer_facts(b->peer);
    bed_fails(b, QS_E_PROTOCOL, "FACTS is not allowed in state ready");
    b = ready_bed();
    peer_rows(b->peer, &host_run, 0, 0, 1);
    bed_fails(b, QS_E_PROTOCOL, "is not allowed in state ready");
    b = ready_bed();
    peer_pong(b->peer, &(struct qs_msg_ping){.id = 999});
    bed_fails(b, QS_E_PROTOCOL, "without a PING");
}

static void a_run_must_end_where_its_iterations_do(void **state)
{
    (void)state;
    struct bed *b = ready_bed();
    assert_true(host_begin(&b->host));
    host_wait(&b->host, "run_ready");
    b->peer->next_seq = 4;
    assert_true(host_end(&b->host));
    bed_fails(b, QS_E_PROTOCOL, "ended at iteration 4, 0 came");
}

static void damaged_and_missing_frames_end_the_link(void **state)
{
    (void)state;
    struct bed *b = ready_bed();
    b->peer->tx_seq++;
    peer_ping(b->peer);
    bed_fails(b, QS_E_PROTOCOL, qs_wire_err_text(QS_WIRE_E_SEQ));
    b = ready_bed();
    peer_raw(b->peer, "sixteen bytes of", 16);
    bed_fails(b, QS_E_PROTOCOL, qs_wire_err_text(QS_WIRE_E_MAGIC));
    b = ready_bed();
    peer_end(b->peer, peer_begin(b->peer), QS_MSG_OPEN); /* a host's message */
    bed_fails(b, QS_E_PROTOCOL, "OPEN");
    b = ready_bed();
    peer_end(b->peer, peer_begin(b->peer), QS_MSG_CLOSED); /* without its fields */
    bed_fails(b, QS_E_PROTOCOL, qs_wire_err_text(QS_WIRE_E_SHORT));
}

/* An ERROR about the session: a frame of ours was damaged, or we were not heard. The link is over, not the
 * job. */
static void an_error_of_the_session_ends_the_link(void **state)
{
    static const struct qs_uid none = {{0}};
    (void)state;
    struct bed *b = ready_bed();
    assert_true(host_begin(&b->host));
    host_wait(&b->host, "run_ready");
    peer_error(b->peer, &none, QS_CODE_PROTOCOL, "a frame was damaged in transit");
    bed_fails(b, QS_E_LINK, "a frame was damaged in transit (protocol)");
    b = ready_bed();
    peer_error(b->peer, &none, QS_CODE_INTERNAL, "no way on");
    bed_fails(b, QS_E_AGENT, "no way on (internal)");
}

/* Each is a line of the log: a hundred of them are told. */
static void complaints_without_end_end_the_link(void **state)
{
    (void)state;
    struct bed *b = ready_bed();
    for (int i = 0; i < 101; i++)
        peer_error(b->peer, &(struct qs_uid){{7}}, QS_CODE_STATE, "it hurts");
    bed_fails(b, QS_E_PROTOCOL, "the agent has sent 101 errors about runs that are not open");
}

static void unknown_optional_messages_are_ignored(void **state)
{
    (void)state;
    struct bed *b = ready_bed();
    peer_end(b->peer, peer_begin(b->peer), (enum qs_msg_type)(QS_MSG_OPTIONAL | 5));
    assert_true(host_begin(&b->host));
    host_wait(&b->host, "run_ready");
    assert_int_equal(b->host.downs, 0);
    bed_free(b);
}

/* ---- silence where there must be none ---- */

static bool deaf(struct peer *p, const struct qs_frame *f)
{
    (void)p;
    (void)f;
    return true;
}

static void a_heart_that_stops_is_noticed(void **state)
{
    (void)state;
    struct bed *b = ready_bed();
    b->peer->script = deaf;
    bed_fails(b, QS_E_LINK, "nothing was heard for");
}

/* ---- an agent that dies ---- */

static uint8_t deadly;

static bool die(struct peer *p, const struct qs_frame *f)
{
    if (f->type == deadly) {
        p->script = NULL;
        peer_hang_up(p);
    }
    return f->type == deadly;
}

/* Every request in turn; the one that the agent dies of is followed by `down`. */
static void ask_until_it_dies(struct bed *b)
{
    const struct qs_uid held = {{0xA0}};
    struct host *h = &b->host;
    assert_true(host_resend(h, &held, 5));
    host_wait(h, deadly == QS_MSG_RESEND ? "down" : "rows 7+2");
    if (h->downs == 0 && host_hook(h, 1))
        host_wait(h, deadly == QS_MSG_HOOK ? "down" : "hook_done 1");
    if (h->downs == 0 && host_begin(h))
        host_wait(h, deadly == QS_MSG_RUN_BEGIN ? "down" : "run_ready");
    if (h->downs == 0 && host_open(h, 0, 0, 0))
        host_wait(h, deadly == QS_MSG_OPEN || deadly == QS_MSG_QUIET ? "down" : "rows 4+1");
    if (h->downs == 0 && host_end(h))
        host_wait(h, "down");
}

static void an_agent_may_die_at_any_message(void **state)
{
    (void)state;
    static const uint8_t greeting[] = {QS_MSG_HELLO_HOST, QS_MSG_FACTS_GET, QS_MSG_PING};
    for (size_t i = 0; i < sizeof greeting; i++) {
        struct bed *b = bed_new(PEER_UNIX);
        deadly = greeting[i];
        b->peer->script = die;
        qs_session_start(b->host.session);
        host_wait(&b->host, "ready"); /* at the second try */
        assert_int_equal(b->host.downs, 1);
        bed_free(b);
    }
    static const uint8_t later[] = {QS_MSG_RESEND, QS_MSG_HOOK,  QS_MSG_RUN_BEGIN,
                                    QS_MSG_OPEN,   QS_MSG_QUIET, QS_MSG_RUN_END};
    for (size_t i = 0; i < sizeof later; i++) {
        struct bed *b = bed_new(PEER_UNIX);
        b->peer->held_runs = 1;
        qs_session_start(b->host.session);
        host_wait(&b->host, "ready");
        deadly = later[i];
        b->peer->script = die;
        ask_until_it_dies(b);
        assert_int_equal(b->host.downs, 1);
        host_assert_why(&b->host, QS_E_LINK, "closed the connection");
        host_wait(&b->host, "ready");
        bed_free(b);
    }
}

/* ---- the owner in callbacks ---- */

static void free_inside(struct host *h, const char *line)
{
    if (strcmp(line, h->user) == 0) {
        struct qs_session *s = h->session;
        h->session = NULL;
        qs_session_free(s);
        qs_loop_stop(h->loop);
    }
}

static void it_may_be_freed_in_any_callback(void **state)
{
    (void)state;
    static const char *const lines[] = {"held a0 5-9", "clock",    "ready", "run_ready",
                                        "waiting",     "grant",    "quiet", "closed 5",
                                        "rows 0+2",    "rows 4+1", "down"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct bed *b = bed_new(PEER_UNIX);
        b->peer->held_runs = 1;
        b->host.at = free_inside;
        b->host.user = (void *)(uintptr_t)lines[i];
        qs_session_start(b->host.session);
        host_wait(&b->host, i < 2 ? lines[i] : "ready");
        if (b->host.session && host_begin(&b->host))
            host_wait(&b->host, "run_ready");
        if (b->host.session && i < 10 && host_open(&b->host, 0, 0, 0))
            host_wait(&b->host, lines[i]);
        if (b->host.session) {
            peer_hang_up(b->peer);
            host_wait(&b->host, "down");
        }
        assert_null(b->host.session);
        bed_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_version_is_named),
        cmocka_unit_test(a_greeting_for_another_session_is_refused),
        cmocka_unit_test(an_agent_that_cannot_run_commands_is_refused),
        cmocka_unit_test(a_key_on_one_side_only_is_refused),
        cmocka_unit_test(a_wrong_proof_is_refused),
        cmocka_unit_test(a_proof_without_seals_is_refused),
        cmocka_unit_test(nobody_speaks_in_the_agents_place),
        cmocka_unit_test(a_banner_without_end_is_quoted),
        cmocka_unit_test(a_reason_instead_of_a_greeting_is_told),
        cmocka_unit_test(a_short_banner_is_tolerated),
        cmocka_unit_test(a_fact_named_twice_is_refused),
        cmocka_unit_test(a_window_must_be_what_was_asked_for),
        cmocka_unit_test(a_message_out_of_place_ends_the_link),
        cmocka_unit_test(a_run_must_end_where_its_iterations_do),
        cmocka_unit_test(damaged_and_missing_frames_end_the_link),
        cmocka_unit_test(an_error_of_the_session_ends_the_link),
        cmocka_unit_test(complaints_without_end_end_the_link),
        cmocka_unit_test(unknown_optional_messages_are_ignored),
        cmocka_unit_test(a_heart_that_stops_is_noticed),
        cmocka_unit_test(an_agent_may_die_at_any_message),
        cmocka_unit_test(it_may_be_freed_in_any_callback),
    };
    return cmocka_run_group_tests_name("device session with a hostile agent", tests, NULL, NULL);
}
