#include "linux/hand.h"

#include "core/print.h"
#include "linux/io.h"
#include "linux/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEATH_MS = 100 }; /* a killed hand whose driver lets itself be interrupted has ended by then */

#define TOOL_NS INT64_C(10000000000) /* a command of a phone starts a virtual machine */

struct order {
    bool write;
    int64_t tool_ns;
    char path[QS_HAND_PATH_BYTES];
    char text[QS_HAND_PATH_BYTES + 1];
};

void qs_hand_init(struct qs_hand *hand, const char *root, int64_t limit_ns)
{
    *hand = (struct qs_hand){.root = root, .limit_ns = limit_ns, .tool_ns = TOOL_NS, .pid = 0, .fd = -1};
}

static enum qs_hand_end failed(struct qs_hand_result *ret)
{
    ret->error = errno;
    return errno == ENOENT || errno == ENOTDIR ? QS_HAND_MISSING : QS_HAND_FAILED;
}

/* Where it really is: links inside of the root are what a class is made of, those that leave it are not
 * followed. */
static enum qs_hand_end resolve(const char *root, const char *path, char *ret, struct qs_hand_result *result)
{
    char whole[PATH_MAX];
    size_t n = strlen(root);
    if (path[0] == '\0' || path[0] == '/' || strstr(path, "//") ||
        (size_t)qs_print(whole, sizeof whole, "%s/%s", root, path) >= sizeof whole) {
        return QS_HAND_OUTSIDE;
    }
    if (!realpath(whole, ret)) {
        return failed(result);
    }
    n = strcmp(root, "/") == 0 ? 0 : n;
    return strncmp(ret, root, n) == 0 && ret[n] == '/' ? QS_HAND_DONE : QS_HAND_OUTSIDE;
}

static enum qs_hand_end read_file(const char *path, struct qs_hand_result *ret)
{
    ssize_t got = 1;
    int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
    while (fd >= 0 && got > 0 && ret->n < QS_HAND_TEXT_BYTES) {
        got = read(fd, ret->text + ret->n, QS_HAND_TEXT_BYTES - ret->n);
        ret->n += got > 0 ? (uint32_t)got : 0;
    }
    enum qs_hand_end end = fd < 0 || got < 0 ? failed(ret) : QS_HAND_DONE;
    qs_io_close(&fd);
    return end;
}

/* A file on a disk, which stands for a driver's, would keep the rest of a longer text: it is cut first, as a
 * shell does it. */
static enum qs_hand_end write_file(const char *path, const char *text, struct qs_hand_result *ret)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return failed(ret);
    }
    size_t n = strlen(text);
    ssize_t done = write(fd, text, n);
    errno = done >= 0 && (size_t)done < n ? EIO : errno;
    enum qs_hand_end end = done < 0 || (size_t)done < n ? failed(ret) : QS_HAND_DONE;
    if (close(fd) != 0 && end == QS_HAND_DONE) {
        end = failed(ret);
    }
    return end;
}

/* A tool's text is given without the line's end of a file. */
static void use_tool(struct order *order, struct qs_hand_result *ret)
{
    order->text[strcspn(order->text, "\n")] = '\0';
    if (order->write) {
        qs_tool_write(order->path, order->text, order->tool_ns, ret);
    } else {
        qs_tool_read(order->path, order->tool_ns, ret);
    }
}

static void use_file(const char *root, const struct order *order, struct qs_hand_result *ret)
{
    static char path[PATH_MAX];
    ret->end = root ? resolve(root, order->path, path, ret) : QS_HAND_MISSING;
    if (ret->end == QS_HAND_DONE) {
        ret->end = order->write ? write_file(path, order->text, ret) : read_file(path, ret);
    }
}

static void serve(const char *given_root, int fd, pid_t parent)
{
    static struct qs_hand_result result;
    static char root[PATH_MAX];
    struct order order;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    prctl(PR_SET_NAME, "qs-hand", 0, 0, 0);
    qs_io_let_go(
        fd); /* a stuck hand must hold nothing that somebody waits for: neither the link nor a lock */
    bool rooted = realpath(given_root, root) != NULL;
    while (getppid() == parent && recv(fd, &order, sizeof order, 0) == (ssize_t)sizeof order) {
        result.error = 0;
        result.n = 0;
        if (qs_tool_is(order.path)) {
            use_tool(&order, &result);
        } else {
            use_file(rooted ? root : NULL, &order, &result);
        }
        result.text[result.n] = '\0';
        if (send(fd, &result, sizeof result, MSG_NOSIGNAL) != (ssize_t)sizeof result) {
            break;
        }
    }
    _exit(0);
}

static bool start(struct qs_hand *hand)
{
    int fds[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        serve(hand->root, fds[1], parent);
    }
    int error = errno;
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        errno = error;
        return false;
    }
    hand->pid = pid;
    hand->fd = fds[0];
    return true;
}

bool qs_hand_is_stuck(int stuck_fd, int wait_ms)
{
    struct pollfd fd = {.fd = stuck_fd, .events = 0};
    return poll(&fd, 1, wait_ms) <= 0;
}

static void end(struct qs_hand *hand)
{
    if (waitpid(hand->pid, NULL, WNOHANG) == 0) { /* else its number may be somebody else's by now */
        kill(hand->pid, SIGKILL);
    }
}

void qs_hand_close(struct qs_hand *hand)
{
    if (hand->fd >= 0) {
        end(hand);
        waitpid(hand->pid, NULL, WNOHANG);
        qs_io_close(&hand->fd);
    }
    hand->pid = 0;
}

/* Ends it. Returns what it leaves while it is stuck, or -1. */
static int leave(struct qs_hand *hand)
{
    int fd = hand->fd;
    shutdown(fd, SHUT_WR); /* whoever cannot be killed is given nothing more to do */
    end(hand);
    if (!qs_hand_is_stuck(fd, DEATH_MS)) {
        qs_io_close(&fd);
    }
    waitpid(hand->pid, NULL, WNOHANG);
    hand->fd = -1;
    hand->pid = 0;
    return fd;
}

/* False: it did not come in time, or the hand has died. */
static bool hear(const struct qs_hand *hand, int64_t limit_ns, struct qs_hand_result *ret)
{
    int64_t end_ns = qs_io_now_ns(CLOCK_MONOTONIC) + limit_ns;
    struct pollfd fd = {.fd = hand->fd, .events = POLLIN};
    int64_t left_ns = limit_ns;
    while (left_ns > 0 && fd.revents == 0) {
        (void)!poll(&fd, 1, (int)((left_ns + 999999) / 1000000)); /* where it fails, no news */
        left_ns = end_ns - qs_io_now_ns(CLOCK_MONOTONIC);
    }
    return fd.revents != 0 && recv(hand->fd, ret, sizeof *ret, MSG_DONTWAIT) == (ssize_t)sizeof *ret;
}

static void order_one(struct qs_hand *hand, const struct order *order, struct qs_hand_result *ret,
                      int *stuck_fd)
{
    *stuck_fd = -1;
    ret->end = QS_HAND_FAILED;
    ret->error = 0;
    ret->n = 0;
    ret->text[0] = '\0';
    if (hand->fd < 0 && !start(hand)) {
        ret->error = errno;
        return;
    }
    int64_t limit_ns = hand->limit_ns + (qs_tool_is(order->path) ? hand->tool_ns : 0);
    if (send(hand->fd, order, sizeof *order, MSG_NOSIGNAL) == (ssize_t)sizeof *order &&
        hear(hand, limit_ns, ret)) {
        return;
    }
    ret->end = QS_HAND_LATE;
    ret->error = ETIMEDOUT;
    ret->n = 0;
    ret->text[0] = '\0';
    *stuck_fd = leave(hand);
}

static bool fill(const struct qs_hand *hand, struct order *order, const char *path, const char *text,
                 struct qs_hand_result *ret)
{
    memset(order, 0, sizeof *order);
    order->tool_ns = hand->tool_ns;
    if ((size_t)qs_print(order->path, sizeof order->path, "%s", path) < sizeof order->path &&
        (size_t)qs_print(order->text, sizeof order->text, "%s\n", text) < sizeof order->text) {
        return true;
    }
    *ret = (struct qs_hand_result){.end = QS_HAND_OUTSIDE, .error = ENAMETOOLONG};
    return false;
}

void qs_hand_read(struct qs_hand *hand, const char *path, struct qs_hand_result *ret)
{
    struct order order;
    int stuck_fd = -1;
    if (fill(hand, &order, path, "", ret)) {
        order_one(hand, &order, ret, &stuck_fd);
        qs_io_close(&stuck_fd); /* what it reads nobody needs any more */
    }
}

void qs_hand_write(struct qs_hand *hand, const char *path, const char *text, struct qs_hand_result *ret,
                   int *stuck_fd)
{
    struct order order;
    *stuck_fd = -1;
    if (fill(hand, &order, path, text, ret)) {
        order.write = true;
        order_one(hand, &order, ret, stuck_fd);
    }
}
