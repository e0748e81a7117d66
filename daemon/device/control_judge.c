/* What follows from a window that is over and stored: another one, the run's end, or the job's. */
#include <stdio.h>
#include <string.h>

#include "device/control_impl.h"
#include "device/control_news.h"

static void gate_gave_up(struct qs_control *c)
{
    qs_control_news_gate_timeout(c);
    struct qs_err err = QS_ERR_INIT;
    struct qs_text busiest = c->win.made.closed.gate.busiest;
    qs_fail(&err, QS_E_PRECONDITION, "the gate did not open in time%s%.*s", busiest.n ? "; busiest: " : "",
            (int)busiest.n, busiest.n ? busiest.p : "");
    switch (c->win.made.closed.gate.outcome) {
    case QS_GATE_DEFER:
        c->end = QS_END_DEFER;
        c->err = err;
        break;
    case QS_GATE_REQUEUE:
        c->end = QS_END_REQUEUE;
        c->err = err;
        break;
    case QS_GATE_OPEN:
    case QS_GATE_TAINTED:
    case QS_GATE_FAIL:
        qs_control_fail(c, &err);
        break;
    }
}

int qs_control_quoted(struct qs_text output)
{
    int n = output.n > 300 ? 300 : output.n;
    while (n > 0 && (output.p[n - 1] == '\n' || output.p[n - 1] == '\r'))
        n--;
    return n;
}

/* A command that fails in its pilot will fail in every run: the job ends before it wastes anybody's time. */
static void pilot_failed(struct qs_control *c)
{
    const struct qs_iteration_row *last = &c->win.made.rows[c->win.made.rows_n - 1];
    struct qs_text out = c->win.made.closed.errors.n ? c->win.made.closed.errors : c->win.made.closed.output;
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
            c->p.spec->arms[qs_plan_arm(&c->plan)].name, how, hint,
            out.n ? "; it wrote: "
            : qs_control_is_stream(c)
                ? ""
                : "; --show-output with run, `output: capture` in a job file, tells what it writes",
            qs_control_quoted(out), out.n ? out.p : "");
    qs_control_fail(c, &err);
}

/* The same for one that cannot even be started, or whose prepare or conclude failed. */
static void pilot_stuck(struct qs_control *c)
{
    struct qs_text why = c->win.made.closed.failure;
    struct qs_err err = QS_ERR_INIT;
    qs_fail(&err, QS_E_COMMAND, "%s could not be measured: %.*s", c->p.spec->arms[qs_plan_arm(&c->plan)].name,
            (int)(why.n > 300 ? 300 : why.n), why.n ? why.p : "");
    qs_control_fail(c, &err);
}

/* The run's measured windows are over: traced ones may follow. */
static void measured(struct qs_control *c, bool over)
{
    qs_control_feed(c, !over && qs_control_trace_is_due(c) ? QS_CE_TRACE : QS_CE_RUN_OVER);
}

/* A traced window is judged by nobody: it is there to be looked at. */
static void judge_traced(struct qs_control *c)
{
    qs_control_trace_count(c);
    c->run.window++;
    qs_control_feed(c, qs_control_over(c) ? QS_CE_RUN_OVER : QS_CE_UNTRACE);
}

static void decide(struct qs_control *c, bool over)
{
    bool enough = over || qs_control_stop_holds(c) || c->win.made.rows_n == 0;
    c->run.attempt = 0;
    c->run.window++;
    if (enough)
        measured(c, over);
    else
        qs_control_feed(c, QS_CE_AGAIN);
}

void qs_control_do_judge(struct qs_control *c)
{
    const uint32_t repeatable = QS_TAINT_EVIDENCE | QS_TAINT_LINK | QS_TAINT_CLOCK;
    struct qs_err err = QS_ERR_INIT;
    (void)qs_session_ack(c->p.session, &c->run.uid, c->run.next_seq + c->win.made.closed.iterations, &err);
    if (c->trace.runs) {
        judge_traced(c);
        return;
    }
    qs_control_window_count(c);
    if (c->win.made.closed.how == QS_CLOSED_GATE_TIMEOUT)
        gate_gave_up(c);
    else if (c->win.made.closed.gate.outcome == QS_GATE_TAINTED)
        qs_control_news_gate_timeout(c);
    if (c->plan.block == 0 && c->win.made.closed.how == QS_CLOSED_FAILED)
        pilot_stuck(c);
    else if (c->plan.block == 0 && c->run.failures > 0 && c->win.made.rows_n > 0)
        pilot_failed(c);
    bool over = qs_control_over(c) || c->win.made.closed.how == QS_CLOSED_CANCELLED ||
                c->win.made.closed.how == QS_CLOSED_FAILED;
    bool dirty = (c->win.made.taint & repeatable) != 0 && (c->win.made.taint & QS_TAINT_GATE) == 0 &&
                 c->plan.block > 0;
    if (!over && dirty && c->run.attempt < c->p.spec->plan.repeat_tainted) {
        c->run.attempt++;
        c->run.window++;
        qs_control_feed(c, QS_CE_AGAIN);
        return;
    }
    if (!over && qs_control_evals_window(c))
        return;
    if (!over && c->win.made.rows_n > 0 && qs_control_host_has_rules(c))
        qs_control_feed(c, QS_CE_ASK);
    else
        decide(c, over);
}

void qs_control_do_decide(struct qs_control *c)
{
    decide(c, qs_control_over(c));
}
