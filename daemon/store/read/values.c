#include "store/read/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/metrics.h"
#include "store/read/util.h"
#include "store/read/reader.h"
#include "store/values.h"

/* A row for each measured iteration: taints, its place, evaluations, the run's warm-up, how many clean ones
 * it is, and what was asked for, NULL where it is missing. */
#define ITERATIONS(COLUMNS, JOIN)                                                                            \
    "SELECT w.taint | t.taint, w.id, t.i, max(w.evals, 1), r.warmup_n, (w.taint | t.taint) = 0, " COLUMNS    \
    " FROM run r JOIN window w ON w.run_id = r.id JOIN iteration t ON t.window_id = w.id " JOIN              \
    " WHERE r.id = ?1 AND w.phase = 1 ORDER BY w.first_seq, w.id, t.i"
static const char durations_sql[] = ITERATIONS("t.duration_ns", "");
static const char status_sql[] =
    ITERATIONS("coalesce(s.status, 0)", "LEFT JOIN iteration_status s ON s.window_id = w.id AND s.i = t.i");
static const char usage_sql[] =
    ITERATIONS(QS_RUSAGE_COLUMN_LIST, "LEFT JOIN iteration_rusage u ON u.window_id = w.id AND u.i = t.i");
static const char used_sql[] = ITERATIONS("t.duration_ns, " QS_RUSAGE_COLUMN_LIST,
                                          "LEFT JOIN iteration_rusage u ON u.window_id = w.id AND u.i = t.i");
static const char declared_sql[] = ITERATIONS(
    "v.value", "LEFT JOIN iteration_metric v ON v.window_id = w.id AND v.metric_id = ?2 AND v.i = t.i");
/* The same for each window. */
static const char window_sql[] =
    "SELECT w.taint, w.id, 0, max(w.evals, 1), r.warmup_n, (SELECT count(*) FROM iteration t WHERE"
    " t.window_id = w.id AND (t.taint | w.taint) = 0), e.after FROM run r JOIN window w ON w.run_id = r.id"
    " LEFT JOIN evidence e ON e.window_id = w.id AND e.sensor_id = -?2"
    " WHERE r.id = ?1 AND w.phase = 1 AND w.n > 0 ORDER BY w.first_seq, w.id";

/* What commands of the farm said after a window is evidence `metric:NAME_UNIT`; the row of metric by that
 * name has the direction. */
static const char list_sql[] =
    "SELECT m.id, m.name, m.unit, m.lower_is_better, m.deterministic, 0, m.id FROM metric m"
    " WHERE m.name NOT GLOB 'metric:*' AND (m.name = ?1 OR (?1 IS NULL AND m.id > ?2)) AND (?3 = 0 OR EXISTS "
    "(SELECT 1 FROM run r"
    " JOIN window w ON w.run_id = r.id WHERE r.job_id = ?3 AND w.phase = 1 AND EXISTS (SELECT 1"
    " FROM iteration_metric v WHERE v.window_id = w.id AND v.metric_id = m.id)))"
    " UNION ALL SELECT -s.id, substr(s.name, 8), '', coalesce((SELECT d.lower_is_better FROM metric d"
    " WHERE d.name = s.name), 1), 0, 1, s.id FROM sensor s"
    " WHERE s.name GLOB 'metric:*' AND (?1 IS NULL OR s.name = 'metric:' || ?1) AND (?3 = 0 OR EXISTS"
    " (SELECT 1 FROM run r JOIN window w ON w.run_id = r.id JOIN evidence e ON e.window_id = w.id"
    " AND e.sensor_id = s.id WHERE r.job_id = ?3 AND w.phase = 1)) ORDER BY 6, 7";

static struct qs_arm_metric *add(struct qs_metric_list *list, int64_t id)
{
    list->at = qs_grow(list->at, list->count, sizeof *list->at);
    list->ids = qs_grow(list->ids, list->count, sizeof *list->ids);
    list->ids[list->count] = id;
    list->at[list->count] = (struct qs_arm_metric){0};
    return &list->at[list->count++];
}

void qs_metric_list_duration(struct qs_metric_list *list)
{
    struct qs_arm_metric *m = add(list, 0);
    m->name = qs_strdup("duration_ns");
    m->unit = qs_strdup("ns");
}

static bool has(const struct qs_metric_list *list, int64_t id)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->ids[i] == id)
            return true;
    return false;
}

static void take_metric(struct qs_metric_list *list, struct qs_stmt *s)
{
    int64_t id = qs_stmt_get_int(s);
    if (has(list, id))
        return;
    struct qs_arm_metric *m = add(list, id);
    m->name = qs_stmt_dup_text(s);
    m->unit = qs_stmt_dup_text(s);
    m->higher_is_better = qs_stmt_get_int(s) == 0;
    m->deterministic = qs_stmt_get_int(s) != 0;
    m->of_windows = id < 0;
    const char *unit = m->of_windows ? strrchr(m->name, '_') : NULL; /* a unit has no underscore */
    if (unit) {
        free(m->unit);
        m->unit = qs_strdup(unit + 1);
    }
}

bool qs_metric_list_add(struct qs_store_reader *r, const char *name, int64_t job, struct qs_metric_list *list,
                        struct qs_err *err)
{
    struct qs_stmt s;
    bool ok = true, found = false;
    if (name && strcmp(name, "duration_ns") == 0 && has(list, 0))
        return true;
    if (!qs_stmt_begin(&r->db, &s, list_sql, err))
        return false;
    qs_stmt_text(&s, name);
    qs_stmt_int(&s, QS_RUSAGE_COLUMNS);
    qs_stmt_int(&s, job);
    while (qs_stmt_next(&s, &ok, err)) {
        take_metric(list, &s);
        found = true;
    }
    return ok &&
           (!name || found || qs_fail(err, QS_E_NOT_FOUND, "no metric `%.60s` was ever measured here", name));
}

void qs_metric_list_done(struct qs_metric_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->at[i].name);
        free(list->at[i].unit);
    }
    free(list->at);
    free(list->ids);
    *list = (struct qs_metric_list){0};
}

static const char *sql_of(int64_t metric)
{
    if (metric == QS_VALUES_STATUS)
        return status_sql;
    if (metric == QS_VALUES_USED)
        return used_sql;
    if (metric <= 0)
        return metric < 0 ? window_sql : durations_sql;
    return metric <= QS_RUSAGE_COLUMNS ? usage_sql : declared_sql;
}

static void take_value(struct qs_stmt *s, int64_t metric, double usage[QS_RUSAGE_COLUMNS], struct qs_value *v)
{
    bool timed = metric == 0 || metric == QS_VALUES_USED, used = metric > 0 && metric <= QS_RUSAGE_COLUMNS;
    if (timed) {
        v->total_ns = qs_stmt_get_int(s);
        v->value = (double)v->total_ns / v->evals;
    }
    if (used || metric == QS_VALUES_USED) {
        for (size_t c = 0; c < QS_RUSAGE_COLUMNS; c++)
            usage[c] = qs_stmt_get_double(s);
        v->usage = usage;
    }
    if (!timed)
        v->value = used ? usage[metric - 1] : qs_stmt_get_double(s);
}

bool qs_read_values(struct qs_store_reader *r, int64_t run, int64_t metric, qs_value_fn *fn, void *user,
                    struct qs_err *err)
{
    struct qs_stmt s;
    double usage[QS_RUSAGE_COLUMNS];
    const char *sql = sql_of(metric);
    if (!qs_stmt_begin(&r->db, &s, sql, err))
        return false;
    qs_stmt_int(&s, run);
    if (sql == declared_sql || sql == window_sql)
        qs_stmt_int(&s, metric);
    size_t warmup_left = 0;
    bool first = true, ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        struct qs_value v = {.taint = (uint32_t)qs_stmt_get_int(&s)};
        v.window = qs_stmt_get_int(&s);
        v.i = (uint32_t)qs_stmt_get_int(&s);
        v.evals = (uint32_t)qs_stmt_get_int(&s);
        size_t warmup_n = (size_t)qs_stmt_get_int(&s), clean = (size_t)qs_stmt_get_int(&s);
        warmup_left = first ? warmup_n : warmup_left;
        first = false;
        v.worth = qs_worth_next(v.taint, clean, &warmup_left);
        take_value(&s, metric, usage, &v);
        fn(user, &v);
    }
    return ok;
}
