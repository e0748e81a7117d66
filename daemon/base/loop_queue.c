/* The order of things to come: timers in a binary heap, posts in a ring. */
#include <assert.h>
#include <stdlib.h>

#include "base/loop_impl.h"
#include "base/mem.h"

static bool before(const struct qs_timer *a, const struct qs_timer *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->seq < b->seq;
}

static void place(struct qs_timerq *q, size_t i, struct qs_timer *t)
{
    q->heap[i] = t;
    t->index = (ptrdiff_t)i;
}

static void sift_up(struct qs_timerq *q, size_t i, struct qs_timer *t)
{
    while (i > 0) {
        size_t parent = (i - 1) / 2;
        if (!before(t, q->heap[parent]))
            break;
        place(q, i, q->heap[parent]);
        i = parent;
    }
    place(q, i, t);
}

static void sift_down(struct qs_timerq *q, size_t i, struct qs_timer *t)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= q->count)
            break;
        if (child + 1 < q->count && before(q->heap[child + 1], q->heap[child]))
            child++;
        if (!before(q->heap[child], t))
            break;
        place(q, i, q->heap[child]);
        i = child;
    }
    place(q, i, t);
}

void qs_timerq_push(struct qs_timerq *q, struct qs_timer *t)
{
    q->heap = qs_grow(q->heap, q->count, sizeof(void *));
    t->seq = q->next_seq++;
    q->count++;
    sift_up(q, q->count - 1, t);
}

void qs_timerq_remove(struct qs_timerq *q, struct qs_timer *t)
{
    assert(t->index >= 0 && (size_t)t->index < q->count);
    size_t hole = (size_t)t->index;
    struct qs_timer *last = q->heap[--q->count];
    t->index = QS_TIMER_IDLE;
    if (last == t)
        return;
    sift_up(q, hole, last);
    sift_down(q, (size_t)last->index, last);
}

struct qs_timer *qs_timerq_first(const struct qs_timerq *q)
{
    return q->count ? q->heap[0] : NULL;
}

void qs_timerq_done(struct qs_timerq *q)
{
    for (size_t i = 0; i < q->count; i++)
        free(q->heap[i]);
    free(q->heap);
    *q = (struct qs_timerq){0};
}

static void grow(struct qs_postq *q)
{
    size_t cap = q->cap ? q->cap * 2 : 16;
    struct qs_post *ring = qs_calloc(cap, sizeof *ring);
    for (size_t i = 0; i < q->count; i++)
        ring[i] = q->ring[(q->head + i) & (q->cap - 1)];
    free(q->ring);
    q->ring = ring;
    q->cap = cap;
    q->head = 0;
}

void qs_postq_push(struct qs_postq *q, struct qs_post post)
{
    if (q->count == q->cap)
        grow(q);
    q->ring[(q->head + q->count) & (q->cap - 1)] = post;
    q->count++;
}

struct qs_post qs_postq_pop(struct qs_postq *q)
{
    assert(q->count > 0);
    struct qs_post post = q->ring[q->head];
    q->head = (q->head + 1) & (q->cap - 1);
    q->count--;
    return post;
}

void qs_postq_done(struct qs_postq *q)
{
    free(q->ring);
    *q = (struct qs_postq){0};
}

void qs_loop_fire(struct qs_loop *loop, struct qs_timer *t)
{
    qs_timerq_remove(&loop->timers, t);
    t->fn(t->user);
    qs_loop_ran(loop, (uintptr_t)t->fn);
    free(t);
}

void qs_loop_run_posts(struct qs_loop *loop)
{
    for (size_t batch = loop->posts.count; batch > 0 && !loop->stopping; batch--) {
        struct qs_post post = qs_postq_pop(&loop->posts);
        post.fn(post.user);
        qs_loop_ran(loop, (uintptr_t)post.fn);
    }
}
