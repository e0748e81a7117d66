/* One series: sessions by time, their runs, and the values that count. */
#include "store/read_history.h"

#include <stdlib.h>
#include <string.h>

#include "store/read_util.h"
#include "store/reader.h"

enum { VALUES_MOST = 20000000, SOFT = QS_TAINT_GATE | QS_TAINT_EVIDENCE | QS_TAINT_LINK };

static const char sessions_sql[] =
    "SELECT e.uid, e.id, j.id, e.started_wall_ns, j.name, j.spec, b.boot_uuid, v.body, n.label,"
    " nullif(lower(hex(n.content)), ''), a.argv, a.idx, jp.idx"
    " FROM job_point jp JOIN job j ON j.id = jp.job_id JOIN arm a ON a.job_id = j.id AND a.name = ?3"
    " JOIN session e ON e.job_id = j.id JOIN boot b ON b.id = e.boot_id JOIN env v ON v.id = e.env_id"
    " LEFT JOIN build n ON n.id = a.build_id"
    " WHERE jp.point_id = ?1 AND b.device_id = ?2 AND e.started_wall_ns BETWEEN ?4 AND ?5"
    " AND j.state NOT IN ('queued', 'running')"
    " ORDER BY e.started_wall_ns, e.id";

/* A block that was begun again counts with its last attempt, which may lie in a later session. */
static const char runs_sql[] =
    "SELECT r.uid, r.id, r.block, r.warmup_n, coalesce(lower(hex(r.exe_sha256)), ''),"
    " coalesce(instr(j.spec, lower(hex(r.exe_sha256))), 0) FROM run r JOIN job j ON j.id = r.job_id"
    " WHERE r.job_id = ?1 AND r.session_id = ?2 AND r.arm_idx = ?3 AND r.point_idx = ?4 AND r.block >= 1"
    " AND r.state = 'done' AND NOT EXISTS (SELECT 1 FROM run q JOIN session e ON e.id = q.session_id"
    "  JOIN boot b ON b.id = e.boot_id WHERE q.job_id = r.job_id AND q.point_idx = r.point_idx"
    "  AND q.block = r.block AND q.attempt > r.attempt AND b.device_id = ?5)"
    " ORDER BY r.block, r.pos, r.id";

#define OF_RUN " WHERE w.run_id = ?1 AND w.phase = 1 ORDER BY w.first_seq, w.id, t.i"
static const char times_sql[] = "SELECT w.taint | t.taint, w.evals, t.duration_ns FROM window w JOIN "
                                "iteration t ON t.window_id = w.id" OF_RUN;
static const char rusage_sql[] =
    "SELECT w.taint | t.taint, 1, CASE ?2 WHEN 1 THEN u.user_time_us WHEN 2 THEN u.system_time_us"
    " WHEN 3 THEN u.max_rss_bytes WHEN 4 THEN u.minor_faults WHEN 5 THEN u.major_faults"
    " WHEN 6 THEN u.voluntary_switches WHEN 7 THEN u.involuntary_switches WHEN 8 THEN u.block_in"
    " ELSE u.block_out END FROM window w JOIN iteration t ON t.window_id = w.id"
    " LEFT JOIN iteration_rusage u ON u.window_id = t.window_id AND u.i = t.i" OF_RUN;
static const char metric_sql[] =
    "SELECT w.taint | t.taint, 1, v.value FROM window w JOIN iteration t ON t.window_id = w.id"
    " LEFT JOIN iteration_metric v ON v.window_id = t.window_id AND v.metric_id = ?2 AND v.i = t.i" OF_RUN;

struct values {
    double *at;
    size_t n;
};

static void add(struct values *v, double value)
{
    v->at = qs_read_grow(v->at, v->n, sizeof *v->at);
    v->at[v->n++] = value;
}

static void keep(struct qs_history_run *run, struct values *clean, struct values *soft)
{
    struct values *kept = clean->n > 0 ? clean : soft, *other = clean->n > 0 ? soft : clean;
    run->values = kept->at;
    run->n = kept->n;
    run->soft = kept == soft && soft->n > 0;
    free(other->at);
}

static bool read_values(struct qs_store_reader *r, int64_t run_id, int64_t metric, struct qs_history_run *run,
                        struct qs_err *err)
{
    struct qs_stmt s;
    struct values clean = {0}, soft = {0};
    const char *sql = metric == 0 ? times_sql : metric <= 9 ? rusage_sql : metric_sql;
    if (!qs_stmt_begin(&r->db, &s, sql, err))
        return false;
    qs_stmt_int(&s, run_id);
    if (metric != 0)
        qs_stmt_int(&s, metric);
    int64_t warm = 0, value = 0;
    bool row = false, ok = qs_stmt_step(&s, &row, err);
    while (ok && row) {
        uint32_t taint = (uint32_t)qs_stmt_get_int(&s);
        int64_t evals = qs_stmt_get_int(&s);
        bool there = qs_stmt_get_maybe(&s, &value);
        if (taint == 0 && warm < run->warmup_n)
            warm++;
        else if (there && (taint & ~(uint32_t)SOFT) == 0)
            add(taint == 0 ? &clean : &soft, (double)value / (evals > 0 ? (double)evals : 1));
        ok = qs_stmt_step(&s, &row, err);
    }
    qs_stmt_end(&s);
    keep(run, &clean, &soft);
    return ok;
}

static bool read_session(struct qs_store_reader *r, int64_t device, struct qs_history_session *session,
                         int64_t **ret_ids, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s, runs_sql, err))
        return false;
    qs_stmt_int(&s, session->job);
    qs_stmt_int(&s, session->id);
    qs_stmt_int(&s, session->arm);
    qs_stmt_int(&s, session->point);
    qs_stmt_int(&s, device);
    bool row = false, ok = qs_stmt_step(&s, &row, err);
    while (ok && row) {
        session->runs = qs_read_grow(session->runs, session->run_count, sizeof *session->runs);
        *ret_ids = qs_read_grow(*ret_ids, session->run_count, sizeof **ret_ids);
        struct qs_history_run *run = &session->runs[session->run_count];
        *run = (struct qs_history_run){0};
        qs_stmt_get_blob(&s, run->uid, sizeof run->uid);
        (*ret_ids)[session->run_count++] = qs_stmt_get_int(&s);
        run->block = (uint32_t)qs_stmt_get_int(&s);
        run->warmup_n = qs_stmt_get_int(&s);
        run->exe_sha256 = qs_stmt_dup_text(&s);
        run->exe_of_job = qs_stmt_get_int(&s) > 0;
        ok = qs_stmt_step(&s, &row, err);
    }
    qs_stmt_end(&s);
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
    bool row = false, ok = qs_stmt_step(&s, &row, err);
    while (ok && row) {
        ret->at = qs_read_grow(ret->at, ret->count, sizeof *ret->at);
        take_session(&s, &ret->at[ret->count++]);
        ok = qs_stmt_step(&s, &row, err);
    }
    qs_stmt_end(&s);
    return ok;
}

bool qs_read_history(struct qs_store_reader *r, const struct qs_series_info *series,
                     const struct qs_history_metric *metric, int64_t since_wall_ns, int64_t until_wall_ns,
                     struct qs_history_data *ret, struct qs_err *err)
{
    size_t values = 0;
    *ret = (struct qs_history_data){0};
    bool ok = read_sessions(r, series, since_wall_ns, until_wall_ns, ret, err);
    for (size_t i = 0; ok && i < ret->count; i++) {
        int64_t *ids = NULL;
        struct qs_history_session *session = &ret->at[i];
        ok = read_session(r, series->device_id, session, &ids, err);
        for (size_t k = 0; ok && k < session->run_count; k++) {
            ok = read_values(r, ids[k], metric->id, &session->runs[k], err);
            values += session->runs[k].n;
            if (ok && values > VALUES_MOST)
                ok = qs_fail(err, QS_E_LIMIT, "the series has more than %d values: narrow it with `since`",
                             VALUES_MOST);
        }
        free(ids);
    }
    if (!ok)
        qs_history_data_free(ret);
    return ok;
}

static void session_free(struct qs_history_session *session)
{
    for (size_t i = 0; i < session->run_count; i++) {
        free(session->runs[i].values);
        free(session->runs[i].exe_sha256);
    }
    free(session->runs);
    free(session->job_name);
    free(session->spec_json);
    free(session->boot);
    free(session->env_json);
    free(session->build_label);
    free(session->build_content);
    free(session->argv_json);
}

void qs_history_data_free(struct qs_history_data *data)
{
    for (size_t i = 0; i < data->count; i++)
        session_free(&data->at[i]);
    free(data->at);
    *data = (struct qs_history_data){0};
}
