#include "farm/farm.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "config/job/stored.h"
#include "device/ambient.h"
#include "farm/farm_impl.h"
#include "farm/say.h"
#include "store/read/read.h"

struct qs_farm *qs_farm_new(const struct qs_farm_parts *parts, const struct qs_farm_events *events)
{
    struct qs_farm *farm = qs_calloc(1, sizeof *farm);
    farm->p = *parts;
    farm->events = *events;
    farm->host_json = qs_farm_host_json();
    farm->hub = qs_hub_new();
    farm->ambients = qs_ambients_new(parts->loop, parts->config);
    farm->queue = qs_queue_new(qs_farm_device_fact);
    farm->inventory = qs_inventory_new();
    for (size_t i = 0; i < parts->config->device_count; i++)
        (void)qs_farm_add_device(farm, &parts->config->devices[i], NULL); /* one name, one device */
    return farm;
}

void qs_farm_free(struct qs_farm *farm)
{
    if (!farm)
        return;
    for (struct qs_inventory_item *item = qs_inventory_first(farm->inventory); item; item = item->next)
        qs_job_run_free(item->run); /* it reads the job */
    for (size_t i = 0; i < farm->job_count; i++)
        qs_farm_job_free(farm->jobs[i]);
    for (struct qs_inventory_item *item = qs_inventory_first(farm->inventory); item; item = item->next)
        qs_device_free(item->device);
    qs_farm_discover_end(farm);
    qs_farm_declared_done(farm);
    qs_timer_stop(farm->hold_end);
    qs_words_done(&farm->words);
    qs_queue_free(farm->queue);
    qs_inventory_free(farm->inventory);
    qs_hub_free(farm->hub);
    qs_ambients_free(farm->ambients);
    free(farm->jobs);
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
    struct qs_measured_runs measured;
    bool running;
    char *cancelled; /* why */
};

static bool read_one_job(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct one_job *one = user;
    if (!qs_read_job(reader, one->id, &one->job, err))
        return false;
    return qs_read_cancel(reader, one->id, &one->cancelled, err) &&
           (!one->running || qs_read_measured_runs(reader, one->id, &one->measured, err));
}

/* A job goes on where it was: on the devices that it has blocks of, and on as many as it takes. Where it has
 * none yet, or none that is still here, it is placed like a new one. */
static void resume_devices(struct qs_farm *farm, struct qs_farm_job *job)
{
    size_t fitting, chosen = 0;
    struct qs_inventory_item **fits = qs_farm_match(farm, job->spec, &fitting);
    qs_queue_add_begun(farm->queue, &job->queue);
    for (size_t i = 0; i < fitting; i++) {
        bool has_blocks = false;
        for (size_t s = 0; s < job->earlier.count && !has_blocks; s++)
            has_blocks = strcmp(job->earlier.at[s].device, fits[i]->config->name) == 0;
        if (has_blocks)
            qs_queue_claim(farm->queue, &job->queue, &fits[i]->queue);
        chosen += has_blocks ? 1 : 0;
    }
    job->running = chosen > 0;
    size_t most = job->spec->take == QS_TAKE_ALL     ? fitting
                  : job->spec->take == QS_TAKE_COUNT ? job->spec->take_count
                                                     : 1;
    for (size_t i = 0; i < fitting && job->running && chosen < most; i++) {
        if (qs_queue_has_claim(&job->queue, &fits[i]->queue))
            continue;
        qs_queue_claim(farm->queue, &job->queue, &fits[i]->queue);
        chosen++;
    }
    free(fits);
    if (!job->running)
        qs_queue_add_job(farm->queue, &job->queue, job->spec->where);
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
    bool readable = qs_job_from_store(full->spec_json, full->seed, &spec, &why);
    struct qs_farm_job *job = qs_farm_job_new(farm, full->id, full->seed, spec);
    job->submitted_wall_ns = full->submitted_wall_ns;
    job->resumed = job->has_earlier = one.running;
    job->earlier = one.measured;
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
    if (!qs_farm_read_words(farm, err) || !qs_store_read_now(farm->p.store, read_former_life, &life, err))
        return false;
    bool ok = true;
    if (life.left_open)
        qs_store_end_former_life(farm->p.store, qs_loop_wall_ns(farm->p.loop), on_marked, NULL);
    farm->newest_job = life.newest.count > 0 ? life.newest.at[0].id : 0;
    for (size_t i = 0; ok && i < life.live.count; i++)
        ok = take_over(farm, &life.live.at[i], err);
    if (ok) {
        farm->started = true;
        qs_farm_watch_holds(farm);
        for (struct qs_inventory_item *item = qs_inventory_first(farm->inventory); item; item = item->next)
            qs_device_start(item->device);
        qs_farm_discover(farm);
        qs_farm_dispatch_soon(farm);
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
    if (farm->dispatch_held && farm->ends_waiting == 0 && farm->ends_asked == 0)
        qs_farm_dispatch_soon(farm);
    if (!farm->stopping || farm->outstanding > 0 || farm->stop_told)
        return;
    farm->stop_told = true;
    qs_loop_post(farm->p.loop, tell_stopped, farm);
}

void qs_farm_stop(struct qs_farm *farm, void (*on_stopped)(void *user), void *user)
{
    farm->stopping = true;
    qs_timer_stop(farm->hold_end);
    farm->hold_end = NULL;
    farm->on_stopped = on_stopped;
    farm->stopped_user = user;
    for (size_t i = 0; i < farm->job_count; i++)
        qs_farm_end_stop(farm->jobs[i]);
    for (struct qs_inventory_item *item = qs_inventory_first(farm->inventory); item; item = item->next) {
        if (item->run)
            qs_job_run_abandon(item->run);
    }
    for (struct qs_inventory_item *item = qs_inventory_first(farm->inventory); item; item = item->next)
        qs_device_stop(item->device);
    qs_farm_discover_rest(farm);
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
    bool was_on_any = job->on_devices > 0;
    qs_queue_remove_job(farm->queue, &job->queue);
    if (!was_on_any)
        qs_farm_end_job(job);
    for (struct qs_inventory_item *item = qs_inventory_first(farm->inventory); item && was_on_any;
         item = item->next) {
        if (item->job == job)
            qs_job_run_cancel(item->run, why);
    }
}

bool qs_farm_cancel(struct qs_farm *farm, int64_t id, const char *why, qs_store_done_fn *done, void *user,
                    struct qs_err *err)
{
    struct qs_farm_job *job = qs_farm_find(farm, id);
    if (!job)
        return qs_fail(err, QS_E_NOT_FOUND, "job %lld is not queued or running", (long long)id);
    if (job->ending ? !qs_farm_cancel_end(job, why) : job->cancelled)
        return qs_fail(err, QS_E_CONFLICT, "job %lld is already ending", (long long)id);
    if (!job->ending)
        cancel_running(farm, job, why);
    struct cancelling *c = qs_malloc(sizeof *c);
    *c = (struct cancelling){.farm = farm, .job = id, .done = done, .user = user};
    qs_farm_emit_cancel(farm, id, why, on_cancel_stored, c); /* behind the end of a job that had not begun */
    return true;
}
