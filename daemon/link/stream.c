/* Bytes over one non-blocking descriptor, a socket as a rule: what the peer does not take at once waits in a
 * bounded queue. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link/link_impl.h"

enum { READ_BYTES = 32 * 1024 };

static void ended(struct qs_link *link, const struct qs_err *why)
{
    if (link->ops->stream_ended)
        link->ops->stream_ended(link, why);
    else
        qs_link_down(link, why);
}

static bool try_later(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

/* Writes what the peer takes of n bytes; -1 where it is broken. */
static ssize_t write_some(struct qs_link *link, const void *bytes, size_t n)
{
    ssize_t sent = send(link->stream.fd, bytes, n, MSG_NOSIGNAL);
    if (sent < 0 && errno == ENOTSOCK)
        sent = write(link->stream.fd, bytes, n);
    if (sent < 0)
        return try_later(errno) ? 0 : -1;
    link->counters.bytes_out += (uint64_t)sent;
    return sent;
}

static bool watch(struct qs_link *link, struct qs_err *err)
{
    unsigned events = QS_IO_READ;
    if (link->stream.connecting || (link->stream.queue.len > 0 && !link->stream.broken))
        events |= QS_IO_WRITE;
    return qs_io_update(link->stream.io, events, err);
}

static bool fail_write(struct qs_link *link, struct qs_err *err)
{
    qs_fail(err, QS_E_LINK, "cannot write to %s: %s", link->name, strerror(errno));
    link->stream.broken = true;
    qs_buf_clear(&link->stream.queue);
    return false;
}

/* The peer is gone, but what it said last waits to be read. */
static bool has_last_words(const struct qs_link *link)
{
    int bytes = 0;
    return ioctl(link->stream.fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

static bool flush(struct qs_link *link, struct qs_err *err)
{
    struct qs_link_stream *s = &link->stream;
    if (s->queue.len > 0) {
        ssize_t sent = write_some(link, s->queue.data, s->queue.len);
        if (sent < 0)
            return fail_write(link, err) || has_last_words(link);
        qs_buf_drop_front(&s->queue, (size_t)sent);
    }
    return watch(link, err);
}

/* The last thing its caller does. */
static void read_some(struct qs_link *link)
{
    uint8_t bytes[READ_BYTES];
    struct qs_err why = QS_ERR_INIT;
    ssize_t got = read(link->stream.fd, bytes, sizeof bytes);
    if (got > 0) {
        link->counters.bytes_in += (uint64_t)got;
        if (link->ops->take)
            link->ops->take(link, bytes, (size_t)got);
        else
            qs_link_bytes(link, bytes, (size_t)got);
    } else if (got == 0) {
        qs_fail(&why, QS_E_LINK, "%s closed the connection", link->name);
        ended(link, &why);
    } else if (!try_later(errno)) {
        qs_fail(&why, QS_E_LINK, "cannot read from %s: %s", link->name, strerror(errno));
        ended(link, &why);
    }
}

static void connected(struct qs_link *link)
{
    int error = 0;
    socklen_t size = sizeof error;
    struct qs_err why = QS_ERR_INIT;
    if (getsockopt(link->stream.fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    link->stream.connecting = false;
    if (error != 0)
        qs_fail(&why, QS_E_LINK, "cannot connect to %s: %s", link->name, strerror(error));
    if (error != 0 || !watch(link, &why))
        qs_link_down(link, &why);
    else
        (link->ops->stream_stands ? link->ops->stream_stands : qs_link_up)(link);
}

static void on_ready(unsigned events, void *user)
{
    struct qs_link *link = user;
    struct qs_err why = QS_ERR_INIT;
    if (link->stream.connecting) {
        connected(link);
        return;
    }
    if (link->state != QS_LINK_IS_UP && !link->ops->take)
        return; /* level-triggered: it comes again */
    if ((events & QS_IO_WRITE) && !flush(link, &why)) {
        ended(link, &why);
        return;
    }
    if (events & QS_IO_READ)
        read_some(link);
}

bool qs_link_stream_open(struct qs_link *link, int fd, bool connecting, struct qs_err *err)
{
    struct qs_link_stream *s = &link->stream;
    s->fd = fd;
    s->connecting = connecting;
    s->broken = false;
    s->io = qs_io_start(link->loop, fd, connecting ? QS_IO_WRITE : QS_IO_READ, on_ready, link, err);
    if (!s->io) {
        qs_link_stream_close(link);
        return false;
    }
    if (!connecting && !link->ops->take)
        qs_link_up_later(link);
    return true;
}

bool qs_link_stream_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err)
{
    struct qs_link_stream *s = &link->stream;
    if (s->broken || s->fd < 0)
        return qs_fail(err, QS_E_LINK, "the connection to %s is broken", link->name);
    if (n > QS_LINK_QUEUE_BYTES - s->queue.len)
        return qs_fail(err, QS_E_AGENT, "%s does not read: %zu bytes are waiting", link->name, s->queue.len);
    struct qs_err why = QS_ERR_INIT;
    ssize_t sent = s->queue.len == 0 ? write_some(link, bytes, n) : 0;
    if (sent < 0)
        fail_write(link, &why);
    else if ((size_t)sent < n) {
        qs_buf_add(&s->queue, bytes + sent, n - (size_t)sent);
        watch(link, &why);
    }
    if (why.code == QS_E_NONE || has_last_words(link)) /* its end follows them */
        return true;
    qs_link_down_later(link, &why);
    if (err)
        *err = why;
    return false;
}

void qs_link_stream_close(struct qs_link *link)
{
    struct qs_link_stream *s = &link->stream;
    qs_io_stop(s->io);
    s->io = NULL;
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    qs_buf_clear(&s->queue);
}
