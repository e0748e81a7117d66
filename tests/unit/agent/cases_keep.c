/* What was measured stays until it is acknowledged, whatever happens to the link. */
#include "cases.h"
#include "script.h"

#include <stdlib.h>
#include <string.h>

static const struct script_options plain;

/* n iterations of run `run`, sent and not acknowledged. */
static void measure(struct script *s, uint64_t first_seq, uint32_t n)
{
    script_measuring(s, first_seq, n);
    for (uint32_t i = 0; i < n; i++) {
        script_exit(s, (int64_t)(first_seq + i + 1) * 1000, 0);
    }
    script_expect(s, QS_MSG_CLOSED);
    script_expect(s, QS_MSG_ITERATIONS);
}

/* What stays for CLOSED is the window's room without its rows, wherever the window lies. */
static void the_ring_leaves_room(void **state)
{
    enum { DOCUMENT = 100, EACH = QS_ROW_FIXED_BYTES + 8 };
    static uint8_t memory[4 * QS_RING_CLOSED_BYTES];
    const struct qs_ring_window head = {.metrics = 1, .document_bytes = DOCUMENT};
    struct qs_ring ring;
    size_t cap;
    (void)state;
    qs_ring_init(&ring, memory, sizeof memory);
    for (size_t at = 0; at < 3 * (2 * EACH + 10); at += 2 * EACH + 10) {
        assert_true(qs_ring_open(&ring, &head, 3));
        assert_ptr_equal(qs_ring_closed(&ring, &cap), memory + at);
        assert_int_equal(cap, 3 * EACH + QS_RING_CLOSED_BYTES + DOCUMENT);
        assert_ptr_equal(qs_ring_row(&ring), memory + at);
        assert_ptr_equal(qs_ring_row(&ring), memory + at + EACH);
        assert_ptr_equal(qs_ring_closed(&ring, &cap), memory + at + 2 * EACH);
        assert_int_equal(cap, EACH + QS_RING_CLOSED_BYTES + DOCUMENT);
        assert_ptr_equal(qs_ring_document(&ring, 10, &cap), memory + at + 2 * EACH + 10);
        assert_int_equal(cap, EACH + QS_RING_CLOSED_BYTES + DOCUMENT - 10);
        assert_non_null(qs_ring_close(&ring, 10));
    }
}

static struct script *in_run(void)
{
    struct script *s = script_new(&plain);
    script_connect(s);
    script_run(s, &(struct run_spec){.capture = false});
    return s;
}

static size_t reconnect(struct script *s, struct qs_held *first)
{
    struct qs_msg_held m;
    script_plug(s);
    peer_hello(&s->peer, 1000);
    script_expect(s, QS_MSG_HELLO_AGENT);
    const struct letter *l = script_expect(s, QS_MSG_HELD);
    assert_int_equal(qs_msg_decode_held(l->payload, l->n, &m), 0);
    struct qs_iter it = qs_list_iter(&m.held);
    qs_list_held(&it, first);
    return m.held.count;
}

static void forgets_what_is_acknowledged(void **state)
{
    struct script *s = in_run();
    (void)state;
    measure(s, 0, 3);
    measure(s, 3, 2);
    assert_int_equal(s->agent->ring.count, 2);
    peer_seq(&s->peer, QS_MSG_ACK, 3);
    assert_int_equal(s->agent->ring.count, 1);
    peer_seq(&s->peer, QS_MSG_ACK, 3); /* once more does no harm */
    peer_seq(&s->peer, QS_MSG_ACK, 4);
    assert_int_equal(s->agent->ring.count, 1);
    peer_seq(&s->peer, QS_MSG_ACK, 5);
    assert_int_equal(s->agent->ring.count, 0);
    assert_int_equal(s->agent->ring.used, 0);
    peer_seq(&s->peer, QS_MSG_ACK, 5);
    script_expect_nothing(s);
    assert_true(s->link_open);
    script_free(s);
}

static void refuses_false_acknowledgements(void **state)
{
    static const uint64_t seqs[] = {2, 6};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct script *s = in_run();
        measure(s, 0, 5);
        peer_seq(&s->peer, QS_MSG_ACK, 3);
        peer_seq(&s->peer, QS_MSG_ACK, seqs[i]);
        script_expect_fatal(s);
        assert_int_equal(s->agent->ring.count, 1);
        script_free(s);
    }
    struct script *s = in_run();
    measure(s, 0, 1);
    peer_seq(&s->peer, QS_MSG_ACK, 1);
    peer_seq(&s->peer, QS_MSG_ACK, 0); /* backwards, with nothing held */
    script_expect_fatal(s);
    script_free(s);
}

static void resends_the_same_bytes(void **state)
{
    struct script *s = in_run();
    struct qs_held held;
    uint8_t *closed;
    uint8_t *rows;
    (void)state;
    script_measuring(s, 0, 2);
    script_exit(s, 1 * MS, 0);
    script_exit(s, 2 * MS, 0);
    const struct letter *c = script_expect(s, QS_MSG_CLOSED);
    const struct letter *r = script_expect(s, QS_MSG_ITERATIONS);
    size_t closed_n = c->n;
    size_t rows_n = r->n;
    closed = memcpy(malloc(closed_n), c->payload, closed_n);
    rows = memcpy(malloc(rows_n), r->payload, rows_n);
    script_unplug(s);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(i == 0 ? reconnect(s, &held) : 1, 1);
        assert_int_equal(held.first_seq, 0);
        assert_int_equal(held.next_seq, 2);
        peer_seq(&s->peer, QS_MSG_RESEND, (uint64_t)i); /* whole windows, from any iteration of theirs */
        c = script_expect(s, QS_MSG_CLOSED);
        assert_int_equal(c->n, closed_n);
        assert_memory_equal(c->payload, closed, closed_n);
        r = script_expect(s, QS_MSG_ITERATIONS);
        assert_int_equal(r->n, rows_n);
        assert_memory_equal(r->payload, rows, rows_n);
    }
    peer_seq(&s->peer, QS_MSG_RESEND, 2);
    assert_int_equal(script_expect_error(s), QS_CODE_UNKNOWN_RUN);
    script_run(s, &(struct run_spec){.capture = false});
    peer_seq(&s->peer, QS_MSG_RESEND, 0);
    script_expect(s, QS_MSG_CLOSED);
    script_expect(s, QS_MSG_ITERATIONS);
    peer_seq(&s->peer, QS_MSG_ACK, 2);
    assert_int_equal(s->agent->ring.count, 0);
    peer_seq(&s->peer, QS_MSG_RESEND, 0);
    assert_int_equal(script_expect_error(s), QS_CODE_UNKNOWN_RUN);
    free(closed);
    free(rows);
    script_free(s);
}

static void finishes_a_window_alone(void **state)
{
    static const uint8_t types[] = {0, QS_MSG_BYE, QS_MSG_ERROR, QS_MSG_OPEN};
    (void)state;
    for (size_t i = 0; i < sizeof types; i++) {
        struct script *s = in_run();
        struct qs_held held;
        script_measuring(s, 0, 3);
        script_exit(s, 1 * MS, 0);
        if (types[i]) {
            peer_plain(&s->peer, types[i]);
        } else {
            script_unplug(s);
        }
        script_expect_state(s, QS_STATE_ALONE);
        assert_true(qs_agent_is_silent(s->agent));
        assert_false(qs_agent_takes_link(s->agent));
        script_exit(s, 1 * MS, 0);
        script_pass(s, 60 * S); /* the last one reaches its limit, asks, forces */
        assert_true(s->asked);
        script_pass(s, 1 * S);
        script_expect_state(s, QS_STATE_DOWN);
        assert_int_equal(s->run_ends, 1);
        assert_int_equal(reconnect(s, &held), 1);
        assert_int_equal(held.next_seq, 3);
        peer_seq(&s->peer, QS_MSG_ACK, 3); /* it was never sent */
        script_expect_fatal(s);
        reconnect(s, &held);
        peer_seq(&s->peer, QS_MSG_RESEND, 0);
        script_expect(s, QS_MSG_CLOSED);
        script_expect(s, QS_MSG_ITERATIONS);
        peer_seq(&s->peer, QS_MSG_ACK, 3);
        assert_int_equal(s->agent->ring.count, 0);
        script_free(s);
    }
}

static void goes_on_with_a_run_after_a_loss(void **state)
{
    struct script *s = in_run();
    struct qs_held held;
    struct qs_msg_run_seq ended;
    (void)state;
    measure(s, 0, 2);
    script_unplug(s);
    reconnect(s, &held);
    script_run(s, &(struct run_spec){.capture = false});
    peer_open(&s->peer, &(struct open_spec){.first_seq = 0, .iterations = 1});
    assert_int_equal(script_expect_error(s), QS_CODE_STATE);
    measure(s, 2, 1);
    peer_seq(&s->peer, QS_MSG_ACK, 3);
    assert_int_equal(s->agent->ring.count, 0);
    peer_run_end(&s->peer);
    const struct letter *l = script_expect(s, QS_MSG_RUN_ENDED);
    assert_int_equal(qs_msg_decode_run_seq(l->payload, l->n, &ended), 0);
    assert_int_equal(ended.seq, 3);
    script_free(s);
}

/* Windows of one run are offered as one; the runs one by one. */
static void offers_each_run_once(void **state)
{
    struct script *s = in_run();
    struct qs_msg_held m;
    struct qs_held held;
    (void)state;
    measure(s, 5, 3);
    measure(s, 8, 2);
    peer_run_end(&s->peer);
    script_expect(s, QS_MSG_RUN_ENDED);
    s->peer.run.b[0]++;
    script_run(s, &(struct run_spec){.capture = false});
    measure(s, 0, 4);
    peer_seq(&s->peer, QS_MSG_ACK, 1);
    script_unplug(s);
    script_plug(s);
    peer_hello(&s->peer, 1000);
    script_expect(s, QS_MSG_HELLO_AGENT);
    const struct letter *l = script_expect(s, QS_MSG_HELD);
    assert_int_equal(qs_msg_decode_held(l->payload, l->n, &m), 0);
    assert_int_equal(m.held.count, 2);
    struct qs_iter it = qs_list_iter(&m.held);
    assert_true(qs_list_held(&it, &held));
    assert_int_equal(held.run.b[0] + 1, s->peer.run.b[0]);
    assert_int_equal(held.first_seq, 5);
    assert_int_equal(held.next_seq, 10);
    assert_true(qs_list_held(&it, &held));
    assert_true(qs_uid_equal(&held.run, &s->peer.run));
    assert_int_equal(held.first_seq, 1);
    assert_int_equal(held.next_seq, 4);
    peer_seq(&s->peer, QS_MSG_RESEND, 1); /* of this run alone, the whole window */
    script_expect(s, QS_MSG_CLOSED);
    script_expect(s, QS_MSG_ITERATIONS);
    script_expect_nothing(s);
    size_t used = s->agent->ring.windows[2].at;
    peer_seq(&s->peer, QS_MSG_ACK, 4); /* the last of them goes, then the first */
    assert_int_equal(s->agent->ring.count, 2);
    assert_int_equal(s->agent->ring.used, used);
    s->peer.run.b[0]--;
    peer_seq(&s->peer, QS_MSG_RESEND, 5);
    for (int i = 0; i < 2; i++) {
        script_expect(s, QS_MSG_CLOSED);
        script_expect(s, QS_MSG_ITERATIONS);
    }
    peer_seq(&s->peer, QS_MSG_ACK, 8);
    assert_int_equal(s->agent->ring.count, 1);
    assert_int_equal(s->agent->ring.windows[0].at, 0);
    peer_seq(&s->peer, QS_MSG_RESEND, 8);
    script_expect(s, QS_MSG_CLOSED);
    struct qs_msg_iterations rows;
    struct qs_row row;
    l = script_expect(s, QS_MSG_ITERATIONS);
    assert_int_equal(qs_msg_decode_iterations(l->payload, l->n, &rows), 0);
    assert_int_equal(rows.first_seq, 8);
    it = qs_list_iter(&rows.rows);
    assert_true(qs_list_row(&it, rows.metrics.count, &row));
    assert_int_equal(row.duration_ns, 9 * 1000);
    script_free(s);
}

static void keeps_farms_apart(void **state)
{
    struct script *s = in_run();
    struct qs_held held;
    (void)state;
    measure(s, 0, 2);
    script_unplug(s);
    s->peer.farm.b[0] ^= 1;
    assert_int_equal(reconnect(s, &held), 0);
    peer_seq(&s->peer, QS_MSG_RESEND, 0);
    assert_int_equal(script_expect_error(s), QS_CODE_UNKNOWN_RUN);
    s->agent->run.counting = false; /* as after a run of this farm's own */
    peer_seq(&s->peer, QS_MSG_ACK, 2);
    assert_int_equal(script_expect_error(s), QS_CODE_UNKNOWN_RUN);
    assert_int_equal(s->agent->ring.count, 1);
    script_unplug(s);
    s->peer.farm.b[0] ^= 1;
    assert_int_equal(reconnect(s, &held), 1);
    script_free(s);
}

static void opens_no_window_without_room(void **state)
{
    struct script *s = in_run();
    uint64_t seq = 0;
    struct qs_msg_error m;
    (void)state;
    while (s->agent->ring.cap - s->agent->ring.used >=
           QS_RING_CLOSED_BYTES + 1000 * qs_ring_row_bytes(QS_PORT_METRICS)) {
        measure(s, seq, 1000);
        if (peer_pop(&s->peer)) { /* the second part */
            seq += 1000;
        }
    }
    peer_open(&s->peer, &(struct open_spec){.first_seq = seq, .iterations = QS_ITERATIONS_MAX});
    const struct letter *l = script_expect(s, QS_MSG_ERROR);
    assert_int_equal(qs_msg_decode_error(l->payload, l->n, &m), 0);
    assert_int_equal(m.code, QS_CODE_RESOURCE);
    assert_int_equal(m.blame, QS_WIRE_BLAME_DEVICE);
    assert_true(qs_uid_equal(&m.run, &s->peer.run));
    script_expect_state(s, QS_STATE_RUN_OPEN);
    peer_seq(&s->peer, QS_MSG_ACK, seq);
    measure(s, seq, 1);
    script_free(s);
}

/* An ACK that comes late, in the silence: it counts as a frame and is obeyed. */
static void takes_an_ack_in_a_window(void **state)
{
    struct script *s = in_run();
    struct qs_msg_closed m;
    (void)state;
    measure(s, 0, 2);
    script_measuring(s, 2, 2);
    script_exit(s, 5 * MS, 0);
    peer_seq(&s->peer, QS_MSG_ACK, 2);
    script_exit(s, 6 * MS, 0);
    script_expect_closed(s, &m);
    assert_true(peer_has_taint(&m, "link.frames", -1, NULL));
    struct qs_msg_iterations rows;
    struct qs_row row;
    const struct letter *l = script_expect(s, QS_MSG_ITERATIONS);
    assert_int_equal(qs_msg_decode_iterations(l->payload, l->n, &rows), 0);
    struct qs_iter it = qs_list_iter(&rows.rows);
    assert_true(qs_list_row(&it, rows.metrics.count, &row));
    assert_int_equal(row.duration_ns, 5 * MS);
    assert_int_equal(s->agent->ring.count, 1);
    script_free(s);
}

/* Nothing complete is held: what the open window has so far is not to be acknowledged. A host that does it
 * all the same changes nothing. */
static void keeps_an_open_window_whatever_is_acknowledged(void **state)
{
    struct script *s = in_run();
    struct qs_msg_closed m;
    (void)state;
    script_measuring(s, 0, 3);
    script_exit(s, 5 * MS, 0);
    peer_seq(&s->peer, QS_MSG_ACK, 1);
    assert_int_equal(s->agent->ring.count, 1);
    script_exit(s, 6 * MS, 0);
    script_exit(s, 7 * MS, 0);
    script_expect_closed(s, &m);
    assert_int_equal(m.iterations, 3);
    (void)script_expect(s, QS_MSG_ITERATIONS);
    assert_int_equal(s->agent->ring.count, 1);
    script_free(s);
}

/* ACKs of the window before are welcome on the way to the next. */
static void takes_an_ack_on_the_way(void **state)
{
    struct script *s = in_run();
    const struct qs_expectation e = {
        .sensor = qs_text_of("heat"), .flags = QS_GATE_HAS_HI, .hi = 40, .timeout_ns = 60 * S};
    (void)state;
    measure(s, 0, 4);
    script_sensor(s, 0, "heat", QS_READING_OK, 50);
    peer_open(&s->peer, &(struct open_spec){
                            .first_seq = 4, .iterations = 1, .lead_ns = 1 * S, .gate = &e, .gate_count = 1});
    script_expect(s, QS_MSG_WAITING);
    peer_seq(&s->peer, QS_MSG_ACK, 1);
    s->sensors[0].reading.value = 1;
    script_pass(s, 100 * MS);
    script_expect(s, QS_MSG_ARM);
    peer_seq(&s->peer, QS_MSG_ACK, 2);
    peer_window(&s->peer, QS_MSG_QUIET, 0);
    peer_seq(&s->peer, QS_MSG_ACK, 4);
    script_expect_state(s, QS_STATE_DRAINING);
    script_pass(s, 1 * S);
    script_exit(s, 1 * MS, 0);
    script_expect(s, QS_MSG_CLOSED);
    script_expect(s, QS_MSG_ITERATIONS);
    script_free(s);
}

const struct CMUnitTest cases_keep[] = {
    cmocka_unit_test(the_ring_leaves_room),
    cmocka_unit_test(forgets_what_is_acknowledged),
    cmocka_unit_test(refuses_false_acknowledgements),
    cmocka_unit_test(resends_the_same_bytes),
    cmocka_unit_test(finishes_a_window_alone),
    cmocka_unit_test(goes_on_with_a_run_after_a_loss),
    cmocka_unit_test(keeps_farms_apart),
    cmocka_unit_test(opens_no_window_without_room),
    cmocka_unit_test(takes_an_ack_in_a_window),
    cmocka_unit_test(keeps_an_open_window_whatever_is_acknowledged),
    cmocka_unit_test(takes_an_ack_on_the_way),
    cmocka_unit_test(offers_each_run_once),
};
const size_t cases_keep_count = sizeof cases_keep / sizeof cases_keep[0];
