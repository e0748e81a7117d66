/* For the author of a benchmark: the types. */
#ifndef QUIESCE_PARTS_AUTHOR_H
#define QUIESCE_PARTS_AUTHOR_H

#include "quiesce/parts/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef CLOCK_MONOTONIC
#error "include quiesce/bench.h before all others, or compile with -D_GNU_SOURCE"
#endif

#define QUIESCE_FN static __attribute__((unused))

/* Makes the compiler believe that a value (a scalar, a pointer, a small structure) is used, and memory with
 * it. */
#define quiesce_keep(value)                                                                                  \
    do {                                                                                                     \
        __typeof__(value) quiesce_kept_ = (value);                                                           \
        __asm__ volatile("" : : "m"(quiesce_kept_) : "memory");                                              \
    } while (0)

/* Makes the compiler believe that all memory was read and written. */
#define quiesce_clobber() __asm__ volatile("" : : : "memory")

enum { QUIESCE_BENCHMARKS_MAX = 16, QUIESCE_PARAMS_MAX = 32, QUIESCE_OPTIONS_MAX = 10 };

struct quiesce;
typedef void quiesce_step(struct quiesce *q);

struct quiesce_metric_of {
    const char *name, *unit;
    enum quiesce_bench_direction direction;
    enum quiesce_bench_flag flag;
};

/* Steps that are NULL are left out. Only run is timed. */
struct quiesce_benchmark {
    const char *name, *help;
    quiesce_step *setup;    /* once, before the first iteration */
    quiesce_step *prepare;  /* before each iteration */
    quiesce_step *run;      /* `evals` times between two looks at the clock */
    quiesce_step *conclude; /* after each iteration: the place to check its result and to record metrics */
    quiesce_step *teardown; /* once, after the last */
    bool once;              /* run uses up what prepare made: never more than one evaluation per iteration */
    struct quiesce_metric_of metrics[QUIESCE_BENCH_METRICS_MAX];
    uint32_t metrics_count;
};

enum quiesce_param_kind { QUIESCE_TEXT, QUIESCE_INT, QUIESCE_DOUBLE, QUIESCE_FLAG };

struct quiesce_param {
    const char *name, *help;
    enum quiesce_param_kind kind;
    void *value;              /* const char **, int64_t *, double * or bool *: borrowed */
    int64_t int_min, int_max; /* of QUIESCE_INT */
    double min, max;          /* of QUIESCE_DOUBLE */
    char shown[64];           /* the default, for --help */
};

/* What the command line may say beside parameters; under an agent only which benchmark. */
struct quiesce_options {
    const char *benchmark;
    bool help, list, json;
    int64_t iterations, evals, warmup, seed;
    double max_time_s;
};

struct quiesce {
    void *user; /* the author's */
    const char *title, *program;
    struct quiesce_benchmark benchmarks[QUIESCE_BENCHMARKS_MAX];
    struct quiesce_benchmark *current;
    struct quiesce_param params[QUIESCE_PARAMS_MAX];
    struct quiesce_param options[QUIESCE_OPTIONS_MAX];
    struct quiesce_options given;
    uint32_t benchmarks_count, params_count, options_count;
    struct quiesce_bench_shared *shared; /* the agent's, or our own */
    struct quiesce_bench_row *rows;
    int64_t *values;
    uint32_t capacity, iteration;
    clockid_t clock;
    bool failed;
    char error[QUIESCE_BENCH_ERROR_BYTES];
};

#endif
