/* Under an agent: its commands. */
#ifndef QUIESCE_PARTS_COMMANDS_H
#define QUIESCE_PARTS_COMMANDS_H

#include "quiesce/parts/window.h"

QUIESCE_FN void quiesce_i_say(const struct quiesce *q, const char *text)
{
    static const char *const at[] = {"", "setup: ", "prepare: ", "run: ", "conclude: ", "teardown: "};
    uint32_t phase = q->shared ? q->shared->phase : 0;
    fprintf(stderr, "%s: %s%s%s%s\n", q->program, q->current ? q->current->name : "", q->current ? ": " : "",
            at[phase < 6 ? phase : 0], text);
}

/* Tells the agent that a command is done, and wakes it. */
QUIESCE_FN void quiesce_i_done(struct quiesce *q, uint32_t seq, enum quiesce_bench_state state)
{
    const uint64_t one = 1;
    struct quiesce_bench_shared *s = q->shared;
    s->state = (uint32_t)state;
    __atomic_store_n(&s->done_seq, seq, __ATOMIC_RELEASE);
    if (s->wake_fd >= 0 && write(s->wake_fd, &one, sizeof one) != (ssize_t)sizeof one) {
        fprintf(stderr, "%s: cannot wake the agent: %s\n", q->program, strerror(errno));
    }
}

/* Ends with an error that the agent reads in the memory and a person on standard error. */
QUIESCE_FN int quiesce_i_broken(struct quiesce *q, uint32_t seq, int code)
{
    snprintf(q->shared->error, sizeof q->shared->error, "%s", q->error);
    quiesce_i_say(q, q->error);
    quiesce_i_done(q, seq, QUIESCE_BENCH_FAILED);
    return code;
}

/* Sleeps in the kernel until command_seq is no longer `seq`; what it is then. */
QUIESCE_FN uint32_t quiesce_i_park(struct quiesce *q, uint32_t seq)
{
#ifdef SYS_futex
    const long futex = SYS_futex;
#else
    const long futex = SYS_futex_time64;
#endif
    uint32_t *word = &q->shared->command_seq;
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == seq) {
        syscall(futex, word, 0 /* FUTEX_WAIT, shared */, seq, NULL, NULL, 0);
    }
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* A window, unless it asks for what run cannot do: fewer evaluations than recorded would be a lie. */
QUIESCE_FN void quiesce_i_admit(struct quiesce *q, struct quiesce_i_order *order)
{
    if (order->evals == 0 || (q->current->once && (order->evals > 1 || order->evals_step > 0))) {
        quiesce_fail(q, "a window of %u evaluations per iteration: %s", (unsigned)order->evals,
                     order->evals == 0 ? "at least one is needed"
                                       : "each needs a prepare of its own, ask for one");
        return;
    }
    quiesce_i_window(q, order);
}

/* Carries out commands until EXIT. */
QUIESCE_FN int quiesce_i_obey(struct quiesce *q)
{
    struct quiesce_bench_shared *s = q->shared;
    struct quiesce_i_order order;
    memset(&order, 0, sizeof order);
    for (;;) {
        order.seq = quiesce_i_park(q, order.seq);
        s->state = QUIESCE_BENCH_BUSY;
        if (s->command == QUIESCE_BENCH_EXIT) {
            break;
        }
        if (s->command >= QUIESCE_BENCH_MEASURE && s->command <= QUIESCE_BENCH_TRACE) {
            order.iterations = s->iterations < q->capacity ? s->iterations : q->capacity;
            order.evals = s->evals;
            order.evals_step = s->evals_step;
            order.max_ns = s->max_ns;
            quiesce_i_admit(q, &order);
        }
        if (q->failed) {
            return quiesce_i_broken(q, order.seq, QUIESCE_BENCH_EXIT_FAILED);
        }
        quiesce_i_done(q, order.seq, QUIESCE_BENCH_PARKED);
    }
    if (!quiesce_i_step(q, q->current->teardown, QUIESCE_BENCH_TEARDOWN)) {
        return quiesce_i_broken(q, order.seq, QUIESCE_BENCH_EXIT_FAILED);
    }
    quiesce_i_enter(q, QUIESCE_BENCH_OUTSIDE);
    quiesce_i_done(q, order.seq, QUIESCE_BENCH_OVER);
    return 0;
}

#endif
