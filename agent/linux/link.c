#include "linux/link.h"

#include "core/print.h"
#include "linux/io.h"
#include "linux/tls/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef SIOCOUTQ
#define SIOCOUTQ 0x5411 /* sockios.h: TIOCOUTQ */
#endif

enum { STUCK_MS = 10000, DRAIN_TRIES = 20 };

static int dup_high(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 10);
}

/* Regular files and terminals stay as they are: their description may be shared with a shell. */
static void make_nonblocking(int fd)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))) {
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
}

bool qs_link_open_stdio(struct qs_link *link, int32_t peer_pid, char error[QS_LINK_ERROR_BYTES])
{
    *link = (struct qs_link){.kind = QS_LINK_STDIO, .listen_fd = -1, .stop_fd = -1, .peer_pid = peer_pid};
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    link->in_fd = dup_high(0);
    link->out_fd = dup_high(1);
    bool ok = null_fd >= 0 && link->in_fd >= 0 && link->out_fd >= 0 && dup2(null_fd, 0) == 0 &&
              dup2(null_fd, 1) == 1;
    if (!ok) {
        qs_print(error, QS_LINK_ERROR_BYTES, "cannot take over standard input and output: %s",
                 strerror(errno));
    }
    qs_io_close(&null_fd);
    make_nonblocking(link->in_fd);
    make_nonblocking(link->out_fd);
    return ok;
}

void qs_link_drop(struct qs_link *link)
{
    qs_tls_end(link->session);
    link->session = NULL;
    if (link->out_fd == link->in_fd) { /* one for both */
        link->out_fd = -1;
    }
    qs_io_close(&link->in_fd);
    qs_io_close(&link->out_fd);
    link->peer_pid = 0;
}

void qs_link_close(struct qs_link *link)
{
    qs_link_drop(link);
    if (link->listen_fd >= 0 && link->path[0]) {
        unlink(link->path);
    }
    qs_io_close(&link->listen_fd);
}

void qs_link_turn_away(int fd, struct qs_tls_session *session, const char *text)
{
    if (session && qs_tls_is_up(session)) {
        (void)!qs_tls_send(session, (const uint8_t *)text, strlen(text));
    } else if (!session || qs_tls_is_silent(session)) {
        (void)!send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    qs_tls_end(session);
    close(fd);
}

static bool ask_peer(int fd, struct ucred *peer)
{
    socklen_t n = sizeof *peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &n) == 0;
}

static bool may_talk(int fd)
{
    struct ucred peer;
    return ask_peer(fd, &peer) && (peer.uid == geteuid() || peer.uid == 0);
}

void qs_link_refused(struct qs_link *link, const char *why)
{
    char text[160];
    link->refused++;
    if ((link->refused & (link->refused - 1)) == 0) {
        int n = qs_print(text, sizeof text, "quiesce-agent: refused a client (number %u): %s\n",
                         (unsigned)link->refused, why);
        (void)!write(STDERR_FILENO, text, (size_t)n);
    }
}

int qs_link_accept(struct qs_link *link)
{
    int fd = accept4(link->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0 && link->kind == QS_LINK_UNIX && !may_talk(fd)) {
        qs_link_turn_away(fd, NULL, "quiesce-agent: only its own user, or root, may use this socket\n");
        qs_link_refused(link, "it is of another user");
        return -1;
    }
    if (fd >= 0 && link->kind == QS_LINK_TCP) { /* a handshake is several small writes */
        const int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    return fd;
}

void qs_link_adopt(struct qs_link *link, int fd, struct qs_tls_session *session)
{
    struct ucred peer;
    qs_link_drop(link);
    if (link->kind != QS_LINK_TCP && ask_peer(fd, &peer)) {
        link->peer_pid = peer.pid;
    }
    link->in_fd = link->out_fd = fd;
    link->session = session;
}

static bool wait_writable(const struct qs_link *link)
{
    struct pollfd fds[2] = {{.fd = link->out_fd, .events = POLLOUT}, {.fd = link->stop_fd, .events = POLLIN}};
    int n = poll(fds, 2, STUCK_MS);
    return n > 0 && (fds[0].revents & POLLOUT) && !fds[1].revents;
}

/* > 0: so many were taken; 0: nothing now; -1: the peer is gone. */
static long send_some(struct qs_link *link, const uint8_t *bytes, size_t n)
{
    if (link->session) {
        return qs_tls_send(link->session, bytes, n);
    }
    ssize_t sent = write(link->out_fd, bytes, n); /* SIGPIPE is blocked */
    return sent < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : (long)sent;
}

bool qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n)
{
    while (n > 0 && link->out_fd >= 0) {
        long sent = send_some(link, bytes, n);
        if (sent < 0 || (sent == 0 && !wait_writable(link))) {
            return false;
        }
        bytes += sent;
        n -= (size_t)sent;
    }
    return n == 0;
}

long qs_link_receive(struct qs_link *link, uint8_t *bytes, size_t cap)
{
    if (link->session) {
        return qs_tls_receive(link->session, bytes, cap);
    }
    ssize_t n = read(link->in_fd, bytes, cap);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return 0;
    }
    return n > 0 ? (long)n : -1;
}

void qs_link_drain(struct qs_link *link)
{
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = 500000};
    const int one = 1;
    int left = 0;
    if (link->kind != QS_LINK_TCP || link->in_fd < 0) {
        return;
    }
    setsockopt(link->in_fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one);
    for (int i = 0; i < DRAIN_TRIES && ioctl(link->out_fd, SIOCOUTQ, &left) == 0 && left > 0; i++) {
        nanosleep(&pause, NULL);
    }
}

uint32_t qs_link_unread(const struct qs_link *link)
{
    int n = 0;
    return link->in_fd >= 0 && ioctl(link->in_fd, FIONREAD, &n) == 0 && n > 0 ? (uint32_t)n : 0;
}
