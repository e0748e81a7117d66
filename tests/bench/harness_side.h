/* The sides of bench_harness and what they run. */
#ifndef QS_BENCH_HARNESS_SIDE_H
#define QS_BENCH_HARNESS_SIDE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct quiesce;

/* So many dependent multiplications: compiled apart, so that every side calls the same function. */
extern uint64_t spin_rounds;
void spin(struct quiesce *q);

/* ns per call of spin() as Google Benchmark reports them, from a measurement of at least min_time_s. */
double gbench_ns(double min_time_s);

#ifdef __cplusplus
}
#endif

#endif
