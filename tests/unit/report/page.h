/* Documents as JSON, and the pages that describe them. */
#ifndef QS_TEST_REPORT_PAGE_H
#define QS_TEST_REPORT_PAGE_H

#include <stdbool.h>

#include <jansson.h>

#include "base/buf.h"

extern const char *schema_dir;

/* Fails where it is not JSON, or a number is none. Owned by the caller. */
json_t *page_read(const struct qs_buf *text);
/* "results.0.label"; NULL where there is no such thing. */
const json_t *at(const json_t *doc, const char *path);
const char *text_at(const json_t *doc, const char *path);
/* The row of the array at this path whose text `key` is `name`; fails where there is none. */
const json_t *row_of(const json_t *doc, const char *path, const char *key, const char *name);
double number(const json_t *doc, const char *path); /* fails where there is none */
/* Whether the array at this path has a warning of this code; each has a text. */
bool has_warning(const json_t *doc, const char *path, const char *code);
/* Every field of the document has a row in the page, and the other way round; there are more than `least`. */
void page_check(const json_t *doc, const char *page, size_t least);

#endif
