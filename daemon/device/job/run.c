#include "device/job/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "device/job/impl.h"
#include "device/job/events.h"

/* A store request may outlive the link, even the job run: it carries what is needed to tell. */
struct request {
    struct qs_job_run *job;
    uint64_t epoch;
    enum qs_job_run_input good;
    bool quiet;
};

static void release(struct qs_job_run *job)
{
    qs_plan_done(&job->plan);
    free(job->patience);
    qs_job_run_window_reset(job);
    qs_job_run_artifacts_done(job);
    qs_job_run_fetch_done(job);
    qs_job_run_push_done(job);
    free(job->run.clean_ns);
    free(job->run.soft_ns);
    qs_controller_free(job->run.stop_rule);
    qs_planner_free(job->planner);
    qs_job_run_evals_done(job);
    free(job->boot_uuid);
    free(job->facts_json);
    free(job->cancel_why);
    free(job->block_uids);
    free(job->block_spoiled);
    free(job);
}

static void step(struct qs_job_run *job, enum qs_job_run_input input)
{
    const struct qs_job_run_row *row = qs_job_run_find(job->state, input);
    if (!row)
        return; /* late news of something that is over: every caller's input is harmless where the table has
                   no move */
    job->state = row->next;
    if (row->next != row->state && job->events.on_state)
        job->events.on_state(qs_job_run_state_text(row->state), qs_job_run_input_text(input),
                             qs_job_run_state_text(row->next), job->events.user);
    if (row->action)
        row->action(job);
}

void qs_job_run_feed(struct qs_job_run *job, enum qs_job_run_input input)
{
    if (job->feed_n < QS_JOB_RUN_FEED_MAX)
        job->feed[job->feed_n++] = input;
    if (job->stepping)
        return;
    job->stepping = true;
    while (job->feed_n > 0) {
        enum qs_job_run_input first = job->feed[0];
        memmove(job->feed, job->feed + 1, --job->feed_n * sizeof *job->feed);
        step(job, first);
    }
    job->stepping = false;
}

bool qs_job_run_answered(struct qs_job_run *job, uint64_t epoch)
{
    job->outstanding--;
    if (job->dead && job->outstanding == 0) {
        release(job);
        return false;
    }
    return !job->dead && epoch == job->epoch;
}

static void on_stored(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    struct request rq = *(struct request *)user;
    free(user);
    struct qs_job_run *job = rq.job;
    if (!qs_job_run_answered(job, rq.epoch))
        return;
    if (err) {
        qs_job_run_fail(job, err);
        /* Where nobody waits for the answer, a window may be open: it is ended like one that is cancelled. */
        qs_job_run_feed(job, rq.quiet ? QS_JI_CANCEL : QS_JI_FAIL);
    } else if (!rq.quiet) {
        qs_job_run_feed(job, rq.good);
    }
}

static void request(struct qs_job_run *job, enum qs_job_run_input good, bool quiet, qs_store_done_fn **fn,
                    void **user)
{
    struct request *rq = qs_malloc(sizeof *rq);
    *rq = (struct request){.job = job, .epoch = job->epoch, .good = good, .quiet = quiet};
    job->outstanding++;
    *fn = on_stored;
    *user = rq;
}

void qs_job_run_store_request(struct qs_job_run *job, enum qs_job_run_input good, qs_store_done_fn **fn,
                              void **user)
{
    request(job, good, false, fn, user);
}

void qs_job_run_store_quiet(struct qs_job_run *job, qs_store_done_fn **fn, void **user)
{
    request(job, QS_JI_FAIL, true, fn, user);
}

void qs_job_run_fail(struct qs_job_run *job, const struct qs_err *err)
{
    if (job->failed)
        return;
    job->failed = true;
    job->err = *err;
}

bool qs_job_run_is_operators(const struct qs_err *err)
{
    return qs_errc_blame(err->code) == QS_BLAME_OPERATOR && err->code != QS_E_CONFLICT;
}

void qs_job_run_unsent(struct qs_job_run *job, const struct qs_err *err)
{
    if (err->code == QS_E_LINK)
        return;
    if (qs_job_run_is_operators(err)) {
        qs_job_run_fail(job, err);
        qs_job_run_feed(job, QS_JI_FAIL);
    } else {
        qs_session_drop(job->p.session, err);
    }
}

bool qs_job_run_over(const struct qs_job_run *job)
{
    return job->cancelled || job->failed || job->end == QS_END_DEFER || job->end == QS_END_REQUEUE;
}

/* FNV-1a: block orders are keyed by the device's name, so that they survive a change of the farm's list. */
static uint64_t name_key(const char *name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    return h;
}

struct qs_job_run *qs_job_run_new(const struct qs_job_run_parts *parts,
                                  const struct qs_job_run_events *events)
{
    struct qs_job_run *job = qs_calloc(1, sizeof *job);
    job->p = *parts;
    job->events = *events;
    job->end = QS_END_DONE;
    qs_buf_init(&job->fetch.bytes);
    qs_buf_init(&job->artifacts.output);
    qs_buf_init(&job->artifacts.errors);
    qs_job_run_host_init(job);
    qs_assembler_init(&job->win.made);
    qs_plan_init(&job->plan, parts->spec, parts->seed, name_key(parts->device));
    job->patience = qs_calloc(parts->spec->condition_count, sizeof *job->patience);
    job->block_uids = qs_calloc(2 * parts->spec->arm_count, sizeof *job->block_uids);
    job->block_spoiled = qs_calloc(2 * parts->spec->arm_count, sizeof *job->block_spoiled);
    return job;
}

void qs_job_run_free(struct qs_job_run *job)
{
    if (!job)
        return;
    qs_timer_stop(job->lost_timer);
    job->lost_timer = NULL;
    job->dead = true;
    qs_job_run_artifacts_stop(job);
    qs_job_run_fetch_stop(job);
    qs_job_run_push_stop(job);
    qs_job_run_host_stop(job);
    if (job->outstanding == 0)
        release(job);
}

static void take_device(struct qs_job_run *job, const char *boot_uuid, const char *facts_json)
{
    char *boot = qs_strdup(boot_uuid), *facts = qs_job_run_environment(job, facts_json);
    free(job->boot_uuid);
    free(job->facts_json);
    job->boot_uuid = boot;
    job->facts_json = facts;
}

void qs_job_run_start(struct qs_job_run *job, const char *boot_uuid, const char *facts_json)
{
    take_device(job, boot_uuid, facts_json);
    job->began_ns = qs_loop_now_ns(job->p.loop);
    qs_job_run_feed(job, QS_JI_START);
}

void qs_job_run_cancel(struct qs_job_run *job, const char *why)
{
    if (job->cancelled)
        return;
    job->cancelled = true;
    job->cancel_why = qs_strdup(why);
    qs_job_run_feed(job, QS_JI_CANCEL);
}

void qs_job_run_abandon(struct qs_job_run *job)
{
    job->cancelled = true;
    qs_job_run_feed(job, QS_JI_ABANDON);
}

void qs_job_run_on_ready(struct qs_job_run *job, const char *boot_uuid, const char *facts_json)
{
    take_device(job, boot_uuid, facts_json);
    qs_timer_stop(job->lost_timer);
    job->lost_timer = NULL;
    if (job->state == QS_JS_LOST)
        qs_job_event_back(job);
    qs_job_run_feed(job, QS_JI_BACK);
}

void qs_job_run_on_down(struct qs_job_run *job, const struct qs_err *why)
{
    job->run.err = *why;
    qs_job_run_feed(job, QS_JI_DOWN);
}

const char *qs_job_run_waits_for(const struct qs_job_run *job)
{
    return job->state == QS_JS_GATE && job->win.waits_for[0] != '\0' ? job->win.waits_for : NULL;
}

void qs_job_run_refused(struct qs_job_run *job, const struct qs_err *why)
{
    bool cut_short = job->cancelled && job->state == QS_JS_RUN;
    if (!cut_short && !qs_job_run_is_operators(why)) {
        qs_session_drop(job->p.session, why);
        return;
    }
    if (!cut_short) /* a program whose setup was cancelled: how it ended is no news */
        qs_job_run_fail(job, why);
    /* What the agent refused is over for it; a window that is open there is ended first. */
    qs_job_run_feed(job, job->state == QS_JS_WINDOW ? QS_JI_CANCEL : QS_JI_FAIL);
}

bool qs_job_run_call(struct qs_job_run *job, enum qs_msg_type type, const void *m, int64_t allow_ns,
                     qs_session_reply *on_reply, struct qs_err *err)
{
    const struct qs_call call = {
        .type = type, .m = m, .allow_ns = allow_ns, .on_reply = on_reply, .user = job};
    return qs_session_call(job->p.session, &call, err);
}

const char *qs_job_run_state_name(const struct qs_job_run *job)
{
    return qs_job_run_state_text(job->state);
}
