#include "refusals.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const names[] = {
    "open",   "openat",    "mkdirat", "pipe2",      "dup2",       "fcntl",    "fstat",     "fstatvfs",
    "read",   "pread",     "write",   "lseek",      "mmap",       "flock",    "ftruncate", "fchmod",
    "fchown", "fdatasync", "fsync",   "linkat",     "renameat",   "clone",    "fork",      "signalfd",
    "socket", "bind",      "listen",  "getsockopt", "setsockopt", "getrandom"};

enum { CALLS_MAX = 40, REFUSED_ERROR = ENOTUNIQ }; /* an error that no call gives by itself */

static struct {
    const char *name;
    int nth, error;
    bool reached;
    const char *always;
    int always_error;
    bool as_zero; /* in place of failing */
    void (*before_flock)(void);
    const void *(*before_write)(const void *bytes, size_t n);
} plan;

void refuse_call(const char *name, int nth, int error)
{
    plan.name = name;
    plan.nth = nth;
    plan.error = error;
    plan.reached = false;
}

void refuse_always(const char *name, int error)
{
    plan.always = name;
    plan.always_error = error;
}

bool was_refused(void)
{
    return plan.reached;
}

void before_flock(void (*act)(void))
{
    plan.before_flock = act;
}

void before_write(const void *(*act)(const void *bytes, size_t n))
{
    plan.before_write = act;
}

static bool is_now(const char *name)
{
    if (!plan.name || strcmp(plan.name, name) != 0 || --plan.nth != 0) {
        return false;
    }
    plan.name = NULL;
    plan.reached = true;
    return true;
}

static bool is_refused(const char *name)
{
    if (strcmp(name, "pread") == 0) {
        errno = EINTR; /* what a call that succeeds leaves there means nothing */
    }
    if (plan.always && strcmp(plan.always, name) == 0) {
        errno = plan.always_error;
        return true;
    }
    if (plan.as_zero || !is_now(name)) {
        return false;
    }
    errno = plan.error;
    return true;
}

/* What the call has opened takes the place of descriptor 0, where that is its turn. */
static int opened(const char *name, int fd)
{
    if (fd <= 0 || !plan.as_zero || !is_now(name)) {
        return fd;
    }
    dup3(fd, 0, O_CLOEXEC);
    close(fd);
    return 0;
}

/* TYPE NAME(ARGUMENTS), called SYMBOL by the linker, which answers BAD where it is refused. */
#define WRAP(name, symbol, type, bad, parameters, arguments)                                                 \
    type __real_##symbol parameters;                                                                         \
    type __wrap_##symbol parameters;                                                                         \
    type __wrap_##symbol parameters                                                                          \
    {                                                                                                        \
        return is_refused(name) ? bad : __real_##symbol arguments;                                           \
    }

#define WRAP_OPEN(name, symbol, parameters, arguments)                                                       \
    int __real_##symbol parameters;                                                                          \
    int __wrap_##symbol parameters;                                                                          \
    int __wrap_##symbol parameters                                                                           \
    {                                                                                                        \
        return is_refused(name) ? -1 : opened(name, __real_##symbol arguments);                              \
    }

WRAP_OPEN("open", open64, (const char *path, int flags, mode_t mode), (path, flags, mode))
WRAP_OPEN("openat", openat64, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode))
WRAP("mkdtemp", mkdtemp, char *, NULL, (char *path), (path))
WRAP("mkdirat", mkdirat, int, -1, (int at, const char *path, mode_t mode), (at, path, mode))
WRAP("pipe2", pipe2, int, -1, (int *fds, int flags), (fds, flags))
WRAP("fcntl", fcntl64, int, -1, (int fd, int what, long arg), (fd, what, arg))
WRAP("fstat", fstat64, int, -1, (int fd, struct stat *st), (fd, st))
WRAP("read", read, ssize_t, -1, (int fd, void *bytes, size_t n), (fd, bytes, n))
WRAP("pread", pread64, ssize_t, -1, (int fd, void *bytes, size_t n, off_t at), (fd, bytes, n, at))
WRAP("write", write, ssize_t, -1, (int fd, const void *bytes, size_t n),
     (fd, plan.before_write ? plan.before_write(bytes, n) : bytes, n))
WRAP("kill", kill, int, -1, (pid_t pid, int signal), (pid, signal))
WRAP("lseek", lseek64, off_t, -1, (int fd, off_t at, int from), (fd, at, from))
WRAP("mmap", mmap64, void *, MAP_FAILED, (void *at, size_t n, int prot, int flags, int fd, off_t from),
     (at, n, prot, flags, fd, from))
WRAP("ftruncate", ftruncate64, int, -1, (int fd, off_t n), (fd, n))
WRAP("fchmod", fchmod, int, -1, (int fd, mode_t mode), (fd, mode))
WRAP("fsync", fsync, int, -1, (int fd), (fd))
WRAP_OPEN("signalfd", signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags))
WRAP("fork", fork, pid_t, -1, (void), ())
WRAP_OPEN("socket", socket, (int domain, int type, int protocol), (domain, type, protocol))
WRAP("bind", bind, int, -1, (int fd, const struct sockaddr *address, socklen_t n), (fd, address, n))
WRAP("listen", listen, int, -1, (int fd, int backlog), (fd, backlog))
WRAP("setsockopt", setsockopt, int, -1, (int fd, int level, int name, const void *v, socklen_t n),
     (fd, level, name, v, n))
WRAP("linkat", linkat, int, -1, (int from, const char *a, int to, const char *b, int flags),
     (from, a, to, b, flags))
WRAP("renameat", renameat, int, -1, (int from, const char *a, int to, const char *b), (from, a, to, b))
WRAP("fchown", fchown, int, -1, (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
WRAP("getrandom", getrandom, ssize_t, -1, (void *bytes, size_t n, unsigned flags), (bytes, n, flags))
WRAP("dup2", dup2, int, -1, (int from, int to), (from, to))
WRAP("fstatvfs", fstatvfs64, int, -1, (int fd, struct statvfs *st), (fd, st))
WRAP("fallocate", fallocate64, int, -1, (int fd, int how, off_t from, off_t n), (fd, how, from, n))
WRAP("fdatasync", fdatasync, int, -1, (int fd), (fd))
WRAP("wait4", wait4, pid_t, -1, (pid_t pid, int *status, int options, struct rusage *usage),
     (pid, status, options, usage))
WRAP("getsockopt", getsockopt, int, -1, (int fd, int level, int name, void *v, socklen_t *n),
     (fd, level, name, v, n))
WRAP("clone", clone, int, -1, (int (*run)(void *), void *stack, int flags, void *arg, int *pidfd),
     (run, stack, flags, arg, pidfd))

int __real_flock(int fd, int how);
int __wrap_flock(int fd, int how);
int __wrap_flock(int fd, int how)
{
    void (*act)(void) = plan.before_flock;
    plan.before_flock = NULL; /* what it does locks as well */
    if (act) {
        act();
    }
    return is_refused("flock") ? -1 : __real_flock(fd, how);
}

int open_descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n;
}

static char outcome(const struct deed *deed, const char *name, int nth)
{
    struct qs_port_fault fault = {.code = 0};
    int before = open_descriptors();
    refuse_call(name, nth, REFUSED_ERROR);
    bool ok = deed->act(&fault);
    bool reached = was_refused();
    refuse_call(NULL, 0, 0);
    if (ok && deed->undo) {
        deed->undo();
    }
    if (open_descriptors() != before) {
        fail_msg("call %d of %s refused: %d descriptors stay open", nth, name, open_descriptors() - before);
    }
    assert_true(reached || ok);
    return !reached                                                                     ? '\0'
           : ok                                                                         ? '.'
           : fault.code == REFUSED_ERROR && strstr(fault.text, strerror(REFUSED_ERROR)) ? '!'
                                                                                        : '?';
}

/* False: there is no such call. */
static bool succeeds_with_zero(const struct deed *deed, const char *name, int nth)
{
    struct qs_port_fault fault = {.code = 0};
    int before = open_descriptors();
    refuse_call(name, nth, 0);
    plan.as_zero = true;
    bool ok = deed->act(&fault);
    plan.as_zero = false;
    bool reached = was_refused();
    refuse_call(NULL, 0, 0);
    if (!ok) {
        fail_msg("call %d of %s opens descriptor 0: %s", nth, name, fault.text);
    }
    if (deed->undo) {
        deed->undo();
    }
    assert_int_equal(open_descriptors(), before - (reached ? 1 : 0));
    return reached;
}

/* Each descriptor in turn is 0, as in an agent that was started without standard input. */
static void try_zero(const struct deed *deed)
{
    static const char *const opening[] = {"open", "openat", "socket", "signalfd"};
    int kept = fcntl(0, F_DUPFD_CLOEXEC, 100);
    for (size_t i = 0; i < sizeof opening / sizeof opening[0]; i++) {
        for (int nth = 1; succeeds_with_zero(deed, opening[i], nth); nth++) {
            dup3(kept, 0, 0);
        }
    }
    close(kept);
}

const char *refuse_each(const struct deed *deed)
{
    static char all[512];
    size_t n = 0;
    if (!deed->starts) {
        try_zero(deed);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char signs[CALLS_MAX + 1] = "";
        for (int nth = 1; nth <= CALLS_MAX && (signs[nth - 1] = outcome(deed, names[i], nth)) != '\0';
             nth++) {
        }
        n += (size_t)(signs[0] ? snprintf(all + n, sizeof all - n, "%s%s%s", n ? " " : "", names[i], signs)
                               : 0);
    }
    all[n] = '\0';
    return all;
}
