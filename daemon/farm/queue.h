/* Who measures next: a pure machine over jobs in the order of the queue and devices. A job that has not begun
 * waits in a pool, which is the devices that one selector fits; when it begins it chooses its devices and has
 * a claim on each. A waiting job reserves what it needs, so that later ones cannot starve it; devices that
 * measure on this host exclude each other.
 *
 * What has changed is looked at, and nothing else: a device that becomes free is offered to the first of its
 * own candidates, which are its claims and the first job of each of its pools; a job that arrives looks for a
 * device of its pool that is free already. */
#ifndef QS_FARM_QUEUE_H
#define QS_FARM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/job/job.h"
#include "config/job/selector.h"

struct qs_queue;
struct qs_pool;
struct qs_claim;

struct qs_queue_device { /* part of its owner's record, which outlives its stay in the queue */
    void *owner;
    bool ready, taken; /* linked; a job is on it */
    bool held;         /* none begins on it */
    bool local;        /* measures on this host */
    /* the queue's */
    uint64_t order, asked;
    struct qs_claim *claims; /* in order of the queue */
    struct qs_pool **pools;  /* owned */
    size_t pool_count;
    struct qs_queue_device *before, *after;
};

struct qs_queue_job { /* part of its owner's record */
    void *owner;
    enum qs_job_take take; /* how many devices of its pool it chooses */
    uint32_t take_count;
    /* the queue's */
    bool deferred;
    uint64_t order;
    struct qs_pool *pool; /* NULL: it has begun */
    struct qs_queue_job *before, *after;
    struct qs_claim *claims;
};

struct qs_queue_start {
    struct qs_queue_job *job;
    struct qs_queue_device *device;
    bool begins; /* its first device: it has chosen those that it has claims on besides */
};

/* Why a job does not start; of several reasons the last. */
enum qs_queue_wait {
    QS_WAIT_NONE,
    QS_WAIT_DEFERRED,
    QS_WAIT_DEVICE_DOWN,
    QS_WAIT_DEVICE_HELD,
    QS_WAIT_HOST_TAKEN,
    QS_WAIT_DEVICE_TAKEN
};

/* fact: of a device, for selectors; its user is the device's owner. */
struct qs_queue *qs_queue_new(qs_selector_fact_fn *fact);
void qs_queue_free(struct qs_queue *queue); /* before the records of its jobs and devices; NULL is allowed */

/* Not ready and not taken; it comes into the pools whose selector fits it. */
void qs_queue_add_device(struct qs_queue *queue, struct qs_queue_device *device, bool local);
/* Nobody is on it; claims on it are gone. */
void qs_queue_remove_device(struct qs_queue *queue, struct qs_queue_device *device);
void qs_queue_set(struct qs_queue *queue, struct qs_queue_device *device, bool ready, bool taken);
void qs_queue_hold(struct qs_queue *queue, struct qs_queue_device *device, bool held);
/* Its facts are other ones: it comes into the pools whose selector fits it now. Claims stay. */
void qs_queue_refit(struct qs_queue *queue, struct qs_queue_device *device);

/* At the end of the queue. `where`: of the devices that it may have; NULL: all. */
void qs_queue_add_job(struct qs_queue *queue, struct qs_queue_job *job, const char *where);
/* At the end of the queue, and it has begun: it wants the devices that it is given claims on. */
void qs_queue_add_begun(struct qs_queue *queue, struct qs_queue_job *job);
/* Of a job that is not in the queue nothing happens. */
void qs_queue_remove_job(struct qs_queue *queue, struct qs_queue_job *job);
/* The next four are for jobs that have begun. */
void qs_queue_requeue(struct qs_queue *queue, struct qs_queue_job *job); /* to the end */
void qs_queue_defer(struct qs_queue *queue, struct qs_queue_job *job, bool deferred);
/* It wants the device, too; a second claim on it is none. */
void qs_queue_claim(struct qs_queue *queue, struct qs_queue_job *job, struct qs_queue_device *device);
bool qs_queue_has_claim(const struct qs_queue_job *job, const struct qs_queue_device *device);
/* It has a claim on the device, or may choose it. */
bool qs_queue_may_have(const struct qs_queue_job *job, const struct qs_queue_device *device);

/* The next start, in order of jobs and then of devices: the device is taken from now on. False: there is none
 * till something changes. */
bool qs_queue_next(struct qs_queue *queue, struct qs_queue_start *ret);

enum qs_queue_wait qs_queue_why(struct qs_queue *queue, const struct qs_queue_job *job);
const char *qs_queue_wait_text(enum qs_queue_wait wait);
/* Jobs and devices looked at since the beginning: the cost of its decisions. */
uint64_t qs_queue_visits(const struct qs_queue *queue);

#endif
