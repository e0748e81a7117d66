#include "farm/queue.h"

#include <stdlib.h>

#include "base/mem.h"

struct turn {
    const struct qs_queue_device *devices;
    size_t device_count;
    bool *taken; /* per device: started on, or reserved by an earlier job */
    bool local_taken;
};

static enum qs_queue_wait obstacle(const struct turn *t, size_t d)
{
    if (t->taken[d] || t->devices[d].taken)
        return QS_WAIT_DEVICE_TAKEN;
    if (!t->devices[d].ready)
        return QS_WAIT_DEVICE_DOWN;
    return t->devices[d].local && t->local_taken ? QS_WAIT_HOST_TAKEN : QS_WAIT_NONE;
}

static void take(struct turn *t, size_t d)
{
    t->taken[d] = true;
    if (t->devices[d].local)
        t->local_taken = true;
}

/* How many of the devices that fit a job wants before it begins: all of them, or the number it names. */
static size_t wanted(const struct qs_queue_job *job, size_t fitting)
{
    switch (job->take) {
    case QS_TAKE_ANY:
        return 1;
    case QS_TAKE_ALL:
        return fitting;
    case QS_TAKE_COUNT:
        return job->take_count;
    }
    return 1;
}

static size_t start_on(struct turn *t, size_t job, const bool *fits, size_t most,
                       struct qs_queue_start *starts, enum qs_queue_wait *wait)
{
    size_t n = 0;
    *wait = QS_WAIT_NONE;
    for (size_t d = 0; d < t->device_count && n < most; d++) {
        if (!fits[d])
            continue;
        enum qs_queue_wait why = obstacle(t, d);
        if (why == QS_WAIT_NONE) {
            take(t, d);
            starts[n++] = (struct qs_queue_start){.job = job, .device = d};
        } else if (*wait == QS_WAIT_NONE || why == QS_WAIT_DEVICE_TAKEN) {
            *wait = why;
        }
    }
    if (n > 0)
        *wait = QS_WAIT_NONE;
    return n;
}

/* What a job still needs is kept for it: later jobs look elsewhere. The host is not kept: a device that is
 * away must not stop the others on this host. */
static void reserve(struct turn *t, const bool *fits)
{
    for (size_t d = 0; d < t->device_count; d++)
        t->taken[d] = t->taken[d] || fits[d];
}

size_t qs_queue_plan(const struct qs_queue_job *jobs, size_t job_count, const struct qs_queue_device *devices,
                     size_t device_count, bool local_busy, int64_t now_ns, struct qs_queue_start *starts,
                     enum qs_queue_wait *waits)
{
    struct turn t = {.devices = devices, .device_count = device_count, .local_taken = local_busy};
    t.taken = qs_calloc(device_count + 1, sizeof *t.taken);
    size_t n = 0;
    for (size_t j = 0; j < job_count; j++) {
        const struct qs_queue_job *job = &jobs[j];
        enum qs_queue_wait wait = QS_WAIT_DEFERRED;
        if (job->not_before_ns <= now_ns) {
            const bool *fits = job->started ? job->pending : job->matches;
            size_t fitting = 0;
            for (size_t d = 0; d < device_count; d++)
                fitting += fits[d] ? 1 : 0;
            size_t most = job->started ? fitting : wanted(job, fitting);
            size_t got = start_on(&t, j, fits, most, starts + n, &wait);
            n += got;
            if (got < most)
                reserve(&t, fits);
            if (fitting == 0 && !job->started)
                wait = QS_WAIT_DEVICE_DOWN;
        }
        if (waits)
            waits[j] = wait;
    }
    free(t.taken);
    return n;
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
    case QS_WAIT_DEVICE_TAKEN:
        return "an earlier job has the device";
    case QS_WAIT_HOST_TAKEN:
        return "another job measures on this machine";
    }
    return "";
}
