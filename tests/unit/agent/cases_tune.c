/* Files that are changed for a while: in which order the port is asked, what the host is told, and for how
 * long it lasts. */
#include "cases.h"
#include "script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct script_options plain = {.no_pull = false};

struct write {
    const char *path, *value;
    uint8_t flags;
};

static void send_tune(struct script *s, const struct write *writes, size_t n, uint32_t settle_ms)
{
    static uint8_t memory[QS_CONTROL_MAX_BYTES];
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    for (size_t i = 0; i < n; i++) {
        const struct qs_tune t = {.path = qs_text_of(writes[i].path),
                                  .value = qs_text_of(writes[i].value),
                                  .flags = writes[i].flags};
        assert_true(qs_build_tune(&list, &t));
    }
    const struct qs_msg_tune m = {
        .id = 9, .lease_ms = 60000, .settle_ms = settle_ms, .writes = qs_build_list(&list)};
    size_t at = peer_begin(&s->peer);
    assert_true(qs_msg_encode_tune(&s->peer.w, &m));
    peer_end(&s->peer, at, QS_MSG_TUNE);
}

static void send_restore(struct script *s, uint32_t id)
{
    size_t at = peer_begin(&s->peer);
    assert_true(qs_msg_encode_restore(&s->peer.w, &(struct qs_msg_restore){.id = id}));
    peer_end(&s->peer, at, QS_MSG_RESTORE);
}

/* What the port is asked now; it answers with this. */
static void answer(struct script *s, const char *asked, const struct qs_port_controlled *file)
{
    assert_string_equal(s->knobs.last, asked);
    s->knobs.last[0] = '\0';
    qs_agent_on_control(s->agent, file);
}

static void answer_tune(struct script *s, const char *asked, enum qs_tune_outcome outcome)
{
    answer(s, asked, &(struct qs_port_controlled){.outcome = (uint8_t)outcome, .before = "5"});
}

static void answer_look(struct script *s, const char *asked, enum qs_tune_outcome outcome, const char *now)
{
    struct qs_port_controlled file = {.outcome = (uint8_t)outcome,
                                      .error = outcome == QS_TUNE_TIMEOUT ? ETIMEDOUT : 0};
    snprintf(file.after, sizeof file.after, "%s", now);
    answer(s, asked, &file);
}

/* "set 0 5 7; ..." */
static void expect_tuned(struct script *s, const char *wanted)
{
    struct qs_msg_tuned m;
    struct qs_tuned t;
    char text[QS_TUNE_MAX * 32] = "";
    size_t n = 0;
    const struct letter *l = script_expect(s, QS_MSG_TUNED);
    assert_int_equal(qs_msg_decode_tuned(l->payload, l->n, &m), 0);
    assert_int_equal(m.id, 9);
    struct qs_iter it = qs_list_iter(&m.writes);
    while (qs_list_tuned(&it, &t)) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%d %d %.*s %.*s", n ? "; " : "", (int)t.outcome,
                              t.error, (int)t.before.n, t.before.p, (int)t.now.n, t.now.p);
    }
    assert_string_equal(text, wanted);
    script_expect_state(s, QS_STATE_READY);
}

static struct script *connected(void)
{
    struct script *s = script_new(&plain);
    script_connect(s);
    assert_true((s->peer.agent.features & QS_FEATURE_CONTROL) != 0);
    return s;
}

/* One after the other; read back together when they have settled; the rest of the session goes on. */
static void writes_then_reads_back(void **state)
{
    static const struct write writes[] = {{"a", "7", 0},
                                          {"b/c", "", QS_TUNE_PERSISTENT},
                                          {"d", "on", QS_TUNE_BLIND},
                                          {"e", "1", 0},
                                          {"f", "2", 0},
                                          {"g", "3", 0}};
    struct script *s = connected();
    (void)state;
    send_tune(s, writes, 6, 250);
    script_expect_work(s, QS_STATE_READY, QS_MSG_TUNE);
    answer_tune(s, "tune a=7 flags 0", QS_TUNE_SET);
    answer_tune(s, "tune b/c= flags 1", QS_TUNE_SAME);
    peer_ping(&s->peer, 4);
    script_expect(s, QS_MSG_PONG);
    peer_cancel(&s->peer); /* of the job: what was begun here comes to its end */
    script_expect_work(s, QS_STATE_READY, QS_MSG_TUNE);
    answer_tune(s, "tune d=on flags 2", QS_TUNE_SET);
    answer(s, "tune e=1 flags 0",
           &(struct qs_port_controlled){.outcome = QS_TUNE_REFUSED, .error = EINVAL, .before = "4"});
    answer_tune(s, "tune f=2 flags 0", QS_TUNE_SET);
    answer_tune(s, "tune g=3 flags 0", QS_TUNE_SET);
    assert_string_equal(s->knobs.last, "");
    script_pass(s, 249 * MS);
    assert_string_equal(s->knobs.last, "");
    script_pass(s, 1 * MS);
    answer_look(s, "look a=7", QS_TUNE_SET, "7");
    answer_look(s, "look b/c=", QS_TUNE_SLIPPED, "x");
    answer_look(s, "look f=2", QS_TUNE_TIMEOUT, "");
    script_expect_nothing(s);
    answer_look(s, "look g=3", QS_TUNE_SLIPPED, "2");
    expect_tuned(s, "1 0 5 7; 3 0 5 x; 1 0 5 ; 4 22 4 ; 5 110 5 ; 3 0 5 2");
    script_free(s);
}

/* Nothing was written that could be read back. */
static void answers_at_once_when_nothing_was_written(void **state)
{
    static const struct write writes[] = {{"a", "7", 0}, {"b", "8", 0}};
    struct script *s = connected();
    (void)state;
    send_tune(s, writes, 2, 0);
    answer_tune(s, "tune a=7 flags 0", QS_TUNE_MISSING);
    answer_tune(s, "tune b=8 flags 0", QS_TUNE_UNJOURNALLED);
    script_pass(s, 0);
    assert_string_equal(s->knobs.last, "");
    expect_tuned(s, "7 0 5 ; 9 0 5 ");
    script_free(s);
}

/* Between two windows what slipped is written again, and the run goes on. */
static void writes_within_a_run(void **state)
{
    static const struct write writes[] = {{"a", "7", 0}};
    struct script *s = connected();
    (void)state;
    script_run(s, &(struct run_spec){.capture = false});
    send_tune(s, writes, 1, 100);
    script_expect_work(s, QS_STATE_RUN_OPEN, QS_MSG_TUNE);
    answer_tune(s, "tune a=7 flags 0", QS_TUNE_SET);
    script_pass(s, 100 * MS);
    answer_look(s, "look a=7", QS_TUNE_SET, "7");
    script_expect(s, QS_MSG_TUNED);
    script_expect_state(s, QS_STATE_RUN_OPEN);
    script_measuring(s, 0, 1);
    script_free(s);
}

/* The longest list with the longest answers. */
static void takes_as_many_as_the_wire(void **state)
{
    struct write writes[QS_TUNE_MAX];
    char paths[QS_TUNE_MAX][16];
    struct qs_port_controlled file = {.outcome = QS_TUNE_SET};
    struct script *s = connected();
    struct qs_msg_tuned m;
    (void)state;
    for (size_t i = 0; i < QS_TUNE_MAX; i++) {
        snprintf(paths[i], sizeof paths[i], "p%zu", i);
        writes[i] = (struct write){paths[i], "1", 0};
    }
    send_tune(s, writes, QS_TUNE_MAX, 0);
    memset(file.before, 'b', sizeof file.before - 1);
    memset(file.after, 'n', sizeof file.after - 1);
    for (size_t i = 0; i < QS_TUNE_MAX; i++) {
        qs_agent_on_control(s->agent, &file);
    }
    script_pass(s, 0);
    for (size_t i = 0; i < QS_TUNE_MAX; i++) {
        qs_agent_on_control(s->agent, &file);
    }
    const struct letter *l = script_expect(s, QS_MSG_TUNED);
    assert_int_equal(qs_msg_decode_tuned(l->payload, l->n, &m), 0);
    assert_int_equal(m.writes.count, QS_TUNE_MAX);
    assert_int_equal(s->knobs.asked, 2 * QS_TUNE_MAX);
    script_free(s);
}

static void expect_restored(struct script *s, uint32_t id, bool more, size_t count)
{
    struct qs_msg_restored m;
    const struct letter *l = script_expect(s, QS_MSG_RESTORED);
    assert_int_equal(qs_msg_decode_restored(l->payload, l->n, &m), 0);
    assert_int_equal(m.id, id);
    assert_int_equal(m.more, more);
    assert_int_equal(m.files.count, count);
    script_expect_state(s, QS_STATE_READY);
}

static void puts_back_one_after_the_other(void **state)
{
    const struct qs_port_controlled file = {
        .outcome = QS_TUNE_SLIPPED, .error = 3, .path = "x/y", .before = "old", .after = "new"};
    const struct qs_port_controlled end = {.end = true};
    struct qs_msg_restored m;
    struct qs_restored r;
    struct script *s = connected();
    (void)state;
    send_restore(s, 3);
    peer_cancel(&s->peer);
    script_expect_work(s, QS_STATE_READY, QS_MSG_RESTORE);
    answer(s, "restore first", &file);
    answer(s, "restore", &end);
    const struct letter *l = script_expect(s, QS_MSG_RESTORED);
    assert_int_equal(qs_msg_decode_restored(l->payload, l->n, &m), 0);
    struct qs_iter it = qs_list_iter(&m.files);
    assert_true(qs_list_restored(&it, &r));
    assert_true(qs_text_is(r.path, "x/y") && qs_text_is(r.result.before, "old"));
    assert_true(qs_text_is(r.result.now, "new"));
    assert_int_equal(r.result.outcome, QS_TUNE_SLIPPED);
    assert_int_equal(r.result.error, 3);
    assert_false(m.more);
    send_restore(s, 4); /* a new pass */
    answer(s, "restore first", &end);
    expect_restored(s, 4, false, 0);
    script_free(s);
}

/* As many as there is room for; the next RESTORE goes on, unless another session or TUNE has come between. */
static void puts_back_page_by_page(void **state)
{
    struct qs_port_controlled file = {.outcome = QS_TUNE_SET};
    const struct qs_port_controlled end = {.end = true};
    static const struct write one = {"a", "7", 0};
    struct script *s = connected();
    size_t n = 0;
    (void)state;
    memset(file.path, 'p', QS_CONTROL_PATH_MAX_BYTES);
    memset(file.before, 'b', sizeof file.before - 1);
    memset(file.after, 'n', sizeof file.after - 1);
    for (int way = 0; way < 3; way++) {
        send_restore(s, 5);
        assert_string_equal(s->knobs.last, "restore first");
        for (n = 0; s->agent->asked; n++) {
            qs_agent_on_control(s->agent, &file);
        }
        assert_int_equal(n, QS_CONTROL_MAX_BYTES / 390);
        expect_restored(s, 5, true, n);
        if (way == 0) {
            send_restore(s, 6);
            answer(s, "restore", &end);
            expect_restored(s, 6, false, 0);
        } else if (way == 1) {
            script_unplug(s);
            script_connect(s);
        } else {
            send_tune(s, &one, 1, 0);
            answer_tune(s, "tune a=7 flags 0", QS_TUNE_MISSING);
            script_pass(s, 0);
            expect_tuned(s, "7 0 5 ");
            send_restore(s, 7);
            answer(s, "restore first", &end);
            expect_restored(s, 7, false, 0);
        }
    }
    strcpy(file.path, "p");
    file.before[0] = file.after[0] = '\0';
    send_restore(s, 8);
    for (n = 0; s->agent->asked; n++) {
        qs_agent_on_control(s->agent, &file);
    }
    expect_restored(s, 8, true, QS_TUNE_MAX);
    script_free(s);
}

static void ping(struct script *s)
{
    peer_ping(&s->peer, 1);
    script_expect(s, QS_MSG_PONG);
}

/* Each frame of the host makes it longer, but the keeper is told at most once a second: a second more. */
static void lease_lasts_as_long_as_the_host_is_heard(void **state)
{
    static const struct write one = {"a", "7", 0};
    const struct qs_port_controlled end = {.end = true};
    struct script *s = connected();
    (void)state;
    ping(s);
    assert_int_equal(s->knobs.leases, 0); /* nothing is changed */
    send_tune(s, &one, 1, 0);
    assert_int_equal(s->knobs.leases, 1); /* before the first write */
    assert_int_equal(s->knobs.lease_ns, 61 * S);
    answer_tune(s, "tune a=7 flags 0", QS_TUNE_SAME);
    script_pass(s, 0);
    answer_look(s, "look a=7", QS_TUNE_SET, "7");
    expect_tuned(s, "2 0 5 7");
    for (int i = 1; i < 10; i++) {
        script_pass(s, 100 * MS);
        ping(s);
        assert_int_equal(s->knobs.leases, 1);
    }
    script_pass(s, 100 * MS);
    ping(s);
    assert_int_equal(s->knobs.leases, 2);
    assert_int_equal(s->knobs.lease_ns, 61 * S);
    qs_agent_on_lease_end(s->agent, s->knobs.grant);
    script_pass(s, 1500 * MS);
    ping(s);
    assert_int_equal(s->knobs.leases, 2);
    send_tune(s, &one, 1, 0);
    answer_tune(s, "tune a=7 flags 0", QS_TUNE_MISSING);
    script_pass(s, 0);
    expect_tuned(s, "7 0 5 ");
    send_restore(s, 1);
    answer(s, "restore first", &end);
    expect_restored(s, 1, false, 0);
    assert_int_equal(s->knobs.lease_ns, 0);
    size_t before = s->knobs.leases;
    script_pass(s, 1500 * MS);
    ping(s);
    assert_int_equal(s->knobs.leases, before);
    script_free(s);
}

/* The news that a lease has ended cross a TUNE: they are about another one. */
static void lease_does_not_end_by_old_news(void **state)
{
    static const struct write one = {"a", "7", 0};
    struct script *s = connected();
    (void)state;
    send_tune(s, &one, 1, 0);
    uint32_t first = s->knobs.grant;
    assert_int_not_equal(first, 0); /* that is none */
    answer_tune(s, "tune a=7 flags 0", QS_TUNE_MISSING);
    script_pass(s, 0);
    expect_tuned(s, "7 0 5 ");
    send_tune(s, &one, 1, 0);
    assert_int_not_equal(s->knobs.grant, first);
    qs_agent_on_lease_end(s->agent, first);
    answer_tune(s, "tune a=7 flags 0", QS_TUNE_MISSING);
    script_pass(s, 0);
    expect_tuned(s, "7 0 5 ");
    size_t before = s->knobs.leases;
    script_pass(s, 1500 * MS);
    ping(s);
    assert_int_equal(s->knobs.leases, before + 1);
    assert_int_equal(s->knobs.lease_ns, 61 * S);
    script_free(s);
}

static void hold_lease(struct script *s)
{
    static const struct write one = {"a", "7", 0};
    send_tune(s, &one, 1, 0);
    answer_tune(s, "tune a=7 flags 0", QS_TUNE_MISSING);
    script_pass(s, 0);
    expect_tuned(s, "7 0 5 ");
}

/* Before a window it grows by the window's length, in the window nothing is said, and after it it is as it
 * was.
 */
static void lease_outlasts_a_window(void **state)
{
    const struct open_spec open = {
        .window = 4, .phase = QS_PHASE_MEASURE, .iterations = 1, .max_ns = 30 * S, .lead_ns = 20 * MS};
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        struct script *s = connected();
        hold_lease(s);
        script_run(s, &(struct run_spec){.limit_ns = 100 * S, .hook_limit_ns = 5 * S});
        peer_open(&s->peer, &open);
        script_expect(s, QS_MSG_ARM);
        size_t before = s->knobs.leases;
        peer_window(&s->peer, QS_MSG_QUIET, 4);
        assert_int_equal(s->knobs.leases, before + 1);
        assert_int_equal(s->knobs.lease_ns, 61 * S + 30 * S + 20 * MS + 100 * S + 10 * S);
        script_pass(s, 2000 * MS);
        peer_ping(&s->peer, 1);
        assert_int_equal(s->knobs.leases, before + 1);
        if (lost) {
            script_unplug(s);
            assert_int_equal(s->knobs.leases, before + 1);
        }
        script_exit(s, 1 * S, 0);
        assert_int_equal(s->knobs.leases, before + 2);
        assert_int_equal(s->knobs.lease_ns, 61 * S);
        script_free(s);
    }
}

/* While the agent sums up a program it hears nobody. */
static void lease_outlasts_what_makes_it_deaf(void **state)
{
    struct script *s = connected();
    (void)state;
    hold_lease(s);
    script_run(s, &(struct run_spec){.capture = false});
    assert_int_equal(s->knobs.lease_ns, 61 * S + qs_request_of(QS_MSG_RUN_BEGIN)->reply_ns);
    script_free(s);
}

/* What was asked for a host that is gone answers nobody, and does not disturb the next one. */
/* The host or the gate is lost before the window has begun: there is none to wait for. */
static void lease_is_short_again_without_its_window(void **state)
{
    const struct qs_expectation e = {.sensor = qs_text_of("heat"),
                                     .flags = QS_GATE_HAS_HI,
                                     .hi = 40,
                                     .timeout_ns = 60 * S,
                                     .on_timeout = QS_GATE_ON_TIMEOUT_FAIL};
    const struct open_spec open = {.window = 4,
                                   .phase = QS_PHASE_MEASURE,
                                   .iterations = 1,
                                   .max_ns = 30 * S,
                                   .lead_ns = 900 * MS,
                                   .gate = &e,
                                   .gate_count = 1};
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        struct script *s = connected();
        script_sensor(s, 0, "heat", QS_READING_OK, 1);
        hold_lease(s);
        script_run(s, &(struct run_spec){.limit_ns = 100 * S, .hook_limit_ns = 5 * S});
        peer_open(&s->peer, &open);
        script_expect(s, QS_MSG_ARM);
        peer_window(&s->peer, QS_MSG_QUIET, 4);
        assert_true(s->knobs.lease_ns > 100 * S);
        if (lost) {
            script_unplug(s);
        } else {
            s->sensors[0].reading.value = 41;
            script_pass(s, 100 * MS);
            script_expect(s, QS_MSG_DISARM);
        }
        assert_int_equal(s->knobs.lease_ns, 61 * S);
        script_free(s);
    }
}

static void forgets_what_a_lost_host_asked(void **state)
{
    static const struct write writes[] = {{"a", "7", 0}, {"b", "8", 0}};
    struct script *s = connected();
    (void)state;
    send_tune(s, writes, 1, 2000);
    answer_tune(s, "tune a=7 flags 0", QS_TUNE_SET); /* it settles */
    script_unplug(s);
    script_connect(s);
    send_tune(s, writes, 2, 0);
    script_pass(s, 2500 * MS); /* what the other had to wait for */
    answer_tune(s, "tune a=7 flags 0", QS_TUNE_SET);
    script_unplug(s);
    answer(s, "tune b=8 flags 0", &(struct qs_port_controlled){.outcome = QS_TUNE_SET});
    script_expect_state(s, QS_STATE_DOWN);
    assert_string_equal(s->knobs.last, "");
    script_free(s);
}

const struct CMUnitTest cases_tune[] = {
    cmocka_unit_test(writes_then_reads_back),
    cmocka_unit_test(answers_at_once_when_nothing_was_written),
    cmocka_unit_test(writes_within_a_run),
    cmocka_unit_test(takes_as_many_as_the_wire),
    cmocka_unit_test(puts_back_one_after_the_other),
    cmocka_unit_test(puts_back_page_by_page),
    cmocka_unit_test(lease_lasts_as_long_as_the_host_is_heard),
    cmocka_unit_test(lease_outlasts_a_window),
    cmocka_unit_test(lease_outlasts_what_makes_it_deaf),
    cmocka_unit_test(lease_does_not_end_by_old_news),
    cmocka_unit_test(lease_is_short_again_without_its_window),
    cmocka_unit_test(forgets_what_a_lost_host_asked),
};
const size_t cases_tune_count = sizeof cases_tune / sizeof cases_tune[0];
