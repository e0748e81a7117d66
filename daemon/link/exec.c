/* Any command's standard input and output as the byte stream: a local agent, or ssh. What it says on standard
 * error is read and dropped but for the last line, which explains its end. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "link/link_impl.h"

enum { LINE_BYTES = 240 };

static const int64_t END_GRACE_NS = 1000000000; /* between end-of-file and the news of the exit */
static const int64_t PATIENCE_NS = 5000000000;  /* from SIGTERM to SIGKILL: an agent ends a benchmark first */

struct exec_own {
    char **argv; /* owned, NULL-terminated */
    struct qs_child *child;
    int err_fd; /* owned; -1 = none */
    struct qs_io *err_io;
    char line[LINE_BYTES]; /* of standard error, still growing: what exceeds it is dropped */
    size_t line_len;
    char last[LINE_BYTES]; /* the last line that was not empty */
    size_t last_len;
    bool stream_over, exited;
    int exit_code, term_signal;
    struct qs_timer *grace;
    struct qs_child *leaving; /* was told to end by close; child is NULL then */
    struct qs_timer *patience;
};

static void *exec_new_own(const struct qs_farm_device *device)
{
    struct exec_own *own = qs_calloc(1, sizeof *own);
    own->argv = qs_calloc(device->argv.count + 1, sizeof *own->argv);
    for (size_t i = 0; i < device->argv.count; i++)
        own->argv[i] = qs_strdup(device->argv.at[i]);
    own->err_fd = -1;
    return own;
}

static void exec_free_own(void *user)
{
    struct exec_own *own = user;
    qs_timer_stop(own->patience);
    qs_child_stop(own->leaving);
    for (char **arg = own->argv; *arg; arg++)
        free(*arg);
    free(own->argv);
    free(own);
}

/* ---- standard error ---- */

static void end_line(struct exec_own *own)
{
    if (own->line_len == 0)
        return;
    memcpy(own->last, own->line, own->line_len);
    own->last_len = own->line_len;
    own->line_len = 0;
}

static void take_stderr(struct exec_own *own, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n' || bytes[i] == '\r')
            end_line(own);
        else if (own->line_len < LINE_BYTES)
            own->line[own->line_len++] = bytes[i];
    }
}

static void close_stderr(struct exec_own *own)
{
    qs_io_stop(own->err_io);
    own->err_io = NULL;
    if (own->err_fd >= 0)
        close(own->err_fd);
    own->err_fd = -1;
    end_line(own);
}

/* One read a turn: a command that floods its standard error must not keep the loop. */
static bool read_stderr(struct exec_own *own)
{
    char bytes[4096];
    ssize_t got = read(own->err_fd, bytes, sizeof bytes);
    if (got > 0)
        take_stderr(own, bytes, (size_t)got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        close_stderr(own);
    return got > 0;
}

/* ---- the end ---- */

static void say_end(struct qs_link *link, struct qs_err *why)
{
    struct exec_own *own = link->own;
    QS_BUF(line);
    if (own->last_len > 0) {
        qs_buf_str(&line, ": ");
        qs_text_escape(&line, own->last, own->last_len);
    }
    if (!own->exited)
        qs_fail(why, QS_E_LINK, "%s closed its output%s", own->argv[0], line.data);
    else if (own->term_signal != 0)
        qs_fail(why, QS_E_LINK, "%s was ended by signal %d%s", own->argv[0], own->term_signal, line.data);
    else
        qs_fail(why, QS_E_LINK, "%s ended with exit code %d%s", own->argv[0], own->exit_code, line.data);
}

static void finish(struct qs_link *link)
{
    struct exec_own *own = link->own;
    struct qs_err why = QS_ERR_INIT;
    for (int turns = 0; turns < 64 && own->err_fd >= 0 && read_stderr(own); turns++) {
    }
    close_stderr(own);
    say_end(link, &why);
    qs_link_down(link, &why);
}

static void on_grace(void *user)
{
    struct qs_link *link = user;
    struct exec_own *own = link->own;
    own->grace = NULL;
    finish(link);
}

/* Output, exit and standard error end in any order; a grandchild may keep one of them open. */
static void consider_end(struct qs_link *link)
{
    struct exec_own *own = link->own;
    if (own->stream_over && own->exited)
        finish(link);
    else if (!own->grace)
        own->grace = qs_timer_start(link->loop, END_GRACE_NS, on_grace, link);
}

static void exec_stream_ended(struct qs_link *link, const struct qs_err *why)
{
    struct exec_own *own = link->own;
    (void)why; /* how the command ended says more */
    qs_link_stream_close(link);
    own->stream_over = true;
    consider_end(link);
}

static void on_exit_of_command(int exit_code, int term_signal, void *user)
{
    struct qs_link *link = user;
    struct exec_own *own = link->own;
    if (own->leaving) {
        own->leaving = NULL;
        qs_timer_stop(own->patience);
        own->patience = NULL;
        return;
    }
    own->child = NULL;
    own->exited = true;
    own->exit_code = exit_code;
    own->term_signal = term_signal;
    consider_end(link);
}

static void on_stderr(unsigned events, void *user)
{
    (void)events;
    struct qs_link *link = user;
    read_stderr(link->own);
}

/* ---- the link ---- */

static void on_patience(void *user)
{
    struct qs_link *link = user;
    struct exec_own *own = link->own;
    own->patience = NULL;
    qs_child_kill(own->leaving, SIGKILL);
}

static void exec_close(struct qs_link *link)
{
    struct exec_own *own = link->own;
    qs_link_stream_close(link);
    close_stderr(own);
    qs_timer_stop(own->grace);
    own->grace = NULL;
    if (own->child) {
        qs_child_kill(own->child, SIGTERM);
        own->leaving = own->child;
        own->patience = qs_timer_start(link->loop, PATIENCE_NS, on_patience, link);
    }
    own->child = NULL;
}

static bool spawn(struct qs_link *link, int peer, int err_write, struct qs_err *err)
{
    struct exec_own *own = link->own;
    struct qs_spawn spec = {
        .argv = (const char *const *)own->argv,
        .fd = {peer, peer, err_write},
        .new_session = true,
    };
    own->child = qs_child_start(link->loop, &spec, on_exit_of_command, link, err);
    return own->child != NULL;
}

static bool start(struct qs_link *link, const int pair[2], const int err_pipe[2], struct qs_err *err)
{
    struct exec_own *own = link->own;
    if (fcntl(pair[0], F_SETFL, O_NONBLOCK) != 0 || fcntl(err_pipe[0], F_SETFL, O_NONBLOCK) != 0)
        return qs_fail(err, QS_E_RESOURCE, "cannot make a descriptor non-blocking: %s", strerror(errno));
    own->err_io = qs_io_start(link->loop, err_pipe[0], QS_IO_READ, on_stderr, link, err);
    if (!own->err_io || !spawn(link, pair[1], err_pipe[1], err))
        return false;
    return true;
}

static bool exec_open(struct qs_link *link, struct qs_err *err)
{
    struct exec_own *own = link->own;
    int pair[2];
    int err_pipe[2];
    if (!own->argv[0])
        return qs_fail(err, QS_E_CONFIG, "%s: an exec link needs a command", link->name);
    if (own->leaving)
        return qs_fail(err, QS_E_LINK, "%s of the previous connection has not ended yet: process %ld",
                       own->argv[0], (long)qs_child_pid(own->leaving));
    if (qs_loop_is_virtual(link->loop))
        return qs_fail(err, QS_E_INTERNAL, "a command has no place in virtual time");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return qs_fail(err, QS_E_RESOURCE, "cannot make a socket pair: %s", strerror(errno));
    if (pipe2(err_pipe, O_CLOEXEC) != 0) {
        qs_fail(err, QS_E_RESOURCE, "cannot make a pipe: %s", strerror(errno));
        close(pair[0]);
        close(pair[1]);
        return false;
    }
    own->line_len = own->last_len = 0;
    own->stream_over = own->exited = false;
    own->err_fd = err_pipe[0];
    bool ok = start(link, pair, err_pipe, err);
    close(pair[1]);
    close(err_pipe[1]);
    if (!ok)
        close(pair[0]);
    if (!ok || !qs_link_stream_open(link, pair[0], false, err)) {
        exec_close(link);
        return false;
    }
    return true;
}

const struct qs_link_ops qs_link_exec_ops = {
    .traits = {.through_shell = true},
    .new_own = exec_new_own,
    .free_own = exec_free_own,
    .open = exec_open,
    .close = exec_close,
    .send = qs_link_stream_send,
    .stream_ended = exec_stream_ended,
};
