/* What the core asks of a port for files that are pushed to the device: a cache of contents by their hash,
 * and directories in which they are laid out. Included by port.h, whose rules hold. The core decides what is
 * kept and what goes (cache.h); the port only does it. */
#ifndef QS_AGENT_CORE_PORT_FILES_H
#define QS_AGENT_CORE_PORT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/auth.h"

struct qs_port_fault;

struct qs_port_key { /* the same bytes with and without the right to execute them are two */
    uint8_t sha256[QS_SHA256_BYTES];
    bool executable;
};

struct qs_port_item {
    struct qs_port_key key;
    uint64_t bytes;
    int64_t used_ns; /* when it was last used, by any clock that orders the items */
};

/* All mandatory; ctx is the port's. `fault` is filled in where false comes back; fault->code is ENOSPC's
 * number where it is room that lacks. */
struct qs_port_files {
    /* At creation: what an earlier life has kept, one after the other; false behind the last. */
    bool (*next)(void *ctx, struct qs_port_item *item);
    /* What may still be written, and the size of the file system. False: not known. */
    bool (*space)(void *ctx, uint64_t *free_bytes, uint64_t *total_bytes);
    /* An item's present size and a stamp that changes when somebody writes into it. False: it is gone. */
    bool (*look)(void *ctx, const struct qs_port_key *key, uint64_t *bytes, int64_t *stamp);
    /* The hash of its present content. */
    bool (*sum)(void *ctx, const struct qs_port_key *key, uint8_t sha256[QS_SHA256_BYTES]);
    void (*used)(void *ctx, const struct qs_port_key *key); /* now: remembered for `next` */
    void (*remove)(void *ctx, const struct qs_port_key *key);

    /* One new item at a time: begun, written, and kept (on disk, then under its name) or discarded. */
    bool (*create)(void *ctx, struct qs_port_fault *fault);
    bool (*write)(void *ctx, const void *bytes, size_t n, struct qs_port_fault *fault);
    bool (*keep)(void *ctx, const struct qs_port_key *key, struct qs_port_fault *fault);
    void (*discard)(void *ctx); /* nothing happens where none is begun */

    /* An item under `name` (relative, without "." and "..") in the directory `dir`, both made where they are
     * missing; path: the directory's, absolute. clear removes all directories with whatever is in them and
     * tells how many bytes that freed. */
    bool (*place)(void *ctx, uint16_t dir, const char *name, const struct qs_port_key *key,
                  struct qs_port_fault *fault);
    void (*path)(void *ctx, uint16_t dir, char *text, size_t cap);
    uint64_t (*clear)(void *ctx);
};

#endif
