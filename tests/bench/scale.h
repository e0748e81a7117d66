/* How much a benchmark measures: in full, or as little as shows that it still works, in the program that
 * ./dev test starts (compiled with QS_BENCH_SMOKE, its figures mean nothing). */
#ifndef QS_TESTS_BENCH_SCALE_H
#define QS_TESTS_BENCH_SCALE_H

#ifdef QS_BENCH_SMOKE
#define QS_FULL_OR_SMOKE(full, smoke) (smoke)
#else
#define QS_FULL_OR_SMOKE(full, smoke) (full)
#endif

#endif
