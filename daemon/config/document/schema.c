#include "config/document/schema.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/document/doc_build.h"
#include "config/job/job.h"
#include "config/document/scalar.h"

enum { WORDS_MAX = 64, NAME_MAX_BYTES = 100 };

void qs_schema_problem(struct qs_schema_reader *r, const struct qs_node *at, const char *suggestion,
                       const char *fmt, ...)
{
    QS_BUF(what);
    va_list ap;
    va_start(ap, fmt);
    qs_buf_vfmt(&what, fmt, ap);
    va_end(ap);
    if (suggestion != NULL && suggestion[0] == '\0')
        suggestion = NULL;
    qs_problems_add(r->problems, r->doc, at != NULL ? at : r->here, r->path.data, suggestion, "%s",
                    what.data);
    r->count++;
}

size_t qs_schema_enter(struct qs_schema_reader *r, const char *key)
{
    size_t mark = r->path.len;
    qs_path_key(&r->path, qs_show(key).text);
    return mark;
}

size_t qs_schema_enter_index(struct qs_schema_reader *r, size_t i)
{
    size_t mark = r->path.len;
    qs_path_index(&r->path, i);
    return mark;
}

void qs_schema_leave(struct qs_schema_reader *r, size_t mark)
{
    if (r->path.len == mark)
        return;
    r->path.len = mark;
    r->path.data[mark] = '\0';
}

static const char *found(const struct qs_node *node)
{
    switch (node->kind) {
    case QS_NODE_TEXT:
        return "text";
    case QS_NODE_LIST:
        return "a list";
    case QS_NODE_MAP:
        return "a map";
    case QS_NODE_NULL:
        return "nothing";
    }
    return "";
}

bool qs_schema_is(struct qs_schema_reader *r, const struct qs_node *node, enum qs_node_kind kind,
                  const char *expected)
{
    if (node->kind == kind)
        return true;
    if (node->kind == QS_NODE_TEXT)
        qs_schema_problem(r, node, NULL, "expected %s, found `%s`", expected, qs_show(node->text).text);
    else
        qs_schema_problem(r, node,
                          node->kind == QS_NODE_NULL ? "give it a value, or leave out the key" : NULL,
                          "expected %s, found %s", expected, found(node));
    return false;
}

const char *qs_schema_text(struct qs_schema_reader *r, const struct qs_node *node, const char *expected)
{
    return qs_schema_is(r, node, QS_NODE_TEXT, expected) ? node->text : NULL;
}

void qs_schema_refuse(struct qs_schema_reader *r, const struct qs_node *map, const char *key,
                      const char *instead, const char *why)
{
    const struct qs_node *node = qs_node_get(map, key, NULL);
    if (node == NULL)
        return;
    size_t mark = qs_schema_enter(r, key);
    qs_schema_problem(r, node, instead, "%s `%s`", why, key);
    qs_schema_leave(r, mark);
}

void qs_schema_suggest(struct qs_buf *out, const char *wrong, const char *what, const char *const *words,
                       size_t count)
{
    const char *near = qs_nearest(wrong, words, count);
    if (near != NULL) {
        qs_buf_fmt(out, "did you mean `%s`?", near);
        return;
    }
    qs_buf_fmt(out, "%s: ", what);
    for (size_t i = 0; i < count; i++)
        qs_buf_fmt(out, "%s%s", i == 0 ? "" : ", ", words[i]);
}

/* "is missing: the name under which ...": the help's sentence goes on with a small letter. */
static void say_help(struct qs_schema_reader *r, const struct qs_node *at, const char *what,
                     const struct qs_key *key)
{
    qs_schema_problem(r, at, NULL, "%s: %c%s", what, tolower((unsigned char)key->help[0]), key->help + 1);
}

static void read_text(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      char **ret)
{
    const char *text = qs_schema_text(r, node, "text");
    if (text == NULL)
        return;
    int64_t max = key->max > 0 ? key->max : INT64_MAX;
    int64_t n = (int64_t)strlen(text);
    if (n < key->min || n > max) {
        if (n < key->min)
            qs_schema_problem(r, node, NULL, "may not be empty");
        else
            qs_schema_problem(r, node, NULL, "%" PRId64 " bytes are too long (at most %" PRId64 ")", n, max);
        return;
    }
    *ret = qs_strdup(text);
}

static void read_name(struct qs_schema_reader *r, const struct qs_node *node, char **ret)
{
    const char *text = qs_schema_text(r, node, "a name");
    if (text == NULL)
        return;
    size_t n = strlen(text);
    if (n == 0 || n > NAME_MAX_BYTES) {
        qs_schema_problem(r, node, NULL, "a name has 1 to %d bytes", NAME_MAX_BYTES);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) {
            qs_schema_problem(r, node, NULL, "a name is one line without control characters");
            return;
        }
    *ret = qs_strdup(text);
}

static void read_enum(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      unsigned *ret)
{
    const char *words[WORDS_MAX];
    size_t count = 0;
    for (; key->words[count].word != NULL && count < WORDS_MAX; count++)
        words[count] = key->words[count].word;
    QS_BUF(form);
    qs_schema_form(key, &form);
    const char *text = qs_schema_text(r, node, form.data);
    qs_buf_clear(&form);
    for (size_t i = 0; text != NULL && i < count; i++)
        if (strcmp(words[i], text) == 0) {
            *ret = key->words[i].value;
            return;
        }
    if (text != NULL) {
        const char *instead = NULL;
        for (const char *const *pair = key->instead; pair != NULL && *pair != NULL; pair += 2)
            instead = strcmp(pair[0], text) == 0 ? pair[1] : instead;
        if (instead == NULL)
            qs_schema_suggest(&form, text, "the values are", words, count);
        else
            qs_buf_str(&form, instead);
        qs_schema_problem(r, node, form.data, "`%s` is not a value of `%s`", qs_show(text).text, key->name);
    }
}

static void read_strings(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                         struct qs_strings *ret)
{
    if (!qs_schema_is(r, node, QS_NODE_LIST, "a list of text"))
        return;
    if (key->max > 0 && node->count > (size_t)key->max) {
        qs_schema_problem(r, node, NULL, "%zu items are too many (at most %" PRId64 ")", node->count,
                          key->max);
        return;
    }
    ret->at = qs_calloc(node->count, sizeof(*ret->at));
    for (size_t i = 0; i < node->count; i++) {
        size_t mark = qs_schema_enter_index(r, i);
        const char *text = qs_schema_text(r, &node->items[i], "text");
        ret->at[ret->count++] = qs_strdup(text != NULL ? text : "");
        qs_schema_leave(r, mark);
    }
}

/* One value out of [min, max], said in the words of the key. */
static bool in_range(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                     double value)
{
    if ((key->min == 0 && key->max == 0) || (value >= (double)key->min && value <= (double)key->max))
        return true;
    QS_BUF(range);
    qs_schema_range(key, &range);
    qs_schema_problem(r, node, NULL, "`%s` is out of range: %s", qs_show(node->text).text, range.data);
    return false;
}

static bool read_number(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        char *at)
{
    struct qs_scalar_why why = {0};
    int64_t v = 0;
    double ratio = 0;
    uint64_t seed = 0;
    bool yes = false;
    bool ok = false;
    if (key->type == QS_KEY_RATIO) {
        ok = qs_scalar_ratio(node->text, &ratio, &why);
    } else if (key->type == QS_KEY_U64) {
        ok = qs_scalar_uint(node->text, &seed, &why);
    } else if (key->type == QS_KEY_BOOL) {
        ok = qs_scalar_bool(node->text, &yes, &why);
    } else if (key->type == QS_KEY_U32) {
        ok = qs_scalar_int(node->text, &v, &why);
    } else {
        ok = qs_scalar_quantity(node->text, key->type == QS_KEY_BYTES ? QS_QTY_BYTES : QS_QTY_DURATION, &v,
                                &why);
    }
    if (!ok) {
        qs_schema_problem(r, node, why.suggestion, "%s", why.text);
        return false;
    }
    if (key->type == QS_KEY_U64)
        memcpy(at, &seed, sizeof(seed));
    else if (key->type == QS_KEY_BOOL)
        memcpy(at, &yes, sizeof(yes));
    else if (!in_range(r, key, node, key->type == QS_KEY_RATIO ? ratio * 1e6 : (double)v))
        return false;
    else if (key->type == QS_KEY_RATIO)
        memcpy(at, &ratio, sizeof(ratio));
    else if (key->type == QS_KEY_U32)
        memcpy(at, &(uint32_t){(uint32_t)v}, sizeof(uint32_t));
    else
        memcpy(at, &v, sizeof(v));
    return true;
}

/* A number in quotes is text: refused where a bare number or truth value is asked for, so that both mean one
 * thing only. */
static void read_scalar(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        char *at)
{
    QS_BUF(form);
    qs_schema_form(key, &form);
    bool bare = key->type == QS_KEY_BOOL || key->type == QS_KEY_U32 || key->type == QS_KEY_U64;
    if (qs_schema_text(r, node, form.data) != NULL) {
        if (bare && node->quoted)
            qs_schema_problem(r, node, "leave out the quotes", "expected %s, found text in quotes",
                              form.data);
        else
            read_number(r, key, node, at);
    }
}

static bool check_count(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node)
{
    if ((int64_t)node->count >= key->min && (key->max == 0 || (int64_t)node->count <= key->max))
        return true;
    if (node->count == 0)
        say_help(r, node, "may not be empty", key);
    else
        qs_schema_problem(r, node, NULL, "%zu are too many (at most %" PRId64 ")", node->count, key->max);
    return false;
}

static void read_elements(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                          char *target)
{
    bool named = key->type == QS_KEY_NAMED;
    if (!qs_schema_is(r, node, named ? QS_NODE_MAP : QS_NODE_LIST, named ? "a map of names" : "a list") ||
        !check_count(r, key, node))
        return;
    char *all = qs_calloc(node->count, key->table->size_bytes);
    memcpy(target + key->offset, &all, sizeof(all));
    memcpy(target + key->count_offset, &node->count, sizeof(node->count));
    for (size_t i = 0; i < node->count; i++) {
        char *element = all + i * key->table->size_bytes;
        size_t mark = named ? qs_schema_enter(r, node->keys[i].text) : qs_schema_enter_index(r, i);
        if (named) {
            char *name = NULL;
            read_name(r, &node->keys[i], &name);
            memcpy(element + key->table->name_offset, &name, sizeof(name));
        }
        if (qs_schema_is(r, &node->items[i], QS_NODE_MAP, "a map"))
            qs_schema_map(r, key->table, &node->items[i], element);
        qs_schema_leave(r, mark);
    }
}

void qs_schema_value(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                     void *target)
{
    char *at = (char *)target + key->offset;
    switch (key->type) {
    case QS_KEY_TEXT:
    case QS_KEY_NAME: {
        char *text = NULL;
        if (key->type == QS_KEY_NAME)
            read_name(r, node, &text);
        else
            read_text(r, key, node, &text);
        memcpy(at, &text, sizeof(text));
        break;
    }
    case QS_KEY_ENUM: {
        unsigned v = 0;
        read_enum(r, key, node, &v);
        memcpy(at, &v, sizeof(v));
        break;
    }
    case QS_KEY_STRINGS:
        read_strings(r, key, node, (struct qs_strings *)(void *)at);
        break;
    case QS_KEY_BOOL:
    case QS_KEY_U32:
    case QS_KEY_U64:
    case QS_KEY_RATIO:
    case QS_KEY_DURATION:
    case QS_KEY_BYTES:
        read_scalar(r, key, node, at);
        break;
    case QS_KEY_MAP:
        if (qs_schema_is(r, node, QS_NODE_MAP, "a map"))
            qs_schema_map(r, key->table, node, at);
        break;
    case QS_KEY_LIST:
    case QS_KEY_NAMED:
        read_elements(r, key, node, target);
        break;
    case QS_KEY_CUSTOM:
        key->read(r, key, node, at);
        break;
    }
}

static void refuse_unknown(struct qs_schema_reader *r, const struct qs_table *table,
                           const struct qs_node *map)
{
    const char *names[WORDS_MAX];
    size_t count = 0;
    for (; table->keys[count].name != NULL && count < WORDS_MAX; count++)
        names[count] = table->keys[count].name;
    for (size_t i = 0; i < map->count; i++) {
        size_t k = 0;
        while (k < count && strcmp(names[k], map->keys[i].text) != 0)
            k++;
        if (k < count)
            continue;
        QS_BUF(out);
        size_t mark = qs_schema_enter(r, map->keys[i].text);
        qs_schema_suggest(&out, map->keys[i].text, "the keys here are", names, count);
        qs_schema_problem(r, &map->keys[i], out.data, "unknown key");
        qs_schema_leave(r, mark);
    }
}

/* What is not written takes its default, through the same code. */
static void read_default(struct qs_schema_reader *r, const struct qs_key *key, void *target)
{
    if (key->required) {
        say_help(r, NULL, "is missing", key);
    } else if (key->type == QS_KEY_MAP) {
        qs_schema_map(r, key->table, NULL, (char *)target + key->offset);
    } else if (key->fallback != NULL && key->type != QS_KEY_CUSTOM) {
        struct qs_node node = {.kind = QS_NODE_TEXT, .text = qs_strdup(key->fallback)};
        qs_schema_value(r, key, &node, target);
        qs_node_done(&node);
    }
}

void qs_schema_map(struct qs_schema_reader *r, const struct qs_table *table, const struct qs_node *node,
                   void *target)
{
    const struct qs_node *outer = r->here;
    if (node != NULL) {
        r->here = node;
        refuse_unknown(r, table, node);
    }
    for (const struct qs_key *key = table->keys; key->name != NULL; key++) {
        const struct qs_node *value = qs_node_get(node, key->name, NULL);
        size_t mark = qs_schema_enter(r, key->name);
        if (value != NULL)
            qs_schema_value(r, key, value, target);
        else
            read_default(r, key, target);
        qs_schema_leave(r, mark);
    }
    if (table->check != NULL)
        table->check(r, node, target);
    r->here = outer;
}

bool qs_schema_read(const struct qs_doc *doc, const struct qs_table *table, void *target,
                    struct qs_problems *problems)
{
    struct qs_schema_reader r = {.doc = doc, .problems = problems, .here = &doc->root};
    qs_buf_init(&r.path);
    if (qs_schema_is(&r, &doc->root, QS_NODE_MAP, "a map of keys"))
        qs_schema_map(&r, table, &doc->root, target);
    qs_buf_done(&r.path);
    return r.count == 0;
}
