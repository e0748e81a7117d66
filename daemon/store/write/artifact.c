/* Artifacts of a run: the content beside the database first, then the row that names it. */
#include <string.h>

#include "base/text.h"
#include "proto/auth.h"
#include "store/files.h"
#include "store/write/write.h"

static bool insert(struct qs_db *db, int64_t run, const struct qs_artifact_row *r, const uint8_t *sum,
                   struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(db, &s,
                       "INSERT INTO artifact(run_id, idx, kind, name, sha256, total_bytes, why)"
                       " VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                       err))
        return false;
    qs_stmt_int(&s, run);
    qs_stmt_int(&s, r->idx);
    qs_stmt_text(&s, r->kind);
    qs_stmt_text(&s, r->name);
    qs_stmt_blob(&s, sum, QS_SHA256_BYTES);
    qs_stmt_int(&s, r->total_bytes);
    qs_stmt_text(&s, r->why);
    return qs_stmt_run(&s, err);
}

/* Nothing where the artifact is stored already: what is sent again changes nothing. */
static bool insert_trace(struct qs_db *db, int64_t run, const struct qs_artifact_row *r, struct qs_err *err)
{
    const struct qs_trace_row *t = r->trace;
    struct qs_stmt s;
    if (!t)
        return true;
    if (!qs_stmt_begin(
            db, &s,
            "INSERT INTO trace(run_id, idx, window_id, flags, started_ns, stopped_ns)"
            " VALUES(?1, ?2, (SELECT id FROM window WHERE run_id = ?1 AND ord = ?3 AND traced = 1),"
            " ?4, ?5, ?6) ON CONFLICT DO NOTHING",
            err))
        return false;
    qs_stmt_int(&s, run);
    qs_stmt_int(&s, r->idx);
    qs_stmt_int(&s, t->has_window ? (int64_t)t->window : -1);
    qs_stmt_int(&s, t->flags);
    qs_stmt_int(&s, t->started_ns);
    qs_stmt_int(&s, t->stopped_ns);
    return qs_stmt_run(&s, err);
}

bool qs_apply_artifact(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_artifact_row *r = row;
    uint8_t sum[QS_SHA256_BYTES];
    struct qs_file_row file = {.bytes = (int64_t)r->n};
    int64_t run = 0;
    if (!qs_find_run(db, r->run_uid, &run, err))
        return false;
    if (!r->files || r->n == 0)
        return insert(db, run, r, NULL, err) && insert_trace(db, run, r, err);
    return qs_files_put(r->files, r->bytes, r->n, file.sha256, err) &&
           qs_unhex(file.sha256, sum, sizeof sum) && qs_apply_file(db, &file, ret_id, err) &&
           insert(db, run, r, sum, err) && insert_trace(db, run, r, err);
}

static bool next_idx(struct qs_db *db, int64_t run, int64_t *ret, struct qs_err *err)
{
    struct qs_stmt s;
    bool found = false;
    if (!qs_stmt_begin(db, &s, "SELECT coalesce(max(idx) + 1, 0) FROM artifact WHERE run_id = ?", err))
        return false;
    qs_stmt_int(&s, run);
    return qs_stmt_one(&s, ret, &found, err);
}

bool qs_apply_document(struct qs_db *db, const struct qs_window_row *w, struct qs_err *err)
{
    const struct qs_document_row *d = w->document;
    int64_t run = 0, idx = 0, id = 0;
    if (!qs_find_run(db, w->run_uid, &run, err) || !next_idx(db, run, &idx, err))
        return false;
    struct qs_artifact_row row = {.idx = (uint32_t)idx,
                                  .kind = d->name ? "file" : "output",
                                  .name = d->name ? d->name : "stdout",
                                  .files = d->files,
                                  .bytes = d->bytes,
                                  .n = d->n,
                                  .total_bytes = d->total_bytes,
                                  .why = d->why};
    memcpy(row.run_uid, w->run_uid, sizeof row.run_uid);
    return qs_apply_artifact(db, &row, &id, err);
}
