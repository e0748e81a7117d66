/* pyperf: each element of `runs` is a process with values and warm-ups; one without values calibrated.
 * Seconds become ns, so that no absolute tolerance meets numbers near 1e-6. */
#include <string.h>

#include "formats/reader.h"

static const char *meta(const json_t *doc, const json_t *row, const char *key, const char *fallback)
{
    const char *own = json_string_value(json_object_get(json_object_get(row, "metadata"), key));
    const char *common = json_string_value(json_object_get(json_object_get(doc, "metadata"), key));
    return own ? own : common ? common : fallback;
}

static bool take_runs(const struct qs_json_at *at, struct qs_import_build *b, const json_t *runs)
{
    size_t i;
    json_t *run;
    json_array_foreach(runs, i, run)
    {
        const struct qs_json_at here = qs_json_at_index(at, i);
        const struct qs_json_at deeper = qs_json_at_key(&here, "values");
        const json_t *values = json_object_get(run, "values");
        if (!json_is_object(run))
            return qs_json_fail(&here, NULL, "expected an object, one process");
        if (values && !json_is_array(values))
            return qs_json_fail(&deeper, NULL, "expected a list of numbers");
        if (!qs_reader_drop(at->r, b, QS_DROP_WARMUP, json_array_size(json_object_get(run, "warmups"))) ||
            !qs_json_numbers(&deeper, b, values, i))
            return false;
    }
    return true;
}

static bool take_benchmark(const struct qs_json_at *at, const json_t *doc, const json_t *row)
{
    const char *unit = meta(doc, row, "unit", "second");
    bool seconds = strcmp(unit, "second") == 0;
    const struct qs_import_key key = {.benchmark = meta(doc, row, "name", ""),
                                      .metric = seconds ? "time" : "value",
                                      .unit = seconds ? "ns" : unit,
                                      .direction = seconds ? QS_DIRECTION_LOWER : qs_direction_of_unit(unit),
                                      .scale = seconds ? 1e9 : 1};
    const json_t *runs = qs_json_want(at, row, "runs", JSON_ARRAY);
    const struct qs_json_at here = qs_json_at_key(at, "runs");
    struct qs_import_build *b = runs ? qs_reader_series(at->r, &key, NULL) : NULL;
    return b && take_runs(&here, b, runs);
}

bool qs_import_pyperf(struct qs_reader *r, const json_t *doc)
{
    const struct qs_json_at top = {.r = r};
    const json_t *rows = qs_json_want(&top, doc, "benchmarks", JSON_ARRAY);
    const struct qs_json_at list = qs_json_at_key(&top, "benchmarks");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const struct qs_json_at at = qs_json_at_index(&list, i);
        r->where = &at;
        if (!take_benchmark(&at, doc, json_array_get(rows, i)))
            return false;
    }
    return rows != NULL;
}
