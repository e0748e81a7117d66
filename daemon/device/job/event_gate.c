/* What is told of a gate: why it keeps a window waiting, and why it did not open. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "config/farm/sensors.h"
#include "device/activity/ambient.h"
#include "device/activity/cools.h"
#include "device/activity/lock.h"
#include "device/activity/pin.h"
#include "device/board/board.h"
#include "device/job/event.h"
#include "device/job/events.h"
#include "device/job/impl.h"
#include "proto/names.h"

static void put_text(struct qs_json *j, const char *key, struct qs_text t)
{
    qs_json_key(j, key);
    qs_json_string_n(j, t.p ? t.p : "", t.n);
}

/* What gives made-up values, and what ends that. */
static void put_spoilt(const struct qs_job_run *job, const char *name, struct qs_buf *text)
{
    const struct qs_board *board = qs_activity_lock_board(job);
    const struct qs_board_sensor *s = board ? qs_board_sensor(board, name) : NULL;
    if (s)
        qs_buf_fmt(text, " (somebody has overridden what `%s` says%s%s%s)", s->path, s->mend ? "; run `" : "",
                   s->mend ? s->mend : "", s->mend ? "` on the device" : "");
}

void qs_job_put_unmet(const struct qs_job_run *job, const struct qs_job_expectation *e,
                      enum qs_reading_status status, int64_t value, struct qs_buf *text)
{
    qs_buf_fmt(text, "%s is ", e->sensor);
    if (status == QS_READING_OK)
        qs_sensor_print(e->sensor, value, text);
    else
        qs_buf_str(text, qs_reading_status_name(status));
    if (status == QS_READING_SPOILT)
        put_spoilt(job, e->sensor, text);
    else if (status == QS_READING_STALE)
        qs_buf_str(text, " (older than its maximum age)");
    qs_buf_str(text, e->has_lo && e->has_hi ? ", wanted "
                     : e->has_lo            ? ", wanted at least "
                                            : ", wanted at most ");
    if (e->has_lo)
        qs_sensor_print(e->sensor, e->lo, text);
    qs_buf_str(text, e->has_lo && e->has_hi ? " to " : "");
    if (e->has_hi)
        qs_sensor_print(e->sensor, e->hi, text);
}

/* The line of the gate at this place as the window in hand has it: relative bounds are what they came to.
 * False: there are no more. */
static bool line_in_hand(const struct qs_job_run *job, size_t index, struct qs_job_expectation *ret)
{
    const struct qs_job_expectation *e = index < QS_GATE_MAX ? qs_activity_pin_line(job, index) : NULL;
    if (!e)
        return false;
    *ret = *e;
    ret->lo = job->win.bounds[index].lo;
    ret->hi = job->win.bounds[index].hi;
    return true;
}

static void put_line(const struct qs_job_run *job, size_t index, const struct qs_job_expectation *e,
                     enum qs_reading_status status, int64_t value, struct qs_buf *text)
{
    const char *ambient = qs_activity_ambient_name(job);
    if (job->win.bounds[index].missing)
        qs_buf_fmt(text,
                   "%s is to be compared with the ambient temperature, and `ambient:%s` has no reading: %s",
                   e->sensor, ambient ? ambient : "none", qs_activity_ambient_why(job));
    else
        qs_job_put_unmet(job, e, status, value, text);
}

static double keep_waiting(struct qs_job_run *job, const struct qs_job_expectation *e,
                           const struct qs_msg_waiting *m, bool warms)
{
    QS_BUF(text);
    double end_mc = 0;
    double cool_s = qs_cools_take(job, e, m, &end_mc);
    put_line(job, m->expectation, e, m->status, m->value, &text);
    if (warms) {
        qs_buf_str(&text, "; its processors are kept busy for it");
    } else if (isinf(cool_s)) {
        qs_buf_str(&text, "; it cools down to ");
        qs_sensor_print(e->sensor, (int64_t)end_mc, &text);
        qs_buf_str(&text, " as a rule, no further");
    } else if (!isnan(cool_s)) {
        bool minutes = cool_s > 99;
        qs_buf_fmt(&text, "; cool enough in about %.0f %s", ceil(minutes ? cool_s / 60 : cool_s),
                   minutes ? "min" : "s");
    }
    snprintf(job->win.waits_for, sizeof job->win.waits_for, "%s", text.data);
    return cool_s;
}

void qs_job_event_waiting(struct qs_job_run *job, const struct qs_msg_waiting *m)
{
    const struct qs_job_conditions *set = qs_schedule_conditions(&job->schedule);
    struct qs_job_expectation e;
    struct qs_event n;
    if (!line_in_hand(job, m->expectation, &e))
        return;
    bool warms = m->expectation >= set->gate_count; /* what keeps its processors busy is ours */
    double cool_s = keep_waiting(job, &e, m, warms);
    qs_event_begin(&n);
    qs_json_kstring(&n.json, "sensor", e.sensor);
    qs_json_kint(&n.json, "value", m->value);
    qs_json_key(&n.json, "lo");
    e.has_lo ? qs_json_int(&n.json, e.lo) : qs_json_null(&n.json);
    qs_json_key(&n.json, "hi");
    e.has_hi ? qs_json_int(&n.json, e.hi) : qs_json_null(&n.json);
    qs_json_kstring(&n.json, "status", qs_reading_status_name(m->status));
    put_text(&n.json, "busiest", warms ? qs_text_of("") : m->note);
    qs_json_kstring(&n.json, "text", job->win.waits_for);
    qs_json_kint(&n.json, "elapsed_ns", m->elapsed_ns);
    qs_json_kdouble(&n.json, "cool_s", isfinite(cool_s) ? cool_s : NAN);
    qs_json_kint(&n.json, "timeout_ns", qs_patience_timeout_ns(job, &e));
    qs_json_kint(&n.json, "waited_ns", qs_patience_waited_ns(job));
    qs_event_tell(job, &n, "gate.waiting", true);
}

/* The first expectation of the gate whose deciding reading is not as it wants it; those that wait for a
 * return only where no other is. Readings come in the gate's order. False: there is none. */
static bool find_unmet(struct qs_job_run *job, struct qs_reading *ret, struct qs_job_expectation *e,
                       size_t *ret_index)
{
    for (int returns = 0; returns < 2; returns++) {
        struct qs_iter it = qs_list_iter(&job->win.made.closed.gate.readings);
        for (size_t i = 0; line_in_hand(job, i, e) && qs_list_reading(&it, ret); i++) {
            bool inside = (!e->has_lo || ret->value >= e->lo) && (!e->has_hi || ret->value <= e->hi);
            *ret_index = i;
            if (e->returns == (returns == 1) && (ret->status == QS_READING_OK ? !inside : !e->unreadable_ok))
                return true;
        }
    }
    return false;
}

/* What to do about it. */
static const char *mend(const struct qs_job_expectation *e, const struct qs_reading *r)
{
    if (e && r->status != QS_READING_OK && r->status != QS_READING_SPOILT)
        return "See what the device can read (`quiesce devices read DEVICE`), give the gate more time "
               "(`timeout`), or do without this sensor where it is missing (`unreadable_ok: true`)";
    bool low = e && r->status == QS_READING_OK && e->has_lo && r->value < e->lo;
    if (low && strncmp(e->sensor, QS_SENSOR_BATTERY_PREFIX, strlen(QS_SENSOR_BATTERY_PREFIX)) == 0)
        return "Charge the device, or ask for less";
    if (low && strncmp(e->sensor, QS_SENSOR_THERMAL_PREFIX, strlen(QS_SENSOR_THERMAL_PREFIX)) == 0 &&
        !e->heat)
        return "Warm the device (`heat: true` keeps its processors busy until it is warm enough), or give "
               "the "
               "gate a wider range";
    return "Let the device come to rest, or give the gate more time (`timeout`) or a wider range";
}

void qs_job_gate_failure(struct qs_job_run *job, struct qs_err *err)
{
    const struct qs_gate_record *gate = &job->win.made.closed.gate;
    struct qs_reading reading;
    struct qs_job_expectation e;
    size_t index = 0;
    const bool unmet = find_unmet(job, &reading, &e, &index);
    QS_BUF(text);
    qs_buf_str(&text, "the gate did not open within ");
    qs_text_duration(&text, (double)(gate->decided_ns - gate->began_ns));
    if (unmet) {
        qs_buf_str(&text, ": ");
        put_line(job, index, &e, reading.status, reading.value, &text);
    }
    if (gate->busiest.n > 0)
        qs_buf_fmt(&text, "; busiest: %.*s", (int)gate->busiest.n, gate->busiest.p);
    qs_fail(err, QS_E_PRECONDITION, "%s. %s; `on_timeout: taint` measures all the same, and marks it",
            text.data, mend(unmet ? &e : NULL, &reading));
}

void qs_job_event_gate_timeout(struct qs_job_run *job)
{
    struct qs_event n;
    struct qs_reading r;
    struct qs_job_expectation e;
    size_t index;
    qs_event_begin(&n);
    if (find_unmet(job, &r, &e, &index)) {
        put_text(&n.json, "sensor", r.sensor);
        qs_json_kstring(&n.json, "status", qs_reading_status_name(r.status));
        qs_json_kint(&n.json, "value", r.value);
    }
    qs_json_kstring(&n.json, "outcome", qs_gate_outcome_name(job->win.made.closed.gate.outcome));
    put_text(&n.json, "busiest", job->win.made.closed.gate.busiest);
    qs_json_kint(&n.json, "waited_ns",
                 job->win.made.closed.gate.decided_ns - job->win.made.closed.gate.began_ns);
    qs_event_tell(job, &n, "gate.timeout", true);
}
