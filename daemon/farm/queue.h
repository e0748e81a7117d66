/* Who measures next: pure, (jobs in order, devices) -> starts. A waiting job reserves what it needs, so that
 * later ones cannot starve it; devices that measure on this host exclude each other. */
#ifndef QS_FARM_QUEUE_H
#define QS_FARM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/job.h"

struct qs_queue_device {
    bool ready; /* linked */
    bool taken; /* a job is on it */
    bool local; /* measures on this host */
};

struct qs_queue_job { /* in order of the queue */
    int64_t id;
    int64_t not_before_ns; /* deferred: no start earlier */
    enum qs_job_take take; /* of a job without assignments */
    uint32_t take_count;
    bool started;        /* its devices are chosen: only `pending` counts */
    const bool *matches; /* per device: the selector fits */
    const bool *pending; /* per device, started jobs: chosen and not yet begun */
};

struct qs_queue_start {
    size_t job, device; /* indices */
};

/* Why a job does not start. */
enum qs_queue_wait {
    QS_WAIT_NONE,
    QS_WAIT_DEFERRED,
    QS_WAIT_DEVICE_DOWN,
    QS_WAIT_DEVICE_TAKEN,
    QS_WAIT_HOST_TAKEN
};

/* local_busy: a window-owning job runs on this host. starts has room for device_count entries, waits (may be
 * NULL) for job_count. Returns the number of starts. */
size_t qs_queue_plan(const struct qs_queue_job *jobs, size_t job_count, const struct qs_queue_device *devices,
                     size_t device_count, bool local_busy, int64_t now_ns, struct qs_queue_start *starts,
                     enum qs_queue_wait *waits);
const char *qs_queue_wait_text(enum qs_queue_wait wait);

#endif
