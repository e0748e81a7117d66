#include "report/history/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "proto/auth.h"
#include "report/put.h"
#include "report/history/impl.h"
#include "report/sides/picks.h"
#include "report/work.h"

enum { HISTORY_VERSION = 1 };

struct qs_history_opts qs_history_opts_default(void)
{
    return (struct qs_history_opts){.level = 0.95, .margin_ratio = 0.02, .p_max = 0.001, .window = 50};
}

void qs_history_id(const struct qs_series_info *series, char id[65])
{
    const char *const parts[] = {series->benchmark, series->params_json, series->controls_json,
                                 series->device, series->arm};
    struct qs_sha256 sum;
    uint8_t digest[QS_SHA256_BYTES];
    qs_sha256_init(&sum);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        qs_sha256_add(&sum, parts[i], strlen(parts[i]) + 1);
    qs_sha256_final(&sum, digest);
    qs_hex(digest, sizeof digest, id);
}

void qs_history_put_series(struct qs_json *j, const struct qs_series_info *series)
{
    char id[65];
    qs_history_id(series, id);
    qs_json_kstring(j, "id", id);
    qs_json_kstring(j, "benchmark", series->benchmark);
    qs_json_kraw(j, "params", series->params_json);
    qs_json_kraw(j, "conditions", series->controls_json);
    qs_json_kstring(j, "device", series->device);
    qs_json_kbool(j, "simulated", series->simulated);
    qs_json_kstring(j, "arm", series->arm);
}

struct history {
    const struct qs_history_input *in;
    const struct qs_history_session **session; /* owned: those that have a value */
    struct qs_history_value *value;            /* owned */
    struct qs_env_diff *diff;                  /* owned: of each point against the one before */
    double *x;                                 /* owned: the values */
    size_t n;
};

bool qs_history_has_build(const struct qs_history_session *session, const char *text)
{
    char build[80];
    qs_history_build(session, build);
    return !text || strstr(build, text);
}

static bool history_init(struct history *h, const struct qs_history_input *in, struct qs_err *err)
{
    size_t most = in->data->count + 1;
    *h = (struct history){.in = in};
    h->session = qs_calloc(most, sizeof(const struct qs_history_session *));
    h->value = qs_calloc(most, sizeof *h->value);
    h->diff = qs_calloc(most, sizeof *h->diff);
    h->x = qs_calloc(most, sizeof *h->x);
    for (size_t i = 0; i < in->data->count; i++) {
        const struct qs_history_session *session = &in->data->at[i];
        struct qs_history_value v = qs_history_value_of(session, in->opts.level);
        if (isnan(v.value) || !qs_history_has_build(session, in->build))
            continue;
        h->session[h->n] = session;
        h->value[h->n] = v;
        h->x[h->n] = v.value;
        h->n++;
        if (h->n > 1 &&
            !qs_history_diff(h->session[h->n - 2], session, in->variables, &h->diff[h->n - 1], err))
            return false;
    }
    return true;
}

static void history_done(struct history *h)
{
    for (size_t i = 0; i < h->n; i++)
        qs_env_diff_free(&h->diff[i]);
    free(h->session);
    free(h->value);
    free(h->diff);
    free(h->x);
}

static bool is_break(const struct history *h, size_t i)
{
    return i > 0 && qs_env_diff_matters(&h->diff[i]) > 0;
}

static void put_point(struct qs_json *j, const struct history *h, size_t i)
{
    const struct qs_history_session *s = h->session[i];
    const struct qs_history_value *v = &h->value[i];
    char uid[33], build[80], night[QS_NIGHT_CHARS];
    qs_hex(s->uid, sizeof s->uid, uid);
    qs_history_build(s, build);
    qs_json_object(j);
    qs_json_kint(j, "started_wall_ns", s->started_wall_ns);
    qs_night_name(s->started_wall_ns, night);
    qs_json_kstring(j, "night", night);
    qs_json_kint(j, "job", s->job);
    qs_json_kstring(j, "job_name", s->job_name);
    qs_json_kstring(j, "session", uid);
    qs_json_kstring(j, "boot", s->boot);
    qs_json_kstring(j, "build", build);
    qs_json_kstring(j, "build_content", s->build_content);
    qs_json_kdouble(j, "value", v->value);
    qs_json_kdouble(j, "lo", v->lo);
    qs_json_kdouble(j, "hi", v->hi);
    qs_json_kdouble(j, "level", v->level);
    qs_json_kstring(j, "interval", isnan(v->lo) ? NULL : v->by_order ? "order" : "t-log");
    qs_json_kint(j, "runs", (int64_t)v->runs);
    qs_json_kint(j, "tainted_runs", (int64_t)v->tainted_runs);
    qs_json_kint(j, "iterations", (int64_t)v->iterations);
    qs_json_kbool(j, "uses_tainted", v->uses_tainted);
    qs_json_object_end(j);
}

/* "worse" and "better" only where the whole interval lies beyond the margin. */
static const char *direction(const struct history *h, const struct qs_change *c)
{
    double margin = 1 + h->in->opts.margin_ratio;
    bool up = c->ci.lo > margin, down = c->ci.hi < 1 / margin;
    if (!up && !down)
        return "unsure";
    return up == h->in->metric->lower_is_better ? "worse" : "better";
}

/* Measured on a server of 2020: Hunter for each point of each window, Theil-Sen twice for each pair. */
static const double WINDOW_NS = 17, PAIR_NS = 100;

static double changes_ns(const struct history *h, size_t n)
{
    size_t window = h->in->opts.window < n ? h->in->opts.window : n;
    return WINDOW_NS * (double)n * (double)window;
}

static double trend_ns(size_t n)
{
    return n > QS_DRIFT_MOST ? 0 : PAIR_NS * (double)n * (double)n / 2;
}

struct told_change {
    struct qs_change of;
    const char *direction, *build, *build_before;
    char names[2][80];
};
static const char *const direction_words[] = {"worse", "better", "unsure", NULL};
static const struct qs_field change_rows[] = {
    QS_ROWS_OF(told_change, of, qs_change_rows),
    QS_ROW(told_change, direction, TEXT, "unsure: the interval is not wholly beyond the margin",
           .words = direction_words),
    QS_ROW(told_change, build, TEXT, "of the point at from", .known = true),
    QS_ROW(told_change, build_before, TEXT, "of the point before", .known = true),
    {.name = NULL}};

static void tell_change(const struct history *h, const struct qs_change *c, size_t from,
                        struct told_change *ret)
{
    *ret = (struct told_change){.of = *c, .direction = direction(h, c)};
    ret->of.from += from;
    ret->of.to += from;
    qs_history_build(h->session[ret->of.from], ret->names[0]);
    qs_history_build(h->session[c->from > 0 ? ret->of.from - 1 : from], ret->names[1]);
    ret->build = ret->names[0];
    ret->build_before = ret->names[1];
}

struct found {
    enum qs_status status;
    struct qs_field_list changes;
    struct qs_beside_changes beside;
};
static const struct qs_field found_rows[] = {
    QS_ROW(found, status, WORD, "of the search", .words = qs_status_names),
    QS_ROW(found, changes, OBJECTS, "steps and drifts in their order", .of = change_rows,
           .bytes = sizeof(struct told_change)),
    QS_ROWS_OF(found, beside, qs_beside_changes_rows),
    {.name = NULL}};

static void put_changes(struct qs_json *j, const struct history *h, size_t from, size_t end,
                        const struct qs_progress *progress)
{
    const struct qs_history_opts *o = &h->in->opts;
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    struct qs_changes changes;
    struct found found = {.status = QS_OK};
    opts.level = o->level;
    opts.min_magnitude = o->margin_ratio;
    opts.p_max = o->p_max;
    opts.window = o->window;
    opts.progress = *progress;
    found.status = qs_changes_find(h->x + from, end - from, &opts, &changes);
    struct told_change *told = qs_calloc(changes.count, sizeof *told);
    for (size_t i = 0; i < changes.count; i++)
        tell_change(h, &changes.at[i], from, &told[i]);
    found.changes = (struct qs_field_list){told, changes.count};
    found.beside = qs_beside_changes(&changes, from);
    qs_put_fields(j, found_rows, &found);
    qs_fields_free(found_rows, &found);
    qs_changes_free(&changes);
}

static void put_trend(struct qs_json *j, const struct history *h, size_t from, size_t end,
                      const struct qs_progress *progress)
{
    struct qs_drift d;
    enum qs_status status = qs_drift(h->x + from, end - from, h->in->opts.level, progress, &d);
    qs_json_kobject(j, "trend");
    qs_json_kdouble(j, "tau", d.raw.tau);
    qs_json_kdouble(j, "p", d.p);
    qs_json_kdouble(j, "n_eff", d.n_eff);
    qs_json_kdouble(j, "slope", d.slope);
    qs_json_kdouble(j, "lo", d.ci.lo);
    qs_json_kdouble(j, "hi", d.ci.hi);
    qs_json_kstring(j, "status", qs_status_name(status));
    qs_json_object_end(j);
}

static size_t segment_end(const struct history *h, size_t from)
{
    size_t end = from + 1;
    while (end < h->n && !is_break(h, end))
        end++;
    return end;
}

static double plan_ns(const struct history *h)
{
    double sum = 0;
    for (size_t from = 0, end; from < h->n; from = end) {
        end = segment_end(h, from);
        sum += changes_ns(h, end - from) + trend_ns(end - from);
    }
    return sum;
}

static void put_segment(struct qs_json *j, const struct history *h, size_t from, size_t end,
                        struct qs_work *work)
{
    struct qs_progress piece;
    qs_json_object(j);
    qs_json_kint(j, "from", (int64_t)from);
    qs_json_kint(j, "end", (int64_t)end);
    if (qs_work_begin(work, "changes", changes_ns(h, end - from), &piece))
        put_changes(j, h, from, end, &piece);
    if (qs_work_begin(work, "trend", trend_ns(end - from), &piece))
        put_trend(j, h, from, end, &piece);
    qs_json_object_end(j);
}

static enum qs_status put_segments(struct qs_json *j, const struct history *h)
{
    struct qs_work work;
    qs_work_init(&work, &h->in->progress, plan_ns(h));
    qs_json_karray(j, "segments");
    for (size_t from = 0, end; from < h->n && !work.ended; from = end) {
        end = segment_end(h, from);
        put_segment(j, h, from, end, &work);
    }
    qs_json_array_end(j);
    return qs_work_finish(&work);
}

static void put_breaks(struct qs_json *j, const struct history *h)
{
    qs_json_karray(j, "breaks");
    for (size_t i = 1; i < h->n; i++) {
        if (!is_break(h, i))
            continue;
        qs_json_object(j);
        qs_json_kint(j, "at", (int64_t)i);
        qs_json_kdouble(j, "ratio", h->x[i - 1] > 0 ? h->x[i] / h->x[i - 1] : NAN);
        qs_json_key(j, "differences");
        qs_env_diff_put(j, &h->diff[i]);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
}

static void put_metric(struct qs_json *j, const struct qs_history_input *in)
{
    qs_json_kstring(j, "metric", in->metric->name);
    qs_json_kstring(j, "unit", in->metric->unit);
    qs_json_kbool(j, "lower_is_better", in->metric->lower_is_better);
    qs_json_karray(j, "metrics");
    for (size_t i = 0; i < in->metrics->count; i++)
        qs_json_string(j, in->metrics->at[i].name);
    qs_json_array_end(j);
}

static void put_options(struct qs_json *j, const struct qs_history_opts *o)
{
    qs_json_kobject(j, "options");
    qs_json_kdouble(j, "level", o->level);
    qs_json_kdouble(j, "margin_ratio", o->margin_ratio);
    qs_json_kdouble(j, "p_max", o->p_max);
    qs_json_kint(j, "window", (int64_t)o->window);
    qs_json_object_end(j);
}

bool qs_history_document(const struct qs_history_input *in, struct qs_buf *out, struct qs_err *err)
{
    struct history h;
    bool ok = history_init(&h, in, err);
    if (ok) {
        struct qs_json j = qs_json_to(out);
        qs_json_object(&j);
        qs_json_kstring(&j, "kind", "series");
        qs_json_kint(&j, "version", HISTORY_VERSION);
        qs_json_kstring(&j, "quiesce", QS_VERSION);
        qs_history_put_series(&j, in->series);
        put_metric(&j, in);
        put_options(&j, &in->opts);
        qs_json_kstring(&j, "value_is", "median of the medians of a session's runs");
        qs_json_kint(&j, "sessions_left_out", (int64_t)(in->data->count - h.n));
        qs_json_karray(&j, "points");
        for (size_t i = 0; i < h.n; i++)
            put_point(&j, &h, i);
        qs_json_array_end(&j);
        put_breaks(&j, &h);
        ok = put_segments(&j, &h) == QS_OK || qs_work_fail(err);
        qs_json_object_end(&j);
    }
    history_done(&h);
    return ok;
}
