#include "api/flow.h"

#include <microhttpd.h>
#include <poll.h>
#include <string.h>

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
    qs_exchange_suspend(ex);
    return 0;
}

void qs_flow_wake(struct qs_exchange *ex)
{
    if (ex->queued)
        qs_exchange_wake(ex);
}

static int fd_of(const struct qs_exchange *ex)
{
    return MHD_get_connection_info(ex->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/* Both directions are closed, or one of them is. What the client sent before it left is of no account. */
static void on_hang_up(unsigned events, void *user)
{
    struct qs_exchange *ex = user;
    struct pollfd now = {.fd = fd_of(ex)};
    (void)events;
    bool whole = poll(&now, 1, 0) > 0 && (now.revents & (POLLHUP | POLLERR)) != 0;
    bool answered = ex->queued && !ex->is_flow; /* all of it is made: who has no more to ask may still read */
    qs_flow_unwatch(ex);
    if (!whole && (!ex->flow.ends_half || answered))
        return;
    ex->flow.failed = true;
    qs_exchange_wake(ex);
}

void qs_flow_watch(struct qs_exchange *ex)
{
    if (!ex->flow.hang_up)
        ex->flow.hang_up = qs_io_start(ex->api->p.loop, fd_of(ex), QS_IO_GONE, on_hang_up, ex, NULL);
}

void qs_flow_end_with_client(struct qs_exchange *ex)
{
    ex->flow.ends_half = true;
    qs_flow_watch(ex);
}

void qs_flow_unwatch(struct qs_exchange *ex)
{
    if (ex->flow.hang_up)
        qs_io_stop(ex->flow.hang_up);
    ex->flow.hang_up = NULL;
}
