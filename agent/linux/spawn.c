#include "linux/spawn.h"

#include "core/print.h"
#include "linux/io.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

/* A child of clone(CLONE_VM | CLONE_VFORK) borrows our memory until it executes; this is how posix_spawn
 * works inside, and what it cannot do is done here in the same step: affinity, the directory by descriptor,
 * and a SIGKILL for the child if the agent itself is killed. */
struct birth {
    const struct qs_spawn_spec *spawn;
    pid_t parent;
    struct qs_priority *got;
    volatile int error;
};

enum { BIRTH_STACK_BYTES = 16384, KERNEL_SIGSET_BYTES = 8 };

/* The system calls that take 32 bits, where an architecture has narrower ones too. */
#ifdef SYS_setresuid32
#define SETRESUID SYS_setresuid32
#define SETRESGID SYS_setresgid32
#define SETGROUPS SYS_setgroups32
#else
#define SETRESUID SYS_setresuid
#define SETRESGID SYS_setresgid
#define SETGROUPS SYS_setgroups
#endif

/* Straight to the kernel: the library's functions would change other threads' identity, and these are ours.
 */
__attribute__((no_sanitize("address", "undefined"))) static bool become(const struct qs_identity *as)
{
    return syscall(SETGROUPS, as->group_count, as->groups) == 0 &&
           syscall(SETRESGID, as->gid, as->gid, as->gid) == 0 &&
           syscall(SETRESUID, as->uid, as->uid, as->uid) == 0;
}

/* The kernel's own form of a limit: 64 bits everywhere. */
__attribute__((no_sanitize("address", "undefined"))) static bool limit_files(uint64_t max_bytes)
{
    const uint64_t limit[2] = {max_bytes, max_bytes};
    return syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, limit, NULL) == 0;
}

/* Runs in the child, in our memory: raw system calls only, no instrumentation. */
__attribute__((no_sanitize("address", "undefined"))) static int child_main(void *arg)
{
    struct birth *birth = arg;
    const struct qs_spawn_spec *s = birth->spawn;
    static const uint64_t no_signals;
    bool ok = syscall(SYS_setpgid, 0, 0) == 0;
    if (ok && s->cpus) {
        ok = syscall(SYS_sched_setaffinity, 0, sizeof *s->cpus, s->cpus) == 0;
    }
    ok = ok && (!s->start || qs_priority_take(s->start, birth->got)); /* with the agent's own rights */
    if (ok && !s->path) {
        syscall(SYS_exit, 0);
    }
    /* A change of identity forgets the signal of the parent's death: that comes after it. */
    ok = ok && (!s->as || become(s->as)) && syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0;
    ok = ok && syscall(SYS_getppid) == birth->parent; /* else it has died before we asked for that */
    ok = ok && syscall(SYS_dup3, s->in_fd, 0, 0) == 0 && syscall(SYS_dup3, s->out_fd, 1, 0) == 1 &&
         syscall(SYS_dup3, s->err_fd, 2, 0) == 2;
    ok = ok && (s->file_max_bytes == 0 || limit_files(s->file_max_bytes));
    if (ok && s->cwd_fd >= 0) {
        ok = syscall(SYS_fchdir, s->cwd_fd) == 0;
    }
    if (ok && s->memory_fd > 0) {
        ok = syscall(SYS_dup3, s->memory_fd, 3, 0) == 3 && syscall(SYS_dup3, s->wake_fd, 4, 0) == 4;
    }
    if (ok) {
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &no_signals, NULL, KERNEL_SIGSET_BYTES);
        syscall(SYS_execve, s->path, s->argv, s->envp);
    }
    birth->error = errno;
    syscall(SYS_exit, 127);
    return 127;
}

int qs_spawn_start(const struct qs_spawn_spec *spawn, struct qs_spawned *child)
{
    static _Alignas(64) unsigned char stack[BIRTH_STACK_BYTES];
    struct birth birth = {.spawn = spawn, .parent = getpid(), .got = &child->got, .error = 0};
    int pidfd = -1;
    int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
    pid_t pid = clone(child_main, stack + sizeof stack, flags, &birth, &pidfd);
    if (pid < 0 && errno == EINVAL) { /* a kernel before 5.2 overlooks what it does not know; QEMU does not */
        pid = clone(child_main, stack + sizeof stack, flags & ~CLONE_PIDFD, &birth);
    }
    if (pid < 0) {
        return errno;
    }
    if (birth.error != 0 || !spawn->path) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
        qs_io_close(&pidfd);
        return birth.error;
    }
#ifdef SYS_pidfd_open
    if (pidfd < 0) {
        pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    }
#endif
    child->pid = pid;
    child->pidfd = pidfd;
    return 0;
}

static bool look_at_children(pid_t spare, bool end);

/* Takes in what has already ended; true when something is still alive. With one to spare each child is looked
 * at, for waitid would name that one. */
static bool anyone_alive(pid_t spare)
{
    while (spare == 0) {
        siginfo_t info;
        memset(&info, 0, sizeof info);
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) != 0) {
            if (errno == EINTR) {
                continue;
            }
            return false;
        }
        if (info.si_pid == 0) {
            return true;
        }
    }
    return look_at_children(spare, false);
}

/* The parent of a process from /proc/PID/stat; -1 when it is gone. */
static pid_t parent_of(const char *pid)
{
    char path[64];
    char text[512];
    qs_print(path, sizeof path, "/proc/%.20s/stat", pid);
    if (qs_io_read(path, text, sizeof text) <= 0) {
        return -1;
    }
    const char *p = qs_io_stat_fields(text);
    int64_t parent = -1;
    return p && qs_io_i64(&p, &parent) ? (pid_t)parent : -1;
}

/* Children that made a session of their own are ours since their parent died: we are their subreaper. Returns
 * whether one but the spared is alive; those that have ended are taken in, or all are told to end. */
static bool look_at_children(pid_t spare, bool end)
{
    struct qs_dir dir;
    bool alive = false;
    if (!qs_dir_open(&dir, "/proc")) {
        return false;
    }
    pid_t own = getpid();
    for (const char *name = qs_dir_next(&dir); name; name = qs_dir_next(&dir)) {
        pid_t pid = (pid_t)strtol(name, NULL, 10);
        if (pid == 0 || parent_of(name) != own) { /* 0: it is no process's folder */
            continue;
        }
        if (pid != spare && end) {
            kill(pid, SIGKILL);
            kill(-pid, SIGKILL); /* where it leads a group of its own: what it has started */
        }
        alive = alive || (pid != spare && (end || waitpid(pid, NULL, WNOHANG) == 0));
    }
    qs_dir_close(&dir);
    return alive;
}

bool qs_spawn_end_strays(pid_t group, pid_t spare, int64_t budget_ns)
{
    if (!anyone_alive(spare)) {
        return false;
    }
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = 1000000};
    for (int64_t waited = 0; waited < budget_ns; waited += pause.tv_nsec) {
        if (group > 0) {
            kill(-group, SIGKILL);
        }
        look_at_children(spare, true);
        nanosleep(&pause, NULL);
        if (!anyone_alive(spare)) {
            break;
        }
    }
    return true;
}
