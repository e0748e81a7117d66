/* The rows of a table as a JSON Schema (draft 2020-12), for editors. It is looser than the reader: what
 * several keys must agree on and the values of custom keys are checked by the reader only. */
#include "base/json.h"
#include "config/document/schema.h"

static void add_object(struct qs_json *j, const struct qs_table *table, const char *fallback);

static void add_types(struct qs_json *j, const char *const *types, size_t count)
{
    qs_json_karray(j, "type");
    for (size_t i = 0; i < count; i++)
        qs_json_string(j, types[i]);
    qs_json_array_end(j);
}

/* Text with a unit, or a bare number where that is legal (a share, a 0). */
static void add_quantity(struct qs_json *j, const char *pattern)
{
    static const char *const types[] = {"string", "number"};
    add_types(j, types, 2);
    qs_json_kstring(j, "pattern", pattern);
}

static void add_enum(struct qs_json *j, const struct qs_word *words)
{
    qs_json_karray(j, "enum");
    for (; words->word != NULL; words++)
        qs_json_string(j, words->word);
    qs_json_array_end(j);
}

static void add_elements(struct qs_json *j, const struct qs_key *key, const char *fallback)
{
    bool named = key->type == QS_KEY_NAMED;
    qs_json_kstring(j, "type", named ? "object" : "array");
    qs_json_kint(j, named ? "minProperties" : "minItems", key->min);
    qs_json_kint(j, named ? "maxProperties" : "maxItems", key->max);
    qs_json_kobject(j, named ? "additionalProperties" : "items");
    add_object(j, key->table, fallback);
    qs_json_object_end(j);
}

/* Text may be written without quotes: a name such as 2026 is fine. */
static void add_value(struct qs_json *j, const struct qs_key *key, const char *fallback)
{
    static const char *const scalars[] = {"string", "number", "boolean"};
    switch (key->type) {
    case QS_KEY_TEXT:
    case QS_KEY_NAME:
        add_types(j, scalars, 3);
        break;
    case QS_KEY_BOOL:
        qs_json_kstring(j, "type", "boolean");
        break;
    case QS_KEY_U32:
        qs_json_kstring(j, "type", "integer");
        qs_json_kint(j, "minimum", key->min);
        qs_json_kint(j, "maximum", key->max);
        break;
    case QS_KEY_U64:
        qs_json_kstring(j, "type", "integer");
        qs_json_kint(j, "minimum", 0);
        break;
    case QS_KEY_RATIO:
        add_quantity(j, "^[0-9.eE+-]+( ?%)?$");
        break;
    case QS_KEY_DURATION:
        add_quantity(j, "^(0|([0-9.eE+-]+ ?(ns|us|µs|ms|s|min|h|d) *)+)$");
        break;
    case QS_KEY_BYTES:
        add_quantity(j, "^(0|[0-9.eE+-]+ ?(B|kB|KB|MB|GB|KiB|MiB|GiB))$");
        break;
    case QS_KEY_ENUM:
        add_enum(j, key->words);
        break;
    case QS_KEY_STRINGS:
        qs_json_kstring(j, "type", "array");
        break;
    case QS_KEY_MAP:
        add_object(j, key->table, fallback);
        break;
    case QS_KEY_LIST:
    case QS_KEY_NAMED:
        add_elements(j, key, fallback);
        break;
    case QS_KEY_CUSTOM:
        if (key->json != NULL)
            key->json(j);
        break;
    }
}

static void add_property(struct qs_json *j, const struct qs_key *key, const char *fallback)
{
    QS_BUF(text);
    qs_buf_fmt(&text, "%s Value: ", key->help);
    qs_schema_form(key, &text);
    const char *shown = fallback != NULL && key->type != QS_KEY_MAP ? fallback : key->fallback;
    if (shown != NULL)
        qs_buf_fmt(&text, "; default: %s", shown);
    qs_json_kobject(j, key->name);
    qs_json_kstring(j, "description", text.data);
    add_value(j, key, fallback);
    qs_json_object_end(j);
}

static void add_object(struct qs_json *j, const struct qs_table *table, const char *fallback)
{
    fallback = table->fallback != NULL ? table->fallback : fallback;
    qs_json_kstring(j, "type", "object");
    qs_json_kbool(j, "additionalProperties", false);
    qs_json_karray(j, "required");
    for (const struct qs_key *key = table->keys; key->name != NULL; key++)
        if (key->required)
            qs_json_string(j, key->name);
    qs_json_array_end(j);
    qs_json_kobject(j, "properties");
    for (const struct qs_key *key = table->keys; key->name != NULL; key++)
        add_property(j, key, fallback);
    qs_json_object_end(j);
}

void qs_schema_json(const struct qs_table *table, const char *title, struct qs_buf *out)
{
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    qs_json_kstring(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    qs_json_kstring(&j, "title", title);
    add_object(&j, table, NULL);
    qs_json_object_end(&j);
    qs_buf_char(out, '\n');
}
