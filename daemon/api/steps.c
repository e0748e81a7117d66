#include "api/steps.h"

#include <microhttpd.h>
#include <string.h>

#include "api/flow.h"
#include "api/reply.h"
#include "base/json.h"
#include "base/loop.h"

#define TELL_EVERY_NS INT64_C(250000000)
enum { PARTS = 1000000000 };

static void tell_later(struct qs_exchange *ex);

static void tell(struct qs_exchange *ex)
{
    struct qs_steps *s = &ex->steps;
    const char *stage = atomic_load(&s->stage);
    unsigned done = atomic_load(&s->done);
    if (!stage || (stage == s->told_stage && done == s->told))
        return;
    qs_buf_str(&ex->reply, "event: progress\ndata: ");
    struct qs_json j = qs_json_to(&ex->reply);
    qs_json_object(&j);
    qs_json_kstring(&j, "stage", stage);
    qs_json_kdouble(&j, "done_ratio", (double)done / PARTS);
    qs_json_object_end(&j);
    qs_buf_str(&ex->reply, "\n\n");
    s->told_stage = stage;
    s->told = done;
    qs_flow_wake(ex);
}

/* What the client has not taken yet is not added to: it has no use for old news. */
static void on_time(void *user)
{
    struct qs_exchange *ex = user;
    ex->steps.timer = NULL;
    if (!ex->api->silent && ex->reply.len == 0)
        tell(ex);
    tell_later(ex);
}

static void tell_later(struct qs_exchange *ex)
{
    ex->steps.timer = qs_timer_start(ex->api->p.loop, TELL_EVERY_NS, on_time, ex);
}

/* The work makes more, and calls qs_steps_answer. */
static void wait_for_more(struct qs_exchange *ex)
{
    (void)ex;
}

static bool listens(struct qs_exchange *ex)
{
    const char *accept = MHD_lookup_connection_value(ex->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    return accept && strstr(accept, "text/event-stream") != NULL;
}

void qs_steps_start(struct qs_exchange *ex)
{
    atomic_store(&ex->steps.stage, "waiting_for_other_computations");
    qs_flow_end_with_client(ex);
    if (!listens(ex))
        return;
    ex->steps.followed = true;
    qs_reply_flow(ex, "text/event-stream", wait_for_more);
    tell_later(ex);
}

static bool go_on(void *user, const char *stage, double done_ratio)
{
    struct qs_exchange *ex = user;
    qs_loop_rest(ex->api->p.loop);
    atomic_store(&ex->steps.stage, stage);
    atomic_store(&ex->steps.done, (unsigned)(done_ratio * PARTS));
    return !atomic_load(&ex->left);
}

struct qs_progress qs_steps_progress(struct qs_exchange *ex)
{
    return (struct qs_progress){.go_on = go_on, .user = ex};
}

bool qs_steps_answer(struct qs_exchange *ex, unsigned status, struct qs_buf *text)
{
    if (!ex->steps.followed)
        return false;
    tell(ex);
    qs_steps_stop(ex);
    if (status == MHD_HTTP_OK)
        qs_buf_str(&ex->reply, "event: result\ndata: ");
    else
        qs_buf_fmt(&ex->reply, "event: error\ndata: {\"status\":%u,", status);
    qs_buf_str(&ex->reply, status == MHD_HTTP_OK ? text->data : text->data + 1); /* it is an object */
    qs_buf_str(&ex->reply, "\n\n");
    qs_buf_done(text);
    ex->flow.ended = true;
    qs_flow_wake(ex);
    return true;
}

void qs_steps_stop(struct qs_exchange *ex)
{
    qs_timer_stop(ex->steps.timer);
    ex->steps.timer = NULL;
}
