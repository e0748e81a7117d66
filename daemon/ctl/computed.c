#include "ctl/computed.h"

#include <inttypes.h>
#include <string.h>

#include "base/process.h"
#include "ctl/line.h"
#include "ctl/follow.h"
#include "ctl/client/sse.h"

#define QUIET_NS INT64_C(500000000)

struct computed {
    struct qs_ctl *ctl;
    struct qs_sse sse;
    struct qs_buf *out; /* borrowed */
    struct qs_buf error;
    int64_t began_ns;
    bool shown, plain, done; /* plain: a daemon that knows no events answers with the document alone */
};

/* "12 s", "3 min 20 s" */
static void add_time(struct qs_buf *out, double ns)
{
    int64_t s = (int64_t)(ns / 1e9 + 0.5);
    if (s >= 60)
        qs_buf_fmt(out, "%" PRId64 " min ", s / 60);
    qs_buf_fmt(out, "%" PRId64 " s", s % 60);
}

void qs_computed_line(struct qs_buf *out, const char *stage, double done_ratio, int64_t elapsed_ns)
{
    const double least_ratio = 0.02;
    double elapsed = (double)elapsed_ns;
    for (const char *s = stage ? stage : "computing"; *s != '\0'; s++)
        qs_buf_char(out, *s == '_' ? ' ' : *s);
    qs_buf_fmt(out, ": %.0f %%, ", 100 * done_ratio);
    add_time(out, elapsed);
    if (done_ratio < least_ratio)
        return;
    qs_buf_str(out, ", about ");
    add_time(out, elapsed * (1 - done_ratio) / done_ratio);
    qs_buf_str(out, " left");
}

static void clear_line(struct computed *c)
{
    qs_line_clear(c->ctl->err, &c->shown);
    fflush(c->ctl->err);
}

static void show(struct computed *c, const json_t *progress)
{
    int64_t elapsed_ns = qs_clock_ns(CLOCK_MONOTONIC) - c->began_ns;
    if (!c->ctl->live || elapsed_ns < QUIET_NS)
        return;
    QS_BUF(line);
    QS_BUF(text);
    qs_computed_line(&line, qs_json_get_text(progress, "stage", NULL),
                     qs_json_get_number(progress, "done_ratio", 0), elapsed_ns);
    qs_buf_str(&line, "; Ctrl-C ends it");
    qs_line_make(&c->ctl->err_face, line.data, &text);
    clear_line(c);
    qs_ctl_print(c->ctl->err, &text);
    c->shown = true;
}

/* The document is the last event but for the end of the stream. */
static bool on_event(int64_t id, const char *kind, const char *data, void *user)
{
    struct computed *c = user;
    (void)id;
    if (strcmp(kind, "progress") == 0) {
        json_auto_t *json = json_loads(data, 0, NULL);
        show(c, json);
        return true;
    }
    qs_buf_str(strcmp(kind, "result") == 0 ? c->out : &c->error, data);
    c->done = true;
    return false;
}

static bool on_bytes(const char *bytes, size_t n, void *user)
{
    struct computed *c = user;
    c->plain = c->plain || (c->sse.line.len == 0 && !c->shown && !c->done && bytes[0] == '{');
    if (!c->plain)
        return qs_sse_feed(&c->sse, bytes, n, on_event, c);
    qs_buf_add(c->out, bytes, n);
    return c->out->len <= QS_HTTP_REPLY_BYTES;
}

static bool end(struct computed *c, struct qs_http *http, enum qs_http_end how, struct qs_http_reply *reply,
                struct qs_err *err, int *ret_code)
{
    clear_line(c);
    if (how == QS_HTTP_WOKEN) {
        fprintf(c->ctl->err, "quiesce %s: ended by Ctrl-C, nothing was written\n", c->ctl->command->name);
        *ret_code = QS_EXIT_INTERRUPTED;
        return false;
    }
    if (c->error.len > 0)
        qs_buf_add(&reply->body, c->error.data, c->error.len);
    if (c->error.len > 0 || how == QS_HTTP_REFUSED)
        *ret_code = qs_api_refused(c->ctl, http, reply);
    else if (how == QS_HTTP_BROKEN || !(c->done || c->plain))
        *ret_code = qs_api_fail(c->ctl, err);
    else
        return true;
    return false;
}

bool qs_computed_text(struct qs_ctl *ctl, struct qs_http *http, const struct qs_computation *what,
                      struct qs_buf *out, int *ret_code)
{
    struct computed c = {.ctl = ctl, .out = out, .began_ns = qs_clock_ns(CLOCK_MONOTONIC)};
    struct qs_http_reply reply = {0};
    struct qs_err err = QS_ERR_INIT;
    int interrupt_fd = qs_interrupt_open();
    const struct qs_http_stream stream = {.path = what->path,
                                          .body = what->body,
                                          .body_bytes = what->body_bytes,
                                          .last_id = -1,
                                          .wake_fd = interrupt_fd,
                                          .on_bytes = on_bytes,
                                          .user = &c};
    qs_sse_init(&c.sse);
    c.sse.most_bytes = QS_HTTP_REPLY_BYTES;
    qs_buf_init(&c.error);
    qs_buf_init(&reply.body);
    qs_fail(&err, QS_E_DAEMON, "the daemon at %s ended before its answer", qs_http_socket(http));
    enum qs_http_end how = qs_http_follow(http, &stream, &reply, &err);
    if (how == QS_HTTP_WOKEN)
        (void)qs_interrupt_take(interrupt_fd);
    bool ok = end(&c, http, how, &reply, &err, ret_code);
    if (ok && (out->len == 0 || out->data[out->len - 1] != '\n'))
        qs_buf_char(out, '\n');
    qs_interrupt_close(interrupt_fd);
    qs_sse_done(&c.sse);
    qs_buf_done(&c.error);
    qs_buf_done(&reply.body);
    return ok;
}
