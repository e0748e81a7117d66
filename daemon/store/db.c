#include "store/db.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

enum { BUSY_MS = 5000 };

static bool is_trouble(int rc)
{
    static const int codes[] = {SQLITE_IOERR, SQLITE_FULL,     SQLITE_CORRUPT,  SQLITE_NOTADB,
                                SQLITE_NOMEM, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PROTOCOL,
                                SQLITE_BUSY,  SQLITE_PERM};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if ((rc & 0xff) == codes[i])
            return true;
    return false;
}

bool qs_db_fail(struct qs_db *db, int rc, struct qs_err *err)
{
    const char *said = db->sqlite ? sqlite3_errmsg(db->sqlite) : sqlite3_errstr(rc);
    if (is_trouble(rc)) {
        db->broken = true;
        return qs_fail(err, QS_E_STORE, "database: %s (code %d)", said, rc);
    }
    if ((rc & 0xff) == SQLITE_CONSTRAINT)
        return qs_fail(err, QS_E_CONFLICT, "does not fit what is stored: %s", said);
    if ((rc & 0xff) == SQLITE_TOOBIG)
        return qs_fail(err, QS_E_LIMIT, "too big to be stored: %s", said);
    return qs_fail(err, QS_E_INTERNAL, "database: %s (code %d)", said, rc);
}

bool qs_db_open(struct qs_db *db, const char *path, bool read_only, struct qs_err *err)
{
    *db = (struct qs_db){0};
    int flags = (read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_NOFOLLOW;
    int rc = sqlite3_open_v2(path, &db->sqlite, flags, NULL);
    bool ok = rc == SQLITE_OK || qs_db_fail(db, rc, err);
    /* Only the writer checkpoints: several checkpointing connections have met a WAL reset bug in this SQLite.
     */
    if (ok && sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) != SQLITE_OK)
        ok = qs_fail(err, QS_E_STORE, "this SQLite cannot close a database without a checkpoint");
    if (ok) {
        sqlite3_extended_result_codes(db->sqlite, 1);
        sqlite3_busy_timeout(db->sqlite, BUSY_MS);
        ok = qs_db_exec(db,
                        read_only
                            ? "PRAGMA query_only=1; PRAGMA wal_autocheckpoint=0; PRAGMA temp_store=MEMORY"
                            : "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
                              "PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit=67108864;"
                              "PRAGMA temp_store=MEMORY",
                        err);
    }
    if (!ok) {
        qs_fail_prefix(err, "%s", path);
        qs_db_close(db);
    }
    return ok;
}

void qs_db_close(struct qs_db *db)
{
    for (size_t i = 0; i < db->kept; i++)
        sqlite3_finalize(db->keep[i].raw);
    sqlite3_close(db->sqlite);
    *db = (struct qs_db){0};
}

bool qs_db_exec(struct qs_db *db, const char *sql, struct qs_err *err)
{
    int rc = sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK || qs_db_fail(db, rc, err);
}

bool qs_db_number(struct qs_db *db, const char *sql, int64_t *ret, struct qs_err *err)
{
    sqlite3_stmt *raw = NULL;
    int rc = sqlite3_prepare_v2(db->sqlite, sql, -1, &raw, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(raw);
    if (rc == SQLITE_ROW)
        *ret = sqlite3_column_int64(raw, 0);
    bool ok = rc == SQLITE_ROW || qs_db_fail(db, rc, err);
    sqlite3_finalize(raw);
    return ok;
}

static sqlite3_stmt *find_kept(const struct qs_db *db, const char *sql)
{
    for (size_t i = 0; i < db->kept; i++)
        if (db->keep[i].sql == sql)
            return db->keep[i].raw;
    return NULL;
}

static bool keep(struct qs_db *db, const char *sql, sqlite3_stmt **ret, struct qs_err *err)
{
    if (db->kept == QS_DB_STATEMENTS_MAX)
        return qs_fail(err, QS_E_INTERNAL, "more than %d kinds of statements", QS_DB_STATEMENTS_MAX);
    int rc = sqlite3_prepare_v3(db->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);
    if (rc != SQLITE_OK)
        return qs_db_fail(db, rc, err);
    db->keep[db->kept].sql = sql;
    db->keep[db->kept++].raw = *ret;
    return true;
}

bool qs_stmt_begin(struct qs_db *db, struct qs_stmt *s, const char *sql, struct qs_err *err)
{
    *s = (struct qs_stmt){.db = db, .raw = find_kept(db, sql)};
    if (!s->raw && !keep(db, sql, &s->raw, err))
        return false;
    db->open++;
    return true;
}

void qs_stmt_end(struct qs_stmt *s)
{
    if (!s->raw)
        return;
    sqlite3_reset(s->raw);
    sqlite3_clear_bindings(s->raw);
    s->raw = NULL;
    s->db->open--;
}

void qs_stmt_int(struct qs_stmt *s, int64_t v)
{
    sqlite3_bind_int64(s->raw, ++s->param, v);
}

void qs_stmt_text(struct qs_stmt *s, const char *v)
{
    sqlite3_bind_text(s->raw, ++s->param, v, -1, SQLITE_STATIC);
}

void qs_stmt_blob(struct qs_stmt *s, const void *v, size_t bytes)
{
    sqlite3_bind_blob64(s->raw, ++s->param, v, bytes, SQLITE_STATIC);
}

void qs_stmt_null(struct qs_stmt *s)
{
    sqlite3_bind_null(s->raw, ++s->param);
}

void qs_stmt_double(struct qs_stmt *s, double v)
{
    sqlite3_bind_double(s->raw, ++s->param, v);
}

bool qs_stmt_step(struct qs_stmt *s, bool *ret_row, struct qs_err *err)
{
    s->column = 0;
    int rc = sqlite3_step(s->raw);
    *ret_row = rc == SQLITE_ROW;
    return rc == SQLITE_ROW || rc == SQLITE_DONE || qs_db_fail(s->db, rc, err);
}

bool qs_stmt_next(struct qs_stmt *s, bool *ret_ok, struct qs_err *err)
{
    bool row = false;
    *ret_ok = qs_stmt_step(s, &row, err);
    if (!row)
        qs_stmt_end(s);
    return row;
}

bool qs_stmt_run(struct qs_stmt *s, struct qs_err *err)
{
    int rc = sqlite3_step(s->raw);
    bool ok = rc == SQLITE_DONE || rc == SQLITE_ROW || qs_db_fail(s->db, rc, err);
    qs_stmt_end(s);
    return ok;
}

int64_t qs_stmt_get_int(struct qs_stmt *s)
{
    return sqlite3_column_int64(s->raw, s->column++);
}

bool qs_stmt_get_maybe(struct qs_stmt *s, int64_t *ret)
{
    int at = s->column++;
    if (sqlite3_column_type(s->raw, at) == SQLITE_NULL)
        return false;
    *ret = sqlite3_column_int64(s->raw, at);
    return true;
}

double qs_stmt_get_double(struct qs_stmt *s)
{
    int at = s->column++;
    return sqlite3_column_type(s->raw, at) == SQLITE_NULL ? NAN : sqlite3_column_double(s->raw, at);
}

const char *qs_stmt_get_text(struct qs_stmt *s)
{
    return (const char *)sqlite3_column_text(s->raw, s->column++);
}

char *qs_stmt_dup_text(struct qs_stmt *s)
{
    return qs_strdup(qs_stmt_get_text(s));
}

bool qs_stmt_get_blob(struct qs_stmt *s, void *out, size_t bytes)
{
    int at = s->column++;
    const void *blob = sqlite3_column_blob(s->raw, at);
    if (!blob || (size_t)sqlite3_column_bytes(s->raw, at) != bytes) {
        memset(out, 0, bytes);
        return false;
    }
    memcpy(out, blob, bytes);
    return true;
}
