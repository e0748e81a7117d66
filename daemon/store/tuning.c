#include "store/tuning.h"

#include <string.h>

#include "proto/auth.h"
#include "store/read/reader.h"
#include "store/write/write.h"

struct row {
    const char *depends_json;
    struct qs_tuning tuning;
};

static void maybe_int(struct qs_stmt *s, int64_t v)
{
    v > 0 ? qs_stmt_int(s, v) : qs_stmt_null(s);
}

static bool apply(struct qs_db *db, const void *at, int64_t *ret_id, struct qs_err *err)
{
    const struct row *row = at;
    const struct qs_tuning *t = &row->tuning;
    uint8_t key[QS_SHA256_BYTES];
    struct qs_stmt s;
    int64_t run = 0;
    (void)ret_id;
    qs_sha256(row->depends_json, strlen(row->depends_json), key);
    if (!qs_find_run(db, t->run_uid, &run, err) ||
        !qs_stmt_begin(
            db, &s,
            "INSERT OR REPLACE INTO tuning(key, depends, run_id, oracle, precision_ns, accuracy_ns,"
            " tries, evaluation_ps, table_evals, logistic_evals, evals, found_wall_ns)"
            " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            err))
        return false;
    qs_stmt_blob(&s, key, sizeof key);
    qs_stmt_text(&s, row->depends_json);
    qs_stmt_int(&s, run);
    qs_stmt_text(&s, t->logistic ? "logistic" : "table");
    maybe_int(&s, t->precision_ns);
    maybe_int(&s, t->accuracy_ns);
    qs_stmt_int(&s, t->tries);
    qs_stmt_int(&s, t->evaluation_ps);
    qs_stmt_int(&s, t->table_evals);
    qs_stmt_int(&s, t->logistic_evals);
    qs_stmt_int(&s, t->evals);
    qs_stmt_int(&s, t->found_wall_ns);
    return qs_stmt_run(&s, err);
}

void qs_store_tuning(struct qs_store *store, const char *depends_json, const struct qs_tuning *tuning,
                     qs_store_done_fn *done, void *user)
{
    struct qs_request *req = qs_request_new(apply, done, user);
    const struct row row = {.depends_json = qs_arena_text(&req->arena, depends_json), .tuning = *tuning};
    req->row = qs_arena_copy(&req->arena, &row, sizeof row);
    qs_store_enqueue(store, req);
}

static void take(struct qs_stmt *s, struct qs_tuning *t)
{
    qs_stmt_get_blob(s, t->run_uid, sizeof t->run_uid);
    t->logistic = qs_stmt_get_int(s) != 0;
    t->precision_ns = qs_stmt_get_int(s);
    t->accuracy_ns = qs_stmt_get_int(s);
    t->tries = (uint32_t)qs_stmt_get_int(s);
    t->evaluation_ps = qs_stmt_get_int(s);
    t->table_evals = (uint32_t)qs_stmt_get_int(s);
    t->logistic_evals = (uint32_t)qs_stmt_get_int(s);
    t->evals = (uint32_t)qs_stmt_get_int(s);
    t->found_wall_ns = qs_stmt_get_int(s);
}

bool qs_read_tuning(struct qs_store_reader *r, const char *depends_json, struct qs_tuning *ret,
                    bool *ret_found, struct qs_err *err)
{
    uint8_t key[QS_SHA256_BYTES];
    struct qs_stmt s;
    *ret = (struct qs_tuning){.evals = 0};
    *ret_found = false;
    qs_sha256(depends_json, strlen(depends_json), key);
    if (!qs_stmt_begin(&r->db, &s,
                       "SELECT r.uid, t.oracle = 'logistic', t.precision_ns, t.accuracy_ns, t.tries,"
                       " t.evaluation_ps, t.table_evals, t.logistic_evals, t.evals, t.found_wall_ns"
                       " FROM tuning t JOIN run r ON r.id = t.run_id WHERE t.key = ?",
                       err))
        return false;
    qs_stmt_blob(&s, key, sizeof key);
    bool ok = qs_stmt_step(&s, ret_found, err);
    if (*ret_found)
        take(&s, ret);
    qs_stmt_end(&s);
    return ok;
}
