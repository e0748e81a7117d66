/* Private to config: a command line into words as a shell would split it, to show a person the list to write.
 */
#ifndef QS_CONFIG_JOB_WORDS_H
#define QS_CONFIG_JOB_WORDS_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends the words of `line` as a flow list: [gzip, -1, "a b"]. False, with nothing appended, where only a
 * shell could split it: unquoted metacharacters (|&;<>()$`*?~#!{}[] and newlines) or an open quote. */
bool qs_words_as_list(const char *line, struct qs_buf *out);

#endif
