/* One series: sessions by time, their runs, and the values that count. */
#include "store/read/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/describe.h"
#include "store/read/util.h"
#include "store/read/reader.h"
#include "store/values.h"

static const char sessions_sql[] =
    "SELECT e.uid, e.id, j.id, e.started_wall_ns, j.name, j.spec, b.boot_uuid, v.body, n.label,"
    " nullif(lower(hex(n.content)), ''), a.argv, " QS_SQL_CONDITIONS ", a.idx, jp.idx"
    " FROM job_point jp JOIN point p ON p.id = jp.point_id JOIN job j ON j.id = jp.job_id JOIN arm a ON "
    "a.job_id = j.id AND a.name = ?3"
    " JOIN session e ON e.job_id = j.id JOIN boot b ON b.id = e.boot_id JOIN env v ON v.id = e.env_id"
    " LEFT JOIN build n ON n.id = a.build_id"
    " WHERE jp.point_id IN " QS_SQL_SAME_POINTS " AND " QS_SQL_CONTROLS
    " = ?6 AND b.device_id = ?2 AND e.started_wall_ns BETWEEN ?4 AND ?5"
    " AND j.state NOT IN ('queued', 'running')"
    " ORDER BY e.started_wall_ns, e.id";

/* The last attempt of a block may lie in a later session. */
static const char runs_sql[] =
    "SELECT r.uid, r.id, r.block, r.warmup_n, coalesce(lower(hex(r.exe_sha256)), ''),"
    " coalesce(instr(j.spec, lower(hex(r.exe_sha256))), 0), m.run_id IS NOT NULL, m.median, m.n, m.soft,"
    " iif(m.run_id IS NULL, (SELECT count(*) FROM window w WHERE w.run_id = r.id), 0)"
    " FROM run r JOIN job j ON j.id = r.job_id"
    " LEFT JOIN run_median m ON m.run_id = r.id AND m.metric_id = ?5 AND m.method = ?6"
    " WHERE r.job_id = ?1 AND r.session_id = ?2 AND r.arm_idx = ?3 AND r.point_idx = ?4 AND r.block >= 1"
    " AND " QS_RUN_GIVES " AND NOT " QS_RUN_SUPERSEDED " ORDER BY r.block, r.pos, r.id";

static bool compute_median(struct qs_store_reader *r, int64_t run_id, int64_t metric,
                           struct qs_history_run *run, struct qs_err *err)
{
    struct qs_values values;
    bool ok = qs_read_run_values(r, run_id, QS_RUN_DONE, metric, &values, err);
    run->n = values.n;
    run->disturbed = values.disturbed;
    if (values.n == 0 || qs_median(values.at, values.n, &run->median) != QS_OK)
        run->median = NAN;
    free(values.at);
    return ok;
}

struct run_row { /* of a run, while its session is read */
    int64_t id, windows;
    bool is_kept;
};

static void take_run(struct qs_stmt *s, struct qs_history_run *run, struct run_row *row)
{
    *run = (struct qs_history_run){0};
    qs_stmt_get_blob(s, run->uid, sizeof run->uid);
    row->id = qs_stmt_get_int(s);
    run->block = (uint32_t)qs_stmt_get_int(s);
    run->warmup_n = qs_stmt_get_int(s);
    run->exe_sha256 = qs_stmt_dup_text(s);
    run->exe_of_job = qs_stmt_get_int(s) > 0;
    row->is_kept = qs_stmt_get_int(s) != 0;
    run->median = qs_stmt_get_double(s);
    run->n = (size_t)qs_stmt_get_int(s);
    run->disturbed = qs_stmt_get_int(s) != 0;
    row->windows = qs_stmt_get_int(s);
}

static bool read_runs(struct qs_store_reader *r, int64_t metric, struct qs_history_session *session,
                      struct run_row **ret_rows, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s, runs_sql, err))
        return false;
    qs_stmt_int(&s, session->job);
    qs_stmt_int(&s, session->id);
    qs_stmt_int(&s, session->arm);
    qs_stmt_int(&s, session->point);
    qs_stmt_int(&s, metric);
    qs_stmt_int(&s, QS_MEDIAN_METHOD);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        session->runs = qs_grow(session->runs, session->run_count, sizeof *session->runs);
        *ret_rows = qs_grow(*ret_rows, session->run_count, sizeof **ret_rows);
        take_run(&s, &session->runs[session->run_count], &(*ret_rows)[session->run_count]);
        session->run_count++;
    }
    return ok;
}

static void add_fresh(struct qs_history_data *data, const struct qs_history_run *run, int64_t metric,
                      int64_t windows)
{
    data->fresh = qs_grow(data->fresh, data->fresh_count, sizeof *data->fresh);
    struct qs_median_row *row = &data->fresh[data->fresh_count++];
    *row = (struct qs_median_row){.metric = metric,
                                  .median = run->median,
                                  .n = (int64_t)run->n,
                                  .disturbed = run->disturbed,
                                  .windows = windows,
                                  .warmup_n = run->warmup_n};
    memcpy(row->run_uid, run->uid, sizeof row->run_uid);
}

/* Its runs, with the medians that nobody has kept. */
static bool read_session(struct qs_store_reader *r, const struct qs_history_metric *metric,
                         struct qs_history_data *data, struct qs_history_session *session, struct qs_err *err)
{
    struct run_row *rows = NULL;
    bool ok = read_runs(r, metric ? metric->id : 0, session, &rows, err);
    for (size_t k = 0; ok && metric && k < session->run_count; k++) {
        if (rows[k].is_kept)
            continue;
        ok = compute_median(r, rows[k].id, metric->id, &session->runs[k], err);
        if (ok)
            add_fresh(data, &session->runs[k], metric->id, rows[k].windows);
    }
    free(rows);
    return ok;
}

static void take_session(struct qs_stmt *s, struct qs_history_session *session)
{
    *session = (struct qs_history_session){0};
    qs_stmt_get_blob(s, session->uid, sizeof session->uid);
    session->id = qs_stmt_get_int(s);
    session->job = qs_stmt_get_int(s);
    session->started_wall_ns = qs_stmt_get_int(s);
    session->job_name = qs_stmt_dup_text(s);
    session->spec_json = qs_stmt_dup_text(s);
    session->boot = qs_stmt_dup_text(s);
    session->env_json = qs_stmt_dup_text(s);
    session->build_label = qs_stmt_dup_text(s);
    session->build_content = qs_stmt_dup_text(s);
    session->argv_json = qs_stmt_dup_text(s);
    session->conditions_json = qs_stmt_dup_text(s);
    session->arm = (uint32_t)qs_stmt_get_int(s);
    session->point = (uint32_t)qs_stmt_get_int(s);
}

static bool read_sessions(struct qs_store_reader *r, const struct qs_series_info *series,
                          int64_t since_wall_ns, int64_t until_wall_ns, struct qs_history_data *ret,
                          struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s, sessions_sql, err))
        return false;
    qs_stmt_int(&s, series->point);
    qs_stmt_int(&s, series->device_id);
    qs_stmt_text(&s, series->arm);
    qs_stmt_int(&s, since_wall_ns);
    qs_stmt_int(&s, until_wall_ns);
    qs_stmt_text(&s, series->controls_json);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
        take_session(&s, &ret->at[ret->count++]);
    }
    return ok;
}

bool qs_read_history(struct qs_store_reader *r, const struct qs_series_info *series,
                     const struct qs_history_metric *metric, int64_t since_wall_ns, int64_t until_wall_ns,
                     struct qs_history_data *ret, struct qs_err *err)
{
    *ret = (struct qs_history_data){0};
    bool ok = read_sessions(r, series, since_wall_ns, until_wall_ns, ret, err);
    for (size_t i = 0; ok && i < ret->count; i++)
        ok = read_session(r, metric, ret, &ret->at[i], err);
    if (!ok)
        qs_history_data_free(ret);
    return ok;
}

static void session_free(struct qs_history_session *session)
{
    for (size_t i = 0; i < session->run_count; i++)
        free(session->runs[i].exe_sha256);
    free(session->runs);
    free(session->job_name);
    free(session->spec_json);
    free(session->boot);
    free(session->env_json);
    free(session->build_label);
    free(session->build_content);
    free(session->argv_json);
    free(session->conditions_json);
}

void qs_history_data_free(struct qs_history_data *data)
{
    for (size_t i = 0; i < data->count; i++)
        session_free(&data->at[i]);
    free(data->at);
    free(data->fresh);
    *data = (struct qs_history_data){0};
}
