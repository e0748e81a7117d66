/* A window: from OPEN over the way into silence, CLOSED and ITERATIONS to the commit, and from there to the
 * run's accepted durations. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/activity/artifacts.h"
#include "device/activity/host.h"
#include "device/activity/activity.h"
#include "device/activity/ambient.h"
#include "device/activity/cools.h"
#include "device/activity/meters.h"
#include "device/activity/pin.h"
#include "device/job/events.h"
#include "device/job/impl.h"
#include "device/job/stop_rule.h"
#include "report/median.h"
#include "stats/cooling.h"
#include "store/store.h"
#include "store/values.h"

/* ---- OPEN ---- */

static void cancel(struct qs_job_run *job)
{
    if (qs_activity_ambient_hush(job)) /* then it is opened, and cut short */
        return;
    if (job->state != QS_JS_EVIDENCE) /* that is over soon */
        qs_job_run_cut_short(job);
}

static void open_it(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    if (!qs_job_run_send_open(job, &err))
        qs_job_run_unsent(job, &err);
    else if (qs_job_run_over(job))
        qs_job_run_cut_short(job); /* cancelled while the run was being opened */
}

static void start(struct qs_job_run *job)
{
    enum { ANNOUNCE_NS = 2000000000 };
    qs_assembler_done(&job->win.made);
    job->win = (struct qs_window_in_hand){.made = job->win.made};
    int64_t predicted_ns = qs_schedule_predict_ns(&job->schedule);
    if (predicted_ns > ANNOUNCE_NS)
        qs_job_event_announce(job, predicted_ns);
    job->run.tried++;
    qs_activity_ambient_refresh(job, open_it);
}

/* ---- into silence ---- */

/* Once a window, when it has taken long enough to be asked about: short windows that take turns are no news.
 */
static void say_held(struct qs_job_run *job, const char *why)
{
    const int64_t patience_ns = INT64_C(1000000000);
    int64_t now_ns = qs_loop_now_ns(job->p.loop);
    if (job->win.held_ns == 0)
        job->win.held_ns = now_ns;
    if (job->win.held_told || now_ns - job->win.held_ns < patience_ns)
        return;
    job->win.held_told = true;
    qs_job_event_held(job, why);
}

static bool is_host_ready(struct qs_job_run *job, const char **why)
{
    if (qs_store_log_is_full(job->p.store)) { /* it is not for the host's silence: that would keep it full */
        *why = "waiting for the disk: somebody keeps a transaction open on the database, and its log is full";
        qs_job_run_set_silence(job, false);
        say_held(job, *why);
        return false;
    }
    return qs_job_run_is_host_idle(job, why);
}

static bool may_quiet(const char **why, void *user)
{
    struct qs_job_run *job = user;
    if (!is_host_ready(job, why))
        return false;
    if (job->events.take_token && !job->events.take_token(true, why, job->events.user)) {
        qs_job_run_set_silence(job, false); /* who has it may need the store before he gives it */
        say_held(job, *why);
        return false;
    }
    job->quiet.has_token = true;
    return true;
}

static void on_waiting(const struct qs_msg_waiting *m, void *user)
{
    struct qs_job_run *job = user;
    qs_job_run_set_silence(job, false);
    qs_wait_add(&job->win.wait, m);
    qs_job_event_waiting(job, m);
}

static void on_quiet(void *user)
{
    struct qs_job_run *job = user;
    job->win.waits_for[0] = '\0';
    qs_activity_ambient_note(job);
    qs_job_run_set_silence(job, true);
    qs_job_run_feed(job, QS_JI_QUIET);
}

static void on_disarm(const char *why, void *user)
{
    struct qs_job_run *job = user;
    (void)why;
    if (job->state == QS_JS_WINDOW) {
        qs_job_run_give_token(job);
        qs_job_run_set_silence(job, false);
    }
    qs_job_run_feed(job, QS_JI_DISARM);
}

/* ---- out of it ---- */

/* A wait to cool down tells how the device does. */
static void stored(struct qs_job_run *job)
{
    job->win.stored = true;
    if (job->win.wait.count >= QS_COOLING_LEAST)
        qs_cools_read(job);
    qs_job_run_feed(job, QS_JI_DONE);
}

static bool is_measured(const struct qs_job_run *job)
{
    return job->win.made.rows_n > 0 && job->win.made.closed.phase == QS_PHASE_MEASURE &&
           !qs_activity_trace_is_on(job);
}

static void store(struct qs_job_run *job)
{
    if (job->state != QS_JS_EVIDENCE) /* the agent has ended the run meanwhile */
        return;
    struct qs_evidence_row ours[QS_ASSEMBLER_OURS];
    size_t ours_n = qs_activity_host_evidence(job, ours);
    if (is_measured(job))
        ours_n += qs_meters_evidence(job, ours + ours_n);
    ours_n += qs_activity_ambient_evidence(job, ours + ours_n);
    struct qs_reading_row bounds[2 * QS_GATE_MAX];
    QS_BUF(trace);
    qs_wait_json(&job->win.wait, &trace);
    const struct qs_assembler_place place = {.run = &job->run.uid,
                                             .attempt = job->run.attempt,
                                             .first_seq = job->run.stored_n,
                                             .gate_trace = trace.data,
                                             .evidence = ours,
                                             .evidence_count = ours_n,
                                             .readings = bounds,
                                             .reading_count = qs_activity_ambient_readings(job, bounds)};
    if (qs_stream_is_on(job) && job->win.made.closed.iterations > 0 && job->p.files)
        job->run.documents++;
    qs_assembler_store(&job->win.made, &place, job->p.store, qs_job_run_stored,
                       qs_job_run_awaits(job, stored));
}

void qs_activity_window_whole(struct qs_job_run *job)
{
    if (job->state != QS_JS_EVIDENCE)
        return;
    qs_job_run_give_token(job); /* all rows have come */
    qs_activity_host_no_metrics(job);
    if (is_measured(job) && job->p.spec->plan.metrics.count > 0)
        qs_activity_host_metrics(job, store);
    else
        store(job);
}

static void on_closed(const struct qs_msg_closed *m, const struct qs_session_quiet *quiet, void *user)
{
    struct qs_job_run *job = user;
    const struct qs_assembler_about about = {
        .quiet = quiet,
        .set = qs_activity_trace_is_on(job) ? NULL : qs_schedule_conditions(&job->schedule),
        .local = job->p.local,
        .streams = qs_stream_is_on(job)};
    qs_assembler_closed(&job->win.made, m, &about);
    qs_activity_artifacts_output(job);
    qs_patience_book(job);
    qs_activity_pin_closed(job, m);
    qs_job_run_feed(job, QS_JI_CLOSED);
    if (job->state != QS_JS_EVIDENCE)
        return;
    qs_job_run_set_silence(job, false);
    if (job->win.made.rows_n == job->win.made.closed.iterations)
        qs_activity_window_whole(job);
}

static void on_document(const struct qs_msg_document *m, void *user)
{
    struct qs_job_run *job = user;
    qs_assembler_document(&job->win.made, m);
}

static void on_iterations(const struct qs_msg_iterations *m, void *user)
{
    struct qs_job_run *job = user;
    if (job->state != QS_JS_EVIDENCE || !qs_assembler_take(&job->win.made, m))
        return;
    if (qs_stream_is_on(job))
        qs_stream_read(job);
    else
        qs_activity_window_whole(job);
}

static void on_error(const struct qs_err *err, void *user)
{
    qs_job_run_refused(user, err);
}

struct qs_run_events qs_activity_window_events(struct qs_job_run *job)
{
    return (struct qs_run_events){.on_waiting = on_waiting,
                                  .may_quiet = may_quiet,
                                  .on_quiet = on_quiet,
                                  .on_disarm = on_disarm,
                                  .on_closed = on_closed,
                                  .on_document = on_document,
                                  .on_iterations = on_iterations,
                                  .on_error = on_error,
                                  .user = job};
}

/* ---- what it gave ---- */

static void push(double **list, size_t *n, double v)
{
    *list = qs_grow(*list, *n, sizeof **list);
    (*list)[(*n)++] = v;
}

void qs_activity_window_count(struct qs_job_run *job)
{
    struct qs_run_in_hand *run = &job->run;
    run->next_seq += job->win.made.closed.iterations;
    run->stored_n += job->win.made.rows_n;
    run->taint |= job->win.made.taint;
    if (job->win.made.closed.closed_ns > job->win.made.closed.opened_ns)
        run->windows_ns += job->win.made.closed.closed_ns - job->win.made.closed.opened_ns;
    double evals = job->win.made.evals;
    for (size_t i = 0; i < job->win.made.rows_n; i++) {
        const struct qs_iteration_row *row = &job->win.made.rows[i];
        uint32_t taint = row->taint | job->win.made.taint;
        run->taint |= row->taint;
        run->last_ns = row->duration_ns;
        if (row->taint & (QS_TAINT_EXIT | QS_TAINT_TIMEOUT))
            run->failures++;
        if (row->duration_ns > 0 && run->measured_ns <= INT64_MAX - row->duration_ns)
            run->measured_ns += row->duration_ns;
        qs_stop_rule_push(job, row->duration_ns, taint == 0);
        size_t no_warmup = 0; /* the stop rule says at the run's end how much of it there was */
        enum qs_worth worth = qs_worth_next(taint, taint == 0, &no_warmup);
        if (worth == QS_WORTH_COUNTS)
            push(&run->clean_ns, &run->clean_n, (double)row->duration_ns / evals);
        else if (worth == QS_WORTH_DISTURBED)
            push(&run->disturbed_ns, &run->disturbed_n, (double)row->duration_ns / evals);
    }
    if (qs_stream_is_on(job))
        run->last_ns = job->win.made.streamed.process.duration_ns /* a pilot's measure */;
}

double qs_activity_window_median(const struct qs_job_run *job)
{
    if (job->run.clean_n > 0)
        return qs_median_ns(job->run.clean_ns + job->run.warmup_n, job->run.clean_n - job->run.warmup_n);
    return job->run.disturbed_n > 0 ? qs_median_ns(job->run.disturbed_ns, job->run.disturbed_n) : NAN;
}

const struct qs_step qs_step_window = {.start = start, .cancel = cancel};
