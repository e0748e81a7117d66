/* A line is written where that cannot wait: a pipe, a terminal and a socket take what they take at once, the
 * rest is kept up to a bound and written when there is room. What comes on top is counted, and told when it
 * drains. Files are written to as they are, and cut where they have a bound. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"

enum { PIECE_BYTES = 4096 }; /* a pipe that is ready has room for so much */

struct qs_log {
    FILE *out; /* borrowed */
    enum qs_log_level at_most;
    struct qs_loop *loop; /* borrowed */
    int fd;               /* of what might keep us waiting, or -1: `out` is written to */
    bool own_fd, socket;
    struct qs_io *io; /* while something is kept */
    struct qs_buf kept;
    size_t lost;        /* lines, since the last one that was kept */
    int64_t most_bytes; /* of a file; 0: no bound */
};

/* A description of our own can be made non-blocking without doing it to everybody who shares this one. */
static void look_at(struct qs_log *log, int fd)
{
    struct stat st;
    char path[64];
    if (fd < 0 || fstat(fd, &st) != 0 || S_ISREG(st.st_mode))
        return;
    log->fd = fd;
    log->socket = S_ISSOCK(st.st_mode);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = log->socket ? -1 : open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    log->own_fd = own >= 0;
    if (own >= 0)
        log->fd = own;
}

struct qs_log *qs_log_new(FILE *out, enum qs_log_level at_most, struct qs_loop *loop)
{
    struct qs_log *log = qs_malloc(sizeof *log);
    *log = (struct qs_log){.out = out, .at_most = at_most, .loop = loop, .fd = -1};
    qs_buf_init(&log->kept);
    if (out)
        look_at(log, fileno(out));
    return log;
}

static ssize_t put_some(const struct qs_log *log, const char *bytes, size_t n)
{
    struct pollfd now = {.fd = log->fd, .events = POLLOUT};
    if (log->socket)
        return send(log->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (!log->own_fd && (poll(&now, 1, 0) <= 0 || !(now.revents & (POLLOUT | POLLERR)))) {
        errno = EAGAIN;
        return -1;
    }
    return write(log->fd, bytes, n < PIECE_BYTES ? n : PIECE_BYTES);
}

/* False: the rest of what is kept has to wait. Nobody will ever read it: it is dropped. */
static bool put_kept(struct qs_log *log)
{
    while (log->kept.len > 0) {
        ssize_t n = put_some(log, log->kept.data, log->kept.len);
        if (n > 0)
            qs_buf_drop_front(&log->kept, (size_t)n);
        else if (n < 0 && errno == EAGAIN)
            return false;
        else if (n == 0 || errno != EINTR)
            qs_buf_clear(&log->kept);
    }
    return true;
}

static void add_line(const struct qs_log *log, struct qs_buf *line, enum qs_log_level level,
                     const char *module, const struct qs_buf *text)
{
    if (log->loop) {
        char stamp[32];
        qs_text_time(qs_loop_wall_ns(log->loop), stamp);
        qs_buf_fmt(line, "%s ", stamp);
    }
    qs_buf_fmt(line, "%s %s: ", qs_log_level_name(level), module);
    qs_text_escape(line, text->data, text->len);
    qs_buf_char(line, '\n');
}

static void add_lost(struct qs_log *log)
{
    QS_BUF(text);
    qs_buf_fmt(&text, "%zu line%s here, because nobody read the log", log->lost,
               log->lost == 1 ? " is missing" : "s are missing");
    add_line(log, &log->kept, QS_LOG_WARN, "log", &text);
    log->lost = 0;
}

static bool drain(struct qs_log *log)
{
    if (!put_kept(log))
        return false;
    if (log->lost == 0)
        return true;
    add_lost(log);
    return put_kept(log);
}

static void on_room(unsigned events, void *user)
{
    struct qs_log *log = user;
    (void)events;
    if (!drain(log))
        return;
    qs_io_stop(log->io);
    log->io = NULL;
}

static void keep(struct qs_log *log, const struct qs_buf *line)
{
    if (log->lost > 0 || line->len > QS_LOG_KEPT_BYTES - log->kept.len)
        log->lost++;
    else
        qs_buf_add(&log->kept, line->data, line->len);
    if (!drain(log) && !log->io && log->loop && !qs_loop_is_virtual(log->loop))
        log->io = qs_io_start(log->loop, log->fd, QS_IO_WRITE, on_room, log, NULL);
}

void qs_log_bound(struct qs_log *log, int64_t most_bytes)
{
    log->most_bytes = most_bytes;
}

/* The newer half of the file, from the beginning of a line, takes the place of the whole. Others that append
 * to it meanwhile may lose lines. */
static void cut(const struct qs_log *log, int fd, int64_t size)
{
    static const char note[] = "[older lines were dropped]\n";
    char path[64];
    size_t keep = (size_t)(log->most_bytes / 2);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    QS_FREED char *text = qs_malloc(keep + 1);
    ssize_t n = from >= 0 ? pread(from, text, keep, size - (int64_t)keep) : -1;
    if (from >= 0)
        close(from);
    text[n > 0 ? n : 0] = '\0';
    const char *line = n > 0 ? memchr(text, '\n', (size_t)n) : NULL;
    if (ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0) {
        fputs(note, log->out);
        if (line)
            fwrite(line + 1, 1, (size_t)(text + n - line - 1), log->out);
        fflush(log->out);
    }
}

static void look_at_size(const struct qs_log *log)
{
    struct stat st;
    int fd = fileno(log->out);
    if (log->most_bytes > 0 && fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_size > log->most_bytes)
        cut(log, fd, st.st_size);
}

void qs_log_free(struct qs_log *log)
{
    if (!log)
        return;
    (void)drain(log);
    qs_io_stop(log->io);
    if (log->own_fd)
        close(log->fd);
    qs_buf_done(&log->kept);
    free(log);
}

const char *qs_log_level_name(enum qs_log_level level)
{
    switch (level) {
    case QS_LOG_ERROR:
        return "error";
    case QS_LOG_WARN:
        return "warn";
    case QS_LOG_INFO:
        return "info";
    case QS_LOG_DEBUG:
        return "debug";
    }
    return "error";
}

bool qs_log_level_read(const char *name, enum qs_log_level *ret)
{
    for (*ret = QS_LOG_ERROR; *ret < QS_LOG_DEBUG && strcmp(name, qs_log_level_name(*ret)) != 0;)
        ++*ret;
    return strcmp(name, qs_log_level_name(*ret)) == 0;
}

void qs_log(struct qs_log *log, enum qs_log_level level, const char *module, const char *fmt, ...)
{
    if (!log || !log->out || level > log->at_most)
        return;
    QS_BUF(text);
    QS_BUF(line);
    va_list ap;
    va_start(ap, fmt);
    qs_buf_vfmt(&text, fmt, ap);
    va_end(ap);
    add_line(log, &line, level, module, &text);
    if (log->fd >= 0) {
        keep(log, &line);
    } else { /* one write for a line, so that lines of several processes do not mix */
        fwrite(line.data, 1, line.len, log->out);
        fflush(log->out);
        look_at_size(log);
    }
}
