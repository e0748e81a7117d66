/* A growable byte string: always NUL-terminated, so that .data is also a C string. Running out of memory
 * ends the program with one line: bound what comes from a peer before you append it. */
#ifndef QS_BASE_BUF_H
#define QS_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

#include "base/scope.h"

struct qs_buf {
    char *data; /* owned; "" while empty */
    size_t len; /* bytes before the NUL */
    size_t cap;
};

/* Declares an empty buffer that goes with its scope; what qs_buf_take gave away stays. */
#define QS_BUF(name) QS_SCOPED(qs_buf_done) struct qs_buf name = {.data = (char *)""}

void qs_buf_init(struct qs_buf *b);
void qs_buf_done(struct qs_buf *b);
void qs_buf_clear(struct qs_buf *b); /* length 0, memory kept */
void qs_buf_add(struct qs_buf *b, const void *bytes, size_t n);
void qs_buf_str(struct qs_buf *b, const char *s);
void qs_buf_char(struct qs_buf *b, char c);
void qs_buf_fmt(struct qs_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void qs_buf_vfmt(struct qs_buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void qs_buf_drop_front(struct qs_buf *b, size_t n); /* n <= len */
/* Gives the bytes away (free() them); the buffer is empty and usable afterwards. */
char *qs_buf_take(struct qs_buf *b);

#endif
