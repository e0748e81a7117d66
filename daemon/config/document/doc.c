#include "config/document/doc.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/document/doc_build.h"

bool qs_doc_charge(struct qs_doc_build *b, unsigned line, unsigned column, unsigned depth, size_t n)
{
    if (depth >= QS_DOC_DEPTH) {
        qs_problems_add_at(b->problems, b->doc, line, column, NULL, NULL, "more than %d levels deep",
                           QS_DOC_DEPTH);
        return false;
    }
    if (b->nodes >= QS_DOC_NODES) {
        qs_problems_add_at(b->problems, b->doc, line, column, NULL, NULL,
                           "more than %d values once aliases are written out", QS_DOC_NODES);
        return false;
    }
    if (n > b->most_bytes - b->bytes) {
        qs_problems_add_at(b->problems, b->doc, line, column, NULL, NULL,
                           "more than %zu MiB of text once aliases are written out",
                           b->most_bytes / 1024 / 1024);
        return false;
    }
    b->nodes++;
    b->bytes += n;
    return true;
}

static struct qs_node *grow(struct qs_node *at, size_t count)
{
    at = qs_grow(at, count, sizeof(*at));
    memset(&at[count], 0, sizeof(at[count]));
    return at;
}

struct qs_node *qs_node_add(struct qs_node *list)
{
    list->items = grow(list->items, list->count);
    return &list->items[list->count++];
}

struct qs_node *qs_node_add_pair(struct qs_node *map, struct qs_node **ret_key)
{
    map->items = grow(map->items, map->count);
    map->keys = grow(map->keys, map->count);
    *ret_key = &map->keys[map->count];
    return &map->items[map->count++];
}

void qs_node_done(struct qs_node *node)
{
    for (size_t i = 0; i < node->count; i++) {
        qs_node_done(&node->items[i]);
        if (node->keys != NULL)
            qs_node_done(&node->keys[i]);
    }
    free(node->items);
    free(node->keys);
    free(node->text);
    memset(node, 0, sizeof(*node));
}

const struct qs_node *qs_node_get(const struct qs_node *map, const char *key, const struct qs_node **ret_key)
{
    if (map == NULL || map->kind != QS_NODE_MAP)
        return NULL;
    for (size_t i = 0; i < map->count; i++) {
        if (strcmp(map->keys[i].text, key) != 0)
            continue;
        if (ret_key != NULL)
            *ret_key = &map->keys[i];
        return &map->items[i];
    }
    return NULL;
}

void qs_path_key(struct qs_buf *path, const char *key)
{
    if (path->len > 0)
        qs_buf_char(path, '.');
    qs_buf_str(path, key);
}

void qs_path_index(struct qs_buf *path, size_t i)
{
    qs_buf_fmt(path, "[%zu]", i);
}

static bool is_json(const char *text, size_t len)
{
    size_t i = 0;
    while (i < len && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n'))
        i++;
    return i < len && text[i] == '{';
}

bool qs_doc_read_most(const char *name, const char *text, size_t len, size_t most_bytes, bool json,
                      struct qs_doc **ret_doc, struct qs_problems *problems)
{
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark, as some editors write it */
        text += 3;
        len -= 3;
    }
    struct qs_doc *doc = qs_calloc(1, sizeof(*doc));
    doc->name = qs_strdup(name);
    doc->json = json || is_json(text, len);
    bool ok = false;
    if (len > most_bytes) {
        doc->source = qs_strdup("");
        qs_problems_add_at(problems, NULL, 0, 0, NULL, NULL,
                           "%zu bytes are too many: at most %zu MiB are read", len, most_bytes / 1024 / 1024);
    } else {
        doc->source = qs_strndup(text, len);
        struct qs_doc_build b = {.doc = doc, .problems = problems, .most_bytes = most_bytes};
        ok = doc->json ? qs_doc_read_json(&b, text, len) : qs_doc_read_yaml(&b, text, len);
    }
    if (ok)
        *ret_doc = doc;
    else
        qs_doc_free(doc);
    return ok;
}

bool qs_doc_read(const char *name, const char *text, size_t len, bool json, struct qs_doc **ret_doc,
                 struct qs_problems *problems)
{
    return qs_doc_read_most(name, text, len, QS_DOC_BYTES, json, ret_doc, problems);
}

void qs_doc_free(struct qs_doc *doc)
{
    if (doc == NULL)
        return;
    qs_node_done(&doc->root);
    free(doc->name);
    free(doc->source);
    free(doc);
}
