/* What program and agent share: the memory itself. */
#ifndef QUIESCE_PARTS_SHARED_H
#define QUIESCE_PARTS_SHARED_H

#include "quiesce/parts/layout.h"

/* Behind it follow rows[capacity] and values[metrics_capacity][capacity] of int64_t: quiesce_bench_rows() and
 * quiesce_bench_values(). The first 16 bytes mean the same in every layout.
 *
 * Orders between the two sides. The agent fills in the fields of a command, adds one to command_seq (release)
 * and wakes its futex (shared, not private). For a window the program then spins until start_seq equals
 * command_seq: the agent stores start_at_ns first, then start_seq (release), either before it wakes the
 * program or while that spins. A further command (STAND_DOWN) ends the spinning. When a command is carried
 * out, after its last look at the clock, the program stores its results, then done_seq (release), then writes
 * 8 bytes (uint64_t 1) to wake_fd and parks. It does that too when it first parks (done_seq 0) and when it
 * fails. In a window it makes no system call beyond the clock. */
struct quiesce_bench_shared {
    uint32_t magic, layout;  /* agent */
    uint32_t head_bytes;     /* agent: sizeof(struct quiesce_bench_shared) */
    uint32_t program_layout; /* program: QUIESCE_BENCH_LAYOUT of the header it was built with, even if it then
                                refuses */

    uint64_t total_bytes;                     /* agent: quiesce_bench_total_bytes() */
    uint32_t capacity, metrics_capacity;      /* agent: 1 .. _ITERATIONS_MAX, 0 .. _METRICS_MAX */
    int32_t wake_fd;                          /* agent: inherited eventfd or pipe, or -1 */
    uint32_t clock;                           /* agent: clockid_t of every time here: CLOCK_MONOTONIC is 1 */
    uint64_t seed;                            /* agent: for the benchmark's own random numbers */
    uint32_t params_bytes;                    /* agent: used of params */
    uint32_t stack_pad_bytes, heap_pad_bytes; /* agent: layout: random; <= _PAD_MAX_BYTES */
    uint32_t reserved_0;

    /* 64: the command, all agent. */
    uint32_t command_seq; /* futex; from 0 */
    uint32_t command;     /* enum quiesce_bench_command */
    uint32_t start_seq;
    uint32_t window;     /* number, for the benchmark to read */
    int64_t start_at_ns; /* no iteration starts before */
    int64_t max_ns;      /* none starts later than this after start_at_ns */
    uint32_t iterations; /* 1 .. capacity */
    uint32_t evals;      /* of the first iteration, >= 1 */
    uint32_t evals_step; /* more for each further one: 0 but for TUNE */
    uint32_t reserved_1[5];

    /* 128: the answer, all program. */
    uint32_t state, phase; /* enum quiesce_bench_state, _phase */
    uint32_t done_seq;     /* the last command carried out */
    uint32_t how;          /* enum quiesce_bench_how, of the last window */
    int64_t done_ns;       /* the last look at the clock in it */
    uint32_t count;        /* rows that are valid, kept up to date inside a window */
    uint32_t metrics_count;
    uint32_t bits; /* 32 or 64: size of a pointer */
    uint32_t
        evals_max; /* 0: any; 1: each evaluation needs a prepare of its own, a window of more is refused */
    uint32_t reserved_2[6];

    char error[QUIESCE_BENCH_ERROR_BYTES];    /* 192, program */
    char benchmark[QUIESCE_BENCH_NAME_BYTES]; /* 1216, agent: which; "": the only one, or what the arguments
                                                 say */
    char params[QUIESCE_BENCH_PARAMS_BYTES];  /* 1280, agent; they win over arguments */
    struct quiesce_bench_metric metrics[QUIESCE_BENCH_METRICS_MAX]; /* 17664, program */
};

#define QUIESCE_BENCH_ASSERT(name, what) typedef char quiesce_bench_assert_##name[(what) ? 1 : -1]
#define QUIESCE_BENCH_AT(field, offset)                                                                      \
    QUIESCE_BENCH_ASSERT(field, offsetof(struct quiesce_bench_shared, field) == (offset))
QUIESCE_BENCH_AT(program_layout, 12);
QUIESCE_BENCH_AT(seed, 40);
QUIESCE_BENCH_AT(command_seq, 64);
QUIESCE_BENCH_AT(start_at_ns, 80);
QUIESCE_BENCH_AT(evals_step, 104);
QUIESCE_BENCH_AT(state, 128);
QUIESCE_BENCH_AT(done_ns, 144);
QUIESCE_BENCH_AT(error, 192);
QUIESCE_BENCH_AT(benchmark, 1216);
QUIESCE_BENCH_AT(params, 1280);
QUIESCE_BENCH_AT(metrics, 17664);
QUIESCE_BENCH_ASSERT(size, sizeof(struct quiesce_bench_shared) == 19328);
QUIESCE_BENCH_ASSERT(row, sizeof(struct quiesce_bench_row) == 16);
QUIESCE_BENCH_ASSERT(metric, sizeof(struct quiesce_bench_metric) == 104);

/* Bytes of the whole memory; both counts within their limits. */
static inline uint64_t quiesce_bench_total_bytes(uint32_t capacity, uint32_t metrics_capacity)
{
    return sizeof(struct quiesce_bench_shared) +
           (uint64_t)capacity *
               (sizeof(struct quiesce_bench_row) + (uint64_t)metrics_capacity * sizeof(int64_t));
}

static inline struct quiesce_bench_row *quiesce_bench_rows(struct quiesce_bench_shared *shared)
{
    return (struct quiesce_bench_row *)(void *)(shared + 1);
}

/* values[metric * capacity + iteration]; capacity is the one that the reader checked, not what the memory
 * says now. */
static inline int64_t *quiesce_bench_values(struct quiesce_bench_shared *shared, uint32_t capacity)
{
    return (int64_t *)(void *)(quiesce_bench_rows(shared) + capacity);
}

#endif
