/* Documents of tests/golden/ctl as the pages that they become. */
#ifndef QS_TESTS_UNIT_CTL_PAGES_H
#define QS_TESTS_UNIT_CTL_PAGES_H

#include <jansson.h>

#include "base/buf.h"
#include "ctl/layout.h"

/* The whole file, to be freed; NULL where there is none. */
char *read_file(const char *path);
/* Compares with the file folder/name; with QS_GOLDEN_WRITE it is written anew before. */
void check_golden(const char *folder, const char *name, const struct qs_buf *got);
/* The page of whatever kind of document it is. */
void lay_out_any(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out);

#endif
