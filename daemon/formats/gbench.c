/* Google Benchmark: a row of `benchmarks` is one repetition, real_time and cpu_time are its metrics, further
 * numbers are counters. Repetitions share the process: the file is one run. */
#include "formats/gbench.h"

#include <string.h>

#include "formats/reader.h"

bool qs_gbench_is_setting(const char *key)
{
    static const char *const names[] = {"iterations",       "repetitions",  "repetition_index",
                                        "threads",          "family_index", "cpu_coefficient",
                                        "real_coefficient", "rms",          "per_family_instance_index"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], key) == 0)
            return true;
    return false;
}

const char *qs_gbench_text(const json_t *row, const char *key, const char *fallback)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : fallback;
}

bool qs_gbench_is_aggregate(const json_t *row)
{
    return strcmp(qs_gbench_text(row, "run_type", "iteration"), "iteration") != 0;
}

static bool take_metric(const struct qs_json_at *at, const json_t *row, const char *name, const char *metric,
                        const json_t *value)
{
    bool time = strcmp(metric, "real_time") == 0 || strcmp(metric, "cpu_time") == 0;
    bool rate = strstr(metric, "_per_second") != NULL;
    const char *unit = time ? qs_gbench_text(row, "time_unit", "ns") : "";
    const struct qs_import_key key = {.benchmark = name,
                                      .metric = metric,
                                      .unit = unit,
                                      .direction = time   ? QS_DIRECTION_LOWER
                                                   : rate ? QS_DIRECTION_HIGHER
                                                          : QS_DIRECTION_UNKNOWN};
    struct qs_import_build *b = qs_reader_series(at->r, &key, NULL);
    if (!b)
        return false;
    if (qs_gbench_is_aggregate(row))
        return qs_reader_drop(at->r, b, QS_DROP_AGGREGATE, 1);
    if (json_is_true(json_object_get(row, "error_occurred")))
        return qs_reader_drop(at->r, b, QS_DROP_FAILED, 1);
    return qs_reader_value(at->r, b, json_real_value(value), 0, 0, NULL);
}

static bool take_row(const struct qs_json_at *at, const json_t *row)
{
    const char *metric;
    json_t *value;
    if (!json_is_object(row))
        return qs_json_fail(at, NULL, "expected an object");
    const char *name = qs_gbench_text(row, "run_name", qs_gbench_text(row, "name", NULL));
    if (!name)
        return qs_json_want(at, row, "name", JSON_STRING) != NULL;
    bool aggregate = qs_gbench_is_aggregate(row);
    bool failed = json_is_true(json_object_get(row, "error_occurred"));
    if (!aggregate && !failed && !qs_json_want(at, row, "real_time", JSON_REAL))
        return false;
    json_object_foreach((json_t *)row, metric, value)
    {
        if (json_is_real(value) && !qs_gbench_is_setting(metric) &&
            !take_metric(at, row, name, metric, value))
            return false;
    }
    return true;
}

bool qs_import_gbench(struct qs_reader *r, const json_t *doc)
{
    const struct qs_json_at top = {.r = r};
    const json_t *rows = qs_json_want(&top, doc, "benchmarks", JSON_ARRAY);
    const struct qs_json_at list = qs_json_at_key(&top, "benchmarks");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const struct qs_json_at at = qs_json_at_index(&list, i);
        r->where = &at;
        if (!take_row(&at, json_array_get(rows, i)))
            return false;
    }
    return rows != NULL;
}
