#include "api/server.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/exchange.h"
#include "api/visitors.h"
#include "base/loop.h"

enum { CONNECTION_BYTES = 65536 }; /* memory of one connection: its header, and a piece of its body */

static void on_due(void *user);

static void drive(struct qs_api *api)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;
    MHD_run(api->daemon);
    if (api->timer)
        qs_timer_stop(api->timer);
    api->timer = NULL;
    if (MHD_get_timeout(api->daemon, &wait_ms) != MHD_YES)
        return;
    if (wait_ms == 0)
        qs_api_run_soon(api);
    else
        api->timer =
            qs_timer_start(api->p.loop, (int64_t)(wait_ms < 60000 ? wait_ms : 60000) * 1000000, on_due, api);
}

static void on_due(void *user)
{
    struct qs_api *api = user;
    api->timer = NULL;
    drive(api);
}

static void on_ready(unsigned events, void *user)
{
    (void)events;
    drive(user);
}

static void on_run(void *user)
{
    struct qs_api *api = user;
    api->run_posted = false;
    api->sending = false;
    if (api->daemon)
        drive(api);
    qs_api_leave(api);
}

void qs_api_run_soon(struct qs_api *api)
{
    if (api->run_posted || !api->daemon)
        return;
    api->run_posted = true;
    qs_api_enter(api);
    qs_loop_post(api->p.loop, on_run, api);
}

static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct qs_api *api = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        api->clients++;
        *context = qs_visitor_come(api, connection);
    } else {
        api->clients--;
        qs_visitor_leave(api, *context);
        *context = NULL;
        /* At its limit libmicrohttpd listens again in the run that follows, and asks for none. */
        qs_api_run_soon(api);
    }
    if (api->events.on_clients)
        api->events.on_clients(api->clients, api->events.user);
}

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *connection)
{
    struct qs_exchange *ex = qs_exchange_new(cls, connection, uri);
    ex->visitor = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    qs_visitor_asks(ex->visitor, ex);
    return ex;
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
    (void)cls;
    (void)connection;
    (void)code;
    if (*context)
        qs_exchange_free(*context);
    *context = NULL;
}

/* The rest of the daemon needs descriptors, too. */
static void set_limits(struct qs_api *api)
{
    enum { OTHERS = 512, LEAST = 128 };
    size_t allowed = qs_loop_allow_files(api->p.loop, QS_API_CONNECTIONS + OTHERS);
    size_t most = allowed > OTHERS + LEAST ? allowed - OTHERS : LEAST;
    api->most_connections = most < QS_API_CONNECTIONS ? most : QS_API_CONNECTIONS;
    most = api->most_connections * 3 / 4;
    api->most_streams = most < QS_API_STREAMS ? most : QS_API_STREAMS;
}

bool qs_server_start(struct qs_api *api, struct qs_err *err)
{
    set_limits(api);
    int fd = fcntl(api->listen.fd, F_DUPFD_CLOEXEC, 0); /* libmicrohttpd closes its own */
    if (fd < 0)
        return qs_fail(err, QS_E_RESOURCE, "no descriptor is left for the API's socket");
    api->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, qs_access, api, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)api->most_connections, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)QS_API_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
        MHD_OPTION_URI_LOG_CALLBACK, on_uri, api, MHD_OPTION_NOTIFY_COMPLETED, on_completed, api,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, api, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (!api->daemon) {
        close(fd);
        return qs_fail(err, QS_E_RESOURCE, "the HTTP server cannot be started");
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(api->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (info)
        api->io = qs_io_start(api->p.loop, info->epoll_fd, QS_IO_READ, on_ready, api, err);
    if (api->io)
        return true;
    MHD_stop_daemon(api->daemon);
    api->daemon = NULL;
    return info != NULL ? false : qs_fail(err, QS_E_INTERNAL, "the HTTP server has no epoll descriptor");
}

void qs_server_stop(struct qs_api *api)
{
    if (!api->daemon)
        return;
    qs_io_stop(api->io);
    if (api->timer)
        qs_timer_stop(api->timer);
    api->io = NULL;
    api->timer = NULL;
    for (struct qs_exchange *ex = api->exchanges; ex; ex = ex->next) {
        ex->flow.failed = true;
        if (ex->suspended)
            MHD_resume_connection(ex->connection);
        ex->suspended = false;
    }
    struct MHD_Daemon *daemon = api->daemon;
    api->daemon = NULL;
    MHD_stop_daemon(daemon);
}
