/* When the core asks its port's disk: before a window, after it and at an acknowledgement, never in one. */
#include "cases.h"
#include "script.h"

#include <string.h>

static const struct script_options plain;

/* A port's disk: what it was asked, as letters, and what it says. */
static struct {
    char asked[64];
    size_t bytes, frames; /* of the last reserve; that had been sent at the last keep */
    bool full;
} disk;

static void note(char what)
{
    size_t n = strlen(disk.asked);
    assert_true(n + 1 < sizeof disk.asked);
    disk.asked[n] = what;
    disk.asked[n + 1] = '\0';
}

static bool spool_reserve(void *ctx, struct qs_ring *ring, size_t bytes, struct qs_port_fault *fault)
{
    const struct script *s = ctx;
    assert_ptr_equal(ring, &s->agent->ring);
    assert_false(ring->open);
    note('r');
    disk.bytes = bytes;
    memcpy(fault->text, "the disk is full", sizeof "the disk is full");
    return !disk.full;
}

static void spool_keep(void *ctx, const struct qs_ring *ring, struct qs_ring_window *w)
{
    const struct script *s = ctx;
    assert_ptr_equal(w, &ring->windows[ring->count - 1]);
    assert_true(w->closed_bytes > 0);
    note('k');
    disk.frames = s->peer.count;
}

static void spool_tidy(void *ctx, const struct qs_ring *ring)
{
    const struct script *s = ctx;
    (void)ring;
    assert_false(qs_agent_is_silent(s->agent));
    note('t');
}

static const struct qs_port_spool spool = {.reserve = spool_reserve, .keep = spool_keep, .tidy = spool_tidy};

/* One iteration, sent and not acknowledged. */
static void measure(struct script *s)
{
    script_measuring(s, 0, 1);
    script_exit(s, 1 * MS, 0);
    script_expect(s, QS_MSG_CLOSED);
    script_expect(s, QS_MSG_ITERATIONS);
}

static struct script *in_run_with_disk(void)
{
    struct script *s = script_new(&plain);
    memset(&disk, 0, sizeof disk);
    s->agent->port.spool = &spool;
    script_connect(s);
    script_run(s, &(struct run_spec){.capture = false});
    return s;
}

/* Before anything of it is sent; an ACK in a window touches no disk, one outside does. */
static void is_on_the_disk_before_it_is_offered(void **state)
{
    struct script *s = in_run_with_disk();
    (void)state;
    script_measuring(s, 0, 2);
    assert_string_equal(disk.asked, "r");
    assert_int_equal(disk.bytes, 2 * qs_ring_row_bytes(QS_PORT_METRICS) + QS_RING_CLOSED_BYTES);
    script_exit(s, 1 * MS, 0);
    assert_string_equal(disk.asked, "r");
    size_t sent = s->peer.count;
    script_exit(s, 1 * MS, 0);
    assert_string_equal(disk.asked, "rk");
    assert_int_equal(disk.frames, sent);
    script_expect(s, QS_MSG_CLOSED);
    script_expect(s, QS_MSG_ITERATIONS);
    script_measuring(s, 2, 1);
    peer_seq(&s->peer, QS_MSG_ACK, 2);
    assert_string_equal(disk.asked, "rkr");
    script_unplug(s);
    script_expect_state(s, QS_STATE_ALONE);
    script_exit(s, 1 * MS, 0);
    script_expect_state(s, QS_STATE_DOWN);
    assert_string_equal(disk.asked, "rkrk"); /* without a host, too */
    script_free(s);
    s = in_run_with_disk();
    measure(s);
    peer_seq(&s->peer, QS_MSG_ACK, 1);
    assert_string_equal(disk.asked, "rkt");
    script_free(s);
}

static void opens_no_window_that_could_not_be_kept(void **state)
{
    struct script *s = in_run_with_disk();
    struct qs_msg_error m;
    (void)state;
    disk.full = true;
    peer_open(&s->peer, &(struct open_spec){.first_seq = 0, .iterations = 1});
    const struct letter *l = script_expect(s, QS_MSG_ERROR);
    assert_int_equal(qs_msg_decode_error(l->payload, l->n, &m), 0);
    assert_int_equal(m.code, QS_CODE_RESOURCE);
    assert_int_equal(m.blame, QS_WIRE_BLAME_DEVICE);
    assert_true(qs_text_is(m.text, "the disk is full"));
    script_expect_state(s, QS_STATE_RUN_OPEN);
    assert_int_equal(s->agent->ring.count, 0);
    disk.full = false;
    measure(s);
    assert_string_equal(disk.asked, "rrk");
    script_free(s);
}

const struct CMUnitTest cases_spool[] = {
    cmocka_unit_test(is_on_the_disk_before_it_is_offered),
    cmocka_unit_test(opens_no_window_that_could_not_be_kept),
};
const size_t cases_spool_count = sizeof cases_spool / sizeof cases_spool[0];
