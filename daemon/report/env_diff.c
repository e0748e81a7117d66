#include "report/env_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/document/doc.h"
#include "report/variables.h"

#define VARIABLE "variables." /* what the processes of a session inherit */

/* Last part of a key. */
static const struct {
    const char *key;
    enum qs_env_class class;
} classes[] = {
    {"agent", QS_ENV_INSTRUMENT},
    {"agent_sha256", QS_ENV_INSTRUMENT},
    {"quiesced", QS_ENV_INSTRUMENT},
    {"capabilities", QS_ENV_NOTED},
    {"cgroup", QS_ENV_NOTED},
    {"memory_bytes", QS_ENV_NOTED},    /* a few pages more or less each boot */
    {"variables_bytes", QS_ENV_NOTED}, /* moves the stack, as does the path of the program */
};

enum qs_env_class qs_env_class_of(const char *key)
{
    if (strncmp(key, VARIABLE, sizeof VARIABLE - 1) == 0)
        return qs_variable_class(key + sizeof VARIABLE - 1, NULL);
    const char *dot = strrchr(key, '.');
    const char *last = dot ? dot + 1 : key;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(classes[i].key, last) == 0)
            return classes[i].class;
    return QS_ENV_MACHINE;
}

const char *qs_env_class_name(enum qs_env_class class)
{
    static const char *const names[] = {"machine", "instrument", "noted", "recorded"};
    return names[class];
}

struct fact {
    char *key, *value; /* owned */
};

struct facts {
    struct fact *at; /* owned */
    size_t count;
    bool variables; /* what was inherited is known */
};

static void facts_free(struct facts *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->at[i].key);
        free(f->at[i].value);
    }
    free(f->at);
}

static void take_fact(struct facts *f, const char *key, const char *value)
{
    f->at = qs_grow(f->at, f->count, sizeof *f->at);
    f->at[f->count++] = (struct fact){.key = qs_strdup(key), .value = qs_strdup(value)};
}

/* A scalar as its text, a list as its items with commas between. */
static void add_value(const struct qs_node *node, struct qs_buf *out)
{
    if (node->kind == QS_NODE_TEXT)
        qs_buf_str(out, node->text);
    for (size_t i = 0; i < node->count; i++) {
        if (i > 0)
            qs_buf_char(out, ',');
        add_value(&node->items[i], out);
    }
}

/* The document's depth is bounded by its reader. */
static void flatten(struct facts *f, const struct qs_node *map, const char *prefix)
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
            add_value(node, &value);
            take_fact(f, key.data, value.data);
        }
    }
}

static int by_key(const void *a, const void *b)
{
    const struct fact *x = a, *y = b;
    return strcmp(x->key, y->key);
}

static bool read_facts(const char *json, struct facts *ret, struct qs_err *err)
{
    struct qs_doc *doc = NULL;
    struct qs_problems problems;
    qs_problems_init(&problems);
    *ret = (struct facts){0};
    bool ok = qs_doc_read("environment", json, strlen(json), true, &doc, &problems) &&
              doc->root.kind == QS_NODE_MAP;
    if (ok) {
        flatten(ret, &doc->root, "");
        ret->variables = qs_node_get(&doc->root, "variables", NULL) != NULL;
        if (ret->count > 1)
            qsort(ret->at, ret->count, sizeof *ret->at, by_key);
    } else {
        qs_fail(err, QS_E_DATA, "a stored environment cannot be read: %s",
                problems.count > 0 ? problems.at[0].what : "it is no object");
    }
    if (doc)
        qs_doc_free(doc);
    qs_problems_done(&problems);
    return ok;
}

void qs_env_diff_add(struct qs_env_diff *diff, const char *key, const char *base, const char *cand,
                     enum qs_env_class class)
{
    if ((!base && !cand) || (base && cand && strcmp(base, cand) == 0))
        return;
    diff->at = qs_grow(diff->at, diff->count, sizeof *diff->at);
    diff->at[diff->count++] = (struct qs_env_change){.key = qs_strdup(key),
                                                     .base = base ? qs_strdup(base) : NULL,
                                                     .cand = cand ? qs_strdup(cand) : NULL,
                                                     .class = class};
}

/* Of variables those that may matter, where both sides know theirs. */
static bool is_told(const char *key, const struct facts *base, const struct facts *cand)
{
    return strncmp(key, VARIABLE, sizeof VARIABLE - 1) != 0 ||
           (base->variables && cand->variables && qs_env_class_of(key) != QS_ENV_RECORDED);
}

/* Both lists ascend by key. */
static void merge(struct qs_env_diff *diff, const struct facts *base, const struct facts *cand)
{
    size_t i = 0, j = 0;
    while (i < base->count || j < cand->count) {
        int order = i == base->count ? 1 : j == cand->count ? -1 : strcmp(base->at[i].key, cand->at[j].key);
        const struct fact *x = order <= 0 ? &base->at[i++] : NULL, *y = order >= 0 ? &cand->at[j++] : NULL;
        const char *key = x ? x->key : y->key;
        if (is_told(key, base, cand))
            qs_env_diff_add(diff, key, x ? x->value : NULL, y ? y->value : NULL, qs_env_class_of(key));
    }
}

bool qs_env_diff(const char *base_json, const char *cand_json, struct qs_env_diff *ret, struct qs_err *err)
{
    struct facts base = {0}, cand = {0};
    *ret = (struct qs_env_diff){.known = base_json && cand_json};
    if (!ret->known)
        return true;
    bool ok = read_facts(base_json, &base, err) && read_facts(cand_json, &cand, err);
    if (ok)
        merge(ret, &base, &cand);
    facts_free(&base);
    facts_free(&cand);
    return ok;
}

void qs_env_diff_free(struct qs_env_diff *diff)
{
    for (size_t i = 0; i < diff->count; i++) {
        free(diff->at[i].key);
        free(diff->at[i].base);
        free(diff->at[i].cand);
    }
    free(diff->at);
    *diff = (struct qs_env_diff){0};
}

bool qs_env_matters(enum qs_env_class class)
{
    return class == QS_ENV_MACHINE || class == QS_ENV_INSTRUMENT;
}

size_t qs_env_diff_matters(const struct qs_env_diff *diff)
{
    size_t count = 0;
    for (size_t i = 0; i < diff->count; i++)
        count += qs_env_matters(diff->at[i].class);
    return count;
}

void qs_env_diff_put(struct qs_json *j, const struct qs_env_diff *diff)
{
    qs_json_array(j);
    for (size_t i = 0; i < diff->count; i++) {
        const struct qs_env_change *c = &diff->at[i];
        qs_json_object(j);
        qs_json_kstring(j, "key", c->key);
        qs_json_kstring(j, "base", c->base);
        qs_json_kstring(j, "candidate", c->cand);
        qs_json_kstring(j, "class", qs_env_class_name(c->class));
        qs_json_kbool(j, "matters", qs_env_matters(c->class));
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
}
