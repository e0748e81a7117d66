#include "api/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/uri.h"
#include "base/folder.h"
#include "base/mem.h"

enum { BACKLOG = 1024 };

static bool fail_errno(struct qs_err *err, const char *what, const char *path)
{
    return qs_fail(err, errno == EACCES || errno == EPERM ? QS_E_DENIED : QS_E_IO, "cannot %s %s: %s", what,
                   path, strerror(errno));
}

static bool prepare_folder(const char *path, struct qs_err *err)
{
    QS_FREED char *folder = qs_folder_of(path);
    return qs_folder_make(folder, err) && qs_folder_check(folder, 0022, "no socket is made in it", err);
}

/* Held as long as the daemon listens, so that two that start at once cannot remove each other's socket. */
static bool take_lock(struct qs_listen *l, struct qs_err *err)
{
    QS_FREED char *path = qs_asprintf("%s.lock", l->path);
    bool ok = false;
    l->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (l->lock_fd < 0)
        fail_errno(err, "open", path);
    else if (flock(l->lock_fd, LOCK_EX | LOCK_NB) != 0)
        qs_fail(err, QS_E_SOCKET_PLACE, "another quiesced listens on %s", l->path);
    else
        ok = true;
    return ok;
}

static bool answers(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool somebody =
        fd >= 0 && (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 || errno == EAGAIN);
    if (fd >= 0)
        close(fd);
    return somebody;
}

static bool remove_stale(const struct sockaddr_un *address, struct qs_err *err)
{
    struct stat st;
    if (lstat(address->sun_path, &st) != 0)
        return errno == ENOENT || fail_errno(err, "look at", address->sun_path);
    if (!S_ISSOCK(st.st_mode))
        return qs_fail(err, QS_E_SOCKET_PLACE, "%s exists and is not a socket: it is left alone",
                       address->sun_path);
    if (answers(address))
        return qs_fail(err, QS_E_SOCKET_PLACE, "another process listens on %s", address->sun_path);
    return unlink(address->sun_path) == 0 || fail_errno(err, "remove", address->sun_path);
}

static bool bind_and_listen(struct qs_listen *l, const struct sockaddr_un *address, struct qs_err *err)
{
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0)
        return fail_errno(err, "make a socket for", l->path);
    /* Before bind: the file is never there with wider permissions. */
    if (fchmod(l->fd, 0600) != 0 || bind(l->fd, (const struct sockaddr *)address, sizeof *address) != 0 ||
        chmod(l->path, 0600) != 0 || lstat(l->path, &l->made) != 0 || listen(l->fd, BACKLOG) != 0)
        return fail_errno(err, "listen on", l->path);
    return true;
}

bool qs_listen_path_fits(const char *path, struct qs_err *err)
{
    enum { MOST = sizeof((struct sockaddr_un *)0)->sun_path - 1 };
    return (*path && strlen(path) <= MOST) ||
           qs_fail(err, QS_E_USAGE, "a socket's path has 1 to %d bytes: `%.120s`", MOST, path);
}

/* "fd:3": whoever started us listens already. */
static bool adopt(const char *number, struct qs_listen *ret, struct qs_err *err)
{
    long long fd;
    int listens = 0;
    socklen_t bytes = sizeof listens;
    if (!qs_number_parse(number, 0, INT_MAX, &fd) ||
        getsockopt((int)fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) != 0 || !listens)
        return qs_fail(err, QS_E_USAGE, "fd:%.20s is not a descriptor of a listening socket", number);
    ret->fd = (int)fd;
    return (fcntl(ret->fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(ret->fd, F_SETFL, O_NONBLOCK) == 0) ||
           fail_errno(err, "set up descriptor", number);
}

char *qs_listen_contact(const char *path)
{
    char dir[PATH_MAX];
    if (path[0] == '/')
        return qs_strdup(path);
    if (strncmp(path, "fd:", 3) == 0 || !getcwd(dir, sizeof dir))
        return NULL;
    return qs_asprintf("%s/%s", dir, path);
}

bool qs_listen_open(const char *path, struct qs_listen *ret, struct qs_err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *ret = (struct qs_listen){.fd = -1, .lock_fd = -1};
    if (!qs_listen_path_fits(path, err))
        return false;
    if (strncmp(path, "fd:", 3) == 0)
        return adopt(path + 3, ret, err);
    memcpy(address.sun_path, path, strlen(path));
    ret->path = qs_strdup(path);
    if (prepare_folder(path, err) && take_lock(ret, err) && remove_stale(&address, err) &&
        bind_and_listen(ret, &address, err))
        return true;
    qs_listen_close(ret);
    return false;
}

void qs_listen_close(struct qs_listen *l)
{
    struct stat now;
    if (l->made.st_ino != 0 && lstat(l->path, &now) == 0 && now.st_ino == l->made.st_ino &&
        now.st_dev == l->made.st_dev)
        unlink(l->path);
    if (l->fd >= 0)
        close(l->fd);
    if (l->lock_fd >= 0)
        close(l->lock_fd);
    free(l->path);
    *l = (struct qs_listen){.fd = -1, .lock_fd = -1};
}

bool qs_peer_uid(int fd, uid_t *ret_uid)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0)
        return false;
    *ret_uid = peer.uid;
    return true;
}

bool qs_peer_is_allowed(uid_t peer, uid_t self)
{
    return peer == self || peer == 0;
}
