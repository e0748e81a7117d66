#include "core/shared.h"

#include "core/print.h"

#include <string.h>

#define QUIESCE_BENCH_LAYOUT_ONLY
#include "quiesce/bench.h"

_Static_assert((int)QUIESCE_BENCH_METRICS_MAX == (int)QS_DECLARED_MAX, "one limit of declared metrics");
_Static_assert((int)QUIESCE_BENCH_ITERATIONS_MAX == (int)QS_ITERATIONS_MAX, "one limit of iterations");
_Static_assert((int)QUIESCE_BENCH_PARAMS_BYTES == (int)QS_PARAMS_MAX_BYTES, "what fits the wire fits here");
_Static_assert((int)QUIESCE_BENCH_STACK_PAD_MAX_BYTES == (int)QS_LAYOUT_STACK_MAX_BYTES, "one limit");
_Static_assert((int)QUIESCE_BENCH_HEAP_PAD_MAX_BYTES == (int)QS_LAYOUT_HEAP_MAX_BYTES, "one limit");

size_t qs_shared_bytes(uint32_t capacity)
{
    return (size_t)quiesce_bench_total_bytes(capacity, QUIESCE_BENCH_METRICS_MAX);
}

static uint32_t fill_params(char *to, const struct qs_list *params)
{
    struct qs_iter it = qs_list_iter(params);
    struct qs_text text;
    size_t used = 0;
    /* Encoded, each text has two bytes of length; here it has one NUL: what the wire took fits. */
    while (qs_list_text(&it, &text) && used + text.n + 1U <= QUIESCE_BENCH_PARAMS_BYTES) {
        used += qs_text_copy(text, to + used, text.n + 1U) + 1U;
    }
    return (uint32_t)used;
}

void qs_shared_fill(struct qs_shared *shared, void *memory, const struct qs_shared_setup *setup)
{
    const struct qs_harness *h = setup->harness;
    struct quiesce_bench_shared *at = memory;
    memset(memory, 0, qs_shared_bytes(h->capacity));
    *shared = (struct qs_shared){.at = at, .capacity = h->capacity};
    at->magic = QUIESCE_BENCH_MAGIC;
    at->layout = QUIESCE_BENCH_LAYOUT;
    at->head_bytes = sizeof *at;
    at->total_bytes = qs_shared_bytes(h->capacity);
    at->capacity = h->capacity;
    at->metrics_capacity = QUIESCE_BENCH_METRICS_MAX;
    at->wake_fd = setup->wake_fd;
    at->clock = setup->clock;
    at->seed = h->seed;
    at->stack_pad_bytes = h->stack_bytes;
    at->heap_pad_bytes = h->heap_bytes;
    qs_text_copy(h->benchmark, at->benchmark, sizeof at->benchmark);
    at->params_bytes = fill_params(at->params, &h->params);
}

static void command(struct qs_shared *shared, enum quiesce_bench_command what)
{
    shared->at->command = what;
    shared->seq++;
    __atomic_store_n(&shared->at->command_seq, shared->seq, __ATOMIC_RELEASE);
}

void qs_shared_go(struct qs_shared *shared, const struct qs_port_go *go)
{
    struct quiesce_bench_shared *at = shared->at;
    at->window = go->window;
    at->iterations = go->iterations;
    at->evals = go->evals;
    at->evals_step = go->phase == QS_PHASE_TUNE ? 1 : 0;
    at->max_ns = go->max_ns;
    at->start_at_ns = shared->start_at_ns = go->start_at_ns;
    __atomic_store_n(&at->start_seq, shared->seq + 1, __ATOMIC_RELEASE);
    command(shared, go->phase == QS_PHASE_WARMUP ? QUIESCE_BENCH_WARM
                    : go->phase == QS_PHASE_TUNE ? QUIESCE_BENCH_TUNE
                                                 : QUIESCE_BENCH_MEASURE);
}

void qs_shared_quit(struct qs_shared *shared)
{
    command(shared, QUIESCE_BENCH_EXIT);
}

uint32_t *qs_shared_futex(const struct qs_shared *shared)
{
    return &shared->at->command_seq;
}

static uint32_t word(const uint32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* Is what we wrote still there? */
static bool is_ours(const struct qs_shared *shared)
{
    const struct quiesce_bench_shared *at = shared->at;
    return word(&at->magic) == QUIESCE_BENCH_MAGIC && word(&at->layout) == QUIESCE_BENCH_LAYOUT &&
           word(&at->head_bytes) == sizeof *at && word(&at->capacity) == shared->capacity &&
           word(&at->command_seq) == shared->seq;
}

static const char *phase_name(uint32_t phase)
{
    static const char *const names[] = {"between its steps", "setup",   "prepare", "run",
                                        "conclude",          "teardown"};
    return phase < sizeof names / sizeof names[0] ? names[phase] : "an unknown phase";
}

/* Text of the program: cut at its NUL or its room, without what a terminal cannot show. */
static void copy_text(char *to, size_t cap, const char *from, size_t room)
{
    size_t n = 0;
    while (n + 1 < cap && n < room) {
        char c = __atomic_load_n(from + n, __ATOMIC_RELAXED);
        if (c == '\0') {
            break;
        }
        to[n++] = (unsigned char)c < 0x20 || c == 0x7f ? '?' : c;
    }
    to[n] = '\0';
}

static enum qs_port_program state_of(uint32_t state)
{
    switch (state) {
    case QUIESCE_BENCH_SILENT:
    case QUIESCE_BENCH_HELLO:
        return QS_PROGRAM_SETTING_UP;
    case QUIESCE_BENCH_PARKED:
        return QS_PROGRAM_PARKED;
    case QUIESCE_BENCH_BUSY:
        return QS_PROGRAM_BUSY;
    case QUIESCE_BENCH_FAILED:
        return QS_PROGRAM_FAILED;
    case QUIESCE_BENCH_OVER:
        return QS_PROGRAM_OVER;
    default:
        return QS_PROGRAM_CORRUPT;
    }
}

static void corrupt(struct qs_port_look *look, const char *what)
{
    look->state = QS_PROGRAM_CORRUPT;
    look->count = 0;
    qs_print(look->text, sizeof look->text, "the program wrote something invalid into the shared memory: %s",
             what);
}

void qs_shared_look(const struct qs_shared *shared, struct qs_port_look *look)
{
    const struct quiesce_bench_shared *at = shared->at;
    uint32_t how = word(&at->how);
    uint32_t phase = word(&at->phase);
    *look = (struct qs_port_look){.state = state_of(word(&at->state)),
                                  .done = word(&at->done_seq) == shared->seq,
                                  .time_up = how == QUIESCE_BENCH_TIME_UP,
                                  .broke = how == QUIESCE_BENCH_BROKE,
                                  .count = word(&at->count),
                                  .metrics = word(&at->metrics_count),
                                  .layout = word(&at->program_layout),
                                  .evals_max = word(&at->evals_max),
                                  .in_step = phase != QUIESCE_BENCH_OUTSIDE,
                                  .phase = phase_name(phase)};
    copy_text(look->text, sizeof look->text, at->error, sizeof at->error);
    if (!is_ours(shared)) {
        corrupt(look, "the words that are the agent's");
    } else if (look->state == QS_PROGRAM_CORRUPT) {
        corrupt(look, "a state that does not exist");
    } else if (look->count > shared->capacity) {
        corrupt(look, "more iterations than there is room for");
    } else if (look->metrics > QS_DECLARED_MAX) {
        corrupt(look, "more metrics than there is room for");
    } else if (how > QUIESCE_BENCH_BROKE) {
        corrupt(look, "an end of a window that does not exist");
    }
}

bool qs_shared_metric(const struct qs_shared *shared, uint32_t i, struct qs_port_metric *metric)
{
    const struct quiesce_bench_metric *at = &shared->at->metrics[i];
    uint32_t direction = word(&at->direction);
    uint32_t flags = word(&at->flags);
    copy_text(metric->name, sizeof metric->name, at->name, sizeof at->name);
    copy_text(metric->unit, sizeof metric->unit, at->unit, sizeof at->unit);
    metric->lower_is_better = direction == QUIESCE_LOWER_IS_BETTER;
    metric->deterministic = flags == QUIESCE_DETERMINISTIC;
    if (!metric->unit[0]) {
        memcpy(metric->unit, "count", sizeof "count"); /* a number of things */
    }
    return metric->name[0] && direction <= QUIESCE_HIGHER_IS_BETTER && flags <= QUIESCE_DETERMINISTIC;
}

void qs_shared_row(const struct qs_shared *shared, uint32_t i, uint32_t metrics, struct qs_port_row *row)
{
    const struct quiesce_bench_row *at = quiesce_bench_rows(shared->at) + i;
    const int64_t *values = quiesce_bench_values(shared->at, shared->capacity);
    row->start_ns = __atomic_load_n(&at->start_ns, __ATOMIC_RELAXED);
    row->duration_ns = __atomic_load_n(&at->duration_ns, __ATOMIC_RELAXED);
    if (__builtin_add_overflow(row->start_ns, shared->start_at_ns, &row->start_ns)) {
        row->start_ns = INT64_MIN;
    }
    for (uint32_t k = 0; k < metrics; k++) {
        row->values[k] = __atomic_load_n(values + (size_t)k * shared->capacity + i, __ATOMIC_RELAXED);
    }
}
