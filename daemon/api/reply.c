#include "api/reply.h"

#include <microhttpd.h>
#include <stdlib.h>

#include "api/flow.h"
#include "api/steps.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"

unsigned qs_reply_status(enum qs_errc code)
{
    static const struct {
        enum qs_errc code;
        unsigned status;
    } table[] = {{QS_E_USAGE, 400},   {QS_E_CONFIG, 400},      {QS_E_JOB, 400},
                 {QS_E_COMMAND, 400}, {QS_E_DATA, 400},        {QS_E_DENIED, 403},
                 {QS_E_AUTH, 403},    {QS_E_NOT_FOUND, 404},   {QS_E_CONFLICT, 409},
                 {QS_E_LIMIT, 413},   {QS_E_UNREACHABLE, 503}, {QS_E_RESOURCE, 503},
                 {QS_E_LINK, 503},    {QS_E_PRECONDITION, 503}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].code == code)
            return table[i].status;
    }
    return 500;
}

static void begin_error(struct qs_json *j, struct qs_buf *out, const struct qs_err *err, const char *advice)
{
    qs_buf_init(out);
    *j = qs_json_to(out);
    qs_json_object(j);
    qs_json_kobject(j, "error");
    qs_json_kstring(j, "code", qs_errc_slug(err->code));
    qs_json_kstring(j, "blame", qs_blame_name(qs_errc_blame(err->code)));
    qs_json_kstring(j, "message", err->text);
    qs_json_kstring(j, "advice", advice);
}

static void end_error(struct qs_exchange *ex, struct qs_json *j, struct qs_buf *out, unsigned status)
{
    qs_json_object_end(j);
    qs_json_object_end(j);
    qs_reply_json(ex, status, out);
}

void qs_reply_error(struct qs_exchange *ex, const struct qs_err *err)
{
    struct qs_json j;
    struct qs_buf out;
    unsigned status = qs_reply_status(err->code);
    if (status >= 500)
        qs_log(ex->api->p.log, QS_LOG_WARN, "api", "%s: %s, the client is told",
               ex->match.route ? ex->match.route->pattern : "a request", err->text);
    begin_error(&j, &out, err, qs_errc_advice(err->code));
    end_error(ex, &j, &out, status);
}

static void put_problem(struct qs_json *j, const struct qs_problem *p)
{
    qs_json_object(j);
    qs_json_kmaybe(j, "line", p->line > 0, p->line);
    qs_json_kmaybe(j, "column", p->column > 0, p->column);
    qs_json_kstring(j, "path", p->path);
    qs_json_kstring(j, "what", p->what);
    qs_json_kstring(j, "suggestion", p->suggestion);
    qs_json_kstring(j, "quote", p->quote);
    qs_json_object_end(j);
}

void qs_reply_problems(struct qs_exchange *ex, enum qs_errc code, const struct qs_problems *problems,
                       const char *file)
{
    struct qs_json j;
    struct qs_buf out;
    struct qs_err err;
    size_t n = problems->count + problems->more;
    qs_fail(&err, code, "%s has %zu mistake%s", file, n, n == 1 ? "" : "s");
    const struct qs_problem *first = &problems->at[0];
    bool whole = first->line == 0 && first->suggestion; /* of the file: there is no place to correct */
    begin_error(&j, &out, &err, whole ? first->suggestion : qs_errc_advice(code));
    qs_json_karray(&j, "problems");
    for (size_t i = 0; i < problems->count; i++)
        put_problem(&j, &problems->at[i]);
    qs_json_array_end(&j);
    QS_BUF(text);
    qs_problems_text(problems, file, &text);
    qs_json_kstring(&j, "text", text.data);
    end_error(ex, &j, &out, qs_reply_status(code));
}

void qs_reply_routes(struct qs_exchange *ex, unsigned status, const struct qs_err *err)
{
    struct qs_json j;
    struct qs_buf out;
    begin_error(&j, &out, err, qs_errc_advice(err->code));
    qs_json_karray(&j, "routes");
    for (size_t i = 0; i < qs_route_count; i++) {
        QS_FREED char *route = qs_asprintf("%s %s", qs_routes[i].method, qs_routes[i].pattern);
        qs_json_string(&j, route);
    }
    qs_json_array_end(&j);
    end_error(ex, &j, &out, status);
}

void qs_reply_json(struct qs_exchange *ex, unsigned status, struct qs_buf *json)
{
    if (qs_steps_answer(ex, status, json))
        return;
    qs_buf_char(json, '\n');
    qs_reply_text(ex, status, "application/json", json);
}

void qs_reply_text(struct qs_exchange *ex, unsigned status, const char *content_type, struct qs_buf *text)
{
    qs_buf_done(&ex->reply);
    ex->reply = *text;
    qs_buf_init(text);
    ex->status = status;
    ex->content_type = content_type;
    ex->replied = true;
    qs_exchange_wake(ex);
}

void qs_reply_flow(struct qs_exchange *ex, const char *content_type, qs_exchange_fn *more)
{
    ex->status = MHD_HTTP_OK;
    ex->content_type = content_type;
    ex->is_flow = true;
    ex->flow.more = more;
    ex->replied = true;
    qs_exchange_park(ex);
    qs_exchange_wake(ex);
}

static struct MHD_Response *make_response(struct qs_exchange *ex)
{
    size_t n = ex->reply.len;
    ex->flow.ended |= !ex->is_flow;
    if (ex->is_flow || n > QS_AT_ONCE_BYTES)
        return MHD_create_response_from_callback(ex->is_flow ? MHD_SIZE_UNKNOWN : n, 16384, qs_flow_read, ex,
                                                 NULL);
    return MHD_create_response_from_buffer(n, qs_buf_take(&ex->reply), MHD_RESPMEM_MUST_FREE);
}

bool qs_reply_queue(struct qs_exchange *ex)
{
    struct MHD_Response *response = make_response(ex);
    if (!response)
        return false;
    bool ok =
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, ex->content_type) == MHD_YES &&
        MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store") == MHD_YES &&
        MHD_add_response_header(response, "X-Content-Type-Options", "nosniff") == MHD_YES &&
        (!ex->allow || MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, ex->allow) == MHD_YES) &&
        MHD_queue_response(ex->connection, ex->status, response) == MHD_YES;
    MHD_destroy_response(response);
    ex->queued = true;
    return ok;
}
