/* The Unix socket that the API listens on: made for its owner alone, and known by a lock as in use. */
#ifndef QS_API_SOCKET_H
#define QS_API_SOCKET_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"

struct qs_listen {
    int fd, lock_fd;  /* owned; -1 = none */
    char *path;       /* owned */
    struct stat made; /* the socket as it was made: only that one is removed */
};

/* QS_E_USAGE where it is too long for the kernel. */
bool qs_listen_path_fits(const char *path, struct qs_err *err);
/* Makes the folder (0700) where it is missing, refuses one that others may write to, takes PATH.lock, removes
 * a socket that nobody answers on, binds (0600) and listens, non-blocking. Errors as qs_api_start. "fd:N" is
 * an inherited descriptor that listens already; QS_E_USAGE where it does not. */
bool qs_listen_open(const char *path, struct qs_listen *ret, struct qs_err *err);
/* Where others reach it: an absolute path, owned by the caller; NULL for "fd:N". */
char *qs_listen_contact(const char *path);
/* Closes the descriptors (the listening one was given away where fd is -1) and removes the socket. */
void qs_listen_close(struct qs_listen *listen);

/* Whom a connected peer's process belongs to, as it was when it connected. */
bool qs_peer_uid(int fd, uid_t *ret_uid);
/* The same user, and root. */
bool qs_peer_is_allowed(uid_t peer, uid_t self);

#endif
