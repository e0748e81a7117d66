/* One window. */
#ifndef QUIESCE_PARTS_WINDOW_H
#define QUIESCE_PARTS_WINDOW_H

#include "quiesce/parts/declare.h"

static inline int64_t quiesce_i_ns(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + (int64_t)t->tv_nsec;
}

static inline int64_t quiesce_i_now_ns(const struct quiesce *q)
{
    struct timespec t;
    clock_gettime(q->clock, &t);
    return quiesce_i_ns(&t);
}

static inline void quiesce_i_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__ARM_ARCH) && __ARM_ARCH >= 7)
    __asm__ volatile("yield");
#endif
}

static inline void quiesce_i_enter(struct quiesce *q, enum quiesce_bench_phase phase)
{
    __atomic_store_n(&q->shared->phase, (uint32_t)phase, __ATOMIC_RELAXED);
}

/* Runs a step that may be missing; false where it failed. Afterwards the phase stays where it broke. */
static inline bool quiesce_i_step(struct quiesce *q, quiesce_step *step, enum quiesce_bench_phase phase)
{
    if (step) {
        quiesce_i_enter(q, phase);
        step(q);
    }
    return !q->failed;
}

/* What a window is asked to do, copied once. */
struct quiesce_i_order {
    uint32_t seq, iterations, evals, evals_step;
    int64_t start_at_ns, max_ns;
};

/* One iteration; false where a step failed or, before it was run, where the window's time was up. Nothing but
 * the evaluations stands between the two looks at the clock, not even the arithmetic on what they saw. */
static inline bool quiesce_i_iterate(struct quiesce *q, const struct quiesce_i_order *order, uint32_t evals)
{
    const struct quiesce_benchmark *b = q->current;
    struct quiesce_bench_row *row = &q->rows[q->iteration];
    quiesce_step *run = b->run;
    clockid_t clock = q->clock;
    struct timespec begin, end;
    if (b->prepare) {
        if (!quiesce_i_step(q, b->prepare, QUIESCE_BENCH_PREPARE)) {
            return false;
        }
        if (q->iteration > 0 && quiesce_i_now_ns(q) - order->start_at_ns > order->max_ns) {
            return false;
        }
    }
    /* A compiler that knew which function this is could move work out of the loop over evaluations. */
    __asm__ volatile("" : "+r"(run));
    quiesce_i_enter(q, QUIESCE_BENCH_RUN);
    clock_gettime(clock, &begin);
    do {
        run(q);
    } while (--evals);
    clock_gettime(clock, &end);
    row->start_ns = quiesce_i_ns(&begin) - order->start_at_ns;
    row->duration_ns = quiesce_i_ns(&end) - quiesce_i_ns(&begin);
    return !q->failed && quiesce_i_step(q, b->conclude, QUIESCE_BENCH_CONCLUDE);
}

/* All iterations of a window whose start has come. */
QUIESCE_FN enum quiesce_bench_how quiesce_i_iterations(struct quiesce *q, const struct quiesce_i_order *order)
{
    uint32_t evals = order->evals;
    enum quiesce_bench_how how = QUIESCE_BENCH_ALL;
    for (q->iteration = 0; q->iteration < order->iterations; q->iteration++) {
        const struct quiesce_bench_row *last = q->rows + q->iteration - (q->iteration > 0);
        if (q->iteration > 0 && last->start_ns + last->duration_ns > order->max_ns) {
            how = QUIESCE_BENCH_TIME_UP;
            break;
        }
        if (!quiesce_i_iterate(q, order, evals)) {
            how = q->failed ? QUIESCE_BENCH_BROKE : QUIESCE_BENCH_TIME_UP;
            break;
        }
        __atomic_store_n(&q->shared->count, q->iteration + 1, __ATOMIC_RELAXED);
        evals += order->evals_step;
    }
    return how;
}

/* Spins until the start, without a system call; false where the agent wants something else by now. */
QUIESCE_FN bool quiesce_i_await(struct quiesce *q, struct quiesce_i_order *order)
{
    struct quiesce_bench_shared *s = q->shared;
    while (__atomic_load_n(&s->start_seq, __ATOMIC_ACQUIRE) != order->seq) {
        if (__atomic_load_n(&s->command_seq, __ATOMIC_ACQUIRE) != order->seq) {
            return false;
        }
        quiesce_i_relax();
    }
    order->start_at_ns = s->start_at_ns;
    while (quiesce_i_now_ns(q) < order->start_at_ns) {
        quiesce_i_relax();
    }
    return true;
}

/* The whole window: what can be done before is done before its start. */
QUIESCE_FN void quiesce_i_window(struct quiesce *q, struct quiesce_i_order *order)
{
    struct quiesce_bench_shared *s = q->shared;
    enum quiesce_bench_how how = QUIESCE_BENCH_STOOD_DOWN;
    for (uint32_t m = 0; m < q->current->metrics_count; m++) {
        for (uint32_t i = 0; i < order->iterations; i++) {
            q->values[(size_t)m * q->capacity + i] = QUIESCE_BENCH_NONE;
        }
    }
    s->count = 0;
    if (quiesce_i_await(q, order)) {
        how = quiesce_i_iterations(q, order);
    }
    s->done_ns = quiesce_i_now_ns(q);
    s->how = (uint32_t)how;
    if (how != QUIESCE_BENCH_BROKE) {
        quiesce_i_enter(q, QUIESCE_BENCH_OUTSIDE);
    }
}

#endif
