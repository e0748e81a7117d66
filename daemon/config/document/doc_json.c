/* jansson checks and decodes; a walk over the same text beside its tree gives what jansson does not keep: the
 * place of every value and the digits of every number. The walk relies on the text being valid, which jansson
 * has just said. */
#include <jansson.h>
#include <string.h>

#include "base/mem.h"
#include "config/document/doc_build.h"

struct reader {
    struct qs_doc_build *b;
    const char *at, *end;
    unsigned line, column;
};

static void step(struct reader *r)
{
    if (*r->at == '\n') {
        r->line++;
        r->column = 1;
    } else if (((unsigned char)*r->at & 0xc0) != 0x80) {
        r->column++;
    }
    r->at++;
}

/* Skips white space and the separators that the validated structure implies. */
static void skip_to_value(struct reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n,:", *r->at) != NULL)
        step(r);
}

static void skip_string(struct reader *r)
{
    step(r);
    while (*r->at != '"') { /* it is valid: there is one */
        if (*r->at == '\\')
            step(r);
        step(r);
    }
    step(r);
}

static void skip_word(struct reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n,:]}", *r->at) == NULL)
        step(r);
}

static bool read_text(struct reader *r, struct qs_node *node, const json_t *json, unsigned depth)
{
    node->kind = json_is_null(json) ? QS_NODE_NULL : QS_NODE_TEXT;
    node->quoted = json_is_string(json);
    const char *from = r->at;
    if (node->quoted)
        skip_string(r);
    else
        skip_word(r);
    size_t n = node->quoted ? json_string_length(json) : (size_t)(r->at - from);
    if (!qs_doc_charge(r->b, node->line, node->column, depth, n))
        return false;
    if (node->kind == QS_NODE_TEXT)
        node->text = qs_strndup(node->quoted ? json_string_value(json) : from, n);
    return true;
}

static bool read_node(struct reader *r, struct qs_node *node, json_t *json, unsigned depth);

static bool read_list(struct reader *r, struct qs_node *node, json_t *json, unsigned depth)
{
    node->kind = QS_NODE_LIST;
    step(r);
    for (size_t i = 0; i < json_array_size(json); i++)
        if (!read_node(r, qs_node_add(node), json_array_get(json, i), depth + 1))
            return false;
    skip_to_value(r);
    step(r);
    return true;
}

/* jansson keeps members in the order of the text, as long as nothing is replaced: duplicates are refused. */
static bool read_map(struct reader *r, struct qs_node *node, json_t *json, unsigned depth)
{
    node->kind = QS_NODE_MAP;
    step(r);
    if (json_object_size(json) > QS_DOC_KEYS) {
        qs_problems_add(r->b->problems, r->b->doc, node, NULL, NULL, "more than %d keys in one map",
                        QS_DOC_KEYS);
        return false;
    }
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(json, name, value)
    {
        struct qs_node *key = NULL;
        struct qs_node *item = qs_node_add_pair(node, &key);
        skip_to_value(r);
        *key = (struct qs_node){.kind = QS_NODE_TEXT, .quoted = true, .line = r->line, .column = r->column};
        key->text = qs_strdup(name);
        skip_string(r);
        if (!qs_doc_charge(r->b, key->line, key->column, depth, strlen(name)) ||
            !read_node(r, item, value, depth + 1))
            return false;
    }
    skip_to_value(r);
    step(r);
    return true;
}

static bool read_node(struct reader *r, struct qs_node *node, json_t *json, unsigned depth)
{
    skip_to_value(r);
    node->line = r->line;
    node->column = r->column;
    if (!json_is_array(json) && !json_is_object(json))
        return read_text(r, node, json, depth);
    if (!qs_doc_charge(r->b, node->line, node->column, depth, 0))
        return false;
    return json_is_array(json) ? read_list(r, node, json, depth) : read_map(r, node, json, depth);
}

static bool syntax_error(struct qs_doc_build *b, const json_error_t *error)
{
    unsigned line = error->line > 0 ? (unsigned)error->line : 0;
    unsigned column = error->column > 0 ? (unsigned)error->column : (line > 0 ? 1 : 0);
    bool twice = json_error_code(error) == json_error_duplicate_key;
    qs_problems_add_at(b->problems, b->doc, line, column, NULL, twice ? "keep one of the two" : NULL, "%s%s",
                       twice ? "the same key twice: " : "not JSON: ", error->text);
    return false;
}

bool qs_doc_read_json(struct qs_doc_build *b, const char *text, size_t len)
{
    json_error_t error;
    json_auto_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL)
        return syntax_error(b, &error);
    struct reader r = {.b = b, .at = text, .end = text + len, .line = 1, .column = 1};
    return read_node(&r, &b->doc->root, json, 0);
}
