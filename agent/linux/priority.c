#include "linux/priority.h"

#include "core/print.h"
#include "linux/command.h"
#include "linux/spawn.h"
#include "proto/names.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NICE_ZERO = 20 }; /* the kernel's getpriority says 40 .. 1 for -20 .. 19 */

#define UNINSTRUMENTED __attribute__((no_sanitize("address", "undefined")))

/* Of a process, 0: of this one. */
UNINSTRUMENTED static bool look(pid_t pid, struct qs_priority *ret)
{
    int priority[1] = {0}; /* struct sched_param of the kernel */
    long policy = syscall(SYS_sched_getscheduler, pid);
    long nice = syscall(SYS_getpriority, PRIO_PROCESS, pid);
    bool ok = policy >= 0 && nice >= 0 && syscall(SYS_sched_getparam, pid, priority) == 0;
    ret->fifo = ok && policy == SCHED_FIFO ? priority[0] : 0;
    ret->nice = ok ? (int32_t)(NICE_ZERO - nice) : 0;
    return ok;
}

UNINSTRUMENTED bool qs_priority_take(const struct qs_start *start, struct qs_priority *ret)
{
    const int priority[1] = {start->value};
    bool ok = start->sched == QS_SCHED_FIFO   ? syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, priority) == 0
              : start->sched == QS_SCHED_NICE ? syscall(SYS_setpriority, PRIO_PROCESS, 0, start->value) == 0
                                              : true;
    long had = ok ? syscall(SYS_personality, 0xffffffffUL) : -1;
    ret->refused_addresses = ok;
    if (ok && (start->flags & QS_START_FIXED_ADDRESSES) != 0) {
        ok = had >= 0 && syscall(SYS_personality, (unsigned long)had | ADDR_NO_RANDOMIZE) >= 0;
        had = ok ? syscall(SYS_personality, 0xffffffffUL) : had;
    }
    ret->fixed = had >= 0 && (had & ADDR_NO_RANDOMIZE) != 0;
    return ok && look(0, ret);
}

static bool explain(struct qs_port_fault *fault, const struct qs_start *start, bool addresses, int error)
{
    char missing[128];
    bool fifo = start->sched == QS_SCHED_FIFO;
    bool root = geteuid() == 0;
    fault->blame = QS_WIRE_BLAME_OPERATOR;
    fault->wire_code = QS_CODE_UNSUPPORTED;
    fault->code = error;
    if (addresses) {
        qs_print(
            fault->text, sizeof fault->text,
            "`aslr: off`: the kernel does not let this agent start processes with fixed addresses: %s; a "
            "container's filter may forbid it (the call is personality)",
            strerror(error));
        return false;
    }
    qs_print(missing, sizeof missing, "root, CAP_SYS_NICE, or a limit `ulimit -%c` of at least %d",
             fifo ? 'r' : 'e', fifo ? (int)start->value : NICE_ZERO - (int)start->value);
    qs_print(
        fault->text, sizeof fault->text,
        "`priority: %s %d`: the kernel does not let this agent (user %u) start processes so: %s; it needs "
        "%s",
        fifo ? "fifo" : "nice", (int)start->value, (unsigned)geteuid(), strerror(error),
        root ? "CAP_SYS_NICE, and a control group that has real-time time" : missing);
    return false;
}

bool qs_priority_try(const struct qs_commands *commands, struct qs_port_fault *fault)
{
    const struct qs_spawn_spec spawn = {
        .cwd_fd = -1, .cpus = commands->pinned ? &commands->cpus : NULL, .start = &commands->start};
    struct qs_spawned child = {.pidfd = -1};
    if (!qs_start_given(&commands->start)) {
        return true;
    }
    int error = qs_spawn_start(&spawn, &child);
    return error == 0 || explain(fault, &commands->start, child.got.refused_addresses, error);
}

size_t qs_priority_rows(const struct qs_start *start)
{
    return (start->sched != QS_SCHED_KEPT ? 1U : 0U) + ((start->flags & QS_START_FIXED_ADDRESSES) != 0);
}

static void put_row(struct qs_port_evidence *row, const char *kind, int64_t wanted, int64_t is, bool ok)
{
    qs_print(row->kind, sizeof row->kind, "%s", kind);
    row->status = ok ? QS_READING_OK : QS_READING_MISSING;
    row->steady = true;
    row->held = false;
    row->before = wanted;
    row->after = is;
}

void qs_priority_evidence(const struct qs_start *start, const struct qs_priority *got, pid_t program,
                          bool after, struct qs_port_evidence *rows)
{
    size_t n = 0;
    bool fifo = start->sched == QS_SCHED_FIFO;
    struct qs_priority now = *got;
    bool ok = !after || program == 0 || look(program, &now);
    if (start->sched != QS_SCHED_KEPT) {
        int64_t is = fifo ? now.fifo : now.nice;
        put_row(&rows[n++], fifo ? QS_SENSOR_FIFO : QS_SENSOR_NICE, start->value, after ? is : start->value,
                ok);
    }
    if ((start->flags & QS_START_FIXED_ADDRESSES) != 0) {
        put_row(&rows[n], QS_SENSOR_FIXED, 1, !after || now.fixed, true);
    }
}
