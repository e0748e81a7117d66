/* Looks at the queue and starts what can start. */
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "farm/farm_impl.h"
#include "farm/say.h"

static void dispatch(void *user)
{
    struct qs_farm *farm = user;
    farm->dispatch_posted = false;
    if (farm->stopping)
        return; /* the store may be closed */
    /* Where the disk does not take ends, what begins now would only wait for it as well. */
    farm->dispatch_held = farm->ends_waiting > 0 || farm->ends_asked > 0 ||
                          (qs_store_trouble(farm->p.store) && farm->outstanding > 0);
    if (farm->yields && !qs_farm_is_working(farm) && farm->events.on_idle)
        farm->events.on_idle(farm->events.user);
    if (farm->dispatch_held || farm->yields)
        return;
    struct qs_queue_start start;
    qs_farm_let_go(farm);
    while (qs_queue_next(farm->queue, &start)) {
        struct qs_farm_job *job = start.job->owner;
        if (start.begins) {
            job->running = true;
            qs_farm_emit_state(farm, job->id, QS_JOB_RUNNING, NULL);
        }
        qs_farm_start_on(job, start.device->owner);
    }
}

bool qs_farm_is_working(const struct qs_farm *farm)
{
    bool working = farm->ends_asked > 0 || farm->on_devices > 0;
    for (size_t j = 0; j < farm->job_count && !working; j++)
        working = farm->jobs[j]->ending; /* its verdict is computed, or its end is not on disk */
    return working;
}

void qs_farm_yield(struct qs_farm *farm)
{
    farm->yields = true;
    qs_farm_dispatch_soon(farm);
}

void qs_farm_dispatch_soon(struct qs_farm *farm)
{
    if (farm->dispatch_posted || !farm->started)
        return;
    farm->dispatch_posted = true;
    qs_loop_post(farm->p.loop, dispatch, farm);
}

/* On no device: not begun yet, or given back by its gate. */
static bool is_waiting(const struct qs_farm_job *job)
{
    return job->on_devices == 0 && !job->ending;
}

/* "board: thermal:cpu is 46.7 °C, ..." of the devices whose windows wait. */
static void put_windows_that_wait(const struct qs_farm_job *job, struct qs_buf *why)
{
    const struct qs_inventory_item *item = qs_inventory_first(job->farm->inventory);
    for (; item && job->on_devices > 0; item = item->next) {
        const char *what = item->job == job ? qs_job_run_waits_for(item->run) : NULL;
        if (what)
            qs_buf_fmt(why, "%s%s: %s", why->len > 0 ? "; " : "", item->config->name, what);
    }
}

/* " (board7, by ann until 2026-11-28T14:00:00Z: its battery is changed)": of the first that it may have. */
static void put_hold(const struct qs_farm_job *job, struct qs_buf *text)
{
    const struct qs_inventory_item *item = qs_inventory_first(job->farm->inventory);
    while (item && !(item->queue.held && qs_queue_may_have(&job->queue, &item->queue)))
        item = item->next;
    const struct qs_word *hold = item ? qs_farm_hold(job->farm, item->config->name) : NULL;
    char until[32] = "";
    if (!hold)
        return;
    if (hold->until_wall_ns > 0)
        qs_text_second(hold->until_wall_ns, until);
    qs_buf_fmt(text, " (%s, by %s%s%s%s%s)", item->config->name, hold->by, until[0] ? " until " : "", until,
               hold->value[0] ? ": " : "", hold->value);
}

static const char *say_waiting(const struct qs_farm_job *job, struct qs_buf *text)
{
    const struct qs_farm *farm = job->farm;
    const struct qs_farm_job *first = farm->jobs[0];
    const char *disk = qs_farm_waits_for_disk(farm, 0);
    enum qs_queue_wait wait = qs_queue_why(farm->queue, &job->queue);
    if (disk || farm->yields) {
        qs_buf_str(text, disk ? disk : "another quiesced is about to take over: the job begins there");
        return disk ? "disk" : "daemon";
    }
    qs_buf_str(text, qs_queue_wait_text(wait));
    if ((wait == QS_WAIT_DEVICE_TAKEN || wait == QS_WAIT_HOST_TAKEN) && first != job)
        qs_buf_fmt(text, " (job %lld, %s)", (long long)first->id, first->name);
    if (wait == QS_WAIT_DEVICE_HELD)
        put_hold(job, text);
    return wait == QS_WAIT_DEFERRED ? "gate" : "queue";
}

struct qs_farm_why qs_farm_why(const struct qs_farm *farm, int64_t id, struct qs_buf *text)
{
    size_t at = 0;
    while (at < farm->job_count && farm->jobs[at]->id != id)
        at++;
    const struct qs_farm_job *job = at < farm->job_count ? farm->jobs[at] : NULL;
    if (!job)
        return (struct qs_farm_why){.position = -1};
    if (is_waiting(job))
        return (struct qs_farm_why){.code = say_waiting(job, text), .position = (int64_t)at};
    if (job->end.waits) {
        qs_buf_str(text, job->end.waits);
        return (struct qs_farm_why){.code = "disk", .position = -1};
    }
    put_windows_that_wait(job, text);
    return (struct qs_farm_why){.code = text->len > 0 ? "gate" : NULL, .position = -1};
}
