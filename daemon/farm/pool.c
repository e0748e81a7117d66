#include "farm/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct qs_pool *qs_pool_new(const char *where)
{
    struct qs_pool *pool = qs_calloc(1, sizeof *pool);
    struct qs_selector_why why;
    pool->where = qs_strdup(where);
    if (where)
        (void)qs_selector_parse(where, &pool->selector, &why);
    return pool;
}

static void forget(struct qs_queue_device *device, const struct qs_pool *pool)
{
    size_t i = 0;
    while (i < device->pool_count && device->pools[i] != pool)
        i++;
    assert(i < device->pool_count);
    device->pools[i] = device->pools[--device->pool_count];
}

void qs_pool_free(struct qs_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        forget(pool->devices[i], pool);
    qs_selector_free(pool->selector);
    free(pool->devices);
    free(pool->where);
    free(pool);
}

static size_t index_of(const struct qs_pool *pool, const struct qs_queue_device *device)
{
    size_t low = 0, high = pool->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pool->devices[middle]->order < device->order)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void qs_pool_offer(struct qs_pool *pool, struct qs_queue_device *device, qs_selector_fact_fn *fact)
{
    if (pool->where && !(pool->selector && qs_selector_match(pool->selector, fact, device->owner)))
        return;
    size_t at = index_of(pool, device);
    pool->devices = qs_grow(pool->devices, pool->count, sizeof(struct qs_queue_device *));
    memmove(&pool->devices[at + 1], &pool->devices[at],
            (pool->count - at) * sizeof(struct qs_queue_device *));
    pool->devices[at] = device;
    pool->count++;
    device->pools = qs_grow(device->pools, device->pool_count, sizeof(struct qs_pool *));
    device->pools[device->pool_count++] = pool;
}

void qs_pool_drop(struct qs_pool *pool, const struct qs_queue_device *device)
{
    size_t at = index_of(pool, device);
    assert(at < pool->count && pool->devices[at] == device);
    pool->count--;
    memmove(&pool->devices[at], &pool->devices[at + 1],
            (pool->count - at) * sizeof(struct qs_queue_device *));
    pool->from = 0;
}

void qs_pool_enter(struct qs_pool *pool, struct qs_queue_job *job)
{
    assert(!job->pool);
    job->pool = pool;
    job->before = pool->last;
    job->after = NULL;
    *(pool->last ? &pool->last->after : &pool->first) = job;
    pool->last = job;
}

void qs_pool_leave(struct qs_queue_job *job)
{
    struct qs_pool *pool = job->pool;
    assert(pool);
    *(job->before ? &job->before->after : &pool->first) = job->after;
    *(job->after ? &job->after->before : &pool->last) = job->before;
    job->pool = NULL;
}

static void place(struct qs_claim *claim)
{
    struct qs_claim *before = NULL, *after = claim->device->claims;
    while (after && after->job->order < claim->job->order) {
        before = after;
        after = after->after;
    }
    claim->before = before;
    claim->after = after;
    *(before ? &before->after : &claim->device->claims) = claim;
    if (after)
        after->before = claim;
}

static void take_out(struct qs_claim *claim)
{
    *(claim->before ? &claim->before->after : &claim->device->claims) = claim->after;
    if (claim->after)
        claim->after->before = claim->before;
}

void qs_claim_new(struct qs_queue_job *job, struct qs_queue_device *device)
{
    struct qs_claim *claim = qs_calloc(1, sizeof *claim);
    *claim = (struct qs_claim){.job = job, .device = device, .later = job->claims};
    if (job->claims)
        job->claims->sooner = claim;
    job->claims = claim;
    place(claim);
}

void qs_claim_move(struct qs_claim *claim)
{
    take_out(claim);
    place(claim);
}

void qs_claim_free(struct qs_claim *claim)
{
    take_out(claim);
    *(claim->sooner ? &claim->sooner->later : &claim->job->claims) = claim->later;
    if (claim->later)
        claim->later->sooner = claim->sooner;
    free(claim);
}
