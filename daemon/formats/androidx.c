/* androidx.benchmark's benchmarkData.json: `metrics` have one value an iteration, all of one run; but a
 * start-up is a process of its own, and so a run, where neither name nor parameters say that it was warm or
 * hot. `sampledMetrics` have a list of samples an iteration, and each iteration is a run of them. */
#include <string.h>
#include <strings.h>

#include "formats/androidx.h"
#include "formats/reader.h"

const char *qs_androidx_unit(const char *metric)
{
    static const char *const units[][2] = {{"Ms", "ms"}, {"Ns", "ns"}, {"Us", "us"},       {"Kb", "KiB"},
                                           {"Uj", "uJ"}, {"Uw", "uW"}, {"Bytes", "bytes"}, {"Percent", "%"}};
    size_t n = strlen(metric);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t k = strlen(units[i][0]);
        if (n > k && strcmp(metric + n - k, units[i][0]) == 0)
            return units[i][1];
    }
    return "";
}

static bool take_samples(const struct qs_json_at *at, struct qs_import_build *b, const json_t *runs)
{
    size_t i;
    json_t *list;
    json_array_foreach(runs, i, list)
    {
        const struct qs_json_at here = qs_json_at_index(at, i);
        if (!json_is_array(list))
            return qs_json_fail(&here, NULL, "expected a list, the samples of one iteration");
        if (!qs_json_numbers(&here, b, list, i))
            return false;
    }
    return true;
}

/* One value, one run. */
static bool take_runs(const struct qs_json_at *at, struct qs_import_build *b, const json_t *values)
{
    size_t i;
    json_t *one;
    json_array_foreach(values, i, one)
    {
        const struct qs_json_at here = qs_json_at_index(at, i);
        if (!qs_json_number(&here, b, one, i))
            return false;
    }
    return true;
}

static bool has_word(const char *text, const char *word)
{
    for (; *text != '\0'; text++)
        if (strncasecmp(text, word, strlen(word)) == 0)
            return true;
    return false;
}

static bool is_warm(const char *text)
{
    return has_word(text, "warm") || has_word(text, "hot");
}

/* A start-up of a new process: timeToInitialDisplayMs, timeToFullDisplayMs. */
static bool is_start(const json_t *row, const char *metric)
{
    const char *key;
    json_t *value;
    if (strncmp(metric, "timeTo", 6) != 0 || !has_word(metric, "Display") ||
        is_warm(json_string_value(json_object_get(row, "name"))))
        return false;
    json_object_foreach(json_object_get(row, "params"), key, value)
    {
        if (json_is_string(value) && is_warm(json_string_value(value)))
            return false;
    }
    return true;
}

enum shape { SHAPE_ONE_RUN, SHAPE_A_RUN_EACH, SHAPE_SAMPLES };

static bool take_metric(const struct qs_json_at *at, const char *benchmark, const char *metric,
                        const json_t *value, enum shape shape)
{
    const char *unit = qs_androidx_unit(metric);
    const struct qs_import_key key = {
        .benchmark = benchmark, .metric = metric, .unit = unit, .direction = qs_direction_of_unit(unit)};
    const json_t *runs = qs_json_want(at, value, "runs", JSON_ARRAY);
    struct qs_import_build *b = runs ? qs_reader_series(at->r, &key, NULL) : NULL;
    const struct qs_json_at here = qs_json_at_key(at, "runs");
    if (!b)
        return false;
    if (shape == SHAPE_SAMPLES)
        return take_samples(&here, b, runs);
    return shape == SHAPE_A_RUN_EACH ? take_runs(&here, b, runs) : qs_json_numbers(&here, b, runs, 0);
}

static bool take_metrics(const struct qs_json_at *at, const json_t *row, const char *benchmark,
                         const char *group)
{
    const json_t *metrics = json_object_get(row, group);
    const struct qs_json_at here = qs_json_at_key(at, group);
    const char *metric;
    json_t *value;
    if (metrics && !json_is_object(metrics))
        return qs_json_fail(&here, NULL, "expected an object of metrics");
    json_object_foreach((json_t *)metrics, metric, value)
    {
        const struct qs_json_at deeper = qs_json_at_key(&here, metric);
        enum shape shape = strcmp(group, "sampledMetrics") == 0 ? SHAPE_SAMPLES
                           : is_start(row, metric)              ? SHAPE_A_RUN_EACH
                                                                : SHAPE_ONE_RUN;
        if (!take_metric(&deeper, benchmark, metric, value, shape))
            return false;
    }
    return true;
}

bool qs_import_androidx(struct qs_reader *r, const json_t *doc)
{
    const struct qs_json_at top = {.r = r};
    const json_t *rows = qs_json_want(&top, doc, "benchmarks", JSON_ARRAY);
    const struct qs_json_at list = qs_json_at_key(&top, "benchmarks");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const struct qs_json_at at = qs_json_at_index(&list, i);
        r->where = &at;
        const json_t *row = json_array_get(rows, i);
        const json_t *name = qs_json_want(&at, row, "name", JSON_STRING);
        if (!name || !take_metrics(&at, row, json_string_value(name), "metrics") ||
            !take_metrics(&at, row, json_string_value(name), "sampledMetrics"))
            return false;
    }
    return rows != NULL;
}
