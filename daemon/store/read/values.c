#include "store/read/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/metrics.h"
#include "store/read/util.h"
#include "store/read/reader.h"
#include "store/values.h"

/* The measured windows of a run: what is the same for all of a window's iterations is asked once a window.
 * Of a metric that windows have, each with its value and how many clean iterations it has; a share of
 * successes counts without one, too. */
#define WINDOWS(COLUMNS, JOIN)                                                                               \
    "SELECT w.id, w.taint, max(w.evals, 1), r.warmup_n" COLUMNS                                              \
    " FROM run r JOIN window w ON w.run_id = r.id" JOIN                                                      \
    " WHERE r.id = ?1 AND w.phase = 1 AND w.n > 0 ORDER BY w.first_seq, w.id"
static const char windows_sql[] = WINDOWS("", "");
static const char said_sql[] =
    WINDOWS(", max((SELECT count(*) FROM iteration t WHERE t.window_id = w.id AND (t.taint | w.taint) = 0),"
            " (SELECT n.name = 'metric:success_ppm' FROM sensor n WHERE n.id = -?2)), e.after",
            " LEFT JOIN evidence e ON e.window_id = w.id AND e.sensor_id = -?2");

/* The iterations of a window, each with what was asked for, NULL where it is missing. */
#define ITERATIONS(COLUMNS, JOIN)                                                                            \
    "SELECT t.i, t.taint, " COLUMNS " FROM iteration t " JOIN " WHERE t.window_id = ?1 ORDER BY t.i"
#define WITH_USAGE " LEFT JOIN iteration_rusage u ON u.window_id = t.window_id AND u.i = t.i"
static const char durations_sql[] = ITERATIONS("t.duration_ns", "");
static const char status_sql[] = ITERATIONS(
    "coalesce(s.status, 0)", "LEFT JOIN iteration_status s ON s.window_id = t.window_id AND s.i = t.i");
static const char usage_sql[] = ITERATIONS(QS_RUSAGE_COLUMN_LIST, WITH_USAGE);
static const char used_sql[] = ITERATIONS("t.duration_ns, " QS_RUSAGE_COLUMN_LIST, WITH_USAGE);
static const char declared_sql[] = ITERATIONS(
    "v.value",
    "LEFT JOIN iteration_metric v ON v.window_id = t.window_id AND v.metric_id = ?2 AND v.i = t.i");

/* What commands of the farm said after a window, and what a job's meters had, is evidence `metric:NAME_UNIT`;
 * the row of metric by that name has the direction, and whether it is deterministic. */
static const char list_sql[] =
    "SELECT m.id, m.name, m.unit, m.lower_is_better, m.deterministic, 0, m.id FROM metric m"
    " WHERE m.name NOT GLOB 'metric:*' AND (m.name = ?1 OR (?1 IS NULL AND m.id > ?2)) AND (?3 = 0 OR EXISTS "
    "(SELECT 1 FROM run r"
    " JOIN window w ON w.run_id = r.id WHERE r.job_id = ?3 AND w.phase = 1 AND EXISTS (SELECT 1"
    " FROM iteration_metric v WHERE v.window_id = w.id AND v.metric_id = m.id)))"
    " UNION ALL SELECT -s.id, substr(s.name, 8), '', coalesce((SELECT d.lower_is_better FROM metric d"
    " WHERE d.name = s.name), 1), coalesce((SELECT d.deterministic FROM metric d WHERE d.name = s.name), 0),"
    " 1, s.id FROM sensor s"
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

static const char *iterations_sql(int64_t metric)
{
    if (metric == QS_VALUES_STATUS)
        return status_sql;
    if (metric == QS_VALUES_USED)
        return used_sql;
    if (metric == 0)
        return durations_sql;
    return metric <= QS_RUSAGE_COLUMNS ? usage_sql : declared_sql;
}

struct visit { /* of a run's values, one after the other */
    struct qs_store_reader *r;
    int64_t metric;
    qs_value_fn *fn;
    void *user;
    size_t warmup_left;
    bool begun; /* warmup_left is known */
};

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

static bool visit_iterations(struct visit *g, const struct qs_value *window, struct qs_err *err)
{
    struct qs_stmt s;
    double usage[QS_RUSAGE_COLUMNS];
    const char *sql = iterations_sql(g->metric);
    if (!qs_stmt_begin(&g->r->db, &s, sql, err))
        return false;
    qs_stmt_int(&s, window->window);
    if (sql == declared_sql)
        qs_stmt_int(&s, g->metric);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        struct qs_value v = *window;
        v.i = (uint32_t)qs_stmt_get_int(&s);
        v.taint |= (uint32_t)qs_stmt_get_int(&s);
        v.worth = qs_worth_next(v.taint, v.taint == 0, &g->warmup_left);
        take_value(&s, g->metric, usage, &v);
        g->fn(g->user, &v);
    }
    return ok;
}

static void visit_window(struct visit *g, struct qs_stmt *s, struct qs_value *window)
{
    window->worth = qs_worth_next(window->taint, (size_t)qs_stmt_get_int(s), &g->warmup_left);
    window->value = qs_stmt_get_double(s);
    g->fn(g->user, window);
}

bool qs_read_values(struct qs_store_reader *r, int64_t run, int64_t metric, qs_value_fn *fn, void *user,
                    struct qs_err *err)
{
    struct visit g = {.r = r, .metric = metric, .fn = fn, .user = user};
    struct qs_stmt s;
    bool of_windows = metric < 0 && metric != QS_VALUES_STATUS && metric != QS_VALUES_USED;
    if (!qs_stmt_begin(&r->db, &s, of_windows ? said_sql : windows_sql, err))
        return false;
    qs_stmt_int(&s, run);
    if (of_windows)
        qs_stmt_int(&s, metric);
    bool ok = true;
    while (ok && qs_stmt_next(&s, &ok, err)) {
        struct qs_value window = {.window = qs_stmt_get_int(&s)};
        window.taint = (uint32_t)qs_stmt_get_int(&s);
        window.evals = (uint32_t)qs_stmt_get_int(&s);
        size_t warmup_n = (size_t)qs_stmt_get_int(&s);
        g.warmup_left = g.begun ? g.warmup_left : warmup_n;
        g.begun = true;
        if (of_windows)
            visit_window(&g, &s, &window);
        else
            ok = visit_iterations(&g, &window, err);
    }
    qs_stmt_end(&s);
    return ok;
}
