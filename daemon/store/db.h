/* SQLite behind a few calls: a connection with its kept statements, binding and reading by position, errors
 * with the right blame. Internal to store. One connection is used by one thread at a time; who that is, is
 * settled in store.c. */
#ifndef QS_STORE_DB_H
#define QS_STORE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { QS_DB_STATEMENTS_MAX = 96 };

struct qs_db {
    sqlite3 *sqlite; /* owned; NULL: closed */
    bool broken;     /* the disk, the file or memory failed: nothing more is tried on this connection */
    size_t open;     /* statements between begin and end */
    size_t kept;
    struct {
        const char *sql; /* key: the address of a literal */
        sqlite3_stmt *raw;
    } keep[QS_DB_STATEMENTS_MAX];
};

/* Read-write: WAL, synchronous=FULL, foreign keys, no automatic checkpoint. Read-only: query_only as well.
 * Neither checkpoints on close. The file exists already. */
bool qs_db_open(struct qs_db *db, const char *path, bool read_only, struct qs_err *err);
void qs_db_close(struct qs_db *db);
/* Statements without results. */
bool qs_db_exec(struct qs_db *db, const char *sql, struct qs_err *err);
/* The first column of the first row of a pragma or query, which has one. */
bool qs_db_number(struct qs_db *db, const char *sql, int64_t *ret, struct qs_err *err);
/* Says what SQLite said. QS_E_CONFLICT for a constraint, QS_E_LIMIT for what is too big, QS_E_STORE (and
 * broken) for the disk, the file and memory, else QS_E_INTERNAL. */
bool qs_db_fail(struct qs_db *db, int rc, struct qs_err *err);

/* A kept statement, from begin to end; sql is a literal. Parameters are bound and columns are read in order,
 * left to right. Whoever hands the connection on has ended all. Texts and blobs are borrowed until end; so
 * are those that come out until the next step. */
struct qs_stmt {
    struct qs_db *db; /* borrowed */
    sqlite3_stmt *raw;
    int param, column;
};

bool qs_stmt_begin(struct qs_db *db, struct qs_stmt *s, const char *sql, struct qs_err *err);
void qs_stmt_end(struct qs_stmt *s);
void qs_stmt_int(struct qs_stmt *s, int64_t v);
void qs_stmt_text(struct qs_stmt *s, const char *v);               /* NULL binds NULL */
void qs_stmt_blob(struct qs_stmt *s, const void *v, size_t bytes); /* NULL binds NULL */
void qs_stmt_null(struct qs_stmt *s);
void qs_stmt_double(struct qs_stmt *s, double v); /* NaN binds NULL */
/* One step: *ret_row says whether there is a row. */
bool qs_stmt_step(struct qs_stmt *s, bool *ret_row, struct qs_err *err);
/* For loops: is there one more row? At the end, and where a step fails (*ret_ok is false then), it ends the
 * statement; who leaves the loop before does that himself. */
bool qs_stmt_next(struct qs_stmt *s, bool *ret_ok, struct qs_err *err);
/* Steps a statement that gives no rows, then ends it. */
bool qs_stmt_run(struct qs_stmt *s, struct qs_err *err);

int64_t qs_stmt_get_int(struct qs_stmt *s);              /* NULL reads as 0 */
bool qs_stmt_get_maybe(struct qs_stmt *s, int64_t *ret); /* false: it was NULL, *ret untouched */
double qs_stmt_get_double(struct qs_stmt *s);            /* NULL reads as NaN */
const char *qs_stmt_get_text(struct qs_stmt *s);         /* NULL stays NULL */
char *qs_stmt_dup_text(struct qs_stmt *s);               /* owned copy, or NULL */
/* Copies exactly `bytes`; false (out zeroed) where it is NULL or of another length. */
bool qs_stmt_get_blob(struct qs_stmt *s, void *out, size_t bytes);

#endif
