#include "linux/harness.h"

#include "core/print.h"
#include "linux/io.h"
#include "linux/memory.h"
#include "proto/names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUIESCE_BENCH_LAYOUT_ONLY
#include "quiesce/bench.h"

enum { FUTEX_WAKE_SHARED = 1, EVERYBODY = 0x7fffffff };

void qs_harness_init(struct qs_linux_harness *h)
{
    h->open = false;
    h->memory = NULL;
    h->memory_fd = h->wake_fd = h->waker_fd = -1;
    h->pid = 0;
}

static bool fail(struct qs_port_fault *fault, const char *what)
{
    fault->blame = QS_WIRE_BLAME_DEVICE;
    fault->wire_code = QS_CODE_RESOURCE;
    fault->code = errno;
    qs_print(fault->text, sizeof fault->text, "no %s for a harness run: %s", what, strerror(errno));
    return false;
}

/* A pipe, because each of its ends has flags of its own: a program that made ours blocking could take its
 * bytes away between our poll and our read, and we would sleep for ever. Its own end never blocks it. */
static bool open_wake(struct qs_linux_harness *h, struct qs_port_fault *fault)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return fail(fault, "pipe");
    }
    h->wake_fd = qs_memory_move_up(ends[0]);
    h->waker_fd = qs_memory_move_up(ends[1]);
    return (h->wake_fd >= 0 && h->waker_fd >= 0) || fail(fault, "pipe");
}

static bool map_memory(struct qs_linux_harness *h, uint32_t capacity, struct qs_port_fault *fault)
{
    h->bytes = qs_shared_bytes(capacity);
    h->memory_fd = qs_memory_open("quiesce-bench", h->bytes);
    if (h->memory_fd < 0) {
        return fail(fault, "shared memory");
    }
    h->memory = qs_memory_map(h->memory_fd, h->bytes);
    if (!h->memory) {
        return fail(fault, "shared memory");
    }
    return open_wake(h, fault);
}

/* The job's environment, our variable, and the padding of a random layout. */
static bool build_environment(struct qs_linux_harness *h, const struct qs_commands *commands,
                              uint32_t pad_bytes, struct qs_port_fault *fault)
{
    size_t n = 0;
    for (char *const *from = commands->envp; *from; from++) {
        if (n == QS_ENV_MAX) {
            errno = E2BIG;
            return fail(fault, "room in the environment");
        }
        if (strncmp(*from, QUIESCE_BENCH_ENV "=", sizeof QUIESCE_BENCH_ENV) != 0) {
            h->envp[n++] = *from;
        }
    }
    qs_print(h->fd_variable, sizeof h->fd_variable, "%s=%d", QUIESCE_BENCH_ENV, QS_HARNESS_CHILD_FD);
    h->envp[n++] = h->fd_variable;
    if (pad_bytes > 0) {
        int at = qs_print(h->pad_variable, sizeof h->pad_variable, "QUIESCE_LAYOUT=");
        memset(h->pad_variable + at, 'x', pad_bytes);
        h->pad_variable[(size_t)at + pad_bytes] = '\0';
        h->envp[n++] = h->pad_variable;
    }
    h->envp[n] = NULL;
    return true;
}

bool qs_harness_open(struct qs_linux_harness *h, const struct qs_msg_run_begin *run, clockid_t clock,
                     struct qs_commands *commands, struct qs_port_fault *fault)
{
    const struct qs_shared_setup setup = {
        .harness = &run->harness, .wake_fd = QS_HARNESS_WAKE_FD, .clock = (uint32_t)clock};
    qs_harness_close(h);
    h->open = true;
    h->pid = 0;
    if (!map_memory(h, run->harness.capacity, fault) ||
        !build_environment(h, commands, run->harness.environment_bytes, fault)) {
        qs_harness_close(h);
        return false;
    }
    qs_shared_fill(&h->shared, h->memory, &setup);
    commands->envp = h->envp;
    return true;
}

void qs_harness_close(struct qs_linux_harness *h)
{
    if (!h->open) {
        return;
    }
    if (h->memory) {
        qs_memory_unmap(h->memory, h->bytes);
    }
    qs_io_close(&h->memory_fd);
    qs_io_close(&h->wake_fd);
    qs_io_close(&h->waker_fd);
    qs_harness_init(h);
}

bool qs_harness_start(struct qs_linux_harness *h, struct qs_linux_child *child,
                      const struct qs_commands *commands, struct qs_port_fault *fault)
{
    child->memory_fd = h->memory_fd;
    child->wake_fd = h->waker_fd;
    bool ok = qs_child_start(child, QS_JOB_PROGRAM, commands, fault);
    h->pid = ok ? child->process.pid : 0;
    return ok;
}

void qs_harness_wake(const struct qs_linux_harness *h)
{
    syscall(SYS_futex, qs_shared_futex(&h->shared), FUTEX_WAKE_SHARED, EVERYBODY, NULL, NULL, 0);
}

void qs_harness_heard(const struct qs_linux_harness *h)
{
    char bytes[4096];
    (void)!read(h->wake_fd, bytes, sizeof bytes);
}

/* The number behind KEY of /proc/PID/status. */
static bool from_status(const char *text, const char *key, int64_t *value)
{
    const char *at = strstr(text, key);
    at = at ? at + strlen(key) : NULL;
    return at && qs_io_i64(&at, value);
}

/* Children of its first thread that are alive. */
static bool count_children(pid_t pid, int64_t *value)
{
    char path[64];
    char text[4096];
    qs_print(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    long n = qs_io_read(path, text, sizeof text);
    const char *p = text;
    int64_t child;
    *value = 0;
    while (n > 0 && qs_io_i64(&p, &child)) {
        ++*value;
    }
    return n >= 0;
}

void qs_harness_evidence(const struct qs_linux_harness *h, bool after, struct qs_port_evidence *rows)
{
    static const char *const kinds[QS_HARNESS_EVIDENCE] = {QS_SENSOR_PROGRAM_PREFIX "voluntary_switches",
                                                           QS_SENSOR_PROGRAM_PREFIX "involuntary_switches",
                                                           QS_SENSOR_PROGRAM_PREFIX "run_delay_ns",
                                                           QS_SENSOR_PROGRAM_PREFIX "cpu_ns",
                                                           QS_SENSOR_PROGRAM_CHILDREN,
                                                           QS_SENSOR_PROGRAM_RSS};
    char path[64];
    char status[4096];
    char sched[128];
    int64_t v[QS_HARNESS_EVIDENCE] = {0};
    bool ok[QS_HARNESS_EVIDENCE];
    const char *p = sched;
    qs_print(path, sizeof path, "/proc/%d/status", (int)h->pid);
    qs_io_read(path, status, sizeof status);
    qs_print(path, sizeof path, "/proc/%d/schedstat", (int)h->pid);
    qs_io_read(path, sched, sizeof sched);
    ok[0] = from_status(status, "\nvoluntary_ctxt_switches:", &v[0]);
    ok[1] = from_status(status, "\nnonvoluntary_ctxt_switches:", &v[1]);
    ok[2] = ok[3] = qs_io_i64(&p, &v[3]) && qs_io_i64(&p, &v[2]);
    ok[4] = count_children(h->pid, &v[4]);
    ok[5] = from_status(status, "\nVmRSS:", &v[5]);
    v[5] *= 1024; /* it is in kB */
    for (size_t i = 0; i < QS_HARNESS_EVIDENCE; i++) {
        struct qs_port_evidence *row = &rows[i];
        uint8_t read = ok[i] ? QS_READING_OK : QS_READING_MISSING;
        qs_print(row->kind, sizeof row->kind, "%s", kinds[i]);
        row->status = after && row->status != QS_READING_OK ? row->status : read;
        row->after = v[i];
        row->before = after ? row->before : v[i];
    }
}
