// Google Benchmark on the function of bench_harness.
#include "harness_side.h"

#include <benchmark/benchmark.h>

namespace
{

class Keeper : public benchmark::BenchmarkReporter
{
  public:
    double per_iteration_ns = 0;

    bool ReportContext(const Context &) override
    {
        return true;
    }

    void ReportRuns(const std::vector<Run> &runs) override
    {
        for (const Run &run : runs) {
            per_iteration_ns = run.real_accumulated_time * 1e9 / static_cast<double>(run.iterations);
        }
    }
};

void Spin(benchmark::State &state)
{
    for (auto _ : state) {
        spin(nullptr);
    }
}

} // namespace

extern "C" double gbench_ns(double min_time_s)
{
    Keeper keeper;
    benchmark::ClearRegisteredBenchmarks();
    benchmark::RegisterBenchmark("spin", Spin)->MinTime(min_time_s);
    benchmark::RunSpecifiedBenchmarks(&keeper);
    return keeper.per_iteration_ns;
}
