#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/read/read.h"
#include "store/read/util.h"
#include "store/read/reader.h"

#define JOB_COLUMNS                                                                                          \
    "j.id, j.idem, j.owner, j.name, j.reason, j.verdict, j.seed, j.state, j.submitted_wall_ns, "             \
    "j.started_wall_ns,"                                                                                     \
    " j.ended_wall_ns, (SELECT count(*) FROM run r WHERE r.job_id = j.id),"                                  \
    " (SELECT count(*) FROM run r WHERE r.job_id = j.id AND (r.taint <> 0 OR EXISTS"                         \
    "   (SELECT 1 FROM window w WHERE w.run_id = r.id AND w.traced = 0 AND w.taint <> 0))),"                 \
    " (SELECT coalesce(sum(w.n), 0) FROM run r JOIN window w ON w.run_id = r.id WHERE r.job_id = j.id)"

static const char newest_sql[] =
    "SELECT " JOB_COLUMNS ", NULL FROM job j WHERE j.id < ? ORDER BY j.id DESC LIMIT ?";
static const char live_sql[] =
    "SELECT id, state = 'running' FROM job WHERE state IN ('queued', 'running') ORDER BY id";
static const char one_sql[] = "SELECT " JOB_COLUMNS ", j.spec FROM job j WHERE j.id = ?";

static enum qs_job_state state_of(const char *name)
{
    for (int s = QS_JOB_QUEUED; s <= QS_JOB_CANCELLED; s++)
        if (strcmp(name, qs_job_state_name((enum qs_job_state)s)) == 0)
            return (enum qs_job_state)s;
    return QS_JOB_FAILED;
}

static void take_job(struct qs_stmt *s, struct qs_job_info *job)
{
    job->id = qs_stmt_get_int(s);
    job->idem = qs_stmt_dup_text(s);
    job->owner = qs_stmt_dup_text(s);
    job->name = qs_stmt_dup_text(s);
    job->reason = qs_stmt_dup_text(s);
    job->verdict_json = qs_stmt_dup_text(s);
    job->seed = (uint64_t)qs_stmt_get_int(s);
    job->state = state_of(qs_stmt_get_text(s));
    job->submitted_wall_ns = qs_stmt_get_int(s);
    job->started_wall_ns = qs_stmt_get_int(s);
    job->ended_wall_ns = qs_stmt_get_int(s);
    job->runs = (uint32_t)qs_stmt_get_int(s);
    job->runs_tainted = (uint32_t)qs_stmt_get_int(s);
    job->iterations = (uint64_t)qs_stmt_get_int(s);
    job->spec_json = qs_stmt_dup_text(s);
}

static bool take_jobs(struct qs_stmt *s, struct qs_jobs *ret, struct qs_err *err)
{
    bool ok = true;
    while (qs_stmt_next(s, &ok, err)) {
        ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
        take_job(s, &ret->at[ret->count++]);
    }
    if (!ok)
        qs_jobs_free(ret);
    return ok;
}

bool qs_read_jobs(struct qs_store_reader *r, int64_t before_id, size_t limit, struct qs_jobs *ret,
                  struct qs_err *err)
{
    struct qs_stmt s;
    *ret = (struct qs_jobs){0};
    if (limit < 1 || limit > 1000)
        return qs_fail(err, QS_E_LIMIT, "a page of jobs has 1 to 1000, not %zu", limit);
    if (!qs_stmt_begin(&r->db, &s, newest_sql, err))
        return false;
    qs_stmt_int(&s, before_id > 0 ? before_id : INT64_MAX);
    qs_stmt_int(&s, (int64_t)limit);
    return take_jobs(&s, ret, err);
}

bool qs_read_live_jobs(struct qs_store_reader *r, struct qs_live_jobs *ret, struct qs_err *err)
{
    struct qs_stmt s;
    *ret = (struct qs_live_jobs){0};
    if (!qs_stmt_begin(&r->db, &s, live_sql, err))
        return false;
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
        struct qs_live_job *job = &ret->at[ret->count++];
        job->id = qs_stmt_get_int(&s);
        job->running = qs_stmt_get_int(&s) != 0;
    }
    if (!ok)
        qs_live_jobs_free(ret);
    return ok;
}

bool qs_read_left_open(struct qs_store_reader *r, bool *ret_open, struct qs_err *err)
{
    int64_t any = 0;
    bool ok = qs_db_number(&r->db,
                           "SELECT EXISTS(SELECT 1 FROM run WHERE state = 'running')"
                           " OR EXISTS(SELECT 1 FROM session WHERE ended_wall_ns IS NULL)",
                           &any, err);
    *ret_open = any != 0;
    return ok;
}

void qs_live_jobs_free(struct qs_live_jobs *jobs)
{
    free(jobs->at);
    *jobs = (struct qs_live_jobs){0};
}

bool qs_read_job(struct qs_store_reader *r, int64_t id, struct qs_jobs *ret, struct qs_err *err)
{
    struct qs_stmt s;
    *ret = (struct qs_jobs){0};
    if (!qs_stmt_begin(&r->db, &s, one_sql, err))
        return false;
    qs_stmt_int(&s, id);
    if (!take_jobs(&s, ret, err))
        return false;
    return ret->count == 1 || qs_fail(err, QS_E_NOT_FOUND, "no job %" PRId64, id);
}

void qs_jobs_free(struct qs_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++) {
        free(jobs->at[i].idem);
        free(jobs->at[i].owner);
        free(jobs->at[i].name);
        free(jobs->at[i].spec_json);
        free(jobs->at[i].reason);
        free(jobs->at[i].verdict_json);
    }
    free(jobs->at);
    *jobs = (struct qs_jobs){0};
}
