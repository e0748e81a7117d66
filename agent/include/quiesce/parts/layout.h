/* What program and agent share: constants, states, one row. */
#ifndef QUIESCE_PARTS_LAYOUT_H
#define QUIESCE_PARTS_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#define QUIESCE_BENCH_MAGIC  UINT32_C(0x42535151) /* "QQSB" in memory on a little-endian machine */
#define QUIESCE_BENCH_LAYOUT UINT32_C(1)
#define QUIESCE_BENCH_ENV    "QUIESCE_BENCH_FD" /* decimal number of the inherited descriptor to map */
#define QUIESCE_BENCH_NONE   INT64_MIN          /* a metric's value where an iteration recorded none */

enum {
    QUIESCE_BENCH_ITERATIONS_MAX = 4096, /* capacity is at most this */
    QUIESCE_BENCH_METRICS_MAX = 16,
    QUIESCE_BENCH_NAME_BYTES = 64,      /* of benchmarks and metrics, with the NUL */
    QUIESCE_BENCH_UNIT_BYTES = 32,      /* with the NUL */
    QUIESCE_BENCH_ERROR_BYTES = 1024,   /* with the NUL */
    QUIESCE_BENCH_PARAMS_BYTES = 16384, /* "name=value" strings, each ended by a NUL */
    QUIESCE_BENCH_HEAP_PAD_MAX_BYTES = 1 << 20,
    QUIESCE_BENCH_STACK_PAD_MAX_BYTES = 1 << 16,
    QUIESCE_BENCH_EXIT_FAILED = 1,   /* the benchmark reported an error: `error` holds it */
    QUIESCE_BENCH_EXIT_USAGE = 2,    /* an argument or a parameter is wrong: `error` holds it as well */
    QUIESCE_BENCH_EXIT_LAYOUT = 120, /* the agent speaks another layout: said on standard error */
    QUIESCE_BENCH_EXIT_MEMORY = 121, /* the descriptor cannot be mapped, or is too short */
};

enum quiesce_bench_command {
    QUIESCE_BENCH_STAND_DOWN, /* give up the window that waits for its start, park */
    QUIESCE_BENCH_MEASURE, /* this and the next three run one window; they differ in what the agent does with
                              it */
    QUIESCE_BENCH_WARM,
    QUIESCE_BENCH_TUNE, /* Algorithm 1 of seed 001: evals 1, evals_step 1 */
    QUIESCE_BENCH_TRACE,
    QUIESCE_BENCH_EXIT, /* teardown, then exit 0 */
};

enum quiesce_bench_state {
    QUIESCE_BENCH_SILENT, /* has not mapped the memory yet */
    QUIESCE_BENCH_HELLO,  /* layout accepted; reads its arguments, sets up */
    QUIESCE_BENCH_PARKED, /* metrics declared; waits for a command */
    QUIESCE_BENCH_BUSY,   /* carries one out */
    QUIESCE_BENCH_FAILED, /* `phase` and `error` say what; exits without teardown */
    QUIESCE_BENCH_OVER,   /* torn down; about to exit 0 */
};

/* Where the program is, or was when it died. */
enum quiesce_bench_phase {
    QUIESCE_BENCH_OUTSIDE,
    QUIESCE_BENCH_SETUP,
    QUIESCE_BENCH_PREPARE,
    QUIESCE_BENCH_RUN,
    QUIESCE_BENCH_CONCLUDE,
    QUIESCE_BENCH_TEARDOWN,
};

enum quiesce_bench_how {
    QUIESCE_BENCH_ALL,     /* every iteration ran */
    QUIESCE_BENCH_TIME_UP, /* max_ns ended the window; `count` iterations are valid */
    QUIESCE_BENCH_STOOD_DOWN,
    QUIESCE_BENCH_BROKE, /* a phase reported an error; `count` iterations before it are valid */
};

enum quiesce_bench_direction { QUIESCE_LOWER_IS_BETTER, QUIESCE_HIGHER_IS_BETTER };
enum quiesce_bench_flag {
    QUIESCE_VARIES = 0,
    QUIESCE_DETERMINISTIC = 1
}; /* the latter is compared exactly */

struct quiesce_bench_row {
    int64_t start_ns;    /* after start_at_ns */
    int64_t duration_ns; /* of all evaluations together */
};

struct quiesce_bench_metric {
    char name[QUIESCE_BENCH_NAME_BYTES];
    char unit[QUIESCE_BENCH_UNIT_BYTES];
    uint32_t direction; /* enum quiesce_bench_direction */
    uint32_t flags;     /* enum quiesce_bench_flag */
};

#endif
