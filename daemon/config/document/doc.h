/* A document: YAML (libyaml) or JSON (jansson) read into one tree of maps, lists and text. Scalars stay text
 * until a schema types them, so that YAML 1.1's `no`, `1:30`, `0777` and `1e3` mean what a person thinks. */
#ifndef QS_CONFIG_DOCUMENT_DOC_H
#define QS_CONFIG_DOCUMENT_DOC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Limits on what a hostile document can cost: depth, nodes after alias expansion, keys of one map,
 * bytes (of the file, and of all text after alias expansion). */
enum { QS_DOC_DEPTH = 32, QS_DOC_NODES = 100000, QS_DOC_KEYS = 2048, QS_DOC_BYTES = 4 * 1024 * 1024 };

enum qs_node_kind { QS_NODE_TEXT, QS_NODE_LIST, QS_NODE_MAP, QS_NODE_NULL };

struct qs_node {
    enum qs_node_kind kind;
    bool quoted;           /* text in quotes: a string even if it looks like a number */
    char *text;            /* TEXT: owned */
    unsigned line, column; /* 1-based, columns in characters */
    size_t count;
    struct qs_node *items; /* LIST: count items; MAP: count values */
    struct qs_node *keys;  /* MAP: count keys (TEXT) */
};

struct qs_doc {
    char *name; /* as in messages: the file's name, "-" or "request" */
    bool json;
    struct qs_node root;
    char *source; /* owned copy of the text, for quoting lines */
};

/* One thing wrong in a document. */
struct qs_problem {
    unsigned line, column; /* 0 = unknown */
    char *path;            /* "plan.window.max" */
    char *what;            /* "`20` has no unit: write 20s, 20ms or 20min" */
    char *suggestion;      /* "did you mean `plan`?", or NULL */
    char *quote;    /* the source line (long ones: the part around the place; control characters escaped), or
                       NULL */
    unsigned caret; /* 0-based: the place in `quote`, in characters */
};

struct qs_problems {
    struct qs_problem *at; /* owned, in order of place */
    size_t count;          /* at most QS_PROBLEMS_MAX are kept */
    size_t more;           /* how many were found beyond them */
};
enum { QS_PROBLEMS_MAX = 20 };

void qs_problems_init(struct qs_problems *p);
void qs_problems_done(struct qs_problems *p);
/* Text that is quoted in a message belongs between backticks. doc, at, path and suggestion may be NULL; all
 * text is copied. */
void qs_problems_add(struct qs_problems *p, const struct qs_doc *doc, const struct qs_node *at,
                     const char *path, const char *suggestion, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* As qs_problems_add, at a place that no node stands for: line and column 1-based, 0 = unknown. */
void qs_problems_add_at(struct qs_problems *p, const struct qs_doc *doc, unsigned line, unsigned column,
                        const char *path, const char *suggestion, const char *fmt, ...)
    __attribute__((format(printf, 7, 8)));
/* `file:line:col: path: what` + the quoted line with a caret + the suggestion; one block per problem. */
void qs_problems_text(const struct qs_problems *p, const char *file, struct qs_buf *out);

/* The value of a key, or NULL; ret_key (may be NULL) gets the key's node. `map` may be NULL or not a map:
 * NULL then. */
const struct qs_node *qs_node_get(const struct qs_node *map, const char *key, const struct qs_node **ret_key);

/* Reads text as YAML, or as JSON where its first non-blank byte is '{' (`json` forces it). Syntax errors,
 * duplicate keys, depth, alias bombs: located in `problems`; false then. `name` is copied. */
bool qs_doc_read(const char *name, const char *text, size_t len, bool json, struct qs_doc **ret_doc,
                 struct qs_problems *problems);
/* The same of at most so many bytes, and as many of text, in place of QS_DOC_BYTES. */
bool qs_doc_read_most(const char *name, const char *text, size_t len, size_t most_bytes, bool json,
                      struct qs_doc **ret_doc, struct qs_problems *problems);
void qs_doc_free(struct qs_doc *doc); /* NULL: nothing */
QS_RELEASE_AT(qs_doc_free_at, struct qs_doc, qs_doc_free)

#endif
