#include "farm/inventory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct slot {
    struct qs_inventory_item *item; /* NULL: empty */
    uint32_t generation;            /* of its item, or of the last one */
    uint32_t next_empty;            /* of an empty one; its number + 1, 0 = none */
};

struct qs_inventory {
    struct slot *slots;                /* owned */
    struct qs_inventory_item **sorted; /* owned: by serial, then port path */
    size_t slot_count, count;
    uint32_t empty; /* + 1, 0 = none */
    struct qs_inventory_item *first, *last;
};

struct qs_inventory *qs_inventory_new(void)
{
    return qs_calloc(1, sizeof(struct qs_inventory));
}

static void item_free(struct qs_inventory_item *item)
{
    free(item->serial);
    free(item->port_path);
    free(item);
}

void qs_inventory_free(struct qs_inventory *inv)
{
    if (!inv)
        return;
    for (size_t i = 0; i < inv->count; i++)
        item_free(inv->sorted[i]);
    free(inv->sorted);
    free(inv->slots);
    free(inv);
}

/* Where it stands, or would stand; before every port of its serial where the port is NULL. */
static size_t place_of(const struct qs_inventory *inv, const char *serial, const char *port_path)
{
    size_t low = 0, high = inv->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct qs_inventory_item *item = inv->sorted[middle];
        int order = strcmp(item->serial, serial);
        if (order < 0 || (order == 0 && port_path && strcmp(item->port_path, port_path) < 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct qs_inventory_item *qs_inventory_find(const struct qs_inventory *inv, const char *serial,
                                            const char *port_path)
{
    size_t at = place_of(inv, serial, port_path);
    struct qs_inventory_item *item = at < inv->count ? inv->sorted[at] : NULL;
    bool same =
        item && strcmp(item->serial, serial) == 0 && (!port_path || strcmp(item->port_path, port_path) == 0);
    return same ? item : NULL;
}

static struct qs_inventory_handle take_slot(struct qs_inventory *inv, struct qs_inventory_item *item)
{
    uint32_t at = inv->empty > 0 ? inv->empty - 1 : (uint32_t)inv->slot_count;
    if (inv->empty > 0) {
        assert(at < inv->slot_count && !inv->slots[at].item);
        inv->empty = inv->slots[at].next_empty;
    } else {
        inv->slots = qs_grow(inv->slots, inv->slot_count, sizeof *inv->slots);
        inv->slots[inv->slot_count++].generation = 0;
    }
    inv->slots[at].item = item;
    return (struct qs_inventory_handle){.slot = at, .generation = ++inv->slots[at].generation};
}

struct qs_inventory_item *qs_inventory_add(struct qs_inventory *inv, const char *serial,
                                           const char *port_path, struct qs_err *err)
{
    if (qs_inventory_find(inv, serial, port_path)) {
        qs_fail(err, QS_E_CONFLICT, "the farm already has a device `%s`%s%s", serial,
                port_path[0] ? " at " : "", port_path);
        return NULL;
    }
    inv->sorted = qs_grow(inv->sorted, inv->count, sizeof(struct qs_inventory_item *));
    struct qs_inventory_item *item = qs_calloc(1, sizeof *item);
    item->serial = qs_strdup(serial);
    item->port_path = qs_strdup(port_path);
    item->handle = take_slot(inv, item);
    item->prev = inv->last;
    *(inv->last ? &inv->last->next : &inv->first) = item;
    inv->last = item;
    size_t at = place_of(inv, serial, port_path);
    memmove(&inv->sorted[at + 1], &inv->sorted[at], (inv->count - at) * sizeof(struct qs_inventory_item *));
    inv->sorted[at] = item;
    inv->count++;
    return item;
}

void qs_inventory_remove(struct qs_inventory *inv, struct qs_inventory_item *item)
{
    size_t at = place_of(inv, item->serial, item->port_path);
    struct slot *slot = &inv->slots[item->handle.slot];
    assert(at < inv->count && inv->sorted[at] == item && slot->item == item);
    inv->count--;
    memmove(&inv->sorted[at], &inv->sorted[at + 1], (inv->count - at) * sizeof(struct qs_inventory_item *));
    *(item->prev ? &item->prev->next : &inv->first) = item->next;
    *(item->next ? &item->next->prev : &inv->last) = item->prev;
    slot->item = NULL;
    slot->next_empty = inv->empty;
    inv->empty = item->handle.slot + 1;
    item_free(item);
}

struct qs_inventory_item *qs_inventory_at(const struct qs_inventory *inv, struct qs_inventory_handle handle)
{
    if (handle.slot >= inv->slot_count || inv->slots[handle.slot].generation != handle.generation)
        return NULL;
    return inv->slots[handle.slot].item;
}

struct qs_inventory_item *qs_inventory_first(const struct qs_inventory *inv)
{
    return inv->first;
}

size_t qs_inventory_count(const struct qs_inventory *inv)
{
    return inv->count;
}
