#include "linux/child.h"

#include "core/print.h"
#include "linux/io.h"
#include "proto/names.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRAYS_BUDGET_NS INT64_C(2000000000)

/* DRAIN_ALL: more than a pipe holds, and an end where somebody who cannot be killed goes on writing. */
enum { PIPE_WISH_BYTES = 1024 * 1024, DRAIN_BYTES = 65536, DRAIN_ALL = 256 };

void qs_child_init(struct qs_linux_child *child, clockid_t clock)
{
    child->runs = child->lost = false;
    child->clock = clock;
    child->spare = 0;
    child->document_fd = child->places.in_fd = child->places.out_fd = -1;
    child->null_in_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    child->null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    child->capture.read_fd = child->capture.write_fd = -1;
    child->capture.len = 0;
    child->capture.total = 0;
    child->errors = (struct qs_capture){.read_fd = -1, .write_fd = -1};
}

void qs_child_done(struct qs_linux_child *child)
{
    if (child->runs) {
        qs_child_end(child, true);
        waitpid(child->process.pid, NULL, 0);
        qs_spawn_end_strays(child->process.pid, child->spare, STRAYS_BUDGET_NS);
        child->runs = false;
    }
    qs_capture_close(&child->capture);
    qs_capture_close(&child->errors);
}

bool qs_capture_open(struct qs_capture *c, bool wanted, bool tail, size_t max)
{
    int fds[2];
    qs_capture_close(c);
    c->tail = tail;
    c->max = max;
    c->len = 0;
    c->total = 0;
    if (!wanted) {
        return true;
    }
    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0) { /* who is started with its end has it blocking */
        return false;
    }
    c->read_fd = fds[0];
    c->write_fd = fds[1];
    fcntl(c->read_fd, F_SETPIPE_SZ, PIPE_WISH_BYTES); /* a wish: fewer wake-ups; a smaller pipe works too */
    return true;
}

void qs_capture_close(struct qs_capture *c)
{
    if (c->read_fd >= 0) {
        close(c->read_fd);
        close(c->write_fd);
    }
    c->read_fd = c->write_fd = -1;
}

static void keep(struct qs_capture *c, const char *bytes, size_t n)
{
    if (!c->tail) {
        size_t room = c->max - c->len;
        size_t m = n < room ? n : room;
        memcpy(c->bytes + c->len, bytes, m);
        c->len += m;
        return;
    }
    if (c->len + n > sizeof c->bytes) {
        size_t stay = sizeof c->bytes - n < c->max ? sizeof c->bytes - n : c->max;
        stay = stay < c->len ? stay : c->len;
        memmove(c->bytes, c->bytes + c->len - stay, stay);
        c->len = stay;
    }
    memcpy(c->bytes + c->len, bytes, n);
    c->len += n;
}

void qs_capture_restart(struct qs_capture *c)
{
    qs_capture_drain(c, DRAIN_ALL);
    c->len = 0;
    c->total = 0;
}

void qs_capture_drain(struct qs_capture *c, int rounds)
{
    static char bytes[DRAIN_BYTES];
    for (int i = 0; i < rounds && c->read_fd >= 0; i++) {
        ssize_t n = read(c->read_fd, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return;
        }
        c->total += (uint64_t)n;
        keep(c, bytes, (size_t)n);
    }
}

void qs_capture_result(const struct qs_capture *c, struct qs_port_output *out)
{
    size_t n = c->len < c->max ? c->len : c->max;
    out->kept = c->bytes + (c->tail ? c->len - n : 0);
    out->kept_bytes = n;
    out->total_bytes = c->total;
}

bool qs_child_hear(struct qs_linux_child *child, bool wanted, bool apart, size_t max)
{
    return qs_capture_open(&child->capture, wanted, false, max) &&
           qs_capture_open(&child->errors, wanted && apart, false, max);
}

void qs_child_output(struct qs_linux_child *child, int rounds, struct qs_port_output *out)
{
    struct qs_port_output errors;
    qs_capture_drain(&child->capture, rounds);
    qs_capture_drain(&child->errors, rounds);
    qs_capture_result(&child->errors, &errors);
    qs_capture_result(&child->capture, out);
    out->errors = errors.kept;
    out->errors_bytes = errors.kept_bytes;
    out->errors_total_bytes = errors.total_bytes;
}

static const struct qs_command *command_of(const struct qs_commands *of, enum qs_port_job job)
{
    switch (job) {
    case QS_JOB_PREPARE:
        return &of->prepare;
    case QS_JOB_CONCLUDE:
        return &of->conclude;
    case QS_JOB_ITERATION:
    case QS_JOB_HOOK:
    case QS_JOB_PROGRAM:
        break;
    }
    return &of->iteration;
}

static bool refuse(struct qs_port_fault *fault, const char *path, int error)
{
    const char *hint = error == ENOEXEC  ? " (a script needs a first line such as #!/bin/sh)"
                       : error == ENOENT ? " (the file is gone, or its interpreter is missing)"
                                         : "";
    bool theirs = error == ENOEXEC || error == ENOENT || error == EACCES || error == E2BIG;
    qs_print(fault->text, sizeof fault->text, "cannot start '%.150s': %s%s", path, strerror(error), hint);
    fault->code = error;
    fault->wire_code = theirs ? QS_CODE_EXECUTABLE : QS_CODE_RESOURCE;
    fault->blame = theirs ? QS_WIRE_BLAME_OPERATOR : QS_WIRE_BLAME_DEVICE;
    return false;
}

static bool refuse_command(struct qs_port_fault *fault, const struct qs_commands *of, const char *path,
                           int error)
{
    refuse(fault, path, error);
    if (error == EACCES && of->has_identity) {
        size_t n = strlen(fault->text);
        qs_print(fault->text + n, sizeof fault->text - n,
                 " (as user %u: it needs the right to execute it and to enter the working directory)",
                 (unsigned)of->identity.uid);
    }
    return false;
}

bool qs_child_start(struct qs_linux_child *child, enum qs_port_job job, const struct qs_commands *of,
                    struct qs_port_fault *fault)
{
    const struct qs_command *command = command_of(of, job);
    bool program = job == QS_JOB_PROGRAM;
    bool timed = job == QS_JOB_ITERATION || program;
    bool heard = (timed || job == QS_JOB_HOOK) && child->capture.write_fd >= 0;
    bool apart = timed && child->errors.write_fd >= 0;
    int said_fd = heard ? child->capture.write_fd : child->null_fd;
    bool documented = job == QS_JOB_ITERATION && child->document_fd >= 0;
    if (timed && !qs_places_open(&child->places, of, fault)) {
        qs_places_close(&child->places);
        return false;
    }
    const struct qs_spawn_spec spawn = {.path = command->path,
                                        .argv = command->argv,
                                        .envp = of->envp,
                                        .cwd_fd = of->cwd_fd,
                                        .in_fd = child->places.in_fd >= 0 ? child->places.in_fd
                                                                          : child->null_in_fd,
                                        .out_fd = documented                  ? child->document_fd
                                                  : child->places.out_fd >= 0 ? child->places.out_fd
                                                                              : said_fd,
                                        .err_fd = apart && heard ? child->errors.write_fd : said_fd,
                                        .memory_fd = program ? child->memory_fd : 0,
                                        .wake_fd = program ? child->wake_fd : 0,
                                        .cpus = timed && of->pinned ? &of->cpus : NULL,
                                        .as = of->has_identity ? &of->identity : NULL,
                                        .start = timed && qs_start_given(&of->start) ? &of->start : NULL};
    if (heard) { /* it is new, or a process before has made it non-blocking: one pipe for all of them */
        fcntl(child->capture.write_fd, F_SETFL, 0);
        if (apart) {
            fcntl(child->errors.write_fd, F_SETFL, 0);
        }
    }
    child->job = job;
    child->of = of;
    child->lost = false;
    child->written_before = child->capture.total;
    child->errors_before = child->errors.total;
    child->start_ns = qs_io_now_ns(child->clock);
    int error = qs_spawn_start(&spawn, &child->process);
    child->runs = error == 0;
    if (error != 0) {
        qs_places_close(&child->places);
    }
    return error == 0 || refuse_command(fault, of, command->path, error);
}

void qs_child_end(struct qs_linux_child *child, bool hard)
{
    pid_t pid = child->process.pid;
    if (!child->runs) {
        return;
    }
    if (getpgid(pid) != pid) { /* it has joined another group: what it left in its own is asked as well */
        kill(pid, hard ? SIGKILL : SIGTERM);
    }
    kill(-pid, hard ? SIGKILL : SIGTERM);
}

static int64_t time_us(const struct timeval *t)
{
    return (int64_t)t->tv_sec * 1000000 + t->tv_usec;
}

static void fill_metrics(int64_t *m, const struct rusage *ru)
{
    m[QS_METRIC_USER_TIME_US - 1] = time_us(&ru->ru_utime);
    m[QS_METRIC_SYSTEM_TIME_US - 1] = time_us(&ru->ru_stime);
    m[QS_METRIC_MAX_RSS_BYTES - 1] = (int64_t)ru->ru_maxrss * 1024;
    m[QS_METRIC_MINOR_FAULTS - 1] = ru->ru_minflt;
    m[QS_METRIC_MAJOR_FAULTS - 1] = ru->ru_majflt;
    m[QS_METRIC_VOLUNTARY_SWITCHES - 1] = ru->ru_nvcsw;
    m[QS_METRIC_INVOLUNTARY_SWITCHES - 1] = ru->ru_nivcsw;
    m[QS_METRIC_BLOCK_IN - 1] = ru->ru_inblock;
    m[QS_METRIC_BLOCK_OUT - 1] = ru->ru_oublock;
}

static bool is_cut(const struct qs_capture *c, uint64_t before)
{
    return !c->tail && c->read_fd >= 0 && c->total > c->max && c->total > before;
}

/* Everything after the clock was read: what was left behind, what was written. */
static void tidy(struct qs_linux_child *child, struct qs_port_child *end)
{
    struct qs_capture *c = &child->capture;
    qs_places_close(&child->places);
    qs_io_close(&child->process.pidfd);
    end->left_children = qs_spawn_end_strays(child->process.pid, child->spare, STRAYS_BUDGET_NS);
    qs_capture_drain(c, DRAIN_ALL);
    qs_capture_drain(&child->errors, DRAIN_ALL);
    end->output_cut = is_cut(c, child->written_before) || is_cut(&child->errors, child->errors_before);
    child->runs = false;
}

bool qs_child_was_stopped(const struct qs_linux_child *child)
{
    siginfo_t info = {.si_pid = 0};
    return child->runs && !child->lost &&
           waitid(P_PID, (id_t)child->process.pid, &info, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
           info.si_pid != 0;
}

bool qs_child_reap(struct qs_linux_child *child, struct qs_port_child *end)
{
    int status = 0;
    struct rusage usage;
    if (child->lost) {
        *end = (struct qs_port_child){.how = QS_PORT_LOST, .start_ns = child->start_ns};
        end->end_ns = qs_io_now_ns(child->clock);
        qs_places_close(&child->places);
        qs_io_close(&child->process.pidfd);
        child->runs = false;
        return true;
    }
    pid_t pid = wait4(child->process.pid, &status, WNOHANG, &usage);
    int64_t now = qs_io_now_ns(child->clock);
    if (pid == 0) {
        return false;
    }
    *end = (struct qs_port_child){.how = QS_PORT_EXITED, .start_ns = child->start_ns, .end_ns = now};
    if (pid < 0) {
        memset(&usage, 0, sizeof usage); /* somebody else reaped it: cannot happen to our own child */
        status = 0xff00;
    }
    if (WIFSIGNALED(status)) {
        end->how = QS_PORT_SIGNALLED;
        end->code = WTERMSIG(status);
        end->core_dumped = WCOREDUMP(status);
    } else {
        end->code = WEXITSTATUS(status);
    }
    fill_metrics(end->metrics, &usage);
    tidy(child, end);
    return true;
}
