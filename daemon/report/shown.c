#include "report/shown.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "config/farm/sensors.h"
#include "proto/names.h"
#include "store/read/shown.h"

static void put_known(struct qs_json *j, const char *key, int64_t v)
{
    qs_json_kmaybe(j, key, v != INT64_MIN, v);
}

static void put_uid(struct qs_json *j, const char *key, const uint8_t uid[16])
{
    char hex[33];
    qs_hex(uid, 16, hex);
    qs_json_kstring(j, key, hex);
}

/* The array is closed and given away, or dropped where it could not be read. */
static bool give(struct qs_json *j, bool ok, char **ret_json)
{
    qs_json_array_end(j);
    *ret_json = ok ? qs_buf_take(j->out) : NULL;
    return ok;
}

/* ---- windows ---- */

static void put_gate(struct qs_json *j, const struct qs_gate_row *gate)
{
    if (!gate) {
        qs_json_kraw(j, "gate", "null");
        return;
    }
    qs_json_kobject(j, "gate");
    qs_json_kstring(j, "outcome", gate->outcome);
    qs_json_kint(j, "waited_ns", gate->decided_ns - gate->began_ns);
    qs_json_kint(j, "polls", gate->polls);
    qs_json_kstring(j, "busiest", gate->busiest);
    qs_json_karray(j, "deciding");
    for (size_t i = 0; i < gate->deciding_count; i++) {
        const struct qs_reading_row *reading = &gate->deciding[i];
        qs_json_object(j);
        qs_json_kstring(j, "sensor", reading->sensor);
        qs_json_kstring(j, "status", qs_reading_status_name((enum qs_reading_status)reading->status));
        qs_json_kint(j, "value", reading->value);
        qs_json_kint(j, "age_ns", reading->age_ns);
        if (reading->trace)
            qs_json_kraw(j, "trace", reading->trace);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
    qs_json_object_end(j);
}

static void put_evidence(struct qs_json *j, const struct qs_window_row *w)
{
    qs_json_karray(j, "evidence");
    for (size_t i = 0; i < w->evidence_count; i++) {
        const struct qs_evidence_row *e = &w->evidence[i];
        qs_json_object(j);
        qs_json_kstring(j, "kind", e->kind);
        qs_json_kmaybe(j, "before", e->present, e->before);
        qs_json_kmaybe(j, "after", e->present, e->after);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
    qs_json_karray(j, "taints");
    for (size_t i = 0; i < w->taint_count; i++) {
        const struct qs_taint_row *taint = &w->taints[i];
        qs_json_object(j);
        qs_json_kmaybe(j, "i", taint->i >= 0, taint->i);
        qs_json_kstring(j, "code", taint->code);
        qs_json_kint(j, "value", taint->value);
        qs_json_kint(j, "bound", taint->bound);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
}

static void put_window(const struct qs_window_row *w, bool of_stream, void *user)
{
    static const char *const claims[QS_SILENCES] = {"none", "claimed", "observed", "proven"};
    struct qs_json *j = user;
    char names[128];
    qs_json_object(j);
    qs_json_kint(j, "window", w->ord);
    qs_json_kint(j, "attempt", w->attempt);
    qs_json_kstring(j, "phase", qs_phase_name(w->phase));
    qs_json_kint(j, "first_seq", (int64_t)w->first_seq);
    qs_json_kint(j, "n", (int64_t)w->n);
    qs_json_kint(j, "opened_ns", w->opened_ns);
    qs_json_kint(j, "closed_ns", w->closed_ns);
    qs_json_kint(j, "evals", w->evals);
    qs_json_kstring(j, "silence", w->silence < QS_SILENCES ? claims[w->silence] : "");
    if (of_stream && w->silence == QS_SILENCE_NONE)
        qs_json_kstring(j, "silence_why", QS_SILENCE_WHY_STREAM);
    qs_json_kint(j, "taint", w->taint);
    qs_json_kstring(j, "taint_names", qs_taint_names(w->taint, names, sizeof names));
    qs_json_kstring(j, "how", w->how);
    qs_json_kstring(j, "failure", w->failure);
    qs_json_kstring(j, "output", w->output);
    qs_json_kint(j, "output_bytes", (int64_t)w->output_bytes);
    put_gate(j, w->gate);
    put_evidence(j, w);
    qs_json_object_end(j);
}

bool qs_shown_windows(struct qs_store_reader *r, const uint8_t run_uid[16], char **ret_json,
                      struct qs_err *err)
{
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_array(&j);
    return give(&j, qs_read_windows_shown(r, run_uid, put_window, &j, err), ret_json);
}

/* ---- waits of gates ---- */

struct waits {
    struct qs_json j;
    int64_t window_id; /* of the gate that is open; 0: none */
    int64_t gates, total_ns;
};

static void leave_gate(struct waits *w)
{
    if (w->window_id == 0)
        return;
    qs_json_array_end(&w->j);
    qs_json_object_end(&w->j);
}

static void enter_gate(struct waits *w, const struct qs_gate_wait *wait)
{
    if (w->window_id == wait->window_id)
        return;
    leave_gate(w);
    w->window_id = wait->window_id;
    qs_json_object(&w->j);
    qs_json_kstring(&w->j, "run", wait->run);
    qs_json_kstring(&w->j, "arm_name", wait->arm);
    qs_json_kstring(&w->j, "device", wait->device);
    qs_json_kint(&w->j, "block", wait->block);
    qs_json_kint(&w->j, "window", wait->window);
    qs_json_kstring(&w->j, "outcome", wait->outcome);
    qs_json_kint(&w->j, "waited_ns", wait->waited_ns);
    qs_json_kstring(&w->j, "busiest", wait->busiest);
    qs_json_karray(&w->j, "sensors");
}

static void put_value(struct qs_json *j, const char *key, const char *sensor, int64_t value)
{
    QS_BUF(text);
    qs_sensor_print(sensor, value, &text);
    qs_json_kstring(j, key, text.data);
}

static void put_wait(const struct qs_gate_wait *wait, void *user)
{
    struct waits *w = user;
    enter_gate(w, wait);
    w->gates = wait->gates;
    w->total_ns = wait->total_ns;
    qs_json_object(&w->j);
    qs_json_kstring(&w->j, "sensor", wait->sensor);
    put_value(&w->j, "from", wait->sensor, wait->first);
    put_value(&w->j, "to", wait->sensor, wait->last);
    qs_json_kraw(&w->j, "trace", wait->trace);
    qs_json_object_end(&w->j);
}

bool qs_shown_waits(struct qs_store_reader *r, int64_t job, size_t most, char **ret_json, struct qs_err *err)
{
    QS_BUF(out);
    struct waits w = {.j = qs_json_to(&out)};
    qs_json_object(&w.j);
    qs_json_karray(&w.j, "longest");
    bool ok = qs_read_gate_waits(r, job, most, put_wait, &w, err);
    leave_gate(&w);
    qs_json_array_end(&w.j);
    qs_json_kint(&w.j, "gates", w.gates);
    qs_json_kint(&w.j, "waited_ns", w.total_ns);
    qs_json_object_end(&w.j);
    *ret_json = ok && w.gates > 0 ? qs_buf_take(&out) : NULL;
    return ok;
}

/* ---- artifacts ---- */

static void put_artifact(const struct qs_artifact_info *a, void *user)
{
    static const char *const flags[] = {"killed", "cut", "ended-early", "left-children"};
    struct qs_json *j = user;
    qs_json_object(j);
    qs_json_kstring(j, "kind", a->kind);
    qs_json_kstring(j, "name", a->name);
    qs_json_kstring(j, "sha256", a->sha256);
    put_known(j, "kept_bytes", a->kept_bytes);
    put_known(j, "total_bytes", a->total_bytes);
    qs_json_kstring(j, "why", a->why);
    if (a->is_trace) {
        qs_json_kint(j, "started_ns", a->started_ns);
        put_known(j, "stopped_ns", a->stopped_ns);
        put_known(j, "window", a->window);
        qs_json_karray(j, "flags");
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
            if (a->flags & (1u << i))
                qs_json_string(j, flags[i]);
        qs_json_array_end(j);
    }
    qs_json_object_end(j);
}

bool qs_shown_artifacts(struct qs_store_reader *r, const uint8_t run_uid[16], char **ret_json,
                        struct qs_err *err)
{
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_array(&j);
    return give(&j, qs_read_artifacts(r, run_uid, put_artifact, &j, err), ret_json);
}

/* ---- from the fastest and the slowest to traces ---- */

struct groups {
    struct qs_json j;
    bool open;            /* a group is */
    int64_t point, arm;   /* of it */
    struct qs_buf device; /* of it */
};

static void enter_group(struct groups *g, const struct qs_extreme *x)
{
    if (g->open && g->point == x->point && g->arm == x->arm && strcmp(g->device.data, x->device) == 0)
        return;
    if (g->open)
        qs_json_object_end(&g->j);
    g->open = true;
    g->point = x->point;
    g->arm = x->arm;
    qs_buf_clear(&g->device);
    qs_buf_str(&g->device, x->device);
    qs_json_object(&g->j);
    qs_json_kint(&g->j, "point", x->point);
    qs_json_kint(&g->j, "arm", x->arm);
    qs_json_kstring(&g->j, "arm_name", x->arm_name);
    qs_json_kstring(&g->j, "device", x->device);
}

static void put_one(struct qs_json *j, const char *key, const struct qs_extreme *x)
{
    qs_json_kobject(j, key);
    put_uid(j, "run", x->run_uid);
    qs_json_kint(j, "block", x->block);
    qs_json_kint(j, "window", x->window);
    qs_json_kint(j, "seq", x->seq);
    qs_json_kint(j, "start_ns", x->start_ns);
    qs_json_kint(j, "duration_ns", x->duration_ns);
    qs_json_kint(j, "evals", x->evals);
    if (x->trace.found) {
        qs_json_kobject(j, "trace");
        put_uid(j, "run", x->trace.run_uid);
        qs_json_kstring(j, "name", x->trace.name);
        qs_json_kstring(j, "sha256", x->trace.sha256);
        qs_json_kint(j, "started_ns", x->trace.started_ns);
        if (x->traced)
            qs_json_kint(j, "offset_ns", x->start_ns - x->trace.started_ns);
        qs_json_object_end(j);
    } else {
        qs_json_kraw(j, "trace", "null");
    }
    qs_json_object_end(j);
}

static void put_extreme(const struct qs_extreme *x, void *user)
{
    struct groups *g = user;
    enter_group(g, x);
    if (x->fastest)
        put_one(&g->j, x->traced ? "traced_fastest" : "fastest", x);
    if (x->slowest)
        put_one(&g->j, x->traced ? "traced_slowest" : "slowest", x);
}

bool qs_shown_traces(struct qs_store_reader *r, int64_t job, int64_t run, char **ret_json, struct qs_err *err)
{
    QS_BUF(out);
    struct groups g = {.j = qs_json_to(&out)};
    qs_buf_init(&g.device);
    qs_json_array(&g.j);
    bool has, ok = qs_read_extremes(r, job, run, &has, put_extreme, &g, err);
    if (g.open)
        qs_json_object_end(&g.j);
    qs_buf_done(&g.device);
    (void)give(&g.j, ok && has, ret_json);
    return ok;
}

/* ---- of a job ---- */

static void put_taint(const struct qs_taint_count *count, void *user)
{
    struct qs_json *j = user;
    qs_json_object(j);
    qs_json_kstring(j, "arm", count->arm);
    qs_json_kstring(j, "code", count->code);
    qs_json_kint(j, "windows", count->windows);
    qs_json_kint(j, "iterations", count->iterations);
    qs_json_kstring(j, "example", count->example);
    qs_json_kstring(j, "busiest", count->busiest);
    qs_json_object_end(j);
}

bool qs_shown_taints(struct qs_store_reader *r, int64_t job, char **ret_json, struct qs_err *err)
{
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_array(&j);
    return give(&j, qs_read_taints(r, job, put_taint, &j, err), ret_json);
}

static void put_evals(const struct qs_evals_found *found, void *user)
{
    struct qs_json *j = user;
    qs_json_object(j);
    qs_json_kint(j, "point", found->point);
    qs_json_kstring(j, "label", found->label);
    qs_json_kstring(j, "device", found->device);
    qs_json_kraw(j, "evaluations", found->evals_json);
    qs_json_object_end(j);
}

bool qs_shown_evals(struct qs_store_reader *r, int64_t job, char **ret_json, struct qs_err *err)
{
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_array(&j);
    return give(&j, qs_read_evals_found(r, job, put_evals, &j, err), ret_json);
}
