/* The end of a job, and of what a daemon that died has left: what is open is closed in the same commit. */
#include <string.h>

#include "store/write/write.h"

/* ?1 job, ?2 state of a run, ?3 reason, ?4 time; ?5 the runs that a block has, where the statement asks for
 * it. */
static bool run_on_job(struct qs_db *db, const char *sql, const struct qs_job_end_row *r, bool blocks,
                       struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(db, &s, sql, err))
        return false;
    qs_stmt_int(&s, r->job);
    qs_stmt_text(&s, r->state == QS_JOB_CANCELLED ? "cancelled" : "interrupted");
    qs_stmt_text(&s, r->reason);
    qs_stmt_int(&s, r->at_ns);
    if (blocks)
        qs_stmt_int(&s, r->runs_per_block);
    return qs_stmt_run(&s, err);
}

/* Normally nothing is left: these are for rows whose own end did not reach the disk. Blocks of a job that is
 * done are whole; of another one a block with fewer runs than it has turns was not completed. */
static bool close_open(struct qs_db *db, const struct qs_job_end_row *r, struct qs_err *err)
{
    static const char blocks[] =
        "WITH placed AS (SELECT r.id, b.device_id, r.point_idx, r.block, r.attempt, r.state FROM run r"
        " JOIN session s ON s.id = r.session_id JOIN boot b ON b.id = s.boot_id"
        " WHERE r.job_id = ?1 AND r.block > 0)"
        " UPDATE run SET taint = taint | 256, state = ?2, error_text = coalesce(error_text, ?3),"
        " ended_wall_ns = coalesce(ended_wall_ns, ?4) WHERE state = 'done' AND id IN (SELECT id FROM placed"
        " WHERE (device_id, point_idx, block, attempt) IN (SELECT device_id, point_idx, block, attempt FROM "
        "placed"
        " GROUP BY 1, 2, 3, 4 HAVING sum(state IN ('done', 'failed')) < ?5))";
    static const char runs[] =
        "UPDATE run SET taint = taint | 256, state = ?2, error_text = coalesce(error_text, ?3),"
        " ended_wall_ns = coalesce(ended_wall_ns, ?4)"
        " WHERE job_id = ?1 AND state = 'running'";
    static const char sessions[] = "UPDATE session SET ended_wall_ns = ?4, end_reason = coalesce(?3, ?2)"
                                   " WHERE job_id = ?1 AND ended_wall_ns IS NULL";
    return (r->state == QS_JOB_DONE || run_on_job(db, blocks, r, true, err)) &&
           run_on_job(db, runs, r, false, err) && run_on_job(db, sessions, r, false, err);
}

static bool tell(struct qs_db *db, const struct qs_job_end_row *r, const char *kind, const char *body_json,
                 int64_t *ret_id, struct qs_err *err)
{
    const struct qs_event_row row = {
        .wall_ns = r->at_ns, .kind = kind, .job = r->job, .body_json = body_json};
    return qs_apply_event(db, &row, ret_id, err);
}

/* An end whose commit was thought to have failed may be there all the same: then it stands. */
static bool find_end(struct qs_db *db, int64_t job, bool *ret_found, int64_t *ret_id, struct qs_err *err)
{
    struct qs_stmt s;
    *ret_id = 0;
    if (!qs_stmt_begin(
            db, &s,
            "SELECT coalesce((SELECT max(id) FROM event WHERE job_id = ?1 AND kind = 'job.state'), 0)"
            " FROM job WHERE id = ?1 AND state IN ('done', 'failed', 'cancelled')",
            err))
        return false;
    qs_stmt_int(&s, job);
    return qs_stmt_one(&s, ret_id, ret_found, err);
}

static bool put_verdict(struct qs_db *db, const struct qs_job_end_row *r, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(db, &s, "UPDATE job SET verdict = ?2 WHERE id = ?1", err))
        return false;
    qs_stmt_int(&s, r->job);
    qs_stmt_text(&s, r->verdict_json);
    return qs_stmt_run(&s, err);
}

bool qs_apply_job_end(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_job_end_row *r = row;
    const struct qs_job_state_row state = {
        .job = r->job, .at_ns = r->at_ns, .state = r->state, .reason = r->reason};
    bool ended = false;
    int64_t none = 0;
    if (!find_end(db, r->job, &ended, ret_id, err) || ended)
        return ended;
    return qs_apply_job_state(db, &state, &none, err) && close_open(db, r, err) &&
           (!r->verdict_json || put_verdict(db, r, err)) &&
           (!r->result_json || tell(db, r, "job.result", r->result_json, ret_id, err)) &&
           tell(db, r, "job.state", r->state_json, ret_id, err);
}

bool qs_apply_former_life(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    static const char *const texts[] = {
        "UPDATE run SET state = 'interrupted', taint = taint | 256, error_code = 'resource',"
        " error_text = 'the daemon ended during this run', ended_wall_ns = ? WHERE state = 'running'",
        "UPDATE session SET ended_wall_ns = ?, end_reason = 'the daemon ended during this session'"
        " WHERE ended_wall_ns IS NULL"};
    const int64_t *at_ns = row;
    (void)ret_id;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct qs_stmt s;
        if (!qs_stmt_begin(db, &s, texts[i], err))
            return false;
        qs_stmt_int(&s, *at_ns);
        if (!qs_stmt_run(&s, err))
            return false;
    }
    return true;
}
