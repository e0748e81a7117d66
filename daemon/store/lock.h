/* One process per database, whatever name it goes by. Internal to store.
 *
 * Links are resolved first, so that all names of one file meet at one lock file beside it, which is there for
 * as long as the store is open. A file with several hard links is refused: SQLite would keep a log for each
 * of its names. Then the database itself is locked by its inode, for names that no link tells of (a file
 * mounted elsewhere), on a byte that SQLite never locks and by open file description, because closing any
 * descriptor of the database drops SQLite's own locks: db_fd is closed after the last connection. */
#ifndef QS_STORE_LOCK_H
#define QS_STORE_LOCK_H

#include <stdbool.h>

#include "base/err.h"

/* How long a lock is waited for whose owner has died: a child of it between fork and exec has it still. */
enum { QS_LOCK_PATIENCE_MS = 5000 };

struct qs_lock {
    char *db_path; /* owned: absolute, without links; what SQLite opens */
    char *path;    /* owned: the lock file */
    int fd;        /* of the lock file */
    int db_fd;     /* of the database */
    bool made;     /* the database was not there: it is an empty file now, 0600 */
};

/* QS_E_STORE: another process has it, and which; or the disk. QS_E_STORE_PLACE: the file, its lock file or
 * its log is a link, has several names or belongs to another user, or anybody may exchange it. Nothing is
 * written into what is refused. The lock file then says who the owner is and where it can be asked: contact,
 * one line, or NULL (qs_store_contact reads it). */
bool qs_lock_take(const char *db_path, const char *contact, int patience_ms, struct qs_lock *ret,
                  struct qs_err *err);
/* Locks the database by its inode, making it where it is missing. */
bool qs_lock_database(struct qs_lock *lock, struct qs_err *err);
/* The file that SQLite opened by its name is the one that was locked. */
bool qs_lock_is_same(const struct qs_lock *lock, struct qs_err *err);
/* After the last connection was closed. */
void qs_lock_drop(struct qs_lock *lock);

#endif
