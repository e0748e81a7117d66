/* One process per database: a lock file beside it, locked for as long as the store is open, gone afterwards.
 * Internal to store. The database itself is not locked this way: closing any descriptor of it would drop
 * SQLite's own locks. */
#ifndef QS_STORE_LOCK_H
#define QS_STORE_LOCK_H

#include <stdbool.h>

#include "base/err.h"

/* *ret_fd stays open until qs_lock_drop. QS_E_STORE names the process that has it. */
bool qs_lock_take(const char *db_path, int *ret_fd, struct qs_err *err);
void qs_lock_drop(const char *db_path, int fd);

#endif
