#include "refusals.h"

#include "cm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <uv.h>

static struct {
    const char *name;
    int nth, error;
} plan;

void refuse(const char *name, int nth, int error)
{
    plan.name = name;
    plan.nth = nth;
    plan.error = error;
}

void assert_refused(void)
{
    assert_null(plan.name);
}

static bool is_refused(const char *name)
{
    errno = EAGAIN; /* what a call that succeeds leaves there means nothing */
    if (!plan.name || strcmp(plan.name, name) != 0 || --plan.nth > 0)
        return false;
    plan.name = NULL;
    errno = plan.error;
    return true;
}

#define WRAP(symbol, type, bad, parameters, arguments)                                                       \
    type __real_##symbol parameters;                                                                         \
    type __wrap_##symbol parameters;                                                                         \
    type __wrap_##symbol parameters                                                                          \
    {                                                                                                        \
        return is_refused(#symbol) ? bad : __real_##symbol arguments;                                        \
    }

WRAP(read, ssize_t, -1, (int fd, void *bytes, size_t n), (fd, bytes, n))
WRAP(send, ssize_t, -1, (int fd, const void *bytes, size_t n, int flags), (fd, bytes, n, flags))
WRAP(write, ssize_t, -1, (int fd, const void *bytes, size_t n), (fd, bytes, n))
WRAP(poll, int, -1, (struct pollfd * fds, nfds_t n, int wait_ms), (fds, n, wait_ms))
WRAP(socketpair, int, -1, (int domain, int type, int protocol, int *fd), (domain, type, protocol, fd))
WRAP(fcntl64, int, -1, (int fd, int what, long arg), (fd, what, arg))
WRAP(open64, int, -1, (const char *path, int flags, mode_t mode), (path, flags, mode))
WRAP(fstat64, int, -1, (int fd, struct stat *st), (fd, st))
WRAP(ftruncate64, int, -1, (int fd, off_t n), (fd, n))
WRAP(mkdir, int, -1, (const char *path, mode_t mode), (path, mode))
WRAP(fsync, int, -1, (int fd), (fd))
WRAP(getrandom, ssize_t, -1, (void *bytes, size_t n, unsigned flags), (bytes, n, flags))
WRAP(getrlimit64, int, -1, (int what, struct rlimit *limit), (what, limit))
WRAP(pthread_create, int, plan.error,
     (pthread_t * thread, const pthread_attr_t *attr, void *(*run)(void *), void *user),
     (thread, attr, run, user))
WRAP(uv_loop_init, int, -plan.error, (uv_loop_t * loop), (loop))
WRAP(uv_async_init, int, -plan.error, (uv_loop_t * loop, uv_async_t *async, uv_async_cb fn),
     (loop, async, fn))
WRAP(uv_poll_init, int, -plan.error, (uv_loop_t * loop, uv_poll_t *handle, int fd), (loop, handle, fd))
WRAP(uv_poll_start, int, -plan.error, (uv_poll_t * handle, int events, uv_poll_cb fn), (handle, events, fn))
WRAP(uv_signal_init, int, -plan.error, (uv_loop_t * loop, uv_signal_t *handle), (loop, handle))
WRAP(uv_signal_start, int, -plan.error, (uv_signal_t * handle, uv_signal_cb fn, int signum),
     (handle, fn, signum))

static struct kills kills;

struct kills kills_since(void)
{
    struct kills now = kills;
    kills = (struct kills){0};
    return now;
}

int __real_kill(pid_t pid, int signum);
int __wrap_kill(pid_t pid, int signum);
int __wrap_kill(pid_t pid, int signum)
{
    kills.groups += pid < -1 && signum == SIGKILL;
    kills.others += pid == 0 || pid == -1;
    return is_refused("kill") ? -1 : pid == 0 || pid == -1 ? 0 : __real_kill(pid, signum);
}

int open_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += __real_fcntl64(fd, F_GETFD, 0) >= 0 ? 1 : 0;
    return n;
}
