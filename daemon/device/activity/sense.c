/* Sensors that look well in one reading may be stuck, or jump: they are read at rest, then with all
 * processors busy. It is over in seconds, so that only the sensors of the processors can be called stuck, and
 * only where others moved far; `characterize` looks for longer. The rules are those of board/heat.h. */
#include "device/activity/sense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "device/activity/lock.h"
#include "device/board/board.h"
#include "device/board/heat.h"
#include "device/job/asks.h"
#include "device/job/events.h"
#include "store/model.h"

#define MS INT64_C(1000000)
enum { EVERY_MS = 250, REST_READINGS = 4, LOAD_READINGS = 16, LOAD_MORE_MS = 10000 };

struct sense {
    bool on, loaded, characterized;
    uint32_t id;
    struct qs_timer *timer;     /* owned: the next reading */
    enum qs_heat_phase phase;   /* REST or WARMS */
    int64_t began_ns, asked_ns; /* of the phase; the reading that is on its way */
    const struct qs_board_sensor *sensors[QS_BOARD_SENSORS_MAX]; /* borrowed of the board */
    bool told[QS_BOARD_SENSORS_MAX]; /* its agent reads it: there may be more than it has room for */
    size_t count;
    struct qs_heat_log logs[QS_HEAT_PHASES];
    qs_job_run_then *then;
};

static struct sense *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_SENSE];
}

static bool is_read(const struct qs_board_sensor *s)
{
    return s->status == QS_SENSOR_OK && qs_reads_degrees(s->unit) && !s->command;
}

/* ---- what they said ---- */

static bool is_well(const struct qs_heat_row *row)
{
    return strcmp(row->row.says, "ok") == 0;
}

/* How far the one that moved most did. */
static double moved_most_c(const struct sense *s)
{
    double most_c = 0;
    for (size_t i = 0; i < s->count; i++)
        most_c = fmax(most_c, qs_heat_moved_c(s->logs, i)); /* leaves NaN out */
    return most_c;
}

static void store(struct qs_job_run *job)
{
    struct sense *s = mine(job);
    struct qs_heat_row *found = qs_calloc(s->count + 1, sizeof *found);
    struct qs_model_row *rows = qs_calloc(s->count + 1, sizeof *rows);
    QS_BUF(fingerprint);
    double most_c = moved_most_c(s);
    size_t n = 0;
    qs_board_fingerprint(job->facts_json, &fingerprint);
    for (size_t i = 0; i < s->count; i++) {
        double may_c = s->sensors[i]->role == QS_ROLE_CPU ? most_c : 0;
        qs_heat_sensor(s->logs, i, s->sensors[i]->name, may_c, &found[i]);
        if (s->told[i] && (!s->characterized || !is_well(&found[i])))
            rows[n++] = found[i].row;
    }
    const struct qs_model_rows models = {.device = job->p.device,
                                         .fingerprint = fingerprint.data,
                                         .job = job->p.job,
                                         .found_wall_ns = qs_loop_wall_ns(job->p.loop),
                                         .rows = rows,
                                         .count = n};
    if (n > 0)
        qs_store_models(job->p.store, &models, qs_job_run_stored, qs_job_run_awaits(job, s->then));
    for (size_t i = 0; i < s->count; i++)
        qs_heat_row_done(&found[i]);
    free(found);
    free(rows);
    if (n == 0)
        s->then(job);
}

static void finish(struct qs_job_run *job)
{
    if (qs_job_run_over(job))
        mine(job)->then(job);
    else
        store(job);
}

/* ---- readings ---- */

static void read_all(struct qs_job_run *job);

static void on_loaded(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct sense *s = mine(job);
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    if (!s->loaded || refused || reply->loaded.outcome != QS_LOAD_ON) /* over, or not for us */
        finish(job);
    else
        read_all(job);
}

static void load(struct qs_job_run *job, uint32_t for_ms)
{
    struct sense *s = mine(job);
    s->loaded = for_ms > 0;
    const struct qs_msg_load m = {.id = ++s->id, .cpus = qs_text_of(""), .for_ms = for_ms};
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_LOAD, &m, 0, on_loaded);
}

static void end(struct qs_job_run *job)
{
    if (mine(job)->loaded)
        load(job, 0);
    else
        finish(job);
}

static void tell(struct qs_job_run *job)
{
    size_t readings = LOAD_READINGS + (mine(job)->phase == QS_HEAT_REST ? REST_READINGS : 0);
    const struct qs_characterizing t = {
        .domain = "all", .phase = "sensors", .stages = 1, .left_ns = (int64_t)readings * EVERY_MS * MS};
    qs_job_event_characterizing(job, &t);
}

static void begin_phase(struct qs_job_run *job, enum qs_heat_phase phase)
{
    struct sense *s = mine(job);
    s->phase = phase;
    s->began_ns = qs_loop_now_ns(job->p.loop);
    tell(job);
    if (phase == QS_HEAT_REST)
        read_all(job);
    else
        load(job, LOAD_READINGS * EVERY_MS + LOAD_MORE_MS);
}

static void on_timer(void *user)
{
    mine(user)->timer = NULL;
    read_all(user);
}

static void go_on(struct qs_job_run *job)
{
    struct sense *s = mine(job);
    size_t wanted = s->phase == QS_HEAT_REST ? REST_READINGS : LOAD_READINGS;
    if (qs_job_run_over(job))
        end(job);
    else if (s->logs[s->phase].count < wanted)
        s->timer = qs_timer_start(job->p.loop, EVERY_MS * MS, on_timer, job);
    else if (s->phase == QS_HEAT_REST)
        begin_phase(job, QS_HEAT_WARMS);
    else
        end(job);
}

static void take(struct sense *s, const struct qs_msg_readings *m, double *values_c)
{
    struct qs_iter it = qs_list_iter(&m->readings);
    struct qs_reading r;
    while (qs_list_reading(&it, &r))
        for (size_t i = 0; i < s->count; i++)
            if (qs_text_is(r.sensor, s->sensors[i]->name)) {
                s->told[i] = true;
                values_c[i] = r.status == QS_READING_OK ? (double)r.value / 1000 : NAN;
            }
}

static void on_readings(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct sense *s = mine(job);
    double values_c[QS_BOARD_SENSORS_MAX];
    if (!qs_job_run_heard(&mine(job)->on))
        return;
    for (size_t i = 0; i < s->count; i++)
        values_c[i] = NAN;
    if (!refused)
        take(s, &reply->readings, values_c);
    int64_t middle_ns = s->asked_ns + (qs_loop_now_ns(job->p.loop) - s->asked_ns) / 2;
    qs_heat_log_add(&s->logs[s->phase], (double)(middle_ns - s->began_ns) / 1e9, values_c);
    go_on(job);
}

/* All that the agent has: what it was given when the device was surveyed. */
static void read_all(struct qs_job_run *job)
{
    const struct qs_msg_read m = {.id = ++mine(job)->id};
    mine(job)->asked_ns = qs_loop_now_ns(job->p.loop);
    qs_job_run_ask(job, &mine(job)->on, QS_MSG_READ, &m, 0, on_readings);
}

/* ---- for others ---- */

int64_t qs_activity_sense_length_ns(const struct qs_job_run *job)
{
    const struct qs_board *board = qs_activity_lock_board(job);
    bool can =
        qs_session_has(job->p.session, QS_FEATURE_LOAD) && qs_session_has(job->p.session, QS_FEATURE_READ);
    size_t count = 0;
    for (size_t i = 0; i < board->sensors.count; i++)
        count += is_read(&board->sensors.at[i]);
    return can && count > 0 ? (REST_READINGS + LOAD_READINGS) * EVERY_MS * MS : 0;
}

void qs_activity_sense_try(struct qs_job_run *job, bool characterized, qs_job_run_then *then)
{
    struct sense *s = mine(job);
    const struct qs_board *board = qs_activity_lock_board(job);
    s->then = then;
    s->characterized = characterized;
    s->count = 0;
    if (qs_activity_sense_length_ns(job) == 0) {
        then(job);
        return;
    }
    for (size_t i = 0; i < board->sensors.count; i++)
        if (is_read(&board->sensors.at[i]))
            s->sensors[s->count++] = &board->sensors.at[i];
    memset(s->told, 0, sizeof s->told);
    for (size_t p = 0; p < QS_HEAT_PHASES; p++)
        qs_heat_log_begin(&s->logs[p], s->count);
    begin_phase(job, QS_HEAT_REST);
}

bool qs_activity_sense_cut_short(struct qs_job_run *job)
{
    struct sense *s = mine(job);
    if (!s->timer)
        return false;
    qs_timer_stop(s->timer);
    s->timer = NULL;
    end(job);
    return true;
}

static void stop(struct qs_job_run *job, const char *why)
{
    struct sense *s = mine(job);
    (void)why;
    qs_timer_stop(s->timer);
    s->timer = NULL;
    s->on = s->loaded = false;
    s->count = 0;
    for (size_t p = 0; p < QS_HEAT_PHASES; p++)
        qs_heat_log_done(&s->logs[p]);
}

const struct qs_activity qs_activity_sense = {.state_bytes = sizeof(struct sense), .stop = stop};
