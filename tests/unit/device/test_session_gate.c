/* An agent that is ready for its window and takes that back, again and again: it gains no time by it, and
 * does not keep the host busy. The session's clock is the test's. */
#include "bed.h"

#include <string.h>

#define SECOND_NS INT64_C(1000000000)

enum { TURNS_MOST = 20 };

static int64_t now_ns;
static int turns;

int64_t __wrap_qs_loop_now_ns(const struct qs_loop *loop);

int64_t __wrap_qs_loop_now_ns(const struct qs_loop *loop)
{
    (void)loop;
    return now_ns;
}

static struct bed *waiting_bed(peer_fn *script)
{
    struct bed *b = bed_new(PEER_UNIX);
    now_ns = SECOND_NS;
    turns = 0;
    qs_session_start(b->host.session);
    host_wait(&b->host, "ready");
    assert_true(host_begin(&b->host));
    host_wait(&b->host, "run_ready");
    b->peer->script = script;
    assert_true(host_open(&b->host, 0, 0, 0));
    return b;
}

/* A host that lets it go on meets a link that is gone, in the end. */
static void turn(struct peer *p, int64_t after_ns)
{
    now_ns += after_ns;
    if (p->armings > 0)
        peer_disarm(p);
    if (++turns < TURNS_MOST)
        peer_window(p, QS_MSG_ARM);
    else
        peer_hang_up(p);
}

static bool is_turn(struct peer *p, const struct qs_frame *f)
{
    return f->type == QS_MSG_QUIET ||
           (f->type == QS_MSG_OPEN && qs_msg_decode_open(f->payload, f->len, &p->open) == 0);
}

static bool turn_at_once(struct peer *p, const struct qs_frame *f)
{
    if (is_turn(p, f))
        turn(p, 0);
    return true;
}

static void nobody_is_ready_all_the_time(void **state)
{
    (void)state;
    struct bed *b = waiting_bed(turn_at_once);
    bed_fails(b, QS_E_PROTOCOL, "ready for the window 3 times within 0.000 s: once in 10 ms is allowed");
    assert_int_equal(turns, 3);
}

static bool turn_slowly(struct peer *p, const struct qs_frame *f)
{
    if (is_turn(p, f))
        turn(p, f->type == QS_MSG_OPEN ? 0 : 13 * SECOND_NS);
    return true;
}

/* A minute, because no line of its gate has a timeout: the fifth time is over 65 s. */
static void a_gate_that_is_taken_back_has_an_end(void **state)
{
    (void)state;
    struct bed *b = waiting_bed(turn_slowly);
    bed_fails(b, QS_E_LINK, "board: the gate has neither opened nor timed out within 1 min 0 s");
    assert_int_equal(turns, 6);
}

static bool wait_to_be_told(struct peer *p, const struct qs_frame *f)
{
    return f->type == QS_MSG_HOLD || (f->type == QS_MSG_OPEN && is_turn(p, f));
}

/* What the host puts off itself may take as long as it likes. */
static void a_host_that_puts_it_off_may_take_its_time(void **state)
{
    (void)state;
    struct bed *b = waiting_bed(wait_to_be_told);
    for (int i = 0; i < 5; i++) {
        host_idle(&b->host, 5000000); /* a deadline that is over would be told */
        now_ns += 50 * SECOND_NS;
        b->host.refuse_quiet = true;
        peer_window(b->peer, QS_MSG_ARM);
        host_wait(&b->host, "hold");
    }
    host_idle(&b->host, 5000000);
    peer_window(b->peer, QS_MSG_ARM);
    host_wait(&b->host, "rows 4+1");
    assert_int_equal(b->host.downs, 0);
    bed_free(b);
}

static bool turn_in_spite_of_cancel(struct peer *p, const struct qs_frame *f)
{
    for (int i = 0; f->type == QS_MSG_CANCEL && i < 7; i++) {
        now_ns += 10 * SECOND_NS;
        peer_window(p, QS_MSG_ARM);
        peer_disarm(p);
    }
    if (f->type == QS_MSG_OPEN && is_turn(p, f))
        peer_waiting(p);
    if (f->type == QS_MSG_PING && p->armings > 0)
        peer_hang_up(p);
    return f->type != QS_MSG_PING;
}

static void a_wait_that_is_cancelled_has_an_end(void **state)
{
    (void)state;
    struct bed *b = waiting_bed(turn_in_spite_of_cancel);
    host_wait(&b->host, "waiting");
    assert_true(qs_session_cancel(b->host.session, &host_run, "enough", NULL));
    bed_fails(b, QS_E_LINK, "board: no answer within 1 min 0 s in state waiting");
}

static bool take_back_twice(struct peer *p, const struct qs_frame *f)
{
    if (f->type == QS_MSG_OPEN && is_turn(p, f))
        peer_window(p, QS_MSG_ARM);
    if (f->type == QS_MSG_QUIET) {
        peer_disarm(p);
        peer_disarm(p);
        turns = 2;
    }
    if (f->type == QS_MSG_PING && turns > 0)
        peer_hang_up(p);
    return f->type != QS_MSG_PING;
}

static void an_arming_is_taken_back_once(void **state)
{
    (void)state;
    struct bed *b = waiting_bed(take_back_twice);
    bed_fails(b, QS_E_PROTOCOL, "board: DISARM came 2 times, ARM 1 times");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_ready_all_the_time),
        cmocka_unit_test(a_gate_that_is_taken_back_has_an_end),
        cmocka_unit_test(a_host_that_puts_it_off_may_take_its_time),
        cmocka_unit_test(a_wait_that_is_cancelled_has_an_end),
        cmocka_unit_test(an_arming_is_taken_back_once),
    };
    return cmocka_run_group_tests_name("device.session_gate", tests, NULL, NULL);
}
