#include "store/ids.h"

#include <stdlib.h>

#include "base/mem.h"

enum { PLACES_LEAST = 64 };

/* Where the number is, or would be. */
static size_t place_of(const struct qs_ids *ids, int64_t id)
{
    uint64_t mixed = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(mixed >> 32) & (ids->places - 1);
    while (ids->at[at] != 0 && ids->at[at] != id)
        at = (at + 1) & (ids->places - 1);
    return at;
}

static void grow(struct qs_ids *ids)
{
    struct qs_ids more = {.places = ids->places > 0 ? 2 * ids->places : PLACES_LEAST, .count = ids->count};
    more.at = qs_calloc(more.places, sizeof *more.at);
    for (size_t i = 0; i < ids->places; i++)
        if (ids->at[i] != 0)
            more.at[place_of(&more, ids->at[i])] = ids->at[i];
    free(ids->at);
    *ids = more;
}

bool qs_ids_add(struct qs_ids *ids, int64_t id)
{
    if (2 * ids->count >= ids->places)
        grow(ids);
    size_t at = place_of(ids, id);
    bool is_new = ids->at[at] == 0;
    ids->at[at] = id;
    ids->count += is_new;
    return is_new;
}

void qs_ids_done(struct qs_ids *ids)
{
    free(ids->at);
    *ids = (struct qs_ids){0};
}
