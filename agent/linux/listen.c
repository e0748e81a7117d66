/* Opening the agent's door, and the key to it. */
#include "linux/link.h"

#include "core/print.h"
#include "linux/io.h"
#include "linux/tls/tls.h"
#include "proto/limits.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 8, KEY_MIN_BYTES = 32 };

static bool fail(char *error, const char *what, const char *arg, const char *why)
{
    qs_print(error, QS_LINK_ERROR_BYTES, "%s '%.150s': %s", what, arg, why);
    return false;
}

/* A socket file that nobody listens on any more is a leftover; one that answers belongs to another agent. */
static bool clear_leftover(const struct sockaddr_un *address, char *error)
{
    struct stat st;
    if (lstat(address->sun_path, &st) != 0) {
        return true;
    }
    if (!S_ISSOCK(st.st_mode)) {
        return fail(error, "cannot listen on", address->sun_path,
                    "something that is not a socket is there; choose another path");
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool answers = fd >= 0 && (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ||
                               errno == EAGAIN); /* its queue is full: it measures */
    qs_io_close(&fd);
    if (answers) {
        return fail(error, "cannot listen on", address->sun_path,
                    "another agent listens there; one agent measures on a machine");
    }
    unlink(address->sun_path);
    return true;
}

static bool listen_unix(struct qs_link *link, const char *path, char *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    link->kind = QS_LINK_UNIX;
    if (path[0] == '\0' || strlen(path) >= sizeof address.sun_path) {
        return fail(error, "cannot listen on", path, "a socket's path has 1 to 107 bytes");
    }
    qs_print(address.sun_path, sizeof address.sun_path, "%s", path);
    qs_print(link->path, sizeof link->path, "%s", path);
    if (!clear_leftover(&address, error)) {
        return false;
    }
    mode_t mask = umask(0177);
    link->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool ok = link->listen_fd >= 0 &&
              bind(link->listen_fd, (struct sockaddr *)&address, sizeof address) == 0 &&
              listen(link->listen_fd, BACKLOG) == 0;
    umask(mask);
    return ok || fail(error, "cannot listen on", path, strerror(errno));
}

/* Of the kernel's own names, which no file stands for: adb reaches those. */
static bool listen_abstract(struct qs_link *link, const char *name, char *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t n = strlen(name);
    link->kind = QS_LINK_UNIX;
    link->relayed = true;
    if (n == 0 || n >= sizeof address.sun_path) {
        return fail(error, "cannot listen on", name, "a socket's name has 1 to 107 bytes");
    }
    memcpy(address.sun_path + 1, name, n);
    link->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool ok = link->listen_fd >= 0 &&
              bind(link->listen_fd, (struct sockaddr *)&address,
                   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) == 0 &&
              listen(link->listen_fd, BACKLOG) == 0;
    return ok ||
           fail(error, "cannot listen on", name,
                errno == EADDRINUSE ? "another process has this name; choose another one" : strerror(errno));
}

/* "127.0.0.1:9000" or "[::1]:9000" into an address. */
static bool parse_tcp(const char *text, struct sockaddr_storage *address, socklen_t *n)
{
    char host[64];
    const char *colon = strrchr(text, ':');
    char *end;
    if (!colon || colon == text) {
        return false;
    }
    long port = strtol(colon + 1, &end, 10);
    if (*end != '\0' || end == colon + 1 || port < 0 || port > 65535) {
        return false;
    }
    bool six = text[0] == '[' && colon[-1] == ']';
    qs_print(host, sizeof host, "%.*s", (int)(colon - text) - 2 * six, text + six);
    memset(address, 0, sizeof *address);
    if (six) {
        struct sockaddr_in6 *a = (struct sockaddr_in6 *)address;
        a->sin6_family = AF_INET6;
        a->sin6_port = htons((uint16_t)port);
        *n = sizeof *a;
        return inet_pton(AF_INET6, host, &a->sin6_addr) == 1;
    }
    struct sockaddr_in *a = (struct sockaddr_in *)address;
    a->sin_family = AF_INET;
    a->sin_port = htons((uint16_t)port);
    *n = sizeof *a;
    return inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &a->sin_addr) == 1;
}

static bool listen_tcp(struct qs_link *link, const char *text, char *error)
{
    struct sockaddr_storage address;
    socklen_t n;
    const int one = 1;
    link->kind = QS_LINK_TCP;
    if (!qs_tls_is_built()) {
        return fail(
            error, "refusing to listen on", text,
            "this agent was built without TLS, so it takes Unix sockets alone: unix:PATH, or reach it "
            "through ssh");
    }
    if (!parse_tcp(text, &address, &n)) {
        return fail(error, "cannot listen on", text,
                    "expected ADDRESS:PORT with a numeric address, such as 127.0.0.1:7151");
    }
    link->listen_fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool ok = link->listen_fd >= 0 &&
              setsockopt(link->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
              bind(link->listen_fd, (struct sockaddr *)&address, n) == 0 &&
              listen(link->listen_fd, BACKLOG) == 0;
    return ok || fail(error, "cannot listen on", text, strerror(errno));
}

bool qs_link_listen(struct qs_link *link, const char *address, char error[QS_LINK_ERROR_BYTES])
{
    *link = (struct qs_link){.in_fd = -1, .out_fd = -1, .listen_fd = -1, .stop_fd = -1};
    if (strncmp(address, "unix:", 5) == 0) {
        return listen_unix(link, address + 5, error);
    }
    if (strncmp(address, "localabstract:", 14) == 0) {
        return listen_abstract(link, address + 14, error);
    }
    if (strncmp(address, "tcp:", 4) == 0) {
        return listen_tcp(link, address + 4, error);
    }
    return fail(error, "cannot listen on", address,
                "expected unix:PATH, localabstract:NAME or tcp:ADDRESS:PORT");
}

int qs_link_port(const struct qs_link *link)
{
    struct sockaddr_storage address = {0};
    socklen_t n = sizeof address;
    if (link->kind != QS_LINK_TCP || getsockname(link->listen_fd, (struct sockaddr *)&address, &n) != 0) {
        return 0;
    }
    return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                               : ((struct sockaddr_in *)&address)->sin_port);
}

size_t qs_link_read_key(const char *path, uint8_t *key, size_t cap, char error[QS_LINK_ERROR_BYTES])
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        fail(error, "cannot read the key file", path, strerror(errno));
        return 0;
    }
    ssize_t n = 0;
    if (fstat(fd, &st) != 0) {
        fail(error, "cannot read the key file", path, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        fail(error, "cannot use the key file", path, "it is not a regular file");
    } else if ((st.st_mode & 0177) != 0) {
        fail(error, "cannot use the key file", path, "others may read it, or it is executable: chmod 0600");
    } else if (st.st_uid != geteuid() && st.st_uid != 0) {
        fail(error, "cannot use the key file", path, "it belongs to somebody else: chown it to this user");
    } else if (st.st_size < KEY_MIN_BYTES || (size_t)st.st_size > cap) {
        fail(error, "cannot use the key file", path, "it must have 32 to 4096 bytes; --help says which");
    } else {
        n = read(fd, key, cap);
        if (n != st.st_size) {
            fail(error, "cannot read the key file", path,
                 n < 0 ? strerror(errno) : "it changed while it was read");
            n = 0;
        }
    }
    close(fd);
    return (size_t)n;
}

bool qs_link_read_enrolled(const char *path, struct qs_enrolled *key, char error[QS_LINK_ERROR_BYTES])
{
    uint8_t text[QS_AUTH_KEY_MAX_BYTES]; /* of any kind: which it is, is said here */
    size_t n = qs_link_read_key(path, text, sizeof text, error);
    bool ok = n > 0 && qs_enrolled_parse(text, n, key);
    if (n > 0 && !ok) {
        fail(error, "cannot use the key file", path,
             "it is no key of a device; on the host, quiesce devices enroll NAME makes one");
    }
    explicit_bzero(text, sizeof text);
    return ok;
}
