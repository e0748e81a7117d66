#include "base/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/loop.h"
#include "base/mem.h"

struct qs_command_run {
    struct qs_loop *loop;
    qs_command_fn *fn;
    void *user;
    char *name; /* owned: argv[0] */
    struct qs_buf input, output;
    size_t sent, output_max_bytes;
    int64_t timeout_ns;
    int in_fd, out_fd; /* owned; -1: closed */
    struct qs_io *in_io, *out_io;
    struct qs_child *child;
    struct qs_timer *timer;
    bool exited;
    struct qs_err err; /* what went wrong: it is told at once */
};

static void close_input(struct qs_command_run *r)
{
    qs_io_stop(r->in_io);
    r->in_io = NULL;
    if (r->in_fd >= 0)
        close(r->in_fd);
    r->in_fd = -1;
}

static void close_output(struct qs_command_run *r)
{
    qs_io_stop(r->out_io);
    r->out_io = NULL;
    if (r->out_fd >= 0)
        close(r->out_fd);
    r->out_fd = -1;
}

static void release(struct qs_command_run *r)
{
    close_input(r);
    close_output(r);
    qs_timer_stop(r->timer);
    qs_child_stop(r->child);
    qs_buf_done(&r->input);
    qs_buf_done(&r->output);
    free(r->name);
    free(r);
}

/* The whole session: what it started goes with it. As long as one of them lives, no process gets its number:
 * if there is one once the command was reaped, nothing is left of it, and the number is a stranger's. */
static void end_all(struct qs_command_run *r, bool reaped)
{
    pid_t pid = r->child ? qs_child_pid(r->child) : 0;
    bool strangers = reaped && (kill(pid, 0) == 0 || errno == EPERM);
    if (pid > 1 && !strangers)
        kill(-pid, SIGKILL);
}

static void tell(struct qs_command_run *r)
{
    struct qs_err err = r->err;
    qs_command_fn *fn = r->fn;
    void *user = r->user;
    struct qs_buf output = r->output;
    qs_buf_init(&r->output);
    release(r);
    fn(err.code != QS_E_NONE ? &err : NULL, output.data, output.len, user);
    qs_buf_done(&output);
}

static void give_up(struct qs_command_run *r)
{
    end_all(r, false);
    tell(r);
}

static void on_timeout(void *user)
{
    struct qs_command_run *r = user;
    r->timer = NULL;
    qs_fail(&r->err, QS_E_COMMAND, "%s did not end within %g s", r->name, (double)r->timeout_ns / 1e9);
    give_up(r);
}

static void on_exit_of(int exit_code, int term_signal, void *user)
{
    struct qs_command_run *r = user;
    end_all(r, true); /* what it left in the background may hold its output open */
    r->child = NULL;
    r->exited = true;
    if (term_signal != 0)
        qs_fail(&r->err, QS_E_COMMAND, "%s was ended by signal %d", r->name, term_signal);
    else if (exit_code != 0)
        qs_fail(&r->err, QS_E_COMMAND, "%s ended with exit code %d", r->name, exit_code);
    if (r->out_fd < 0 || r->err.code != QS_E_NONE)
        tell(r);
}

static void on_output(unsigned events, void *user)
{
    (void)events;
    struct qs_command_run *r = user;
    char bytes[4096];
    ssize_t got = read(r->out_fd, bytes, sizeof bytes);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got > 0 && (size_t)got <= r->output_max_bytes - r->output.len) {
        qs_buf_add(&r->output, bytes, (size_t)got);
        return;
    }
    if (got > 0) {
        qs_fail(&r->err, QS_E_COMMAND, "%s wrote more than %zu bytes", r->name, r->output_max_bytes);
        give_up(r);
        return;
    }
    close_output(r);
    if (r->exited)
        tell(r);
}

/* A command that reads nothing is none the worse for it. */
static void on_input(unsigned events, void *user)
{
    (void)events;
    struct qs_command_run *r = user;
    ssize_t put = send(r->in_fd, r->input.data + r->sent, r->input.len - r->sent, MSG_NOSIGNAL);
    if (put > 0)
        r->sent += (size_t)put;
    else if (put < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (put < 0 || r->sent == r->input.len)
        close_input(r);
}

/* ours, theirs; a socket in place of a pipe, so that writing to one that is gone raises no signal. */
static bool make_pair(int fd[2], struct qs_err *err)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) != 0) {
        fd[0] = fd[1] = -1;
        return qs_fail(err, QS_E_RESOURCE, "socketpair: %s", strerror(errno));
    }
    return fcntl(fd[0], F_SETFL, O_NONBLOCK) == 0 ||
           qs_fail(err, QS_E_RESOURCE, "fcntl: %s", strerror(errno));
}

static bool begin(struct qs_command_run *r, const struct qs_command_spec *spec, const int in[2],
                  const int out[2], struct qs_err *err)
{
    const struct qs_spawn spawn = {
        .argv = spec->argv, .fd = {in[1], out[1], STDERR_FILENO}, .new_session = true};
    r->child = qs_child_start(r->loop, &spawn, on_exit_of, r, err);
    if (!r->child)
        return false;
    r->out_io = qs_io_start(r->loop, r->out_fd, QS_IO_READ, on_output, r, err);
    r->in_io = r->out_io ? qs_io_start(r->loop, r->in_fd, QS_IO_WRITE, on_input, r, err) : NULL;
    if (!r->in_io) {
        end_all(r, false);
        return false;
    }
    r->timer = qs_timer_start(r->loop, spec->timeout_ns, on_timeout, r);
    return true;
}

struct qs_command_run *qs_command_start(struct qs_loop *loop, const struct qs_command_spec *spec,
                                        qs_command_fn *fn, void *user, struct qs_err *err)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    struct qs_command_run *r = qs_calloc(1, sizeof *r);
    *r = (struct qs_command_run){.loop = loop,
                                 .fn = fn,
                                 .user = user,
                                 .name = qs_strdup(spec->argv[0]),
                                 .output_max_bytes = spec->output_max_bytes,
                                 .timeout_ns = spec->timeout_ns,
                                 .in_fd = -1,
                                 .out_fd = -1};
    qs_buf_init(&r->input);
    qs_buf_init(&r->output);
    qs_buf_add(&r->input, spec->input, spec->input_bytes);
    bool ok = make_pair(in, err) && make_pair(out, err);
    r->in_fd = in[0];
    r->out_fd = out[0];
    ok = ok && begin(r, spec, in, out, err);
    if (in[1] >= 0)
        close(in[1]);
    if (out[1] >= 0)
        close(out[1]);
    if (ok)
        return r;
    release(r);
    return NULL;
}

void qs_command_stop(struct qs_command_run *run)
{
    if (!run)
        return;
    end_all(run, false);
    release(run);
}
