#include "api/visitors.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "api/exchange.h"
#include "api/socket.h"
#include "base/loop.h"
#include "base/mem.h"

enum {
    RESERVED = 64,           /* connections that one user leaves to the others */
    BODY_BYTES = 320 * 1024, /* a tick more for so much of a body: 64 KiB a second */
    OVER_TICKS = 1           /* patience with who has too many */
};

static size_t count_of(const struct qs_api *api, uid_t uid)
{
    size_t n = 0;
    for (const struct qs_visitor *v = api->visitors; v; v = v->next)
        n += v->known && v->uid == uid ? 1 : 0;
    return n;
}

struct qs_visitor *qs_visitor_come(struct qs_api *api, struct MHD_Connection *connection)
{
    struct qs_visitor *v = qs_calloc(1, sizeof *v);
    v->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    v->known = qs_peer_uid(v->fd, &v->uid);
    v->over = !v->known || count_of(api, v->uid) + RESERVED >= api->most_connections;
    v->next = api->visitors;
    if (v->next)
        v->next->prev = v;
    api->visitors = v;
    qs_visitors_watch(api, true);
    return v;
}

void qs_visitor_leave(struct qs_api *api, struct qs_visitor *v)
{
    if (v->prev)
        v->prev->next = v->next;
    else
        api->visitors = v->next;
    if (v->next)
        v->next->prev = v->prev;
    if (!api->visitors)
        qs_visitors_watch(api, false);
    free(v);
}

void qs_visitor_asks(struct qs_visitor *v, struct qs_exchange *ex)
{
    v->ex = ex;
    v->ticks = ex ? v->ticks : 0;
}

/* Head and body have not come whole, and it is not we who keep it waiting. */
static bool is_saying(const struct qs_visitor *v)
{
    return !v->ex || !(v->ex->handled || v->ex->queued || v->ex->suspended);
}

static void on_tick(void *user)
{
    struct qs_api *api = user;
    api->tick = NULL;
    for (struct qs_visitor *v = api->visitors; v; v = v->next) {
        unsigned most = v->over ? OVER_TICKS : QS_API_TICKS;
        most += v->ex ? (unsigned)(v->ex->body_bytes / BODY_BYTES) : 0;
        if (is_saying(v) && ++v->ticks > most)
            (void)shutdown(v->fd, SHUT_RDWR); /* libmicrohttpd hears of it as if the client had left */
    }
    qs_visitors_watch(api, api->visitors != NULL);
}

void qs_visitors_watch(struct qs_api *api, bool on)
{
    if (on && !api->silent && !api->tick) {
        api->tick = qs_timer_start(api->p.loop, api->tick_ns, on_tick, api);
    } else if (!on || api->silent) {
        qs_timer_stop(api->tick);
        api->tick = NULL;
    }
}
