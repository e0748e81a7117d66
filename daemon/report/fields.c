#include "report/fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool is_end(const struct qs_field *field)
{
    return !field->name && field->kind != QS_FIELD_PART; /* which has no name */
}

void qs_put_object(struct qs_json *j, const struct qs_field *fields, const void *of)
{
    if (!of) {
        qs_json_null(j);
        return;
    }
    qs_json_object(j);
    qs_put_fields(j, fields, of);
    qs_json_object_end(j);
}

static void put_flags(struct qs_json *j, const char *const *words, unsigned flags)
{
    qs_json_array(j);
    for (size_t i = 0; words[i]; i++)
        if (flags & (1u << i))
            qs_json_string(j, words[i]);
    qs_json_array_end(j);
}

static void put_counted(struct qs_json *j, const char *const *words, const char *at)
{
    qs_json_object(j);
    for (size_t n; *words; words++, at += sizeof n) {
        memcpy(&n, at, sizeof n);
        if (n > 0)
            qs_json_kint(j, *words, (int64_t)n);
    }
    qs_json_object_end(j);
}

static void put_list(struct qs_json *j, const struct qs_field *field, const void *at)
{
    struct qs_field_list list = {.n = field->count};
    const void *from = at;
    if (field->count == 0) {
        memcpy(&list, at, sizeof list);
        from = list.v;
    }
    qs_json_array(j);
    for (size_t i = 0; i < list.n; i++)
        if (field->kind == QS_FIELD_NUMBERS)
            qs_json_double(j, ((const double *)from)[i]);
        else if (field->kind == QS_FIELD_COUNTS)
            qs_json_uint(j, ((const size_t *)from)[i]);
        else if (field->kind == QS_FIELD_TEXTS)
            qs_json_string(j, ((const char *const *)from)[i]);
        else
            qs_put_object(j, field->of, (const char *)from + i * field->bytes);
    qs_json_array_end(j);
}

static void put_structure(struct qs_json *j, const struct qs_field *field, const void *at)
{
    const void *of = at;
    if (field->kind == QS_FIELD_OBJECT)
        memcpy(&of, at, sizeof of);
    if (field->kind == QS_FIELD_PART)
        qs_put_fields(j, field->of, of);
    else
        qs_put_object(j, field->of, of);
}

static void put_field(struct qs_json *j, const struct qs_field *field, const char *at)
{
    union {
        double number;
        size_t count;
        int64_t whole;
        bool truth;
        unsigned bits;
        const char *text;
    } value;
    switch (field->kind) {
    case QS_FIELD_DOUBLE:
        memcpy(&value.number, at, sizeof value.number);
        qs_json_double(j, value.number);
        break;
    case QS_FIELD_COUNT:
        memcpy(&value.count, at, sizeof value.count);
        field->maybe &&value.count == 0 ? qs_json_null(j) : qs_json_uint(j, value.count);
        break;
    case QS_FIELD_WHOLE:
        memcpy(&value.whole, at, sizeof value.whole);
        qs_json_int(j, value.whole);
        break;
    case QS_FIELD_BOOL:
        memcpy(&value.truth, at, sizeof value.truth);
        qs_json_bool(j, value.truth);
        break;
    case QS_FIELD_TEXT:
        memcpy(&value.text, at, sizeof value.text);
        qs_json_string(j, value.text);
        break;
    case QS_FIELD_WORD:
        memcpy(&value.bits, at, sizeof value.bits);
        qs_json_string(j, field->words[value.bits]);
        break;
    case QS_FIELD_FLAGS:
        memcpy(&value.bits, at, sizeof value.bits);
        put_flags(j, field->words, value.bits);
        break;
    case QS_FIELD_COUNTED:
        put_counted(j, field->words, at);
        break;
    case QS_FIELD_NUMBERS:
    case QS_FIELD_COUNTS:
    case QS_FIELD_TEXTS:
    case QS_FIELD_OBJECTS:
        put_list(j, field, at);
        break;
    case QS_FIELD_OBJECT:
    case QS_FIELD_WITHIN:
    case QS_FIELD_PART:
        put_structure(j, field, at);
        break;
    case QS_FIELD_RAW:
        memcpy(&value.text, at, sizeof value.text);
        value.text ? qs_json_raw(j, value.text) : qs_json_null(j);
        break;
    }
}

void qs_put_fields(struct qs_json *j, const struct qs_field *fields, const void *of)
{
    for (; !is_end(fields); fields++) {
        const char *at = (const char *)of + fields->at, *text = NULL;
        if (fields->optional)
            memcpy(&text, at, sizeof text);
        if (fields->optional && !text)
            continue;
        if (fields->name)
            qs_json_key(j, fields->name);
        fields->put ? fields->put(j, at) : put_field(j, fields, at);
    }
}

void qs_fields_free(const struct qs_field *fields, void *of)
{
    for (; !is_end(fields); fields++) {
        struct qs_field_list list;
        char *at = (char *)of + fields->at;
        if (fields->put)
            continue;
        if (fields->kind == QS_FIELD_PART || fields->kind == QS_FIELD_WITHIN)
            qs_fields_free(fields->of, at);
        if (fields->kind < QS_FIELD_NUMBERS || fields->kind > QS_FIELD_OBJECTS || fields->count > 0)
            continue;
        memcpy(&list, at, sizeof list);
        for (size_t i = 0; fields->kind == QS_FIELD_OBJECTS && i < list.n; i++)
            qs_fields_free(fields->of, (char *)list.v + i * fields->bytes);
        free(list.v);
    }
}

/* What stands there where nothing is known is null; counts, truths and listed words always are. */
static void put_type(struct qs_json *j, const char *type, bool nullable)
{
    qs_json_key(j, "type");
    if (!nullable) {
        qs_json_string(j, type);
        return;
    }
    qs_json_array(j);
    qs_json_string(j, type);
    qs_json_string(j, "null");
    qs_json_array_end(j);
}

static void put_words(struct qs_json *j, const char *const *words, bool nullable)
{
    put_type(j, "string", nullable);
    qs_json_karray(j, "enum");
    for (; *words; words++)
        qs_json_string(j, *words);
    if (nullable)
        qs_json_null(j);
    qs_json_array_end(j);
}

static void put_counted_schema(struct qs_json *j, const char *const *words)
{
    put_type(j, "object", false);
    qs_json_kbool(j, "additionalProperties", false);
    qs_json_kobject(j, "properties");
    for (; *words; words++) {
        qs_json_kobject(j, *words);
        put_type(j, "integer", false);
        qs_json_object_end(j);
    }
    qs_json_object_end(j);
}

static void put_object_schema(struct qs_json *j, const struct qs_field *field)
{
    if (!field->ref) {
        put_type(j, "object", field->kind == QS_FIELD_OBJECT);
        qs_fields_schema(j, field->of);
        return;
    }
    QS_BUF(ref);
    size_t n = strlen(field->ref);
    qs_buf_fmt(&ref, "%s%s", field->ref, field->ref[n - 1] == '/' ? field->name : "");
    qs_json_kstring(j, "$ref", ref.data);
}

static void put_elements(struct qs_json *j, const struct qs_field *field)
{
    put_type(j, "array", false);
    qs_json_kobject(j, "items");
    if (field->kind == QS_FIELD_FLAGS) {
        put_words(j, field->words, false);
    } else if (field->kind == QS_FIELD_TEXTS) {
        put_type(j, "string", false);
    } else if (field->kind == QS_FIELD_OBJECTS) {
        put_object_schema(j, field);
    } else {
        bool numbers = field->kind == QS_FIELD_NUMBERS;
        put_type(j, numbers ? "number" : "integer", numbers);
    }
    qs_json_object_end(j);
}

static void put_kind(struct qs_json *j, const struct qs_field *field)
{
    switch (field->kind) {
    case QS_FIELD_DOUBLE:
        put_type(j, "number", !field->known);
        break;
    case QS_FIELD_COUNT:
    case QS_FIELD_WHOLE:
        put_type(j, "integer", field->maybe);
        break;
    case QS_FIELD_BOOL:
        put_type(j, "boolean", false);
        break;
    case QS_FIELD_TEXT:
    case QS_FIELD_WORD:
        if (field->words)
            put_words(j, field->words, field->maybe);
        else
            put_type(j, "string", !field->known);
        break;
    case QS_FIELD_FLAGS:
    case QS_FIELD_NUMBERS:
    case QS_FIELD_COUNTS:
    case QS_FIELD_TEXTS:
    case QS_FIELD_OBJECTS:
        put_elements(j, field);
        break;
    case QS_FIELD_COUNTED:
        put_counted_schema(j, field->words);
        break;
    case QS_FIELD_OBJECT:
    case QS_FIELD_WITHIN:
        put_object_schema(j, field);
        break;
    case QS_FIELD_PART: /* has no name */
        break;
    case QS_FIELD_RAW:
        put_type(j, "object", false);
        break;
    }
}

typedef void put_row_fn(struct qs_json *j, const struct qs_field *field);

/* Those of parts are among the others. */
static void each_row(struct qs_json *j, const struct qs_field *fields, put_row_fn *put)
{
    struct qs_field row = {.name = NULL};
    for (const struct qs_field *f = fields; !is_end(f); f++) {
        for (size_t i = 0; f->row && f->row(f->rows, i, &row); i++)
            put(j, &row);
        if (f->kind == QS_FIELD_PART && f->of)
            each_row(j, f->of, put);
        else if (f->kind != QS_FIELD_PART)
            put(j, f);
    }
}

static void put_required(struct qs_json *j, const struct qs_field *field)
{
    if (!field->optional)
        qs_json_string(j, field->name);
}

static void put_property(struct qs_json *j, const struct qs_field *field)
{
    qs_json_kobject(j, field->name);
    put_kind(j, field);
    if (field->meaning)
        qs_json_kstring(j, "description", field->meaning);
    qs_json_object_end(j);
}

void qs_fields_schema(struct qs_json *j, const struct qs_field *fields)
{
    qs_json_kbool(j, "additionalProperties", false);
    qs_json_karray(j, "required");
    each_row(j, fields, put_required);
    qs_json_array_end(j);
    qs_json_kobject(j, "properties");
    each_row(j, fields, put_property);
    qs_json_object_end(j);
}

void qs_fields_document(struct qs_buf *out, const char *title, const struct qs_field *fields)
{
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    qs_json_kstring(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    qs_json_kstring(&j, "title", title);
    qs_json_kstring(&j, "type", "object");
    qs_fields_schema(&j, fields);
    qs_json_object_end(&j);
}

void qs_fields_table(struct qs_buf *out, const struct qs_field *fields, const char *prefix)
{
    for (const struct qs_field *f = fields; !is_end(f); f++) {
        qs_buf_fmt(out, "| `%s%s` | %s", prefix, f->name, f->meaning);
        for (const char *const *word = f->words; word && *word; word++)
            qs_buf_fmt(out, "%s`%s`", word == f->words ? ": " : ", ", *word);
        qs_buf_str(out, " |\n");
        if (f->kind != QS_FIELD_OBJECT)
            continue;
        QS_FREED char *below = qs_asprintf("%s%s.", prefix, f->name);
        qs_fields_table(out, f->of, below);
    }
}
