/* Sessions, runs, files and events. */
#include <string.h>

#include "base/text.h"
#include "store/write/write.h"

bool qs_apply_session(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_session_row *r = row;
    struct qs_stmt s;
    int64_t boot = 0, env = 0, id = 0;
    bool found = false;
    (void)ret_id;
    if (!qs_find_boot(db, r->device, r->boot_uuid, &boot, err) ||
        !qs_intern_env(db, r->env_json, &env, err) ||
        !qs_stmt_begin(db, &s, "SELECT job_id = ?2 AND boot_id = ?3 FROM session WHERE uid = ?1", err))
        return false;
    qs_stmt_blob(&s, r->uid, sizeof r->uid);
    qs_stmt_int(&s, r->job);
    qs_stmt_int(&s, boot);
    if (!qs_stmt_one(&s, &id, &found, err))
        return false;
    if (found)
        return id != 0 || qs_fail(err, QS_E_CONFLICT, "this session is stored with another job or boot");
    if (!qs_stmt_begin(
            db, &s,
            "INSERT INTO session(uid, job_id, boot_id, env_id, started_wall_ns) VALUES(?, ?, ?, ?, ?)", err))
        return false;
    qs_stmt_blob(&s, r->uid, sizeof r->uid);
    qs_stmt_int(&s, r->job);
    qs_stmt_int(&s, boot);
    qs_stmt_int(&s, env);
    qs_stmt_int(&s, r->started_wall_ns);
    return qs_stmt_run(&s, err);
}

bool qs_apply_session_end(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_session_end_row *r = row;
    struct qs_stmt s;
    int64_t id = 0;
    (void)ret_id;
    if (!qs_find_session(db, r->uid, &id, err) ||
        !qs_stmt_begin(db, &s, "UPDATE session SET ended_wall_ns = ?, end_reason = ? WHERE id = ?", err))
        return false;
    qs_stmt_int(&s, r->at_ns);
    qs_stmt_text(&s, r->reason);
    qs_stmt_int(&s, id);
    return qs_stmt_run(&s, err);
}

bool qs_apply_session_env(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_session_env_row *r = row;
    struct qs_stmt s;
    int64_t id = 0, env = 0;
    (void)ret_id;
    if (!qs_find_session(db, r->uid, &id, err) || !qs_intern_env(db, r->env_json, &env, err) ||
        !qs_stmt_begin(db, &s, "UPDATE session SET env_id = ? WHERE id = ?", err))
        return false;
    qs_stmt_int(&s, env);
    qs_stmt_int(&s, id);
    return qs_stmt_run(&s, err);
}

static bool is_zero(const uint8_t uid[16])
{
    static const uint8_t zero[16];
    return memcmp(uid, zero, sizeof zero) == 0;
}

/* A run that is begun again under its identity (a daemon that came back) must be the same turn. */
static bool find_same_run(struct qs_db *db, const struct qs_run_row *r, bool *ret_found, struct qs_err *err)
{
    struct qs_stmt s;
    int64_t same = 0;
    if (!qs_stmt_begin(db, &s,
                       "SELECT job_id = ?2 AND arm_idx = ?3 AND point_idx = ?4 AND block = ?5 AND pos = ?6 "
                       "AND attempt = ?7"
                       " FROM run WHERE uid = ?1",
                       err))
        return false;
    qs_stmt_blob(&s, r->uid, sizeof r->uid);
    qs_stmt_int(&s, r->job);
    qs_stmt_int(&s, r->arm);
    qs_stmt_int(&s, r->point);
    qs_stmt_int(&s, r->block);
    qs_stmt_int(&s, r->pos);
    qs_stmt_int(&s, r->attempt);
    if (!qs_stmt_one(&s, &same, ret_found, err))
        return false;
    return !*ret_found || same != 0 || qs_fail(err, QS_E_CONFLICT, "this run is stored as another turn");
}

bool qs_apply_run(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_run_row *r = row;
    struct qs_stmt s;
    int64_t session = 0;
    bool found = false;
    (void)ret_id;
    if (!find_same_run(db, r, &found, err))
        return false;
    if (found)
        return true;
    if (!is_zero(r->session_uid) && !qs_find_session(db, r->session_uid, &session, err))
        return false;
    if (!qs_stmt_begin(
            db, &s,
            "INSERT INTO run(uid, job_id, arm_idx, point_idx, session_id, block, pos, attempt, state,"
            " started_wall_ns, harness, stream) VALUES(?, ?, ?, ?, nullif(?, 0), ?, ?, ?, 'running', ?, ?, "
            "?)",
            err))
        return false;
    qs_stmt_blob(&s, r->uid, sizeof r->uid);
    qs_stmt_int(&s, r->job);
    qs_stmt_int(&s, r->arm);
    qs_stmt_int(&s, r->point);
    qs_stmt_int(&s, session);
    qs_stmt_int(&s, r->block);
    qs_stmt_int(&s, r->pos);
    qs_stmt_int(&s, r->attempt);
    qs_stmt_int(&s, r->started_wall_ns);
    qs_stmt_text(&s, r->harness_json);
    qs_stmt_text(&s, r->stream_json);
    return qs_stmt_run(&s, err);
}

/* The last word stands: a run that was done is interrupted afterwards where its block was not completed. */
bool qs_apply_run_end(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_run_end_row *r = row;
    struct qs_stmt s;
    uint8_t exe[32];
    int64_t id = 0;
    bool has_sum = r->exe_sha256 && r->exe_sha256[0];
    (void)ret_id;
    if (has_sum && !qs_unhex(r->exe_sha256, exe, sizeof exe))
        return qs_fail(err, QS_E_CONFLICT, "the executable's hash is not 64 hex digits");
    if (!qs_find_run(db, r->uid, &id, err) ||
        !qs_stmt_begin(
            db, &s,
            "UPDATE run SET state = ?2, stop_reason = coalesce(?3, stop_reason), taint = taint | ?4,"
            " error_code = coalesce(?5, error_code), error_text = coalesce(?6, error_text),"
            " exe_path = coalesce(nullif(?7, ''), exe_path), exe_sha256 = coalesce(?8, exe_sha256),"
            " ended_wall_ns = ?9, warmup_n = max(warmup_n, ?10), harness = coalesce(?11, harness) WHERE id = "
            "?1",
            err))
        return false;
    qs_stmt_int(&s, id);
    qs_stmt_text(&s, qs_run_state_name(r->state));
    qs_stmt_text(&s, r->stop_reason);
    qs_stmt_int(&s, r->taint);
    qs_stmt_text(&s, r->error_slug);
    qs_stmt_text(&s, r->error_text);
    qs_stmt_text(&s, r->exe_path);
    qs_stmt_blob(&s, has_sum ? exe : NULL, sizeof exe);
    qs_stmt_int(&s, r->ended_wall_ns);
    qs_stmt_int(&s, r->warmup_n);
    qs_stmt_text(&s, r->harness_json);
    return qs_stmt_run(&s, err);
}

bool qs_apply_file(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_file_row *r = row;
    struct qs_stmt s;
    uint8_t sum[32];
    (void)ret_id;
    if (!qs_unhex(r->sha256, sum, sizeof sum))
        return qs_fail(err, QS_E_CONFLICT, "a file's hash is not 64 hex digits");
    if (!qs_stmt_begin(db, &s, "INSERT INTO file(sha256, bytes) VALUES(?, ?) ON CONFLICT DO NOTHING", err))
        return false;
    qs_stmt_blob(&s, sum, sizeof sum);
    qs_stmt_int(&s, r->bytes);
    return qs_stmt_run(&s, err);
}

bool qs_apply_event(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_event_row *r = row;
    struct qs_stmt s;
    if (!qs_stmt_begin(db, &s,
                       "INSERT INTO event(wall_ns, kind, device, job_id, run_uid, body)"
                       " VALUES(?, ?, ?, nullif(?, 0), ?, ?)",
                       err))
        return false;
    qs_stmt_int(&s, r->wall_ns);
    qs_stmt_text(&s, r->kind);
    qs_stmt_text(&s, r->device);
    qs_stmt_int(&s, r->job);
    qs_stmt_blob(&s, r->run_uid, 16);
    qs_stmt_text(&s, r->body_json);
    bool ok = qs_stmt_run(&s, err);
    *ret_id = sqlite3_last_insert_rowid(db->sqlite);
    return ok;
}
