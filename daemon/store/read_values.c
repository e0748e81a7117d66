#include "store/read_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/metrics.h"
#include "store/read_util.h"
#include "store/reader.h"

/* A row for each measured iteration, the value NULL where it is missing. All take run and metric; the
 * duration has no number to use. */
static const char durations_sql[] =
    "SELECT w.taint | t.taint, t.duration_ns * 1.0 / max(w.evals, 1), ?2 FROM window w"
    " JOIN iteration t ON t.window_id = w.id"
    " WHERE w.run_id = ?1 AND w.phase = 1 ORDER BY w.first_seq, w.id, t.i";
static const char declared_sql[] =
    "SELECT w.taint | t.taint, v.value FROM window w JOIN iteration t ON t.window_id = w.id"
    " LEFT JOIN iteration_metric v ON v.window_id = w.id AND v.metric_id = ?2 AND v.i = t.i"
    " WHERE w.run_id = ?1 AND w.phase = 1 ORDER BY w.first_seq, w.id, t.i";
static const char rusage_sql[] =
    "SELECT w.taint | t.taint, CASE ?2 WHEN 1 THEN u.user_time_us WHEN 2 THEN u.system_time_us"
    " WHEN 3 THEN u.max_rss_bytes WHEN 4 THEN u.minor_faults WHEN 5 THEN u.major_faults"
    " WHEN 6 THEN u.voluntary_switches WHEN 7 THEN u.involuntary_switches WHEN 8 THEN u.block_in"
    " WHEN 9 THEN u.block_out END FROM window w JOIN iteration t ON t.window_id = w.id"
    " LEFT JOIN iteration_rusage u ON u.window_id = w.id AND u.i = t.i"
    " WHERE w.run_id = ?1 AND w.phase = 1 ORDER BY w.first_seq, w.id, t.i";
/* A row for each window, with how many of its iterations are clean. */
static const char window_sql[] =
    "SELECT w.taint, e.after, (SELECT count(*) FROM iteration t WHERE t.window_id = w.id"
    " AND (t.taint | w.taint) = 0) FROM window w"
    " LEFT JOIN evidence e ON e.window_id = w.id AND e.sensor_id = -?2"
    " WHERE w.run_id = ?1 AND w.phase = 1 AND w.n > 0 ORDER BY w.first_seq, w.id";

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

enum { SOFT = QS_TAINT_GATE | QS_TAINT_EVIDENCE | QS_TAINT_LINK };

static struct qs_arm_metric *add(struct qs_metric_list *list, int64_t id)
{
    list->at = qs_read_grow(list->at, list->count, sizeof *list->at);
    list->ids = qs_read_grow(list->ids, list->count, sizeof *list->ids);
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
    bool row = false, found = false;
    if (name && strcmp(name, "duration_ns") == 0 && has(list, 0))
        return true;
    if (!qs_stmt_begin(&r->db, &s, list_sql, err))
        return false;
    qs_stmt_text(&s, name);
    qs_stmt_int(&s, QS_RUSAGE_COLUMNS);
    qs_stmt_int(&s, job);
    bool ok = qs_stmt_step(&s, &row, err);
    while (ok && row) {
        take_metric(list, &s);
        found = true;
        ok = qs_stmt_step(&s, &row, err);
    }
    qs_stmt_end(&s);
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

static void add_value(struct qs_run_values *to, uint32_t taint, double value)
{
    struct qs_arm_values *list = taint == 0 ? to->clean : (taint & ~(uint32_t)SOFT) == 0 ? to->soft : NULL;
    if (!list || isnan(value))
        return;
    list->at = qs_read_grow(list->at, list->n, sizeof *list->at);
    list->at[list->n++] = value;
}

/* Each iteration is clean, soft or neither by its taints; the first clean ones are the run's warm-up. A
 * window is warm-up where all its clean iterations are. */
bool qs_read_values(struct qs_store_reader *r, int64_t run, size_t warmup_n, int64_t metric,
                    struct qs_run_values *to, struct qs_err *err)
{
    struct qs_stmt s;
    const char *sql = metric == 0                   ? durations_sql
                      : metric < 0                  ? window_sql
                      : metric <= QS_RUSAGE_COLUMNS ? rusage_sql
                                                    : declared_sql;
    if (!qs_stmt_begin(&r->db, &s, sql, err))
        return false;
    qs_stmt_int(&s, run);
    qs_stmt_int(&s, metric);
    size_t seen = 0;
    bool row = false, ok = qs_stmt_step(&s, &row, err);
    while (ok && row) {
        uint32_t taint = (uint32_t)qs_stmt_get_int(&s);
        double value = qs_stmt_get_double(&s);
        size_t clean = metric < 0 ? (size_t)qs_stmt_get_int(&s) : taint == 0;
        to->taints |= taint;
        to->tainted += taint != 0;
        seen += clean;
        bool warm = taint == 0 && clean > 0 && seen <= warmup_n;
        to->warm += warm;
        if (taint != 0 || (clean > 0 && !warm))
            add_value(to, taint, value);
        ok = qs_stmt_step(&s, &row, err);
    }
    qs_stmt_end(&s);
    return ok;
}
