#include "report/env_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/document/doc.h"

#define VARIABLE "variables."

const char *qs_env_variable(const char *key)
{
    return strncmp(key, VARIABLE, sizeof VARIABLE - 1) == 0 ? key + sizeof VARIABLE - 1 : NULL;
}

void qs_env_facts_done(struct qs_env_facts *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->at[i].key);
        free(f->at[i].value);
    }
    free(f->at);
    *f = (struct qs_env_facts){0};
}

static void take_fact(struct qs_env_facts *f, const char *key, const char *value)
{
    f->at = qs_grow(f->at, f->count, sizeof *f->at);
    f->at[f->count++] = (struct qs_env_fact){.key = qs_strdup(key), .value = qs_strdup(value)};
}

/* A scalar as its text, a list as its items with commas between; "{KEY:VALUE,...}" and "[ITEM,...]" in one.
 */
static void add_value(const struct qs_node *node, bool inner, struct qs_buf *out)
{
    const char *ends = node->kind == QS_NODE_MAP ? "{}" : "[]";
    inner = inner && node->kind != QS_NODE_TEXT && node->kind != QS_NODE_NULL;
    if (node->kind == QS_NODE_TEXT)
        qs_buf_str(out, node->text);
    if (inner)
        qs_buf_char(out, ends[0]);
    for (size_t i = 0; i < node->count; i++) {
        if (i > 0)
            qs_buf_char(out, ',');
        if (node->kind == QS_NODE_MAP)
            qs_buf_fmt(out, "%s:", node->keys[i].text);
        add_value(&node->items[i], true, out);
    }
    if (inner)
        qs_buf_char(out, ends[1]);
}

/* The document's depth is bounded by its reader. */
static void flatten(struct qs_env_facts *f, const struct qs_node *map, const char *prefix)
{
    QS_BUF(key);
    QS_BUF(value);
    for (size_t i = 0; i < map->count; i++) {
        const struct qs_node *node = &map->items[i];
        qs_buf_clear(&key);
        qs_buf_clear(&value);
        qs_buf_fmt(&key, "%s%s%s", prefix, *prefix ? "." : "", map->keys[i].text);
        if (node->kind == QS_NODE_MAP) {
            flatten(f, node, key.data);
        } else {
            add_value(node, false, &value);
            take_fact(f, key.data, value.data);
        }
    }
}

static int by_key(const void *a, const void *b)
{
    const struct qs_env_fact *x = a, *y = b;
    return strcmp(x->key, y->key);
}

bool qs_env_facts_read(const char *json, struct qs_env_facts *ret, struct qs_err *err)
{
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    *ret = (struct qs_env_facts){0};
    if (!qs_doc_read("environment", json, strlen(json), true, &doc, &problems) ||
        doc->root.kind != QS_NODE_MAP)
        return qs_fail(err, QS_E_DATA, "a stored environment cannot be read: %s",
                       problems.count > 0 ? problems.at[0].what : "it is not an object");
    flatten(ret, &doc->root, "");
    ret->has_variables = qs_node_get(&doc->root, "variables", NULL) != NULL;
    if (ret->count > 1)
        qsort(ret->at, ret->count, sizeof *ret->at, by_key);
    return true;
}
