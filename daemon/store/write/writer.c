#include "store/write/writer.h"

#include <assert.h>

#include "store/write/bulk.h"

enum { BUSY_MS = 5000 };

static int on_wal(void *user, sqlite3 *sqlite, const char *name, int pages)
{
    (void)sqlite;
    (void)name;
    ((struct qs_store_writer *)user)->wal_pages = pages;
    return SQLITE_OK;
}

/* False where the disk failed. A reader that is in the way is no failure. */
static bool checkpoint(struct qs_store_writer *w, int mode, struct qs_err *err)
{
    sqlite3_busy_timeout(w->db.sqlite, 0);
    int rc = sqlite3_wal_checkpoint_v2(w->db.sqlite, NULL, mode, NULL, NULL);
    sqlite3_busy_timeout(w->db.sqlite, BUSY_MS);
    if (rc == SQLITE_OK && mode == SQLITE_CHECKPOINT_TRUNCATE)
        w->wal_pages = 0;
    if ((rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED)
        return true;
    return rc == SQLITE_OK || qs_db_fail(&w->db, rc, err);
}

bool qs_store_writer_tidy(struct qs_store_writer *w, struct qs_err *err)
{
    if (!w->db.sqlite) /* the next commit opens it, and begins with an empty log */
        return true;
    bool ok = checkpoint(w, SQLITE_CHECKPOINT_TRUNCATE, err);
    w->blocked = w->wal_pages >= w->truncate_pages;
    return ok;
}

/* Above the bound each attempt costs time in proportion to the log: the store makes one a second. */
static bool bound_wal(struct qs_store_writer *w, struct qs_err *err)
{
    if (w->wal_pages < QS_WAL_CHECKPOINT_PAGES || w->blocked)
        return true;
    return w->wal_pages >= w->truncate_pages ? qs_store_writer_tidy(w, err)
                                             : checkpoint(w, SQLITE_CHECKPOINT_PASSIVE, err);
}

bool qs_store_writer_open(struct qs_store_writer *w, const char *path, const struct qs_migration *list,
                          size_t count, struct qs_err *err)
{
    *w = (struct qs_store_writer){.path = path, .truncate_pages = QS_WAL_TRUNCATE_PAGES};
    if (!qs_db_open(&w->db, path, false, err))
        return false;
    bool ok = qs_bulk_add(&w->db, err) && qs_migrate(&w->db, list, count, err);
    if (ok) {
        sqlite3_wal_hook(w->db.sqlite, on_wal, w);
        ok = checkpoint(w, SQLITE_CHECKPOINT_TRUNCATE, err);
    }
    if (!ok) {
        qs_fail_prefix(err, "%s", path);
        qs_db_close(&w->db);
    }
    return ok;
}

void qs_store_writer_close(struct qs_store_writer *w)
{
    if (w->db.sqlite && !w->db.broken)
        checkpoint(w, SQLITE_CHECKPOINT_TRUNCATE, NULL);
    qs_db_close(&w->db);
}

/* After trouble the kernel may hold pages that never reached the disk and call them clean. A checkpoint
 * writes everything anew into the database and syncs that; before it has succeeded nothing is believed to be
 * stored. Nothing may follow in a log of which a part may be missing, so whoever keeps a transaction open is
 * waited for, BUSY_MS at each attempt. */
static bool reopen(struct qs_store_writer *w, struct qs_err *err)
{
    qs_db_close(&w->db);
    w->wal_pages = 0;
    w->blocked = false;
    if (!w->path)
        return qs_fail(err, QS_E_STORE, "this database was opened read-only");
    if (!qs_db_open(&w->db, w->path, false, err))
        return false;
    if (!qs_bulk_add(&w->db, err)) {
        qs_db_close(&w->db);
        return false;
    }
    sqlite3_wal_hook(w->db.sqlite, on_wal, w);
    int rc = sqlite3_wal_checkpoint_v2(w->db.sqlite, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    if (rc == SQLITE_OK)
        return true;
    if ((rc & 0xff) == SQLITE_BUSY)
        qs_fail(err, QS_E_STORE,
                "nothing is stored until the log can be restarted, and somebody keeps a transaction open on "
                "it (`lsof %s-wal` shows who)",
                w->path);
    else
        qs_db_fail(&w->db, rc, err);
    qs_db_close(&w->db);
    return qs_fail_prefix(err, "%s: after the last failure", w->path);
}

/* False: trouble, the group is lost. */
static bool apply_one(struct qs_store_writer *w, struct qs_request *req, struct qs_err *trouble)
{
    if (!qs_db_exec(&w->db, "SAVEPOINT request", trouble))
        return false;
    req->err = QS_ERR_INIT;
    req->ok = req->apply(&w->db, req->row, &req->id, &req->err);
    assert(w->db.open == 0);
    if (w->db.broken) {
        *trouble = req->err;
        return false;
    }
    return qs_db_exec(&w->db, req->ok ? "RELEASE request" : "ROLLBACK TO request; RELEASE request", trouble);
}

static void fail_group(struct qs_request *group, const struct qs_err *trouble)
{
    for (struct qs_request *req = group; req; req = req->next) {
        req->ok = false;
        req->err = *trouble;
        req->err.code = QS_E_STORE;
    }
}

bool qs_store_writer_commit(struct qs_store_writer *w, struct qs_request *group, struct qs_err *ret_trouble)
{
    *ret_trouble = QS_ERR_INIT;
    assert(!w->db.sqlite || sqlite3_get_autocommit(w->db.sqlite)); /* the last group is whole, or gone */
    bool ok = w->db.sqlite || reopen(w, ret_trouble);
    ok = ok && qs_db_exec(&w->db, "BEGIN IMMEDIATE", ret_trouble);
    for (struct qs_request *req = group; ok && req; req = req->next)
        ok = apply_one(w, req, ret_trouble);
    ok = ok && qs_db_exec(&w->db, "COMMIT", ret_trouble);
    if (!ok)
        fail_group(group, ret_trouble);
    else
        ok = bound_wal(w, ret_trouble);
    if (!ok && w->db.sqlite && (w->db.broken || !sqlite3_get_autocommit(w->db.sqlite)))
        qs_db_close(&w->db);
    return ok;
}
