#include "metrics.h"

#include "base/mem.h"

void metrics_init(struct metrics *m, size_t arms, const char *more)
{
    *m = (struct metrics){
        .list = {
            {.name = (char *)(uintptr_t) "rate", .unit = (char *)(uintptr_t) "ops", .higher_is_better = true},
            {.name = (char *)(uintptr_t) "calls", .unit = (char *)(uintptr_t) "count", .deterministic = true},
            {.name = (char *)(uintptr_t) "power_mW", .unit = (char *)(uintptr_t) "mW", .of_windows = true}}};
    world_init(&m->w, arms, more);
    m->all = (struct qs_job_metrics){.metrics = m->list, .metric_count = METRICS};
    m->w.in.metrics = &m->all;
}

void metrics_done(struct metrics *m)
{
    m->all.metrics = NULL;
    m->all.metric_count = 0;
    for (size_t i = 0; i < m->all.count; i++) {
        for (size_t k = 0; k < METRICS; k++)
            free(m->all.at[i].values[k].at);
    }
    qs_job_metrics_free(&m->all);
    world_done(&m->w);
}

void metrics_run(struct metrics *m, uint32_t block, uint32_t arm, size_t n)
{
    int64_t ns[16];
    size_t at = m->all.count;
    for (size_t i = 0; i < n; i++)
        ns[i] = 1000000 + (int64_t)((block * 7 + arm * 3) % 5) * 500 + (int64_t)i;
    struct qs_measured_run *s = world_run(&m->w, block, arm, ns, n);
    /* Runs come in the order of block and arm, and so do their names. */
    const uint8_t uid[16] = {(uint8_t)(at >> 8), (uint8_t)at};
    memcpy(s->run_uid, uid, sizeof uid);
    m->all.at = qs_grow(m->all.at, at, sizeof *m->all.at);
    m->all.at[at] = (struct qs_run_metrics){.values = qs_calloc(METRICS, sizeof(struct qs_values))};
    memcpy(m->all.at[at].uid, uid, sizeof uid);
    m->all.count++;
}

struct qs_values *metrics_of(struct metrics *m, size_t metric)
{
    return &m->all.at[m->all.count - 1].values[metric];
}

void metrics_put(struct qs_values *values, double v)
{
    values->at = qs_grow(values->at, values->n, sizeof *values->at);
    values->at[values->n++] = v;
}

void metrics_fill(struct metrics *m, double rate_ratio, double more_calls)
{
    static const double wobble[] = {0, 3, -2, 1, -1, 2, -3, 1.5};
    for (uint32_t b = 1; b <= 8; b++) {
        for (uint32_t a = 0; a < 2; a++) {
            metrics_run(m, b, a, 3);
            for (int i = 0; i < 3; i++) {
                metrics_put(metrics_of(m, RATE),
                            (5000 + wobble[(b + 3 * a) % 8] + i) * (a > 0 ? rate_ratio : 1));
                metrics_put(metrics_of(m, CALLS), 100 + (a > 0 ? more_calls : 0));
            }
            metrics_put(metrics_of(m, POWER), 800 + (b * 5 + a * 3) % 7);
        }
    }
}
