#include "device/activity/pin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "device/activity/actions.h"
#include "device/activity/changed.h"
#include "device/activity/lock.h"
#include "device/activity/priority.h"
#include "device/activity/sustained.h"
#include "device/activity/trip.h"
#include "device/activity/warm.h"
#include "device/activity/watch.h"
#include "device/board/board.h"
#include "device/board/pin.h"
#include "device/job/asks.h"
#include "device/job/events.h"
#include "proto/names.h"
#include "proto/request.h"

enum {
    PAGES_MAX = 100, /* of RESTORED */
    AGAIN_MAX = 10   /* windows in a row after which what is held was found elsewhere, and put back */
};

struct pin {
    bool on; /* a question is out */
    uint32_t id;
    bool holding; /* something is changed on the device */
    char *held;   /* where it is: what for, as JSON; owned */
    char *online; /* the processors that are to run, as the device had them at first; owned, or NULL */
    char *cpus;   /* where the run in hand runs: "" any; owned, or NULL: as its conditions say */
    struct qs_pins pins;
    struct qs_warm warm;             /* what processors are kept busy for before each window */
    size_t sent, asked;              /* of pins.items: written, in the question that is out */
    size_t sustained_khz;            /* of the fastest clock; 0: not asked for yet */
    const struct qs_wishes *instead; /* borrowed: what is held is no run's; or NULL */
    bool watching;                   /* the agent has the sensors of what is held */
    bool looked_again;
    bool lost;                /* the last window ended with a limit elsewhere */
    bool told_idle;           /* that clocks of idle processors fall */
    bool unsure;              /* so, and the limits are not ours: they are to be looked at again */
    bool again;               /* what is held is being written again */
    unsigned times, in_a_row; /* that something was put back: in the session, since a good window */
    struct qs_moved moved;
    size_t pages, put_back, left;
    qs_job_run_then *then, *released; /* what follows: it is held; everything is put back */
};

static struct pin *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_PIN];
}

static void fail(struct qs_job_run *job, const struct qs_err *err)
{
    qs_job_run_fail(job, err);
    qs_job_run_tell(job,
                    mine(job)->instead         ? &qs_step_characterize
                    : job->state == QS_JS_HOLD ? &qs_step_pin
                                               : &qs_step_turn,
                    QS_JI_FAIL);
}

static const struct qs_wishes *wishes_of(const struct qs_job_run *job)
{
    return mine(job)->instead ? mine(job)->instead : &qs_schedule_conditions(&job->schedule)->controls.wishes;
}

/* Nothing of the device is to be changed. */
static bool wants_nothing(const struct qs_job_run *job)
{
    return qs_wishes_none(wishes_of(job)) && (mine(job)->instead || !qs_activity_priority_is_fifo(job));
}

/* ---- put back ---- */

/* True: all of it is told. */
static bool take_restored(struct qs_job_run *job, const struct qs_msg_restored *m)
{
    struct pin *p = mine(job);
    qs_changed_back(job, m, true, &p->put_back, &p->left);
    if (m->more && m->files.count > 0 && ++p->pages < PAGES_MAX)
        return false;
    if (p->put_back + p->left > 0)
        qs_job_event_restored(job, p->put_back, p->left);
    p->holding = false;
    return true;
}

static void ask_restore(struct qs_job_run *job);

static void on_restored(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    (void)refused;
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    if (!take_restored(job, &reply->restored)) {
        ask_restore(job);
    } else if (mine(job)->left > 0 &&
               job->state != QS_JS_UNLOCK) { /* the next runs would be held all the same */
        struct qs_err err = QS_ERR_INIT;
        qs_fail(&err, QS_E_PRECONDITION,
                "%zu file%s of %s could not be put back, and what comes would be measured with what stands "
                "there; "
                "quiesce devices show %s lists them",
                mine(job)->left, mine(job)->left == 1 ? "" : "s", job->p.device, job->p.device);
        qs_job_run_fail(job, &err);
        qs_job_run_feed(job, QS_JI_FAIL);
    } else {
        mine(job)->released(job);
    }
}

static void ask_restore(struct qs_job_run *job)
{
    const struct qs_msg_restore m = {.id = ++mine(job)->id};
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_RESTORE, &m, 0, on_restored);
}

void qs_activity_pin_release(struct qs_job_run *job, qs_job_run_then *then)
{
    struct pin *p = mine(job);
    p->pages = p->put_back = p->left = 0;
    p->released = then;
    if (qs_session_has(job->p.session, QS_FEATURE_CONTROL))
        ask_restore(job);
    else
        then(job);
}

/* ---- held ---- */

static void go_on(struct qs_job_run *job)
{
    mine(job)->then(job);
}

static void on_watched(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    (void)reply;
    (void)refused;
    if (qs_job_run_heard(&mine(user)->on))
        go_on(user);
}

static void bind_watches(struct qs_job_run *job)
{
    uint8_t memory[QS_CONTROL_MAX_BYTES];
    struct pin *p = mine(job);
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    p->watching = p->pins.choices.count > 0;
    if (!qs_watch_add(job, &p->pins, &list)) {
        struct qs_err err = QS_ERR_INIT;
        qs_fail(&err, QS_E_LIMIT,
                "%s has %zu clocks to hold: with its sensors that is more than the agent can watch (%d "
                "files), and what is not watched is not known to be held; write `frequency: free`",
                job->p.device, p->pins.choices.count, QS_BIND_MAX);
        fail(job, &err);
        return;
    }
    const struct qs_msg_bind m = {.id = ++mine(job)->id, .sensors = qs_build_list(&list)};
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_BIND, &m, 0, on_watched);
}

static void write_next(struct qs_job_run *job);
static void watch(struct qs_job_run *job);
static void hold(struct qs_job_run *job);

/* Everything is written again. What does not stay (a device that is too hot) goes on to taint its windows. */
static void held_again(struct qs_job_run *job)
{
    struct pin *p = mine(job);
    p->again = false;
    if (p->moved.files == 0 || p->moved.resists) {
        p->then(job);
        return;
    }
    p->times++;
    qs_job_event_pinned(job, &p->pins, p->times);
    if (++p->in_a_row < AGAIN_MAX) {
        p->then(job);
        return;
    }
    struct qs_err err = QS_ERR_INIT;
    qs_watch_keeps_moving(job, &p->moved, AGAIN_MAX, &err);
    fail(job, &err);
}

static void on_tuned(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct pin *p = mine(job);
    struct qs_err err = QS_ERR_INIT;
    (void)refused;
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    qs_changed_set(job, &p->pins, p->sent, p->asked, &reply->tuned, p->instead ? NULL : job->run.uid.b);
    const struct qs_asked asked = {p->sent, p->asked, p->again, !p->instead};
    if (!qs_watch_check(job, &p->pins, &asked, &reply->tuned, &err)) {
        fail(job, &err);
        return;
    }
    if (!p->instead)
        qs_activity_priority_tuned(job, &p->pins, &asked, &reply->tuned);
    if (p->again)
        qs_watch_moved(&p->pins, &asked, &reply->tuned, &p->moved);
    p->sent += p->asked;
    if (p->sent < p->pins.items.count) {
        write_next(job);
        return;
    }
    if (p->again) {
        held_again(job);
        return;
    }
    if (p->pins.survey_again) { /* processors have come or gone, with files of their own */
        p->looked_again = true;
        qs_activity_lock_look_again(job, hold);
        return;
    }
    watch(job);
}

/* As many as one TUNE takes. */
static void write_next(struct qs_job_run *job)
{
    uint8_t memory[QS_CONTROL_MAX_BYTES];
    struct pin *p = mine(job);
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    p->asked = qs_changed_items(&p->pins, p->sent, &list);
    p->holding = true;
    const struct qs_msg_tune m = {.id = ++p->id,
                                  .lease_ms = QS_PIN_LEASE_MS,
                                  .settle_ms = QS_PIN_SETTLE_MS,
                                  .writes = qs_build_list(&list)};
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_TUNE, &m, 0, on_tuned);
}

/* What was watched for the conditions before is watched no more. */
static void hold_nothing(struct qs_job_run *job)
{
    if (mine(job)->watching)
        bind_watches(job);
    else
        go_on(job);
}

/* All of it is written, if anything is. */
static void watch(struct qs_job_run *job)
{
    struct pin *p = mine(job);
    qs_job_event_pinned(job, &p->pins, 0);
    if (p->warm.count > 1 && !p->told_idle)
        qs_job_event_warning(job,
                             "the job may use processors of %zu clocks: of those that it leaves idle in a "
                             "window the clock falls, and taints it; name the processors that it keeps busy "
                             "(`affinity: big`)",
                             p->warm.count);
    p->told_idle = p->told_idle || p->warm.count > 1;
    bind_watches(job);
}

static void take_sustained(struct qs_job_run *job, size_t khz, const struct qs_err *err)
{
    if (khz == 0)
        fail(job, err);
    mine(job)->sustained_khz = khz;
}

static void hold(struct qs_job_run *job)
{
    struct pin *p = mine(job);
    struct qs_wishes wishes = *wishes_of(job); /* borrows */
    struct qs_err err = QS_ERR_INIT;
    const struct qs_board *board = qs_activity_lock_board(job);
    qs_pins_done(&p->pins);
    qs_warm_done(&p->warm);
    p->sent = 0;
    if (wishes.frequency[QS_DOMAIN_CPU].how == QS_WISH_SUSTAINED && board && p->sustained_khz == 0 &&
        !qs_job_run_over(job)) {
        qs_sustained_find(job, hold, take_sustained);
        return;
    }
    if (board && wishes.frequency[QS_DOMAIN_CPU].how == QS_WISH_SUSTAINED)
        wishes.frequency[QS_DOMAIN_CPU] = qs_sustained_wish(board, p->sustained_khz);
    if (qs_job_run_over(job)) { /* cancelled while the device was looked at again */
        go_on(job);
        return;
    }
    bool able = board && qs_session_has(job->p.session, QS_FEATURE_CONTROL);
    if (qs_wishes_none(&wishes) && (!able || wants_nothing(job))) {
        hold_nothing(job);
        return;
    }
    wishes.unthrottled = !p->instead && qs_activity_priority_is_fifo(job);
    bool ok = qs_watch_able(job, board, &wishes, &err);
    if (ok && wishes.online && !p->looked_again) { /* a cluster that is off is none any more */
        free(p->online);
        p->online = qs_board_cpus_of(board, wishes.online, &err);
        ok = p->online != NULL;
    }
    wishes.online = wishes.online ? p->online : NULL;
    ok = ok && qs_board_pin(board, &wishes, p->looked_again, &p->pins, &err);
    ok = ok && qs_watch_can(job, &p->pins, &err) && (p->instead || qs_trip_allows(job, &p->pins, &err));
    if (ok && qs_wishes_warm(&wishes) && !p->pins.survey_again)
        ok = qs_board_hold(board, qs_activity_lock_home(job), p->cpus, &p->pins, &err);
    qs_warm_make(&p->warm, &p->pins);
    if (!ok)
        fail(job, &err);
    else if (p->pins.items.count > 0)
        write_next(job);
    else if (p->warm.count > 0)
        watch(job);
    else
        hold_nothing(job);
}

/* As it was before anything was changed: processors that were off then are off again. What the job's actions
 * have written stands under any conditions. */
static void hold_anew(struct qs_job_run *job)
{
    qs_activity_lock_back(job);
    qs_activity_actions_again(job, hold);
}

const char *qs_activity_pin_cpus(const struct qs_job_run *job)
{
    return mine(job)->cpus;
}

const char *qs_activity_pin_held(const struct qs_job_run *job)
{
    return mine(job)->holding || mine(job)->watching ? mine(job)->held : NULL;
}

const struct qs_job_expectation *qs_activity_pin_line(const struct qs_job_run *job, size_t index)
{
    const struct qs_job_conditions *set = qs_schedule_conditions(&job->schedule);
    const struct qs_warm *warm = &mine(job)->warm;
    if (index < set->gate_count)
        return &set->gate[index];
    return index - set->gate_count < warm->count ? &warm->lines[index - set->gate_count] : NULL;
}

static void hold_again(struct qs_job_run *job)
{
    struct pin *p = mine(job);
    p->lost = false;
    p->moved = (struct qs_moved){.files = 0};
    p->again = true;
    p->sent = 0;
    write_next(job);
}

void qs_activity_pin_closed(struct qs_job_run *job, const struct qs_msg_closed *m)
{
    struct pin *p = mine(job);
    bool moved = p->watching && qs_watch_is_lost(m);
    p->lost = p->holding && moved;
    p->unsure = p->warm.count > 0 && (p->unsure || moved);
    p->in_a_row = p->lost || m->iterations == 0 ? p->in_a_row : 0;
}

bool qs_activity_pin_is_lost(const struct qs_job_run *job)
{
    return mine(job)->lost && qs_session_has(job->p.session, QS_FEATURE_SENSE);
}

static void held(struct qs_job_run *job)
{
    qs_job_run_tell(job, &qs_step_pin, QS_JI_DONE);
}

static void start(struct qs_job_run *job)
{
    mine(job)->then = held;
    hold_again(job);
}

void qs_activity_pin_hold(struct qs_job_run *job, qs_job_run_then *then)
{
    struct pin *p = mine(job);
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(wanted);
    struct qs_json j = qs_json_to(&wanted);
    p->then = then;
    free(p->cpus);
    p->cpus = qs_watch_cpus(job, &err);
    if (!p->cpus) {
        fail(job, &err);
        return;
    }
    qs_json_object(&j);
    qs_wishes_put(&j, wishes_of(job));
    if (qs_wishes_warm(wishes_of(job)))
        qs_json_kstring(&j, "cpus", p->cpus);
    if (!p->instead && qs_activity_priority_is_fifo(job))
        qs_json_kbool(&j, "unthrottled", true);
    qs_json_object_end(&j);
    bool same = p->held && strcmp(p->held, wanted.data) == 0;
    if (p->holding && same && !p->instead && !qs_trip_allows(job, &p->pins, &err)) {
        fail(job, &err);
        return;
    }
    if (p->unsure && same) {
        p->unsure = false;
        qs_activity_lock_look_again(job, hold);
        return;
    }
    if (p->holding && p->lost && same) {
        hold_again(job);
        return;
    }
    if (p->holding || p->watching ? same : wants_nothing(job)) {
        go_on(job);
        return;
    }
    free(p->held);
    p->held = qs_buf_take(&wanted);
    p->looked_again = false;
    if (p->holding)
        qs_activity_pin_release(job, hold_anew);
    else
        hold(job);
}

void qs_activity_pin_hold_these(struct qs_job_run *job, const struct qs_wishes *wishes, qs_job_run_then *then)
{
    mine(job)->instead = wishes;
    qs_activity_pin_hold(job, then);
}

static void unlocked(struct qs_job_run *job)
{
    qs_job_run_tell(job, &qs_step_unlock, QS_JI_DONE);
}

static void unlock(struct qs_job_run *job)
{
    if (mine(job)->holding || qs_activity_actions_wrote(job))
        qs_activity_pin_release(job, unlocked);
    else
        unlocked(job);
}

/* What is changed stands until the next session begins, or until the device has heard no host for a while. */
static void stop(struct qs_job_run *job, const char *why)
{
    (void)why;
    struct pin *p = mine(job);
    p->on = p->holding = p->watching = p->lost = p->unsure = p->again = false;
    p->times = p->in_a_row = 0;
    p->instead = NULL;
    p->sustained_khz = 0;
    qs_pins_done(&p->pins);
    qs_warm_done(&p->warm);
}

static void done(struct qs_job_run *job)
{
    struct pin *p = mine(job);
    free(p->held);
    free(p->online);
    free(p->cpus);
    p->held = p->online = p->cpus = NULL;
}

const struct qs_step qs_step_pin = {.start = start};
const struct qs_step qs_step_unlock = {.start = unlock};
const struct qs_activity qs_activity_pin = {.state_bytes = sizeof(struct pin), .stop = stop, .done = done};
