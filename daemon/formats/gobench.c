/* `go test -bench`: lines "BenchmarkName-8  iterations  value unit  value unit ...". All repetitions of one
 * process are one run; a process ends with PASS or FAIL. */
#include <string.h>

#include "formats/reader.h"

enum { UNITS_MOST = 32 };

struct go {
    struct qs_reader *r;
    uint64_t process;
    char higher[UNITS_MOST][32]; /* units that a "Unit" line calls better when higher */
    size_t higher_count;
};

struct word {
    const char *at;
    size_t n;
};

/* The next word of a line, or n = 0. */
static struct word next(const char **s, const char *end)
{
    while (*s < end && strchr(" \t\r", **s))
        ++*s;
    struct word w = {.at = *s};
    while (*s < end && !strchr(" \t\r", **s))
        ++*s;
    w.n = (size_t)(*s - w.at);
    return w;
}

static bool is_word(struct word w, const char *text)
{
    return w.n == strlen(text) && memcmp(w.at, text, w.n) == 0;
}

static enum qs_direction direction_of(const struct go *go, const char *unit)
{
    for (size_t i = 0; i < go->higher_count; i++)
        if (strcmp(go->higher[i], unit) == 0)
            return QS_DIRECTION_HIGHER;
    return qs_direction_of_unit(unit);
}

/* "Unit tokens/op better=higher" */
static void take_unit(struct go *go, const char *s, const char *end)
{
    struct word unit = next(&s, end);
    for (struct word w = next(&s, end); w.n > 0; w = next(&s, end)) {
        if (is_word(w, "better=higher") && unit.n < sizeof go->higher[0] && go->higher_count < UNITS_MOST) {
            memcpy(go->higher[go->higher_count], unit.at, unit.n);
            go->higher[go->higher_count++][unit.n] = '\0';
        }
    }
}

static bool take_value(struct go *go, const char *benchmark, struct word value, struct word unit)
{
    char name[64];
    double v;
    if (unit.n == 0)
        return qs_reader_fail(go->r, value.at, "values come in pairs: 1726 ns/op", "`%.*s` has no unit",
                              qs_reader_shown(value.n), value.at);
    if (qs_reader_number(value.at, value.n, &v) == QS_NUMBER_NO)
        return qs_reader_fail(go->r, value.at, "a line is: name, iterations, then pairs of value and unit",
                              "`%.*s` is not a number", qs_reader_shown(value.n), value.at);
    if (unit.n >= sizeof name)
        return qs_reader_fail(go->r, unit.at, NULL, "a unit of more than %zu bytes", sizeof name - 1);
    memcpy(name, unit.at, unit.n);
    name[unit.n] = '\0';
    const struct qs_import_key key = {
        .benchmark = benchmark, .metric = name, .unit = name, .direction = direction_of(go, name)};
    struct qs_import_build *b = qs_reader_series(go->r, &key, unit.at);
    return b && qs_reader_value(go->r, b, v, go->process, 0, NULL);
}

/* A name alone, or followed by words, is the output of the benchmark itself: only a number makes it a result.
 */
static bool take_benchmark(struct go *go, struct word first, const char *s, const char *end)
{
    char name[QS_IMPORT_NAME_BYTES + 1];
    double iterations;
    struct word count = next(&s, end);
    if (count.n == 0 || qs_reader_number(count.at, count.n, &iterations) != QS_NUMBER_FINITE)
        return true;
    if (first.n > QS_IMPORT_NAME_BYTES)
        return qs_reader_fail(go->r, first.at, NULL, "a name of more than %d bytes", QS_IMPORT_NAME_BYTES);
    memcpy(name, first.at, first.n);
    name[first.n] = '\0';
    struct word value = next(&s, end);
    if (value.n == 0)
        return qs_reader_fail(go->r, count.at, "a line is: name, iterations, then pairs of value and unit",
                              "the line of `%.60s` has no value", name);
    for (; value.n > 0; value = next(&s, end)) {
        struct word unit = next(&s, end);
        if (!take_value(go, name, value, unit))
            return false;
    }
    return true;
}

static bool take_line(struct go *go, const char *s, const char *end)
{
    struct word first = next(&s, end);
    if (is_word(first, "PASS") || is_word(first, "FAIL"))
        go->process++;
    else if (is_word(first, "Unit"))
        take_unit(go, s, end);
    else if (first.n > 9 && memcmp(first.at, "Benchmark", 9) == 0)
        return take_benchmark(go, first, s, end);
    return true;
}

bool qs_import_gobench(struct qs_reader *r)
{
    struct go go = {.r = r};
    for (const char *s = r->text; *s != '\0';) {
        const char *stop = s + strcspn(s, "\n");
        if (!take_line(&go, s, stop))
            return false;
        s = stop + (*stop == '\n');
    }
    return true;
}
