/* The order is: who is it, is there such an address, is the body small enough; then the body; then the
 * handler. A refusal is known early and still told late where the body is short, so that a client that sends
 * first and listens then hears it. */
#include "api/access.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "api/files.h"
#include "api/reply.h"
#include "store/files.h"

enum { DRAIN_BYTES = 16 * 1024 * 1024 }; /* of a refused body, before the connection is cut */

static const char *header(struct qs_request *rq, const char *name)
{
    return MHD_lookup_connection_value(rq->connection, MHD_HEADER_KIND, name);
}

/* -1: it comes in pieces. */
static int64_t announced_bytes(struct qs_request *rq)
{
    const char *length = header(rq, MHD_HTTP_HEADER_CONTENT_LENGTH);
    long long bytes;
    if (header(rq, MHD_HTTP_HEADER_TRANSFER_ENCODING))
        return -1;
    if (!length)
        return 0;
    return qs_number_parse(length, 0, INT64_MAX, &bytes) ? bytes : INT64_MAX;
}

static void refuse(struct qs_request *rq, const struct qs_err *err)
{
    if (rq->upload)
        qs_upload_abort(rq->upload);
    rq->upload = NULL;
    qs_buf_clear(&rq->body);
    qs_reply_error(rq, err);
}

static bool check_peer(struct qs_request *rq, struct qs_err *err)
{
    int fd = MHD_get_connection_info(rq->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    if (!qs_peer_uid(fd, &rq->uid))
        return qs_fail(err, QS_E_DENIED, "the kernel does not say whose process this is");
    return qs_peer_is_allowed(rq->uid, geteuid()) ||
           qs_fail(err, QS_E_DENIED, "this daemon serves user %lu only; this is user %lu",
                   (unsigned long)geteuid(), (unsigned long)rq->uid);
}

static bool check_bytes(struct qs_request *rq, int64_t bytes, struct qs_err *err)
{
    int64_t most = rq->match.route->body_max_bytes;
    if (bytes <= most)
        return true;
    if (most == 0)
        return qs_fail(err, QS_E_USAGE, "%s %s takes no body", rq->match.route->method,
                       rq->match.route->pattern);
    return qs_fail(err, QS_E_LIMIT, "the body is longer than %lld bytes", (long long)most);
}

static void begin(struct qs_request *rq, const char *method)
{
    struct qs_err err;
    if (!check_peer(rq, &err) || !qs_uri_parse(rq->raw_uri, &rq->uri, &err)) {
        qs_reply_error(rq, &err);
    } else if (!qs_route_find(method, &rq->uri, &rq->match, rq->allow_text, &err)) {
        rq->allow = rq->allow_text[0] ? rq->allow_text : NULL;
        if (rq->allow)
            qs_reply_routes(rq, MHD_HTTP_METHOD_NOT_ALLOWED, &err);
        else if (err.code == QS_E_NOT_FOUND)
            qs_reply_routes(rq, MHD_HTTP_NOT_FOUND, &err);
        else
            qs_reply_error(rq, &err);
    } else if (!check_bytes(rq, announced_bytes(rq), &err)) {
        qs_reply_error(rq, &err);
    }
}

/* A client that waits to be asked for its body, or would send more than is read for politeness. */
static bool is_at_once(struct qs_request *rq)
{
    int64_t bytes = announced_bytes(rq);
    return rq->replied && (bytes == 0 || bytes > DRAIN_BYTES || header(rq, MHD_HTTP_HEADER_EXPECT));
}

static bool is_held(struct qs_request *rq)
{
    if (!rq->api->silent || rq->replied || (rq->match.route->flags & QS_ROUTE_URGENT))
        return false;
    rq->suspended = rq->wake = true;
    MHD_suspend_connection(rq->connection);
    return true;
}

static enum MHD_Result take_body(struct qs_request *rq, const char *data, size_t n)
{
    struct qs_err err;
    rq->body_bytes += (int64_t)n;
    if (rq->replied)
        return rq->body_bytes <= DRAIN_BYTES || rq->status == MHD_HTTP_OK ? MHD_YES : MHD_NO;
    if (!check_bytes(rq, rq->body_bytes, &err)) {
        refuse(rq, &err);
    } else if (rq->match.route->flags & QS_ROUTE_UPLOAD) {
        if (!qs_upload_add(rq->upload, data, n, &err))
            refuse(rq, &err);
    } else {
        qs_buf_add(&rq->body, data, n);
    }
    return MHD_YES;
}

static enum MHD_Result answer(struct qs_request *rq)
{
    if (rq->flow.failed)
        return MHD_NO;
    if (!rq->replied && !rq->handled) {
        rq->handled = true;
        rq->match.route->handle(rq);
    }
    if (rq->replied)
        return qs_reply_queue(rq) ? MHD_YES : MHD_NO;
    rq->suspended = true;
    MHD_suspend_connection(rq->connection);
    return MHD_YES;
}

enum MHD_Result qs_access(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                          const char *version, const char *data, size_t *data_bytes, void **context)
{
    struct qs_api *api = cls;
    struct qs_request *rq = *context;
    (void)connection;
    (void)url;
    (void)version;
    if (api->stopping || !rq)
        return MHD_NO;
    if (!rq->begun) {
        rq->begun = true;
        begin(rq, method);
        if (!rq->replied && !api->silent)
            qs_files_begin(rq);
        return is_at_once(rq) ? answer(rq) : MHD_YES;
    }
    if (is_held(rq))
        return MHD_YES;
    qs_files_begin(rq);
    if (*data_bytes > 0) {
        size_t n = *data_bytes;
        *data_bytes = 0;
        return take_body(rq, data, n);
    }
    return answer(rq);
}
