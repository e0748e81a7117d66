/* Private to config: what the two readers of documents share. Every node and every byte of text is charged to
 * one budget before it is kept, so that aliases cannot multiply a small file into a large tree. */
#ifndef QS_CONFIG_DOCUMENT_DOC_BUILD_H
#define QS_CONFIG_DOCUMENT_DOC_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "config/document/doc.h"

struct qs_doc_build {
    struct qs_doc *doc;           /* borrowed; root is filled by the reader */
    struct qs_problems *problems; /* borrowed */
    size_t nodes;                 /* charged so far, at most QS_DOC_NODES */
    size_t bytes, most_bytes;     /* of text charged so far, and at most */
};

/* Charges one node with n bytes of text at this place and depth (the root has depth 0). False, with a located
 * problem, where a limit is passed: the reader gives up. */
bool qs_doc_charge(struct qs_doc_build *b, unsigned line, unsigned column, unsigned depth, size_t n);

/* Appends a zeroed item to a list, or a key with its value to a map (ret_key). Pointers from earlier calls
 * are invalid then. */
struct qs_node *qs_node_add(struct qs_node *list);
struct qs_node *qs_node_add_pair(struct qs_node *map, struct qs_node **ret_key);
void qs_node_done(struct qs_node *node);
/* Adds one step to the path of a node for messages: "plan.window.max", "benchmarks[2].argv". */
void qs_path_key(struct qs_buf *path, const char *key);
void qs_path_index(struct qs_buf *path, size_t i);

/* The whole text into b->doc->root. False with problems. */
bool qs_doc_read_yaml(struct qs_doc_build *b, const char *text, size_t len);
bool qs_doc_read_json(struct qs_doc_build *b, const char *text, size_t len);

#endif
