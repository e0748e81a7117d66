/* Numbered, forward-only migrations. Internal to store and its tests. */
#ifndef QS_STORE_MIGRATE_H
#define QS_STORE_MIGRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct qs_db;

struct qs_migration {
    const char *name; /* "0001_init.sql" */
    const char *sql;
};

/* Made from schema/NNNN_*.sql at build time; migration k brings a database to version k + 1. */
extern const struct qs_migration qs_migrations[];
extern const size_t qs_migration_count;

enum { QS_STORE_APPLICATION_ID = 0x51534345 /* "QSCE" */ };

/* Reads the first 100 bytes of the file ("The Database Header", sqlite.org/fileformat2.html, section 1.3)
 * without SQLite, so that a file that is refused is not touched. An empty or missing file is fine.
 * QS_E_STORE: no database, or another application's; QS_E_STORE_NEWER: its version is above `known`. */
bool qs_migrate_check_file(const char *path, int known, struct qs_err *err);
/* Whether the database, which exists, is older than `count` migrations make it. Writes nothing. QS_E_STORE,
 * QS_E_STORE_NEWER: as above, and what only the log beside it can tell. */
bool qs_migrate_is_due(const char *path, size_t count, bool *ret_due, struct qs_err *err);
/* Applies what is missing, each migration in one transaction together with user_version. A failed one is
 * rolled back whole: the database stays at the version before it. */
bool qs_migrate(struct qs_db *db, const struct qs_migration *list, size_t count, struct qs_err *err);

#endif
