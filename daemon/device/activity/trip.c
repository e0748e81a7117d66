#include "device/activity/trip.h"

#include "config/farm/sensors.h"
#include "device/activity/lock.h"
#include "device/job/events.h"
#include "proto/names.h"

static int64_t limit_mc(const struct qs_job_run *job)
{
    return qs_schedule_conditions(&job->schedule)->trip_mc;
}

/* What a person, a battery or a chip does not stand. */
static bool counts(const struct qs_board_sensor *s)
{
    bool near = s->role == QS_ROLE_CPU || s->role == QS_ROLE_GPU || s->role == QS_ROLE_SKIN ||
                s->role == QS_ROLE_BATTERY;
    return near && s->status == QS_SENSOR_OK && qs_reads_degrees(s->unit) && !s->bits;
}

bool qs_trip_watches(const struct qs_job_spec *spec, const struct qs_board_sensor *sensor)
{
    bool any = false;
    for (size_t i = 0; i < spec->condition_count; i++)
        any = any || spec->conditions[i].trip_mc != 0;
    return any && counts(sensor);
}

static size_t count(const struct qs_board *board)
{
    size_t n = 0;
    for (size_t i = 0; board && i < board->sensors.count; i++)
        n += counts(&board->sensors.at[i]);
    return n;
}

static void put_names(const struct qs_pins *pins, struct qs_buf *out)
{
    for (size_t i = 0; i < pins->thermal.count; i++)
        qs_buf_fmt(out, "%s%s", i > 0 ? ", " : "", pins->thermal.at[i]);
}

static void put_degrees(int64_t mc, struct qs_buf *out)
{
    qs_sensor_print(QS_SENSOR_THERMAL_PREFIX "trip", mc, out); /* whichever it is */
}

bool qs_trip_allows(struct qs_job_run *job, const struct qs_pins *pins, struct qs_err *err)
{
    QS_BUF(names);
    QS_BUF(limit);
    QS_BUF(fact);
    put_names(pins, &names);
    if (pins->thermal.count == 0)
        return true;
    if (limit_mc(job) == 0)
        return qs_fail(
            err, QS_E_JOB,
            "the job takes away what protects %s from heat (%s), and says no limit of its own: write one "
            "beside it, such as `trip: 85C`; above it no window opens, and the job ends",
            job->p.device, names.data);
    if (count(qs_activity_lock_board(job)) == 0)
        return qs_fail(
            err, QS_E_PRECONDITION,
            "the job takes away what protects %s from heat (%s), and no temperature of its processors, GPU, "
            "skin or battery can be read there, so that nobody would see it",
            job->p.device, names.data);
    put_degrees(limit_mc(job), &limit);
    qs_buf_fmt(&fact, "off: %s; trip limit %s", names.data, limit.data);
    if (qs_activity_session_fact(job, "thermal_protection", fact.data))
        qs_job_event_warning(
            job,
            "thermal protection of %s is off (%s) while the runs last that want that; above %s the "
            "job ends",
            job->p.device, names.data, limit.data);
    return true;
}

bool qs_trip_gate(const struct qs_job_run *job, struct qs_build *gate)
{
    const struct qs_board *board = qs_activity_lock_board(job);
    bool ok = true;
    for (size_t i = 0; board && limit_mc(job) != 0 && ok && i < board->sensors.count; i++) {
        const struct qs_expectation line = {.sensor = qs_text_of(board->sensors.at[i].name),
                                            .hi = limit_mc(job),
                                            .flags = QS_GATE_HAS_HI | QS_GATE_UNREADABLE_OK,
                                            .on_timeout = QS_GATE_ON_TIMEOUT_FAIL};
        ok = !counts(&board->sensors.at[i]) ||
             (gate->count < QS_GATE_MAX && qs_build_expectation(gate, &line));
    }
    return ok;
}

/* Of the sensor in a list of the window's record. */
static bool is_ours(const struct qs_board *board, struct qs_text name)
{
    for (size_t i = 0; i < board->sensors.count; i++)
        if (qs_text_is(name, board->sensors.at[i].name))
            return counts(&board->sensors.at[i]);
    return false;
}

static bool exceed(const struct qs_job_run *job, struct qs_text name, int64_t mc, struct qs_err *err)
{
    QS_BUF(is);
    QS_BUF(limit);
    put_degrees(mc, &is);
    put_degrees(limit_mc(job), &limit);
    if (mc <= limit_mc(job))
        return false;
    qs_fail(err, QS_E_PRECONDITION,
            "%.*s of %s is %s, above the job's trip limit of %s: the job ends here, and what it has changed "
            "is put back; "
            "let the device cool down, or measure at a lower frequency",
            (int)name.n, name.p, job->p.device, is.data, limit.data);
    return true;
}

bool qs_trip_is_over(const struct qs_job_run *job, struct qs_err *err)
{
    const struct qs_msg_closed *m = &job->win.made.closed;
    const struct qs_board *board = qs_activity_lock_board(job);
    struct qs_iter it = qs_list_iter(&m->gate.readings);
    struct qs_reading r;
    struct qs_evidence e;
    bool seen = false;
    if (limit_mc(job) == 0 || !board)
        return false;
    while (qs_list_reading(&it, &r))
        if (r.status == QS_READING_OK && is_ours(board, r.sensor) && exceed(job, r.sensor, r.value, err))
            return true;
    it = qs_list_iter(&m->evidence);
    while (m->opened_ns != 0 && qs_list_evidence(&it, &e)) {
        if (e.status != QS_READING_OK || !is_ours(board, e.kind))
            continue;
        seen = true;
        if (exceed(job, e.kind, e.after, err))
            return true;
    }
    if (m->opened_ns == 0 || seen || m->iterations == 0)
        return false;
    qs_fail(err, QS_E_PRECONDITION,
            "no temperature of %s can be read any more, so that nobody knows whether it is above the job's "
            "trip limit",
            job->p.device);
    return true;
}
