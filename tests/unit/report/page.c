#include "page.h"

#include <stdio.h>

#include "base/mem.h"
#include "world.h"

const char *schema_dir = ".";

json_t *page_read(const struct qs_buf *text)
{
    json_error_t why;
    json_t *doc = json_loadb(text->data, text->len, JSON_REJECT_DUPLICATES, &why);
    if (!doc)
        fail_msg("not JSON: %s at %d in %s", why.text, why.position, text->data);
    assert_null(strstr(text->data, ":nan"));
    assert_null(strstr(text->data, ":inf"));
    return doc;
}

const json_t *at(const json_t *doc, const char *path)
{
    char *copy = qs_strdup(path), *rest = NULL;
    for (char *key = strtok_r(copy, ".", &rest); key && doc; key = strtok_r(NULL, ".", &rest))
        doc = json_is_array(doc) ? json_array_get(doc, (size_t)atoi(key)) : json_object_get(doc, key);
    free(copy);
    return doc;
}

const char *text_at(const json_t *doc, const char *path)
{
    const char *text = json_string_value(at(doc, path));
    assert_non_null(text);
    return text;
}

const json_t *row_of(const json_t *doc, const char *path, const char *key, const char *name)
{
    size_t i;
    const json_t *one;
    json_array_foreach(at(doc, path), i, one)
    {
        if (strcmp(text_at(one, key), name) == 0)
            return one;
    }
    fail_msg("%s has no %s %s", path, key, name);
    return NULL;
}

double number(const json_t *doc, const char *path)
{
    assert_true(json_is_number(at(doc, path)));
    return json_number_value(at(doc, path));
}

bool has_warning(const json_t *doc, const char *path, const char *code)
{
    size_t i;
    const json_t *one, *all = at(doc, path);
    assert_true(json_is_array(all));
    json_array_foreach(all, i, one)
    {
        assert_true(strlen(text_at(one, "text")) > 10);
        if (strcmp(text_at(one, "code"), code) == 0)
            return true;
    }
    return false;
}

/* Objects whose keys are facts of others. */
static bool is_foreign(const char *path)
{
    static const char *const foreign[] = {"environment", "params", "conditions"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcmp(dot ? dot + 1 : path, foreign[i]) == 0)
            return true;
    return false;
}

/* Lists of verdicts have a page of their own (schema/verdict.md). */
static bool is_verdicts(const char *key)
{
    return strcmp(key, "comparisons") == 0 || strcmp(key, "over_devices") == 0;
}

static void add_keys(struct qs_buf *out, const json_t *node, const char *prefix)
{
    const char *key;
    json_t *value;
    struct qs_buf path;
    qs_buf_init(&path);
    json_object_foreach((json_t *)(uintptr_t)node, key, value)
    {
        qs_buf_clear(&path);
        qs_buf_fmt(&path, "%s%s%s", prefix, *prefix ? "." : "", key);
        const json_t *one;
        size_t i;
        qs_buf_fmt(out, "`%s`\n", path.data);
        if (!is_foreign(path.data) && json_is_object(value))
            add_keys(out, value, path.data);
        if (strcmp(path.data, "taints") == 0 || is_verdicts(key))
            continue;
        qs_buf_str(&path, "[]");
        json_array_foreach(value, i, one)
        {
            if (json_is_object(one))
                add_keys(out, one, path.data);
        }
    }
    qs_buf_done(&path);
}

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    char *text = qs_calloc(1, 65536);
    assert_true(fread(text, 1, 65535, f) < 65535);
    fclose(f);
    return text;
}

static void check_fields(const struct qs_buf *keys, const char *text, const char *name)
{
    char *copy = qs_strdup(keys->data), *rest = NULL;
    for (char *key = strtok_r(copy, "\n", &rest); key; key = strtok_r(NULL, "\n", &rest)) {
        char *row = qs_asprintf("\n| %s |", key);
        if (!strstr(text, row))
            fail_msg("schema/%s lacks %s", name, key);
        free(row);
    }
    free(copy);
}

/* Rows of the tables in the description begin with "| `path` |". */
static size_t check_rows(const struct qs_buf *keys, char *text, const char *name)
{
    size_t rows = 0;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "| `", 3) != 0)
            continue;
        char *key = qs_asprintf("%.*s\n", (int)(strcspn(line + 3, "`") + 2), line + 2);
        if (!strstr(keys->data, key))
            fail_msg("schema/%s describes %s, which the document lacks", name, key);
        free(key);
        rows++;
    }
    return rows;
}

void page_check(const json_t *doc, const char *page, size_t least)
{
    struct qs_buf keys;
    qs_buf_init(&keys);
    add_keys(&keys, doc, "");
    char *path = qs_asprintf("%s/%s", schema_dir, page), *text = read_all(path);
    check_fields(&keys, text, page);
    assert_true(check_rows(&keys, text, page) > least);
    free(text);
    free(path);
    qs_buf_done(&keys);
}
