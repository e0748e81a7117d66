/* Allocation that cannot return NULL: out of memory ends the program with one line on stderr. Sizes that a
 * peer can influence are bounded before they come here. */
#ifndef QS_BASE_MEM_H
#define QS_BASE_MEM_H

#include <stddef.h>

#include "base/scope.h"

void *qs_malloc(size_t bytes);               /* bytes == 0 gives a unique pointer */
void *qs_calloc(size_t count, size_t bytes); /* zeroed; overflow of count * bytes ends the program */
void *qs_realloc(void *old, size_t bytes);
/* Room for one more item behind the `count` of a list that grows one by one: it has room for eight, then for
 * the power of two at or above its count, and no number for that. NULL and 0 begin one. Returns where the
 * list is now. */
void *qs_grow(void *list, size_t count, size_t item_bytes);
char *qs_strdup(const char *s); /* NULL gives NULL */
char *qs_strndup(const char *s, size_t n);
char *qs_asprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
