/* The heap against a sorted array, the ring against its own numbering. */
#include "cm.h"

#include <stdlib.h>

#include "base/loop_impl.h"
#include "base/mem.h"
#include "base/prng.h"

static struct qs_timer *new_timer(int64_t due_ns)
{
    struct qs_timer *t = qs_calloc(1, sizeof *t);
    t->due_ns = due_ns;
    return t;
}

static void assert_heap(const struct qs_timerq *q)
{
    for (size_t i = 0; i < q->count; i++) {
        const struct qs_timer *t = q->heap[i];
        assert_int_equal(t->index, i);
        const struct qs_timer *parent = q->heap[i ? (i - 1) / 2 : 0];
        assert_true(parent->due_ns < t->due_ns || (parent->due_ns == t->due_ns && parent->seq <= t->seq));
    }
}

static void draining_is_sorted_by_due_time_then_start(void **state)
{
    (void)state;
    struct qs_timerq q = {0};
    struct qs_prng p;
    qs_prng_seed(&p, 3);
    for (int i = 0; i < 500; i++)
        qs_timerq_push(&q, new_timer((int64_t)(qs_prng_next(&p) % 40)));
    assert_heap(&q);
    int64_t due_ns = -1;
    uint64_t seq = 0;
    for (int i = 0; i < 500; i++) {
        struct qs_timer *t = qs_timerq_first(&q);
        qs_timerq_remove(&q, t);
        assert_int_equal(t->index, QS_TIMER_IDLE);
        assert_true(t->due_ns > due_ns || (t->due_ns == due_ns && t->seq > seq));
        due_ns = t->due_ns;
        seq = t->seq;
        free(t);
    }
    assert_null(qs_timerq_first(&q));
    qs_timerq_done(&q);
}

static void removing_anywhere_keeps_the_heap(void **state)
{
    (void)state;
    struct qs_timerq q = {0};
    struct qs_prng p;
    qs_prng_seed(&p, 4);
    for (int i = 0; i < 3000; i++) {
        uint64_t draw = qs_prng_next(&p);
        if (q.count > 60 || (q.count > 0 && draw % 3 == 0)) {
            struct qs_timer *t = q.heap[(draw >> 8) % q.count];
            qs_timerq_remove(&q, t);
            free(t);
        } else {
            qs_timerq_push(&q, new_timer((int64_t)(draw >> 8) % 50));
        }
        assert_heap(&q);
    }
    assert_true(q.count > 0);
    qs_timerq_done(&q); /* frees what is left: the leak checker looks */
    assert_int_equal(q.count, 0);
}

static void on_nothing(void *user)
{
    (void)user;
}

/* Bursts of every size, so that the ring grows at every position of its head. */
static void posts_come_out_as_they_went_in(void **state)
{
    (void)state;
    struct qs_postq q = {0};
    char slots[4096];
    size_t in = 0, out = 0;
    for (size_t burst = 1; burst < 80; burst++) {
        for (size_t i = 0; i < burst; i++)
            qs_postq_push(&q, (struct qs_post){on_nothing, &slots[in++ % sizeof slots]});
        for (size_t i = 0; i < burst / 2 + 1 && q.count > 0; i++)
            assert_ptr_equal(qs_postq_pop(&q).user, &slots[out++ % sizeof slots]);
        assert_int_equal(q.count, in - out);
    }
    while (q.count > 0)
        assert_ptr_equal(qs_postq_pop(&q).user, &slots[out++ % sizeof slots]);
    assert_int_equal(in, out);
    qs_postq_done(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draining_is_sorted_by_due_time_then_start),
        cmocka_unit_test(removing_anywhere_keeps_the_heap),
        cmocka_unit_test(posts_come_out_as_they_went_in),
    };
    return cmocka_run_group_tests_name("loop_queue", tests, NULL, NULL);
}
