/* hyperfine --export-json: each time is a process of its own, so each is a run of one iteration. Seconds
 * become ns. A time whose exit code is not 0 is counted as failed. */
#include <stddef.h>

#include "formats/reader.h"

static bool failed(const json_t *codes, size_t i)
{
    const json_t *code = json_array_get(codes, i);
    return code && !(json_is_real(code) && json_real_value(code) >= 0 && json_real_value(code) < 1);
}

static bool take_times(const struct qs_json_at *at, struct qs_import_build *b, const json_t *row,
                       const json_t *times)
{
    const json_t *codes = json_object_get(row, "exit_codes");
    for (size_t i = 0; i < json_array_size(times); i++) {
        const struct qs_json_at here = qs_json_at_index(at, i);
        const json_t *v = json_array_get(times, i);
        if (!json_is_real(v))
            return qs_json_fail(&here, NULL, "expected a time in seconds");
        if (!(failed(codes, i) ? qs_reader_drop(at->r, b, QS_DROP_FAILED, 1)
                               : qs_reader_value(at->r, b, json_real_value(v), i, 0, NULL)))
            return false;
    }
    return true;
}

bool qs_import_hyperfine(struct qs_reader *r, const json_t *doc)
{
    const struct qs_json_at top = {.r = r};
    const json_t *rows = qs_json_want(&top, doc, "results", JSON_ARRAY);
    const struct qs_json_at list = qs_json_at_key(&top, "results");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const struct qs_json_at at = qs_json_at_index(&list, i), here = qs_json_at_key(&at, "times");
        r->where = &at;
        const json_t *row = json_array_get(rows, i);
        const json_t *command = qs_json_want(&at, row, "command", JSON_STRING);
        const json_t *times = command ? qs_json_want(&at, row, "times", JSON_ARRAY) : NULL;
        const struct qs_import_key key = {.benchmark = json_string_value(command),
                                          .metric = "time",
                                          .unit = "ns",
                                          .direction = QS_DIRECTION_LOWER,
                                          .scale = 1e9};
        struct qs_import_build *b = times ? qs_reader_series(r, &key, NULL) : NULL;
        if (!b || !take_times(&here, b, row, times))
            return false;
    }
    return rows != NULL;
}
