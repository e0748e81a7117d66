/* A tracer is started, a window opened under it, the tracer stopped, its file fetched and stored; and again,
 * as often as the job asks for. What cannot be had is a row with the reason. */
#include <string.h>

#include "base/text.h"
#include "device/activity/artifacts.h"
#include "device/activity/fetch.h"
#include "device/activity/activity.h"
#include "device/job/impl.h"
#include "device/job/events.h"

struct trace {
    bool runs;        /* a tracer stands: the window in hand is traced */
    uint32_t id;      /* of the last TRACE, over all runs */
    uint32_t windows; /* of the run in hand, begun so far */
    bool given_up;    /* none will follow in this run */
    bool told;        /* people know that traces are missing */
    uint32_t window;  /* number of the traced window in hand */
    uint32_t flags;   /* enum qs_trace_flag of the wire */
    int64_t started_ns, stopped_ns, total_bytes;
};

static struct trace *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_TRACE];
}

static void new_run(struct qs_job_run *job)
{
    struct trace *t = mine(job);
    *t = (struct trace){.id = t->id, .told = t->told};
}

bool qs_activity_trace_is_on(const struct qs_job_run *job)
{
    return mine(job)->runs;
}

bool qs_activity_trace_is_due(const struct qs_job_run *job)
{
    const struct qs_job_trace *wish = &job->p.spec->trace;
    return job->p.files && qs_job_is_traced(wish, job->schedule.block) && !mine(job)->given_up &&
           mine(job)->windows < wish->windows;
}

void qs_activity_trace_count(struct qs_job_run *job)
{
    job->run.next_seq += job->win.made.rows_n;
    job->run.stored_n += job->win.made.rows_n;
    job->run.traced_n += job->win.made.rows_n;
}

static void store(struct qs_job_run *job, bool has_window, const struct qs_buf *bytes, const char *why)
{
    const struct trace *t = mine(job);
    const struct qs_trace_row trace = {.has_window = has_window,
                                       .window = t->window,
                                       .flags = t->flags,
                                       .started_ns = t->started_ns,
                                       .stopped_ns = t->stopped_ns};
    QS_BUF(name);
    qs_buf_str(&name, qs_job_tracer_name(job->p.spec->trace.tool));
    if (has_window)
        qs_buf_fmt(&name, ".%u", (unsigned)t->window);
    struct qs_artifact_row row = {.idx = qs_activity_artifacts_number(job),
                                  .kind = "trace",
                                  .name = name.data,
                                  .files = job->p.files,
                                  .bytes = bytes ? bytes->data : NULL,
                                  .n = bytes ? bytes->len : 0,
                                  .total_bytes = t->total_bytes,
                                  .why = why,
                                  .trace = &trace};
    memcpy(row.run_uid, job->run.uid.b, sizeof row.run_uid);
    qs_store_artifact(job->p.store, &row, qs_job_run_stored, qs_job_run_asks(job));
}

/* There is no trace: for the record, for people once, and for a job that cannot do without. */
static void miss(struct qs_job_run *job, bool has_window, const char *why)
{
    struct qs_err err = QS_ERR_INIT;
    const char *tool = qs_job_tracer_name(job->p.spec->trace.tool);
    store(job, has_window, NULL, why);
    mine(job)->given_up = true;
    if (job->p.spec->trace.required) {
        qs_fail(&err, QS_E_COMMAND, "%s: no trace by %s: %s", job->p.device, tool, why);
        qs_job_run_fail(job, &err);
    } else if (!mine(job)->told) {
        mine(job)->told = true;
        qs_job_event_warning(job, "no trace by %s: %s", tool, why);
    }
}

static void go_on(struct qs_job_run *job)
{
    bool more = qs_activity_trace_is_due(job) && !qs_job_run_over(job);
    qs_job_run_feed(job, more ? QS_JI_TRACE : QS_JI_RUN_OVER);
}

static void on_fetched(struct qs_job_run *job, const struct qs_fetched *what, const struct qs_err *refused)
{
    QS_BUF(why);
    qs_job_run_give_token(job);
    if (what->last && what->last->status == QS_PULL_OK && what->bytes->len > 0) {
        store(job, true, what->bytes, NULL);
    } else {
        if (what->last && what->last->why.n > 0)
            qs_text_escape(&why, what->last->why.p, what->last->why.n);
        miss(job, true, refused ? refused->text : why.len > 0 ? why.data : "its file could not be fetched");
    }
    go_on(job);
}

static void on_traced(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct trace *t = mine(job);
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
        QS_BUF(why);
        qs_text_escape(&why, m->why.p ? m->why.p : "", m->why.n);
        miss(job, !begins, why.data ? why.data : "");
        go_on(job);
    } else if (begins) {
        t->runs = true;
        t->window = job->run.window;
        qs_job_run_feed(job, QS_JI_DONE);
    } else {
        qs_activity_fetch_begin(job, QS_PULL_TRACE, "", (size_t)job->p.spec->trace.max_bytes, on_fetched);
    }
}

static void start(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    struct trace *t = mine(job);
    t->started_ns = t->stopped_ns = t->total_bytes = 0;
    t->flags = 0;
    t->id++;
    t->windows++;
    if (qs_session_has(job->p.session, QS_FEATURE_TRACE) &&
        qs_job_run_send_trace(job, t->id, on_traced, &err))
        return;
    if (err.code == QS_E_LINK)
        return; /* it reports itself */
    miss(job, false, err.code ? err.text : "the agent is too old to start tracers");
    qs_job_run_feed(job, QS_JI_RUN_OVER);
}

static void end(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    const struct qs_msg_trace_stop m = {.run = job->run.uid, .id = mine(job)->id};
    mine(job)->runs = false;
    if (!qs_job_run_call(job, QS_MSG_TRACE_STOP, &m, job->p.spec->trace.stop_ns, on_traced, &err))
        qs_job_run_unsent(job, &err);
}

const struct qs_step qs_step_trace = {.start = start, .cancel = qs_job_run_cut_short};
const struct qs_step qs_step_untrace = {.start = end};
const struct qs_activity qs_activity_trace = {.state_bytes = sizeof(struct trace), .new_run = new_run};
