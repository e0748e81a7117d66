/* By hand: measures and prints. */
#ifndef QUIESCE_PARTS_ALONE_H
#define QUIESCE_PARTS_ALONE_H

#include "quiesce/parts/help.h"
#include "quiesce/parts/report.h"
#include "quiesce/parts/session.h"
#include "quiesce/parts/tune.h"

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

#endif
