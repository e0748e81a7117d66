/* What the device has is looked for, by the profiles: its board, whose sensors the agent then knows in their
 * unit. It is looked at as its owner left it: what a session before has changed is put back first; what a
 * run's conditions want of the frequencies is pin.c's, affinity goes with each run, the gate with each
 * window. */
#include "device/activity/lock.h"

#include <string.h>

#include "base/text.h"
#include "device/activity/cools.h"
#include "device/activity/headroom.h"
#include "device/activity/meters.h"
#include "device/activity/pin.h"
#include "device/activity/probe.h"
#include "device/activity/trip.h"
#include "device/board/board.h"
#include "device/job/asks.h"
#include "device/job/events.h"
#include "proto/names.h"
#include "store/control.h"

enum { PAGES_MAX = 1000 }; /* of one pattern: a device that always has more is none */

struct lock {
    bool told; /* that the job begins */
    bool on;   /* a question is out */
    struct qs_strings patterns;
    size_t pattern, page;
    char after[QS_CONTROL_PATH_MAX_BYTES + 1];
    uint32_t id;
    struct qs_survey survey;
    struct qs_board *board; /* owned; NULL: not known */
    struct qs_board *home;  /* owned; NULL: that is it. Else as it was before the job changed it */
    size_t left_out;        /* sensors that the agent does not read, as the job was told */
    qs_job_run_then *then;
};

static struct lock *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_LOCK];
}

const struct qs_board *qs_activity_lock_board(const struct qs_job_run *job)
{
    return mine(job)->board;
}

const struct qs_board *qs_activity_lock_home(const struct qs_job_run *job)
{
    return mine(job)->home ? mine(job)->home : mine(job)->board;
}

void qs_activity_lock_back(struct qs_job_run *job)
{
    struct lock *l = mine(job);
    if (!l->home)
        return;
    qs_board_free(l->board);
    l->board = l->home;
    l->home = NULL;
}

static void forget(struct lock *l)
{
    l->on = false;
    l->pattern = l->page = 0;
    l->after[0] = '\0';
    qs_strings_done(&l->patterns);
    qs_survey_done(&l->survey);
    qs_board_free(l->board);
    qs_board_free(l->home);
    l->board = l->home = NULL;
}

static void on_bound(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    (void)refused; /* it is about no run: it cannot be */
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    qs_meters_bound(job, &reply->readings);
    mine(job)->then(job);
}

bool qs_activity_lock_add(struct qs_build *list, const struct qs_binding *b)
{
    size_t bytes = (size_t)2 + b->name.n + 2 + b->path.n + 4 * sizeof(int64_t) + 1;
    return list->count < QS_BIND_MAX && list->w.len + bytes <= QS_CONTROL_MAX_BYTES &&
           qs_build_binding(list, b);
}

/* Its agent takes what it says in thousandths. What taints nothing is read for gates alone. */
static bool bind_command(const struct qs_board_sensor *s, bool after, struct qs_build *list)
{
    unsigned watch = after                          ? QS_BIND_EVIDENCE
                     : s->watch == QS_WATCH_NONZERO ? QS_BIND_EVIDENCE | QS_BIND_HELD
                     : s->watch == QS_WATCH_CHANGES ? QS_BIND_EVIDENCE | QS_BIND_STEADY
                                                    : 0U;
    const struct qs_binding b = {.name = qs_text_of(s->name),
                                 .path = qs_text_of(s->command),
                                 .mul = s->mul,
                                 .div = s->div,
                                 .lo = s->lo,
                                 .hi = s->hi,
                                 .flags = (uint8_t)(QS_BIND_COMMAND | (s->bits ? QS_BIND_BITS : 0U) | watch)};
    return qs_activity_lock_add(list, &b);
}

/* What an agent cannot be asked for is no sensor of it. */
static bool bind_sensor(const struct qs_board_sensor *s, bool senses, bool after, struct qs_build *list)
{
    if (s->command)
        return bind_command(s, after && s->watch == QS_WATCH_NEVER, list);
    bool nonzero = s->watch == QS_WATCH_NONZERO;
    unsigned flags = QS_BIND_EVIDENCE | (nonzero ? QS_BIND_HELD : 0U) | (s->bits ? QS_BIND_BITS : 0U) |
                     (senses && s->watch == QS_WATCH_CHANGES ? QS_BIND_STEADY : 0U);
    const struct qs_binding b = {.name = qs_text_of(s->name),
                                 .path = qs_text_of(s->path),
                                 .mul = s->mul,
                                 .div = s->div,
                                 .lo = nonzero ? 0 : s->lo,
                                 .hi = nonzero ? 0 : s->hi,
                                 .flags = (uint8_t)flags};
    return s->status != QS_SENSOR_OK || qs_reads_energy(s->unit) || (s->bits && !senses) ||
           qs_activity_lock_add(list, &b);
}

/* By any set of the job, or a step of its actions: what the agent knows is the same in all its runs. */
static bool is_named(const struct qs_job_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->condition_count; i++) {
        const struct qs_job_conditions *set = &spec->conditions[i];
        for (size_t k = 0; k < set->gate_count; k++)
            if (strcmp(set->gate[k].sensor, name) == 0)
                return true;
        for (size_t k = 0; k < set->bound_count; k++)
            if (strcmp(set->bounds[k].kind, name) == 0)
                return true;
    }
    for (size_t i = 0; i < QS_STAGE_COUNT; i++)
        if (qs_actions_read(&spec->actions.stages[i], name))
            return true;
    return false;
}

/* So, of what it is after a window. */
static bool wants_end(const struct qs_job_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->condition_count; i++)
        for (size_t k = 0; k < spec->conditions[i].gate_count; k++)
            if (spec->conditions[i].gate[k].has_end && strcmp(spec->conditions[i].gate[k].sensor, name) == 0)
                return true;
    return false;
}

void qs_activity_lock_leave(struct qs_left_out *left, const char *name, bool watched)
{
    if (left->count < sizeof left->names / sizeof *left->names)
        left->names[left->count] = name;
    left->count++;
    left->watched += watched;
}

void qs_activity_lock_add_sensors(const struct qs_job_run *job, enum qs_sensor_use use, struct qs_build *list,
                                  struct qs_left_out *left)
{
    const struct qs_board *board = mine(job)->board;
    bool senses = qs_session_has(job->p.session, QS_FEATURE_SENSE);
    for (size_t i = 0; i < board->sensors.count; i++) {
        const struct qs_board_sensor *s = &board->sensors.at[i];
        bool watched = s->watch != QS_WATCH_NEVER;
        bool after = qs_trip_watches(job->p.spec, s) || qs_meters_name(job, s->name);
        enum qs_sensor_use its = after || is_named(job->p.spec, s->name) ? QS_SENSORS_NAMED
                                 : watched                               ? QS_SENSORS_WATCHED
                                                                         : QS_SENSORS_RECORDED;
        if (its == use && !bind_sensor(s, senses, after || wants_end(job->p.spec, s->name), list))
            qs_activity_lock_leave(left, s->name, watched);
    }
}

void qs_activity_lock_warn(struct qs_job_run *job, const struct qs_left_out *left)
{
    QS_BUF(names);
    if (left->count <= mine(job)->left_out)
        return;
    mine(job)->left_out = left->count;
    for (size_t i = 0; i < left->count && i < sizeof left->names / sizeof *left->names; i++)
        qs_buf_fmt(&names, "%s%s", i > 0 ? ", " : "", left->names[i]);
    if (left->count > sizeof left->names / sizeof *left->names)
        qs_buf_str(&names, ", ...");
    qs_job_event_warning(
        job,
        "%s has more sensors than its agent reads (%d): %zu of them %s left out (%s)%s; those that a gate, "
        "a bound or an action names come first",
        job->p.device, QS_BIND_MAX, left->count, left->count == 1 ? "is" : "are", names.data,
        left->watched > 0
            ? ", also some that tell of throttling: a window is not tainted for what only they see"
            : "");
}

/* The agent's own sensors of the same names know no units. */
static void bind_sensors(struct qs_job_run *job)
{
    uint8_t memory[QS_CONTROL_MAX_BYTES];
    struct qs_build list;
    struct qs_left_out left = {.count = 0};
    qs_build_init(&list, memory, sizeof memory);
    qs_meters_bind(job, &list, &left);
    for (unsigned use = 0; use < QS_SENSOR_USES; use++)
        qs_activity_lock_add_sensors(job, (enum qs_sensor_use)use, &list, &left);
    qs_activity_lock_warn(job, &left);
    const struct qs_msg_bind m = {.id = ++mine(job)->id, .sensors = qs_build_list(&list)};
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_BIND, &m, 0, on_bound);
}

static void keep_board(struct qs_job_run *job);

static void on_commands(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct qs_iter it = qs_list_iter(&reply->readings.readings);
    struct qs_reading r;
    (void)refused;
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    while (qs_list_reading(&it, &r)) {
        char name[QS_NAME_MAX_BYTES + 1];
        qs_text_copy(r.sensor, name, sizeof name);
        qs_board_take_command(mine(job)->board, name, r.status, r.value);
    }
    keep_board(job);
}

/* Which of the profiles' commands does it have, and what do they say? */
static void ask_commands(struct qs_job_run *job)
{
    uint8_t memory[QS_CONTROL_MAX_BYTES];
    struct qs_build list;
    struct qs_board *board = mine(job)->board;
    qs_build_init(&list, memory, sizeof memory);
    if (!qs_session_has(job->p.session, QS_FEATURE_SLOW))
        qs_board_drop_commands(board);
    for (size_t i = 0; i < board->sensors.count; i++)
        if (board->sensors.at[i].command)
            (void)bind_command(&board->sensors.at[i], false, &list);
    const struct qs_msg_bind m = {.id = ++mine(job)->id, .sensors = qs_build_list(&list)};
    if (list.count > 0)
        qs_job_run_ask(job, &mine(job)->on, QS_MSG_BIND, &m, 0, on_commands);
    else
        keep_board(job);
}

static void ask_survey(struct qs_job_run *job);

static void take_page(struct lock *l, const struct qs_msg_surveyed *m)
{
    struct qs_iter it = qs_list_iter(&m->files);
    struct qs_found f;
    while (qs_list_found(&it, &f)) {
        char path[QS_CONTROL_PATH_MAX_BYTES + 1];
        qs_text_copy(f.path, path, sizeof path);
        qs_survey_add(&l->survey, path, f.access, f.error == 0 ? QS_READING_OK : QS_READING_UNREADABLE,
                      f.error, f.value.p, f.value.n);
        memcpy(l->after, path, sizeof path);
    }
    bool more = m->more && m->files.count > 0 && ++l->page < PAGES_MAX && l->survey.count < QS_BOARD_ROWS_MAX;
    if (more)
        return;
    l->pattern++;
    l->page = 0;
    l->after[0] = '\0';
}

/* What has happened since the device was started can happen again. */
static void warn_of_past(struct qs_job_run *job)
{
    const struct qs_board *board = mine(job)->board;
    for (size_t i = 0; i < board->sensors.count; i++) {
        const struct qs_board_sensor *s = &board->sensors.at[i];
        if (s->bits && s->status == QS_SENSOR_OK && s->value != 0)
            qs_job_event_warning(job, "%s of %s: %s%s; check its power supply and its cooling", s->name,
                                 job->p.device, s->said != NULL ? s->said : "not 0",
                                 s->watch == QS_WATCH_NONZERO ? ", now: windows are tainted while it lasts"
                                                              : ", since the device was started");
    }
}

/* For people to look at (devices show). */
static void store_board(struct qs_job_run *job)
{
    QS_BUF(fingerprint);
    QS_BUF(json);
    qs_board_fingerprint(job->facts_json, &fingerprint);
    qs_board_json(mine(job)->board, &json);
    const struct qs_board_row row = {.device = job->p.device,
                                     .fingerprint = fingerprint.data,
                                     .json = json.data,
                                     .probed_wall_ns = qs_loop_wall_ns(job->p.loop)};
    qs_store_board(job->p.store, &row, qs_job_run_stored, qs_job_run_asks(job));
}

static void on_surveyed(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct lock *l = mine(job);
    (void)refused;
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    if (qs_job_run_over(job)) { /* nothing of it is needed any more */
        l->then(job);
        return;
    }
    take_page(l, &reply->surveyed);
    if (l->pattern < l->patterns.count) {
        ask_survey(job);
        return;
    }
    l->board = qs_board_new(&job->p.farm->profiles, &l->survey, job->facts_json);
    qs_meters_find(job, l->board, &l->survey);
    qs_survey_done(&l->survey);
    ask_commands(job);
}

static void keep_board(struct qs_job_run *job)
{
    if (!mine(job)->home) {
        store_board(job);
        warn_of_past(job);
    }
    qs_cools_read(job);
    qs_headroom_read(job, bind_sensors);
}

static void ask_survey(struct qs_job_run *job)
{
    struct lock *l = mine(job);
    const struct qs_msg_survey m = {
        .id = ++l->id, .pattern = qs_text_of(l->patterns.at[l->pattern]), .after = qs_text_of(l->after)};
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_SURVEY, &m, 0, on_surveyed);
}

static void look_for(struct qs_job_run *job, qs_job_run_then *then)
{
    struct lock *l = mine(job);
    l->then = then;
    if (job->p.farm && qs_session_has(job->p.session, QS_FEATURE_SURVEY))
        qs_board_survey_patterns(&job->p.farm->profiles, &l->patterns);
    if (l->patterns.count > 0)
        qs_meters_patterns(job, &l->patterns);
    else
        qs_meters_find(job, NULL, NULL);
    if (l->patterns.count > 0)
        ask_survey(job);
    else
        then(job);
}

void qs_activity_lock_look_again(struct qs_job_run *job, qs_job_run_then *then)
{
    struct lock *l = mine(job);
    struct qs_board *home = l->home ? l->home : l->board;
    if (home == l->board)
        l->board = NULL;
    l->home = NULL;
    forget(l);
    l->home = home;
    look_for(job, then);
}

static void locked(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    if (!job->p.spec->characterize.on && !qs_job_run_over(job) && !qs_meters_check(job, &err)) {
        qs_job_run_fail(job, &err);
        qs_job_run_tell(job, &qs_step_lock, QS_JI_FAIL);
        return;
    }
    qs_job_run_tell(job, &qs_step_lock,
                    job->p.spec->characterize.on    ? QS_JI_CHARACTERIZE
                    : qs_activity_probe_is_due(job) ? QS_JI_PROBE
                                                    : QS_JI_DONE);
}

static void look(struct qs_job_run *job)
{
    forget(mine(job));
    look_for(job, locked);
}

static void start(struct qs_job_run *job)
{
    if (!mine(job)->told)
        qs_job_event_start(job);
    mine(job)->told = true;
    qs_activity_pin_release(job, look);
}

static void stop(struct qs_job_run *job, const char *why)
{
    (void)why;
    forget(mine(job));
}

static void done(struct qs_job_run *job)
{
    forget(mine(job));
}

const struct qs_step qs_step_lock = {.start = start};
const struct qs_activity qs_activity_lock = {.state_bytes = sizeof(struct lock), .stop = stop, .done = done};
