/* Steps of a job's actions that go by a sensor: until it has fallen, until it has risen, and which way. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/farm/sensors.h"
#include "device/activity/actions.h"
#include "device/activity/lock.h"
#include "device/board/board.h"
#include "device/job/asks.h"
#include "device/job/events.h"
#include "proto/names.h"

#define S  INT64_C(1000000000)
#define MS INT64_C(1000000)

enum {
    LOAD_MORE_MS = 30000, /* a load outlasts its step, which ends it */
    POLL_S = 1,
    STALE_S = 60 /* an `if` waits so long for a reading that is young enough */
};

/* ---- how it ends ---- */

static void did(struct qs_job_run *job, const struct qs_action *action)
{
    const struct qs_acts *a = qs_acts_of(job);
    const char *sensor = action->when.sensor;
    QS_BUF(text);
    if (!sensor) {
        qs_buf_str(&text, "kept processors busy");
    } else {
        qs_buf_fmt(&text, "%s: ", sensor);
        if (a->first != a->value) {
            qs_sensor_print(sensor, a->first, &text);
            qs_buf_str(&text, " to ");
        }
        qs_sensor_print(sensor, a->value, &text);
    }
    qs_buf_str(&text, sensor ? " in " : " for ");
    qs_text_duration(&text, (double)qs_acts_elapsed_ns(job));
    qs_acted_did(job, "%s", text.data);
    qs_acts_over(job);
}

static void be_late(struct qs_job_run *job, const struct qs_action *action)
{
    struct qs_acts *a = qs_acts_of(job);
    QS_BUF(text);
    qs_buf_fmt(&text, "%s, after ", a->waits_for);
    qs_text_duration(&text, (double)qs_acts_elapsed_ns(job));
    if (action->on_timeout == QS_LATE_FAIL) {
        qs_buf_str(&text,
                   "; give it more time (`timeout`), or another bound; with `on_timeout: go_on` the job "
                   "goes on all the same");
        qs_acts_wrong(job, QS_E_PRECONDITION, text.data);
        return;
    }
    if (qs_acted_first(job, action))
        qs_job_event_warning(job, "%s: %s, going on (said once)", qs_stage_name(a->steps.stage), text.data);
    qs_acted_did(job, "%s", text.data);
    qs_acts_over(job);
}

static void conclude(struct qs_job_run *job)
{
    struct qs_acts *a = qs_acts_of(job);
    const struct qs_action *action = qs_acts_step(job);
    if (qs_acts_is_cut(job) || a->ending == QS_ACT_CUT)
        qs_acts_cut(job);
    else if (a->ending == QS_ACT_WRONG)
        qs_acts_wrong(job, QS_E_PRECONDITION, a->waits_for);
    else if (a->ending == QS_ACT_LATE)
        be_late(job, action);
    else
        did(job, action);
}

static void on_unloaded(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct qs_acts *a = qs_acts_of(job);
    (void)refused; /* it is about no run: it cannot be */
    if (!qs_job_run_heard(&qs_acts_of(job)->asking))
        return;
    a->loaded = false;
    if (reply->loaded.outcome != QS_LOAD_OFF) {
        snprintf(a->waits_for, sizeof a->waits_for, "the processors that were kept busy do not end");
        a->ending = QS_ACT_WRONG;
    }
    conclude(job);
}

/* The step ends so; processors that it keeps busy are left alone first. */
static void end(struct qs_job_run *job, enum qs_acts_ending ending)
{
    struct qs_acts *a = qs_acts_of(job);
    a->ending = ending;
    if (!a->loaded) {
        conclude(job);
        return;
    }
    const struct qs_msg_load m = {.id = ++a->id};
    qs_acts_ask(job, QS_MSG_LOAD, &m, on_unloaded);
}

void qs_acts_end_wait(struct qs_job_run *job)
{
    end(job, QS_ACT_CUT);
}

/* ---- readings ---- */

static void read_sensor(struct qs_job_run *job);

static void on_look(void *user)
{
    qs_acts_of(user)->timer = NULL;
    read_sensor(user);
}

static void look_later(struct qs_job_run *job)
{
    qs_acts_of(job)->timer = qs_timer_start(job->p.loop, POLL_S * S, on_look, job);
}

static void branch(struct qs_job_run *job, const struct qs_action *action, bool then,
                   enum qs_reading_status status)
{
    struct qs_acts *a = qs_acts_of(job);
    QS_BUF(text);
    if (status == QS_READING_OK)
        qs_sensor_print(action->when.sensor, a->value, &text);
    else
        qs_buf_str(&text, qs_reading_status_name(status));
    qs_acted_did(job, "%s is %s: %s", action->when.sensor, text.data, then ? "then" : "else");
    a->waits_for[0] = '\0';
    qs_steps_branch(&a->steps, then);
    qs_acts_go_on(job);
}

static void load(struct qs_job_run *job, const struct qs_action *action);

/* A reading that can be judged. */
static void judge(struct qs_job_run *job, const struct qs_action *action)
{
    struct qs_acts *a = qs_acts_of(job);
    const struct qs_job_expectation *e = &action->when;
    bool met = (!e->has_lo || a->value >= e->lo) && (!e->has_hi || a->value <= e->hi);
    QS_BUF(text);
    if (action->kind == QS_ACTION_IF) {
        branch(job, action, met, QS_READING_OK);
        return;
    }
    qs_job_put_unmet(job, e, QS_READING_OK, a->value, &text);
    snprintf(a->waits_for, sizeof a->waits_for, "%s", text.data);
    if (met)
        end(job, QS_ACT_MET);
    else if (qs_acts_elapsed_ns(job) >= action->limit_ns)
        end(job, QS_ACT_LATE);
    else if (action->kind == QS_ACTION_WARM_UP && !a->loaded)
        load(job, action);
    else
        look_later(job);
}

/* One that cannot. What is only too old is asked for again: it is read anew meanwhile. */
static void do_without(struct qs_job_run *job, const struct qs_action *action, enum qs_reading_status status)
{
    struct qs_acts *a = qs_acts_of(job);
    int64_t limit_ns = action->kind == QS_ACTION_IF ? STALE_S * S : action->limit_ns;
    if (status == QS_READING_STALE && qs_acts_elapsed_ns(job) < limit_ns) {
        look_later(job);
        return;
    }
    if (action->kind == QS_ACTION_IF && action->unreadable != QS_UNREAD_FAIL) {
        branch(job, action, action->unreadable == QS_UNREAD_THEN, status);
        return;
    }
    snprintf(a->waits_for, sizeof a->waits_for,
             "%s cannot be read: it is %s; `quiesce devices read %s` lists what can", action->when.sensor,
             qs_reading_status_name(status), job->p.device);
    end(job, QS_ACT_WRONG);
}

static void on_readings(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct qs_acts *a = qs_acts_of(job);
    struct qs_iter it = qs_list_iter(&reply->readings.readings);
    struct qs_reading r;
    (void)refused; /* it is about no run: it cannot be */
    if (!qs_job_run_heard(&qs_acts_of(job)->asking))
        return;
    const struct qs_action *action = qs_acts_step(job);
    if (qs_acts_is_cut(job)) {
        end(job, QS_ACT_CUT);
        return;
    }
    char name[QS_NAME_MAX_BYTES + 1];
    enum qs_reading_status status = QS_READING_MISSING;
    while (qs_list_reading(&it, &r)) {
        qs_text_copy(r.sensor, name, sizeof name);
        if (strcmp(name, action->when.sensor) != 0)
            continue;
        status = r.status;
        a->value = r.value;
        break;
    }
    if (status == QS_READING_OK && !a->has_first) {
        a->has_first = true;
        a->first = a->value;
    }
    if (status == QS_READING_OK)
        judge(job, action);
    else
        do_without(job, action, status);
}

static void read_sensor(struct qs_job_run *job)
{
    const struct qs_msg_read m = {.id = ++qs_acts_of(job)->id};
    qs_acts_ask(job, QS_MSG_READ, &m, on_readings);
}

bool qs_acts_if(struct qs_job_run *job, const struct qs_action *action)
{
    (void)action;
    read_sensor(job);
    return false;
}

bool qs_acts_cool_down(struct qs_job_run *job, const struct qs_action *action)
{
    if (qs_acts_is_cut(job))
        return true;
    qs_acted_begin(job, action);
    read_sensor(job);
    return false;
}

/* ---- load ---- */

static void on_over(void *user)
{
    qs_acts_of(user)->timer = NULL;
    end(user, QS_ACT_MET);
}

static void on_loaded(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct qs_acts *a = qs_acts_of(job);
    (void)refused; /* it is about no run: it cannot be */
    if (!qs_job_run_heard(&qs_acts_of(job)->asking))
        return;
    const struct qs_action *action = qs_acts_step(job);
    a->loaded = reply->loaded.outcome == QS_LOAD_ON;
    if (!a->loaded) {
        snprintf(a->waits_for, sizeof a->waits_for, "processors (%s) cannot be kept busy: the agent %s",
                 action->cpus ? action->cpus : "all",
                 reply->loaded.outcome == QS_LOAD_NO_CPUS ? "may not use all of them"
                                                          : "could start no process");
        end(job, QS_ACT_WRONG);
    } else if (qs_acts_is_cut(job)) {
        end(job, QS_ACT_CUT);
    } else if (action->for_ns > 0) {
        a->timer = qs_timer_start(job->p.loop, action->for_ns, on_over, job);
    } else {
        look_later(job);
    }
}

static void load(struct qs_job_run *job, const struct qs_action *action)
{
    struct qs_acts *a = qs_acts_of(job);
    const struct qs_board *board = qs_activity_lock_board(job);
    struct qs_err err = QS_ERR_INIT;
    QS_FREED char *cpus = NULL;
    bool word = action->cpus && (action->cpus[0] < '0' || action->cpus[0] > '9');
    if (word && board)
        cpus = qs_board_cpus_of(board, action->cpus, &err);
    else if (word)
        qs_fail(&err, QS_E_DENIED, "its processors are not known; write CPUs such as 0-3");
    if (word && !cpus) {
        qs_acts_wrong(job, err.code, err.text);
        return;
    }
    int64_t for_ns = action->for_ns > 0 ? action->for_ns : action->limit_ns - qs_acts_elapsed_ns(job);
    const struct qs_msg_load m = {.id = ++a->id,
                                  .cpus = qs_text_of(word           ? cpus
                                                     : action->cpus ? action->cpus
                                                                    : ""),
                                  .for_ms = (uint32_t)(for_ns / MS) + LOAD_MORE_MS};
    qs_acts_ask(job, QS_MSG_LOAD, &m, on_loaded);
}

bool qs_acts_warm_up(struct qs_job_run *job, const struct qs_action *action)
{
    if (qs_acts_is_cut(job))
        return true;
    qs_acted_begin(job, action);
    if (action->for_ns > 0)
        load(job, action);
    else
        read_sensor(job);
    return false;
}
