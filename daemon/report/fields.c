#include "report/fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

size_t qs_fields_count(const struct qs_field *fields)
{
    size_t n = 0;
    while (fields[n].name)
        n++;
    return n;
}

static void put_object(struct qs_json *j, const struct qs_field *fields, const void *of)
{
    if (!of) {
        qs_json_null(j);
        return;
    }
    qs_json_object(j);
    qs_put_fields(j, fields, qs_fields_count(fields), of);
    qs_json_object_end(j);
}

void qs_put_fields(struct qs_json *j, const struct qs_field *fields, size_t count, const void *of)
{
    for (size_t i = 0; i < count; i++) {
        const char *at = (const char *)of + fields[i].at;
        union {
            double number;
            size_t whole;
            bool truth;
            const char *text;
            const void *object;
        } value;
        qs_json_key(j, fields[i].name);
        switch (fields[i].kind) {
        case QS_FIELD_DOUBLE:
            memcpy(&value.number, at, sizeof value.number);
            qs_json_double(j, value.number);
            break;
        case QS_FIELD_COUNT:
            memcpy(&value.whole, at, sizeof value.whole);
            qs_json_uint(j, value.whole);
            break;
        case QS_FIELD_BOOL:
            memcpy(&value.truth, at, sizeof value.truth);
            qs_json_bool(j, value.truth);
            break;
        case QS_FIELD_TEXT:
            memcpy(&value.text, at, sizeof value.text);
            qs_json_string(j, value.text);
            break;
        case QS_FIELD_OBJECT:
            memcpy(&value.object, at, sizeof value.object);
            put_object(j, fields[i].of, value.object);
            break;
        case QS_FIELD_RAW:
            memcpy(&value.text, at, sizeof value.text);
            value.text ? qs_json_raw(j, value.text) : qs_json_null(j);
            break;
        }
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

static void put_words(struct qs_json *j, const char *const *words)
{
    qs_json_karray(j, "enum");
    for (; *words; words++)
        qs_json_string(j, *words);
    qs_json_array_end(j);
}

static void put_kind(struct qs_json *j, const struct qs_field *field)
{
    switch (field->kind) {
    case QS_FIELD_DOUBLE:
        put_type(j, "number", true);
        break;
    case QS_FIELD_COUNT:
        put_type(j, "integer", false);
        break;
    case QS_FIELD_BOOL:
        put_type(j, "boolean", false);
        break;
    case QS_FIELD_TEXT:
        put_type(j, "string", !field->words);
        if (field->words)
            put_words(j, field->words);
        break;
    case QS_FIELD_OBJECT:
        put_type(j, "object", true);
        qs_fields_schema(j, field->of);
        break;
    case QS_FIELD_RAW:
        qs_json_kstring(j, "type", "array");
        qs_json_kraw(j, "items", field->schema);
        break;
    }
}

void qs_fields_schema(struct qs_json *j, const struct qs_field *fields)
{
    qs_json_kbool(j, "additionalProperties", false);
    qs_json_karray(j, "required");
    for (const struct qs_field *f = fields; f->name; f++)
        qs_json_string(j, f->name);
    qs_json_array_end(j);
    qs_json_kobject(j, "properties");
    for (const struct qs_field *f = fields; f->name; f++) {
        qs_json_kobject(j, f->name);
        put_kind(j, f);
        qs_json_kstring(j, "description", f->meaning);
        qs_json_object_end(j);
    }
    qs_json_object_end(j);
}

void qs_fields_table(struct qs_buf *out, const struct qs_field *fields, const char *prefix)
{
    for (const struct qs_field *f = fields; f->name; f++) {
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
