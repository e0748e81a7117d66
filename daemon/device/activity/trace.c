/* A tracer is started, a window opened under it, the tracer stopped, its file fetched and stored; and again,
 * as often as the job asks for. What cannot be had is a row with the reason. */
#include <string.h>

#include "base/text.h"
#include "device/job/impl.h"
#include "device/job/events.h"

void qs_job_run_trace_reset(struct qs_job_run *job)
{
    struct qs_job_run_trace *t = &job->trace;
    *t = (struct qs_job_run_trace){.id = t->id, .told = t->told};
}

bool qs_job_run_trace_is_due(const struct qs_job_run *job)
{
    const struct qs_job_trace *wish = &job->p.spec->trace;
    return job->p.files && qs_job_is_traced(wish, job->plan.block) && !job->trace.given_up &&
           job->trace.windows < wish->windows;
}

void qs_job_run_trace_count(struct qs_job_run *job)
{
    job->run.next_seq += job->win.made.rows_n;
    job->run.stored_n += job->win.made.rows_n;
    job->trace.rows += job->win.made.rows_n;
}

static void store(struct qs_job_run *job, bool has_window, const char *why)
{
    const struct qs_job_run_trace *t = &job->trace;
    const struct qs_trace_row trace = {.has_window = has_window,
                                       .window = t->window,
                                       .flags = t->flags,
                                       .started_ns = t->started_ns,
                                       .stopped_ns = t->stopped_ns};
    struct qs_buf name;
    qs_buf_init(&name);
    qs_buf_str(&name, qs_job_tracer_name(job->p.spec->trace.tool));
    if (has_window)
        qs_buf_fmt(&name, ".%u", (unsigned)t->window);
    struct qs_artifact_row row = {.idx = job->artifacts.kept++,
                                  .kind = "trace",
                                  .name = name.data,
                                  .files = job->p.files,
                                  .bytes = job->fetch.bytes.data,
                                  .n = why ? 0 : job->fetch.bytes.len,
                                  .total_bytes = t->total_bytes,
                                  .why = why,
                                  .trace = &trace};
    memcpy(row.run_uid, job->run.uid.b, sizeof row.run_uid);
    qs_store_done_fn *fn;
    void *user;
    qs_job_run_store_quiet(job, &fn, &user);
    qs_store_artifact(job->p.store, &row, fn, user);
    qs_buf_done(&name);
}

/* There is no trace: for the record, for people once, and for a job that cannot do without. */
static void miss(struct qs_job_run *job, bool has_window, const char *why)
{
    struct qs_err err = QS_ERR_INIT;
    const char *tool = qs_job_tracer_name(job->p.spec->trace.tool);
    store(job, has_window, why);
    job->trace.given_up = true;
    if (job->p.spec->trace.required) {
        qs_fail(&err, QS_E_COMMAND, "%s: no trace by %s: %s", job->p.device, tool, why);
        qs_job_run_fail(job, &err);
    } else if (!job->trace.told) {
        job->trace.told = true;
        qs_job_event_warning(job, "no trace by %s: %s", tool, why);
    }
}

static void go_on(struct qs_job_run *job)
{
    bool more = qs_job_run_trace_is_due(job) && !qs_job_run_over(job);
    qs_job_run_feed(job, more ? QS_JI_TRACE : QS_JI_RUN_OVER);
}

static void on_fetched(struct qs_job_run *job, const struct qs_msg_pulled *last, const struct qs_err *refused)
{
    struct qs_buf why;
    qs_buf_init(&why);
    qs_job_run_give_token(job);
    if (last && last->status == QS_PULL_OK && job->fetch.bytes.len > 0) {
        store(job, true, NULL);
    } else {
        if (last && last->why.n > 0)
            qs_text_escape(&why, last->why.p, last->why.n);
        miss(job, true, refused ? refused->text : why.len > 0 ? why.data : "its file could not be fetched");
    }
    qs_buf_done(&why);
    go_on(job);
}

static void on_traced(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct qs_job_run_trace *t = &job->trace;
    bool begins = job->state == QS_JS_TRACE;
    if (!begins && job->state != QS_JS_UNTRACE)
        return; /* nobody waits for it any more */
    if (refused) {
        qs_job_run_refused(job, refused);
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
        miss(job, !begins, why.data ? why.data : "");
        qs_buf_done(&why);
        go_on(job);
    } else if (begins) {
        t->runs = true;
        t->window = job->run.window;
        qs_job_run_feed(job, QS_JI_TRACED);
    } else {
        qs_job_run_fetch_begin(job, QS_PULL_TRACE, "", (size_t)job->p.spec->trace.max_bytes, on_fetched);
    }
}

void qs_job_run_do_start_trace(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_job_run_trace *t = &job->trace;
    t->started_ns = t->stopped_ns = t->total_bytes = 0;
    t->flags = 0;
    t->id++;
    t->windows++;
    if (qs_session_has(job->p.session, QS_FEATURE_TRACE) && qs_job_run_send_trace(job, on_traced, &err))
        return;
    if (err.code == QS_E_LINK)
        return; /* it reports itself */
    miss(job, false, err.code ? err.text : "the agent starts no tracers: it is too old");
    qs_job_run_feed(job, QS_JI_RUN_OVER);
}

void qs_job_run_do_stop_trace(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    const struct qs_msg_trace_stop m = {.run = job->run.uid, .id = job->trace.id};
    job->trace.runs = false;
    if (!qs_job_run_call(job, QS_MSG_TRACE_STOP, &m, job->p.spec->trace.stop_ns, on_traced, &err))
        qs_job_run_unsent(job, &err);
}
