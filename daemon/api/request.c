#include "api/request.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "api/flow.h"
#include "api/reply.h"
#include "base/loop.h"
#include "base/mem.h"
#include "store/files.h"

struct qs_request *qs_api_request_new(struct qs_api *api, struct MHD_Connection *connection,
                                      const char *raw_uri)
{
    struct qs_request *rq = qs_calloc(1, sizeof *rq);
    rq->api = api;
    rq->connection = connection;
    rq->raw_uri = qs_strndup(raw_uri, QS_URI_BYTES + 1);
    qs_buf_init(&rq->body);
    qs_buf_init(&rq->reply);
    rq->next = api->requests;
    if (rq->next)
        rq->next->prev = rq;
    api->requests = rq;
    return rq;
}

static void dispose(struct qs_request *rq)
{
    if (rq->prev)
        rq->prev->next = rq->next;
    else
        rq->api->requests = rq->next;
    if (rq->next)
        rq->next->prev = rq->prev;
    if (rq->data_free)
        rq->data_free(rq->data);
    if (rq->upload)
        qs_upload_abort(rq->upload);
    free(rq->data);
    free(rq->raw_uri);
    qs_uri_done(&rq->uri);
    qs_buf_done(&rq->body);
    qs_buf_done(&rq->reply);
    free(rq);
}

/* The connection is done with it: a work that is under way keeps it alive until it calls back. */
void qs_api_request_free(struct qs_request *rq)
{
    qs_flow_unwatch(rq);
    if (rq->flow.events)
        rq->api->streams--;
    rq->flow.events = false;
    rq->connection = NULL;
    rq->reading = false;
    if (!rq->busy)
        dispose(rq);
}

void *qs_request_data(struct qs_request *rq, size_t bytes, void (*done)(void *data))
{
    rq->data = qs_calloc(1, bytes);
    rq->data_free = done;
    return rq->data;
}

void qs_request_enter(struct qs_request *rq)
{
    rq->busy++;
    qs_api_enter(rq->api);
}

bool qs_request_leave(struct qs_request *rq)
{
    struct qs_api *api = rq->api;
    rq->busy--;
    bool here = rq->connection != NULL;
    if (!here && !rq->busy)
        dispose(rq);
    qs_api_leave(api);
    return here;
}

/* A reply cannot be taken back once it flows: then the connection is cut. */
static void go_on(struct qs_request *rq, bool ok, const struct qs_err *err)
{
    qs_request_fn *after = rq->after;
    if (!qs_request_leave(rq))
        return;
    if (ok)
        after(rq);
    else if (!rq->is_flow)
        qs_reply_error(rq, err);
    else
        rq->flow.failed = true;
    if (rq->is_flow)
        qs_flow_wake(rq);
}

static bool on_read(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct qs_request *rq = user;
    return rq->read(reader, rq, err);
}

static void after_read(const struct qs_err *err, void *user)
{
    go_on(user, err == NULL, err);
}

void qs_request_read(struct qs_request *rq, qs_request_read_fn *read, qs_request_fn *after)
{
    rq->read = read;
    rq->after = after;
    rq->reading = rq->api->silent && !(rq->match.route->flags & QS_ROUTE_URGENT);
    if (rq->reading)
        return;
    qs_request_enter(rq);
    qs_store_read(rq->api->p.store, on_read, after_read, rq);
}

static void on_work(void *user)
{
    struct qs_request *rq = user;
    rq->err = QS_ERR_INIT;
    rq->work(rq, &rq->err);
}

static void after_work(void *user)
{
    struct qs_request *rq = user;
    struct qs_err err = rq->err;
    go_on(rq, err.code == QS_E_NONE, &err);
}

void qs_request_work(struct qs_request *rq, qs_request_work_fn *work, qs_request_fn *after)
{
    rq->work = work;
    rq->after = after;
    qs_request_enter(rq);
    qs_loop_work(rq->api->p.loop, on_work, after_work, rq);
}

void qs_request_wake(struct qs_request *rq)
{
    struct qs_api *api = rq->api;
    rq->wake = rq->suspended;
    bool urgent = rq->flow.failed || (rq->match.route && (rq->match.route->flags & QS_ROUTE_URGENT));
    if (!rq->suspended || (api->silent && !urgent && !api->stopping))
        return;
    rq->suspended = rq->wake = false;
    MHD_resume_connection(rq->connection);
    qs_api_run_soon(api);
}

void qs_request_release(struct qs_request *rq)
{
    if (rq->reading)
        qs_request_read(rq, rq->read, rq->after);
    if (rq->wake)
        qs_request_wake(rq);
}
