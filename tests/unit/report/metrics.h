/* Metrics of a made job (world.h) beside its durations. */
#ifndef QS_TEST_REPORT_METRICS_H
#define QS_TEST_REPORT_METRICS_H

#include "world.h"

/* "rate" (ops, higher is better), "calls" (deterministic), "power_mW" (one value a window). */
enum { RATE, CALLS, POWER, METRICS };

struct metrics {
    struct world w;
    struct qs_arm_metric list[METRICS];
    struct qs_job_metrics all;
};

void metrics_init(struct metrics *m, size_t arms, const char *more);
void metrics_done(struct metrics *m);
/* A clean run of n durations of 1 ms, with 0.1 % of noise from block to block. */
void metrics_run(struct metrics *m, uint32_t block, uint32_t arm, size_t n);
/* What the last run has of a metric. Valid until the next run. */
struct qs_values *metrics_of(struct metrics *m, size_t metric);
void metrics_put(struct qs_values *values, double v);
/* Eight blocks of two arms and three iterations: b has so much times a's rate, and so many more calls than
 * 100. */
void metrics_fill(struct metrics *m, double rate_ratio, double more_calls);

#endif
