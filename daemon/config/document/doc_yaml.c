/* libyaml events into nodes. Scalars stay text; an anchor keeps a copy of its node, an alias copies it again,
 * both against the budget of the document, so that a "billion laughs" file ends at the limit and not at the
 * memory's end. */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/mem.h"
#include "config/document/doc_build.h"

enum { ANCHORS_MAX = 256 };

struct anchor {
    char *name; /* owned */
    struct qs_node node;
};

struct reader {
    struct qs_doc_build *b;
    yaml_parser_t parser;
    struct anchor *anchors; /* owned */
    size_t anchor_count;
    unsigned line, column; /* of the anchor or alias that is being written out: where a limit is reported */
};

static unsigned mark_line(const yaml_mark_t *m)
{
    return (unsigned)m->line + 1;
}

static unsigned mark_column(const yaml_mark_t *m)
{
    return (unsigned)m->column + 1;
}

static bool fail(struct reader *r, const yaml_mark_t *at, const char *suggestion, const char *what)
{
    qs_problems_add_at(r->b->problems, r->b->doc, mark_line(at), mark_column(at), NULL, suggestion, "%s",
                       what);
    return false;
}

/* Bytes that are not UTF-8 have an offset only. */
static bool bad_bytes(struct reader *r)
{
    const char *text = r->b->doc->source;
    unsigned line = 1;
    unsigned column = 1;
    for (size_t i = 0; i < r->parser.problem_offset && text[i] != '\0'; i++) {
        if (text[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            column++;
        }
    }
    qs_problems_add_at(r->b->problems, r->b->doc, line, column, NULL, "save the file as UTF-8 text",
                       "not text: %s", r->parser.problem);
    return false;
}

static bool syntax_error(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_READER_ERROR)
        return bad_bytes(r);
    const yaml_mark_t *m = &p->problem_mark;
    const char *suggestion = NULL;
    if (p->problem != NULL && m->index < strlen(r->b->doc->source) && r->b->doc->source[m->index] == '\t')
        suggestion = "YAML is indented with spaces: replace the tab";
    if (p->problem != NULL && strstr(p->problem, "mapping values are not allowed") != NULL)
        suggestion = "text with `: ` in it needs quotes; a key starts at the indentation of its neighbours";
    if (p->problem != NULL && strstr(p->problem, "cannot start any token") != NULL && suggestion == NULL)
        suggestion = "text that begins with %, @ or ` needs quotes";
    qs_problems_add_at(r->b->problems, r->b->doc, mark_line(m), mark_column(m), NULL, suggestion,
                       "not YAML: %s%s%s", p->context != NULL ? p->context : "",
                       p->context != NULL ? ": " : "", p->problem != NULL ? p->problem : "cannot be read");
    return false;
}

static bool next(struct reader *r, yaml_event_t *event)
{
    return yaml_parser_parse(&r->parser, event) != 0 || syntax_error(r);
}

/* Copies a subtree against the budget. */
static bool copy(struct reader *r, const struct qs_node *from, struct qs_node *to, unsigned depth)
{
    size_t n = from->text != NULL ? strlen(from->text) : 0;
    if (!qs_doc_charge(r->b, r->line, r->column, depth, n))
        return false;
    *to = (struct qs_node){
        .kind = from->kind, .quoted = from->quoted, .line = from->line, .column = from->column};
    to->text = qs_strdup(from->text);
    for (size_t i = 0; i < from->count; i++) {
        struct qs_node *key = NULL;
        struct qs_node *item = from->keys != NULL ? qs_node_add_pair(to, &key) : qs_node_add(to);
        if (key != NULL && !copy(r, &from->keys[i], key, depth))
            return false;
        if (!copy(r, &from->items[i], item, depth + 1))
            return false;
    }
    return true;
}

static bool keep_anchor(struct reader *r, const char *name, const struct qs_node *node, unsigned depth)
{
    if (r->anchor_count >= ANCHORS_MAX) {
        qs_problems_add(r->b->problems, r->b->doc, node, NULL, NULL, "more than %d anchors", ANCHORS_MAX);
        return false;
    }
    r->anchors = qs_grow(r->anchors, r->anchor_count, sizeof(*r->anchors));
    struct anchor *a = &r->anchors[r->anchor_count++];
    *a = (struct anchor){.name = qs_strdup(name)};
    r->line = node->line;
    r->column = node->column;
    return copy(r, node, &a->node, depth);
}

static bool read_alias(struct reader *r, const yaml_event_t *event, struct qs_node *node, unsigned depth)
{
    const char *name = (const char *)event->data.alias.anchor;
    r->line = node->line;
    r->column = node->column;
    for (size_t i = r->anchor_count; i > 0; i--)
        if (strcmp(r->anchors[i - 1].name, name) == 0)
            return copy(r, &r->anchors[i - 1].node, node, depth);
    qs_problems_add_at(r->b->problems, r->b->doc, mark_line(&event->start_mark),
                       mark_column(&event->start_mark), NULL,
                       "an alias stands for a value that is complete before it",
                       "there is no complete anchor `&%s` before this", name);
    return false;
}

static bool is_null(const char *s)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(s, words[i]) == 0)
            return true;
    return false;
}

/* A tag other than !!str would ask for the very guessing that this reader refuses. */
static bool check_tag(struct reader *r, const yaml_char_t *tag, const yaml_mark_t *at)
{
    if (tag == NULL || strcmp((const char *)tag, "!") == 0 || strcmp((const char *)tag, YAML_STR_TAG) == 0)
        return true;
    return fail(r, at, "leave the tag out: the key decides the type", "tags are not supported");
}

static bool read_scalar(struct reader *r, const yaml_event_t *event, struct qs_node *node, unsigned depth)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t n = event->data.scalar.length;
    if (!check_tag(r, event->data.scalar.tag, &event->start_mark) ||
        !qs_doc_charge(r->b, node->line, node->column, depth, n))
        return false;
    if (strlen(text) != n)
        return fail(r, &event->start_mark, NULL, "text with a NUL character in it");
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || event->data.scalar.tag != NULL;
    node->kind = !node->quoted && is_null(text) ? QS_NODE_NULL : QS_NODE_TEXT;
    node->text = node->kind == QS_NODE_TEXT ? qs_strndup(text, n) : NULL;
    return true;
}

static bool read_node(struct reader *r, yaml_event_t *event, struct qs_node *node, unsigned depth);

static bool read_list(struct reader *r, struct qs_node *node, unsigned depth)
{
    node->kind = QS_NODE_LIST;
    for (;;) {
        yaml_event_t event;
        if (!next(r, &event))
            return false;
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        bool ok = end || read_node(r, &event, qs_node_add(node), depth + 1);
        yaml_event_delete(&event);
        if (end || !ok)
            return ok;
    }
}

static bool check_key(struct reader *r, const struct qs_node *map, struct qs_node *key)
{
    struct qs_doc_build *b = r->b;
    if (key->kind == QS_NODE_NULL) { /* `null:` and `~:` are words here */
        key->kind = QS_NODE_TEXT;
        key->text = qs_strdup("null");
    }
    if (key->kind != QS_NODE_TEXT) {
        qs_problems_add(b->problems, b->doc, key, NULL, "text with braces or brackets needs quotes",
                        "a key is text");
        return false;
    }
    if (!key->quoted && strcmp(key->text, "<<") == 0) {
        qs_problems_add(
            b->problems, b->doc, key, NULL, "write the keys out, or use an alias as the whole value of a key",
            "merge keys (`<<`) are not supported: a file should show what it says where it says it");
        return false;
    }
    const struct qs_node *first = NULL;
    if (map->count > QS_DOC_KEYS) {
        qs_problems_add(b->problems, b->doc, key, NULL, NULL, "more than %d keys in one map", QS_DOC_KEYS);
        return false;
    }
    for (size_t i = 0; i + 1 < map->count && first == NULL; i++)
        if (strcmp(map->keys[i].text, key->text) == 0)
            first = &map->keys[i];
    if (first != NULL)
        qs_problems_add(b->problems, b->doc, key, NULL, "keep one of the two",
                        "the key `%.80s` appears twice (first on line %u)", key->text, first->line);
    return first == NULL;
}

static bool read_pair(struct reader *r, yaml_event_t *event, struct qs_node *map, unsigned depth)
{
    struct qs_node *key = NULL;
    struct qs_node *item = qs_node_add_pair(map, &key);
    if (!read_node(r, event, key, depth + 1) || !check_key(r, map, key))
        return false;
    yaml_event_t value;
    if (!next(r, &value))
        return false;
    bool ok = read_node(r, &value, item, depth + 1);
    yaml_event_delete(&value);
    return ok;
}

static bool read_map(struct reader *r, struct qs_node *node, unsigned depth)
{
    node->kind = QS_NODE_MAP;
    for (;;) {
        yaml_event_t event;
        if (!next(r, &event))
            return false;
        bool end = event.type == YAML_MAPPING_END_EVENT;
        bool ok = end || read_pair(r, &event, node, depth);
        yaml_event_delete(&event);
        if (end || !ok)
            return ok;
    }
}

static bool read_node(struct reader *r, yaml_event_t *event, struct qs_node *node, unsigned depth)
{
    node->line = mark_line(&event->start_mark);
    node->column = mark_column(&event->start_mark);
    if (event->type == YAML_ALIAS_EVENT)
        return read_alias(r, event, node, depth);
    const yaml_char_t *anchor = NULL;
    bool ok = false;
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        ok = read_scalar(r, event, node, depth);
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        ok = check_tag(r, event->data.sequence_start.tag, &event->start_mark) &&
             qs_doc_charge(r->b, node->line, node->column, depth, 0) && read_list(r, node, depth);
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        ok = check_tag(r, event->data.mapping_start.tag, &event->start_mark) &&
             qs_doc_charge(r->b, node->line, node->column, depth, 0) && read_map(r, node, depth);
    }
    return ok && (anchor == NULL || keep_anchor(r, (const char *)anchor, node, depth));
}

/* Stream start, document start, one node, document end, stream end. */
static bool read_stream(struct reader *r)
{
    bool seen = false;
    for (;;) {
        yaml_event_t event;
        if (!next(r, &event))
            return false;
        yaml_event_type_t type = event.type;
        bool ok = true;
        if (type == YAML_DOCUMENT_START_EVENT && seen)
            ok = fail(r, &event.start_mark, "one file holds one document", "a second document begins here");
        else if (type == YAML_SCALAR_EVENT || type == YAML_SEQUENCE_START_EVENT ||
                 type == YAML_MAPPING_START_EVENT || type == YAML_ALIAS_EVENT)
            ok = seen = read_node(r, &event, &r->b->doc->root, 0);
        yaml_event_delete(&event);
        if (!ok || type == YAML_STREAM_END_EVENT)
            return ok;
    }
}

/* Behind what libyaml takes for the end of a line: LF, CR, NEL, LS, PS. */
static bool begins_line(const char *text, const char *at)
{
    static const char *const ends[] = {"\n", "\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t len = strlen(ends[i]);
        if ((size_t)(at - text) >= len && memcmp(at - len, ends[i], len) == 0)
            return true;
    }
    return at == text;
}

/* libyaml compares each %TAG with all before it, before it says anything: they are refused first. */
static bool has_no_tags(struct qs_doc_build *b)
{
    const char *text = b->doc->source, *at = strstr(text, "%TAG");
    unsigned line = 1;
    while (at != NULL && !begins_line(text, at))
        at = strstr(at + 1, "%TAG");
    for (const char *s = text; at != NULL && s < at; s++)
        line += *s == '\n' ? 1 : 0;
    if (at != NULL)
        qs_problems_add_at(b->problems, b->doc, line, 1, NULL, "leave the tag out: the key decides the type",
                           "tags are not supported");
    return at == NULL;
}

bool qs_doc_read_yaml(struct qs_doc_build *b, const char *text, size_t len)
{
    struct reader r = {.b = b};
    if (!has_no_tags(b))
        return false;
    if (!yaml_parser_initialize(&r.parser)) {
        qs_problems_add_at(b->problems, NULL, 0, 0, NULL, NULL, "no memory for the YAML reader");
        return false;
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    b->doc->root.kind = QS_NODE_NULL;
    bool ok = read_stream(&r);
    if (ok && b->doc->root.kind == QS_NODE_NULL) {
        qs_problems_add_at(b->problems, NULL, 0, 0, NULL, NULL, "the document is empty");
        ok = false;
    }
    yaml_parser_delete(&r.parser);
    for (size_t i = 0; i < r.anchor_count; i++) {
        free(r.anchors[i].name);
        qs_node_done(&r.anchors[i].node);
    }
    free(r.anchors);
    return ok;
}
