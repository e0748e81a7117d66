/* Folders that files are made in: of a path, made where missing, and whether somebody else could exchange
 * what lies there. */
#ifndef QS_BASE_FOLDER_H
#define QS_BASE_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* The folder that `path` lies in, owned by the caller: "." for a bare name. */
char *qs_folder_of(const char *path);

/* Where a person's data are without any configuration, by the XDG base directories: quiesce below
 * XDG_STATE_HOME, else below .local/state of HOME, or of the home that the system knows for this user. Owned
 * by the caller; NULL where there is none of them. env: getenv, or a test's. */
char *qs_folder_of_state(char *(*env)(const char *name));

/* Makes it and every missing one above it, 0700, each name synced to disk. QS_E_IO, QS_E_STORE where the disk
 * is full, QS_E_CONFLICT where one of them is a file. */
bool qs_folder_make(const char *path, struct qs_err *err);

/* A new name is on disk once its folder has been synced. QS_E_IO, QS_E_STORE where the disk is full. */
bool qs_folder_sync(const char *path, struct qs_err *err);

/* Whoever may rename in a folder can put something else there. It belongs to us or to root and has no bit of
 * `writable` (0002: others; 0022: the group as well) unless it is sticky. `so` ends the sentence: what is not
 * done because of it. QS_E_IO, QS_E_CONFLICT (no folder), QS_E_DENIED. */
bool qs_folder_check(const char *path, mode_t writable, const char *so, struct qs_err *err);

#endif
