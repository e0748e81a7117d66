/* quiesce/bench.h: makes a program a benchmark. C99 or C++11 and later, Linux and Android, no library but
 * libc.
 *
 * The first part is what the program shares with the agent that measures it: a layout of fixed-width fields
 * without pointers, the same for 32 and 64 bits. The second is the interface for the author of a benchmark.
 * QUIESCE_BENCH_LAYOUT_ONLY leaves the second part out. */
#ifndef QUIESCE_BENCH_H
#define QUIESCE_BENCH_H

/* Under -std=c99 the C library shows its clock only to those who ask before the first of its headers. */
#if !defined(QUIESCE_BENCH_LAYOUT_ONLY) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

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

#ifndef QUIESCE_BENCH_LAYOUT_ONLY

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

/* ==== For the author of a benchmark ===================================================================== */

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

/* An error for a person; the first one counts. It ends the program once the step that calls this returns. */
QUIESCE_FN __attribute__((format(printf, 2, 3))) void quiesce_fail(struct quiesce *q, const char *format, ...)
{
    va_list args;
    if (q->failed) {
        return;
    }
    q->failed = true;
    va_start(args, format);
    vsnprintf(q->error, sizeof q->error, format, args);
    va_end(args);
}

QUIESCE_FN void quiesce_init(struct quiesce *q, const char *title)
{
    memset(q, 0, sizeof *q);
    q->title = title;
    q->program = "benchmark";
    q->clock = CLOCK_MONOTONIC;
}

/* A benchmark of this program; names and texts are borrowed. Further steps are set in what is returned. */
QUIESCE_FN struct quiesce_benchmark *quiesce_add(struct quiesce *q, const char *name, const char *help,
                                                 quiesce_step *run)
{
    struct quiesce_benchmark *b = &q->benchmarks[q->benchmarks_count];
    if (q->benchmarks_count == QUIESCE_BENCHMARKS_MAX - 1) {
        quiesce_fail(q, "more than %d benchmarks in one program", QUIESCE_BENCHMARKS_MAX - 1);
        return b;
    }
    if (strlen(name) >= QUIESCE_BENCH_NAME_BYTES) {
        quiesce_fail(q, "the benchmark's name %.20s... has more than %d bytes", name,
                     QUIESCE_BENCH_NAME_BYTES - 1);
    }
    q->benchmarks_count++;
    b->name = name;
    b->help = help;
    b->run = run;
    return b;
}

/* A further metric, a whole number per iteration; its number for quiesce_record(). */
QUIESCE_FN uint32_t quiesce_metric(struct quiesce *q, struct quiesce_benchmark *b, const char *name,
                                   const char *unit, enum quiesce_bench_direction direction,
                                   enum quiesce_bench_flag flag)
{
    struct quiesce_metric_of *m = &b->metrics[b->metrics_count % QUIESCE_BENCH_METRICS_MAX];
    for (uint32_t i = 0; i < b->metrics_count; i++) {
        if (strcmp(b->metrics[i].name, name) == 0) {
            quiesce_fail(q, "%s declares the metric %.20s twice", b->name, name);
            return i;
        }
    }
    if (b->metrics_count == QUIESCE_BENCH_METRICS_MAX || strlen(name) >= QUIESCE_BENCH_NAME_BYTES || !*name ||
        strlen(unit) >= QUIESCE_BENCH_UNIT_BYTES) {
        quiesce_fail(q, "%s: the metric `%.20s` is one too many, or its name or unit is too long or empty",
                     b->name, name);
        return 0;
    }
    m->name = name;
    m->unit = unit;
    m->direction = direction;
    m->flag = flag;
    return b->metrics_count++;
}

/* In run or conclude: the value of this iteration; the last one counts. */
static inline void quiesce_record(struct quiesce *q, uint32_t metric, int64_t value)
{
    if (metric < q->current->metrics_count) {
        q->values[(size_t)metric * q->capacity + q->iteration] = value;
    }
}

/* The job's seed for the benchmark's own random numbers, and the number of the iteration in its window. */
static inline uint64_t quiesce_seed(const struct quiesce *q)
{
    return q->shared->seed;
}

static inline uint32_t quiesce_iteration(const struct quiesce *q)
{
    return q->iteration;
}

QUIESCE_FN struct quiesce_param *quiesce_i_param(struct quiesce *q, const char *name, const char *help)
{
    struct quiesce_param *p = &q->params[q->params_count];
    if (q->params_count == QUIESCE_PARAMS_MAX - 1) {
        quiesce_fail(q, "more than %d parameters in one program", QUIESCE_PARAMS_MAX - 1);
    } else {
        q->params_count++;
    }
    p->name = name;
    p->help = help;
    return p;
}

/* Parameters by name. The variable holds the default, and once setup runs what was asked for. */
QUIESCE_FN void quiesce_param_text(struct quiesce *q, const char *name, const char **value, const char *help)
{
    struct quiesce_param *p = quiesce_i_param(q, name, help);
    p->kind = QUIESCE_TEXT;
    p->value = (void *)value;
    snprintf(p->shown, sizeof p->shown, "%s", *value);
}

QUIESCE_FN void quiesce_param_int(struct quiesce *q, const char *name, int64_t *value, int64_t min,
                                  int64_t max, const char *help)
{
    struct quiesce_param *p = quiesce_i_param(q, name, help);
    p->kind = QUIESCE_INT;
    p->value = value;
    p->int_min = min;
    p->int_max = max;
    snprintf(p->shown, sizeof p->shown, "%lld", (long long)*value);
}

QUIESCE_FN void quiesce_param_double(struct quiesce *q, const char *name, double *value, double min,
                                     double max, const char *help)
{
    struct quiesce_param *p = quiesce_i_param(q, name, help);
    p->kind = QUIESCE_DOUBLE;
    p->value = value;
    p->min = min;
    p->max = max;
    snprintf(p->shown, sizeof p->shown, "%g", *value);
}

/* The rest of main(): measures under an agent where there is one, else by hand. The exit code of the program.
 */
QUIESCE_FN int quiesce_main(struct quiesce *q, int argc, char **argv);

/* ==== One window ======================================================================================== */

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

/* ==== Arguments ========================================================================================= */

/* How many letters have to change, up to 31 of each. */
QUIESCE_FN uint32_t quiesce_i_distance(const char *a, const char *b)
{
    uint32_t row[32], above, best;
    for (uint32_t j = 0; j < 32; j++) {
        row[j] = j;
    }
    for (uint32_t i = 0; a[i] && i < 31; i++) {
        above = row[0]++;
        for (uint32_t j = 0; b[j] && j < 31; j++) {
            best = above + (a[i] != b[j]);
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j + 1] + 1 < best ? row[j + 1] + 1 : best;
            above = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[strlen(b) < 31 ? strlen(b) : 31];
}

/* Keeps the nearer of two names. */
QUIESCE_FN void quiesce_i_nearer(const char *wanted, const char *name, const char **best)
{
    uint32_t far = quiesce_i_distance(wanted, name);
    if (far <= 1 + strlen(name) / 3 && (!*best || far < quiesce_i_distance(wanted, *best))) {
        *best = name;
    }
}

QUIESCE_FN struct quiesce_param *quiesce_i_find(struct quiesce_param *list, uint32_t count, const char *name,
                                                const char **best)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) == 0) {
            return &list[i];
        }
        quiesce_i_nearer(name, list[i].name, best);
    }
    return NULL;
}

QUIESCE_FN void quiesce_i_set(struct quiesce *q, const struct quiesce_param *p, const char *text)
{
    char *end = NULL;
    errno = 0;
    if (p->kind == QUIESCE_TEXT) {
        *(const char **)p->value = text;
    } else if (p->kind == QUIESCE_INT) {
        long long value = strtoll(text, &end, 10);
        if (!*text || *end || errno || value < p->int_min || value > p->int_max) {
            quiesce_fail(q, "%s: `%s` is not a whole number, %lld to %lld", p->name, text,
                         (long long)p->int_min, (long long)p->int_max);
        }
        *(int64_t *)p->value = value;
    } else if (p->kind == QUIESCE_DOUBLE) {
        double value = strtod(text, &end);
        if (!*text || *end || errno || !(value >= p->min && value <= p->max)) {
            quiesce_fail(q, "%s: `%s` is not a number, %g to %g", p->name, text, p->min, p->max);
        }
        *(double *)p->value = value;
    }
}

/* Name and value of one argument or one string of the agent; `what` stands before the name in errors. */
QUIESCE_FN struct quiesce_param *quiesce_i_named(struct quiesce *q, const char *what, const char *text,
                                                 size_t bytes, bool options)
{
    char name[QUIESCE_BENCH_NAME_BYTES];
    const char *best = NULL;
    struct quiesce_param *p = NULL;
    snprintf(name, sizeof name, "%.*s", (int)(bytes < sizeof name ? bytes : sizeof name - 1), text);
    p = quiesce_i_find(q->params, q->params_count, name, &best);
    if (!p && options) {
        p = quiesce_i_find(q->options, q->options_count, name, &best);
    }
    if (!p && best) {
        quiesce_fail(q, "there is no %s%s; did you mean %s%s?", what, name, what, best);
    } else if (!p) {
        quiesce_fail(q, "there is no %s%s; --help lists what there is", what, name);
    }
    return p;
}

/* --name value, --name=value, --flag */
QUIESCE_FN void quiesce_i_arguments(struct quiesce *q, int argc, char **argv)
{
    for (int i = 1; i < argc && !q->failed; i++) {
        const char *name = argv[i] + 2, *value = strchr(argv[i], '=');
        const struct quiesce_param *p = NULL;
        if (strncmp(argv[i], "--", 2) != 0 || !argv[i][2]) {
            quiesce_fail(q, "`%s`: arguments have the form --name value; --help lists the names", argv[i]);
            return;
        }
        p = quiesce_i_named(q, "--", name, value ? (size_t)(value - name) : strlen(name), true);
        if (p && p->kind == QUIESCE_FLAG) {
            *(bool *)p->value = true;
        } else if (p && !value && i + 1 == argc) {
            quiesce_fail(q, "--%s needs a value", p->name);
        } else if (p) {
            quiesce_i_set(q, p, value ? value + 1 : argv[++i]);
        }
    }
}

QUIESCE_FN void quiesce_i_option(struct quiesce *q, const char *name, enum quiesce_param_kind kind,
                                 void *value, const char *help)
{
    const char *best = NULL;
    struct quiesce_param *p = &q->options[q->options_count++];
    if (quiesce_i_find(q->params, q->params_count, name, &best)) {
        quiesce_fail(q, "the program calls a parameter --%s, which is an option of every benchmark", name);
    }
    p->name = name;
    p->kind = kind;
    p->value = value;
    p->help = help;
    p->int_max = INT64_MAX;
    p->max = 1e6;
}

/* Which benchmark: `name`, or the only one where that is empty. */
QUIESCE_FN void quiesce_i_choose(struct quiesce *q, const char *name)
{
    const char *best = NULL;
    if (!*name && q->benchmarks_count == 1) {
        q->current = &q->benchmarks[0];
        return;
    }
    for (uint32_t i = 0; i < q->benchmarks_count; i++) {
        if (strcmp(q->benchmarks[i].name, name) == 0) {
            q->current = &q->benchmarks[i];
            return;
        }
        quiesce_i_nearer(name, q->benchmarks[i].name, &best);
    }
    if (*name && best) {
        quiesce_fail(q, "there is no benchmark %s; did you mean %s?", name, best);
    } else if (*name) {
        quiesce_fail(q, "there is no benchmark %s; --list names them", name);
    } else {
        quiesce_fail(q, "there are %u benchmarks: say which with --benchmark NAME",
                     (unsigned)q->benchmarks_count);
    }
}

/* ==== Under an agent ==================================================================================== */

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

/* The strings of the agent; they lie in memory that stays. */
QUIESCE_FN void quiesce_i_shared_params(struct quiesce *q)
{
    const char *text = q->shared->params, *end = NULL;
    uint32_t bytes = q->shared->params_bytes;
    if (bytes > QUIESCE_BENCH_PARAMS_BYTES || (bytes > 0 && text[bytes - 1])) {
        quiesce_fail(q, "the agent's parameters do not end");
        return;
    }
    for (end = text + bytes; text < end && !q->failed; text += strlen(text) + 1) {
        const char *value = strchr(text, '=');
        const struct quiesce_param *p =
            quiesce_i_named(q, "parameter ", text, value ? (size_t)(value - text) : strlen(text), false);
        if (p) {
            quiesce_i_set(q, p, value ? value + 1 : "");
        }
    }
}

/* Writes what the program offers; with it every page that a window will write is touched. */
QUIESCE_FN void quiesce_i_offer(struct quiesce *q)
{
    struct quiesce_bench_shared *s = q->shared;
    const struct quiesce_benchmark *b = q->current;
    if (b->metrics_count > s->metrics_capacity) {
        quiesce_fail(q, "%u metrics, the agent has room for %u", (unsigned)b->metrics_count,
                     (unsigned)s->metrics_capacity);
        return;
    }
    memset(q->rows, 0, q->capacity * sizeof *q->rows);
    memset(q->values, 0, (size_t)b->metrics_count * q->capacity * sizeof *q->values);
    for (uint32_t i = 0; i < b->metrics_count; i++) {
        snprintf(s->metrics[i].name, sizeof s->metrics[i].name, "%s", b->metrics[i].name);
        snprintf(s->metrics[i].unit, sizeof s->metrics[i].unit, "%s", b->metrics[i].unit);
        s->metrics[i].direction = (uint32_t)b->metrics[i].direction;
        s->metrics[i].flags = (uint32_t)b->metrics[i].flag;
    }
    s->metrics_count = b->metrics_count;
    s->evals_max = b->once ? 1 : 0;
}

/* From hello to exit, deeper in the stack and higher in the heap by what the agent drew. */
QUIESCE_FN __attribute__((noinline)) int quiesce_i_session(struct quiesce *q, int argc, char **argv)
{
    struct quiesce_bench_shared *s = q->shared;
    uint32_t heap_bytes = s->heap_pad_bytes, stack_bytes = s->stack_pad_bytes;
    volatile char *stack = NULL;
    void *heap = NULL;
    int code = QUIESCE_BENCH_EXIT_USAGE;
    if (heap_bytes > QUIESCE_BENCH_HEAP_PAD_MAX_BYTES || stack_bytes > QUIESCE_BENCH_STACK_PAD_MAX_BYTES) {
        quiesce_fail(q, "the agent asks for a pad beyond its bound");
        return quiesce_i_broken(q, 0, code);
    }
    stack = (volatile char *)__builtin_alloca(stack_bytes + 1);
    stack[stack_bytes] = 0;
    heap = malloc(heap_bytes + 1);
    quiesce_keep(heap);
    quiesce_i_option(q, "benchmark", QUIESCE_TEXT, &q->given.benchmark, "which");
    quiesce_i_arguments(q, argc, argv);
    quiesce_i_shared_params(q);
    if (!q->failed) {
        quiesce_i_choose(q, s->benchmark[0] ? s->benchmark : q->given.benchmark);
    }
    if (!q->failed) {
        quiesce_i_offer(q);
        code = QUIESCE_BENCH_EXIT_FAILED;
    }
    if (!q->failed && quiesce_i_step(q, q->current->setup, QUIESCE_BENCH_SETUP)) {
        quiesce_i_enter(q, QUIESCE_BENCH_OUTSIDE);
        quiesce_i_done(q, 0, QUIESCE_BENCH_PARKED);
        code = quiesce_i_obey(q);
    } else {
        code = quiesce_i_broken(q, 0, code);
    }
    free(heap);
    return code;
}

/* Whether the memory is one that this header understands; else says what is wrong and gives the exit code. */
QUIESCE_FN int quiesce_i_check(struct quiesce *q, uint64_t bytes)
{
    struct quiesce_bench_shared *s = q->shared;
    struct timespec t;
    if (s->magic != QUIESCE_BENCH_MAGIC) {
        fprintf(stderr, "%s: the memory of " QUIESCE_BENCH_ENV " is not the agent's\n", q->program);
        return QUIESCE_BENCH_EXIT_MEMORY;
    }
    s->program_layout = QUIESCE_BENCH_LAYOUT;
    if (s->layout != QUIESCE_BENCH_LAYOUT || s->head_bytes != sizeof *s) {
        fprintf(stderr,
                "%s: built for layout %u of quiesce/bench.h, the agent speaks layout %u: rebuild it with the "
                "agent's header\n",
                q->program, (unsigned)QUIESCE_BENCH_LAYOUT, (unsigned)s->layout);
        return QUIESCE_BENCH_EXIT_LAYOUT;
    }
    if (s->capacity < 1 || s->capacity > QUIESCE_BENCH_ITERATIONS_MAX ||
        s->metrics_capacity > QUIESCE_BENCH_METRICS_MAX || s->total_bytes > bytes ||
        s->total_bytes != quiesce_bench_total_bytes(s->capacity, s->metrics_capacity)) {
        fprintf(stderr, "%s: the memory of " QUIESCE_BENCH_ENV " contradicts itself\n", q->program);
        return QUIESCE_BENCH_EXIT_MEMORY;
    }
    q->clock = (clockid_t)s->clock;
    if (clock_gettime(q->clock, &t) != 0) {
        fprintf(stderr, "%s: there is no clock %u here\n", q->program, (unsigned)s->clock);
        return QUIESCE_BENCH_EXIT_MEMORY;
    }
    return 0;
}

QUIESCE_FN int quiesce_i_serve(struct quiesce *q, const char *descriptor, int argc, char **argv)
{
    struct stat status;
    char *end = NULL;
    long fd = strtol(descriptor, &end, 10);
    void *memory = MAP_FAILED;
    int code = 0;
    if (*descriptor && !*end && fd >= 0 && fd <= 1 << 20 && fstat((int)fd, &status) == 0 &&
        status.st_size >= (off_t)sizeof *q->shared && status.st_size <= 1 << 24) {
        memory =
            mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, (int)fd, 0);
    }
    if (memory == MAP_FAILED) {
        fprintf(stderr, "%s: " QUIESCE_BENCH_ENV "=%s names no descriptor of the agent's memory\n",
                q->program, descriptor);
        return QUIESCE_BENCH_EXIT_MEMORY;
    }
    unsetenv(QUIESCE_BENCH_ENV);
    fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    q->shared = (struct quiesce_bench_shared *)memory;
    code = quiesce_i_check(q, (uint64_t)status.st_size);
    if (code != 0) {
        return code;
    }
    if (q->shared->wake_fd >= 0) {
        fcntl(q->shared->wake_fd, F_SETFD, FD_CLOEXEC);
    }
    q->capacity = q->shared->capacity;
    q->rows = quiesce_bench_rows(q->shared);
    q->values = quiesce_bench_values(q->shared, q->capacity);
    q->shared->bits = (uint32_t)(8 * sizeof(void *));
    q->shared->state = QUIESCE_BENCH_HELLO;
    return quiesce_i_session(q, argc, argv);
}

/* ==== By hand =========================================================================================== */

enum { QUIESCE_TUNE_MAX = 1000, QUIESCE_TUNE_BUDGET_NS = 100000000 };

/* e^x without the mathematics library: the series at x/1024, squared ten times. */
QUIESCE_FN double quiesce_i_exp(double x)
{
    double y = x / 1024, e = 1 + y * (1 + y / 2 * (1 + y / 3 * (1 + y / 4 * (1 + y / 5 * (1 + y / 6)))));
    for (int i = 0; i < 10; i++) {
        e *= e;
    }
    return e;
}

/* A logistic curve from high to low around t0, rounded, halves to even. */
QUIESCE_FN uint32_t quiesce_i_logistic(double high, double low, double slope, double t0, double t)
{
    double y = (high - low) / (1 + quiesce_i_exp(slope * (t - t0))) + low;
    uint32_t n = (uint32_t)(y + 0.5);
    return y + 0.5 == n && n % 2 ? n - 1 : n;
}

/* Evaluations per iteration for one that takes t_ns: the table of Chen & Revels' program BenchmarkTools, made
 * for a clock that is accurate to 1000 ns. Two logistic curves, a staircase, 1. */
QUIESCE_FN uint32_t quiesce_i_oracle(double t_ns)
{
    double t = t_ns < 1 ? 1 : t_ns;
    if (t > 9000) {
        return 1;
    }
    t = (double)(int64_t)t + (t > (double)(int64_t)t); /* upwards */
    if (t > 1000) {
        return 11 - (uint32_t)((t - 1) / 1000);
    }
    return t > 400 ? quiesce_i_logistic(204, -16, 0.01, 800, t)
                   : quiesce_i_logistic(1006, 195, 0.025, 200, t);
}

/* One window at once, with nobody to wait for. */
QUIESCE_FN bool quiesce_i_alone_window(struct quiesce *q, uint32_t iterations, uint32_t evals, uint32_t step,
                                       int64_t max_ns)
{
    struct quiesce_i_order order = {0, 0, 0, 0, 0, 0};
    order.iterations = iterations;
    order.evals = evals;
    order.evals_step = step;
    order.max_ns = max_ns;
    q->shared->start_at_ns = quiesce_i_now_ns(q);
    quiesce_i_window(q, &order);
    return !q->failed;
}

/* Algorithm 1 of Chen & Revels, its scan cut at 100 ms: i = 1, 2, ... evaluations, the least T_i / i decides.
 */
QUIESCE_FN uint32_t quiesce_i_tune(struct quiesce *q)
{
    double best_ns = 1e300, mean_ns;
    if (!quiesce_i_alone_window(q, 1, 1, 0, 0) || q->rows[0].duration_ns > QUIESCE_TUNE_BUDGET_NS ||
        !quiesce_i_alone_window(q, QUIESCE_TUNE_MAX, 1, 1, QUIESCE_TUNE_BUDGET_NS)) {
        return 1;
    }
    for (uint32_t i = 0; i < q->shared->count; i++) {
        mean_ns = (double)q->rows[i].duration_ns / (i + 1);
        best_ns = mean_ns < best_ns ? mean_ns : best_ns;
    }
    return quiesce_i_oracle(best_ns);
}

QUIESCE_FN int quiesce_i_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quantile of type 7 of ascending values. */
QUIESCE_FN double quiesce_i_quantile(const double *sorted, uint32_t n, double p)
{
    double h = (n - 1) * p;
    uint32_t i = (uint32_t)h;
    return i + 1 < n ? sorted[i] + (h - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

QUIESCE_FN void quiesce_i_time(char *out, size_t bytes, double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int unit = 0;
    while (ns >= 1000 && unit < 3) {
        ns /= 1000;
        unit++;
    }
    snprintf(out, bytes, "%.4g %s", ns, units[unit]);
}

/* A JSON string; bytes above 127 pass as they are. */
QUIESCE_FN void quiesce_i_json(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') {
            printf("\\%c", *text);
        } else if ((unsigned char)*text < 32) {
            printf("\\u%04x", (unsigned)(unsigned char)*text);
        } else {
            putchar(*text);
        }
    }
    putchar('"');
}

QUIESCE_FN void quiesce_i_json_params(const struct quiesce *q)
{
    for (uint32_t i = 0; i < q->params_count; i++) {
        const struct quiesce_param *p = &q->params[i];
        printf(i ? ", " : "");
        quiesce_i_json(p->name);
        printf(": ");
        if (p->kind == QUIESCE_TEXT) {
            quiesce_i_json(*(const char **)p->value);
        } else if (p->kind == QUIESCE_INT) {
            printf("%lld", (long long)*(int64_t *)p->value);
        } else {
            printf("%.17g", *(double *)p->value);
        }
    }
}

/* One line per iteration; a metric that it did not record is left out. */
QUIESCE_FN void quiesce_i_json_rows(const struct quiesce *q)
{
    const struct quiesce_benchmark *b = q->current;
    for (uint32_t i = 0; i < q->shared->count; i++) {
        printf("%s\n      {\"start_ns\": %lld, \"duration_ns\": %lld", i ? "," : "",
               (long long)q->rows[i].start_ns, (long long)q->rows[i].duration_ns);
        for (uint32_t m = 0; m < b->metrics_count; m++) {
            int64_t value = q->values[(size_t)m * q->capacity + i];
            if (value != QUIESCE_BENCH_NONE) {
                printf(", ");
                quiesce_i_json(b->metrics[m].name);
                printf(": %lld", (long long)value);
            }
        }
        printf("}");
    }
}

QUIESCE_FN void quiesce_i_report_json(const struct quiesce *q, uint32_t evals, const double *sorted)
{
    static const struct {
        const char *name;
        double p;
    } at[] = {{"min", 0}, {"q05", 0.05}, {"q25", 0.25}, {"median", 0.5}, {"q75", 0.75}, {"q95", 0.95}};
    uint32_t n = q->shared->count;
    printf("    {\"name\": ");
    quiesce_i_json(q->current->name);
    printf(", \"params\": {");
    quiesce_i_json_params(q);
    printf("}, \"evals\": %u, \"per_evaluation_ns\": {", (unsigned)evals);
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        printf("%s\"%s\": %.3f", i ? ", " : "", at[i].name, quiesce_i_quantile(sorted, n, at[i].p));
    }
    printf("}, \"iterations\": [");
    quiesce_i_json_rows(q);
    printf("]}");
}

QUIESCE_FN void quiesce_i_report_metrics(const struct quiesce *q)
{
    const struct quiesce_benchmark *b = q->current;
    for (uint32_t m = 0; m < b->metrics_count; m++) {
        const int64_t *values = q->values + (size_t)m * q->capacity;
        int64_t low = INT64_MAX, high = INT64_MIN;
        for (uint32_t i = 0; i < q->shared->count; i++) {
            low = values[i] != QUIESCE_BENCH_NONE && values[i] < low ? values[i] : low;
            high = values[i] > high ? values[i] : high;
        }
        if (high == QUIESCE_BENCH_NONE) {
            printf("  %-10s not recorded\n", b->metrics[m].name);
        } else if (low == high) {
            printf("  %-10s %lld %s\n", b->metrics[m].name, (long long)low, b->metrics[m].unit);
        } else {
            printf("  %-10s %lld to %lld %s%s\n", b->metrics[m].name, (long long)low, (long long)high,
                   b->metrics[m].unit,
                   b->metrics[m].flag == QUIESCE_DETERMINISTIC ? ": not deterministic" : "");
        }
    }
}

QUIESCE_FN void quiesce_i_report_text(const struct quiesce *q, uint32_t evals, const double *sorted)
{
    static const double at[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95};
    char shown[6][32];
    uint32_t n = q->shared->count;
    for (size_t i = 0; i < 6; i++) {
        quiesce_i_time(shown[i], sizeof shown[i], quiesce_i_quantile(sorted, n, at[i]));
    }
    printf("%s: %u iterations of %u evaluation%s, per evaluation:\n", q->current->name, (unsigned)n,
           (unsigned)evals, evals == 1 ? "" : "s");
    printf("  %-10s %s\n  %-10s %s\n", "min", shown[0], "median", shown[3]);
    printf("  %-10s 5 %% %s, 25 %% %s, 75 %% %s, 95 %% %s\n", "quantiles", shown[1], shown[2], shown[4],
           shown[5]);
    quiesce_i_report_metrics(q);
}

/* Measures the current benchmark and prints; false where a step failed. */
QUIESCE_FN bool quiesce_i_try(struct quiesce *q, const char *before)
{
    const struct quiesce_options *given = &q->given;
    uint32_t evals = (uint32_t)given->evals, n;
    int64_t max_ns = (int64_t)(given->max_time_s * 1e9);
    double *sorted = (double *)calloc(q->capacity, sizeof *sorted);
    if (!sorted || !quiesce_i_step(q, q->current->setup, QUIESCE_BENCH_SETUP)) {
        free(sorted);
        return false;
    }
    if (q->current->once) {
        evals = 1;
    } else if (evals == 0) {
        evals = quiesce_i_tune(q);
    }
    if (!q->failed && given->warmup > 0) {
        quiesce_i_alone_window(q, (uint32_t)given->warmup, evals, 0, max_ns);
    }
    if (!q->failed) {
        quiesce_i_alone_window(q, (uint32_t)given->iterations, evals, 0, max_ns);
    }
    n = q->shared->count;
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = (double)q->rows[i].duration_ns / evals;
    }
    if (!q->failed && quiesce_i_step(q, q->current->teardown, QUIESCE_BENCH_TEARDOWN)) {
        qsort(sorted, n, sizeof *sorted, quiesce_i_ascending);
        printf("%s", given->json ? before : "");
        (given->json ? quiesce_i_report_json : quiesce_i_report_text)(q, evals, sorted);
    }
    free(sorted);
    return !q->failed;
}

QUIESCE_FN void quiesce_i_help_rows(const struct quiesce_param *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[QUIESCE_BENCH_NAME_BYTES + 8];
        snprintf(name, sizeof name, "--%s%s", list[i].name, list[i].kind == QUIESCE_FLAG ? "" : " X");
        printf("  %-18s %s%s%s%s\n", name, list[i].help, list[i].shown[0] ? " (" : "", list[i].shown,
               list[i].shown[0] ? ")" : "");
    }
}

QUIESCE_FN void quiesce_i_help(const struct quiesce *q)
{
    printf("%s: %s\n\nusage: %s [--NAME VALUE ...]\n\nbenchmarks:\n", q->program, q->title, q->program);
    for (uint32_t i = 0; i < q->benchmarks_count; i++) {
        printf("  %-18s %s\n", q->benchmarks[i].name, q->benchmarks[i].help);
    }
    printf("\noptions:\n");
    quiesce_i_help_rows(q->options, q->options_count);
    printf(q->params_count ? "\nparameters:\n" : "");
    quiesce_i_help_rows(q->params, q->params_count);
}

QUIESCE_FN void quiesce_i_alone_options(struct quiesce *q)
{
    struct quiesce_options *given = &q->given;
    given->iterations = 20;
    given->warmup = 1;
    given->max_time_s = 10;
    quiesce_i_option(q, "help", QUIESCE_FLAG, &given->help, "this text");
    quiesce_i_option(q, "list", QUIESCE_FLAG, &given->list, "names of the benchmarks, one a line");
    quiesce_i_option(q, "json", QUIESCE_FLAG, &given->json, "every iteration, as JSON");
    quiesce_i_option(q, "benchmark", QUIESCE_TEXT, &given->benchmark, "only this one");
    quiesce_i_option(q, "iterations", QUIESCE_INT, &given->iterations, "of a window, 1 to 4096 (20)");
    quiesce_i_option(q, "evals", QUIESCE_INT, &given->evals, "evaluations per iteration; 0 finds out (0)");
    quiesce_i_option(q, "warmup", QUIESCE_INT, &given->warmup, "iterations before it that do not count (1)");
    quiesce_i_option(q, "max-time", QUIESCE_DOUBLE, &given->max_time_s,
                     "seconds after which none starts (10)");
    quiesce_i_option(q, "seed", QUIESCE_INT, &given->seed, "of the benchmark's random numbers (0)");
    for (uint32_t i = 0; i < q->options_count; i++) {
        q->options[i].int_max = QUIESCE_BENCH_ITERATIONS_MAX;
    }
    q->options[4].int_min = 1;
    q->options[5].int_max = 1000000;
    q->options[8].int_max = INT64_MAX;
}

/* Memory of the agent's layout, of our own. */
QUIESCE_FN bool quiesce_i_alone_memory(struct quiesce *q)
{
    q->capacity = QUIESCE_BENCH_ITERATIONS_MAX;
    q->shared = (struct quiesce_bench_shared *)calloc(
        1, (size_t)quiesce_bench_total_bytes(q->capacity, QUIESCE_BENCH_METRICS_MAX));
    if (!q->shared) {
        quiesce_fail(q, "no memory for the results");
        return false;
    }
    q->rows = quiesce_bench_rows(q->shared);
    q->values = quiesce_bench_values(q->shared, q->capacity);
    q->shared->seed = (uint64_t)q->given.seed;
    return true;
}

/* The benchmarks one after the other, or the one that was named. */
QUIESCE_FN void quiesce_i_alone_measure(struct quiesce *q)
{
    const struct quiesce_benchmark *only = q->current;
    const char *before = "\n";
    if (q->given.json) {
        printf("{\"quiesce_bench\": 1, \"program\": ");
        quiesce_i_json(q->program);
        printf(", \"benchmarks\": [");
    }
    for (uint32_t i = 0; i < q->benchmarks_count && !q->failed; i++) {
        q->current = &q->benchmarks[i];
        if (!only || only == q->current) {
            quiesce_i_try(q, before);
            before = ",\n";
        }
    }
    printf(q->given.json ? "\n]}\n" : "");
}

QUIESCE_FN int quiesce_i_alone(struct quiesce *q, int argc, char **argv)
{
    quiesce_i_alone_options(q);
    quiesce_i_arguments(q, argc, argv);
    if (!q->failed && q->given.help) {
        quiesce_i_help(q);
        return 0;
    }
    if (!q->failed && *q->given.benchmark) {
        quiesce_i_choose(q, q->given.benchmark);
    }
    if (q->failed) {
        quiesce_i_say(q, q->error);
        return QUIESCE_BENCH_EXIT_USAGE;
    }
    if (q->given.list) {
        for (uint32_t i = 0; i < q->benchmarks_count; i++) {
            printf("%s\n", q->benchmarks[i].name);
        }
        return 0;
    }
    if (quiesce_i_alone_memory(q)) {
        quiesce_i_alone_measure(q);
    }
    if (q->failed) {
        quiesce_i_say(q, q->error);
    }
    free(q->shared);
    q->shared = NULL;
    return q->failed ? QUIESCE_BENCH_EXIT_FAILED : 0;
}

QUIESCE_FN int quiesce_main(struct quiesce *q, int argc, char **argv)
{
    const char *descriptor = getenv(QUIESCE_BENCH_ENV), *slash = NULL;
    if (argc > 0) {
        slash = strrchr(argv[0], '/');
        q->program = slash ? slash + 1 : argv[0];
    }
    q->given.benchmark = "";
    return descriptor ? quiesce_i_serve(q, descriptor, argc, argv) : quiesce_i_alone(q, argc, argv);
}

#endif
#endif
