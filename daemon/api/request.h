/* One request from its first byte to its last: what a handler sees of it, and the ways to answer. A handler
 * runs on the loop when the body is complete; it answers at once (reply.h), or starts a read, a work or a
 * commit and answers in what follows: until then the connection is suspended. A client that leaves meanwhile
 * ends the request: what follows does not run. */
#ifndef QS_API_REQUEST_H
#define QS_API_REQUEST_H

#include <sys/types.h>

#include "api/api_impl.h"
#include "api/router.h"
#include "base/buf.h"
#include "store/store.h"

struct MHD_Connection;
struct qs_upload;

typedef void qs_request_fn(struct qs_request *rq);
/* On the pool: rq is its own, the rest of the API is not to be touched. */
typedef bool qs_request_read_fn(struct qs_store_reader *reader, struct qs_request *rq, struct qs_err *err);
typedef bool qs_request_work_fn(struct qs_request *rq, struct qs_err *err);

struct qs_flow {           /* a reply that is sent as it is made */
    qs_request_fn *more;   /* everything was sent: make more (qs_flow_wake when it is there), or wait */
    size_t sent;           /* bytes of rq->reply that are gone */
    bool ended, failed;    /* no more will come; cut the connection instead of ending it */
    bool events;           /* a stream of events, with a place among QS_API_STREAMS */
    struct qs_io *hang_up; /* tells when the client has left */
};

struct qs_request {
    struct qs_api *api;
    struct qs_request *next, *prev;
    struct MHD_Connection *connection; /* NULL: the client has left */
    uid_t uid;                         /* of the client */
    char *raw_uri;                     /* owned */
    struct qs_uri uri;
    struct qs_match match;
    struct qs_buf body;
    int64_t body_bytes;       /* seen so far */
    struct qs_upload *upload; /* owned, or NULL */
    bool begun, handled, suspended, wake;
    bool replied, queued; /* the reply is known; it was given to libmicrohttpd */
    bool reading;         /* a read waits for the end of a silence */
    unsigned busy;        /* works on their way: as long as there are any, rq lives */
    unsigned status;
    const char *content_type; /* static */
    const char *allow;        /* of a 405: points into allow_text, else NULL */
    char allow_text[64];
    struct qs_buf reply;
    bool is_flow;
    struct qs_flow flow;
    void *data; /* of the handler, freed with data_free */
    void (*data_free)(void *data);
    /* of the work under way */
    qs_request_read_fn *read;
    qs_request_work_fn *work;
    qs_request_fn *after;
    struct qs_err err;
};

/* Zeroed bytes for the handler, freed with the request; `done` (may be NULL) runs before. */
void *qs_request_data(struct qs_request *rq, size_t bytes, void (*done)(void *data));

/* Runs read on the pool, then after(rq) on the loop; a failed read answers with its error. Waits while the
 * API is silent. */
void qs_request_read(struct qs_request *rq, qs_request_read_fn *read, qs_request_fn *after);
void qs_request_work(struct qs_request *rq, qs_request_work_fn *work, qs_request_fn *after);
/* Around anything else that calls back. leave: false where the client has left; rq is gone then. */
void qs_request_enter(struct qs_request *rq);
bool qs_request_leave(struct qs_request *rq);

/* Lets the suspended connection go on: a reply is there, or a flow has more. */
void qs_request_wake(struct qs_request *rq);
/* Silence has ended: what waited goes on. */
void qs_request_release(struct qs_request *rq);
void qs_api_request_free(struct qs_request *rq);
struct qs_request *qs_api_request_new(struct qs_api *api, struct MHD_Connection *connection,
                                      const char *raw_uri);

#endif
