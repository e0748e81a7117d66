#include "api/flow.h"

#include <errno.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>

#include "api/reply.h"
#include "base/loop.h"

static ssize_t take(struct qs_request *rq, char *out, size_t max)
{
    struct qs_flow *flow = &rq->flow;
    size_t left = rq->reply.len - flow->sent, n = left < max ? left : max;
    memcpy(out, rq->reply.data + flow->sent, n);
    flow->sent += n;
    if (flow->sent == rq->reply.len) {
        qs_buf_clear(&rq->reply);
        flow->sent = 0;
    }
    return (ssize_t)n;
}

ssize_t qs_flow_read(void *cls, uint64_t pos, char *out, size_t max)
{
    struct qs_request *rq = cls;
    struct qs_flow *flow = &rq->flow;
    (void)pos;
    if (flow->failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (!rq->api->silent) {
        if (flow->sent < rq->reply.len)
            return take(rq, out, max);
        if (flow->ended)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (!rq->busy && !rq->reading)
            flow->more(rq);
        if (flow->sent < rq->reply.len)
            return take(rq, out, max);
        if (flow->ended)
            return MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        rq->wake = true;
    }
    rq->suspended = true;
    MHD_suspend_connection(rq->connection);
    return 0;
}

void qs_flow_wake(struct qs_request *rq)
{
    if (rq->queued)
        qs_request_wake(rq);
}

/* Something to read on a connection whose request is complete: the client has left, or is impatient. */
static void on_hang_up(unsigned events, void *user)
{
    struct qs_request *rq = user;
    char byte;
    (void)events;
    ssize_t n = recv(MHD_get_connection_info(rq->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
                     &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    qs_flow_unwatch(rq);
    if (n <= 0) {
        rq->flow.failed = true;
        qs_request_wake(rq);
    }
}

void qs_flow_watch(struct qs_request *rq)
{
    int fd = MHD_get_connection_info(rq->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    if (!rq->flow.hang_up)
        rq->flow.hang_up = qs_io_start(rq->api->p.loop, fd, QS_IO_READ, on_hang_up, rq, NULL);
}

void qs_flow_unwatch(struct qs_request *rq)
{
    if (rq->flow.hang_up)
        qs_io_stop(rq->flow.hang_up);
    rq->flow.hang_up = NULL;
}
