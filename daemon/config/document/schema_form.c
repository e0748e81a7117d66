#include "config/document/schema.h"

#include <inttypes.h>
#include <string.h>

struct step {
    int64_t factor;
    const char *unit;
};

static const struct step times[] = {{INT64_C(86400000000000), "d"},
                                    {INT64_C(3600000000000), "h"},
                                    {INT64_C(60000000000), "min"},
                                    {1000000000, "s"},
                                    {1000000, "ms"},
                                    {1000, "us"},
                                    {1, "ns"}};
static const struct step sizes[] = {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}};

/* The value in the largest unit that it is a whole multiple of. */
static void add_in(struct qs_buf *out, int64_t v, const struct step *steps)
{
    while (steps->factor > 1 && (v == 0 || v % steps->factor != 0))
        steps++;
    qs_buf_fmt(out, "%" PRId64 "%s", v / steps->factor, steps->unit);
}

static void add_value(struct qs_buf *out, enum qs_key_type type, int64_t v)
{
    if (v == 0)
        qs_buf_char(out, '0');
    else if (type == QS_KEY_DURATION)
        add_in(out, v, times);
    else if (type == QS_KEY_BYTES)
        add_in(out, v, sizes);
    else if (type == QS_KEY_RATIO)
        qs_buf_fmt(out, "%g%%", (double)v / 1e4);
    else
        qs_buf_fmt(out, "%" PRId64, v);
}

void qs_schema_range(const struct qs_key *key, struct qs_buf *out)
{
    bool bounded = key->min != 0 || key->max != 0;
    bool numeric = key->type == QS_KEY_U32 || key->type == QS_KEY_RATIO || key->type == QS_KEY_DURATION ||
                   key->type == QS_KEY_BYTES;
    if (numeric && bounded) {
        add_value(out, key->type, key->min);
        qs_buf_str(out, " to ");
        add_value(out, key->type, key->max);
    } else if (!numeric && key->max > 0) {
        const char *of = key->type == QS_KEY_TEXT ? " bytes" : "";
        if (key->min > 0)
            qs_buf_fmt(out, "%" PRId64 " to %" PRId64 "%s", key->min, key->max, of);
        else
            qs_buf_fmt(out, "at most %" PRId64 "%s", key->max, of);
    }
}

void qs_schema_form(const struct qs_key *key, struct qs_buf *out)
{
    static const char *const forms[] = {
        [QS_KEY_TEXT] = "text",
        [QS_KEY_NAME] = "a name",
        [QS_KEY_BOOL] = "true or false",
        [QS_KEY_U32] = "a whole number",
        [QS_KEY_U64] = "a whole number",
        [QS_KEY_RATIO] = "a share such as 2% or 0.02",
        [QS_KEY_DURATION] = "a duration such as 20s or 50ms",
        [QS_KEY_BYTES] = "a size such as 64KiB",
        [QS_KEY_ENUM] = NULL,
        [QS_KEY_STRINGS] = "a list of text",
        [QS_KEY_MAP] = "a map",
        [QS_KEY_LIST] = "a list of maps",
        [QS_KEY_NAMED] = "a map of names",
        [QS_KEY_CUSTOM] = NULL,
    };
    if (key->type == QS_KEY_CUSTOM) {
        qs_buf_str(out, key->form);
    } else if (key->type == QS_KEY_ENUM) {
        qs_buf_str(out, "one of ");
        for (const struct qs_word *w = key->words; w->word != NULL; w++)
            qs_buf_fmt(out, "%s%s", w == key->words ? "" : ", ", w->word);
    } else {
        qs_buf_str(out, forms[key->type]);
    }
}

/* A cell of a Markdown table: `|` would end it. */
static void add_cell(struct qs_buf *out, const char *text)
{
    qs_buf_str(out, " ");
    for (; *text != '\0'; text++) {
        if (*text == '|')
            qs_buf_char(out, '\\');
        qs_buf_char(out, *text);
    }
    qs_buf_str(out, " |");
}

/* default: what stands in for the key's own, or NULL. */
static void add_row(const struct qs_key *key, const char *path, const char *fallback, struct qs_buf *out)
{
    QS_BUF(cell);
    qs_buf_fmt(out, "| `%s` |", path);
    qs_schema_form(key, &cell);
    QS_BUF(range);
    qs_schema_range(key, &range);
    if (range.len > 0)
        qs_buf_fmt(&cell, ", %s", range.data);
    add_cell(out, cell.data);
    fallback = key->type == QS_KEY_MAP || fallback == NULL ? key->fallback : fallback;
    add_cell(out, key->required ? "**required**" : fallback != NULL ? fallback : "");
    add_cell(out, key->help);
    qs_buf_char(out, '\n');
}

static void add_table(const struct qs_table *table, const char *prefix, const char *fallback,
                      struct qs_buf *out)
{
    fallback = table->fallback != NULL ? table->fallback : fallback;
    for (const struct qs_key *key = table->keys; key->name != NULL; key++) {
        QS_BUF(path);
        qs_buf_fmt(&path, "%s%s", prefix, key->name);
        add_row(key, path.data, fallback, out);
        if (key->table != NULL) {
            qs_buf_str(&path, key->type == QS_KEY_LIST ? "[]." : key->type == QS_KEY_NAMED ? ".NAME." : ".");
            add_table(key->table, path.data, fallback, out);
        }
    }
}

void qs_schema_reference(const struct qs_table *table, struct qs_buf *out)
{
    qs_buf_str(out, "| key | value | default | what it does |\n|---|---|---|---|\n");
    add_table(table, "", NULL, out);
}
