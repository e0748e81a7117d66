/* Which pushed files are there, and which one goes when room is needed: the least recently used of those that
 * no session holds. Pure. */
#ifndef QS_AGENT_CORE_CACHE_H
#define QS_AGENT_CORE_CACHE_H

#include "core/port_files.h"

enum { QS_CACHE_FILES_MAX = 1024 };

/* What the cache takes where nobody says less, and the share of the file system that stays free. */
#define QS_CACHE_MOST_BYTES (UINT64_C(8) << 30)
enum { QS_CACHE_RESERVE_SHARE = 32 };
#define QS_CACHE_RESERVE_MAX_BYTES (UINT64_C(256) << 20)

struct qs_cache_item {
    struct qs_port_key key;
    uint64_t bytes;
    int64_t stamp; /* of the port, when the content was last known to be right */
    uint64_t used; /* the higher the later */
    bool verified; /* the content was right in this life of the agent */
    bool held;     /* by the session: it stays */
};

struct qs_cache {
    uint64_t bytes; /* of all items */
    uint64_t ticks; /* the highest `used` */
    size_t count;
    struct qs_cache_item items[QS_CACHE_FILES_MAX];
};

/* The room that there is. */
struct qs_cache_room {
    uint64_t free_bytes, reserve_bytes, most_bytes;
};

/* Of a file system of total_bytes, free_bytes of them free; most_bytes 0: QS_CACHE_MOST_BYTES. */
struct qs_cache_room qs_cache_room_of(uint64_t free_bytes, uint64_t total_bytes, uint64_t most_bytes);

void qs_cache_init(struct qs_cache *cache);
/* Pointers to items are valid until the next add or remove. NULL: not there. */
struct qs_cache_item *qs_cache_find(struct qs_cache *cache, const struct qs_port_key *key);
/* As the latest, not held, not verified. NULL: QS_CACHE_FILES_MAX are there. */
struct qs_cache_item *qs_cache_add(struct qs_cache *cache, const struct qs_port_key *key, uint64_t bytes);
/* What an earlier life has kept: its `used` is taken over. */
struct qs_cache_item *qs_cache_recall(struct qs_cache *cache, const struct qs_port_item *item);
void qs_cache_remove(struct qs_cache *cache, struct qs_cache_item *item);
void qs_cache_hold(struct qs_cache *cache, struct qs_cache_item *item); /* used now, and stays */
void qs_cache_release(struct qs_cache *cache);                          /* nothing is held any more */

/* Is there room for one more of so many bytes? If not: could there be, were all that is not held to go? */
bool qs_cache_fits(const struct qs_cache *cache, const struct qs_cache_room *room, uint64_t bytes);
bool qs_cache_could_fit(const struct qs_cache *cache, const struct qs_cache_room *room, uint64_t bytes);
uint64_t qs_cache_loose_bytes(const struct qs_cache *cache); /* not held */
/* The next to go; NULL: all are held. */
struct qs_cache_item *qs_cache_victim(struct qs_cache *cache);

#endif
