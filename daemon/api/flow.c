#include "api/flow.h"

#include <errno.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>

#include "api/reply.h"
#include "base/loop.h"

static ssize_t take(struct qs_exchange *ex, char *out, size_t max)
{
    struct qs_flow *flow = &ex->flow;
    size_t left = ex->reply.len - flow->sent, n = left < max ? left : max;
    memcpy(out, ex->reply.data + flow->sent, n);
    flow->sent += n;
    if (flow->sent == ex->reply.len) {
        qs_buf_clear(&ex->reply);
        flow->sent = 0;
    }
    return (ssize_t)n;
}

ssize_t qs_flow_read(void *cls, uint64_t pos, char *out, size_t max)
{
    struct qs_exchange *ex = cls;
    struct qs_flow *flow = &ex->flow;
    (void)pos;
    if (flow->failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (!ex->api->silent) {
        if (flow->sent < ex->reply.len)
            return take(ex, out, max);
        if (flow->ended)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (!ex->busy && !ex->reading)
            flow->more(ex);
        if (flow->sent < ex->reply.len)
            return take(ex, out, max);
        if (flow->ended)
            return MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        ex->wake = true;
    }
    ex->suspended = true;
    MHD_suspend_connection(ex->connection);
    return 0;
}

void qs_flow_wake(struct qs_exchange *ex)
{
    if (ex->queued)
        qs_exchange_wake(ex);
}

/* Something to read on a connection whose request is complete: the client has left, or is impatient. */
static void on_hang_up(unsigned events, void *user)
{
    struct qs_exchange *ex = user;
    char byte;
    (void)events;
    ssize_t n = recv(MHD_get_connection_info(ex->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
                     &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    qs_flow_unwatch(ex);
    if (n <= 0) {
        ex->flow.failed = true;
        qs_exchange_wake(ex);
    }
}

void qs_flow_watch(struct qs_exchange *ex)
{
    int fd = MHD_get_connection_info(ex->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    if (!ex->flow.hang_up)
        ex->flow.hang_up = qs_io_start(ex->api->p.loop, fd, QS_IO_READ, on_hang_up, ex, NULL);
}

void qs_flow_unwatch(struct qs_exchange *ex)
{
    if (ex->flow.hang_up)
        qs_io_stop(ex->flow.hang_up);
    ex->flow.hang_up = NULL;
}
