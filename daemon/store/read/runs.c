#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/read/read.h"
#include "store/read/util.h"
#include "store/read/reader.h"

#define RUN_SELECT                                                                                           \
    "SELECT r.uid, r.id, r.job_id, r.arm_idx, r.point_idx, r.block, r.pos, r.attempt, r.taint,"              \
    " (SELECT count(*) FROM window w WHERE w.run_id = r.id),"                                                \
    " (SELECT coalesce(sum(w.n), 0) FROM window w WHERE w.run_id = r.id AND w.phase = 1),"                   \
    " (SELECT count(*) FROM window w JOIN iteration t ON t.window_id = w.id"                                 \
    "   WHERE w.run_id = r.id AND w.phase = 1 AND w.taint | t.taint <> 0),"                                  \
    " r.state, a.name, coalesce(d.name, ''), r.stop_reason, r.error_code, r.error_text, "                    \
    "coalesce(r.exe_path, ''),"                                                                              \
    " coalesce(lower(hex(r.exe_sha256)), ''), v.body, r.started_wall_ns,"                                    \
    " coalesce((SELECT max(w.first_seq + w.n) FROM window w WHERE w.run_id = r.id), 0) - 1, "                \
    "coalesce(d.simulated, 0), r.warmup_n, r.harness, r.stream, g.label,"                                    \
    " (SELECT coalesce(sum(coalesce(w.device_n, w.n)), 0) FROM window w WHERE w.run_id = r.id)"              \
    " FROM run r JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx"                                    \
    " LEFT JOIN build g ON g.id = a.build_id"                                                                \
    " LEFT JOIN session e ON e.id = r.session_id LEFT JOIN env v ON v.id = e.env_id"                         \
    " LEFT JOIN boot b ON b.id = e.boot_id LEFT JOIN device d ON d.id = b.device_id"

enum qs_run_state qs_read_run_state(const char *name)
{
    for (int s = QS_RUN_RUNNING; s <= QS_RUN_CANCELLED; s++)
        if (strcmp(name, qs_run_state_name((enum qs_run_state)s)) == 0)
            return (enum qs_run_state)s;
    return QS_RUN_FAILED;
}

static void take_run(struct qs_stmt *s, struct qs_run_info *run)
{
    qs_stmt_get_blob(s, run->uid, sizeof run->uid);
    run->id = qs_stmt_get_int(s);
    run->job = qs_stmt_get_int(s);
    run->arm = (uint32_t)qs_stmt_get_int(s);
    run->point = (uint32_t)qs_stmt_get_int(s);
    run->block = (uint32_t)qs_stmt_get_int(s);
    run->pos = (uint32_t)qs_stmt_get_int(s);
    run->attempt = (uint32_t)qs_stmt_get_int(s);
    run->taint = (uint32_t)qs_stmt_get_int(s);
    run->windows = (uint32_t)qs_stmt_get_int(s);
    run->n = (uint64_t)qs_stmt_get_int(s);
    run->n_tainted = (uint64_t)qs_stmt_get_int(s);
    run->state = qs_read_run_state(qs_stmt_get_text(s));
    run->arm_name = qs_stmt_dup_text(s);
    run->device = qs_stmt_dup_text(s);
    run->stop_reason = qs_stmt_dup_text(s);
    run->error_slug = qs_stmt_dup_text(s);
    run->error_text = qs_stmt_dup_text(s);
    run->exe_path = qs_stmt_dup_text(s);
    run->exe_sha256 = qs_stmt_dup_text(s);
    run->env_json = qs_stmt_dup_text(s);
    run->started_wall_ns = qs_stmt_get_int(s);
    run->acked_seq = qs_stmt_get_int(s);
    run->simulated = qs_stmt_get_int(s) != 0;
    run->warmup_n = (uint64_t)qs_stmt_get_int(s);
    run->harness_json = qs_stmt_dup_text(s);
    run->stream_json = qs_stmt_dup_text(s);
    run->build = qs_stmt_dup_text(s);
    run->device_seq = (uint64_t)qs_stmt_get_int(s);
}

static bool take_runs(struct qs_stmt *s, struct qs_runs *ret, struct qs_err *err)
{
    bool ok = true;
    while (qs_stmt_next(s, &ok, err)) {
        ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
        take_run(s, &ret->at[ret->count++]);
    }
    if (!ok)
        qs_runs_free(ret);
    return ok;
}

bool qs_read_runs(struct qs_store_reader *r, int64_t job, int64_t after_id, size_t limit, struct qs_runs *ret,
                  struct qs_err *err)
{
    struct qs_stmt s;
    *ret = (struct qs_runs){0};
    if (limit < 1 || limit > 10000)
        return qs_fail(err, QS_E_LIMIT, "a page of runs has 1 to 10000, not %zu", limit);
    if (!qs_stmt_begin(&r->db, &s, RUN_SELECT " WHERE r.job_id = ? AND r.id > ? ORDER BY r.id LIMIT ?", err))
        return false;
    qs_stmt_int(&s, job);
    qs_stmt_int(&s, after_id);
    qs_stmt_int(&s, (int64_t)limit);
    return take_runs(&s, ret, err);
}

bool qs_read_run(struct qs_store_reader *r, const uint8_t uid[16], struct qs_runs *ret, struct qs_err *err)
{
    struct qs_stmt s;
    *ret = (struct qs_runs){0};
    if (!qs_stmt_begin(&r->db, &s, RUN_SELECT " WHERE r.uid = ?", err))
        return false;
    qs_stmt_blob(&s, uid, 16);
    if (!take_runs(&s, ret, err))
        return false;
    char hex[33];
    qs_hex(uid, 16, hex);
    return ret->count == 1 || qs_fail(err, QS_E_NOT_FOUND, "no run %s", hex);
}

void qs_runs_free(struct qs_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        struct qs_run_info *run = &runs->at[i];
        free(run->arm_name);
        free(run->build);
        free(run->device);
        free(run->stop_reason);
        free(run->error_slug);
        free(run->error_text);
        free(run->exe_path);
        free(run->exe_sha256);
        free(run->harness_json);
        free(run->stream_json);
        free(run->env_json);
    }
    free(runs->at);
    *runs = (struct qs_runs){0};
}
