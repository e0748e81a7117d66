#include "ctl/offline.h"

static const struct qs_opt options[] = {QS_OFFLINE_OPTIONS, {0}};

static const struct qs_opt history_options[] = {
    QS_OFFLINE_OPTIONS,
    {.name = "margin",
     .values = "P",
     .kind = QS_OPT_RATIO,
     .max = 10000000,
     .help = "The smallest change that matters; 2% unless told otherwise.",
     .heading = "Changes"},
    {.name = "window",
     .values = "N",
     .kind = QS_OPT_WHOLE,
     .min = 2,
     .max = 10000,
     .help = "Points that are searched at a time; 50 unless told otherwise."},
    {.name = "p-max", .values = "P", .help = "A change has a p below this; 0.001 unless told otherwise."},
    {0}};

static int run(struct qs_ctl *ctl)
{
    return qs_offline_run(ctl, "/api/v1/analyze");
}

static int run_history(struct qs_ctl *ctl)
{
    return qs_offline_run(ctl, "/api/v1/analyze:history");
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

const struct qs_command qs_command_history = {
    .name = "history",
    .summary = "Find the changes in a series of results",
    .usage = "[OPTIONS] FILE...",
    .about = "Each numeric column of a CSV file is a series in the order of its rows; columns such as date "
             "and commit "
             "name the points. Where a series has several runs, a point is the median of a run.",
    .options = history_options,
    .examples =
        "quiesce history nightly.csv\nquiesce history --json nightly.csv | jq '.results[].change_points'",
    .least_words = 1,
    .most_words = 64,
    .run = run_history};
