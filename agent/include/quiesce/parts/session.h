/* Under an agent: from the descriptor to the exit. */
#ifndef QUIESCE_PARTS_SESSION_H
#define QUIESCE_PARTS_SESSION_H

#include "quiesce/parts/arguments.h"
#include "quiesce/parts/commands.h"

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

#endif
