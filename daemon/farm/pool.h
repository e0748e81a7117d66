/* The devices that one selector fits, and the jobs that wait for any of them; and claims, by which a job that
 * has begun wants a device. The queue's lists; who comes first is decided in queue.c. */
#ifndef QS_FARM_POOL_H
#define QS_FARM_POOL_H

#include "farm/queue.h"

struct qs_pool {
    char *where;                      /* owned; NULL: all devices */
    struct qs_selector *selector;     /* owned; NULL where `where` is, or cannot be read: it fits none */
    struct qs_queue_device **devices; /* owned, in order of arrival */
    size_t count;
    size_t from; /* a search begins here: none before was free; what becomes free is offered by itself */
    struct qs_queue_job *first, *last;
    struct qs_pool *next; /* of the queue */
};

struct qs_claim {
    struct qs_queue_job *job;
    struct qs_queue_device *device;
    struct qs_claim *before, *after; /* of the device, in order of the queue */
    struct qs_claim *sooner, *later; /* of the job */
};

static inline bool qs_is_free(const struct qs_queue_device *device)
{
    return device->ready && !device->taken && !device->held;
}

struct qs_pool *qs_pool_new(const char *where);
void qs_pool_free(struct qs_pool *pool); /* its devices forget it */
/* Where its selector fits the device, it comes in, in order of arrival. */
void qs_pool_offer(struct qs_pool *pool, struct qs_queue_device *device, qs_selector_fact_fn *fact);
void qs_pool_drop(struct qs_pool *pool, const struct qs_queue_device *device);
void qs_pool_enter(struct qs_pool *pool, struct qs_queue_job *job); /* as the last */
void qs_pool_leave(struct qs_queue_job *job);

void qs_claim_new(struct qs_queue_job *job, struct qs_queue_device *device);
void qs_claim_move(struct qs_claim *claim); /* its job has another place in the queue */
void qs_claim_free(struct qs_claim *claim);

#endif
