/* Runs of stream mode: a window's document goes the way of its row. */
#include "cases.h"
#include "script.h"

#include <string.h>

static const struct script_options plain;
static const struct script_options roomy = {.ring_bytes = 2 * QS_RING_FLOOR_BYTES};

enum { MOST_BYTES = 200000 };

static struct script *measuring(uint64_t total_bytes)
{
    struct script *s = script_new(&roomy);
    script_connect(s);
    script_run(s, &(struct run_spec){.document_max_bytes = MOST_BYTES});
    s->document = (struct qs_port_document){.status = QS_PULL_OK, .total_bytes = total_bytes};
    script_measuring(s, 0, 1);
    return s;
}

static struct qs_msg_document next_piece(struct script *s, uint32_t offset)
{
    struct qs_msg_document m;
    const struct letter *l = script_expect(s, QS_MSG_DOCUMENT);
    assert_int_equal(qs_msg_decode_document(l->payload, l->n, &m), 0);
    assert_int_equal(m.offset, offset);
    for (size_t i = 0; i < m.bytes.n; i++) {
        assert_int_equal((uint8_t)m.bytes.p[i], (offset + i) % 251);
    }
    return m;
}

/* All pieces of a document, between CLOSED and its row. */
static void expect_document(struct script *s, uint64_t total_bytes, uint32_t kept_bytes)
{
    uint32_t come = 0;
    script_expect(s, QS_MSG_CLOSED);
    do {
        struct qs_msg_document m = next_piece(s, come);
        assert_int_equal(m.status, QS_PULL_OK);
        assert_int_equal(m.total_bytes, total_bytes);
        assert_int_equal(m.kept_bytes, kept_bytes);
        come += m.bytes.n;
    } while (come < kept_bytes);
    script_expect(s, QS_MSG_ITERATIONS);
    script_expect_nothing(s);
}

static void sends_the_document_with_the_window(void **state)
{
    static const uint32_t sizes[] = {0, 1, 61440, 61441, MOST_BYTES};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct script *s = measuring(sizes[i]);
        script_exit(s, 5 * MS, 0);
        expect_document(s, sizes[i], sizes[i]);
        assert_int_equal(s->documents, 1);
        peer_seq(&s->peer, QS_MSG_ACK, 1);
        assert_int_equal(s->agent->ring.used, 0);
        script_free(s);
    }
}

static void keeps_the_beginning_of_what_is_too_long(void **state)
{
    (void)state;
    struct script *s = measuring(UINT64_C(5000000000));
    script_exit(s, 5 * MS, 0);
    expect_document(s, UINT64_C(5000000000), MOST_BYTES);
    script_free(s);
}

/* A file with a hole is as long as its maker likes; the wire knows an end. */
static void bounds_how_long_it_says_it_is(void **state)
{
    (void)state;
    struct script *s = measuring(UINT64_C(1) << 60);
    script_exit(s, 5 * MS, 0);
    expect_document(s, QS_SEQ_MAX, MOST_BYTES);
    script_free(s);
}

static void says_why_there_is_none(void **state)
{
    (void)state;
    struct script *s = measuring(0);
    s->document = (struct qs_port_document){.status = QS_PULL_MISSING, .why = "no such file"};
    script_exit(s, 5 * MS, 3);
    script_expect(s, QS_MSG_CLOSED);
    struct qs_msg_document m = next_piece(s, 0);
    assert_int_equal(m.status, QS_PULL_MISSING);
    assert_true(qs_text_is(m.why, "no such file"));
    assert_int_equal(m.kept_bytes, 0);
    script_expect(s, QS_MSG_ITERATIONS);
    script_free(s);
}

static void keeps_the_document_over_a_lost_link(void **state)
{
    (void)state;
    struct script *s = measuring(100000);
    script_unplug(s);
    script_exit(s, 5 * MS, 0);
    assert_int_equal(s->documents, 1);
    assert_int_equal(s->run_ends, 1);
    script_plug(s);
    peer_hello(&s->peer, 1000);
    script_expect(s, QS_MSG_HELLO_AGENT);
    script_expect(s, QS_MSG_HELD);
    for (int twice = 0; twice < 2; twice++) {
        peer_seq(&s->peer, QS_MSG_RESEND, 0);
        expect_document(s, 100000, 100000);
    }
    peer_seq(&s->peer, QS_MSG_ACK, 1);
    assert_int_equal(s->agent->ring.used, 0);
    script_free(s);
}

static void a_window_that_has_no_row_has_no_document(void **state)
{
    (void)state;
    struct script *s = measuring(7);
    peer_cancel(&s->peer);
    script_exit(s, 5 * MS, 0);
    script_expect(s, QS_MSG_CLOSED);
    script_expect_nothing(s);
    assert_int_equal(s->documents, 0);
    assert_int_equal(s->agent->ring.used, 0);
    script_free(s);
}

static void takes_one_process_a_window_and_only_with_room(void **state)
{
    (void)state;
    struct script *s = script_new(&plain);
    script_connect(s);
    script_run(s, &(struct run_spec){.document_max_bytes = QS_DOCUMENT_MAX_BYTES});
    peer_open(&s->peer, &(struct open_spec){.iterations = 2});
    assert_int_equal(script_expect_error(s), QS_CODE_STATE);
    peer_run_end(&s->peer);
    script_expect(s, QS_MSG_RUN_ENDED);
    script_run(s, &(struct run_spec){.document_max_bytes = 1});
    peer_open(&s->peer, &(struct open_spec){.iterations = 2});
    assert_int_equal(script_expect_error(s), QS_CODE_STATE);
    peer_run_end(&s->peer);
    script_expect(s, QS_MSG_RUN_ENDED);
    script_run(s, &(struct run_spec){.document_max_bytes = QS_DOCUMENT_MAX_BYTES});
    peer_open(&s->peer, &(struct open_spec){.iterations = 1});
    assert_int_equal(script_expect_error(s), QS_CODE_RESOURCE);
    script_expect_state(s, QS_STATE_RUN_OPEN);
    script_free(s);
}

static void refuses_the_mode_where_the_port_lacks_it(void **state)
{
    (void)state;
    struct script *s = script_new(&(struct script_options){.no_stream = true});
    script_connect(s);
    assert_int_equal(s->peer.agent.features & QS_FEATURE_STREAM, 0);
    peer_run_begin(&s->peer,
                   &(struct run_spec){.argv = (const char *const[]){"x", NULL}, .document_max_bytes = 1});
    assert_int_equal(script_expect_error(s), QS_CODE_UNSUPPORTED);
    script_free(s);
}

const struct CMUnitTest cases_stream[] = {
    cmocka_unit_test(sends_the_document_with_the_window),
    cmocka_unit_test(keeps_the_beginning_of_what_is_too_long),
    cmocka_unit_test(bounds_how_long_it_says_it_is),
    cmocka_unit_test(says_why_there_is_none),
    cmocka_unit_test(keeps_the_document_over_a_lost_link),
    cmocka_unit_test(a_window_that_has_no_row_has_no_document),
    cmocka_unit_test(takes_one_process_a_window_and_only_with_room),
    cmocka_unit_test(refuses_the_mode_where_the_port_lacks_it),
};
const size_t cases_stream_count = sizeof cases_stream / sizeof cases_stream[0];
