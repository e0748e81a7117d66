#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *p)
{
    if (!p) {
        fputs("quiesce: out of memory\n", stderr);
        abort();
    }
    return p;
}

void *qs_malloc(size_t bytes)
{
    return or_die(malloc(bytes ? bytes : 1));
}

void *qs_calloc(size_t count, size_t bytes)
{
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total))
        return or_die(NULL);
    return or_die(calloc(1, total ? total : 1));
}

void *qs_realloc(void *old, size_t bytes)
{
    return or_die(realloc(old, bytes ? bytes : 1));
}

void *qs_grow(void *list, size_t count, size_t item_bytes)
{
    enum { FIRST = 8 }; /* most lists are short, and each growth may move all that lies behind them */
    size_t bytes;
    if (list && (count < FIRST || (count & (count - 1)) != 0)) /* not 8, 16, 32, ... */
        return list;
    if (__builtin_mul_overflow(count < FIRST ? FIRST : 2 * count, item_bytes, &bytes))
        return or_die(NULL);
    return qs_realloc(list, bytes);
}

char *qs_strdup(const char *s)
{
    return s ? or_die(strdup(s)) : NULL;
}

char *qs_strndup(const char *s, size_t n)
{
    return s ? or_die(strndup(s, n)) : NULL;
}

char *qs_asprintf(const char *fmt, ...)
{
    char *out = NULL;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&out, fmt, ap);
    va_end(ap);
    return or_die(n < 0 ? NULL : out);
}
