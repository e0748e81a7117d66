/* The shared layout as this compiler sees it: check_compile.py compares what each prints. */
#define QUIESCE_BENCH_LAYOUT_ONLY
#include "quiesce/bench.h"

#include <stdio.h>

#define FIELD(name)                                                                                          \
    {                                                                                                        \
#name, offsetof(struct quiesce_bench_shared, name)                                                   \
    }

static const struct {
    const char *name;
    size_t offset_bytes;
} fields[] = {
    FIELD(magic),
    FIELD(layout),
    FIELD(head_bytes),
    FIELD(program_layout),
    FIELD(total_bytes),
    FIELD(capacity),
    FIELD(metrics_capacity),
    FIELD(wake_fd),
    FIELD(clock),
    FIELD(seed),
    FIELD(params_bytes),
    FIELD(stack_pad_bytes),
    FIELD(heap_pad_bytes),
    FIELD(command_seq),
    FIELD(command),
    FIELD(start_seq),
    FIELD(window),
    FIELD(start_at_ns),
    FIELD(max_ns),
    FIELD(iterations),
    FIELD(evals),
    FIELD(evals_step),
    FIELD(state),
    FIELD(phase),
    FIELD(done_seq),
    FIELD(how),
    FIELD(done_ns),
    FIELD(count),
    FIELD(metrics_count),
    FIELD(bits),
    FIELD(error),
    FIELD(benchmark),
    FIELD(params),
    FIELD(metrics),
};

int main(void)
{
    static uint64_t memory[4096];
    struct quiesce_bench_shared *shared = (struct quiesce_bench_shared *)(void *)memory;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        printf("%s %lu\n", fields[i].name, (unsigned long)fields[i].offset_bytes);
    }
    printf("rows %ld\n", (long)((char *)quiesce_bench_rows(shared) - (char *)shared));
    printf("values %ld\n", (long)((char *)quiesce_bench_values(shared, 7) - (char *)shared));
    printf("total %lu\n", (unsigned long)quiesce_bench_total_bytes(7, 3));
    return 0;
}
