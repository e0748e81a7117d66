/* The stages of a job's actions: which steps follow each other, what comes first and last, and what becomes
 * of a stage when the job is over. */
#include "device/activity/actions.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/activity/changed.h"
#include "device/activity/pin.h"
#include "device/activity/watch.h"
#include "device/job/asks.h"
#include "device/job/events.h"
#include "store/read/read.h"

struct qs_acts *qs_acts_of(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_ACTIONS];
}

static const struct qs_actions *list_of(const struct qs_job_run *job, enum qs_stage stage)
{
    return &job->p.spec->actions.stages[stage];
}

size_t qs_acts_arm(const struct qs_job_run *job)
{
    return qs_stage_is_of_run(qs_acts_of(job)->steps.stage) ? qs_schedule_arm(&job->schedule) : 0;
}

size_t qs_acts_point(const struct qs_job_run *job)
{
    return qs_stage_is_of_run(qs_acts_of(job)->steps.stage) ? job->schedule.point : 0;
}

const char *qs_activity_actions_wait(const struct qs_job_run *job)
{
    const struct qs_acts *a = qs_acts_of(job);
    return a->on && a->waits_for[0] != '\0' ? a->waits_for : NULL;
}

const struct qs_action *qs_acts_step(struct qs_job_run *job)
{
    return qs_steps_now(&qs_acts_of(job)->steps);
}

bool qs_activity_actions_wrote(const struct qs_job_run *job)
{
    return qs_acts_of(job)->wrote;
}

int64_t qs_acts_elapsed_ns(const struct qs_job_run *job)
{
    return qs_loop_now_ns(job->p.loop) - qs_acts_of(job)->step_ns;
}

bool qs_acts_is_cut(const struct qs_job_run *job)
{
    bool after = qs_stage_is_after(qs_acts_of(job)->steps.stage);
    return after ? job->cancelled : qs_job_run_over(job);
}

/* ---- questions ---- */

/* What its operator can change fails the job, for all else the link is given up. */
void qs_acts_unsent(struct qs_job_run *job, const struct qs_err *err)
{
    qs_acts_of(job)->asking = false;
    if (qs_job_run_is_operators(err))
        qs_acts_fail(job, err);
    else
        qs_job_run_unsent(job, err);
}

void qs_acts_ask(struct qs_job_run *job, enum qs_msg_type type, const void *m, qs_session_reply *on_reply)
{
    struct qs_err err = QS_ERR_INIT;
    qs_acts_of(job)->asking = true;
    if (!qs_job_run_call(job, type, m, 0, on_reply, &err))
        qs_acts_unsent(job, &err);
}

/* ---- a stage ---- */

static void begin_stage(struct qs_job_run *job, enum qs_stage stage);

/* Which input follows from a state whose stages are done. */
static void leave(struct qs_job_run *job)
{
    enum qs_stage last = qs_acts_of(job)->last;
    bool over = qs_job_run_over(job);
    if (last == QS_STAGE_AFTER_WINDOW) /* one that is on disk is judged, whatever comes then */
        qs_job_run_feed(job, job->win.stored ? QS_JI_DONE : QS_JI_RUN_OVER);
    else if (!over || qs_stage_is_after(last))
        qs_job_run_feed(job, QS_JI_DONE);
    else
        qs_job_run_feed(job, qs_stage_is_of_run(last) ? QS_JI_RUN_OVER : QS_JI_POINT_OVER);
}

static void end_stage(struct qs_job_run *job)
{
    struct qs_acts *a = qs_acts_of(job);
    enum qs_stage stage = a->steps.stage;
    int64_t elapsed_ns = qs_loop_now_ns(job->p.loop) - a->began_ns;
    bool cut = a->cut || (job->cancelled && qs_steps_now(&a->steps) != NULL);
    const char *outcome = a->failed ? "failed" : cut ? "cancelled" : "done";
    a->on = false;
    a->waits_for[0] = '\0';
    if (qs_stage_is_of_run(stage)) /* as a wait for the gate: no measuring */
        qs_schedule_waited(&job->schedule, elapsed_ns, false);
    if (stage == QS_STAGE_BEFORE_JOB && !a->failed && !cut)
        a->prepared = true;
    qs_acted_stage(job, outcome, elapsed_ns);
    if (stage == a->last || (!qs_stage_is_after(stage) && qs_job_run_over(job)))
        leave(job);
    else
        begin_stage(job, stage + 1);
}

/* Where the job is over, what comes before something ends; what comes after it is there to undo that. */
void qs_acts_go_on(struct qs_job_run *job)
{
    struct qs_acts *a = qs_acts_of(job);
    for (;;) {
        const struct qs_action *step = qs_steps_now(&a->steps);
        if (!step || (qs_job_run_over(job) && !qs_stage_is_after(a->steps.stage)))
            break;
        a->step_ns = qs_loop_now_ns(job->p.loop);
        a->has_first = false;
        if (!qs_acts_begin(job, step))
            return;
        qs_steps_next(&a->steps);
    }
    end_stage(job);
}

void qs_acts_over(struct qs_job_run *job)
{
    struct qs_acts *a = qs_acts_of(job);
    a->waits_for[0] = '\0';
    qs_steps_next(&a->steps);
    qs_acts_go_on(job);
}

void qs_acts_cut(struct qs_job_run *job)
{
    qs_acts_of(job)->cut = true;
    qs_acts_over(job);
}

void qs_acts_fail(struct qs_job_run *job, const struct qs_err *err)
{
    qs_acts_of(job)->failed = true;
    qs_acted_did(job, "failed: %s", err->text);
    qs_job_run_fail(job, err);
    qs_acts_over(job);
}

void qs_acts_wrong(struct qs_job_run *job, enum qs_errc code, const char *what)
{
    QS_BUF(place);
    struct qs_err err = QS_ERR_INIT;
    qs_steps_place(&qs_acts_of(job)->steps, &place);
    qs_fail(&err, code, "%s: %s", place.data, what);
    qs_acts_fail(job, &err);
}

static bool is_due(const struct qs_job_run *job, enum qs_stage stage)
{
    const struct qs_acts *a = qs_acts_of(job);
    bool given_back = job->end == QS_END_DEFER || job->end == QS_END_REQUEUE;
    switch (stage) {
    case QS_STAGE_BEFORE_JOB:
        return !a->prepared;
    case QS_STAGE_BEFORE_SESSION:
    case QS_STAGE_BEFORE_RUN:
    case QS_STAGE_BEFORE_WINDOW:
        return true;
    case QS_STAGE_AFTER_WINDOW:
        return a->begun[QS_STAGE_BEFORE_WINDOW];
    case QS_STAGE_AFTER_RUN:
        return a->begun[QS_STAGE_BEFORE_RUN];
    case QS_STAGE_AFTER_SESSION:
        return a->begun[QS_STAGE_BEFORE_SESSION];
    case QS_STAGE_AFTER_JOB:
        return a->begun[QS_STAGE_BEFORE_JOB] && !given_back;
    case QS_STAGE_COUNT:
        break;
    }
    return false;
}

static void begin_stage(struct qs_job_run *job, enum qs_stage stage)
{
    struct qs_acts *a = qs_acts_of(job);
    bool due = is_due(job, stage);
    if (!qs_stage_is_after(stage) && qs_job_run_over(job)) { /* it does not begin */
        leave(job);
        return;
    }
    if (qs_stage_is_after(stage)) /* each once */
        a->begun[QS_STAGE_AFTER_JOB - stage] = false;
    else
        a->begun[stage] = true;
    qs_steps_begin(&a->steps, stage, list_of(job, stage));
    if (due && list_of(job, stage)->count > 0) {
        a->on = true;
        a->failed = a->cut = false;
        a->began_ns = qs_loop_now_ns(job->p.loop);
        qs_acts_go_on(job);
    } else if (stage == a->last) {
        leave(job);
    } else {
        begin_stage(job, stage + 1);
    }
}

static void walk(struct qs_job_run *job, enum qs_stage first, enum qs_stage last)
{
    qs_acts_of(job)->last = last;
    begin_stage(job, first);
}

/* ---- before everything ---- */

struct look {
    struct qs_job_look at;
    int64_t of_job;
    bool prepared;
};

static bool look(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct look *l = user;
    return qs_read_was_prepared(reader, l->of_job, l->at.device, &l->prepared, err);
}

/* What an earlier session wrote was put back with it. */
static void warn_of_writes(struct qs_job_run *job)
{
    if (qs_actions_have(list_of(job, QS_STAGE_BEFORE_JOB), QS_ACTION_WRITE))
        qs_job_event_warning(job,
                             "before_job was done in an earlier session of the job on %s, and what it wrote "
                             "there was put back with that session; what each session needs belongs "
                             "into `before_session`",
                             job->p.device);
}

static void begin(struct qs_job_run *job)
{
    if (qs_acts_of(job)->prepared && !qs_job_run_over(job))
        warn_of_writes(job);
    walk(job, QS_STAGE_BEFORE_JOB, QS_STAGE_BEFORE_SESSION);
}

static void on_looked(const struct qs_err *err, void *user)
{
    struct look l = *(struct look *)user;
    struct qs_job_run *job = l.at.job;
    free(user);
    if (!qs_job_look_end(&l.at))
        return;
    if (err)
        qs_job_run_fail(job, err);
    qs_acts_of(job)->prepared = l.prepared;
    begin(job);
}

static void start_before(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    if (!qs_job_run_over(job) && !qs_acts_can(job, &err))
        qs_job_run_fail(job, &err);
    bool resumed = job->p.earlier != NULL && !qs_acts_of(job)->prepared;
    if (!resumed || qs_job_run_over(job) || list_of(job, QS_STAGE_BEFORE_JOB)->count == 0) {
        begin(job);
        return;
    }
    struct look *l = qs_calloc(1, sizeof *l);
    l->of_job = job->p.job;
    qs_job_look_begin(&l->at, job, look, on_looked);
}

static void start_before_run(struct qs_job_run *job)
{
    walk(job, QS_STAGE_BEFORE_RUN, QS_STAGE_BEFORE_RUN);
}

static void start_before_window(struct qs_job_run *job)
{
    walk(job, QS_STAGE_BEFORE_WINDOW, QS_STAGE_BEFORE_WINDOW);
}

static void start_after_window(struct qs_job_run *job)
{
    walk(job, QS_STAGE_AFTER_WINDOW, QS_STAGE_AFTER_WINDOW);
}

static void start_after_run(struct qs_job_run *job)
{
    walk(job, QS_STAGE_AFTER_RUN, QS_STAGE_AFTER_RUN);
}

static void start_after(struct qs_job_run *job)
{
    walk(job, QS_STAGE_AFTER_SESSION, QS_STAGE_AFTER_JOB);
}

static void cancel(struct qs_job_run *job)
{
    if (qs_acts_of(job)->on)
        qs_acts_cancel(job);
}

/* ---- what was written stands again ---- */

static void write_again(struct qs_job_run *job);

static void on_again(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct qs_acts *a = qs_acts_of(job);
    struct qs_err err = QS_ERR_INIT;
    (void)refused; /* it is about no run: it cannot be */
    if (!qs_job_run_heard(&qs_acts_of(job)->asking))
        return;
    const struct qs_asked asked = {a->again, a->asked, false, false};
    qs_changed_set(job, &a->kept, asked.from, asked.n, &reply->tuned, NULL);
    if (qs_watch_check(job, &a->kept, &asked, &reply->tuned, &err)) {
        a->again += a->asked;
        write_again(job);
        return;
    }
    qs_job_run_fail(job, &err);
    qs_job_run_tell(job, &qs_step_turn, QS_JI_FAIL);
}

static void write_again(struct qs_job_run *job)
{
    uint8_t memory[QS_CONTROL_MAX_BYTES];
    struct qs_acts *a = qs_acts_of(job);
    struct qs_err err = QS_ERR_INIT;
    struct qs_build list;
    if (a->again == a->kept.items.count) {
        a->then(job);
        return;
    }
    qs_build_init(&list, memory, sizeof memory);
    a->asked = qs_changed_items(&a->kept, a->again, &list);
    const struct qs_msg_tune m = {.id = ++a->id,
                                  .lease_ms = QS_PIN_LEASE_MS,
                                  .settle_ms = QS_PIN_SETTLE_MS,
                                  .writes = qs_build_list(&list)};
    a->asking = a->wrote = true;
    if (!qs_job_run_call(job, QS_MSG_TUNE, &m, 0, on_again, &err))
        qs_job_run_unsent(job, &err);
}

void qs_activity_actions_again(struct qs_job_run *job, qs_job_run_then *then)
{
    struct qs_acts *a = qs_acts_of(job);
    a->then = then;
    a->again = 0;
    a->wrote = false;
    write_again(job);
}

/* ---- its end ---- */

/* What was written stands until the next session begins, or until the device has heard no host for a while.
 */
static void stop(struct qs_job_run *job, const char *why)
{
    struct qs_acts *a = qs_acts_of(job);
    (void)why;
    qs_timer_stop(a->timer);
    a->timer = NULL;
    a->on = a->asking = a->loaded = a->wrote = false;
    a->waits_for[0] = '\0';
    memset(a->begun, 0, sizeof a->begun);
    qs_pins_done(&a->kept);
    qs_pins_done(&a->write);
    qs_strings_done(&a->did);
    a->did_count = 0;
}

static void done(struct qs_job_run *job)
{
    struct qs_acts *a = qs_acts_of(job);
    free(a->told);
    free(a->warned);
}

const struct qs_step qs_step_before = {.start = start_before, .cancel = cancel};
const struct qs_step qs_step_before_run = {.start = start_before_run, .cancel = cancel};
const struct qs_step qs_step_before_window = {.start = start_before_window, .cancel = cancel};
const struct qs_step qs_step_after_window = {.start = start_after_window, .cancel = cancel};
const struct qs_step qs_step_after_run = {.start = start_after_run, .cancel = cancel};
const struct qs_step qs_step_after = {.start = start_after, .cancel = cancel};
const struct qs_activity qs_activity_actions = {
    .state_bytes = sizeof(struct qs_acts), .stop = stop, .done = done};
