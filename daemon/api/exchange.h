/* One request from its first byte to its last: what a handler sees of it, and the ways to answer. A handler
 * runs on the loop when the body is complete; it answers at once (reply.h), or starts a read, a work or a
 * commit and answers in what follows: until then the connection is suspended. A client that leaves meanwhile
 * ends the request: what follows does not run. */
#ifndef QS_API_EXCHANGE_H
#define QS_API_EXCHANGE_H

#include <stdatomic.h>
#include <sys/types.h>

#include "api/api_impl.h"
#include "api/router.h"
#include "base/buf.h"
#include "store/store.h"

struct MHD_Connection;
struct qs_upload;

typedef void qs_exchange_fn(struct qs_exchange *ex);
/* On the pool: ex is its own, the rest of the API is not to be touched. */
typedef bool qs_exchange_read_fn(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err);
typedef bool qs_exchange_work_fn(struct qs_exchange *ex, struct qs_err *err);

/* So much the client's socket takes at once, whether the client reads or not: a longer answer goes in pieces,
 * and rests while a window is open. */
enum { QS_AT_ONCE_BYTES = 65536 };

struct qs_flow {           /* a reply that is sent as it is made */
    qs_exchange_fn *more;  /* everything was sent: make more (qs_flow_wake when it is there), or wait */
    size_t sent;           /* bytes of ex->reply that are gone */
    bool ended, failed;    /* no more will come; cut the connection instead of ending it */
    bool events;           /* a stream of events, with a place among QS_API_STREAMS */
    struct qs_io *hang_up; /* tells when the client has left */
    bool ends_half;        /* it has left, too, when it will send no more */
};

/* Of work that says how far it is (steps.h). The work on the pool sets the first two. */
struct qs_steps {
    _Atomic(const char *) stage; /* static */
    atomic_uint done;            /* in 10^-9 */
    const char *told_stage;
    unsigned told;
    struct qs_timer *timer;
    bool followed; /* by the client */
};

struct qs_exchange {
    struct qs_api *api;
    struct qs_exchange *next, *prev;
    struct MHD_Connection *connection; /* NULL: the client has left */
    struct qs_visitor *visitor;        /* borrowed: the connection's */
    uid_t uid;                         /* of the client */
    char owner[QS_API_NAME_BYTES];     /* its name (owner.h), once it was asked for */
    bool owner_known;
    qs_exchange_fn *owner_then;
    char *raw_uri; /* owned */
    struct qs_uri uri;
    struct qs_match match;
    struct qs_buf body;
    int64_t body_bytes;       /* seen so far */
    int64_t charged_bytes;    /* of the memory that bodies may have */
    struct qs_upload *upload; /* owned, or NULL */
    bool begun, handled, suspended, wake;
    bool replied, queued; /* the reply is known; it was given to libmicrohttpd */
    bool reading;         /* a read waits for the end of a silence */
    bool in_hand;         /* begun while nothing was held back: a silence that comes waits for its end */
    unsigned busy;        /* works on their way: as long as there are any, ex lives */
    atomic_bool left;     /* the client has left: what a work on the pool may ask */
    unsigned status;
    const char *content_type; /* static */
    const char *allow;        /* of a 405: points into allow_text, else NULL */
    char allow_text[64];
    struct qs_buf reply;
    bool is_flow;
    struct qs_flow flow;
    struct qs_steps steps;
    void *data; /* of the handler, freed with data_free */
    void (*data_free)(void *data);
    /* of the work under way */
    qs_exchange_read_fn *read;
    qs_exchange_work_fn *work;
    qs_exchange_fn *after;
    struct qs_err err;
};

/* Zeroed bytes for the handler, freed with the request; `done` (may be NULL) runs before. */
void *qs_exchange_data(struct qs_exchange *ex, size_t bytes, void (*done)(void *data));

/* The body was read and is not needed any more: its memory is for others. */
void qs_exchange_drop_body(struct qs_exchange *ex);

/* Runs read on the pool, then after(ex) on the loop; a failed read answers with its error. While the API is
 * silent only what is in hand reads; all else waits. */
void qs_exchange_read(struct qs_exchange *ex, qs_exchange_read_fn *read, qs_exchange_fn *after);
void qs_exchange_work(struct qs_exchange *ex, qs_exchange_work_fn *work, qs_exchange_fn *after);
/* Around anything else that calls back. leave: false where the client has left; ex is gone then. */
void qs_exchange_enter(struct qs_exchange *ex);
bool qs_exchange_leave(struct qs_exchange *ex);

/* The connection waits: libmicrohttpd looks at it no more, but that its client leaves is noticed. */
void qs_exchange_suspend(struct qs_exchange *ex);
/* Works are under way of what the coming silence waits for. */
bool qs_exchange_is_in_hand(const struct qs_exchange *ex);
/* It is, or waits for, what may come late, a stream or a job's end: no silence waits for that. */
void qs_exchange_park(struct qs_exchange *ex);

/* Lets the suspended connection go on: a reply is there, or a flow has more. */
void qs_exchange_wake(struct qs_exchange *ex);
/* Silence has ended: what waited goes on. */
void qs_exchange_release(struct qs_exchange *ex);
void qs_exchange_free(struct qs_exchange *ex);
struct qs_exchange *qs_exchange_new(struct qs_api *api, struct MHD_Connection *connection,
                                    const char *raw_uri);

#endif
