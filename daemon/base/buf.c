#include "base/buf.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_BYTES = 64 };

/* cap == 0: data is a string constant that nobody writes to or frees. */
void qs_buf_init(struct qs_buf *b)
{
    b->data = (char *)"";
    b->len = 0;
    b->cap = 0;
}

void qs_buf_done(struct qs_buf *b)
{
    if (b->cap)
        free(b->data);
    qs_buf_init(b);
}

void qs_buf_clear(struct qs_buf *b)
{
    b->len = 0;
    if (b->cap)
        b->data[0] = '\0';
}

/* Room for `more` bytes and the NUL after what is there. */
static void reserve(struct qs_buf *b, size_t more)
{
    if (more > SIZE_MAX / 2 - b->len)
        qs_calloc(SIZE_MAX, SIZE_MAX); /* ends the program */
    size_t need = b->len + more + 1;
    if (need <= b->cap)
        return;
    size_t cap = b->cap ? b->cap : FIRST_BYTES;
    while (cap < need)
        cap *= 2;
    b->data = qs_realloc(b->cap ? b->data : NULL, cap);
    b->cap = cap;
}

void qs_buf_add(struct qs_buf *b, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    reserve(b, n);
    memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void qs_buf_str(struct qs_buf *b, const char *s)
{
    qs_buf_add(b, s, strlen(s));
}

void qs_buf_char(struct qs_buf *b, char c)
{
    qs_buf_add(b, &c, 1);
}

void qs_buf_fmt(struct qs_buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    qs_buf_vfmt(b, fmt, ap);
    va_end(ap);
}

void qs_buf_vfmt(struct qs_buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    reserve(b, 1);
    int n = vsnprintf(b->data + b->len, b->cap - b->len, fmt, ap);
    if (n > 0 && (size_t)n >= b->cap - b->len) {
        reserve(b, (size_t)n);
        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
    }
    if (n > 0)
        b->len += (size_t)n;
    b->data[b->len] = '\0';
    va_end(again);
}

void qs_buf_drop_front(struct qs_buf *b, size_t n)
{
    assert(n <= b->len);
    if (n == 0)
        return;
    memmove(b->data, b->data + n, b->len - n + 1);
    b->len -= n;
}

char *qs_buf_take(struct qs_buf *b)
{
    char *bytes = b->cap ? b->data : qs_strdup("");
    qs_buf_init(b);
    return bytes;
}
