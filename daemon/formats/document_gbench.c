/* Google Benchmark's JSON, as a run of mode stream has it: the repetitions of one benchmark. real_time is the
 * mean of `iterations` evaluations, in a unit and with digits that nanoseconds lack: the time of all of them
 * is what was measured, and what is kept. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "formats/document_impl.h"
#include "formats/gbench.h"

enum { NAMED_IN_MESSAGES = 5 };
#define MICRO     1e6
#define PS_PER_NS 1e3
#define MOST      9e18

struct rows {
    const json_t *list;
    struct qs_json_at at; /* of the list */
    const char *name;     /* of the benchmark whose rows are wanted */
};

static const char *name_of(const json_t *row)
{
    return qs_gbench_text(row, "run_name", qs_gbench_text(row, "name", ""));
}

/* The next row of the benchmark that is a measurement, at or after i; the list's length where there is none.
 */
static size_t next_row(const struct rows *rows, size_t i)
{
    for (const json_t *row; (row = json_array_get(rows->list, i)) != NULL; i++) {
        if (!qs_gbench_is_aggregate(row) && (!rows->name || strcmp(name_of(row), rows->name) == 0))
            break;
    }
    return i;
}

static void list_names(const struct rows *rows, struct qs_buf *out)
{
    const struct rows all = {.list = rows->list};
    const char *seen[NAMED_IN_MESSAGES];
    size_t n = 0;
    for (size_t i = next_row(&all, 0); i < json_array_size(all.list); i = next_row(&all, i + 1)) {
        const char *name = name_of(json_array_get(all.list, i));
        bool known = false;
        for (size_t k = 0; k < n; k++)
            known = known || strcmp(seen[k], name) == 0;
        if (known)
            continue;
        if (n == NAMED_IN_MESSAGES) {
            qs_buf_str(out, ", ...");
            return;
        }
        qs_buf_fmt(out, "%s%.60s", n > 0 ? ", " : "", name);
        seen[n++] = name;
    }
}

/* The one that the job names, or the only one that there is. */
static bool choose(struct qs_document_build *b, struct rows *rows)
{
    size_t first = next_row(rows, 0), end = json_array_size(rows->list);
    bool ok;
    if (first == end)
        return qs_json_fail(&rows->at, NULL, "there is no measurement in it");
    QS_BUF(names);
    list_names(rows, &names);
    rows->name = b->form->benchmark ? b->form->benchmark : name_of(json_array_get(rows->list, first));
    size_t mine = next_row(rows, 0), count = 0, all = 0;
    for (size_t i = mine; i < end; i = next_row(rows, i + 1))
        count++;
    const struct rows every = {.list = rows->list};
    for (size_t i = first; i < end; i = next_row(&every, i + 1))
        all++;
    if (count == 0)
        ok = qs_json_fail(&rows->at, NULL, "no benchmark is called `%.100s`: there are %s", rows->name,
                          names.data);
    else
        ok = b->form->benchmark || count == all ||
             qs_json_fail(&rows->at, "say which in the job: benchmark: NAME", "several benchmarks: %s",
                          names.data);
    return ok;
}

static bool check_row(const struct qs_json_at *at, const json_t *row)
{
    if (json_is_true(json_object_get(row, "error_occurred")) || json_is_true(json_object_get(row, "skipped")))
        return qs_json_fail(
            at, NULL, "`%.100s` failed: %.200s", name_of(row),
            qs_gbench_text(row, "error_message", qs_gbench_text(row, "skip_message", "it does not say why")));
    return qs_json_want(at, row, "real_time", JSON_REAL) != NULL;
}

static double iterations_of(const json_t *row)
{
    double v = json_number_value(json_object_get(row, "iterations"));
    return fmax(1, fmin(QS_DOCUMENT_EVALS, floor(v)));
}

static bool unit_of(const struct qs_json_at *at, const json_t *row, double *ret_ns)
{
    const char *unit = qs_gbench_text(row, "time_unit", "ns");
    enum qs_form_unit known = qs_form_unit_of(unit);
    if (known == QS_FORM_OTHER)
        return qs_json_fail(at, "the units are ns, us, ms and s", "`%.40s` is not a unit of time", unit);
    *ret_ns = qs_form_unit_ns(known);
    return true;
}

/* A counter is any number that is no setting and no time. */
static bool is_counter(const char *key, const json_t *value)
{
    return json_is_number(value) && !qs_gbench_is_setting(key) && strcmp(key, "real_time") != 0 &&
           strcmp(key, "cpu_time") != 0 && strlen(key) + strlen("_micro") <= QS_DOCUMENT_METRIC_BYTES;
}

/* The metrics of the first repetition are those of all. */
static void find_metrics(struct qs_document *d, const json_t *row)
{
    const char *key;
    json_t *value;
    d->metrics[d->metric_count++] =
        (struct qs_document_metric){.name = qs_strdup("cpu_time_ps"), .unit = qs_strdup("ps")};
    json_object_foreach((json_t *)row, key, value)
    {
        if (d->metric_count == QS_DOCUMENT_METRICS || !is_counter(key, value))
            continue;
        bool rate = strstr(key, "_per_second") != NULL;
        d->metrics[d->metric_count++] =
            (struct qs_document_metric){.name = qs_asprintf("%s_micro", key),
                                        .unit = qs_strdup(rate ? "1e-6/s" : "1e-6"),
                                        .higher_is_better = rate};
    }
}

static int64_t whole(double v)
{
    return fabs(v) < MOST ? (int64_t)nearbyint(v) : INT64_MIN;
}

static void take_metrics(struct qs_document *d, size_t i, const json_t *row, double unit_ns)
{
    int64_t *to = &d->values[i * d->metric_count];
    const json_t *cpu = json_object_get(row, "cpu_time");
    to[0] = json_is_number(cpu) ? whole(json_number_value(cpu) * unit_ns * PS_PER_NS) : INT64_MIN;
    for (size_t m = 1; m < d->metric_count; m++) {
        char key[QS_DOCUMENT_METRIC_BYTES];
        size_t n = strlen(d->metrics[m].name) - strlen("_micro");
        memcpy(key, d->metrics[m].name, n);
        key[n] = '\0';
        const json_t *value = json_object_get(row, key);
        to[m] = json_is_number(value) ? whole(json_number_value(value) * MICRO) : INT64_MIN;
    }
}

/* Checks every repetition; what they have in common is known then. */
static bool look_at_all(struct qs_document_build *b, const struct rows *rows, size_t *ret_count)
{
    size_t end = json_array_size(rows->list), count = 0;
    double least = QS_DOCUMENT_EVALS;
    for (size_t i = next_row(rows, 0); i < end; i = next_row(rows, i + 1), count++) {
        const json_t *row = json_array_get(rows->list, i);
        struct qs_json_at at = qs_json_at_index(&rows->at, i);
        if (!check_row(&at, row))
            return false;
        least = iterations_of(row) < least ? iterations_of(row) : least;
    }
    if (count > QS_DOCUMENT_VALUES)
        return qs_json_fail(&rows->at, NULL, "more than %d values", QS_DOCUMENT_VALUES);
    b->to->evals = (uint32_t)least;
    *ret_count = count;
    return true;
}

static bool take_all(struct qs_document_build *b, const struct rows *rows)
{
    struct qs_document *d = b->to;
    size_t end = json_array_size(rows->list), first = next_row(rows, 0), count = 0;
    if (!look_at_all(b, rows, &count))
        return false;
    find_metrics(d, json_array_get(rows->list, first));
    d->values = qs_calloc(count * d->metric_count, sizeof *d->values);
    for (size_t i = first; i < end; i = next_row(rows, i + 1)) {
        const json_t *row = json_array_get(rows->list, i);
        struct qs_json_at at = qs_json_at_index(&rows->at, i);
        double unit_ns = 1, v = json_number_value(json_object_get(row, "real_time"));
        b->r->where = &at;
        bool ok = unit_of(&at, row, &unit_ns) && qs_document_add(b, v * unit_ns * d->evals, NULL);
        b->r->where = NULL;
        if (!ok)
            return false;
        take_metrics(d, d->n - 1, row, unit_ns);
    }
    return true;
}

static bool check_rows(const struct rows *rows)
{
    for (size_t i = 0; i < json_array_size(rows->list); i++) {
        const json_t *row = json_array_get(rows->list, i);
        struct qs_json_at at = qs_json_at_index(&rows->at, i);
        if (!json_is_object(row))
            return qs_json_fail(&at, NULL, "expected an object");
        if (name_of(row)[0] == '\0')
            return qs_json_fail(&at, NULL, "`name` is missing");
    }
    return true;
}

bool qs_document_gbench(struct qs_document_build *b)
{
    json_auto_t *doc = qs_json_load(b->r);
    const struct qs_json_at top = {.r = b->r};
    if (!doc)
        return false;
    const json_t *list = qs_json_want(&top, doc, "benchmarks", JSON_ARRAY);
    struct rows rows = {.list = list, .at = qs_json_at_key(&top, "benchmarks")};
    return list && check_rows(&rows) && choose(b, &rows) && take_all(b, &rows);
}
