/* What follows from a window that is over and stored: another one, the run's end, or the job's. */
#include <stdio.h>
#include <string.h>

#include "device/activity/host.h"
#include "device/activity/activity.h"
#include "device/activity/pin.h"
#include "device/activity/priority.h"
#include "device/activity/programs.h"
#include "device/activity/trip.h"
#include "device/activity/tune.h"
#include "device/job/impl.h"
#include "device/job/stop_rule.h"
#include "device/job/events.h"

static void gate_gave_up(struct qs_job_run *job)
{
    qs_job_event_gate_timeout(job);
    struct qs_err err = QS_ERR_INIT;
    qs_job_gate_failure(job, &err);
    switch (job->win.made.closed.gate.outcome) {
    case QS_GATE_DEFER:
        job->end = QS_END_DEFER;
        job->err = err;
        break;
    case QS_GATE_REQUEUE:
        job->end = QS_END_REQUEUE;
        job->err = err;
        break;
    case QS_GATE_OPEN:
    case QS_GATE_TAINTED:
    case QS_GATE_FAIL:
        qs_job_run_fail(job, &err);
        break;
    }
}

int qs_job_run_quoted(struct qs_text output)
{
    int n = output.n > 300 ? 300 : output.n;
    while (n > 0 && (output.p[n - 1] == '\n' || output.p[n - 1] == '\r'))
        n--;
    return n;
}

/* A command that fails in its pilot will fail in every run: the job ends before it wastes anybody's time. */
static void pilot_failed(struct qs_job_run *job)
{
    const struct qs_iteration_row *last = &job->win.made.rows[job->win.made.rows_n - 1];
    struct qs_text out =
        job->win.made.closed.errors.n ? job->win.made.closed.errors : job->win.made.closed.output;
    struct qs_err err = QS_ERR_INIT;
    const char *hint = "";
    char how[64];
    if (last->taint & QS_TAINT_TIMEOUT) {
        snprintf(how, sizeof how, "did not end within its limit");
    } else if (last->status < 0) {
        snprintf(how, sizeof how, "was ended by signal %d (%s)", -last->status, strsignal(-last->status));
    } else {
        snprintf(how, sizeof how, "exited with code %d", last->status);
        hint = " (`exit: any` accepts it in a job file, --ignore-failure with run)";
    }
    qs_fail(&err, QS_E_COMMAND, "%s %s in its first, uncounted run%s%s%.*s",
            job->p.spec->arms[qs_schedule_arm(&job->schedule)].name, how, hint,
            out.n ? "; it wrote: "
            : qs_stream_is_on(job)
                ? ""
                : "; --show-output with run, `output: capture` in a job file, tells what it writes",
            qs_job_run_quoted(out), out.n ? out.p : "");
    qs_job_run_fail(job, &err);
}

/* The same for one that cannot even be started, or whose prepare or conclude failed. */
static void pilot_stuck(struct qs_job_run *job)
{
    struct qs_text why = job->win.made.closed.failure;
    struct qs_err err = QS_ERR_INIT;
    size_t arm = qs_schedule_arm(&job->schedule);
    QS_BUF(more);
    qs_programs_explain(job, arm, why, &more);
    qs_fail(&err, QS_E_COMMAND, "%s could not be measured: %.*s%s", job->p.spec->arms[arm].name,
            (int)(why.n > 300 ? 300 : why.n), why.n ? why.p : "", more.data);
    qs_job_run_fail(job, &err);
}

/* The run's measured windows are over: traced ones may follow. */
static void measured(struct qs_job_run *job, bool over)
{
    qs_job_run_feed(job, !over && qs_activity_trace_is_due(job) ? QS_JI_TRACE : QS_JI_RUN_OVER);
}

/* A traced window is judged by nobody: it is there to be looked at. */
static void judge_traced(struct qs_job_run *job)
{
    qs_activity_trace_count(job);
    job->run.window++;
    qs_job_run_feed(job, qs_job_run_over(job) ? QS_JI_RUN_OVER : QS_JI_UNTRACE);
}

static void again(struct qs_job_run *job)
{
    qs_job_run_feed(job, qs_activity_pin_is_lost(job) ? QS_JI_SLIPPED : QS_JI_AGAIN);
}

static void decide(struct qs_job_run *job, bool over)
{
    bool enough = over || qs_stop_rule_holds(job) || job->win.made.rows_n == 0;
    job->run.attempt = 0;
    job->run.window++;
    if (enough)
        measured(job, over);
    else
        again(job);
}

static void judge(struct qs_job_run *job)
{
    const uint32_t repeatable = QS_TAINT_EVIDENCE | QS_TAINT_LINK | QS_TAINT_CLOCK;
    struct qs_err err = QS_ERR_INIT;
    if (job->win.judged) { /* the rules that are commands have answered */
        decide(job, qs_job_run_over(job));
        return;
    }
    job->win.judged = true;
    (void)qs_session_ack(job->p.session, &job->run.uid, job->run.next_seq + job->win.made.closed.iterations,
                         &err);
    if (qs_trip_is_over(job, &err))
        qs_job_run_fail(job, &err);
    qs_activity_priority_closed(job);
    if (qs_activity_trace_is_on(job)) {
        judge_traced(job);
        return;
    }
    qs_activity_window_count(job);
    if (job->win.made.closed.how == QS_CLOSED_GATE_TIMEOUT && !job->failed)
        gate_gave_up(job);
    else if (job->win.made.closed.gate.outcome == QS_GATE_TAINTED)
        qs_job_event_gate_timeout(job);
    if (job->schedule.block == 0 && job->win.made.closed.how == QS_CLOSED_FAILED)
        pilot_stuck(job);
    else if (job->schedule.block == 0 && job->run.failures > 0 && job->win.made.rows_n > 0)
        pilot_failed(job);
    bool over = qs_job_run_over(job) || job->win.made.closed.how == QS_CLOSED_CANCELLED ||
                job->win.made.closed.how == QS_CLOSED_FAILED;
    bool dirty = (job->win.made.taint & repeatable) != 0 && (job->win.made.taint & QS_TAINT_GATE) == 0 &&
                 job->schedule.block > 0;
    if (!over && dirty && job->run.attempt < qs_schedule_conditions(&job->schedule)->repeat_tainted) {
        job->run.attempt++;
        job->run.window++;
        again(job);
        return;
    }
    if (!over && qs_activity_tune_window(job))
        return;
    if (!over && job->win.made.rows_n > 0 && qs_activity_host_has_rules(job))
        qs_job_run_feed(job, QS_JI_ASK);
    else
        decide(job, over);
}

const struct qs_step qs_step_judge = {.start = judge};
