#include "store/migrate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/db.h"

enum { HEADER_BYTES = 100, SCHEMA_COOKIE_AT = 40, USER_VERSION_AT = 60, APPLICATION_ID_AT = 68 };

static int64_t big_endian_32(const unsigned char *p)
{
    return ((int64_t)p[0] << 24) | ((int64_t)p[1] << 16) | ((int64_t)p[2] << 8) | p[3];
}

static bool newer(int64_t version, int known, struct qs_err *err)
{
    return qs_fail(
        err, QS_E_STORE_NEWER,
        "the database has version %lld, and this quiesced knows versions up to %d; it was left untouched",
        (long long)version, known);
}

static bool check_header(const unsigned char *header, ssize_t got, int known, struct qs_err *err)
{
    if (got == 0)
        return true;
    if (got < HEADER_BYTES || memcmp(header, "SQLite format 3", 16) != 0)
        return qs_fail(err, QS_E_STORE, "this file is not a database; it was left untouched");
    int64_t application = big_endian_32(header + APPLICATION_ID_AT);
    int64_t version = big_endian_32(header + USER_VERSION_AT);
    /* A database that was made but whose version 1 is still in the WAL, or was cut short, has neither of the
     * three yet. */
    bool fresh = application == 0 && version == 0 && big_endian_32(header + SCHEMA_COOKIE_AT) == 0;
    if (application != QS_STORE_APPLICATION_ID && !fresh)
        return qs_fail(err, QS_E_STORE,
                       "this database belongs to another application (id 0x%08llx); it was left untouched",
                       (unsigned long long)application);
    return version <= known || newer(version, known, err);
}

bool qs_migrate_check_file(const char *path, int known, struct qs_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT || qs_fail(err, QS_E_STORE, "%s: %s", path, strerror(errno));
    unsigned char header[HEADER_BYTES];
    ssize_t got = read(fd, header, sizeof header);
    close(fd);
    if (got < 0)
        return qs_fail(err, QS_E_STORE, "%s: %s", path, strerror(errno));
    return check_header(header, got, known, err) || qs_fail_prefix(err, "%s", path);
}

/* What the header cannot tell, because it may be in the WAL: an id or a version, or tables of somebody who
 * sets no id. */
static bool check_database(struct qs_db *db, int known, int64_t *ret_version, struct qs_err *err)
{
    int64_t application = 0, tables = 0;
    if (!qs_db_number(db, "PRAGMA user_version", ret_version, err) ||
        !qs_db_number(db, "PRAGMA application_id", &application, err) ||
        !qs_db_number(db, "SELECT count(*) FROM sqlite_master", &tables, err))
        return false;
    bool fresh = application == 0 && *ret_version == 0 && tables == 0;
    if ((application != QS_STORE_APPLICATION_ID && !fresh) || *ret_version < 0)
        return qs_fail(err, QS_E_STORE,
                       "this database belongs to another application; it was left untouched");
    return *ret_version <= known || newer(*ret_version, known, err);
}

static bool apply(struct qs_db *db, const struct qs_migration *m, int version, struct qs_err *err)
{
    char pragmas[128];
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id=%d; PRAGMA user_version=%d",
             QS_STORE_APPLICATION_ID, version);
    if (qs_db_exec(db, "BEGIN IMMEDIATE", err) && qs_db_exec(db, m->sql, err) &&
        qs_db_exec(db, pragmas, err) && qs_db_exec(db, "COMMIT", err))
        return true;
    sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
    if (err)
        err->code = QS_E_STORE;
    return qs_fail_prefix(err, "migration %s failed and was rolled back", m->name);
}

bool qs_migrate_is_due(const char *path, size_t count, bool *ret_due, struct qs_err *err)
{
    struct qs_db db;
    int64_t version = 0;
    *ret_due = false;
    if (!qs_migrate_check_file(path, (int)count, err) || !qs_db_open(&db, path, true, err))
        return false;
    bool ok = check_database(&db, (int)count, &version, err) || qs_fail_prefix(err, "%s", path);
    *ret_due = ok && version < (int64_t)count;
    qs_db_close(&db);
    return ok;
}

bool qs_migrate(struct qs_db *db, const struct qs_migration *list, size_t count, struct qs_err *err)
{
    int64_t version = 0;
    if (!check_database(db, (int)count, &version, err))
        return false;
    for (size_t i = (size_t)version; i < count; i++)
        if (!apply(db, &list[i], (int)i + 1, err))
            return false;
    return true;
}
