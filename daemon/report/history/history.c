#include "report/history/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "proto/auth.h"
#include "report/put.h"
#include "report/history/impl.h"
#include "report/sides/selector.h"
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

struct told_series {
    const char *id, *benchmark, *params, *conditions, *device, *arm;
    bool simulated;
    char hash[65];
};
static const struct qs_field series_rows[] = {
    QS_ROW(told_series, id, TEXT,
           "SHA-256 over benchmark, params, controls, device and arm: the same in every database",
           .known = true),
    QS_ROW(told_series, benchmark, TEXT, "its name", .known = true),
    QS_ROW(told_series, params, RAW, "parameters of the point"),
    QS_ROW(told_series, conditions, RAW, "its controls: affinity and frequency"),
    QS_ROW(told_series, device, TEXT, "its name", .known = true),
    QS_ROW(told_series, simulated, BOOL, "its numbers are no measurements"),
    QS_ROW(told_series, arm, TEXT, "its name", .known = true),
    {.name = NULL}};

static void tell_series(const struct qs_series_info *series, struct told_series *ret)
{
    *ret = (struct told_series){.id = ret->hash,
                                .benchmark = series->benchmark,
                                .params = series->params_json,
                                .conditions = series->controls_json,
                                .device = series->device,
                                .simulated = series->simulated,
                                .arm = series->arm};
    qs_history_id(series, ret->hash);
}

void qs_history_put_series(struct qs_json *j, const struct qs_series_info *series)
{
    struct told_series told;
    tell_series(series, &told);
    qs_put_fields(j, series_rows, &told);
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

/* The next point, against the one before; each job is read at most once. */
static bool add_point(struct history *h, const struct qs_history_session *session,
                      struct qs_history_night *last, struct qs_err *err)
{
    struct qs_history_night night = {.session = session};
    h->session[h->n] = session;
    bool ok = !last->session || qs_history_diff(last, &night, h->in->variables, &h->diff[h->n], err);
    h->n++;
    qs_history_night_done(last);
    *last = night;
    return ok;
}

static bool history_init(struct history *h, const struct qs_history_input *in, struct qs_err *err)
{
    size_t most = in->data->count + 1;
    QS_SCOPED(qs_history_night_done) struct qs_history_night last = {0};
    *h = (struct history){.in = in};
    h->session = qs_calloc(most, sizeof(const struct qs_history_session *));
    h->value = qs_calloc(most, sizeof *h->value);
    h->diff = qs_calloc(most, sizeof *h->diff);
    h->x = qs_calloc(most, sizeof *h->x);
    for (size_t i = 0; i < in->data->count; i++) {
        const struct qs_history_session *session = &in->data->at[i];
        if (!qs_progress_go_on(&in->progress, 0)) /* telling what differs may read a job */
            return qs_work_fail(err);
        struct qs_history_value v = qs_history_value_of(session, in->opts.level);
        if (isnan(v.value) || !qs_history_has_build(session, in->build))
            continue;
        h->value[h->n] = v;
        h->x[h->n] = v.value;
        if (!add_point(h, session, &last, err))
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

struct point {
    struct qs_history_value of;
    int64_t started_wall_ns, job;
    const char *night, *job_name, *session, *boot, *build, *build_content, *interval;
    char uid[33], label[80], day[QS_NIGHT_CHARS];
};
static const char *const interval_words[] = {"order", "t-log", NULL};
static const struct qs_field point_rows[] = {
    QS_ROW(point, started_wall_ns, WHOLE, "when the session began"),
    QS_ROW(point, night, TEXT,
           "the day on which it began where the daemon runs, as night: of a comparison calls it",
           .known = true),
    QS_ROW(point, job, WHOLE, "its number"),
    QS_ROW(point, job_name, TEXT, "its name", .known = true),
    QS_ROW(point, session, TEXT, "the session's identity", .known = true),
    QS_ROW(point, boot, TEXT, "the boot of the device in which it ran", .known = true),
    QS_ROW(point, build, TEXT, "its label; of an arm without one the beginning of its executable's hash",
           .known = true),
    QS_ROW(point, build_content, TEXT, "hash of the build's files; null of an arm without one"),
    QS_ROW_AS("value", point, of.value, DOUBLE,
              "median of the medians of its runs, in the metric's unit; times are of one evaluation"),
    QS_ROW_AS("lo", point, of.lo, DOUBLE, "lower bound of the value; null of fewer than two runs"),
    QS_ROW_AS("hi", point, of.hi, DOUBLE, "upper bound"),
    QS_ROW_AS("level", point, of.level, DOUBLE, "the confidence that is reached"),
    QS_ROW(point, interval, TEXT,
           "order: order statistics of 6 and more run medians; t-log: Student's t on the logarithms of fewer",
           .words = interval_words, .maybe = true),
    QS_ROW_AS("runs", point, of.runs, COUNT, "that count"),
    QS_ROW_AS("tainted_runs", point, of.tainted_runs, COUNT,
              "that were disturbed, whether they count or not"),
    QS_ROW_AS("iterations", point, of.iterations, COUNT, "of the runs that count"),
    QS_ROW_AS("uses_tainted", point, of.uses_tainted, BOOL,
              "tainted runs are among those that count, because fewer than three are clean"),
    {.name = NULL}};

static void tell_point(const struct history *h, size_t i, struct point *ret)
{
    const struct qs_history_session *s = h->session[i];
    const struct qs_history_value *v = &h->value[i];
    *ret = (struct point){.of = *v,
                          .started_wall_ns = s->started_wall_ns,
                          .job = s->job,
                          .night = ret->day,
                          .job_name = s->job_name,
                          .session = ret->uid,
                          .boot = s->boot,
                          .build = ret->label,
                          .build_content = s->build_content,
                          .interval = isnan(v->lo) ? NULL : interval_words[v->by_order ? 0 : 1]};
    qs_hex(s->uid, sizeof s->uid, ret->uid);
    qs_history_build(s, ret->label);
    qs_night_name(s->started_wall_ns, ret->day);
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

static void find_changes(const struct history *h, size_t from, size_t end, const struct qs_progress *progress,
                         struct found *ret)
{
    const struct qs_history_opts *o = &h->in->opts;
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    struct qs_changes changes;
    opts.level = o->level;
    opts.min_magnitude = o->margin_ratio;
    opts.p_max = o->p_max;
    opts.window = o->window;
    opts.progress = *progress;
    ret->status = qs_changes_find(h->x + from, end - from, &opts, &changes);
    struct told_change *told = qs_calloc(changes.count, sizeof *told);
    for (size_t i = 0; i < changes.count; i++)
        tell_change(h, &changes.at[i], from, &told[i]);
    ret->changes = (struct qs_field_list){told, changes.count};
    ret->beside = qs_beside_changes(&changes, from);
    qs_changes_free(&changes);
}

struct trend {
    struct qs_drift of;
    enum qs_status status;
};
static const struct qs_field trend_rows[] = {
    QS_ROW_AS("tau", trend, of.raw.tau, DOUBLE, "Kendall's tau-b"),
    QS_ROW_AS("p", trend, of.p, DOUBLE, "two-sided, the variance widened by n / n_eff"),
    QS_ROW_AS("n_eff", trend, of.n_eff, DOUBLE, "how many independent values the residuals are worth"),
    QS_ROW_AS("slope", trend, of.slope, DOUBLE, "Theil-Sen, per session"),
    QS_ROW_AS("lo", trend, of.ci.lo, DOUBLE, "lower bound of the slope"),
    QS_ROW_AS("hi", trend, of.ci.hi, DOUBLE, "upper bound"),
    QS_ROW(trend, status, WORD, "ok, or why numbers are null", .words = qs_status_names),
    {.name = NULL}};

struct segment {
    size_t from, end;
    struct found found;
    struct trend trend;
};
static const struct qs_field segment_rows[] = {
    QS_ROW(segment, from, COUNT, "its first point: a place in points"),
    QS_ROW(segment, end, COUNT, "the first point that is no longer in it"),
    QS_ROWS_OF(segment, found, found_rows),
    QS_ROW(segment, trend, WITHIN, "whether all of it rises or falls", .of = trend_rows),
    {.name = NULL}};

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

static void tell_segment(const struct history *h, size_t from, struct qs_work *work, struct segment *ret)
{
    struct qs_progress piece;
    size_t end = segment_end(h, from);
    *ret = (struct segment){.from = from, .end = end};
    if (qs_work_begin(work, "changes", changes_ns(h, end - from), &piece))
        find_changes(h, from, end, &piece, &ret->found);
    if (qs_work_begin(work, "trend", trend_ns(end - from), &piece))
        ret->trend.status = qs_drift(h->x + from, end - from, h->in->opts.level, &piece, &ret->trend.of);
}

struct jump {
    size_t at;
    double ratio;
    struct qs_env_told of;
};
static const struct qs_field jump_rows[] = {
    QS_ROW(jump, at, COUNT, "the first point in the new environment"),
    QS_ROW(jump, ratio, DOUBLE,
           "its value / the value before; no change is ascribed to anything across a break"),
    QS_ROWS_OF(jump, of, qs_env_told_rows),
    {.name = NULL}};

static const struct qs_field option_rows[] = {
    QS_ROW(qs_history_opts, level, DOUBLE, "confidence of intervals"),
    QS_ROW(qs_history_opts, margin_ratio, DOUBLE, "the smallest change that matters"),
    QS_ROW(qs_history_opts, p_max, DOUBLE, "of a step or drift"),
    QS_ROW(qs_history_opts, window, COUNT, "points that are searched at a time"),
    {.name = NULL}};

static const char *const kind_words[] = {"series", NULL};
struct document {
    const char *kind, *quiesce, *value_is;
    size_t version, sessions_left_out;
    struct told_series series;
    struct qs_history_metric metric;
    struct qs_history_opts options;
    struct qs_field_list metrics, points, breaks, segments;
};
static const struct qs_field document_rows[] = {
    QS_ROW(document, kind, TEXT, "of document", .words = kind_words),
    QS_ROW(document, version, COUNT, "of this form"),
    QS_ROW(document, quiesce, TEXT, "the version that computed it", .known = true),
    QS_ROWS_OF(document, series, series_rows),
    QS_ROW_AS("metric", document, metric.name, TEXT, "what its values are", .known = true),
    QS_ROW_AS("unit", document, metric.unit, TEXT, "of its values", .known = true),
    QS_ROW_AS("lower_is_better", document, metric.lower_is_better, BOOL, "which way is better"),
    QS_ROW(document, metrics, TEXTS, "all that the latest run has"),
    QS_ROW(document, options, WITHIN, "what it was asked with", .of = option_rows),
    QS_ROW(document, value_is, TEXT, "what the value of a session is, in words", .known = true),
    QS_ROW(document, sessions_left_out, COUNT, "without a value, or of another build than was asked for"),
    QS_ROW(document, points, OBJECTS, "one a session, by time", .of = point_rows,
           .bytes = sizeof(struct point)),
    QS_ROW(document, breaks, OBJECTS, "where the environment is another one than before", .of = jump_rows,
           .bytes = sizeof(struct jump)),
    QS_ROW(document, segments, OBJECTS, "stretches of equal environment; changes are looked for inside each",
           .of = segment_rows, .bytes = sizeof(struct segment)),
    {.name = NULL}};

static enum qs_status tell_segments(const struct history *h, struct document *ret)
{
    struct qs_work work;
    struct segment *segments = qs_calloc(h->n, sizeof *segments);
    ret->segments.v = segments;
    qs_work_init(&work, &h->in->progress, plan_ns(h));
    for (size_t from = 0; from < h->n && !work.ended; from = segment_end(h, from))
        tell_segment(h, from, &work, &segments[ret->segments.n++]);
    return qs_work_finish(&work);
}

static void tell_points(const struct history *h, struct document *ret)
{
    struct point *points = qs_calloc(h->n, sizeof *points);
    struct jump *breaks = qs_calloc(h->n, sizeof *breaks);
    ret->points = (struct qs_field_list){points, h->n};
    ret->breaks.v = breaks;
    for (size_t i = 0; i < h->n; i++) {
        tell_point(h, i, &points[i]);
        if (is_break(h, i))
            breaks[ret->breaks.n++] = (struct jump){.at = i,
                                                    .ratio = h->x[i - 1] > 0 ? h->x[i] / h->x[i - 1] : NAN,
                                                    .of = qs_env_diff_told(&h->diff[i])};
    }
}

static void tell_head(const struct qs_history_input *in, struct document *ret)
{
    const char **metrics = qs_calloc(in->metrics->count, sizeof *metrics);
    for (size_t i = 0; i < in->metrics->count; i++)
        metrics[i] = in->metrics->at[i].name;
    *ret = (struct document){.kind = kind_words[0],
                             .version = HISTORY_VERSION,
                             .quiesce = QS_VERSION,
                             .metric = *in->metric,
                             .metrics = {(void *)metrics, in->metrics->count},
                             .options = in->opts,
                             .value_is = "median of the medians of a session's runs"};
    tell_series(in->series, &ret->series);
}

bool qs_history_document(const struct qs_history_input *in, struct qs_buf *out, struct qs_err *err)
{
    struct history h;
    bool ok = history_init(&h, in, err);
    if (ok) {
        struct qs_json j = qs_json_to(out);
        struct document told;
        tell_head(in, &told);
        told.sessions_left_out = in->data->count - h.n;
        tell_points(&h, &told);
        ok = tell_segments(&h, &told) == QS_OK || qs_work_fail(err);
        qs_put_object(&j, document_rows, &told);
        qs_fields_free(document_rows, &told);
    }
    history_done(&h);
    return ok;
}

void qs_history_schema(struct qs_buf *out)
{
    qs_fields_document(
        out, "One series of the store, as GET /api/v1/history/{id} and quiesce history SERIES --json give it",
        document_rows);
}
