/* Which series there are, and which metrics one has. */
#include <stdlib.h>
#include <string.h>

#include "store/read/history.h"
#include "store/read/util.h"
#include "store/read/reader.h"

/* As people write them: level=6 threads=4. */
#define PLAIN_PARAMS                                                                                         \
    "replace(replace(replace(replace(replace(p.params, '{', ''), '}', ''), '\"', ''), ':', '='), ',', ' ')"

/* A point has one row for all that is alike in its conditions, a series one for equal controls. */
static const char list_sql[] =
    "WITH part AS (SELECT jp.point_id AS point, d.id AS device_id, m.name AS benchmark, p.params AS params,"
    "  " QS_SQL_CONTROLS " AS controls, d.name AS device, a.name AS arm, d.simulated AS simulated,"
    "  count(DISTINCT r.session_id) AS sessions, count(*) AS runs, min(e.started_wall_ns) AS first_ns,"
    "  max(e.started_wall_ns) AS last_ns"
    "  FROM run r JOIN job j ON j.id = r.job_id"
    "  JOIN job_point jp ON jp.job_id = r.job_id AND jp.idx = r.point_idx"
    "  JOIN point p ON p.id = jp.point_id JOIN benchmark m ON m.id = p.benchmark_id"
    "  JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx"
    "  JOIN session e ON e.id = r.session_id JOIN boot b ON b.id = e.boot_id JOIN device d ON d.id = "
    "b.device_id"
    "  WHERE r.block >= 1 AND " QS_RUN_GIVES " AND j.state NOT IN ('queued', 'running')"
    "  AND (?1 IS NULL OR instr(lower(m.name || ' ' || " PLAIN_PARAMS "), lower(?1)) > 0)"
    "  AND (?2 IS NULL OR d.name = ?2) AND (?3 IS NULL OR a.name = ?3)"
    "  GROUP BY jp.point_id, d.id, a.name, a.conditions)"
    " SELECT max(point), device_id, benchmark, params, controls, device, arm, simulated, sum(sessions), "
    "sum(runs),"
    " min(first_ns), max(last_ns) FROM part GROUP BY benchmark, params, controls, device_id, arm"
    " ORDER BY benchmark, params, controls, device, arm LIMIT ?4";

/* Of the last run of the series' last session: what it has rows of. */
static const char metrics_sql[] =
    "WITH latest AS (SELECT r.id AS id FROM session e JOIN boot b ON b.id = e.boot_id"
    "  CROSS JOIN run r ON r.job_id = e.job_id AND r.session_id = e.id"
    "  JOIN job_point jp ON jp.job_id = r.job_id AND jp.idx = r.point_idx"
    "  JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx"
    "  WHERE e.started_wall_ns = ?4 AND jp.point_id IN " QS_SQL_SAME_POINTS
    " AND b.device_id = ?2 AND a.name = ?3 AND r.block >= "
    "1"
    "  AND " QS_RUN_GIVES " ORDER BY r.id DESC LIMIT 1)"
    " SELECT m.id, m.name, m.unit, m.lower_is_better FROM metric m WHERE"
    " (m.id <= 9 AND EXISTS (SELECT 1 FROM window w JOIN iteration_rusage u ON u.window_id = w.id"
    "  WHERE w.run_id = (SELECT id FROM latest) AND w.phase = 1))"
    " OR EXISTS (SELECT 1 FROM window w JOIN iteration_metric v ON v.window_id = w.id AND v.metric_id = m.id"
    "  WHERE w.run_id = (SELECT id FROM latest) AND w.phase = 1) ORDER BY m.id";

static void take_series(struct qs_stmt *s, struct qs_series_info *series)
{
    series->point = qs_stmt_get_int(s);
    series->device_id = qs_stmt_get_int(s);
    series->benchmark = qs_stmt_dup_text(s);
    series->params_json = qs_stmt_dup_text(s);
    series->controls_json = qs_stmt_dup_text(s);
    series->device = qs_stmt_dup_text(s);
    series->arm = qs_stmt_dup_text(s);
    series->simulated = qs_stmt_get_int(s) != 0;
    series->sessions = (uint32_t)qs_stmt_get_int(s);
    series->runs = (uint32_t)qs_stmt_get_int(s);
    series->first_wall_ns = qs_stmt_get_int(s);
    series->last_wall_ns = qs_stmt_get_int(s);
}

bool qs_read_series(struct qs_store_reader *r, const struct qs_series_filter *filter, size_t limit,
                    struct qs_series_list *ret, struct qs_err *err)
{
    struct qs_stmt s;
    *ret = (struct qs_series_list){0};
    if (limit < 1 || limit > 10000)
        return qs_fail(err, QS_E_LIMIT, "a list of series has 1 to 10000, not %zu", limit);
    if (!qs_stmt_begin(&r->db, &s, list_sql, err))
        return false;
    qs_stmt_text(&s, filter->text);
    qs_stmt_text(&s, filter->device);
    qs_stmt_text(&s, filter->arm);
    qs_stmt_int(&s, (int64_t)limit);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
        take_series(&s, &ret->at[ret->count++]);
    }
    if (!ok)
        qs_series_list_free(ret);
    return ok;
}

void qs_series_list_free(struct qs_series_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->at[i].benchmark);
        free(list->at[i].params_json);
        free(list->at[i].controls_json);
        free(list->at[i].device);
        free(list->at[i].arm);
    }
    free(list->at);
    *list = (struct qs_series_list){0};
}

static void add_metric(struct qs_history_metrics *to, const struct qs_history_metric *metric)
{
    to->at = qs_grow(to->at, to->count, sizeof *to->at);
    to->at[to->count++] = *metric;
}

bool qs_read_series_metrics(struct qs_store_reader *r, const struct qs_series_info *series,
                            struct qs_history_metrics *ret, struct qs_err *err)
{
    struct qs_stmt s;
    *ret = (struct qs_history_metrics){0};
    if (!qs_stmt_begin(&r->db, &s, metrics_sql, err))
        return false;
    qs_stmt_int(&s, series->point);
    qs_stmt_int(&s, series->device_id);
    qs_stmt_text(&s, series->arm);
    qs_stmt_int(&s, series->last_wall_ns);
    const struct qs_history_metric time = {
        .name = qs_strdup("time"), .unit = qs_strdup("ns"), .lower_is_better = true};
    add_metric(ret, &time);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        struct qs_history_metric metric = {.id = qs_stmt_get_int(&s)};
        metric.name = qs_stmt_dup_text(&s);
        metric.unit = qs_stmt_dup_text(&s);
        metric.lower_is_better = qs_stmt_get_int(&s) != 0;
        add_metric(ret, &metric);
    }
    if (!ok)
        qs_history_metrics_free(ret);
    return ok;
}

void qs_history_metrics_free(struct qs_history_metrics *metrics)
{
    for (size_t i = 0; i < metrics->count; i++) {
        free(metrics->at[i].name);
        free(metrics->at[i].unit);
    }
    free(metrics->at);
    *metrics = (struct qs_history_metrics){0};
}
