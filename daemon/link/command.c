#include "link/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

static const int64_t END_GRACE_NS = 1000000000; /* between end-of-file and the news of the exit */
static const int64_t PATIENCE_NS = 5000000000;  /* from SIGTERM to SIGKILL: an agent ends a benchmark first */

enum { LINE_BYTES = QS_LINK_COMMAND_LINE_BYTES };

void qs_link_command_init(struct qs_link_command *c)
{
    c->err_fd = -1;
    c->argv = qs_calloc(1, sizeof *c->argv);
}

void qs_link_command_add(struct qs_link_command *c, const char *word)
{
    c->argv = qs_realloc(c->argv, (c->count + 2) * sizeof *c->argv);
    c->argv[c->count++] = qs_strdup(word);
    c->argv[c->count] = NULL;
}

void qs_link_command_add_all(struct qs_link_command *c, const struct qs_strings *words)
{
    for (size_t i = 0; i < words->count; i++)
        qs_link_command_add(c, words->at[i]);
}

void qs_link_command_done(struct qs_link_command *c)
{
    qs_timer_stop(c->patience);
    qs_child_stop(c->leaving);
    for (char **arg = c->argv; *arg; arg++)
        free(*arg);
    free(c->argv);
}

/* ---- standard error ---- */

static void end_line(struct qs_link_command *c)
{
    if (c->line_len == 0)
        return;
    memcpy(c->last, c->line, c->line_len);
    c->last_len = c->line_len;
    c->line_len = 0;
}

static void take_stderr(struct qs_link_command *c, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n' || bytes[i] == '\r')
            end_line(c);
        else if (c->line_len < LINE_BYTES)
            c->line[c->line_len++] = bytes[i];
    }
}

static void close_stderr(struct qs_link_command *c)
{
    qs_io_stop(c->err_io);
    c->err_io = NULL;
    if (c->err_fd >= 0)
        close(c->err_fd);
    c->err_fd = -1;
    end_line(c);
}

/* One read a turn: a command that floods its standard error must not keep the loop. */
static bool read_stderr(struct qs_link_command *c)
{
    char bytes[4096];
    ssize_t got = read(c->err_fd, bytes, sizeof bytes);
    if (got > 0)
        take_stderr(c, bytes, (size_t)got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        close_stderr(c);
    return got > 0;
}

/* ---- the end ---- */

static void say_end(struct qs_link *link, struct qs_err *why)
{
    struct qs_link_command *c = link->own;
    QS_BUF(line);
    if (c->last_len > 0) {
        qs_buf_str(&line, ": ");
        qs_text_escape(&line, c->last, c->last_len);
    }
    if (c->explain)
        c->explain(link, &line);
    if (!c->exited)
        qs_fail(why, QS_E_LINK, "%s closed its output%s", c->argv[0], line.data);
    else if (c->term_signal != 0)
        qs_fail(why, QS_E_LINK, "%s was ended by signal %d%s", c->argv[0], c->term_signal, line.data);
    else
        qs_fail(why, QS_E_LINK, "%s ended with exit code %d%s", c->argv[0], c->exit_code, line.data);
}

static void finish(struct qs_link *link)
{
    struct qs_link_command *c = link->own;
    struct qs_err why = QS_ERR_INIT;
    for (int turns = 0; turns < 64 && c->err_fd >= 0 && read_stderr(c); turns++) {
    }
    close_stderr(c);
    say_end(link, &why);
    qs_link_down(link, &why);
}

static void on_grace(void *user)
{
    struct qs_link *link = user;
    struct qs_link_command *c = link->own;
    c->grace = NULL;
    finish(link);
}

/* Output, exit and standard error end in any order; a grandchild may keep one of them open. */
static void consider_end(struct qs_link *link)
{
    struct qs_link_command *c = link->own;
    if (c->stream_over && c->exited)
        finish(link);
    else if (!c->grace)
        c->grace = qs_timer_start(link->loop, END_GRACE_NS, on_grace, link);
}

void qs_link_command_ended(struct qs_link *link, const struct qs_err *why)
{
    struct qs_link_command *c = link->own;
    (void)why; /* how the command ended says more */
    qs_link_stream_close(link);
    c->stream_over = true;
    consider_end(link);
}

static void on_exit_of_command(int exit_code, int term_signal, void *user)
{
    struct qs_link *link = user;
    struct qs_link_command *c = link->own;
    if (c->leaving) {
        c->leaving = NULL;
        qs_timer_stop(c->patience);
        c->patience = NULL;
        return;
    }
    c->child = NULL;
    c->exited = true;
    c->exit_code = exit_code;
    c->term_signal = term_signal;
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
    struct qs_link_command *c = link->own;
    c->patience = NULL;
    qs_child_kill(c->leaving, SIGKILL);
}

void qs_link_command_close(struct qs_link *link)
{
    struct qs_link_command *c = link->own;
    qs_link_stream_close(link);
    close_stderr(c);
    qs_timer_stop(c->grace);
    c->grace = NULL;
    if (c->child) {
        qs_child_kill(c->child, SIGTERM);
        c->leaving = c->child;
        c->patience = qs_timer_start(link->loop, PATIENCE_NS, on_patience, link);
    }
    c->child = NULL;
}

static bool spawn(struct qs_link *link, int peer, int err_write, struct qs_err *err)
{
    struct qs_link_command *c = link->own;
    struct qs_spawn spec = {
        .argv = (const char *const *)c->argv,
        .fd = {peer, peer, err_write},
        .new_session = true,
    };
    c->child = qs_child_start(link->loop, &spec, on_exit_of_command, link, err);
    return c->child != NULL;
}

static bool start(struct qs_link *link, const int pair[2], const int err_pipe[2], struct qs_err *err)
{
    struct qs_link_command *c = link->own;
    if (fcntl(pair[0], F_SETFL, O_NONBLOCK) != 0 || fcntl(err_pipe[0], F_SETFL, O_NONBLOCK) != 0)
        return qs_fail(err, QS_E_RESOURCE, "cannot make a descriptor non-blocking: %s", strerror(errno));
    c->err_io = qs_io_start(link->loop, err_pipe[0], QS_IO_READ, on_stderr, link, err);
    if (!c->err_io || !spawn(link, pair[1], err_pipe[1], err))
        return false;
    return true;
}

bool qs_link_command_open(struct qs_link *link, struct qs_err *err)
{
    struct qs_link_command *c = link->own;
    int pair[2];
    int err_pipe[2];
    if (!c->argv[0])
        return qs_fail(err, QS_E_CONFIG, "%s: the link needs a command", link->name);
    if (c->leaving)
        return qs_fail(err, QS_E_LINK, "%s of the previous connection has not ended yet: process %ld",
                       c->argv[0], (long)qs_child_pid(c->leaving));
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
    c->line_len = c->last_len = 0;
    c->stream_over = c->exited = false;
    c->err_fd = err_pipe[0];
    bool ok = start(link, pair, err_pipe, err);
    close(pair[1]);
    close(err_pipe[1]);
    if (!ok)
        close(pair[0]);
    if (!ok || !qs_link_stream_open(link, pair[0], false, err)) {
        qs_link_command_close(link);
        return false;
    }
    return true;
}
