/* By hand: how many evaluations per iteration. */
#ifndef QUIESCE_PARTS_TUNE_H
#define QUIESCE_PARTS_TUNE_H

#include "quiesce/parts/window.h"

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

#endif
