#include "device/job/run.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "device/activity/actions.h"
#include "device/activity/cools.h"
#include "device/activity/headroom.h"
#include "device/job/events.h"
#include "device/job/impl.h"

static const struct qs_activity *const activities[] = {
#define A(symbol, name) &qs_activity_##name,
    QS_ACTIVITIES(A)
#undef A
};

static const struct qs_step *const steps[] = {
#define S(symbol, name, waits, step) &qs_step_##step,
    QS_JOB_RUN_STATES(S)
#undef S
};

const struct qs_step qs_step_none = {.start = NULL};

/* ---- moves ---- */

static void move(struct qs_job_run *job, enum qs_job_run_input input)
{
    const struct qs_job_run_row *row = qs_job_run_find(job->state, input);
    if (!row)
        return; /* late news of something that is over: every caller's input is harmless where the table has
                   no move */
    const struct qs_step *from = steps[row->state], *to = steps[row->next];
    job->state = row->next;
    if (row->next != row->state && job->events.on_state)
        job->events.on_state(qs_job_run_state_text(row->state), qs_job_run_input_text(input),
                             qs_job_run_state_text(row->next), job->events.user);
    if (to != from)
        to->start(job);
    else if (input == QS_JI_CANCEL && to->cancel)
        to->cancel(job);
}

void qs_job_run_feed(struct qs_job_run *job, enum qs_job_run_input input)
{
    assert(job->feed_n < QS_JOB_RUN_FEED_MAX);
    job->feed[job->feed_n++] = input;
    if (job->stepping)
        return;
    job->stepping = true;
    while (job->feed_n > 0) {
        enum qs_job_run_input first = job->feed[0];
        memmove(job->feed, job->feed + 1, --job->feed_n * sizeof *job->feed);
        move(job, first);
    }
    job->stepping = false;
}

void qs_job_run_tell(struct qs_job_run *job, const struct qs_step *step, enum qs_job_run_input input)
{
    if (steps[job->state] == step)
        qs_job_run_feed(job, input);
}

/* ---- answers of the store ---- */

/* A store request may outlive the link, even the job run: it carries what is needed to tell. */
struct request {
    struct qs_job_run *job;
    uint64_t epoch;
    const struct qs_step *step; /* that waits for it; NULL: nobody does */
    qs_job_run_then *then;      /* NULL: then it is done */
};

static void release(struct qs_job_run *job)
{
    for (size_t i = QS_ACTIVITY_COUNT; i-- > 0;) {
        if (activities[i]->done)
            activities[i]->done(job);
        free(job->activities[i]);
    }
    qs_schedule_done(&job->schedule);
    free(job->patience);
    qs_cools_free(job->cools);
    qs_headroom_free(job->headroom);
    qs_assembler_done(&job->win.made);
    free(job->run.clean_ns);
    free(job->run.disturbed_ns);
    qs_stopping_free(job->run.stop_rule);
    qs_planner_free(job->planning.planner);
    free(job->boot_uuid);
    free(job->facts_json);
    free(job->cancel_why);
    free(job->block.uids);
    free(job->block.spoiled);
    free(job);
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

void qs_job_run_stored(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    struct request rq = *(struct request *)user;
    free(user);
    struct qs_job_run *job = rq.job;
    if (!qs_job_run_answered(job, rq.epoch))
        return;
    if (err)
        qs_job_run_fail(job, err);
    if (err && !rq.step) /* a window may be open: it is ended like one that is cancelled */
        qs_job_run_feed(job, QS_JI_CANCEL);
    else if (err || (rq.step && !rq.then))
        qs_job_run_tell(job, rq.step, err ? QS_JI_FAIL : QS_JI_DONE);
    else if (rq.step && rq.step == steps[job->state])
        rq.then(job);
}

static struct request *request(struct qs_job_run *job, const struct qs_step *step, qs_job_run_then *then)
{
    struct request *rq = qs_malloc(sizeof *rq);
    *rq = (struct request){.job = job, .epoch = job->epoch, .step = step, .then = then};
    job->outstanding++;
    return rq;
}

void *qs_job_run_awaits(struct qs_job_run *job, qs_job_run_then *then)
{
    return request(job, steps[job->state], then);
}

void *qs_job_run_asks(struct qs_job_run *job)
{
    return request(job, NULL, NULL);
}

/* ---- trouble ---- */

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

void qs_job_run_new_run(struct qs_job_run *job)
{
    struct qs_run_in_hand *run = &job->run;
    free(run->clean_ns);
    free(run->disturbed_ns);
    qs_stopping_free(run->stop_rule);
    *run = (struct qs_run_in_hand){.began_ns = qs_loop_now_ns(job->p.loop)};
    for (size_t i = 0; i < QS_ACTIVITY_COUNT; i++) {
        if (activities[i]->new_run)
            activities[i]->new_run(job);
    }
    qs_loop_random(job->p.loop, run->uid.b, sizeof run->uid.b);
}

bool qs_job_run_over(const struct qs_job_run *job)
{
    return job->cancelled || job->failed || job->end == QS_END_DEFER || job->end == QS_END_REQUEUE;
}

void qs_job_run_cut_short(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    const char *why = job->cancel_why ? job->cancel_why : "the job ends";
    struct qs_uid of = job->run.uid;
    if (qs_uid_is_zero(&of)) /* a hook before the first run: it ends by any uid, and the frame wants one */
        memcpy(of.b, qs_activity_session_uid(job), sizeof of.b);
    /* A link that is gone reports itself; there is nobody to cancel then. */
    (void)qs_session_cancel(job->p.session, &of, why, &err);
}

bool qs_job_run_call(struct qs_job_run *job, enum qs_msg_type type, const void *m, int64_t allow_ns,
                     qs_session_reply *on_reply, struct qs_err *err)
{
    const struct qs_call call = {
        .type = type, .m = m, .allow_ns = allow_ns, .on_reply = on_reply, .user = job};
    return qs_session_call(job->p.session, &call, err);
}

/* ---- the link is lost, the job is over ---- */

static void stop_activities(struct qs_job_run *job, const char *why)
{
    for (size_t i = QS_ACTIVITY_COUNT; i-- > 0;) {
        if (activities[i]->stop)
            activities[i]->stop(job, why);
    }
}

/* What was in hand is over: the farm and the disk hear of it. */
static void let_go(struct qs_job_run *job, const struct qs_err *why, const char *text)
{
    qs_job_run_give_token(job);
    qs_job_run_set_silence(job, false);
    qs_job_run_interrupt_block(job, why);
    stop_activities(job, text);
}

static void on_lost_too_long(void *user)
{
    struct qs_job_run *job = user;
    job->lost_timer = NULL;
    struct qs_err err = QS_ERR_INIT;
    qs_fail(&err, QS_E_LINK, "%s did not come back within %d s: %s", job->p.device, QS_JOB_RUN_LOST_S,
            job->run.err.text);
    qs_job_run_fail(job, &err);
    qs_job_run_feed(job, QS_JI_FAIL);
}

static void lose(struct qs_job_run *job)
{
    struct qs_err why = job->run.err;
    job->epoch++;
    qs_assembler_done(&job->win.made);
    if (job->run.open_on_agent || job->schedule.turn > 0 || job->block.runs > 0)
        qs_job_event_repeat(job, why.text);
    let_go(job, &why, why.text);
    memset(&job->run.uid, 0, sizeof job->run.uid);
    job->run.open_on_agent = false;
    qs_job_event_lost(job, why.text);
    qs_schedule_repeat_block(&job->schedule);
    if (job->schedule.repeats > QS_JOB_RUN_REPEATS_MAX) {
        struct qs_err err = QS_ERR_INIT;
        qs_fail(&err, QS_E_LINK, "%s was lost %d times in one block, the last time: %s", job->p.device,
                QS_JOB_RUN_REPEATS_MAX, why.text);
        qs_job_run_fail(job, &err);
    }
    if (qs_job_run_over(job))
        qs_job_run_feed(job, QS_JI_FAIL);
    else
        job->lost_timer =
            qs_timer_start(job->p.loop, QS_JOB_RUN_LOST_S * INT64_C(1000000000), on_lost_too_long, job);
}

const struct qs_step qs_step_lost = {.start = lose};

static void finish(struct qs_job_run *job)
{
    struct qs_err none = QS_ERR_INIT;
    job->epoch++; /* what is still on its way comes too late */
    qs_timer_stop(job->lost_timer);
    job->lost_timer = NULL;
    let_go(job, job->failed ? &job->err : &none, job->failed ? job->err.text : "abandoned");
    bool characterized = job->p.spec->characterize.on;
    struct qs_job_run_result result = {.end = job->end,
                                       .err = job->err,
                                       .stopped = characterized ? "characterized"
                                                                : qs_schedule_stop_name(job->stop)};
    if (job->failed)
        result.end = QS_END_FAILED;
    else if (job->cancelled)
        result.end = QS_END_CANCELLED;
    job->events.on_end(&result, job->events.user);
}

const struct qs_step qs_step_finish = {.start = finish};

/* ---- for the owner ---- */

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
    qs_assembler_init(&job->win.made);
    qs_schedule_init(&job->schedule, parts->spec, parts->seed, name_key(parts->device));
    job->patience = qs_calloc(parts->spec->condition_count, sizeof *job->patience);
    job->block.uids = qs_calloc(2 * parts->spec->arm_count, sizeof *job->block.uids);
    job->block.spoiled = qs_calloc(2 * parts->spec->arm_count, sizeof *job->block.spoiled);
    for (size_t i = 0; i < QS_ACTIVITY_COUNT; i++) {
        job->activities[i] = qs_calloc(1, activities[i]->state_bytes);
        if (activities[i]->init)
            activities[i]->init(job);
    }
    return job;
}

void qs_job_run_free(struct qs_job_run *job)
{
    if (!job)
        return;
    qs_timer_stop(job->lost_timer);
    qs_timer_stop(job->quiet.again);
    job->lost_timer = job->quiet.again = NULL;
    job->dead = true;
    stop_activities(job, NULL);
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
    if (job->state == QS_JS_GATE && job->win.waits_for[0] != '\0')
        return job->win.waits_for;
    return qs_activity_actions_wait(job);
}

const char *qs_job_run_state_name(const struct qs_job_run *job)
{
    return qs_job_run_state_text(job->state);
}
