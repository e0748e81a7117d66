/* What the files of the API share. Private to api. */
#ifndef QS_API_API_IMPL_H
#define QS_API_API_IMPL_H

#include <stdint.h>

#include "api/api.h"
#include "api/socket.h"

struct MHD_Daemon;
struct qs_io;
struct qs_exchange;
struct qs_visitor;
struct qs_timer;

enum {
    QS_API_CONNECTIONS = 1400, /* where the system allows so many; more wait in the socket's backlog */
    QS_API_STREAMS = 1000,     /* open event streams, and at most three quarters of the connections */
    QS_API_TICKS = 6,          /* of 5 s: a request's head has come by then */
    QS_API_BODIES_BYTES = 256 * 1024 * 1024, /* of all requests under way, in memory */
    QS_API_LARGE_BYTES = 192 * 1024 * 1024,  /* of one user's that are above 1 MiB */
    QS_API_NAME_BYTES = 64,                  /* of a user */
    QS_API_IDLE_S = 30,                      /* a connection on which nothing moves; streams are excepted */
    QS_API_QUEUE_BYTES = 65536 /* of one stream; what comes on top is read from the store later */
};

struct qs_api_name {
    char text[QS_API_NAME_BYTES];
    bool known;
};

struct qs_api {
    struct qs_api_parts p; /* its texts are owned */
    struct qs_api_events events;
    struct qs_listen listen;
    struct MHD_Daemon *daemon;     /* NULL while not started */
    struct qs_io *io;              /* of the daemon's epoll descriptor */
    struct qs_timer *timer;        /* what the daemon waits for, or NULL */
    struct qs_exchange *exchanges; /* every one that is alive, newest first */
    struct qs_visitor *visitors;   /* every connection, newest first */
    struct qs_timer *tick;         /* of their deadlines, or NULL */
    int64_t tick_ns;
    size_t most_connections, most_streams;
    struct qs_api_name names[2]; /* of root, of this user: nobody else is served */
    size_t clients, streams;
    size_t outstanding; /* reads, works, commits and posts on their way */
    int64_t newest_job; /* a submission that is given a higher number is a new one */
    int64_t started_ns, started_wall_ns;
    bool run_posted, silent, stopping;
    bool sending;                   /* an answer that the next run sends is one that a silence waits for */
    void (*on_stopped)(void *user); /* NULL unless stopping */
    void *stopped_user;
};

/* server.c: lets libmicrohttpd work after the current callback. */
void qs_api_run_soon(struct qs_api *api);
/* One thing more, or one less, that will call back. The last one ends a stop. */
void qs_api_enter(struct qs_api *api);
void qs_api_leave(struct qs_api *api);

/* events.c, streams of events (server-sent): each goes on where its client stopped, and none loses an event.
 * What happens now is queued for a stream up to a bound; a stream that falls behind reads from the store by
 * the event's number until it has caught up. Something happened: for every stream that it concerns. */
void qs_events_tell(struct qs_api *api, const struct qs_farm_event *event);

#endif
