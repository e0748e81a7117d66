/* Documents of tests/golden/ctl as the pages that they become. */
#ifndef QS_TESTS_UNIT_CTL_PAGES_H
#define QS_TESTS_UNIT_CTL_PAGES_H

#include <jansson.h>

#include "base/buf.h"
#include "ctl/layout/layout.h"

/* The whole file, to be freed; NULL where there is none. */
char *read_file(const char *path);
/* Compares with the file folder/name; with QS_GOLDEN_WRITE it is written anew before. */
void check_golden(const char *folder, const char *name, const struct qs_buf *got);
struct lines {
    char *text, **at; /* owned; at: into text */
    size_t count;
};
/* Takes the text, which may be NULL. */
struct lines split_lines(char *text);
void lines_done(struct lines *l);
/* What is not the same in both: `- ` before lines that are gone, of more than three their number; `+ ` before
 * those that are new. */
void add_difference(const struct lines *a, const struct lines *b, struct qs_buf *out);
/* The page of whatever kind of document it is. */
void lay_out_any(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);

#endif
