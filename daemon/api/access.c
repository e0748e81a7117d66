/* The order is: who is it, is there such an address, is the body small enough; then the body; then the
 * handler. A refusal is known early and still told late where the body is short, so that a client that sends
 * first and listens then hears it. */
#include "api/server.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "api/handlers.h"
#include "api/reply.h"
#include "api/visitors.h"
#include "base/loop.h"
#include "store/files.h"

enum { DRAIN_BYTES = 16 * 1024 * 1024 }; /* of a refused body, before the connection is cut */

static const char *header(struct qs_exchange *ex, const char *name)
{
    return MHD_lookup_connection_value(ex->connection, MHD_HEADER_KIND, name);
}

/* -1: it comes in pieces. */
static int64_t announced_bytes(struct qs_exchange *ex)
{
    const char *length = header(ex, MHD_HTTP_HEADER_CONTENT_LENGTH);
    long long bytes;
    if (header(ex, MHD_HTTP_HEADER_TRANSFER_ENCODING))
        return -1;
    if (!length)
        return 0;
    return qs_number_parse(length, 0, INT64_MAX, &bytes) ? bytes : INT64_MAX;
}

static void refuse(struct qs_exchange *ex, const struct qs_err *err)
{
    if (ex->upload)
        qs_upload_abort(ex->upload);
    ex->upload = NULL;
    qs_exchange_drop_body(ex);
    qs_reply_error(ex, err);
}

static bool check_peer(struct qs_exchange *ex, struct qs_err *err)
{
    int fd = MHD_get_connection_info(ex->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    if (!qs_peer_uid(fd, &ex->uid))
        return qs_fail(err, QS_E_DENIED, "the kernel does not say whose process this is");
    return qs_peer_is_allowed(ex->uid, geteuid()) ||
           qs_fail(err, QS_E_DENIED, "this daemon serves user %lu only; this is user %lu",
                   (unsigned long)geteuid(), (unsigned long)ex->uid);
}

static bool check_bytes(struct qs_exchange *ex, int64_t bytes, struct qs_err *err)
{
    int64_t most = ex->match.route->body_max_bytes;
    if (bytes <= most)
        return true;
    if (most == 0)
        return qs_fail(err, QS_E_USAGE, "%s %s takes no body", ex->match.route->method,
                       ex->match.route->pattern);
    return qs_fail(err, QS_E_LIMIT, "the body is longer than %lld bytes", (long long)most);
}

/* Memory for a body, of what all bodies may have and its user's share of that. */
static bool charge(struct qs_exchange *ex, int64_t bytes, struct qs_err *err)
{
    const int64_t small = 1024 * 1024;
    int64_t more = bytes - ex->charged_bytes, all = 0, own = 0;
    if (more <= 0 || (ex->match.route->flags & QS_ROUTE_UPLOAD))
        return true;
    for (const struct qs_exchange *other = ex->api->exchanges; other; other = other->next) {
        all += other->charged_bytes;
        own += other->uid == ex->uid ? other->charged_bytes : 0;
    }
    if (more > QS_API_BODIES_BYTES - all || (bytes > small && more > QS_API_LARGE_BYTES - own))
        return qs_fail(err, QS_E_RESOURCE,
                       "the bodies of requests under way use all of their %lld MiB of memory: try again when "
                       "some are done",
                       (long long)(all / small));
    ex->charged_bytes = bytes;
    return true;
}

static bool check_share(const struct qs_exchange *ex, struct qs_err *err)
{
    return !ex->visitor || !ex->visitor->over ||
           qs_fail(
               err, QS_E_RESOURCE,
               "user %lu has too many connections open; the rest are reserved for other users: close some",
               (unsigned long)ex->uid);
}

/* Every GET and HEAD reads. */
static bool check_reading(const struct qs_exchange *ex, struct qs_err *err)
{
    const struct qs_route *route = ex->match.route;
    return !ex->api->p.reading || (route->flags & QS_ROUTE_READS) || strcmp(route->method, "GET") == 0 ||
           strcmp(route->method, "HEAD") == 0 ||
           qs_fail(err, QS_E_CONFLICT, "this quiesced only reads: %s %s needs one that owns the database",
                   route->method, route->pattern);
}

static void begin(struct qs_exchange *ex, const char *method)
{
    struct qs_err err;
    if (!check_peer(ex, &err) || !check_share(ex, &err) || !qs_uri_parse(ex->raw_uri, &ex->uri, &err)) {
        qs_reply_error(ex, &err);
    } else if (!qs_route_find(method, &ex->uri, &ex->match, ex->allow_text, &err)) {
        ex->allow = ex->allow_text[0] ? ex->allow_text : NULL;
        if (ex->allow)
            qs_reply_routes(ex, MHD_HTTP_METHOD_NOT_ALLOWED, &err);
        else if (err.code == QS_E_NOT_FOUND)
            qs_reply_routes(ex, MHD_HTTP_NOT_FOUND, &err);
        else
            qs_reply_error(ex, &err);
    } else if (!check_reading(ex, &err) || !check_bytes(ex, announced_bytes(ex), &err) ||
               !charge(ex, announced_bytes(ex), &err)) {
        qs_reply_error(ex, &err);
    }
}

/* A client that waits to be asked for its body, or would send more than is read for politeness. */
static bool is_at_once(struct qs_exchange *ex)
{
    int64_t bytes = announced_bytes(ex);
    return ex->replied && bytes != 0 && (bytes > DRAIN_BYTES || header(ex, MHD_HTTP_HEADER_EXPECT));
}

static bool is_held(struct qs_exchange *ex)
{
    if (!ex->api->silent || ex->replied || (ex->match.route->flags & QS_ROUTE_URGENT))
        return false;
    ex->wake = true;
    qs_exchange_suspend(ex);
    return true;
}

static enum MHD_Result take_body(struct qs_exchange *ex, const char *data, size_t n)
{
    struct qs_err err;
    ex->body_bytes += (int64_t)n;
    if (ex->replied) { /* what is here already is read to its announced end, and only to that */
        bool ends = ex->status == MHD_HTTP_OK && announced_bytes(ex) >= 0;
        return ends || ex->body_bytes <= DRAIN_BYTES ? MHD_YES : MHD_NO;
    }
    if (!check_bytes(ex, ex->body_bytes, &err) || !charge(ex, ex->body_bytes, &err)) {
        refuse(ex, &err);
    } else if (ex->match.route->flags & QS_ROUTE_UPLOAD) {
        if (!qs_upload_add(ex->upload, data, n, &err))
            refuse(ex, &err);
    } else {
        qs_buf_add(&ex->body, data, n);
    }
    return MHD_YES;
}

static enum MHD_Result answer(struct qs_exchange *ex)
{
    if (!ex->replied && !ex->handled) {
        ex->handled = true;
        qs_loop_note(ex->api->p.loop, ex->match.route->pattern);
        ex->match.route->handle(ex);
    }
    if (ex->replied)
        return qs_reply_queue(ex) ? MHD_YES : MHD_NO;
    qs_exchange_suspend(ex);
    return MHD_YES;
}

enum MHD_Result qs_access(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                          const char *version, const char *data, size_t *data_bytes, void **context)
{
    struct qs_api *api = cls;
    struct qs_exchange *ex = *context;
    (void)connection;
    (void)url;
    (void)version;
    if (api->stopping || !ex || ex->flow.failed)
        return MHD_NO;
    if (!ex->begun) {
        ex->begun = true;
        begin(ex, method);
        if (!ex->replied && !api->silent)
            qs_handle_file_begin(ex);
        return is_at_once(ex) ? answer(ex) : MHD_YES;
    }
    if (is_held(ex))
        return MHD_YES;
    qs_handle_file_begin(ex);
    if (*data_bytes > 0) {
        size_t n = *data_bytes;
        *data_bytes = 0;
        return take_body(ex, data, n);
    }
    return answer(ex);
}
