#include "api/exchange.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "api/flow.h"
#include "api/reply.h"
#include "api/steps.h"
#include "api/visitors.h"
#include "base/loop.h"
#include "base/mem.h"
#include "store/files.h"

struct qs_exchange *qs_exchange_new(struct qs_api *api, struct MHD_Connection *connection,
                                    const char *raw_uri)
{
    struct qs_exchange *ex = qs_calloc(1, sizeof *ex);
    ex->api = api;
    ex->connection = connection;
    ex->raw_uri = qs_strndup(raw_uri, QS_URI_BYTES + 1);
    qs_buf_init(&ex->body);
    qs_buf_init(&ex->reply);
    ex->next = api->exchanges;
    if (ex->next)
        ex->next->prev = ex;
    api->exchanges = ex;
    return ex;
}

static void dispose(struct qs_exchange *ex)
{
    assert(!ex->busy && !ex->connection);
    if (ex->prev)
        ex->prev->next = ex->next;
    else
        ex->api->exchanges = ex->next;
    if (ex->next)
        ex->next->prev = ex->prev;
    if (ex->data_free)
        ex->data_free(ex->data);
    if (ex->upload)
        qs_upload_abort(ex->upload);
    free(ex->data);
    free(ex->raw_uri);
    qs_uri_done(&ex->uri);
    qs_buf_done(&ex->body);
    qs_buf_done(&ex->reply);
    free(ex);
}

/* The connection is done with it: a work that is under way keeps it alive until it calls back. */
void qs_exchange_free(struct qs_exchange *ex)
{
    qs_flow_unwatch(ex);
    qs_steps_stop(ex);
    if (ex->flow.events)
        ex->api->streams--;
    ex->flow.events = false;
    if (ex->visitor)
        qs_visitor_asks(ex->visitor, NULL);
    ex->visitor = NULL;
    ex->connection = NULL;
    atomic_store(&ex->left, true);
    ex->reading = false;
    if (!ex->busy)
        dispose(ex);
}

void *qs_exchange_data(struct qs_exchange *ex, size_t bytes, void (*done)(void *data))
{
    ex->data = qs_calloc(1, bytes);
    ex->data_free = done;
    return ex->data;
}

void qs_exchange_drop_body(struct qs_exchange *ex)
{
    qs_buf_done(&ex->body);
    ex->charged_bytes = 0;
}

bool qs_exchange_is_in_hand(const struct qs_exchange *ex)
{
    return ex->in_hand && ex->busy > 0;
}

void qs_exchange_park(struct qs_exchange *ex)
{
    ex->in_hand = false;
}

void qs_exchange_enter(struct qs_exchange *ex)
{
    bool waits = ex->is_flow || (ex->match.route->flags & QS_ROUTE_LONG);
    ex->in_hand |= !ex->api->silent && !waits;
    ex->busy++;
    qs_api_enter(ex->api);
}

bool qs_exchange_leave(struct qs_exchange *ex)
{
    struct qs_api *api = ex->api;
    assert(ex->busy > 0);
    ex->busy--;
    bool here = ex->connection != NULL;
    if (!here && !ex->busy)
        dispose(ex);
    qs_api_leave(api);
    return here;
}

/* A reply cannot be taken back once it flows: then the connection is cut. */
static void go_on(struct qs_exchange *ex, bool ok, const struct qs_err *err)
{
    qs_exchange_fn *after = ex->after;
    if (!qs_exchange_leave(ex))
        return;
    if (ok)
        after(ex);
    else if (!ex->is_flow || ex->steps.followed)
        qs_reply_error(ex, err);
    else
        ex->flow.failed = true;
    if (ex->is_flow)
        qs_flow_wake(ex);
}

static enum qs_lane lane_of(const struct qs_exchange *ex)
{
    return ex->match.route->flags & QS_ROUTE_LONG ? QS_LANE_LONG : QS_LANE_QUICK;
}

/* Its turn has come: is anybody there yet to be answered? */
static bool begins(struct qs_exchange *ex, struct qs_err *err)
{
    atomic_store(&ex->steps.stage, NULL);
    return !atomic_load(&ex->left) || qs_fail(err, QS_E_STOPPED, "the client has left");
}

static bool on_read(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct qs_exchange *ex = user;
    return begins(ex, err) && ex->read(reader, ex, err);
}

static void after_read(const struct qs_err *err, void *user)
{
    go_on(user, err == NULL, err);
}

void qs_exchange_read(struct qs_exchange *ex, qs_exchange_read_fn *read, qs_exchange_fn *after)
{
    ex->read = read;
    ex->after = after;
    ex->reading = ex->api->silent && !ex->in_hand && !(ex->match.route->flags & QS_ROUTE_URGENT);
    if (ex->reading)
        return;
    qs_exchange_enter(ex);
    if (lane_of(ex) == QS_LANE_LONG)
        qs_store_read_long(ex->api->p.store, on_read, after_read, ex);
    else
        qs_store_read(ex->api->p.store, on_read, after_read, ex);
}

static void on_work(void *user)
{
    struct qs_exchange *ex = user;
    ex->err = QS_ERR_INIT;
    (void)(begins(ex, &ex->err) && ex->work(ex, &ex->err));
}

static void after_work(void *user)
{
    struct qs_exchange *ex = user;
    struct qs_err err = ex->err;
    go_on(ex, err.code == QS_E_NONE, &err);
}

void qs_exchange_work(struct qs_exchange *ex, qs_exchange_work_fn *work, qs_exchange_fn *after)
{
    ex->work = work;
    ex->after = after;
    qs_exchange_enter(ex);
    qs_loop_work(ex->api->p.loop, lane_of(ex), on_work, after_work, ex);
}

void qs_exchange_suspend(struct qs_exchange *ex)
{
    assert(!ex->suspended && ex->connection);
    ex->suspended = true;
    qs_flow_watch(ex);
    MHD_suspend_connection(ex->connection);
}

void qs_exchange_wake(struct qs_exchange *ex)
{
    struct qs_api *api = ex->api;
    ex->wake = ex->suspended;
    bool ends = ex->in_hand && ex->reply.len <= QS_AT_ONCE_BYTES;
    bool urgent = ex->flow.failed || ends || (ex->match.route && (ex->match.route->flags & QS_ROUTE_URGENT));
    api->sending |= ends && ex->suspended;
    if (!ex->suspended || (api->silent && !urgent && !api->stopping))
        return;
    ex->suspended = ex->wake = false;
    MHD_resume_connection(ex->connection);
    qs_api_run_soon(api);
}

void qs_exchange_release(struct qs_exchange *ex)
{
    if (ex->reading)
        qs_exchange_read(ex, ex->read, ex->after);
    if (ex->wake)
        qs_exchange_wake(ex);
}
