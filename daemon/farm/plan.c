/* Looks at the queue and starts what can start. */
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "farm/farm_impl.h"

static bool local_is_busy(const struct qs_farm *farm)
{
    for (size_t j = 0; j < farm->job_count; j++) {
        for (size_t d = 0; d < farm->p.config->device_count; d++) {
            if (farm->jobs[j]->controls[d] && qs_device_config(farm->devices[d])->local)
                return true;
        }
    }
    return false;
}

static bool device_in_use(const struct qs_farm *farm, size_t device)
{
    for (size_t j = 0; j < farm->job_count; j++) {
        if (farm->jobs[j]->controls[device])
            return true;
    }
    return false;
}

struct snapshot {
    struct qs_queue_job *jobs;
    struct qs_queue_device *devices;
    struct qs_queue_start *starts;
    enum qs_queue_wait *waits;
    struct qs_farm_job **live; /* the list moves while jobs end */
    size_t starts_n;
};

static void snapshot_done(struct snapshot *s)
{
    free(s->jobs);
    free(s->devices);
    free(s->starts);
    free(s->waits);
    free(s->live);
}

static void snapshot_take(struct qs_farm *farm, struct snapshot *s)
{
    size_t devices = farm->p.config->device_count, jobs = farm->job_count;
    s->jobs = qs_calloc(jobs + 1, sizeof *s->jobs);
    s->live = qs_calloc(jobs + 1, sizeof(struct qs_farm_job *));
    s->waits = qs_calloc(jobs + 1, sizeof *s->waits);
    s->devices = qs_calloc(devices + 1, sizeof *s->devices);
    s->starts = qs_calloc(devices + 1, sizeof *s->starts);
    for (size_t d = 0; d < devices; d++) {
        s->devices[d].ready = qs_device_state(farm->devices[d]) == QS_DEVICE_READY;
        s->devices[d].taken = device_in_use(farm, d);
        s->devices[d].local = qs_device_config(farm->devices[d])->local;
    }
    for (size_t j = 0; j < jobs; j++) {
        struct qs_farm_job *job = farm->jobs[j];
        s->live[j] = job;
        s->jobs[j] = (struct qs_queue_job){.id = job->id,
                                           .not_before_ns = job->ending ? INT64_MAX : job->not_before_ns,
                                           .take = job->spec ? job->spec->take : QS_TAKE_ANY,
                                           .take_count = job->spec ? job->spec->take_count : 0,
                                           .started = job->running,
                                           .matches = job->matches,
                                           .pending = job->pending};
    }
    s->starts_n = qs_queue_plan(s->jobs, jobs, s->devices, devices, local_is_busy(farm),
                                qs_loop_now_ns(farm->p.loop), s->starts, s->waits);
}

/* A job that begins fixes its devices: all that fit, or as many as it takes, those that are free first. */
static void choose_devices(struct qs_farm *farm, struct qs_farm_job *job, const struct snapshot *s,
                           size_t index)
{
    size_t left = job->spec->take == QS_TAKE_COUNT ? job->spec->take_count : 1;
    for (size_t i = 0; i < s->starts_n; i++) {
        if (s->starts[i].job == index) {
            job->pending[s->starts[i].device] = true;
            left -= left > 0 ? 1 : 0;
        }
    }
    for (size_t d = 0; d < farm->p.config->device_count; d++) {
        if (!job->matches[d] || job->pending[d])
            continue;
        if (job->spec->take == QS_TAKE_ALL || (job->spec->take == QS_TAKE_COUNT && left > 0)) {
            job->pending[d] = true;
            left -= left > 0 ? 1 : 0;
        }
    }
}

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
    struct snapshot s;
    snapshot_take(farm, &s);
    for (size_t i = 0; i < s.starts_n; i++) {
        struct qs_farm_job *job = s.live[s.starts[i].job];
        if (qs_farm_find(farm, s.jobs[s.starts[i].job].id) != job)
            continue; /* its start on another device failed and ended it */
        if (!job->running) {
            choose_devices(farm, job, &s, s.starts[i].job);
            job->running = true;
            qs_farm_news_state(farm, job->id, QS_JOB_RUNNING, NULL);
        }
        job->pending[s.starts[i].device] = false;
        qs_farm_start_on(job, s.starts[i].device);
    }
    snapshot_done(&s);
}

bool qs_farm_is_working(const struct qs_farm *farm)
{
    bool working = farm->ends_asked > 0;
    for (size_t j = 0; j < farm->job_count && !working; j++)
        working = farm->jobs[j]->ending; /* its verdict is computed, or its end is not on disk */
    for (size_t d = 0; d < farm->p.config->device_count && !working; d++)
        working = device_in_use(farm, d);
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
    for (size_t d = 0; d < job->farm->p.config->device_count; d++) {
        if (job->controls[d])
            return false;
    }
    return !job->ending;
}

/* "board: thermal:cpu is 46.7 °C, ..." of the devices whose windows wait. */
static void put_windows_that_wait(const struct qs_farm_job *job, struct qs_buf *why)
{
    for (size_t d = 0; d < job->farm->p.config->device_count; d++) {
        const char *what = job->controls[d] ? qs_control_waits_for(job->controls[d]) : NULL;
        if (what)
            qs_buf_fmt(why, "%s%s: %s", why->len > 0 ? "; " : "", job->farm->p.config->devices[d].name, what);
    }
}

static void put_why(struct qs_json *j, const char *why, const char *code)
{
    qs_json_kstring(j, "why", why);
    qs_json_kstring(j, "why_code", code);
}

static void put_why_running(struct qs_json *j, const struct qs_farm_job *job)
{
    struct qs_buf why;
    qs_buf_init(&why);
    if (job->end.waits)
        qs_buf_str(&why, job->end.waits);
    put_windows_that_wait(job, &why);
    if (why.len > 0)
        put_why(j, why.data, job->end.waits ? "disk" : "gate");
    qs_buf_done(&why);
}

void qs_farm_why_json(struct qs_farm *farm, int64_t id, struct qs_buf *out)
{
    struct snapshot s;
    struct qs_json j;
    qs_json_init(&j, out);
    qs_json_object(&j);
    snapshot_take(farm, &s);
    int64_t position = 0;
    for (size_t i = 0; i < farm->job_count; i++) {
        struct qs_farm_job *job = s.live[i];
        if (job->id == id && is_waiting(job)) {
            struct qs_buf why;
            qs_buf_init(&why);
            const char *disk = qs_farm_waits_for_disk(farm, 0);
            const char *heir = "another quiesced waits to take over: the job begins there";
            qs_buf_str(&why, disk ? disk : farm->yields ? heir : qs_queue_wait_text(s.waits[i]));
            if (!disk && !farm->yields &&
                (s.waits[i] == QS_WAIT_DEVICE_TAKEN || s.waits[i] == QS_WAIT_HOST_TAKEN) && i > 0)
                qs_buf_fmt(&why, " (job %lld, %s)", (long long)s.live[0]->id, s.live[0]->name);
            qs_json_kint(&j, "position", position);
            const char *code = s.waits[i] == QS_WAIT_DEFERRED ? "gate" : "queue";
            put_why(&j, why.data, disk ? "disk" : farm->yields ? "daemon" : code);
            qs_buf_done(&why);
            break;
        }
        if (job->id == id)
            put_why_running(&j, job);
        position++;
    }
    snapshot_done(&s);
    qs_json_object_end(&j);
}
