/* The less and the greater of two counts. */
#ifndef QS_STATS_PICK_H
#define QS_STATS_PICK_H

#include <stddef.h>

static inline size_t qs_less(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t qs_more(size_t a, size_t b)
{
    return a < b ? b : a;
}

#endif
