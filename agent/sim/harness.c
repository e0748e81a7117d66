/* The program of a harness run, modelled: it writes what a real one would write into the same memory, at
 * once, and is done when that would have taken its time. */
#include "sim/impl.h"

#include <stdio.h>
#include <string.h>

#define QUIESCE_BENCH_LAYOUT_ONLY
#include "quiesce/bench.h"

#define STEP_NS INT64_C(1000000) /* a setup, a teardown */

bool qs_sim_harness_open(struct qs_sim *sim, const struct qs_msg_run_begin *run, struct qs_port_ready *ready)
{
    const struct qs_shared_setup setup = {.harness = &run->harness, .wake_fd = -1, .clock = 1};
    if (qs_shared_bytes(run->harness.capacity) > sizeof sim->harness_memory) {
        return false;
    }
    qs_shared_fill(&sim->shared, sim->harness_memory, &setup);
    ready->shared_cpu = false;
    return true;
}

static struct quiesce_bench_shared *memory(struct qs_sim *sim)
{
    return sim->shared.at;
}

bool qs_sim_program_start(void *ctx, struct qs_port_fault *fault)
{
    struct qs_sim *sim = ctx;
    struct quiesce_bench_shared *s = memory(sim);
    (void)fault;
    qs_sim_begin_child(sim, &sim->run, false);
    sim->child.end_ns = INT64_MAX;
    sim->wake_ns = qs_sim_device_ns(sim) + STEP_NS;
    s->program_layout = QUIESCE_BENCH_LAYOUT;
    s->state = QUIESCE_BENCH_PARKED;
    s->metrics_count = 1;
    snprintf(s->metrics[0].name, sizeof s->metrics[0].name, "evals");
    s->metrics[0].flags = QUIESCE_DETERMINISTIC;
    return true;
}

void qs_sim_program_go(void *ctx, const struct qs_port_go *go)
{
    struct qs_sim *sim = ctx;
    struct quiesce_bench_shared *s = memory(sim);
    struct quiesce_bench_row *rows = quiesce_bench_rows(s);
    int64_t *values = quiesce_bench_values(s, sim->shared.capacity);
    int64_t at_ns = 0;
    uint32_t n = 0;
    qs_shared_go(&sim->shared, go);
    qs_sim_settle(sim);
    sim->busy = true;
    if (sim->run.hang || sim->run.exit_code != 0) {
        sim->wake_ns = INT64_MAX;
        sim->child.end_ns = sim->run.hang ? INT64_MAX : go->start_at_ns;
        s->state = QUIESCE_BENCH_BUSY;
        s->phase = QUIESCE_BENCH_RUN;
        return;
    }
    if (qs_sim_work_rows(sim, go)) {
        return;
    }
    for (; n < go->iterations && at_ns <= go->max_ns; n++) {
        rows[n].start_ns = at_ns;
        uint32_t evals = go->evals + (go->phase == QS_PHASE_TUNE ? n : 0);
        rows[n].duration_ns = qs_sim_lasts_ns(sim, &sim->run, true) * evals;
        values[n] = evals;
        at_ns += rows[n].duration_ns;
    }
    s->count = n;
    s->how = n < go->iterations ? QUIESCE_BENCH_TIME_UP : QUIESCE_BENCH_ALL;
    s->done_seq = sim->shared.seq;
    sim->wake_ns = go->start_at_ns + at_ns;
}

void qs_sim_program_quit(void *ctx)
{
    struct qs_sim *sim = ctx;
    qs_shared_quit(&sim->shared);
    memory(sim)->state = QUIESCE_BENCH_OVER;
    sim->child.end_ns = qs_sim_device_ns(sim) + STEP_NS;
}

void qs_sim_program_look(void *ctx, struct qs_port_look *look)
{
    qs_shared_look(&((struct qs_sim *)ctx)->shared, look);
}

bool qs_sim_program_metric(void *ctx, uint32_t i, struct qs_port_metric *metric)
{
    return qs_shared_metric(&((struct qs_sim *)ctx)->shared, i, metric);
}

void qs_sim_program_row(void *ctx, uint32_t i, uint32_t metrics, struct qs_port_row *row)
{
    qs_shared_row(&((struct qs_sim *)ctx)->shared, i, metrics, row);
}

/* A clock that is exact; the model's accuracy is what seed 001's table was made for. */
void qs_sim_program_clock(void *ctx, struct qs_port_clock *out)
{
    (void)ctx;
    *out = (struct qs_port_clock){.precision_ns = 1, .accuracy_ns = 1000};
}
