/* A tracer is started, a window opened under it, the tracer stopped, its file fetched and stored; and again,
 * as often as the job asks for. What cannot be had is a row with the reason. */
#include <string.h>

#include "base/text.h"
#include "device/control_impl.h"
#include "device/control_news.h"

void qs_control_trace_reset(struct qs_control *c)
{
    struct qs_control_trace *t = &c->trace;
    *t = (struct qs_control_trace){.id = t->id, .told = t->told};
}

bool qs_control_trace_is_due(const struct qs_control *c)
{
    const struct qs_job_trace *wish = &c->p.spec->trace;
    return c->p.files && qs_job_is_traced(wish, c->plan.block) && !c->trace.given_up &&
           c->trace.windows < wish->windows;
}

void qs_control_trace_count(struct qs_control *c)
{
    c->run.next_seq += c->win.made.rows_n;
    c->run.stored_n += c->win.made.rows_n;
    c->trace.rows += c->win.made.rows_n;
}

static void store(struct qs_control *c, bool has_window, const char *why)
{
    const struct qs_control_trace *t = &c->trace;
    const struct qs_trace_row trace = {.has_window = has_window,
                                       .window = t->window,
                                       .flags = t->flags,
                                       .started_ns = t->started_ns,
                                       .stopped_ns = t->stopped_ns};
    struct qs_buf name;
    qs_buf_init(&name);
    qs_buf_str(&name, qs_job_tracer_name(c->p.spec->trace.tool));
    if (has_window)
        qs_buf_fmt(&name, ".%u", (unsigned)t->window);
    struct qs_artifact_row row = {.idx = c->left.kept++,
                                  .kind = "trace",
                                  .name = name.data,
                                  .files = c->p.files,
                                  .bytes = c->fetch.bytes.data,
                                  .n = why ? 0 : c->fetch.bytes.len,
                                  .total_bytes = t->total_bytes,
                                  .why = why,
                                  .trace = &trace};
    memcpy(row.run_uid, c->run.uid.b, sizeof row.run_uid);
    qs_store_done_fn *fn;
    void *user;
    qs_control_store_quiet(c, &fn, &user);
    qs_store_artifact(c->p.store, &row, fn, user);
    qs_buf_done(&name);
}

/* There is no trace: for the record, for people once, and for a job that cannot do without. */
static void miss(struct qs_control *c, bool has_window, const char *why)
{
    struct qs_err err = QS_ERR_INIT;
    const char *tool = qs_job_tracer_name(c->p.spec->trace.tool);
    store(c, has_window, why);
    c->trace.given_up = true;
    if (c->p.spec->trace.required) {
        qs_fail(&err, QS_E_COMMAND, "%s: no trace by %s: %s", c->p.device, tool, why);
        qs_control_fail(c, &err);
    } else if (!c->trace.told) {
        c->trace.told = true;
        qs_control_news_warning(c, "no trace by %s: %s", tool, why);
    }
}

static void go_on(struct qs_control *c)
{
    bool more = qs_control_trace_is_due(c) && !qs_control_over(c);
    qs_control_feed(c, more ? QS_CE_TRACE : QS_CE_RUN_OVER);
}

static void on_fetched(struct qs_control *c, const struct qs_msg_pulled *last, const struct qs_err *refused)
{
    struct qs_buf why;
    qs_buf_init(&why);
    qs_control_give_token(c);
    if (last && last->status == QS_PULL_OK && c->fetch.bytes.len > 0) {
        store(c, true, NULL);
    } else {
        if (last && last->why.n > 0)
            qs_text_escape(&why, last->why.p, last->why.n);
        miss(c, true, refused ? refused->text : why.len > 0 ? why.data : "its file could not be fetched");
    }
    qs_buf_done(&why);
    go_on(c);
}

static void on_traced(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_control *c = user;
    struct qs_control_trace *t = &c->trace;
    bool begins = c->state == QS_CS_TRACE;
    if (!begins && c->state != QS_CS_UNTRACE)
        return; /* nobody waits for it any more */
    if (refused) {
        qs_control_refused(c, refused);
        return;
    }
    const struct qs_msg_traced *m = &reply->traced;
    t->started_ns = m->started_ns;
    t->stopped_ns = m->stopped_ns;
    t->flags = m->flags;
    t->total_bytes = (int64_t)m->total_bytes;
    if (m->status == QS_TRACE_MISSING) {
        struct qs_buf why;
        qs_buf_init(&why);
        qs_text_escape(&why, m->why.p ? m->why.p : "", m->why.n);
        miss(c, !begins, why.data ? why.data : "");
        qs_buf_done(&why);
        go_on(c);
    } else if (begins) {
        t->runs = true;
        t->window = c->run.window;
        qs_control_feed(c, QS_CE_TRACED);
    } else {
        qs_control_fetch_begin(c, QS_PULL_TRACE, "", (size_t)c->p.spec->trace.max_bytes, on_fetched);
    }
}

void qs_control_do_start_trace(struct qs_control *c)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_control_trace *t = &c->trace;
    t->started_ns = t->stopped_ns = t->total_bytes = 0;
    t->flags = 0;
    t->id++;
    t->windows++;
    if (qs_session_has(c->p.session, QS_FEATURE_TRACE) && qs_control_send_trace(c, on_traced, &err))
        return;
    if (err.code == QS_E_LINK)
        return; /* it reports itself */
    miss(c, false, err.code ? err.text : "the agent starts no tracers: it is too old");
    qs_control_feed(c, QS_CE_RUN_OVER);
}

void qs_control_do_stop_trace(struct qs_control *c)
{
    struct qs_err err = QS_ERR_INIT;
    const struct qs_msg_trace_stop m = {.run = c->run.uid, .id = c->trace.id};
    c->trace.runs = false;
    if (!qs_control_call(c, QS_MSG_TRACE_STOP, &m, c->p.spec->trace.stop_ns, on_traced, &err))
        qs_control_unsent(c, &err);
}
