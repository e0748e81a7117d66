#include "store/write/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { CHUNK_BYTES = 1024 };

struct qs_chunk {
    struct qs_chunk *next;
    size_t used, size;
    _Alignas(max_align_t) unsigned char bytes[];
};

static void *arena_get(struct qs_arena *a, size_t bytes)
{
    size_t need = (bytes + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
    struct qs_chunk *c = a->chunks;
    if (!c || c->size - c->used < need) {
        size_t size = need > CHUNK_BYTES ? need : CHUNK_BYTES;
        c = qs_malloc(sizeof *c + size);
        *c = (struct qs_chunk){.next = a->chunks, .size = size};
        a->chunks = c;
    }
    void *p = c->bytes + c->used;
    c->used += need;
    a->bytes += need;
    return p;
}

void qs_arena_done(struct qs_arena *a)
{
    while (a->chunks) {
        struct qs_chunk *c = a->chunks;
        a->chunks = c->next;
        free(c);
    }
}

void *qs_arena_copy(struct qs_arena *a, const void *from, size_t bytes)
{
    void *p = arena_get(a, bytes);
    if (bytes > 0)
        memcpy(p, from, bytes);
    return p;
}

const char *qs_arena_text(struct qs_arena *a, const char *s)
{
    return s ? qs_arena_copy(a, s, strlen(s) + 1) : NULL;
}

struct qs_request *qs_request_new(qs_apply_fn *apply, qs_store_done_fn *done, void *user)
{
    struct qs_request *req = qs_malloc(sizeof *req);
    *req = (struct qs_request){.apply = apply, .done = done, .user = user};
    return req;
}

void qs_request_free(struct qs_request *req)
{
    qs_arena_done(&req->arena);
    free(req);
}
