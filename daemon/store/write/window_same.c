#include "store/write/window_same.h"

#include "store/metrics.h"
#include "store/write/write.h"

static bool same_durations(struct qs_db *db, int64_t window, const struct qs_window_row *w, bool *ret_same,
                           struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(db, &s,
                       "SELECT t.start_off_ns, t.duration_ns, coalesce(s.status, 0) FROM iteration t"
                       " LEFT JOIN iteration_status s ON s.window_id = t.window_id AND s.i = t.i"
                       " WHERE t.window_id = ? ORDER BY t.i",
                       err))
        return false;
    qs_stmt_int(&s, window);
    bool ok = true, row = true;
    for (size_t i = 0; ok && *ret_same && i < w->n; i++) {
        const struct qs_iteration_row *it = &w->iterations[i];
        ok = qs_stmt_step(&s, &row, err);
        *ret_same = row && qs_stmt_get_int(&s) == it->start_off_ns &&
                    qs_stmt_get_int(&s) == it->duration_ns && qs_stmt_get_int(&s) == it->status;
    }
    qs_stmt_end(&s);
    return ok;
}

static bool same_rusage_row(struct qs_stmt *s, const struct qs_metric_map *map,
                            const struct qs_iteration_row *it)
{
    bool same = true;
    for (int c = 0; c < QS_RUSAGE_COLUMNS; c++) {
        int64_t stored = INT64_MIN;
        qs_stmt_get_maybe(s, &stored);
        same &= stored == (map->rusage[c] < 0 ? INT64_MIN : it->values[map->rusage[c]]);
    }
    return same;
}

static bool same_rusage(struct qs_db *db, int64_t window, const struct qs_window_row *w,
                        const struct qs_metric_map *map, bool *ret_same, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(
            db, &s, "SELECT " QS_RUSAGE_COLUMN_LIST " FROM iteration_rusage WHERE window_id = ? ORDER BY i",
            err))
        return false;
    qs_stmt_int(&s, window);
    bool row = false, ok = qs_stmt_step(&s, &row, err);
    *ret_same &= row == (map->any_rusage && w->n > 0);
    for (size_t i = 0; ok && row && *ret_same && i < w->n; i++) {
        *ret_same = same_rusage_row(&s, map, &w->iterations[i]);
        ok = qs_stmt_step(&s, &row, err);
    }
    qs_stmt_end(&s);
    return ok;
}

static size_t given_values(const struct qs_window_row *w, size_t k)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += w->iterations[i].values[k] != INT64_MIN;
    return n;
}

static bool same_metric(struct qs_db *db, int64_t window, const struct qs_window_row *w, size_t k,
                        bool *ret_same, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(db, &s,
                       "SELECT v.i, v.value FROM iteration_metric v JOIN metric m ON m.id = v.metric_id"
                       " WHERE v.window_id = ? AND m.name = ? ORDER BY v.i",
                       err))
        return false;
    qs_stmt_int(&s, window);
    qs_stmt_text(&s, w->metrics[k]);
    size_t seen = 0;
    bool row = false, ok = qs_stmt_step(&s, &row, err);
    for (; ok && row && *ret_same; seen++) {
        int64_t i = qs_stmt_get_int(&s);
        *ret_same = i >= 0 && (size_t)i < w->n && qs_stmt_get_int(&s) == w->iterations[i].values[k];
        ok = qs_stmt_step(&s, &row, err);
    }
    qs_stmt_end(&s);
    *ret_same &= seen == given_values(w, k);
    return ok;
}

static bool same_content(struct qs_db *db, int64_t window, const struct qs_window_row *w, bool *ret_same,
                         struct qs_err *err)
{
    struct qs_metric_map map;
    qs_metric_map(w->metrics, w->metric_count, &map);
    if (!same_durations(db, window, w, ret_same, err) || !same_rusage(db, window, w, &map, ret_same, err))
        return false;
    for (size_t k = 0; *ret_same && k < map.other_count; k++)
        if (!same_metric(db, window, w, map.others[k], ret_same, err))
            return false;
    return true;
}

/* An empty window is known by its number and times, another one by its first seq. */
static bool find(struct qs_db *db, int64_t run, const struct qs_window_row *w, int64_t *ret_window,
                 bool *ret_same, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(
            db, &s,
            "SELECT id, phase = ?4 AND opened_ns = ?5 AND closed_ns = ?6 AND evals = ?7 AND evals_step = ?9"
            " AND traced = ?10"
            " FROM window"
            " WHERE run_id = ?1 AND first_seq = ?2 AND n = ?3 AND (n > 0 OR (ord = ?8 AND opened_ns = ?5))",
            err))
        return false;
    qs_stmt_int(&s, run);
    qs_stmt_int(&s, (int64_t)w->first_seq);
    qs_stmt_int(&s, (int64_t)w->n);
    qs_stmt_int(&s, w->phase == QS_PHASE_MEASURE);
    qs_stmt_int(&s, w->opened_ns);
    qs_stmt_int(&s, w->closed_ns);
    qs_stmt_int(&s, w->evals);
    qs_stmt_int(&s, w->ord);
    qs_stmt_int(&s, w->phase == QS_PHASE_TUNE);
    qs_stmt_int(&s, w->phase == QS_PHASE_TRACED);
    bool row = false, ok = qs_stmt_step(&s, &row, err);
    *ret_window = row ? qs_stmt_get_int(&s) : 0;
    *ret_same = row && qs_stmt_get_int(&s) != 0;
    qs_stmt_end(&s);
    return ok;
}

bool qs_window_same(struct qs_db *db, int64_t run, const struct qs_window_row *w, int64_t *ret_window,
                    bool *ret_same, struct qs_err *err)
{
    if (!find(db, run, w, ret_window, ret_same, err))
        return false;
    return !*ret_same || same_content(db, *ret_window, w, ret_same, err);
}
