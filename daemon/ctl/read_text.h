/* Files that the user names. */
#ifndef QS_CTL_READ_TEXT_H
#define QS_CTL_READ_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends the whole of a file ("-": standard input) to text. QS_E_USAGE where it cannot be read, QS_E_LIMIT
 * where it is longer than most_bytes. */
bool qs_read_text(const char *path, size_t most_bytes, struct qs_buf *text, struct qs_err *err);

#endif
