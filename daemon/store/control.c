#include "store/control.h"

#include <stdlib.h>

#include "store/read/reader.h"
#include "store/write/write.h"

/* ---- writing ---- */

static bool apply_board(struct qs_db *db, const void *at, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_board_row *row = at;
    struct qs_stmt s;
    int64_t device = 0;
    (void)ret_id;
    if (!qs_find_device(db, row->device, &device, err) ||
        !qs_stmt_begin(db, &s,
                       "INSERT OR REPLACE INTO device_board(device_id, fingerprint, board, probed_wall_ns)"
                       " VALUES(?, ?, ?, ?)",
                       err))
        return false;
    qs_stmt_int(&s, device);
    qs_stmt_text(&s, row->fingerprint);
    qs_stmt_text(&s, row->json);
    qs_stmt_int(&s, row->probed_wall_ns);
    return qs_stmt_run(&s, err);
}

void qs_store_board(struct qs_store *store, const struct qs_board_row *board, qs_store_done_fn *done,
                    void *user)
{
    struct qs_request *req = qs_request_new(apply_board, done, user);
    const struct qs_board_row row = {.device = qs_arena_text(&req->arena, board->device),
                                     .fingerprint = qs_arena_text(&req->arena, board->fingerprint),
                                     .json = qs_arena_text(&req->arena, board->json),
                                     .probed_wall_ns = board->probed_wall_ns};
    req->row = qs_arena_copy(&req->arena, &row, sizeof row);
    qs_store_enqueue(store, req);
}

static bool insert(struct qs_db *db, int64_t session, int64_t run, const struct qs_control_row *row,
                   struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(
            db, &s,
            "INSERT INTO control(session_id, seq, run_id, kind, path, wanted, before, now, outcome, error,"
            " at_wall_ns) SELECT ?1, coalesce(max(seq) + 1, 0), nullif(?2, 0), ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
            " ?10 FROM control WHERE session_id = ?1",
            err))
        return false;
    qs_stmt_int(&s, session);
    qs_stmt_int(&s, run);
    qs_stmt_text(&s, row->restore ? "restore" : "set");
    qs_stmt_text(&s, row->path);
    qs_stmt_text(&s, row->wanted);
    qs_stmt_text(&s, row->before);
    qs_stmt_text(&s, row->after);
    qs_stmt_text(&s, row->outcome);
    qs_stmt_int(&s, row->error);
    qs_stmt_int(&s, row->at_wall_ns);
    return qs_stmt_run(&s, err);
}

static bool apply_control(struct qs_db *db, const void *at, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_control_rows *rows = at;
    int64_t session = 0, run = 0;
    (void)ret_id;
    if (!qs_find_session(db, rows->session_uid, &session, err) ||
        (rows->run_uid && !qs_find_run(db, rows->run_uid, &run, err)))
        return false;
    for (size_t i = 0; i < rows->count; i++)
        if (!insert(db, session, run, &rows->rows[i], err))
            return false;
    return true;
}

void qs_store_control(struct qs_store *store, const struct qs_control_rows *rows, qs_store_done_fn *done,
                      void *user)
{
    struct qs_request *req = qs_request_new(apply_control, done, user);
    struct qs_arena *a = &req->arena;
    struct qs_control_row *copies = qs_arena_copy(a, rows->rows, rows->count * sizeof *copies);
    for (size_t i = 0; i < rows->count; i++) {
        copies[i].path = qs_arena_text(a, copies[i].path);
        copies[i].wanted = qs_arena_text(a, copies[i].wanted);
        copies[i].before = qs_arena_text(a, copies[i].before);
        copies[i].after = qs_arena_text(a, copies[i].after);
        copies[i].outcome = qs_arena_text(a, copies[i].outcome);
    }
    const struct qs_control_rows row = {.session_uid = qs_arena_copy(a, rows->session_uid, 16),
                                        .run_uid = rows->run_uid ? qs_arena_copy(a, rows->run_uid, 16) : NULL,
                                        .rows = copies,
                                        .count = rows->count};
    req->row = qs_arena_copy(a, &row, sizeof row);
    qs_store_enqueue(store, req);
}

/* ---- reading ---- */

bool qs_read_board(struct qs_store_reader *r, const char *device, struct qs_board_info *ret,
                   struct qs_err *err)
{
    struct qs_stmt s;
    bool found = false;
    *ret = (struct qs_board_info){0};
    if (!qs_stmt_begin(&r->db, &s,
                       "SELECT fingerprint, board, probed_wall_ns FROM device_board"
                       " WHERE device_id = (SELECT id FROM device WHERE name = ?)"
                       " ORDER BY probed_wall_ns DESC, rowid DESC LIMIT 1",
                       err))
        return false;
    qs_stmt_text(&s, device);
    bool ok = qs_stmt_step(&s, &found, err);
    if (found) {
        ret->fingerprint = qs_stmt_dup_text(&s);
        ret->json = qs_stmt_dup_text(&s);
        ret->probed_wall_ns = qs_stmt_get_int(&s);
    }
    qs_stmt_end(&s);
    return ok;
}

void qs_board_info_free(struct qs_board_info *board)
{
    free(board->fingerprint);
    free(board->json);
    *board = (struct qs_board_info){0};
}

static void take(struct qs_stmt *s, struct qs_control_info *c)
{
    c->seq = (uint32_t)qs_stmt_get_int(s);
    c->of_run = qs_stmt_get_blob(s, c->run_uid, sizeof c->run_uid);
    c->row.restore = qs_stmt_get_int(s) != 0;
    c->row.path = qs_stmt_get_text(s);
    c->row.wanted = qs_stmt_get_text(s);
    c->row.before = qs_stmt_get_text(s);
    c->row.after = qs_stmt_get_text(s);
    c->row.outcome = qs_stmt_get_text(s);
    c->row.error = (int32_t)qs_stmt_get_int(s);
    c->row.at_wall_ns = qs_stmt_get_int(s);
}

bool qs_read_control(struct qs_store_reader *r, const uint8_t session_uid[16], qs_control_fn *fn, void *user,
                     struct qs_err *err)
{
    struct qs_stmt s;
    int64_t session = 0;
    if (!qs_find_session(&r->db, session_uid, &session, err) ||
        !qs_stmt_begin(&r->db, &s,
                       "SELECT c.seq, r.uid, c.kind = 'restore', c.path, c.wanted, c.before, c.now,"
                       " c.outcome, c.error, c.at_wall_ns FROM control c LEFT JOIN run r ON r.id = c.run_id"
                       " WHERE c.session_id = ? ORDER BY c.seq",
                       err))
        return false;
    qs_stmt_int(&s, session);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        struct qs_control_info control;
        take(&s, &control);
        fn(&control, user);
    }
    return ok;
}

bool qs_read_control_session(struct qs_store_reader *r, const char *device, struct qs_control_session *ret,
                             bool *ret_found, struct qs_err *err)
{
    struct qs_stmt s;
    *ret = (struct qs_control_session){0};
    *ret_found = false;
    if (!qs_stmt_begin(&r->db, &s,
                       "SELECT e.uid, e.job_id, e.started_wall_ns, e.ended_wall_ns FROM session e"
                       " JOIN boot b ON b.id = e.boot_id JOIN device d ON d.id = b.device_id"
                       " WHERE d.name = ? AND EXISTS (SELECT 1 FROM control c WHERE c.session_id = e.id)"
                       " ORDER BY e.id DESC LIMIT 1",
                       err))
        return false;
    qs_stmt_text(&s, device);
    bool ok = qs_stmt_step(&s, ret_found, err);
    if (*ret_found) {
        qs_stmt_get_blob(&s, ret->uid, sizeof ret->uid);
        ret->job = qs_stmt_get_int(&s);
        ret->started_wall_ns = qs_stmt_get_int(&s);
        ret->ended_wall_ns = qs_stmt_get_int(&s);
    }
    qs_stmt_end(&s);
    return ok;
}
