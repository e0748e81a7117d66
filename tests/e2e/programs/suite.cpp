// A suite of Google Benchmark as they exist: two benchmarks, one of them below a nanosecond, and one that fails.
#include <benchmark/benchmark.h>

static void BM_nothing(benchmark::State &state)
{
    for (auto _ : state) {
    }
}
BENCHMARK(BM_nothing);

static void BM_sum(benchmark::State &state)
{
    for (auto _ : state) {
        int sum = 0;
        for (int i = 0; i < state.range(0); i++) {
            benchmark::DoNotOptimize(sum += i);
        }
    }
    state.counters["ratio"] = 0.25;
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_sum)->Arg(100)->Arg(400)->Unit(benchmark::kMicrosecond);

static void BM_fails(benchmark::State &state)
{
    state.SkipWithError("no such file: lena.ppm");
}
BENCHMARK(BM_fails);

BENCHMARK_MAIN();
