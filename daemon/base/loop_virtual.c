/* Virtual time: nothing waits. The clock stands still while anything is left to do at this instant, then
 * jumps to the next timer. Equal inputs and seeds give equal runs. */
#include <stdlib.h>

#include "base/loop_impl.h"
#include "base/mem.h"
#include "base/prng.h"

struct virtual_loop {
    struct qs_loop base;
    int64_t now_ns;
    struct qs_prng prng;
};

static void virtual_run(struct qs_loop *loop)
{
    struct virtual_loop *v = (struct virtual_loop *)loop;
    while (!loop->stopping) {
        struct qs_timer *t = qs_timerq_first(&loop->timers);
        if (t && t->due_ns <= v->now_ns)
            qs_loop_fire(loop, t);
        else if (t && loop->posts.count == 0)
            v->now_ns = t->due_ns;
        else if (loop->posts.count == 0)
            break;
        qs_loop_run_posts(loop);
    }
}

static size_t virtual_close(struct qs_loop *loop)
{
    free(loop);
    return 0;
}

static int64_t virtual_now(const struct qs_loop *loop)
{
    return ((const struct virtual_loop *)loop)->now_ns;
}

static void virtual_random(struct qs_loop *loop, void *bytes, size_t n)
{
    struct virtual_loop *v = (struct virtual_loop *)loop;
    unsigned char *out = bytes;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = qs_prng_next(&v->prng);
        for (size_t k = 0; k < 8 && i + k < n; k++)
            out[i + k] = (unsigned char)(word >> (8 * k));
    }
}

static void virtual_work(struct qs_loop *loop, enum qs_lane lane, qs_loop_fn *work, qs_loop_fn *after,
                         void *user)
{
    (void)lane;
    work(user);
    qs_loop_post(loop, after, user);
}

static const struct qs_loop_ops virtual_ops = {
    .run = virtual_run,
    .close = virtual_close,
    .now_ns = virtual_now,
    .wall_ns = virtual_now,
    .random = virtual_random,
    .work = virtual_work,
};

struct qs_loop *qs_loop_new_virtual(int64_t start_ns, uint64_t seed)
{
    struct virtual_loop *v = qs_calloc(1, sizeof *v);
    v->base.ops = &virtual_ops;
    v->now_ns = start_ns;
    qs_prng_seed(&v->prng, seed);
    return &v->base;
}
