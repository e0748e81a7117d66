/* Files that the user names. */
#ifndef QS_CTL_TEXT_FILE_H
#define QS_CTL_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends the whole of a file ("-": standard input) to text. QS_E_USAGE where it cannot be read, QS_E_LIMIT
 * where it is longer than most_bytes. */
bool qs_read_text(const char *path, size_t most_bytes, struct qs_buf *text, struct qs_err *err);

/* Whether qs_write_text could write there now; nothing stays. False: QS_E_USAGE. */
bool qs_may_write(const char *path, struct qs_err *err);

/* Writes n bytes as the whole of a file, with the caller's umask. A regular file, or one that is not there
 * yet, is written as PATH.part and renamed when it is whole: an error (QS_E_IO) leaves what was there.
 * Anything else, a terminal or a pipe, is written as it is. */
bool qs_write_text(const char *path, const char *text, size_t n, struct qs_err *err);

/* Writes it as a new file: where there is something already, QS_E_USAGE, and nothing is written. */
bool qs_create_text(const char *path, const char *text, size_t n, struct qs_err *err);
/* Whether qs_create_text could do so now; nothing stays. False: QS_E_USAGE. */
bool qs_may_create(const char *path, struct qs_err *err);

#endif
