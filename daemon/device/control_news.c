/* What the controller tells people and the record. Never a running effect: precision and progress only. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/text.h"
#include "config/farm/sensors.h"
#include "device/control_impl.h"
#include "device/control_news.h"
#include "proto/names.h"

struct news {
    struct qs_buf buf;
    struct qs_json json;
};

static void begin(struct news *n)
{
    qs_buf_init(&n->buf);
    qs_json_init(&n->json, &n->buf);
    qs_json_object(&n->json);
}

static void tell(struct qs_control *c, struct news *n, const char *kind, bool with_run)
{
    qs_json_object_end(&n->json);
    c->events.on_news(kind, n->buf.data, with_run ? c->run.uid.b : NULL, c->events.user);
    qs_buf_done(&n->buf);
}

static void put_text(struct qs_json *j, const char *key, struct qs_text t)
{
    qs_json_key(j, key);
    qs_json_string_n(j, t.p ? t.p : "", t.n);
}

void qs_control_news_start(struct qs_control *c)
{
    struct news n;
    begin(&n);
    qs_json_kint(&n.json, "blocks_min", c->p.spec->plan.blocks_min);
    qs_json_kint(&n.json, "blocks_max", c->p.spec->plan.blocks_max);
    qs_json_kint(&n.json, "arms", (int64_t)c->p.spec->arm_count);
    qs_json_kint(&n.json, "points", (int64_t)c->p.spec->point_count);
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)c->p.seed);
    qs_json_kstring(&n.json, "seed", seed);
    qs_json_kbool(&n.json, "simulated", c->p.simulated);
    tell(c, &n, "job.start", false);
}

void qs_control_news_push(struct qs_control *c)
{
    struct news n;
    begin(&n);
    qs_json_kint(&n.json, "files", (int64_t)c->push.missing);
    qs_json_kint(&n.json, "bytes", c->push.missing_bytes);
    qs_json_kint(&n.json, "there", (int64_t)(c->push.count - c->push.missing));
    tell(c, &n, "job.push", false);
}

void qs_control_news_pushed(struct qs_control *c)
{
    struct news n;
    begin(&n);
    qs_json_kint(&n.json, "files", (int64_t)c->push.missing);
    qs_json_kint(&n.json, "bytes", c->push.missing_bytes);
    qs_json_kint(&n.json, "elapsed_ns", qs_loop_now_ns(c->p.loop) - c->push.began_ns);
    tell(c, &n, "job.pushed", false);
}

void qs_control_news_pilot(struct qs_control *c, size_t arm, int64_t pilot_ns)
{
    struct news n;
    begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)c->plan.point);
    qs_json_kstring(&n.json, "arm", c->p.spec->arms[arm].name);
    qs_json_kint(&n.json, "pilot_ns", pilot_ns);
    tell(c, &n, "job.pilot", false);
}

void qs_control_news_evals(struct qs_control *c)
{
    struct news n;
    begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)c->plan.point);
    qs_json_key(&n.json, "evaluations");
    qs_evals_json(&c->evals.at, &n.json);
    tell(c, &n, "job.evals", true);
}

void qs_control_news_plan(struct qs_control *c)
{
    int64_t longest_ns = 0, block_ns = 0;
    for (size_t a = 0; a < c->p.spec->arm_count; a++) {
        int64_t window_ns = c->plan.pilot_ns[a] * (int64_t)c->plan.run_iterations;
        block_ns += window_ns;
        if (window_ns > longest_ns)
            longest_ns = window_ns;
    }
    struct news n;
    begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)c->plan.point);
    if (!qs_control_is_stream(c)) /* else a run has what its program writes */
        qs_json_kint(&n.json, "iterations_per_run", c->plan.run_iterations);
    qs_json_kint(&n.json, "predicted_window_ns", longest_ns);
    qs_json_kint(&n.json, "predicted_block_ns", block_ns);
    tell(c, &n, "job.plan", false);
}

void qs_control_news_planned(struct qs_control *c, const struct qs_planner_answer *answer)
{
    struct news n;
    begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)c->plan.point);
    qs_json_kint(&n.json, "iterations_per_run", (int64_t)answer->iterations);
    qs_json_kint(&n.json, "blocks", (int64_t)answer->runs);
    qs_json_kdouble(&n.json, "half_width_ratio", answer->half_width_ratio);
    qs_json_kbool(&n.json, "attainable", answer->attainable);
    tell(c, &n, "job.planned", false);
}

void qs_control_news_announce(struct qs_control *c, int64_t predicted_ns)
{
    struct news n;
    begin(&n);
    qs_json_kstring(&n.json, "arm", c->p.spec->arms[qs_plan_arm(&c->plan)].name);
    qs_json_kint(&n.json, "block", c->plan.block);
    qs_json_kint(&n.json, "predicted_ns", predicted_ns);
    tell(c, &n, "window.announce", true);
}

void qs_control_news_host(struct qs_control *c, const char *what, const char *name, const char *why)
{
    struct news n;
    begin(&n);
    qs_json_kstring(&n.json, "what", what);
    qs_json_kstring(&n.json, "name", name);
    qs_json_kstring(&n.json, "why", why);
    tell(c, &n, "host.failed", true);
}

void qs_control_news_held(struct qs_control *c, const char *why)
{
    struct news n;
    begin(&n);
    qs_json_kstring(&n.json, "why", why);
    snprintf(c->win.waits_for, sizeof c->win.waits_for, "%s", why);
    tell(c, &n, "window.held", true);
}

/* "thermal:cpu is 46.7 °C, wanted at most 45.0 °C" */
static void keep_waiting(struct qs_control *c, const struct qs_job_expectation *e,
                         const struct qs_msg_waiting *m)
{
    struct qs_buf text;
    qs_buf_init(&text);
    qs_buf_fmt(&text, "%s is ", e->sensor);
    if (m->status == QS_READING_OK)
        qs_sensor_print(e->sensor, m->value, &text);
    else
        qs_buf_str(&text, qs_reading_status_name(m->status));
    qs_buf_str(&text, e->has_lo && e->has_hi ? ", wanted "
                      : e->has_lo            ? ", wanted at least "
                                             : ", wanted at most ");
    if (e->has_lo)
        qs_sensor_print(e->sensor, e->lo, &text);
    qs_buf_str(&text, e->has_lo && e->has_hi ? " to " : "");
    if (e->has_hi)
        qs_sensor_print(e->sensor, e->hi, &text);
    snprintf(c->win.waits_for, sizeof c->win.waits_for, "%s", text.data);
    qs_buf_done(&text);
}

void qs_control_news_waiting(struct qs_control *c, const struct qs_msg_waiting *m)
{
    if (m->expectation >= c->p.spec->gate_count)
        return;
    const struct qs_job_expectation *e = &c->p.spec->gate[m->expectation];
    struct news n;
    keep_waiting(c, e, m);
    begin(&n);
    qs_json_kstring(&n.json, "sensor", e->sensor);
    qs_json_kint(&n.json, "value", m->value);
    qs_json_key(&n.json, "lo");
    e->has_lo ? qs_json_int(&n.json, e->lo) : qs_json_null(&n.json);
    qs_json_key(&n.json, "hi");
    e->has_hi ? qs_json_int(&n.json, e->hi) : qs_json_null(&n.json);
    qs_json_kstring(&n.json, "status", qs_reading_status_name(m->status));
    put_text(&n.json, "busiest", m->note);
    qs_json_kstring(&n.json, "text", c->win.waits_for);
    qs_json_kint(&n.json, "elapsed_ns", m->elapsed_ns);
    qs_json_kint(&n.json, "timeout_ns", qs_control_patience_timeout_ns(c, e));
    qs_json_kint(&n.json, "waited_ns", c->patience.waited_ns);
    tell(c, &n, "gate.waiting", true);
}

/* The first deciding reading that is not as its expectation wants it. Readings come in the gate's order. */
static void put_violation(struct qs_control *c, struct qs_json *j)
{
    struct qs_iter it = qs_list_iter(&c->win.made.closed.gate.readings);
    struct qs_reading r;
    for (size_t i = 0; i < c->p.spec->gate_count && qs_list_reading(&it, &r); i++) {
        const struct qs_job_expectation *e = &c->p.spec->gate[i];
        bool inside = (!e->has_lo || r.value >= e->lo) && (!e->has_hi || r.value <= e->hi);
        if (r.status == QS_READING_OK ? inside : e->unreadable_ok)
            continue;
        put_text(j, "sensor", r.sensor);
        qs_json_kstring(j, "status", qs_reading_status_name(r.status));
        qs_json_kint(j, "value", r.value);
        break;
    }
}

void qs_control_news_gate_timeout(struct qs_control *c)
{
    struct news n;
    begin(&n);
    put_violation(c, &n.json);
    qs_json_kstring(&n.json, "outcome", qs_gate_outcome_name(c->win.made.closed.gate.outcome));
    put_text(&n.json, "busiest", c->win.made.closed.gate.busiest);
    qs_json_kint(&n.json, "waited_ns", c->win.made.closed.gate.decided_ns - c->win.made.closed.gate.began_ns);
    tell(c, &n, "gate.timeout", true);
}

void qs_control_news_run(struct qs_control *c)
{
    char taint[128];
    struct news n;
    begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)c->plan.point);
    qs_json_kstring(&n.json, "arm", c->p.spec->arms[qs_plan_arm(&c->plan)].name);
    qs_json_kint(&n.json, "block", c->plan.block);
    qs_json_kint(&n.json, "pos", (int64_t)c->plan.turn);
    qs_json_kint(&n.json, "n", (int64_t)c->run.clean_n);
    qs_json_kint(&n.json, "tainted", (int64_t)(c->run.stored_n - c->trace.rows) - (int64_t)c->run.clean_n);
    qs_json_kstring(&n.json, "taint", qs_taint_names(c->run.taint, taint, sizeof taint));
    tell(c, &n, "run.done", true);
}

void qs_control_news_repeat(struct qs_control *c, const char *why)
{
    struct news n;
    begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)c->plan.point);
    qs_json_kint(&n.json, "block", c->plan.block);
    qs_json_kint(&n.json, "attempt", c->plan.attempt + 1);
    qs_json_kstring(&n.json, "why", why);
    tell(c, &n, "block.repeat", false);
}

void qs_control_news_block(struct qs_control *c, double half_width)
{
    int64_t now_ns = qs_loop_now_ns(c->p.loop),
            eta_ns = qs_plan_eta_ns(&c->plan, now_ns, qs_control_patience_left_ns(c));
    const struct qs_job_plan *plan = &c->p.spec->plan;
    struct news n;
    begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)c->plan.point);
    qs_json_kint(&n.json, "points", (int64_t)c->p.spec->point_count);
    qs_json_kint(&n.json, "block", (int64_t)c->plan.blocks_done);
    qs_json_kint(&n.json, "blocks_min", plan->blocks_min);
    qs_json_kint(&n.json, "blocks_max", plan->blocks_max);
    qs_json_kint(&n.json, "next_look", qs_plan_next_look(&c->plan));
    qs_json_kdouble(&n.json, "half_width_ratio", half_width);
    qs_json_kdouble(&n.json, "goal_ratio", plan->interval_ratio > 0 ? plan->interval_ratio : NAN);
    qs_json_kint(&n.json, "elapsed_ns", now_ns - c->began_ns);
    qs_control_patience_put(c, &n.json);
    qs_json_key(&n.json, "eta_ns");
    eta_ns >= 0 ? qs_json_int(&n.json, eta_ns) : qs_json_null(&n.json);
    tell(c, &n, "job.progress", false);
}

void qs_control_news_lost(struct qs_control *c, const char *why)
{
    struct news n;
    begin(&n);
    qs_json_kstring(&n.json, "why", why);
    tell(c, &n, "job.lost", false);
}

void qs_control_news_back(struct qs_control *c)
{
    struct news n;
    begin(&n);
    qs_json_kstring(&n.json, "boot", c->boot_uuid);
    tell(c, &n, "job.back", false);
}

void qs_control_news_warning(struct qs_control *c, const char *fmt, ...)
{
    struct qs_buf text;
    struct news n;
    va_list ap;
    qs_buf_init(&text);
    va_start(ap, fmt);
    qs_buf_vfmt(&text, fmt, ap);
    va_end(ap);
    begin(&n);
    qs_json_kstring(&n.json, "text", text.data);
    tell(c, &n, "job.warning", false);
    qs_buf_done(&text);
}
