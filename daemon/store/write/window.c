/* A whole window: the one thing that is stored in bulk, and the one that is sent again. */
#include <inttypes.h>
#include <string.h>

#include "store/metrics.h"
#include "store/write/bulk.h"
#include "store/write/window_same.h"
#include "store/write/write.h"

static bool insert_window(struct qs_db *db, int64_t run, const struct qs_window_row *w, int64_t *ret_id,
                          struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(
            db, &s,
            "INSERT INTO window(run_id, ord, attempt, phase, first_seq, n, opened_ns, closed_ns, evals,"
            " evals_step, traced, silence, taint, how, failure, output, output_bytes, device_n)"
            " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0))",
            err))
        return false;
    qs_stmt_int(&s, run);
    qs_stmt_int(&s, w->ord);
    qs_stmt_int(&s, w->attempt);
    qs_stmt_int(&s, w->phase == QS_PHASE_MEASURE);
    qs_stmt_int(&s, (int64_t)w->first_seq);
    qs_stmt_int(&s, (int64_t)w->n);
    qs_stmt_int(&s, w->opened_ns);
    qs_stmt_int(&s, w->closed_ns);
    qs_stmt_int(&s, w->evals);
    qs_stmt_int(&s, w->phase == QS_PHASE_TUNE);
    qs_stmt_int(&s, w->phase == QS_PHASE_TRACED);
    qs_stmt_int(&s, w->silence);
    qs_stmt_int(&s, w->taint);
    qs_stmt_text(&s, w->how);
    qs_stmt_text(&s, w->failure);
    qs_stmt_text(&s, w->output);
    qs_stmt_int(&s, (int64_t)w->output_bytes);
    qs_stmt_int(&s, w->device_n);
    bool ok = qs_stmt_run(&s, err);
    *ret_id = sqlite3_last_insert_rowid(db->sqlite);
    return ok;
}

/* One statement for all rows: `sql` has the window, then perhaps the metric, then the rows. */
static bool insert_rows(struct qs_db *db, const char *sql, int64_t window, int64_t metric,
                        const struct qs_bulk *rows, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(db, &s, sql, err))
        return false;
    qs_stmt_int(&s, window);
    if (metric != 0)
        qs_stmt_int(&s, metric);
    qs_stmt_bulk(&s, rows);
    return qs_stmt_run(&s, err);
}

static bool insert_iterations(struct qs_db *db, int64_t window, const struct qs_window_row *w,
                              struct qs_err *err)
{
    const struct qs_bulk rows = {.rows = w->iterations, .n = w->n};
    return insert_rows(db,
                       "INSERT INTO iteration(window_id, i, start_off_ns, duration_ns, taint)"
                       " SELECT ?, i, start_off_ns, duration_ns, taint FROM window_rows(?)",
                       window, 0, &rows, err) &&
           insert_rows(db,
                       "INSERT INTO iteration_status(window_id, i, status)"
                       " SELECT ?, i, status FROM window_rows(?) WHERE status <> 0",
                       window, 0, &rows, err);
}

static void bind_value(struct qs_stmt *s, int64_t value)
{
    if (value == INT64_MIN)
        qs_stmt_null(s);
    else
        qs_stmt_int(s, value);
}

static bool insert_rusage(struct qs_db *db, int64_t window, const struct qs_window_row *w,
                          const struct qs_metric_map *map, struct qs_err *err)
{
    struct qs_bulk rows = {.rows = w->iterations, .n = w->n};
    memcpy(rows.place, map->rusage, sizeof rows.place);
    return insert_rows(db,
                       "INSERT INTO iteration_rusage(window_id, i, " QS_RUSAGE_COLUMN_LIST ")"
                       " SELECT ?, i, v0, v1, v2, v3, v4, v5, v6, v7, v8 FROM window_rows(?)",
                       window, 0, &rows, err);
}

static bool insert_metric(struct qs_db *db, int64_t window, const struct qs_window_row *w, size_t k,
                          struct qs_err *err)
{
    int64_t metric = 0;
    const struct qs_bulk rows = {.rows = w->iterations, .n = w->n, .place = {(int)k}};
    return qs_intern_metric(db, w->metrics[k], w->kinds ? &w->kinds[k] : NULL, &metric, err) &&
           insert_rows(db,
                       "INSERT INTO iteration_metric(window_id, metric_id, i, value)"
                       " SELECT ?, ?, i, v0 FROM window_rows(?) WHERE v0 IS NOT NULL",
                       window, metric, &rows, err);
}

static bool insert_metrics(struct qs_db *db, int64_t window, const struct qs_window_row *w,
                           struct qs_err *err)
{
    struct qs_metric_map map;
    qs_metric_map(w->metrics, w->metric_count, &map);
    if (map.any_rusage && !insert_rusage(db, window, w, &map, err))
        return false;
    for (size_t k = 0; k < map.other_count; k++)
        if (!insert_metric(db, window, w, map.others[k], err))
            return false;
    return true;
}

static bool insert_reading(struct qs_db *db, int64_t window, size_t idx, const struct qs_reading_row *r,
                           struct qs_err *err)
{
    int64_t sensor = 0;
    struct qs_stmt s;
    if (!qs_intern_sensor(db, r->sensor, &sensor, err) ||
        !qs_stmt_begin(
            db, &s,
            "INSERT INTO reading(window_id, idx, sensor_id, status, value, age_ns) VALUES(?, ?, ?, ?, ?, ?)",
            err))
        return false;
    qs_stmt_int(&s, window);
    qs_stmt_int(&s, (int64_t)idx);
    qs_stmt_int(&s, sensor);
    qs_stmt_int(&s, r->status);
    qs_stmt_int(&s, r->value);
    qs_stmt_int(&s, r->age_ns);
    return qs_stmt_run(&s, err);
}

static bool insert_gate(struct qs_db *db, int64_t window, const struct qs_gate_row *gate, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(db, &s,
                       "INSERT INTO gate(window_id, began_ns, decided_ns, outcome, polls, busiest, trace)"
                       " VALUES(?, ?, ?, ?, ?, nullif(?, ''), nullif(?, ''))",
                       err))
        return false;
    qs_stmt_int(&s, window);
    qs_stmt_int(&s, gate->began_ns);
    qs_stmt_int(&s, gate->decided_ns);
    qs_stmt_text(&s, gate->outcome);
    qs_stmt_int(&s, gate->polls);
    qs_stmt_text(&s, gate->busiest);
    qs_stmt_text(&s, gate->trace);
    bool ok = qs_stmt_run(&s, err);
    for (size_t i = 0; ok && i < gate->deciding_count; i++)
        ok = insert_reading(db, window, i, &gate->deciding[i], err);
    return ok;
}

/* What the farm's file, or the job, says last stands. */
static bool note_direction(struct qs_db *db, const struct qs_evidence_row *e, struct qs_err *err)
{
    struct qs_stmt s;
    const char *unit = strrchr(e->kind, '_');
    if (!qs_stmt_begin(db, &s,
                       "INSERT INTO metric(name, unit, lower_is_better, deterministic) VALUES(?, ?, ?, ?)"
                       " ON CONFLICT(name) DO UPDATE SET lower_is_better = excluded.lower_is_better,"
                       " deterministic = excluded.deterministic"
                       " WHERE lower_is_better <> excluded.lower_is_better"
                       " OR deterministic <> excluded.deterministic",
                       err))
        return false;
    qs_stmt_text(&s, e->kind);
    qs_stmt_text(&s, unit ? unit + 1 : "");
    qs_stmt_int(&s, e->higher_is_better ? 0 : 1);
    qs_stmt_int(&s, e->deterministic ? 1 : 0);
    return qs_stmt_run(&s, err);
}

/* A kind that is named twice counts once: the first stands. */
static bool insert_evidence(struct qs_db *db, int64_t window, const struct qs_evidence_row *e,
                            struct qs_err *err)
{
    int64_t sensor = 0;
    struct qs_stmt s;
    if (!qs_intern_sensor(db, e->kind, &sensor, err) || (e->is_metric && !note_direction(db, e, err)) ||
        !qs_stmt_begin(db, &s,
                       "INSERT INTO evidence(window_id, sensor_id, before, after) VALUES(?, ?, ?, ?) ON "
                       "CONFLICT DO NOTHING",
                       err))
        return false;
    qs_stmt_int(&s, window);
    qs_stmt_int(&s, sensor);
    bind_value(&s, e->present ? e->before : INT64_MIN);
    bind_value(&s, e->present ? e->after : INT64_MIN);
    return qs_stmt_run(&s, err);
}

static bool insert_taint(struct qs_db *db, int64_t window, size_t idx, const struct qs_taint_row *t,
                         struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(
            db, &s,
            "INSERT INTO taint(window_id, idx, i, code, value, bound) VALUES(?, ?, nullif(?, -1), ?, ?, ?)",
            err))
        return false;
    qs_stmt_int(&s, window);
    qs_stmt_int(&s, (int64_t)idx);
    qs_stmt_int(&s, t->i);
    qs_stmt_text(&s, t->code);
    qs_stmt_int(&s, t->value);
    qs_stmt_int(&s, t->bound);
    return qs_stmt_run(&s, err);
}

static bool insert_all(struct qs_db *db, int64_t run, const struct qs_window_row *w, struct qs_err *err)
{
    int64_t id = 0;
    bool ok = insert_window(db, run, w, &id, err) && insert_iterations(db, id, w, err) &&
              insert_metrics(db, id, w, err) && (!w->gate || insert_gate(db, id, w->gate, err)) &&
              (!w->document || qs_apply_document(db, w, err));
    for (size_t i = 0; ok && i < w->evidence_count; i++)
        ok = insert_evidence(db, id, &w->evidence[i], err);
    for (size_t i = 0; ok && i < w->taint_count; i++)
        ok = insert_taint(db, id, i, &w->taints[i], err);
    return ok;
}

/* The seq that the run's next window must start with. */
static bool next_seq(struct qs_db *db, int64_t run, int64_t *ret_next, struct qs_err *err)
{
    struct qs_stmt s;
    bool found = false;
    *ret_next = 0;
    if (!qs_stmt_begin(
            db, &s,
            "SELECT first_seq + n FROM window WHERE run_id = ? ORDER BY first_seq DESC, id DESC LIMIT 1",
            err))
        return false;
    qs_stmt_int(&s, run);
    return qs_stmt_one(&s, ret_next, &found, err);
}

static bool bounded(const struct qs_window_row *w, struct qs_err *err)
{
    if (w->metric_count > QS_ROW_METRICS_MAX)
        return qs_fail(err, QS_E_LIMIT, "%zu metrics, at most %d are kept", w->metric_count,
                       QS_ROW_METRICS_MAX);
    if (w->first_seq > INT64_MAX / 2 || w->n > INT32_MAX)
        return qs_fail(err, QS_E_LIMIT, "a window of %zu iterations from %" PRIu64 " is beyond what is kept",
                       w->n, w->first_seq);
    return true;
}

bool qs_apply_window(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_window_row *w = row;
    int64_t run = 0, next = 0, stored = 0;
    bool same = false;
    (void)ret_id;
    if (!bounded(w, err) || !qs_find_run(db, w->run_uid, &run, err) || !next_seq(db, run, &next, err))
        return false;
    int64_t first = (int64_t)w->first_seq;
    if (first > next)
        return qs_fail(err, QS_E_CONFLICT,
                       "window %u starts at iteration %" PRId64 ", but %" PRId64 " is the next one", w->ord,
                       first, next);
    if ((first < next || w->n == 0) && !qs_window_same(db, run, w, &stored, &same, err))
        return false;
    if (same)
        return true;
    if (first < next || stored != 0)
        return qs_fail(err, QS_E_CONFLICT,
                       "window %u: iterations from %" PRId64 " are stored with another content", w->ord,
                       first);
    return insert_all(db, run, w, err);
}
