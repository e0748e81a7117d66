/* What the job run tells people and the record. Never a running effect: precision and progress only. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/text.h"
#include "config/farm/sensors.h"
#include "device/activity/ambient.h"
#include "device/activity/activity.h"
#include "device/activity/cools.h"
#include "device/activity/lock.h"
#include "device/activity/pin.h"
#include "device/board/board.h"
#include "device/board/knob.h"
#include "device/board/pin.h"
#include "device/job/evals.h"
#include "device/job/impl.h"
#include "device/job/events.h"
#include "proto/names.h"
#include "report/model.h"
#include "store/knob.h"

struct event {
    struct qs_buf buf;
    struct qs_json json;
};

static void begin(struct event *n)
{
    qs_buf_init(&n->buf);
    n->json = qs_json_to(&n->buf);
    qs_json_object(&n->json);
}

static void tell(struct qs_job_run *job, struct event *n, const char *kind, bool with_run)
{
    qs_json_object_end(&n->json);
    job->events.on_event(kind, n->buf.data, with_run ? job->run.uid.b : NULL, job->events.user);
    qs_buf_done(&n->buf);
}

static void put_text(struct qs_json *j, const char *key, struct qs_text t)
{
    qs_json_key(j, key);
    qs_json_string_n(j, t.p ? t.p : "", t.n);
}

void qs_job_event_start(struct qs_job_run *job)
{
    struct event n;
    begin(&n);
    qs_json_kint(&n.json, "blocks_min", job->p.spec->plan.blocks_min);
    qs_json_kint(&n.json, "blocks_max", job->p.spec->plan.blocks_max);
    qs_json_kint(&n.json, "arms", (int64_t)job->p.spec->arm_count);
    qs_json_kint(&n.json, "points", (int64_t)job->p.spec->point_count);
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)job->p.seed);
    qs_json_kstring(&n.json, "seed", seed);
    qs_json_kbool(&n.json, "simulated", job->p.simulated);
    tell(job, &n, "job.start", false);
}

void qs_job_event_push(struct qs_job_run *job, size_t missing, int64_t bytes, size_t there)
{
    struct event n;
    begin(&n);
    qs_json_kint(&n.json, "files", (int64_t)missing);
    qs_json_kint(&n.json, "bytes", bytes);
    qs_json_kint(&n.json, "there", (int64_t)there);
    tell(job, &n, "job.push", false);
}

void qs_job_event_pushed(struct qs_job_run *job, size_t files, int64_t bytes, int64_t elapsed_ns)
{
    struct event n;
    begin(&n);
    qs_json_kint(&n.json, "files", (int64_t)files);
    qs_json_kint(&n.json, "bytes", bytes);
    qs_json_kint(&n.json, "elapsed_ns", elapsed_ns);
    tell(job, &n, "job.pushed", false);
}

void qs_job_event_pinned(struct qs_job_run *job, const struct qs_pins *pins, unsigned again)
{
    struct event n;
    begin(&n);
    qs_json_karray(&n.json, "held");
    for (size_t i = 0; i < pins->choices.count; i++)
        qs_json_string(&n.json, pins->choices.at[i].text);
    qs_json_array_end(&n.json);
    qs_json_kint(&n.json, "files", (int64_t)pins->items.count);
    if (again > 0)
        qs_json_kint(&n.json, "again", again);
    tell(job, &n, "job.pinned", true);
}

void qs_job_event_restored(struct qs_job_run *job, size_t put_back, size_t left)
{
    struct event n;
    begin(&n);
    qs_json_kint(&n.json, "files", (int64_t)put_back);
    qs_json_kint(&n.json, "left", (int64_t)left);
    tell(job, &n, "job.restored", false);
}

void qs_job_event_probing(struct qs_job_run *job, size_t clocks, size_t switches, int64_t takes_ns)
{
    struct event n;
    begin(&n);
    qs_json_kstring(&n.json, "device", job->p.device);
    qs_json_kint(&n.json, "clocks", (int64_t)clocks);
    qs_json_kint(&n.json, "switches", (int64_t)switches);
    qs_json_kint(&n.json, "takes_ns", takes_ns);
    tell(job, &n, "job.probing", false);
}

void qs_job_event_characterizing(struct qs_job_run *job, const struct qs_characterizing *at)
{
    struct event n;
    begin(&n);
    qs_json_kstring(&n.json, "domain", at->domain);
    qs_json_kstring(&n.json, "phase", at->phase);
    qs_json_kint(&n.json, "stage", (int64_t)at->stage);
    qs_json_kint(&n.json, "stages", (int64_t)at->stages);
    qs_json_kint(&n.json, "left_ns", at->left_ns);
    tell(job, &n, "job.characterizing", false);
}

void qs_job_event_characterized(struct qs_job_run *job, const struct qs_model_row *warms,
                                const struct qs_model_row *cools)
{
    const struct qs_model_row *rows[] = {warms, cools};
    struct event n;
    begin(&n);
    qs_json_kstring(&n.json, "domain", cools->domain);
    qs_json_kstring(&n.json, "sensor", cools->sensor);
    for (size_t i = 0; i < 2; i++) {
        qs_json_kobject(&n.json, rows[i]->kind);
        qs_model_json(rows[i], &n.json);
        qs_json_object_end(&n.json);
    }
    tell(job, &n, "job.characterized", false);
}

void qs_job_event_soaked(struct qs_job_run *job, const struct qs_model_row *found)
{
    struct event n;
    begin(&n);
    qs_json_kstring(&n.json, "domain", found->domain);
    qs_json_kstring(&n.json, "says", found->says);
    qs_json_kint(&n.json, "khz", found->khz);
    qs_json_kstring(&n.json, "why", found->why);
    tell(job, &n, "job.soaked", false);
}

void qs_job_event_knobs(struct qs_job_run *job, const struct qs_knob_row *rows, size_t count)
{
    struct event n;
    size_t tried = 0;
    begin(&n);
    qs_json_karray(&n.json, "doubtful");
    for (size_t i = 0; i < count; i++) {
        tried += strcmp(rows[i].sticks, "untried") != 0;
        if (!qs_knob_is_doubtful(&rows[i]))
            continue;
        qs_json_object(&n.json);
        qs_json_kstring(&n.json, "name", rows[i].name);
        qs_json_kstring(&n.json, "sticks", rows[i].sticks);
        qs_json_kstring(&n.json, "effect", rows[i].effect);
        qs_json_kstring(&n.json, "why", rows[i].why);
        qs_json_object_end(&n.json);
    }
    qs_json_array_end(&n.json);
    qs_json_kint(&n.json, "tried", (int64_t)tried);
    qs_json_kint(&n.json, "untried", (int64_t)(count - tried));
    tell(job, &n, "job.knobs", false);
}

void qs_job_event_pilot(struct qs_job_run *job, size_t arm, int64_t pilot_ns)
{
    struct event n;
    begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    qs_json_kstring(&n.json, "arm", job->p.spec->arms[arm].name);
    qs_json_kint(&n.json, "pilot_ns", pilot_ns);
    tell(job, &n, "job.pilot", false);
}

void qs_job_event_evals(struct qs_job_run *job, const struct qs_evals *evals)
{
    struct event n;
    begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    qs_json_key(&n.json, "evaluations");
    qs_evals_json(evals, &n.json);
    tell(job, &n, "job.evals", true);
}

void qs_job_event_plan(struct qs_job_run *job)
{
    int64_t longest_ns = 0, block_ns = 0;
    for (size_t a = 0; a < job->p.spec->arm_count; a++) {
        int64_t window_ns = job->schedule.pilot_ns[a] * (int64_t)job->schedule.run_iterations;
        block_ns += window_ns;
        if (window_ns > longest_ns)
            longest_ns = window_ns;
    }
    struct event n;
    begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    if (!qs_stream_is_on(job)) /* else a run has what its program writes */
        qs_json_kint(&n.json, "iterations_per_run", job->schedule.run_iterations);
    qs_json_kint(&n.json, "predicted_window_ns", longest_ns);
    qs_json_kint(&n.json, "predicted_block_ns", block_ns);
    tell(job, &n, "job.plan", false);
}

void qs_job_event_planned(struct qs_job_run *job, const struct qs_planner_answer *answer)
{
    struct event n;
    begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    qs_json_kint(&n.json, "iterations_per_run", (int64_t)answer->iterations);
    qs_json_kint(&n.json, "blocks", (int64_t)answer->runs);
    qs_json_kdouble(&n.json, "half_width_ratio", answer->half_width_ratio);
    qs_json_kbool(&n.json, "attainable", answer->attainable);
    tell(job, &n, "job.planned", false);
}

void qs_job_event_announce(struct qs_job_run *job, int64_t predicted_ns)
{
    struct event n;
    begin(&n);
    qs_json_kstring(&n.json, "arm", job->p.spec->arms[qs_schedule_arm(&job->schedule)].name);
    qs_json_kint(&n.json, "block", job->schedule.block);
    qs_json_kint(&n.json, "predicted_ns", predicted_ns);
    tell(job, &n, "window.announce", true);
}

void qs_job_event_host(struct qs_job_run *job, const char *what, const char *name, const char *why)
{
    struct event n;
    begin(&n);
    qs_json_kstring(&n.json, "what", what);
    qs_json_kstring(&n.json, "name", name);
    qs_json_kstring(&n.json, "why", why);
    tell(job, &n, "host.failed", true);
}

void qs_job_event_meter(struct qs_job_run *job, const char *name, const char *why)
{
    struct event n;
    begin(&n);
    qs_json_kstring(&n.json, "name", name);
    qs_json_kstring(&n.json, "why", why);
    tell(job, &n, "meter.failed", true);
}

void qs_job_event_held(struct qs_job_run *job, const char *why)
{
    struct event n;
    begin(&n);
    qs_json_kstring(&n.json, "why", why);
    snprintf(job->win.waits_for, sizeof job->win.waits_for, "%s", why);
    tell(job, &n, "window.held", true);
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

/* The line of the gate at this place as the window in hand has it: relative bounds are what they came to. False:
 * there are no more. */
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
        qs_buf_fmt(text, "%s is to be compared with the ambient temperature, and `ambient:%s` has no reading: %s",
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
    struct event n;
    if (!line_in_hand(job, m->expectation, &e))
        return;
    bool warms = m->expectation >= set->gate_count; /* what keeps its processors busy is ours */
    double cool_s = keep_waiting(job, &e, m, warms);
    begin(&n);
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
    tell(job, &n, "gate.waiting", true);
}

/* The first expectation of the gate whose deciding reading is not as it wants it; those that wait for a return
 * only where no other is. Readings come in the gate's order. False: there is none. */
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
    struct event n;
    struct qs_reading r;
    struct qs_job_expectation e;
    size_t index;
    begin(&n);
    if (find_unmet(job, &r, &e, &index)) {
        put_text(&n.json, "sensor", r.sensor);
        qs_json_kstring(&n.json, "status", qs_reading_status_name(r.status));
        qs_json_kint(&n.json, "value", r.value);
    }
    qs_json_kstring(&n.json, "outcome", qs_gate_outcome_name(job->win.made.closed.gate.outcome));
    put_text(&n.json, "busiest", job->win.made.closed.gate.busiest);
    qs_json_kint(&n.json, "waited_ns",
                 job->win.made.closed.gate.decided_ns - job->win.made.closed.gate.began_ns);
    tell(job, &n, "gate.timeout", true);
}

void qs_job_event_run(struct qs_job_run *job)
{
    char taint[128];
    struct event n;
    begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    qs_json_kstring(&n.json, "arm", job->p.spec->arms[qs_schedule_arm(&job->schedule)].name);
    qs_json_kint(&n.json, "block", job->schedule.block);
    qs_json_kint(&n.json, "pos", (int64_t)job->schedule.turn);
    qs_json_kint(&n.json, "n", (int64_t)job->run.clean_n);
    qs_json_kint(&n.json, "tainted",
                 (int64_t)(job->run.stored_n - job->run.traced_n) - (int64_t)job->run.clean_n);
    qs_json_kstring(&n.json, "taint", qs_taint_names(job->run.taint, taint, sizeof taint));
    tell(job, &n, "run.done", true);
}

void qs_job_event_repeat(struct qs_job_run *job, const char *why)
{
    struct event n;
    begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    qs_json_kint(&n.json, "block", job->schedule.block);
    qs_json_kint(&n.json, "attempt", job->schedule.attempt + 1);
    qs_json_kstring(&n.json, "why", why);
    tell(job, &n, "block.repeat", false);
}

void qs_job_event_block(struct qs_job_run *job, double half_width)
{
    int64_t now_ns = qs_loop_now_ns(job->p.loop),
            eta_ns = qs_schedule_eta_ns(&job->schedule, now_ns, qs_patience_left_ns(job));
    const struct qs_job_plan *plan = &job->p.spec->plan;
    struct event n;
    begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    qs_json_kint(&n.json, "points", (int64_t)job->p.spec->point_count);
    qs_json_kint(&n.json, "block", (int64_t)job->schedule.blocks_done);
    qs_json_kint(&n.json, "blocks_min", plan->blocks_min);
    qs_json_kint(&n.json, "blocks_max", plan->blocks_max);
    qs_json_kint(&n.json, "next_look", qs_schedule_next_look(&job->schedule));
    qs_json_kdouble(&n.json, "half_width_ratio", half_width);
    qs_json_kdouble(&n.json, "goal_ratio", plan->interval_ratio > 0 ? plan->interval_ratio : NAN);
    qs_json_kint(&n.json, "elapsed_ns", now_ns - job->began_ns);
    qs_patience_put(job, &n.json);
    qs_json_key(&n.json, "eta_ns");
    eta_ns >= 0 ? qs_json_int(&n.json, eta_ns) : qs_json_null(&n.json);
    tell(job, &n, "job.progress", false);
}

void qs_job_event_lost(struct qs_job_run *job, const char *why)
{
    struct event n;
    begin(&n);
    qs_json_kstring(&n.json, "why", why);
    tell(job, &n, "job.lost", false);
}

void qs_job_event_back(struct qs_job_run *job)
{
    struct event n;
    begin(&n);
    qs_json_kstring(&n.json, "boot", job->boot_uuid);
    tell(job, &n, "job.back", false);
}

void qs_job_event_warning(struct qs_job_run *job, const char *fmt, ...)
{
    QS_BUF(text);
    struct event n;
    va_list ap;
    va_start(ap, fmt);
    qs_buf_vfmt(&text, fmt, ap);
    va_end(ap);
    begin(&n);
    qs_json_kstring(&n.json, "text", text.data);
    tell(job, &n, "job.warning", false);
}
