/* An agent that listens on a Unix socket of this machine. The kernel tells who listens: an agent of another
 * account is refused, because it could report what it likes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "link/link_impl.h"

struct unix_own {
    char *path;     /* owned */
    char *key_file; /* owned, or NULL: nothing is proven */
};

static void *unix_new_own(const struct qs_farm_device *device)
{
    struct unix_own *own = qs_calloc(1, sizeof *own);
    own->path = qs_strdup(device->address ? device->address : "");
    own->key_file = qs_strdup(device->key_file);
    return own;
}

static void unix_free_own(void *user)
{
    struct unix_own *own = user;
    free(own->path);
    free(own->key_file);
    free(own);
}

static bool check_peer(int fd, const char *path, struct qs_err *err)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return qs_fail(err, QS_E_LINK, "cannot find out who listens on %s: %s", path, strerror(errno));
    if (peer.uid != geteuid() && peer.uid != 0)
        return qs_fail(err, QS_E_AUTH, "the agent on %s runs as user %ld; only root and user %ld are trusted",
                       path, (long)peer.uid, (long)geteuid());
    return true;
}

static bool unix_open(struct qs_link *link, struct qs_err *err)
{
    const struct unix_own *own = link->own;
    const char *path = own->path;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (path[0] == '\0' || strlen(path) >= sizeof address.sun_path)
        return qs_fail(err, QS_E_CONFIG, "%s: a Unix socket's path has 1 to %zu bytes, \"%s\" has %zu",
                       link->name, sizeof address.sun_path - 1, path, strlen(path));
    if (own->key_file && !qs_link_read_key(link, own->key_file, err))
        return false;
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return qs_fail(err, QS_E_RESOURCE, "cannot make a socket: %s", strerror(errno));
    /* A Unix connection stands or fails at once. */
    bool ok = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    if (!ok)
        qs_fail(err, QS_E_LINK, "cannot connect to the agent on %s: %s", path, strerror(errno));
    ok = ok && check_peer(fd, path, err);
    if (!ok) {
        close(fd);
        return false;
    }
    return qs_link_stream_open(link, fd, false, err);
}

const struct qs_link_ops qs_link_unix_ops = {
    .new_own = unix_new_own,
    .free_own = unix_free_own,
    .open = unix_open,
    .close = qs_link_stream_close,
    .send = qs_link_stream_send,
};
