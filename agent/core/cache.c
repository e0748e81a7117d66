#include "core/cache.h"

#include <string.h>

struct qs_cache_room qs_cache_room_of(uint64_t free_bytes, uint64_t total_bytes, uint64_t most_bytes)
{
    uint64_t reserve = total_bytes / QS_CACHE_RESERVE_SHARE;
    return (struct qs_cache_room){
        .free_bytes = free_bytes,
        .reserve_bytes = reserve < QS_CACHE_RESERVE_MAX_BYTES ? reserve : QS_CACHE_RESERVE_MAX_BYTES,
        .most_bytes = most_bytes != 0 ? most_bytes : QS_CACHE_MOST_BYTES};
}

void qs_cache_init(struct qs_cache *cache)
{
    cache->bytes = cache->ticks = 0;
    cache->count = 0;
}

struct qs_cache_item *qs_cache_find(struct qs_cache *cache, const struct qs_port_key *key)
{
    for (size_t i = 0; i < cache->count; i++) {
        struct qs_cache_item *item = &cache->items[i];
        if (item->key.executable == key->executable &&
            memcmp(item->key.sha256, key->sha256, sizeof key->sha256) == 0) {
            return item;
        }
    }
    return NULL;
}

static struct qs_cache_item *append(struct qs_cache *cache, const struct qs_port_key *key, uint64_t bytes)
{
    if (cache->count == QS_CACHE_FILES_MAX) {
        return NULL;
    }
    struct qs_cache_item *item = &cache->items[cache->count++];
    *item = (struct qs_cache_item){.key = *key, .bytes = bytes};
    cache->bytes += bytes;
    return item;
}

struct qs_cache_item *qs_cache_add(struct qs_cache *cache, const struct qs_port_key *key, uint64_t bytes)
{
    struct qs_cache_item *item = append(cache, key, bytes);
    if (item) {
        item->used = ++cache->ticks;
    }
    return item;
}

struct qs_cache_item *qs_cache_recall(struct qs_cache *cache, const struct qs_port_item *known)
{
    struct qs_cache_item *item = append(cache, &known->key, known->bytes);
    if (item) {
        item->used = known->used_ns > 0 ? (uint64_t)known->used_ns : 0;
        cache->ticks = item->used > cache->ticks ? item->used : cache->ticks;
    }
    return item;
}

void qs_cache_remove(struct qs_cache *cache, struct qs_cache_item *item)
{
    cache->bytes -= item->bytes;
    *item = cache->items[--cache->count];
}

void qs_cache_hold(struct qs_cache *cache, struct qs_cache_item *item)
{
    item->used = ++cache->ticks;
    item->held = true;
}

void qs_cache_release(struct qs_cache *cache)
{
    for (size_t i = 0; i < cache->count; i++) {
        cache->items[i].held = false;
    }
}

static bool has_room(uint64_t cache_bytes, uint64_t free_bytes, const struct qs_cache_room *room,
                     uint64_t bytes)
{
    return cache_bytes <= room->most_bytes && bytes <= room->most_bytes - cache_bytes &&
           free_bytes >= room->reserve_bytes && bytes <= free_bytes - room->reserve_bytes;
}

bool qs_cache_fits(const struct qs_cache *cache, const struct qs_cache_room *room, uint64_t bytes)
{
    return cache->count < QS_CACHE_FILES_MAX && has_room(cache->bytes, room->free_bytes, room, bytes);
}

bool qs_cache_could_fit(const struct qs_cache *cache, const struct qs_cache_room *room, uint64_t bytes)
{
    size_t held = 0;
    uint64_t loose = qs_cache_loose_bytes(cache);
    for (size_t i = 0; i < cache->count; i++) {
        held += cache->items[i].held;
    }
    return held < QS_CACHE_FILES_MAX && has_room(cache->bytes - loose, room->free_bytes + loose, room, bytes);
}

uint64_t qs_cache_loose_bytes(const struct qs_cache *cache)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < cache->count; i++) {
        sum += cache->items[i].held ? 0 : cache->items[i].bytes;
    }
    return sum;
}

struct qs_cache_item *qs_cache_victim(struct qs_cache *cache)
{
    struct qs_cache_item *oldest = NULL;
    for (size_t i = 0; i < cache->count; i++) {
        struct qs_cache_item *item = &cache->items[i];
        if (!item->held && (!oldest || item->used < oldest->used)) {
            oldest = item;
        }
    }
    return oldest;
}
