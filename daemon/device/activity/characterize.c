/* What the device is like: its sensors are read at rest, while its processors are kept busy, and after it;
 * for all of them together, then for each cluster. A stage is stored when it is over, and what is stored is
 * not done again: by the same job, nor by another where that does not ask for it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/activity/lock.h"
#include "device/activity/probe.h"
#include "device/activity/soak.h"
#include "device/board/board.h"
#include "device/board/heat.h"
#include "device/job/asks.h"
#include "device/job/events.h"
#include "proto/request.h"
#include "store/knob.h"

enum { TELL_EVERY_S = 10, LOAD_MORE_MS = 10000 };
#define S         INT64_C(1000000000)
#define ALL       "all"
#define NO_SENSOR SIZE_MAX

struct characterize {
    bool on; /* a question is out */
    uint32_t id;
    bool loaded;            /* processors are kept busy, or may be */
    struct qs_timer *timer; /* owned: the next reading */
    size_t stage;           /* 0: all processors; from 1 the clusters of the board */
    enum qs_heat_phase phase;
    int64_t began_ns, told_ns;                          /* of the phase */
    int64_t asked_ns;                                   /* the reading that is on its way */
    const struct qs_board_sensor *sensors[QS_BIND_MAX]; /* borrowed of the board */
    size_t sensor_count;
    struct qs_heat_log logs[QS_HEAT_PHASES];
    struct qs_strings known; /* stages that are stored */
    qs_job_run_then *then;   /* what follows LOADED */
};

static struct characterize *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_CHARACTERIZE];
}

static const struct qs_job_characterize *plan(const struct qs_job_run *job)
{
    return &job->p.spec->characterize;
}

static size_t stages(const struct qs_job_run *job)
{
    const struct qs_board *board = qs_activity_lock_board(job);
    if (!plan(job)->curves)
        return 0;
    return 1 + (board->clusters.count > 1 ? board->clusters.count : 0);
}

static const char *domain(const struct qs_job_run *job, size_t stage)
{
    return stage == 0 ? ALL : qs_activity_lock_board(job)->clusters.at[stage - 1].name;
}

static int64_t length_ns(const struct qs_job_run *job, enum qs_heat_phase phase)
{
    const struct qs_job_characterize *p = plan(job);
    return phase == QS_HEAT_REST ? p->rest_ns : phase == QS_HEAT_WARMS ? p->heat_ns : p->cool_ns;
}

static bool is_known(const struct qs_job_run *job, size_t stage)
{
    const struct qs_strings *known = &mine(job)->known;
    for (size_t i = 0; i < known->count; i++)
        if (strcmp(known->at[i], domain(job, stage)) == 0)
            return true;
    return false;
}

/* ---- what is told ---- */

static void tell(struct qs_job_run *job)
{
    struct characterize *c = mine(job);
    int64_t now_ns = qs_loop_now_ns(job->p.loop);
    struct qs_characterizing t = {.domain = domain(job, c->stage),
                                  .phase = qs_heat_phase_name(c->phase),
                                  .stage = c->stage,
                                  .stages = stages(job),
                                  .left_ns = length_ns(job, c->phase) - (now_ns - c->began_ns)};
    for (unsigned p = (unsigned)c->phase + 1; p < QS_HEAT_PHASES; p++)
        t.left_ns += length_ns(job, (enum qs_heat_phase)p);
    if (plan(job)->soak_ns > 0)
        t.left_ns += qs_soak_left_ns(job);
    for (size_t s = c->stage + 1; s < t.stages; s++)
        t.left_ns += is_known(job, s) ? 0 : plan(job)->heat_ns + plan(job)->cool_ns;
    c->told_ns = now_ns;
    qs_job_event_characterizing(job, &t);
}

/* ---- questions ---- */

static void on_loaded(const union qs_msg *reply, const struct qs_err *refused, void *user);

static void load(struct qs_job_run *job, const char *cpus, int64_t for_ns, qs_job_run_then *then)
{
    struct characterize *c = mine(job);
    c->then = then;
    c->loaded = for_ns > 0;
    const struct qs_msg_load m = {.id = ++c->id,
                                  .cpus = qs_text_of(cpus),
                                  .for_ms = for_ns > 0 ? (uint32_t)(for_ns / 1000000) + LOAD_MORE_MS : 0};
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_LOAD, &m, 0, on_loaded);
}

static void over(struct qs_job_run *job)
{
    qs_job_run_tell(job, &qs_step_characterize, QS_JI_DONE);
}

/* Nothing goes on. */
static void end(struct qs_job_run *job)
{
    qs_timer_stop(mine(job)->timer);
    mine(job)->timer = NULL;
    if (mine(job)->loaded)
        load(job, "", 0, over);
    else
        over(job);
}

static void fail(struct qs_job_run *job, const struct qs_err *err)
{
    qs_job_run_fail(job, err);
    end(job);
}

static const char *why_not(const union qs_msg *reply, const struct qs_err *refused)
{
    if (refused)
        return refused->text;
    return reply->loaded.outcome == QS_LOAD_NO_CPUS ? "its agent may not use all of them"
                                                    : "its agent could start no process";
}

static void next_stage(struct qs_job_run *job);

/* What all processors together do is needed; of a cluster that is off or not for us it is said. */
static void give_up_stage(struct qs_job_run *job, const struct qs_err *why)
{
    if (mine(job)->stage == 0) {
        fail(job, why);
        return;
    }
    qs_job_event_warning(job, "%s", why->text);
    mine(job)->stage++;
    next_stage(job);
}

static void on_loaded(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct characterize *c = mine(job);
    struct qs_err err = QS_ERR_INIT;
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    bool took = !refused && reply->loaded.outcome == (c->loaded ? QS_LOAD_ON : QS_LOAD_OFF);
    if (c->loaded && !took) {
        c->loaded = false;
        qs_fail(&err, QS_E_DENIED, "%s cannot keep the processors of `%s` busy: %s", job->p.device,
                domain(job, c->stage), why_not(reply, refused));
        give_up_stage(job, &err);
    } else if (c->then == over || !qs_job_run_over(job)) {
        c->then(job);
    } else {
        end(job);
    }
}

/* ---- readings ---- */

static void read_sensors(struct qs_job_run *job);
static void finish_stage(struct qs_job_run *job);

/* Those that are temperatures and can be read, as many as fit: equal for each reading of a session. */
static void choose_sensors(struct qs_job_run *job, struct qs_build *list)
{
    struct characterize *c = mine(job);
    const struct qs_board *board = qs_activity_lock_board(job);
    c->sensor_count = 0;
    for (size_t i = 0; i < board->sensors.count; i++) {
        const struct qs_board_sensor *s = &board->sensors.at[i];
        const struct qs_binding b = {.name = qs_text_of(s->name),
                                     .path = qs_text_of(s->path),
                                     .mul = s->mul,
                                     .div = s->div,
                                     .lo = s->lo,
                                     .hi = s->hi};
        if (s->status == QS_SENSOR_OK && qs_reads_degrees(s->unit) && !s->command &&
            qs_activity_lock_add(list, &b))
            c->sensors[c->sensor_count++] = s;
    }
}

static void begin_phase(struct qs_job_run *job, enum qs_heat_phase phase)
{
    uint8_t memory[QS_CONTROL_MAX_BYTES];
    struct characterize *c = mine(job);
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    choose_sensors(job, &list);
    const char *cpus = c->stage == 0 ? "" : qs_activity_lock_board(job)->clusters.at[c->stage - 1].cpus;
    c->phase = phase;
    c->began_ns = qs_loop_now_ns(job->p.loop);
    qs_heat_log_begin(&c->logs[phase], c->sensor_count);
    tell(job);
    if (phase == QS_HEAT_REST)
        read_sensors(job);
    else
        load(job, cpus, phase == QS_HEAT_WARMS ? plan(job)->heat_ns : 0, read_sensors);
}

static void on_timer(void *user)
{
    mine(user)->timer = NULL;
    read_sensors(user);
}

static void go_on(struct qs_job_run *job)
{
    struct characterize *c = mine(job);
    int64_t now_ns = qs_loop_now_ns(job->p.loop);
    if (qs_job_run_over(job))
        end(job);
    else if (now_ns - c->began_ns < length_ns(job, c->phase)) {
        if (now_ns - c->told_ns >= TELL_EVERY_S * S)
            tell(job);
        c->timer = qs_timer_start(job->p.loop, plan(job)->every_ns, on_timer, job);
    } else if (c->phase == QS_HEAT_COOLS)
        finish_stage(job);
    else
        begin_phase(job, c->phase + 1);
}

static void on_bound(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct characterize *c = mine(job);
    double values_c[QS_BIND_MAX];
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    for (size_t i = 0; i < QS_BIND_MAX; i++)
        values_c[i] = NAN;
    if (!refused) {
        struct qs_iter it = qs_list_iter(&reply->readings.readings);
        struct qs_reading r;
        for (size_t i = 0; i < c->sensor_count && qs_list_reading(&it, &r); i++)
            values_c[i] = r.status == QS_READING_OK ? (double)r.value / 1000 : NAN;
    }
    int64_t middle_ns = c->asked_ns + (qs_loop_now_ns(job->p.loop) - c->asked_ns) / 2;
    qs_heat_log_add(&c->logs[c->phase], (double)(middle_ns - c->began_ns) / 1e9, values_c);
    go_on(job);
}

/* BIND answers with what they read now. */
static void read_sensors(struct qs_job_run *job)
{
    uint8_t memory[QS_CONTROL_MAX_BYTES];
    struct characterize *c = mine(job);
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    choose_sensors(job, &list);
    const struct qs_msg_bind m = {.id = ++c->id, .sensors = qs_build_list(&list)};
    c->asked_ns = qs_loop_now_ns(job->p.loop);
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_BIND, &m, 0, on_bound);
}

/* ---- stages ---- */

/* The sensor that moved most. */
static size_t strongest(const struct characterize *c, double *ret_moved_c)
{
    size_t best = NO_SENSOR;
    *ret_moved_c = 0;
    for (size_t i = 0; i < c->sensor_count; i++) {
        double moved_c = qs_heat_moved_c(c->logs, i);
        if (moved_c > *ret_moved_c) {
            *ret_moved_c = moved_c;
            best = i;
        }
    }
    return best;
}

static void store(struct qs_job_run *job, const struct qs_heat_row *found, size_t count)
{
    struct qs_model_row *rows = qs_calloc(count + 1, sizeof *rows);
    QS_BUF(fingerprint);
    qs_board_fingerprint(job->facts_json, &fingerprint);
    for (size_t i = 0; i < count; i++)
        rows[i] = found[i].row;
    const struct qs_model_rows models = {.device = job->p.device,
                                         .fingerprint = fingerprint.data,
                                         .job = job->p.job,
                                         .found_wall_ns = qs_loop_wall_ns(job->p.loop),
                                         .rows = rows,
                                         .count = count};
    mine(job)->stage++;
    qs_store_models(job->p.store, &models, qs_job_run_stored, qs_job_run_awaits(job, next_stage));
    free(rows);
}

static void finish_stage(struct qs_job_run *job)
{
    struct characterize *c = mine(job);
    struct qs_heat_row *found = qs_calloc(3 * c->sensor_count + 1, sizeof *found);
    const char *of = domain(job, c->stage);
    double moved_c;
    size_t n = 0, best = strongest(c, &moved_c);
    for (size_t i = 0; i < c->sensor_count; i++) {
        const char *sensor = c->sensors[i]->name;
        if (c->stage == 0)
            qs_heat_sensor(c->logs, i, sensor, moved_c, &found[n++]);
        qs_heat_curve(&c->logs[QS_HEAT_WARMS], QS_HEAT_WARMS, i, of, sensor, &found[n++]);
        qs_heat_curve(&c->logs[QS_HEAT_COOLS], QS_HEAT_COOLS, i, of, sensor, &found[n++]);
        if (i == best)
            qs_job_event_characterized(job, &found[n - 2].row, &found[n - 1].row);
    }
    store(job, found, n);
    for (size_t i = 0; i < n; i++)
        qs_heat_row_done(&found[i]);
    free(found);
}

static void next_stage(struct qs_job_run *job)
{
    struct characterize *c = mine(job);
    while (c->stage < stages(job) && is_known(job, c->stage))
        c->stage++;
    for (size_t p = 0; p < QS_HEAT_PHASES; p++)
        qs_heat_log_begin(&c->logs[p], 0);
    if (c->stage == stages(job) || qs_job_run_over(job))
        qs_soak_begin(job, over);
    else
        begin_phase(job, c->stage == 0 ? QS_HEAT_REST : QS_HEAT_WARMS);
}

/* ---- what is stored already ---- */

struct look {
    struct qs_job_look at;
    struct qs_strings known; /* owned */
    char soak[64];           /* how far it came; "": it has not begun */
    bool soak_over;
    bool knobs;       /* they were tried */
    bool cools;       /* how it cools down is known, by whatever job */
    int64_t only_job; /* 0: of any */
};

static void take_known(const struct qs_model_info *m, void *user)
{
    struct look *l = user;
    if (strcmp(m->row.kind, "sustained") == 0 && (l->only_job == 0 || m->job == l->only_job)) {
        snprintf(l->soak, sizeof l->soak, "%s", m->row.trace ? m->row.trace : "");
        l->soak_over = strcmp(m->row.says, "searching") != 0;
    }
    l->cools = l->cools || strcmp(m->row.kind, "cools") == 0;
    if (strcmp(m->row.kind, "cools") != 0 || (l->only_job != 0 && m->job != l->only_job))
        return;
    qs_strings_add(&l->known, qs_strdup(m->row.domain));
}

static void take_knob(const struct qs_knob_info *k, void *user)
{
    struct look *l = user;
    l->knobs = l->knobs || (strcmp(k->fingerprint, l->at.fingerprint) == 0 &&
                            (l->only_job == 0 || k->job == l->only_job));
}

static bool look(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct look *l = user;
    return qs_read_models(reader, l->at.device, l->at.fingerprint, true, take_known, l, err) &&
           qs_read_knobs(reader, l->at.device, take_knob, l, err);
}

static void on_looked(const struct qs_err *err, void *user)
{
    struct look l = *(struct look *)user;
    struct qs_job_run *job = l.at.job;
    free(user);
    if (!qs_job_look_end(&l.at)) {
        qs_strings_done(&l.known);
        return;
    }
    struct characterize *c = mine(job);
    qs_strings_done(&c->known);
    c->known = l.known;
    c->stage = 0;
    size_t left = plan(job)->knobs && !l.knobs;
    for (size_t s = 0; s < stages(job); s++)
        left += !is_known(job, s);
    if (l.soak[0] != '\0') {
        const struct qs_model_info soak = {
            .row = {.says = l.soak_over ? "ok" : "searching", .trace = l.soak}};
        qs_soak_take(job, &soak);
    }
    bool wanted = plan(job)->knobs || plan(job)->curves;
    if (wanted && left == 0 && !err && (l.soak_over || plan(job)->soak_ns == 0))
        qs_job_event_warning(job, "what %s is like was found before; --again finds it anew", job->p.device);
    if (err)
        fail(job, err);
    else if (plan(job)->knobs && !l.knobs)
        qs_activity_probe_try(job, !plan(job)->curves, l.cools, next_stage);
    else
        next_stage(job);
}

static bool can(const struct qs_job_run *job, struct qs_err *err)
{
    const struct qs_board *board = qs_activity_lock_board(job);
    if (board && !plan(job)->curves)
        return true;
    if (!board || !qs_session_has(job->p.session, QS_FEATURE_LOAD))
        return qs_fail(err, QS_E_AGENT, "the agent on %s is too old to characterize it: it %s", job->p.device,
                       qs_request_of(board ? QS_MSG_LOAD : QS_MSG_SURVEY)->lacks);
    for (size_t i = 0; i < board->sensors.count; i++)
        if (board->sensors.at[i].status == QS_SENSOR_OK && qs_reads_degrees(board->sensors.at[i].unit))
            return true;
    return qs_fail(err, QS_E_NOT_FOUND,
                   "%s has no temperature that can be read; `quiesce devices show %s` says why",
                   job->p.device, job->p.device);
}

static void start(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    if (qs_job_run_over(job)) {
        over(job);
        return;
    }
    if (!can(job, &err)) {
        fail(job, &err);
        return;
    }
    struct look *l = qs_calloc(1, sizeof *l);
    l->only_job = plan(job)->again ? job->p.job : 0;
    qs_job_look_begin(&l->at, job, look, on_looked);
}

/* What is asked is answered first; between two readings nothing is. */
static void cancel(struct qs_job_run *job)
{
    if (!qs_activity_probe_cut_short(job) && mine(job)->timer)
        end(job);
    else if (qs_soak_is_waiting(job))
        return; /* its next reading ends it */
}

static void stop(struct qs_job_run *job, const char *why)
{
    struct characterize *c = mine(job);
    (void)why;
    qs_timer_stop(c->timer);
    c->timer = NULL;
    c->on = c->loaded = false;
    c->sensor_count = 0;
    qs_strings_done(&c->known);
    for (size_t p = 0; p < QS_HEAT_PHASES; p++)
        qs_heat_log_done(&c->logs[p]);
}

const struct qs_step qs_step_characterize = {.start = start, .cancel = cancel};
const struct qs_activity qs_activity_characterize = {.state_bytes = sizeof(struct characterize),
                                                     .stop = stop};
