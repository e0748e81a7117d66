/* What PROTOCOL.md promises of an agent, the host enforces: whoever breaks it loses the link, with a reason.
 */
#include "bed.h"

#include <string.h>

#include "proto/names.h"

/* A host that lets a broken promise pass says something next, its heartbeat at the latest: it meets a link
 * that is gone, which is another reason than the one that is expected. */
static bool has_broken;
static bool is_past_it(struct peer *p)
{
    if (has_broken)
        peer_hang_up(p);
    return has_broken;
}

enum promise {
    WAITING_ONCE_A_SECOND,
    WAITING_FOR_AN_EXPECTATION,
    ARMS_IN_ORDER,
    DISARM_OF_THE_LAST_ARM,
    EVALS_AS_ASKED,
    TAINTS_OF_ITERATIONS,
    PROMISES
};
static enum promise broken;

static void say_waiting(struct peer *p, uint16_t expectation)
{
    struct qs_msg_waiting m = {
        .run = p->run, .window = p->open.window, .expectation = expectation, .eta_ns = -1};
    size_t at = peer_begin(p);
    qs_msg_encode_waiting(&p->w, &m);
    peer_end(p, at, QS_MSG_WAITING);
}

static void close_badly(struct peer *p)
{
    uint8_t memory[128];
    struct qs_build taints;
    const struct qs_taint beyond = {.iteration = 5, .code = qs_text_of("exit")};
    qs_build_init(&taints, memory, sizeof memory);
    qs_build_taint(&taints, &beyond);
    struct qs_msg_closed m = {.run = p->run,
                              .window = p->open.window,
                              .phase = p->open.phase,
                              .iterations = 5,
                              .opened_ns = 1,
                              .closed_ns = 2,
                              .evals = broken == EVALS_AS_ASKED ? 2 : 0};
    if (broken == TAINTS_OF_ITERATIONS)
        m.taints = qs_build_list(&taints);
    size_t at = peer_begin(p);
    assert_true(qs_msg_encode_closed(&p->w, &m));
    peer_end(p, at, QS_MSG_CLOSED);
}

static bool break_a_promise(struct peer *p, const struct qs_frame *f)
{
    if (is_past_it(p))
        return true;
    bool closes = broken == EVALS_AS_ASKED || broken == TAINTS_OF_ITERATIONS;
    has_broken = f->type == (closes ? QS_MSG_QUIET : QS_MSG_OPEN);
    if (f->type == QS_MSG_QUIET && closes) {
        close_badly(p);
        return true;
    }
    if (f->type != QS_MSG_OPEN || qs_msg_decode_open(f->payload, f->len, &p->open) != 0)
        return false;
    for (int i = 0; broken == WAITING_ONCE_A_SECOND && i < 3; i++)
        say_waiting(p, 0);
    if (broken == WAITING_FOR_AN_EXPECTATION)
        say_waiting(p, 1);
    p->armings = broken == ARMS_IN_ORDER;
    if (broken == DISARM_OF_THE_LAST_ARM)
        peer_disarm(p);
    else if (broken != WAITING_ONCE_A_SECOND && broken != WAITING_FOR_AN_EXPECTATION)
        peer_window(p, QS_MSG_ARM);
    return true;
}

static void promises_of_a_window_are_kept(void **state)
{
    (void)state;
    static const char *const reasons[PROMISES] = {"once a second is allowed",
                                                  "expectation 1 of a gate with 1",
                                                  "ARM 1 came, 0 is next",
                                                  "DISARM takes back",
                                                  "1 evaluations were asked for, the window has 2",
                                                  "a taint of iteration 5 in a window of 5"};
    for (int i = 0; i < PROMISES; i++) {
        broken = (enum promise)i;
        struct bed *b = bed_new(PEER_UNIX);
        has_broken = false;
        b->peer->script = break_a_promise;
        qs_session_start(b->host.session);
        host_wait(&b->host, "ready");
        assert_true(host_begin(&b->host));
        host_wait(&b->host, "run_ready");
        assert_true(host_open(&b->host, 0, 0, 0));
        bed_fails(b, QS_E_PROTOCOL, reasons[i]);
    }
}

static bool pull_elsewhere(struct peer *p, const struct qs_frame *f)
{
    struct qs_msg_pull m;
    if (is_past_it(p))
        return true;
    has_broken = f->type == QS_MSG_PULL;
    if (f->type != QS_MSG_PULL || qs_msg_decode_pull(f->payload, f->len, &m) != 0)
        return false;
    struct qs_msg_pulled piece = {.id = m.id, .total_bytes = 10, .offset = 4, .bytes = qs_text_of("left")};
    size_t at = peer_begin(p);
    qs_msg_encode_pulled(&p->w, &piece);
    peer_end(p, at, QS_MSG_PULLED);
    return true;
}

static void a_piece_is_the_one_that_was_asked_for(void **state)
{
    (void)state;
    struct bed *b = bed_new(PEER_UNIX);
    has_broken = false;
    const struct qs_msg_pull ask = {
        .run = host_run, .id = 1, .path = qs_text_of("x"), .offset = 0, .max_bytes = 100};
    b->peer->features |= QS_FEATURE_PULL;
    b->peer->script = pull_elsewhere;
    qs_session_start(b->host.session);
    host_wait(&b->host, "ready");
    assert_true(host_begin(&b->host));
    host_wait(&b->host, "run_ready");
    assert_true(host_call(&b->host, QS_MSG_PULL, &ask, 0));
    bed_fails(b, QS_E_PROTOCOL, "the piece that came");
}

/* An agent that is older is asked between runs alone; nothing is sent to it within one. */
static void nothing_that_an_older_agent_cannot_within_a_run(void **state)
{
    static const struct {
        enum qs_msg_type type;
        uint32_t features, amid;
    } rows[] = {{QS_MSG_READ, QS_FEATURE_READ, QS_FEATURE_AMID},
                {QS_MSG_LOAD, QS_FEATURE_LOAD, QS_FEATURE_AMID},
                {QS_MSG_TUNE, QS_FEATURE_CONTROL, QS_FEATURE_SENSE}};
    const struct qs_msg_read read = {.id = 1};
    const struct qs_msg_load load = {.id = 1};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        bool can = i % 2 == 1;
        struct bed *b = bed_new(PEER_UNIX);
        uint8_t memory[64];
        struct qs_build list;
        qs_build_init(&list, memory, sizeof memory);
        const struct qs_tune write = {.path = qs_text_of("a"), .value = qs_text_of("1")};
        assert_true(qs_build_tune(&list, &write));
        const struct qs_msg_tune tune = {
            .id = 1, .lease_ms = QS_LEASE_MIN_MS, .writes = qs_build_list(&list)};
        const void *const messages[] = {&read, &load, &tune};
        b->peer->features |= rows[i / 2].features | (can ? rows[i / 2].amid : 0);
        qs_session_start(b->host.session);
        host_wait(&b->host, "ready");
        assert_true(host_begin(&b->host));
        host_wait(&b->host, "run_ready");
        assert_int_equal(host_call(&b->host, rows[i / 2].type, messages[i / 2], 0), can);
        if (!can)
            host_assert_why(&b->host, QS_E_AGENT, "while a run is open: it is too old");
        bed_free(b);
    }
}

/* How a window of three iterations, numbers 4 to 6, may not come again. */
enum again {
    NO_CLOSED,
    AGAIN_OTHER_WINDOW,
    FROM_ITS_BEGINNING,
    AGAIN_OTHER_METRICS,
    FEWER,
    AGAIN_GAP,
    AGAINS
};
static enum again again;

static bool resend_badly(struct peer *p, const struct qs_frame *f)
{
    const struct qs_uid held = {{0xA0}};
    if (is_past_it(p))
        return true;
    has_broken = f->type == QS_MSG_RESEND;
    if (!has_broken)
        return false;
    p->run = held;
    p->open.window = 0;
    if (again != NO_CLOSED)
        peer_closed(p, QS_CLOSED_DONE, again == FEWER ? 5 : 3);
    p->open.window = again == AGAIN_OTHER_WINDOW;
    peer_rows(p, &held, 4, 0, 2);
    p->metric =
        again == AGAIN_OTHER_METRICS || again == FROM_ITS_BEGINNING ? QS_METRIC_SYSTEM_TIME_US : p->metric;
    if (again == FEWER) {
        peer_closed(p, QS_CLOSED_DONE, 2);
        peer_rows(p, &held, 7, 0, 2);
    } else {
        peer_rows(p, &held, again == AGAIN_GAP ? 5 : 6, again == FROM_ITS_BEGINNING ? 0 : 2, 1);
    }
    return true;
}

static void what_comes_again_is_whole_and_of_one_kind(void **state)
{
    (void)state;
    static const char *const reasons[AGAINS] = {"not the iterations", "not the iterations",
                                                "not the iterations", "metrics changed",
                                                "2 of 5 iterations",  "not the iterations"};
    for (int i = 0; i < AGAINS; i++) {
        const struct qs_uid held = {{0xA0}};
        again = (enum again)i;
        struct bed *b = bed_new(PEER_UNIX);
        has_broken = false;
        b->peer->held_runs = 1;
        b->peer->script = resend_badly;
        qs_session_start(b->host.session);
        host_wait(&b->host, "ready");
        assert_true(host_resend(&b->host, &held, 5));
        bed_fails(b, QS_E_PROTOCOL, reasons[i]);
    }
}

/* The first time two of the three come, and then the link goes; what comes the second time begins anew. */
static bool begins_anew;
static bool resend_twice(struct peer *p, const struct qs_frame *f)
{
    const struct qs_uid held = {{0xA0}};
    if (f->type != QS_MSG_RESEND || (p->connections > 1 && begins_anew))
        return false;
    p->run = held;
    p->open.window = 0;
    if (p->connections == 1) {
        peer_closed(p, QS_CLOSED_DONE, 3);
        peer_rows(p, &held, 4, 0, 2);
        peer_hang_up(p);
    } else {
        peer_rows(p, &held, 6, 2, 1);
    }
    return true;
}

static void what_was_cut_comes_again_from_its_beginning(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct qs_uid held = {{0xA0}};
        struct bed *b = bed_new(PEER_UNIX);
        begins_anew = i == 0;
        b->peer->held_runs = 1;
        b->peer->script = resend_twice;
        qs_session_start(b->host.session);
        host_wait(&b->host, "ready");
        assert_true(host_resend(&b->host, &held, 5));
        host_wait(&b->host, "rows 4+2");
        host_wait(&b->host, "ready");
        assert_true(host_resend(&b->host, &held, 5));
        if (begins_anew) {
            host_wait(&b->host, "rows 7+2");
            assert_non_null(strstr(b->host.log.data, "closed 3\nrows 4+3\nclosed 2\nrows 7+2\n"));
            bed_free(b);
        } else {
            bed_fails(b, QS_E_PROTOCOL, "not the iterations");
        }
    }
}

static bool leave_after_hold(struct peer *p, const struct qs_frame *f)
{
    if (f->type == QS_MSG_HOLD)
        peer_bye(p);
    return f->type == QS_MSG_HOLD;
}

static bool keep_quiet(struct peer *p, const struct qs_frame *f)
{
    (void)p;
    return f->type == QS_MSG_QUIET;
}

/* Its windows are refused, and what comes of one that is open is told to nobody. */
static void a_run_that_was_given_up_has_nobody(void **state)
{
    (void)state;
    struct bed *b = bed_new(PEER_UNIX);
    qs_session_start(b->host.session);
    host_wait(&b->host, "ready");
    b->peer->script = leave_after_hold;
    assert_true(host_begin(&b->host));
    host_wait(&b->host, "run_ready");
    assert_true(host_open(&b->host, 0, 0, 0));
    qs_session_disown(b->host.session, &b->host);
    b->host.log.len = 0;
    host_wait(&b->host, "down");
    assert_null(strstr(b->host.log.data, "waiting"));
    assert_null(strstr(b->host.log.data, "grant"));
    host_wait(&b->host, "ready");
    b->peer->script = keep_quiet;
    assert_true(host_begin(&b->host));
    host_wait(&b->host, "run_ready");
    assert_true(host_open(&b->host, 0, 0, 0));
    host_wait(&b->host, "quiet");
    qs_session_disown(b->host.session, &b->host);
    b->host.log.len = 0;
    peer_window_result(b->peer);
    peer_bye(b->peer);
    host_wait(&b->host, "down");
    assert_null(strstr(b->host.log.data, "closed"));
    assert_int_equal(b->host.rows, 0);
    bed_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises_of_a_window_are_kept),
        cmocka_unit_test(a_piece_is_the_one_that_was_asked_for),
        cmocka_unit_test(nothing_that_an_older_agent_cannot_within_a_run),
        cmocka_unit_test(what_comes_again_is_whole_and_of_one_kind),
        cmocka_unit_test(what_was_cut_comes_again_from_its_beginning),
        cmocka_unit_test(a_run_that_was_given_up_has_nobody),
    };
    return cmocka_run_group_tests_name("device session and the protocol's promises", tests, NULL, NULL);
}
