/* Looks at the queue and starts what can start. */
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "farm/farm_impl.h"

static void plan_now(void *user)
{
    struct qs_farm *farm = user;
    farm->plan_posted = false;
    if (farm->stopping)
        return; /* the store may be closed */
    /* Where the disk does not take ends, what begins now would only wait for it as well. */
    farm->plan_held = farm->ends_waiting > 0 || farm->ends_asked > 0 ||
                      (qs_store_trouble(farm->p.store) && farm->outstanding > 0);
    if (farm->yields && !qs_farm_is_working(farm) && farm->events.on_idle)
        farm->events.on_idle(farm->events.user);
    if (farm->plan_held || farm->yields)
        return;
    struct qs_queue_start start;
    qs_farm_let_go(farm);
    while (qs_queue_next(farm->queue, &start)) {
        struct qs_farm_job *job = start.job->owner;
        if (start.begins) {
            job->running = true;
            qs_farm_news_state(farm, job->id, QS_JOB_RUNNING, NULL);
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
    qs_farm_plan_soon(farm);
}

void qs_farm_plan_soon(struct qs_farm *farm)
{
    if (farm->plan_posted || !farm->started)
        return;
    farm->plan_posted = true;
    qs_loop_post(farm->p.loop, plan_now, farm);
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

static void put_why(struct qs_json *j, const char *why, const char *code)
{
    qs_json_kstring(j, "why", why);
    qs_json_kstring(j, "why_code", code);
}

static void put_why_running(struct qs_json *j, const struct qs_farm_job *job)
{
    QS_BUF(why);
    if (job->end.waits)
        qs_buf_str(&why, job->end.waits);
    put_windows_that_wait(job, &why);
    if (why.len > 0)
        put_why(j, why.data, job->end.waits ? "disk" : "gate");
}

static void put_why_waiting(struct qs_json *j, const struct qs_farm_job *job)
{
    const struct qs_farm *farm = job->farm;
    const struct qs_farm_job *first = farm->jobs[0];
    const char *disk = qs_farm_waits_for_disk(farm, 0);
    const char *heir = "another quiesced waits to take over: the job begins there";
    enum qs_queue_wait wait = qs_queue_why(farm->queue, &job->queue);
    QS_BUF(why);
    qs_buf_str(&why, disk ? disk : farm->yields ? heir : qs_queue_wait_text(wait));
    if (!disk && !farm->yields && (wait == QS_WAIT_DEVICE_TAKEN || wait == QS_WAIT_HOST_TAKEN) &&
        first != job)
        qs_buf_fmt(&why, " (job %lld, %s)", (long long)first->id, first->name);
    const char *code = wait == QS_WAIT_DEFERRED ? "gate" : "queue";
    put_why(j, why.data, disk ? "disk" : farm->yields ? "daemon" : code);
}

void qs_farm_why_json(struct qs_farm *farm, int64_t id, struct qs_buf *out)
{
    struct qs_json j;
    qs_json_init(&j, out);
    qs_json_object(&j);
    size_t at = 0;
    while (at < farm->job_count && farm->jobs[at]->id != id)
        at++;
    const struct qs_farm_job *job = at < farm->job_count ? farm->jobs[at] : NULL;
    if (job && is_waiting(job)) {
        qs_json_kint(&j, "position", (int64_t)at);
        put_why_waiting(&j, job);
    } else if (job) {
        put_why_running(&j, job);
    }
    qs_json_object_end(&j);
}
