#include "ctl/offline.h"
#include "ctl/result.h"

static const struct qs_opt options[] = {QS_OFFLINE_OPTIONS, QS_VIEW_OPTIONS, {0}};

static int run(struct qs_ctl *ctl)
{
    return qs_offline_run(ctl, "/api/v1/analyze");
}

const struct qs_command qs_command_analyze = {
    .name = "analyze",
    .summary = "Describe results that another tool has measured",
    .usage = "[OPTIONS] FILE...",
    .about =
        "Reads plain numbers, CSV with named columns (run,iteration,value,unit), Google Benchmark JSON, "
        "androidx benchmarkData.json, pyperf JSON, the text of `go test -bench` and hyperfine JSON. Shows "
        "the "
        "interval of the median first, then the quantiles, what is wrong with the sample, and a histogram; "
        "--json has every statistic (schema/analysis.schema.json). Nothing is stored. FILE may be - for "
        "standard input.",
    .options = options,
    .examples = "quiesce analyze times.txt\nquiesce analyze benchmarkData.json\n"
                "go test -bench . -count 10 | quiesce analyze -\n"
                "quiesce analyze --json results.csv | jq '.results[0].mean_ci'",
    .least_words = 1,
    .most_words = 64,
    .run = run};
