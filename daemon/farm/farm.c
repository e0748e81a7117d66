#include "farm/farm.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "farm/farm_impl.h"
#include "store/read.h"
#include "store/read_live.h"

static void on_device_change(struct qs_device *device, void *user)
{
    struct qs_farm *farm = user;
    qs_log(farm->p.log, QS_LOG_DEBUG, "farm", "device=%s state=%s", qs_device_config(device)->name,
           qs_device_state_name(qs_device_state(device)));
    if (!farm->stopping)
        qs_farm_plan_soon(farm);
}

static void on_device_note(struct qs_device *device, bool warning, const char *text, void *user)
{
    struct qs_farm *farm = user;
    qs_log(farm->p.log, warning ? QS_LOG_WARN : QS_LOG_INFO, "device", "device=%s %s%s",
           qs_device_config(device)->name, text, warning ? ", going on" : "");
}

static size_t index_of(const struct qs_farm *farm, const struct qs_device *device)
{
    size_t i = 0;
    while (farm->devices[i] != device)
        i++;
    return i;
}

static bool may_transfer(struct qs_device *device, void *user)
{
    struct qs_farm *farm = user;
    const char *why;
    return qs_hub_take(farm->hub, index_of(farm, device), QS_HUB_TRANSFER, qs_loop_now_ns(farm->p.loop),
                       &why);
}

static void transfer_over(struct qs_device *device, void *user)
{
    struct qs_farm *farm = user;
    qs_hub_give(farm->hub, index_of(farm, device));
}

struct qs_farm *qs_farm_new(const struct qs_farm_parts *parts, const struct qs_farm_events *events)
{
    struct qs_farm *farm = qs_calloc(1, sizeof *farm);
    farm->p = *parts;
    farm->events = *events;
    farm->host_json = qs_farm_host_json();
    farm->hub = qs_hub_new(parts->config->devices, parts->config->device_count);
    farm->devices = qs_calloc(parts->config->device_count + 1, sizeof *farm->devices);
    struct qs_device_parts device = {.loop = parts->loop,
                                     .store = parts->store,
                                     .files = parts->files,
                                     .host_json = farm->host_json,
                                     .heartbeat_ns = parts->config->heartbeat_ns};
    qs_store_farm_uid(parts->store, device.farm_uid);
    const struct qs_device_events device_events = {.on_change = on_device_change,
                                                   .on_note = on_device_note,
                                                   .may_transfer = may_transfer,
                                                   .transfer_over = transfer_over,
                                                   .user = farm};
    for (size_t i = 0; i < parts->config->device_count; i++) {
        device.config = &parts->config->devices[i];
        farm->devices[i] = qs_device_new(&device, &device_events);
    }
    return farm;
}

bool qs_farm_clean(struct qs_farm *farm, const char *device, qs_device_cleaned_fn *done, void *user,
                   struct qs_err *err)
{
    for (size_t d = 0; d < farm->p.config->device_count; d++) {
        if (strcmp(farm->p.config->devices[d].name, device) == 0)
            return qs_device_clean(farm->devices[d], done, user, err);
    }
    return qs_fail(err, QS_E_NOT_FOUND, "this farm has no device `%s`", device);
}

void qs_farm_free(struct qs_farm *farm)
{
    if (!farm)
        return;
    for (size_t i = 0; i < farm->job_count; i++)
        qs_farm_job_free(farm->jobs[i]);
    for (size_t i = 0; i < farm->p.config->device_count; i++)
        qs_device_free(farm->devices[i]);
    qs_hub_free(farm->hub);
    free(farm->jobs);
    free(farm->devices);
    free(farm->host_json);
    free(farm);
}

struct former_life {
    struct qs_live_jobs live;
    struct qs_jobs newest;
    bool left_open;
};

static bool read_former_life(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct former_life *life = user;
    return qs_read_live_jobs(reader, &life->live, err) && qs_read_jobs(reader, 0, 1, &life->newest, err) &&
           qs_read_left_open(reader, &life->left_open, err);
}

static void on_marked(const struct qs_err *err, int64_t id, void *user)
{
    (void)err; /* what is open then is closed with its job, or by the next life */
    (void)id;
    (void)user;
}

struct one_job {
    int64_t id;
    struct qs_jobs job;
    struct qs_samples samples;
    bool running;
    char *cancelled; /* why */
};

static bool read_one_job(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct one_job *one = user;
    if (!qs_read_job(reader, one->id, &one->job, err))
        return false;
    return qs_read_cancel(reader, one->id, &one->cancelled, err) &&
           (!one->running || qs_read_samples(reader, one->id, &one->samples, err));
}

/* A job goes on where it was: on the devices that it has blocks of, and on as many as it takes. Where it has
 * none yet, or none that is still here, it is placed like a new one. */
static void resume_devices(struct qs_farm *farm, struct qs_farm_job *job)
{
    size_t devices = farm->p.config->device_count, chosen = 0;
    for (size_t d = 0; d < devices; d++) {
        for (size_t i = 0; i < job->earlier.count && !job->pending[d]; i++)
            job->pending[d] =
                job->matches[d] && strcmp(job->earlier.at[i].device, farm->p.config->devices[d].name) == 0;
        chosen += job->pending[d] ? 1 : 0;
    }
    if (chosen == 0)
        return;
    job->running = true;
    size_t most = job->spec->take == QS_TAKE_ALL     ? devices
                  : job->spec->take == QS_TAKE_COUNT ? job->spec->take_count
                                                     : 1;
    for (size_t d = 0; d < devices && chosen < most; d++) {
        if (job->matches[d] && !job->pending[d]) {
            job->pending[d] = true;
            chosen++;
        }
    }
}

/* Whoever cancelled it was told so: it ends here, even where the daemon died before its window was over. */
static void go_on_with(struct qs_farm *farm, struct qs_farm_job *job, const char *cancelled)
{
    qs_log(farm->p.log, QS_LOG_INFO, "farm", "job=%lld taken over from the database, %s", (long long)job->id,
           cancelled ? cancelled : "going on");
    qs_farm_add(farm, job);
    if (cancelled) {
        qs_farm_finish(job, QS_JOB_CANCELLED, cancelled, NULL, NULL);
        return;
    }
    qs_farm_match(farm, job->spec, job->matches);
    resume_devices(farm, job);
}

static bool take_over(struct qs_farm *farm, const struct qs_live_job *live, struct qs_err *err)
{
    struct one_job one = {.id = live->id, .running = live->running};
    struct qs_job_spec *spec = NULL;
    if (!qs_store_read_now(farm->p.store, read_one_job, &one, err))
        return false;
    const struct qs_job_info *full = &one.job.at[0];
    struct qs_err why = QS_ERR_INIT;
    bool readable = qs_farm_spec_from_store(full->spec_json, full->seed, &spec, &why);
    struct qs_farm_job *job = qs_farm_job_new(farm, full->id, full->seed, spec, full->spec_json);
    job->submitted_wall_ns = full->submitted_wall_ns;
    job->resumed = job->has_earlier = one.running;
    job->earlier = one.samples;
    if (readable) {
        go_on_with(farm, job, one.cancelled);
    } else {
        qs_farm_add(farm, job);
        qs_farm_finish(job, QS_JOB_FAILED, why.text, NULL, NULL);
    }
    free(one.cancelled);
    qs_jobs_free(&one.job);
    return true;
}

bool qs_farm_start(struct qs_farm *farm, struct qs_err *err)
{
    struct former_life life = {.live = {.count = 0}};
    if (!qs_store_read_now(farm->p.store, read_former_life, &life, err))
        return false;
    bool ok = true;
    if (life.left_open)
        qs_store_end_former_life(farm->p.store, qs_loop_wall_ns(farm->p.loop), on_marked, NULL);
    farm->newest_job = life.newest.count > 0 ? life.newest.at[0].id : 0;
    for (size_t i = 0; ok && i < life.live.count; i++)
        ok = take_over(farm, &life.live.at[i], err);
    if (ok) {
        farm->started = true;
        for (size_t i = 0; i < farm->p.config->device_count; i++)
            qs_device_start(farm->devices[i]);
        qs_farm_plan_soon(farm);
    }
    qs_live_jobs_free(&life.live);
    qs_jobs_free(&life.newest);
    return ok;
}

static void tell_stopped(void *user)
{
    struct qs_farm *farm = user;
    farm->on_stopped(farm->stopped_user);
}

/* The last events are on disk before anybody hears that the farm has stopped. A post, because who hears it
 * may close the store, whose callback this is. */
void qs_farm_answered(struct qs_farm *farm)
{
    if (farm->plan_held && farm->ends_waiting == 0 && farm->ends_asked == 0)
        qs_farm_plan_soon(farm);
    if (!farm->stopping || farm->outstanding > 0 || farm->stop_told)
        return;
    farm->stop_told = true;
    qs_loop_post(farm->p.loop, tell_stopped, farm);
}

void qs_farm_stop(struct qs_farm *farm, void (*on_stopped)(void *user), void *user)
{
    farm->stopping = true;
    farm->on_stopped = on_stopped;
    farm->stopped_user = user;
    for (size_t i = 0; i < farm->job_count; i++) {
        struct qs_farm_job *job = farm->jobs[i];
        qs_farm_end_stop(job);
        for (size_t d = 0; d < farm->p.config->device_count; d++) {
            if (!job->controls[d])
                continue;
            qs_control_abandon(job->controls[d]);
        }
    }
    for (size_t d = 0; d < farm->p.config->device_count; d++)
        qs_device_stop(farm->devices[d]);
    qs_farm_answered(farm);
}

size_t qs_farm_live_jobs(const struct qs_farm *farm)
{
    return farm->job_count;
}

struct cancelling {
    struct qs_farm *farm;
    int64_t job;
    qs_store_done_fn *done;
    void *user;
};

/* A job that is still here is cancelled, whatever the disk says: its end waits for it. */
static void on_cancel_stored(const struct qs_err *err, int64_t id, void *user)
{
    struct cancelling c = *(struct cancelling *)user;
    free(user);
    (void)id;
    c.done(qs_farm_find(c.farm, c.job) ? NULL : err, 0, c.user);
}

static void cancel_running(struct qs_farm *farm, struct qs_farm_job *job, const char *why)
{
    job->cancelled = true;
    job->cancel_why = qs_strdup(why);
    struct qs_control **live = qs_calloc(farm->p.config->device_count + 1, sizeof *live);
    size_t count = 0;
    for (size_t d = 0; d < farm->p.config->device_count; d++) {
        job->pending[d] = false;
        if (job->controls[d])
            live[count++] = job->controls[d];
    }
    if (count == 0)
        qs_farm_end_job(job);
    for (size_t i = 0; i < count; i++)
        qs_control_cancel(live[i], why);
    free(live);
}

bool qs_farm_cancel(struct qs_farm *farm, int64_t id, const char *why, qs_store_done_fn *done, void *user,
                    struct qs_err *err)
{
    struct qs_farm_job *job = qs_farm_find(farm, id);
    if (!job)
        return qs_fail(err, QS_E_NOT_FOUND, "job %lld is not queued or running", (long long)id);
    if (job->ending ? !qs_farm_cancel_end(job, why) : job->cancelled)
        return qs_fail(err, QS_E_CONFLICT, "job %lld is ending already", (long long)id);
    if (!job->ending)
        cancel_running(farm, job, why);
    struct cancelling *c = qs_malloc(sizeof *c);
    *c = (struct cancelling){.farm = farm, .job = id, .done = done, .user = user};
    qs_farm_news_cancel(farm, id, why, on_cancel_stored, c); /* behind the end of a job that had not begun */
    return true;
}
