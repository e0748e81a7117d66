#include "farm/queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "farm/pool.h"

/* Something to look at, in order of jobs and then of devices. */
struct look {
    uint64_t order;                 /* of the job that comes first, when this was noted */
    struct qs_queue_device *device; /* is free: for its first candidate */
    struct qs_queue_job *job;       /* looks for a device in its pool, where device is NULL */
};

struct qs_queue {
    qs_selector_fact_fn *fact;
    struct qs_queue_device *first, *last; /* in order of arrival */
    struct qs_pool *pools;                /* owned: those with jobs */
    struct look *looks;                   /* owned: a heap, the first to come on top */
    size_t look_count;
    uint64_t next_device, next_job; /* orders to give out */
    size_t local_taken;
    uint64_t visits;
};

#define NOT_ASKED UINT64_MAX

struct qs_queue *qs_queue_new(qs_selector_fact_fn *fact)
{
    struct qs_queue *q = qs_calloc(1, sizeof *q);
    q->fact = fact;
    return q;
}

void qs_queue_free(struct qs_queue *q)
{
    if (!q)
        return;
    while (q->pools) {
        struct qs_pool *pool = q->pools;
        q->pools = pool->next;
        qs_pool_free(pool);
    }
    for (struct qs_queue_device *d = q->first; d; d = d->after) {
        while (d->claims)
            qs_claim_free(d->claims);
        free(d->pools);
    }
    free(q->looks);
    free(q);
}

/* ---- what is to be looked at ---- */

static bool is_sooner(const struct look *a, const struct look *b)
{
    if (a->order != b->order)
        return a->order < b->order;
    if (!a->device || !b->device)
        return !a->device && b->device;
    return a->device->order < b->device->order;
}

static void swap(struct look *a, struct look *b)
{
    struct look keep = *a;
    *a = *b;
    *b = keep;
}

static void push(struct qs_queue *q, struct look look)
{
    q->looks = qs_grow(q->looks, q->look_count, sizeof *q->looks);
    size_t at = q->look_count++;
    q->looks[at] = look;
    for (size_t up = (at - 1) / 2; at > 0 && is_sooner(&q->looks[at], &q->looks[up]); up = (at - 1) / 2) {
        swap(&q->looks[at], &q->looks[up]);
        at = up;
    }
}

static void sink(struct qs_queue *q, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < q->look_count; child++)
            least = is_sooner(&q->looks[child], &q->looks[least]) ? child : least;
        if (least == at)
            return;
        swap(&q->looks[at], &q->looks[least]);
        at = least;
    }
}

static struct look pop(struct qs_queue *q)
{
    assert(q->look_count > 0);
    struct look top = q->looks[0];
    q->looks[0] = q->looks[--q->look_count];
    sink(q, 0);
    return top;
}

/* Either is leaving. */
static void forget_looks(struct qs_queue *q, const struct qs_queue_job *job,
                         const struct qs_queue_device *device)
{
    size_t kept = 0;
    for (size_t i = 0; i < q->look_count; i++) {
        if ((device && q->looks[i].device == device) || (job && q->looks[i].job == job))
            continue;
        q->looks[kept++] = q->looks[i];
    }
    if (kept == q->look_count)
        return;
    q->look_count = kept;
    for (size_t i = kept / 2; i-- > 0;)
        sink(q, i);
}

/* Who comes first for this device; NULL: nobody wants it. */
static struct qs_queue_job *candidate(struct qs_queue *q, const struct qs_queue_device *d)
{
    struct qs_queue_job *first = NULL;
    for (const struct qs_claim *c = d->claims; c && !first; c = c->after) {
        q->visits++;
        first = c->job->deferred ? NULL : c->job;
    }
    for (size_t i = 0; i < d->pool_count; i++) {
        struct qs_queue_job *head = d->pools[i]->first;
        q->visits++;
        first = head && (!first || head->order < first->order) ? head : first;
    }
    return first;
}

static void look_at_device(struct qs_queue *q, struct qs_queue_device *d)
{
    const struct qs_queue_job *first = qs_is_free(d) ? candidate(q, d) : NULL;
    if (!first || first->order >= d->asked)
        return;
    d->asked = first->order;
    push(q, (struct look){.order = first->order, .device = d});
}

/* ---- devices ---- */

void qs_queue_add_device(struct qs_queue *q, struct qs_queue_device *d, bool local)
{
    *d = (struct qs_queue_device){
        .owner = d->owner, .local = local, .order = q->next_device++, .asked = NOT_ASKED, .before = q->last};
    *(q->last ? &q->last->after : &q->first) = d;
    q->last = d;
    for (struct qs_pool *pool = q->pools; pool; pool = pool->next)
        qs_pool_offer(pool, d, q->fact);
}

void qs_queue_remove_device(struct qs_queue *q, struct qs_queue_device *d)
{
    qs_queue_set(q, d, false, false);
    forget_looks(q, NULL, d);
    while (d->claims)
        qs_claim_free(d->claims);
    for (size_t i = 0; i < d->pool_count; i++)
        qs_pool_drop(d->pools[i], d);
    free(d->pools);
    *(d->before ? &d->before->after : &q->first) = d->after;
    *(d->after ? &d->after->before : &q->last) = d->before;
}

/* Nobody measures on this host now. */
static void host_is_free(struct qs_queue *q)
{
    for (struct qs_queue_device *d = q->first; d; d = d->after) {
        if (d->local)
            look_at_device(q, d);
    }
}

void qs_queue_set(struct qs_queue *q, struct qs_queue_device *d, bool ready, bool taken)
{
    bool was_free = qs_is_free(d), had_host = d->local && d->taken;
    assert(!had_host || q->local_taken > 0);
    d->ready = ready;
    d->taken = taken;
    if (d->local && taken && !had_host)
        q->local_taken++;
    if (had_host && !taken && --q->local_taken == 0)
        host_is_free(q);
    if (was_free || !qs_is_free(d))
        return;
    look_at_device(q, d);
}

void qs_queue_hold(struct qs_queue *q, struct qs_queue_device *d, bool held)
{
    d->held = held;
    look_at_device(q, d);
}

void qs_queue_refit(struct qs_queue *q, struct qs_queue_device *d)
{
    for (size_t i = 0; i < d->pool_count; i++)
        qs_pool_drop(d->pools[i], d);
    d->pool_count = 0;
    for (struct qs_pool *pool = q->pools; pool; pool = pool->next)
        qs_pool_offer(pool, d, q->fact);
    d->asked = NOT_ASKED;
    look_at_device(q, d);
}

/* ---- jobs ---- */

static struct qs_pool *pool_of(struct qs_queue *q, const char *where)
{
    struct qs_pool *pool = q->pools;
    while (pool && !(where && pool->where ? strcmp(pool->where, where) == 0 : where == pool->where))
        pool = pool->next;
    if (pool)
        return pool;
    pool = qs_pool_new(where);
    pool->next = q->pools;
    q->pools = pool;
    for (struct qs_queue_device *d = q->first; d; d = d->after)
        qs_pool_offer(pool, d, q->fact);
    return pool;
}

void qs_queue_add_job(struct qs_queue *q, struct qs_queue_job *job, const char *where)
{
    qs_queue_add_begun(q, job);
    qs_pool_enter(pool_of(q, where), job);
    push(q, (struct look){.order = job->order, .job = job});
}

void qs_queue_add_begun(struct qs_queue *q, struct qs_queue_job *job)
{
    *job = (struct qs_queue_job){
        .owner = job->owner, .take = job->take, .take_count = job->take_count, .order = ++q->next_job};
}

/* A pool without jobs goes. */
static void leave_pool(struct qs_queue *q, struct qs_queue_job *job)
{
    struct qs_pool *pool = job->pool;
    qs_pool_leave(job);
    if (pool->first)
        return;
    struct qs_pool **at = &q->pools;
    while (*at && *at != pool)
        at = &(*at)->next;
    assert(*at);
    *at = pool->next;
    qs_pool_free(pool);
}

static void drop_claim(struct qs_queue *q, struct qs_claim *claim)
{
    struct qs_queue_device *d = claim->device;
    qs_claim_free(claim);
    look_at_device(q, d);
}

void qs_queue_remove_job(struct qs_queue *q, struct qs_queue_job *job)
{
    if (job->order == 0)
        return;
    forget_looks(q, job, NULL);
    while (job->claims)
        drop_claim(q, job->claims);
    if (job->pool)
        leave_pool(q, job);
    job->order = 0;
}

void qs_queue_requeue(struct qs_queue *q, struct qs_queue_job *job)
{
    assert(job->order != 0 && !job->pool); /* it has begun */
    job->order = ++q->next_job;
    for (struct qs_claim *c = job->claims; c; c = c->later) {
        qs_claim_move(c);
        look_at_device(q, c->device);
    }
}

void qs_queue_defer(struct qs_queue *q, struct qs_queue_job *job, bool deferred)
{
    job->deferred = deferred;
    for (const struct qs_claim *c = job->claims; c; c = c->later)
        look_at_device(q, c->device);
}

bool qs_queue_has_claim(const struct qs_queue_job *job, const struct qs_queue_device *device)
{
    const struct qs_claim *c = device->claims;
    while (c && c->job != job)
        c = c->after;
    return c != NULL;
}

bool qs_queue_may_have(const struct qs_queue_job *job, const struct qs_queue_device *device)
{
    bool pooled = false;
    for (size_t i = 0; job->pool && i < device->pool_count && !pooled; i++)
        pooled = device->pools[i] == job->pool;
    return pooled || qs_queue_has_claim(job, device);
}

void qs_queue_claim(struct qs_queue *q, struct qs_queue_job *job, struct qs_queue_device *device)
{
    assert(job->order != 0); /* one that has left would stand before all others, and be freed with it */
    if (qs_queue_has_claim(job, device))
        return;
    qs_claim_new(job, device);
    look_at_device(q, device);
}

/* ---- decisions ---- */

static bool is_to_be_had(struct qs_queue *q, const struct qs_queue_device *d, const struct qs_queue_job *job)
{
    q->visits++;
    return qs_is_free(d) && !(d->local && q->local_taken > 0) && candidate(q, d) == job;
}

/* Besides `first`, which it gets now: as many as it takes, those that are to be had before the others. */
static void choose(struct qs_queue *q, struct qs_queue_job *job, const struct qs_queue_device *first)
{
    const struct qs_pool *pool = job->pool;
    size_t most = job->take == QS_TAKE_ALL ? pool->count : job->take == QS_TAKE_COUNT ? job->take_count : 1;
    size_t chosen = 1;
    bool host = first->local; /* one at a time */
    for (int others = 0; others <= 1; others++) {
        for (size_t i = 0; i < pool->count && chosen < most; i++) {
            struct qs_queue_device *d = pool->devices[i];
            bool now = !(host && d->local) && is_to_be_had(q, d, job);
            if (d == first || qs_queue_has_claim(job, d) || !(now || others))
                continue;
            qs_claim_new(job, d);
            host = host || d->local;
            chosen++;
        }
    }
    leave_pool(q, job);
    for (const struct qs_claim *c = job->claims; c; c = c->later)
        look_at_device(q, c->device);
}

static bool start(struct qs_queue *q, struct qs_queue_job *job, struct qs_queue_device *d,
                  struct qs_queue_start *ret)
{
    assert(qs_is_free(d) && !job->deferred);
    *ret = (struct qs_queue_start){.job = job, .device = d, .begins = job->pool != NULL};
    qs_queue_set(q, d, d->ready, true);
    if (ret->begins) {
        choose(q, job, d);
        return true;
    }
    struct qs_claim *c = d->claims;
    while (c && c->job != job)
        c = c->after;
    assert(c); /* one that has begun is offered what it has a claim on */
    qs_claim_free(c);
    return true;
}

/* Where somebody else comes first by now, the device is looked at again in that one's place. */
static bool offer(struct qs_queue *q, const struct look *look, struct qs_queue_start *ret)
{
    struct qs_queue_device *d = look->device;
    if (d->asked != look->order)
        return false; /* looked at already */
    d->asked = NOT_ASKED;
    struct qs_queue_job *job = candidate(q, d);
    if (job && job->order == look->order && is_to_be_had(q, d, job))
        return start(q, job, d, ret);
    if (job && job->order != look->order)
        look_at_device(q, d);
    return false;
}

/* A job looks once for what is free already, when its turn has come. While others of its pool wait before it
 * there is nothing. */
static bool search(struct qs_queue *q, struct qs_queue_job *job, struct qs_queue_start *ret)
{
    struct qs_pool *pool = job->pool;
    if (!pool || pool->first != job)
        return false;
    for (; pool->from < pool->count && !qs_is_free(pool->devices[pool->from]); pool->from++)
        q->visits++;
    for (size_t i = pool->from; i < pool->count; i++) {
        if (is_to_be_had(q, pool->devices[i], job))
            return start(q, job, pool->devices[i], ret);
    }
    return false;
}

bool qs_queue_next(struct qs_queue *q, struct qs_queue_start *ret)
{
    bool found = false;
    while (!found && q->look_count > 0) {
        struct look look = pop(q);
        found = look.device ? offer(q, &look, ret) : search(q, look.job, ret);
    }
    return found;
}

/* ---- why not ---- */

static enum qs_queue_wait obstacle(struct qs_queue *q, const struct qs_queue_device *d,
                                   const struct qs_queue_job *job)
{
    const struct qs_queue_job *first = candidate(q, d);
    if (d->taken || (first && first->order < job->order))
        return QS_WAIT_DEVICE_TAKEN;
    if (d->held)
        return QS_WAIT_DEVICE_HELD;
    if (!d->ready)
        return QS_WAIT_DEVICE_DOWN;
    return d->local && q->local_taken > 0 ? QS_WAIT_HOST_TAKEN : QS_WAIT_NONE;
}

enum qs_queue_wait qs_queue_why(struct qs_queue *q, const struct qs_queue_job *job)
{
    enum qs_queue_wait wait = job->deferred ? QS_WAIT_DEFERRED
                              : job->pool   ? QS_WAIT_DEVICE_DOWN
                                            : QS_WAIT_NONE;
    const struct qs_claim *c = job->claims;
    size_t n = job->pool ? job->pool->count : 0;
    for (size_t i = 0; !job->deferred && (c || i < n); i++) {
        enum qs_queue_wait why = obstacle(q, c ? c->device : job->pool->devices[i], job);
        if (why == QS_WAIT_NONE)
            return why;
        wait = why > wait ? why : wait;
        c = c ? c->later : NULL;
    }
    return wait;
}

const char *qs_queue_wait_text(enum qs_queue_wait wait)
{
    switch (wait) {
    case QS_WAIT_NONE:
        return "";
    case QS_WAIT_DEFERRED:
        return "given back by its gate; it will be tried again";
    case QS_WAIT_DEVICE_DOWN:
        return "no device that fits is connected";
    case QS_WAIT_DEVICE_HELD:
        return "the device is held";
    case QS_WAIT_DEVICE_TAKEN:
        return "an earlier job has the device";
    case QS_WAIT_HOST_TAKEN:
        return "another job measures on this machine";
    }
    return "";
}

uint64_t qs_queue_visits(const struct qs_queue *q)
{
    return q->visits;
}
