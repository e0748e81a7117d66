/* Shared by the reads. Internal to store. */
#ifndef QS_STORE_READ_UTIL_H
#define QS_STORE_READ_UTIL_H

#include <stddef.h>

#include "base/mem.h"
#include "store/rows.h"

/* Room for one more item of `size_bytes` behind `count`, growing by powers of two. */
static inline void *qs_read_grow(void *at, size_t count, size_t size_bytes)
{
    return (count & (count - 1)) == 0 ? qs_realloc(at, (count ? count * 2 : 1) * size_bytes) : at;
}

enum qs_run_state qs_read_run_state(const char *name);

#endif
