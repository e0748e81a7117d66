#include "api/handlers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/reply.h"
#include "api/steps.h"
#include "base/log.h"
#include "base/mem.h"
#include "report/history/history.h"
#include "store/read/history.h"

enum { LIST_DEFAULT = 200, LIST_MOST = 1000, SERIES_MOST = 10000, WINDOW_MOST = 10000 };

struct history {
    struct qs_series_filter filter; /* borrowed from the address */
    const char *metric, *build;     /* borrowed; build may be NULL */
    long long limit, since_wall_ns, until_wall_ns;
    struct qs_history_opts opts;
    const struct qs_farm_variables *variables; /* borrowed, or NULL */
    struct qs_progress progress;
    struct qs_buf out;
    struct qs_median_row *fresh; /* owned: to be kept */
    size_t fresh_count;
};

static void done_history(void *data)
{
    struct history *h = data;
    qs_buf_done(&h->out);
    free(h->fresh);
}

/* Medians that this answer had to compute: the next one need not. */
static void take_fresh(struct history *h, const struct qs_history_data *data)
{
    if (data->fresh_count == 0)
        return;
    h->fresh = qs_realloc(h->fresh, (h->fresh_count + data->fresh_count) * sizeof *h->fresh);
    memcpy(h->fresh + h->fresh_count, data->fresh, data->fresh_count * sizeof *h->fresh);
    h->fresh_count += data->fresh_count;
}

/* The metric by its name; NULL where the series has none of it. */
static const struct qs_history_metric *find_metric(const struct qs_history_metrics *metrics, const char *name)
{
    for (size_t i = 0; i < metrics->count; i++)
        if (strcmp(metrics->at[i].name, name) == 0)
            return &metrics->at[i];
    return NULL;
}

static void put_latest(struct qs_json *j, const struct qs_history_data *data, double level)
{
    struct qs_history_value v = {.value = NAN, .lo = NAN, .hi = NAN};
    for (size_t i = 0; i < data->count; i++)
        v = qs_history_value_of(&data->at[i], level);
    qs_json_kobject(j, "latest");
    qs_json_kdouble(j, "value", v.value);
    qs_json_kdouble(j, "lo", v.lo);
    qs_json_kdouble(j, "hi", v.hi);
    qs_json_kint(j, "runs", (int64_t)v.runs);
    qs_json_object_end(j);
}

/* Leaves of a series the sessions that were asked for; *ret_any false: there are none. */
static bool narrow(struct qs_store_reader *reader, const struct history *h, struct qs_series_info *series,
                   bool *ret_any, struct qs_err *err)
{
    struct qs_history_data data;
    *ret_any = true;
    if (!h->build && h->since_wall_ns <= series->first_wall_ns && h->until_wall_ns >= series->last_wall_ns)
        return true;
    if (!qs_read_history(reader, series, NULL, h->since_wall_ns, h->until_wall_ns, &data, err))
        return false;
    series->sessions = series->runs = 0;
    for (size_t i = 0; i < data.count; i++) {
        const struct qs_history_session *session = &data.at[i];
        if (session->run_count == 0 || !qs_history_has_build(session, h->build))
            continue;
        if (series->sessions++ == 0)
            series->first_wall_ns = session->started_wall_ns;
        series->last_wall_ns = session->started_wall_ns;
        series->runs += (uint32_t)session->run_count;
    }
    *ret_any = series->sessions > 0;
    qs_history_data_free(&data);
    return true;
}

static void put_row(struct qs_json *j, const struct history *h, const struct qs_series_info *series,
                    const struct qs_history_metric *metric, const struct qs_history_data *latest)
{
    qs_json_object(j);
    qs_history_put_series(j, series);
    qs_json_kstring(j, "metric", metric->name);
    qs_json_kstring(j, "unit", metric->unit);
    qs_json_kint(j, "sessions", series->sessions);
    qs_json_kint(j, "runs", series->runs);
    qs_json_kint(j, "first_wall_ns", series->first_wall_ns);
    qs_json_kint(j, "last_wall_ns", series->last_wall_ns);
    put_latest(j, latest, h->opts.level);
    qs_json_object_end(j);
}

/* One row of the list, with the value of its latest session; none where the series lacks the metric or has no
 * such session. */
static bool add_row(struct qs_store_reader *reader, struct history *h, struct qs_series_info *series,
                    struct qs_json *j, size_t *rows, struct qs_err *err)
{
    struct qs_history_metrics metrics;
    struct qs_history_data data = {0};
    bool any = false;
    if (!qs_read_series_metrics(reader, series, &metrics, err))
        return false;
    const struct qs_history_metric *metric = find_metric(&metrics, h->metric);
    bool ok = !metric || narrow(reader, h, series, &any, err);
    any = any && metric;
    ok = ok && (!any || qs_read_history(reader, series, metric, series->last_wall_ns, series->last_wall_ns,
                                        &data, err));
    if (ok && any) {
        put_row(j, h, series, metric, &data);
        ++*rows;
    }
    take_fresh(h, &data);
    qs_history_data_free(&data);
    qs_history_metrics_free(&metrics);
    return ok;
}

static bool read_list(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct history *h = ex->data;
    struct qs_series_list list;
    size_t rows = 0;
    if (!qs_read_series(reader, &h->filter, SERIES_MOST, &list, err))
        return false;
    bool ok = true;
    struct qs_json j = qs_json_to(&h->out);
    qs_json_object(&j);
    qs_json_karray(&j, "series");
    for (size_t i = 0; ok && i < list.count && rows < (size_t)h->limit && !atomic_load(&ex->left); i++)
        ok = add_row(reader, h, &list.at[i], &j, &rows, err);
    qs_json_array_end(&j);
    qs_json_object_end(&j);
    qs_series_list_free(&list);
    return ok;
}

static bool write_document(struct qs_store_reader *reader, struct history *h,
                           const struct qs_series_info *series, struct qs_err *err)
{
    struct qs_history_metrics metrics;
    struct qs_history_data data = {0};
    if (!qs_read_series_metrics(reader, series, &metrics, err))
        return false;
    const struct qs_history_metric *metric = find_metric(&metrics, h->metric);
    bool ok = metric || qs_fail(err, QS_E_NOT_FOUND, "the series has no metric `%.80s`", h->metric);
    ok = ok && qs_read_history(reader, series, metric, h->since_wall_ns, h->until_wall_ns, &data, err);
    struct qs_history_input in = {.series = series,
                                  .metric = metric,
                                  .metrics = &metrics,
                                  .data = &data,
                                  .build = h->build,
                                  .variables = h->variables,
                                  .opts = h->opts,
                                  .progress = h->progress};
    ok = ok && qs_history_document(&in, &h->out, err);
    take_fresh(h, &data);
    qs_history_data_free(&data);
    qs_history_metrics_free(&metrics);
    return ok;
}

static bool read_one(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    static const struct qs_series_filter all;
    struct history *h = ex->data;
    struct qs_series_list list;
    if (!qs_read_series(reader, &all, SERIES_MOST, &list, err))
        return false;
    const struct qs_series_info *found = NULL;
    for (size_t i = 0; i < list.count && !found; i++) {
        char id[65];
        qs_history_id(&list.at[i], id);
        found = strcmp(id, ex->match.sha256) == 0 ? &list.at[i] : NULL;
    }
    bool ok = found ? write_document(reader, h, found, err)
                    : qs_fail(err, QS_E_NOT_FOUND, "no series %s", ex->match.sha256);
    qs_series_list_free(&list);
    return ok;
}

/* The answer does not wait for it and loses nothing by it. */
static void on_kept(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    if (err)
        qs_log(user, QS_LOG_WARN, "api", "medians of runs were not kept: %s", err->text);
}

static void say(struct qs_exchange *ex)
{
    struct history *h = ex->data;
    if (h->fresh_count > 0)
        qs_store_medians(ex->api->p.store, h->fresh, h->fresh_count, on_kept, ex->api->p.log);
    qs_reply_json(ex, 200, &h->out);
}

static void start(struct qs_exchange *ex, qs_exchange_read_fn *read)
{
    struct history *h = qs_exchange_data(ex, sizeof *h, done_history);
    const struct qs_uri *uri = &ex->uri;
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&h->out);
    h->opts = qs_history_opts_default();
    double window = (double)h->opts.window;
    const char *metric = qs_uri_get(uri, "metric");
    h->metric = metric ? metric : "time";
    h->build = qs_uri_get(uri, "build");
    h->filter = (struct qs_series_filter){
        .text = qs_uri_get(uri, "text"), .device = qs_uri_get(uri, "device"), .arm = qs_uri_get(uri, "arm")};
    bool ok = qs_uri_int(uri, "limit", 1, LIST_MOST, LIST_DEFAULT, &h->limit, &err) &&
              qs_uri_int(uri, "since", 0, INT64_MAX, 0, &h->since_wall_ns, &err) &&
              qs_uri_int(uri, "until", 0, INT64_MAX, INT64_MAX, &h->until_wall_ns, &err) &&
              qs_uri_number(uri, "level", 0.5, 0.9999, &h->opts.level, &err) &&
              qs_uri_number(uri, "margin_ratio", 0, 10, &h->opts.margin_ratio, &err) &&
              qs_uri_number(uri, "p_max", 1e-12, 0.999, &h->opts.p_max, &err) &&
              qs_uri_number(uri, "window", 2, WINDOW_MOST, &window, &err);
    h->opts.window = (size_t)window;
    if (!ok) {
        qs_reply_error(ex, &err);
        return;
    }
    h->progress = qs_steps_progress(ex);
    h->variables = ex->api->p.variables;
    qs_steps_start(ex);
    qs_exchange_read(ex, read, say);
}

void qs_handle_series(struct qs_exchange *ex)
{
    start(ex, read_list);
}

void qs_handle_history(struct qs_exchange *ex)
{
    start(ex, read_one);
}
