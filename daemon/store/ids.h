/* Numbers of rows that were met. Internal to store. */
#ifndef QS_STORE_IDS_H
#define QS_STORE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qs_ids {  /* begin with {0} */
    int64_t *at; /* owned: a power of two of places, 0 in those that are free */
    size_t places, count;
};

/* True where it was not there before; id is not 0. */
bool qs_ids_add(struct qs_ids *ids, int64_t id);
void qs_ids_done(struct qs_ids *ids);

#endif
