/* Work on a board: nanoseconds at the highest frequency of the clock that it runs on, which last longer while
 * the model says that the clock is slower, whatever its files say. It keeps that clock busy. */
#include "sim/impl.h"

#include <string.h>

#define QUIESCE_BENCH_LAYOUT_ONLY
#include "quiesce/bench.h"

#define STEP_NS (INT64_C(1000) * QS_VBOARD_STEP_US)

static int64_t top_khz(const struct qs_vboard_clock *clock)
{
    return clock->steps[clock->count - 1] / clock->per_khz;
}

/* Of the processors in the list ("": of all) those that can run fastest. */
void qs_sim_choose_clock(struct qs_sim *sim, const char *cpus)
{
    struct qs_sim_bed *bed = sim->options.bed;
    uint32_t wanted = qs_vboard_cpus(cpus);
    int64_t best_khz = 0;
    bed->cpus = wanted ? wanted : bed->board.present;
    for (size_t i = 0; i < bed->board.clock_count; i++) {
        const struct qs_vboard_clock *clock = &bed->board.clocks[i];
        bool may = clock->count > 0 && (wanted ? clock->cpus & wanted : clock->cpus) != 0;
        if (may && top_khz(clock) > best_khz) {
            best_khz = top_khz(clock);
            bed->work.clock = i;
        }
    }
}

bool qs_sim_work_load(struct qs_sim *sim, const char *cpus)
{
    struct qs_sim_bed *bed = sim->options.bed;
    uint32_t online = qs_sim_board(sim)->online;
    uint32_t wanted = cpus[0] ? qs_vboard_cpus(cpus) : bed->cpus & online;
    bool has_all = wanted != 0 && (wanted & ~online) == 0;
    for (size_t i = 0; has_all && i < bed->board.clock_count; i++) {
        if (bed->board.clocks[i].cpus & wanted) {
            qs_vboard_work(&bed->board, i, 1000000);
        }
    }
    return has_all;
}

void qs_sim_work_unload(struct qs_sim *sim)
{
    struct qs_vboard *board = qs_sim_board(sim);
    for (size_t i = 0; i < board->clock_count; i++) {
        qs_vboard_work(board, i, 0);
    }
}

/* Where all of its processors are off the work goes on at the slowest step, elsewhere. */
static int64_t khz_now(const struct qs_sim_bed *bed)
{
    const struct qs_vboard_clock *clock = &bed->board.clocks[bed->work.clock];
    int64_t khz = qs_vboard_khz(&bed->board, bed->work.clock);
    khz = khz > 0 ? khz : clock->steps[0] / clock->per_khz;
    return khz > 0 ? khz : 1;
}

static bool has_clock(const struct qs_sim_bed *bed)
{
    return bed->work.clock < bed->board.clock_count && bed->board.clocks[bed->work.clock].count > 0;
}

static void set_left(struct qs_sim_bed *bed, int64_t ns)
{
    int64_t khz = top_khz(&bed->board.clocks[bed->work.clock]);
    khz = khz > 0 ? khz : 1;
    bed->work.left = ns < INT64_MAX / khz ? ns * khz : INT64_MAX;
}

static void begin(struct qs_sim *sim, int64_t ns)
{
    struct qs_sim_bed *bed = sim->options.bed;
    qs_sim_board(sim);
    bed->work.on = true;
    bed->work.at_ns = sim->now_ns;
    bed->work.began_ns = sim->now_ns;
    set_left(bed, ns);
    qs_vboard_work(&bed->board, bed->work.clock, 1000000);
}

bool qs_sim_work_start(struct qs_sim *sim, int64_t ns)
{
    struct qs_sim_bed *bed = sim->options.bed;
    if (!bed || !has_clock(bed)) {
        return false;
    }
    bed->work.wanted = 0;
    begin(sim, ns);
    return true;
}

/* The evaluations of a window's next iteration. */
static uint32_t evals_of(const struct qs_sim_work *w)
{
    return w->evals_first + w->evals_more * w->rows;
}

bool qs_sim_work_rows(struct qs_sim *sim, const struct qs_port_go *go)
{
    struct qs_sim_bed *bed = sim->options.bed;
    if (!bed || !has_clock(bed) || go->iterations == 0) {
        return false;
    }
    bed->work.rows = 0;
    bed->work.wanted = go->iterations;
    bed->work.evals_first = go->evals;
    bed->work.evals_more = go->phase == QS_PHASE_TUNE;
    bed->work.until_ns = go->max_ns;
    begin(sim, qs_sim_lasts_ns(sim, &sim->run, true) * go->evals);
    bed->work.at_ns = bed->work.began_ns = go->start_at_ns - sim->options.clock_offset_ns;
    return true;
}

void qs_sim_work_stop(struct qs_sim *sim)
{
    struct qs_sim_bed *bed = sim->options.bed;
    if (bed && bed->work.on) {
        bed->work.on = false;
        qs_sim_board(sim);
        qs_vboard_work(&bed->board, bed->work.clock, 0);
    }
}

int64_t qs_sim_work_next_ns(const struct qs_sim *sim)
{
    const struct qs_sim_bed *bed = sim->options.bed;
    const struct qs_sim_work *w = &bed->work;
    if (!w->on) {
        return INT64_MAX;
    }
    int64_t khz = khz_now(bed);
    int64_t needs_ns = w->left / khz + (w->left % khz != 0);
    int64_t step_ns = STEP_NS - (w->at_ns - bed->start_ns) % STEP_NS; /* then the clock may be another */
    return w->at_ns + (needs_ns < step_ns ? needs_ns : step_ns);
}

/* One row of a harness program's window is done. True: it was the last. */
static bool end_row(struct qs_sim *sim)
{
    struct qs_sim_work *w = &sim->options.bed->work;
    struct quiesce_bench_shared *s = sim->shared.at;
    struct quiesce_bench_row *row = &quiesce_bench_rows(s)[w->rows];
    int64_t start_ns = sim->shared.start_at_ns - sim->options.clock_offset_ns;
    row->start_ns = w->began_ns - start_ns;
    row->duration_ns = sim->now_ns - w->began_ns;
    quiesce_bench_values(s, sim->shared.capacity)[w->rows] = evals_of(w);
    w->rows++;
    if (w->rows < w->wanted && sim->now_ns - start_ns <= w->until_ns) {
        w->began_ns = sim->now_ns;
        set_left(sim->options.bed, qs_sim_lasts_ns(sim, &sim->run, true) * evals_of(w));
        return false;
    }
    s->count = w->rows;
    s->how = w->rows < w->wanted ? QUIESCE_BENCH_TIME_UP : QUIESCE_BENCH_ALL;
    s->done_seq = sim->shared.seq;
    return true;
}

void qs_sim_work_catch_up(struct qs_sim *sim)
{
    struct qs_sim_work *w = &sim->options.bed->work;
    if (w->on && sim->now_ns > w->at_ns) {
        w->left -= (sim->now_ns - w->at_ns) * khz_now(sim->options.bed);
        w->at_ns = sim->now_ns;
    }
    qs_sim_board(sim);
}

void qs_sim_work_on_time(struct qs_sim *sim)
{
    struct qs_sim_work *w = &sim->options.bed->work;
    qs_sim_work_catch_up(sim);
    if (w->left > 0) {
        return;
    }
    if (w->wanted == 0) {
        sim->child.end_ns = qs_sim_device_ns(sim);
        sim->child.metrics[0] = (sim->now_ns - w->began_ns) / 1000;
        qs_sim_work_stop(sim);
    } else if (end_row(sim)) {
        sim->wake_ns = qs_sim_device_ns(sim);
        qs_sim_work_stop(sim);
    }
}
