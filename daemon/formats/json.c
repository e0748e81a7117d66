/* JSON documents: jansson reads them, and on a mistake the path leads back to its place in the text. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "formats/reader.h"

struct qs_json_at qs_json_at_key(const struct qs_json_at *at, const char *key)
{
    struct qs_json_at deeper = *at;
    deeper.key[deeper.depth++] = key;
    return deeper;
}

struct qs_json_at qs_json_at_index(const struct qs_json_at *at, size_t index)
{
    struct qs_json_at deeper = *at;
    deeper.key[deeper.depth] = NULL;
    deeper.index[deeper.depth++] = index;
    return deeper;
}

static const char *skip_space(const char *s)
{
    return s + strspn(s, " \t\r\n,:");
}

static const char *skip_string(const char *s)
{
    for (s++; *s != '"'; s++)
        s += *s == '\\';
    return s + 1;
}

/* Behind the value at s, in a text that is valid JSON. */
static const char *skip_value(const char *s)
{
    size_t depth = 0;
    do {
        s = skip_space(s);
        if (*s == '"')
            s = skip_string(s);
        else if (*s == '{' || *s == '[')
            depth++, s++;
        else if (*s == '}' || *s == ']')
            depth--, s++;
        else
            s += strcspn(s, " \t\r\n,:]}");
    } while (depth > 0);
    return s;
}

/* Keys of the known formats have no escapes: they are compared as they are written. */
static const char *find_member(const char *s, const char *key)
{
    size_t n = strlen(key);
    for (s = skip_space(s + 1); *s == '"'; s = skip_space(skip_value(s))) {
        const char *name = s + 1;
        s = skip_space(skip_string(s));
        if (strncmp(name, key, n) == 0 && name[n] == '"')
            return s;
    }
    return NULL;
}

static const char *find_element(const char *s, size_t index)
{
    s = skip_space(s + 1);
    for (size_t i = 0; i < index && *s != ']'; i++)
        s = skip_space(skip_value(s));
    return *s == ']' ? NULL : s;
}

const char *qs_json_place(const struct qs_json_at *at)
{
    const char *s = skip_space(at->r->text);
    for (size_t i = 0; i < at->depth; i++) {
        const char *next = NULL;
        if (at->key[i] && *s == '{')
            next = find_member(s, at->key[i]);
        else if (!at->key[i] && *s == '[')
            next = find_element(s, at->index[i]);
        if (!next)
            break; /* what is missing is missing here */
        s = next;
    }
    return s;
}

static void put_path(const struct qs_json_at *at, struct qs_buf *out)
{
    for (size_t i = 0; i < at->depth; i++) {
        if (at->key[i])
            qs_buf_fmt(out, "%s%.100s", i > 0 ? "." : "", at->key[i]);
        else
            qs_buf_fmt(out, "[%zu]", at->index[i]);
    }
}

bool qs_json_fail(const struct qs_json_at *at, const char *suggestion, const char *fmt, ...)
{
    va_list ap;
    QS_BUF(text);
    put_path(at, &text);
    qs_buf_str(&text, text.len > 0 ? ": " : "");
    va_start(ap, fmt);
    qs_buf_vfmt(&text, fmt, ap);
    va_end(ap);
    qs_reader_fail(at->r, qs_json_place(at), suggestion, "%s", text.data);
    return false;
}

static const char *type_name(json_type type)
{
    static const char *const names[] = {"an object", "a list", "text",    "a number",
                                        "a number",  "true",   "`false`", "null"};
    return (size_t)type < sizeof names / sizeof *names ? names[type] : "something else";
}

const json_t *qs_json_want(const struct qs_json_at *at, const json_t *object, const char *key, json_type type)
{
    const json_t *v = json_object_get(object, key);
    if (!v) {
        qs_json_fail(at, NULL, "`%s` is missing", key);
        return NULL;
    }
    if (json_typeof(v) != type) {
        struct qs_json_at deeper = qs_json_at_key(at, key);
        qs_json_fail(&deeper, NULL, "expected %s, found %s", type_name(type), type_name(json_typeof(v)));
        return NULL;
    }
    return v;
}

bool qs_json_number(const struct qs_json_at *at, struct qs_import_build *b, const json_t *v, uint64_t run)
{
    if (!json_is_real(v) && !json_is_null(v))
        return qs_json_fail(at, NULL, "expected a number, found %s", type_name(json_typeof(v)));
    return qs_reader_value(at->r, b, json_is_null(v) ? NAN : json_real_value(v), run, 0, NULL);
}

bool qs_json_numbers(const struct qs_json_at *at, struct qs_import_build *b, const json_t *list, uint64_t run)
{
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v)
    {
        struct qs_json_at here = qs_json_at_index(at, i);
        if (!qs_json_number(&here, b, v, run))
            return false;
    }
    return true;
}

static bool has(const json_t *object, const char *key)
{
    return json_object_get(object, key) != NULL;
}

static enum qs_format kind_of(const json_t *doc)
{
    const json_t *first = json_array_get(json_object_get(doc, "benchmarks"), 0);
    const json_t *result = json_array_get(json_object_get(doc, "results"), 0);
    if (has(result, "times") || has(result, "command"))
        return QS_FORMAT_HYPERFINE;
    if (has(first, "runs"))
        return QS_FORMAT_PYPERF;
    if (has(first, "metrics") || has(first, "sampledMetrics"))
        return QS_FORMAT_ANDROIDX;
    if (has(first, "real_time") || has(first, "time_unit") || has(first, "run_type") ||
        has(first, "error_occurred"))
        return QS_FORMAT_GBENCH;
    return QS_FORMAT_AUTO;
}

/* A bound on what the tree costs, before it is made. */
static bool check_size(struct qs_reader *r)
{
    size_t commas = 0;
    for (const char *s = r->text; *s != '\0'; s++)
        commas += *s == ',';
    return commas <= 2 * (size_t)QS_IMPORT_VALUES ||
           qs_reader_fail(r, NULL, "give it in several files", "more than %d commas", 2 * QS_IMPORT_VALUES);
}

static const char *place_of(const struct qs_reader *r, const json_error_t *error)
{
    return error->position >= 0 && error->position <= r->end - r->text ? r->text + error->position : r->end;
}

json_t *qs_json_load(struct qs_reader *r)
{
    json_error_t error;
    if (!check_size(r))
        return NULL;
    json_t *doc = json_loadb(r->text, (size_t)(r->end - r->text),
                             JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, &error);
    if (!doc)
        qs_reader_fail(r, place_of(r, &error), NULL, "not JSON: %s", error.text);
    return doc;
}

bool qs_import_json(struct qs_reader *r, enum qs_format *format)
{
    static qs_import_json_fn *const readers[QS_FORMAT_COUNT] = {[QS_FORMAT_NUMBERS] = qs_import_json_numbers,
                                                                [QS_FORMAT_GBENCH] = qs_import_gbench,
                                                                [QS_FORMAT_ANDROIDX] = qs_import_androidx,
                                                                [QS_FORMAT_PYPERF] = qs_import_pyperf,
                                                                [QS_FORMAT_HYPERFINE] = qs_import_hyperfine};
    json_auto_t *doc = qs_json_load(r);
    if (!doc)
        return false;
    if (*format == QS_FORMAT_AUTO)
        *format = json_is_array(doc) ? QS_FORMAT_NUMBERS : kind_of(doc);
    bool ok = readers[*format] ? readers[*format](r, doc)
                               : qs_reader_fail(r, r->text,
                                                "Google Benchmark, androidx benchmarkData.json, pyperf and "
                                                "hyperfine are known; --format names one",
                                                "JSON of an unknown tool");
    r->where = NULL;
    return ok;
}
