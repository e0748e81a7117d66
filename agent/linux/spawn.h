/* Starting one program and finding whatever it leaves behind (Linux). */
#ifndef QS_LINUX_SPAWN_H
#define QS_LINUX_SPAWN_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "linux/identity.h"
#include "linux/priority.h"

/* What a child gets. All pointers are borrowed for the call. */
struct qs_spawn_spec {
    const char *path; /* executed as it is: no search; NULL: only tried, it ends before that */
    char *const *argv;
    char *const *envp;            /* the whole environment */
    int cwd_fd;                   /* a directory, or negative: the agent's own */
    int in_fd, out_fd, err_fd;    /* > 2 */
    int memory_fd, wake_fd;       /* > 15: the child's descriptors 3 and 4; 0: it has none */
    uint64_t file_max_bytes;      /* no file of it grows beyond; 0: the agent's own limit */
    const cpu_set_t *cpus;        /* NULL: the agent's own */
    const struct qs_identity *as; /* NULL: the agent's own */
    const struct qs_start *start; /* NULL: as the agent is */
};

struct qs_spawned {
    pid_t pid;
    int pidfd; /* readable when the child has ended; -1 where the kernel has none: wait for SIGCHLD */
    struct qs_priority got; /* where the spec has `start` */
};

/* Starts the child in a process group of its own, with no signal blocked. Returns 0, or the errno of the step
 * that failed (nothing runs then); child->got is told all the same. */
int qs_spawn_start(const struct qs_spawn_spec *spawn, struct qs_spawned *child);

/* After the child has been waited for: ends everything that it left behind, within budget_ns. Returns
 * whether anything was alive. group: the child's, or 0. spare: a child of ours that stays, and is not reaped;
 * 0: none. */
bool qs_spawn_end_strays(pid_t group, pid_t spare, int64_t budget_ns);

#endif
