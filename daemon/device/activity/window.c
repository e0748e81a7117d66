/* From the agent's CLOSED and ITERATIONS to one window's rows, and from there to the run's accepted
 * durations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/window/closed.h"
#include "device/job/impl.h"
#include "device/job/events.h"
#include "device/window/metrics.h"
#include "proto/names.h"
#include "report/median.h"

enum { SOFT = QS_TAINT_GATE | QS_TAINT_EVIDENCE | QS_TAINT_LINK };

void qs_job_run_window_reset(struct qs_job_run *job)
{
    qs_assembler_done(&job->win.made);
    job->win.waits_for[0] = '\0';
    job->win.held_ns = 0;
    job->win.held_told = false;
}

static void on_waiting(const struct qs_msg_waiting *m, void *user)
{
    struct qs_job_run *job = user;
    qs_job_run_set_silence(job, false);
    qs_job_event_waiting(job, m);
}

static void on_quiet(void *user)
{
    struct qs_job_run *job = user;
    job->win.waits_for[0] = '\0';
    qs_job_run_feed(job, QS_JI_QUIET);
}

static void on_disarm(const char *why, void *user)
{
    (void)why;
    qs_job_run_feed(user, QS_JI_DISARM);
}

static void on_closed(const struct qs_msg_closed *m, const struct qs_session_quiet *quiet, void *user)
{
    struct qs_job_run *job = user;
    const struct qs_assembler_about about = {
        .quiet = quiet, .local = job->p.local, .streams = qs_job_run_is_stream(job)};
    qs_assembler_closed(&job->win.made, m, &about);
    qs_job_run_artifacts_output(job);
    qs_job_run_patience_book(job);
    qs_job_run_feed(job, QS_JI_CLOSED);
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
    if (qs_job_run_is_stream(job))
        qs_job_run_stream_read(job);
    else
        qs_job_run_window_whole(job);
}

static void on_error(const struct qs_err *err, void *user)
{
    qs_job_run_refused(user, err);
}

struct qs_run_events qs_job_run_window_events(struct qs_job_run *job)
{
    return (struct qs_run_events){.on_waiting = on_waiting,
                                  .may_quiet = qs_job_run_may_quiet,
                                  .on_quiet = on_quiet,
                                  .on_disarm = on_disarm,
                                  .on_closed = on_closed,
                                  .on_document = on_document,
                                  .on_iterations = on_iterations,
                                  .on_error = on_error,
                                  .user = job};
}

void qs_job_run_window_whole(struct qs_job_run *job)
{
    qs_job_run_give_token(job); /* all rows have come */
    job->host.metric_count = 0;
    if (job->win.made.rows_n > 0 && job->win.made.closed.phase == QS_PHASE_MEASURE && !job->trace.runs &&
        job->p.spec->plan.metrics.count > 0)
        qs_job_run_host_begin(job, true);
    else
        qs_job_run_window_store(job);
}

void qs_job_run_window_store(struct qs_job_run *job)
{
    struct qs_evidence_row ours[QS_JOB_HOOKS_MAX];
    const struct qs_assembler_place place = {.run = &job->run.uid,
                                             .attempt = job->run.attempt,
                                             .first_seq = job->run.stored_n,
                                             .evidence = ours,
                                             .evidence_count = qs_job_run_host_evidence(job, ours)};
    qs_store_done_fn *fn;
    void *user;
    if (qs_job_run_is_stream(job) && job->win.made.closed.iterations > 0 && job->p.files)
        job->run.documents++;
    qs_job_run_store_request(job, QS_JI_COMMITTED, &fn, &user);
    qs_assembler_store(&job->win.made, &place, job->p.store, fn, user);
}

static void push(double **list, size_t *n, double v)
{
    *list = qs_grow(*list, *n, sizeof **list);
    (*list)[(*n)++] = v;
}

void qs_job_run_window_count(struct qs_job_run *job)
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
        if (taint == 0)
            push(&run->clean_ns, &run->clean_n, (double)row->duration_ns / evals);
        else if ((taint & ~(uint32_t)SOFT) == 0)
            push(&run->soft_ns, &run->soft_n, (double)row->duration_ns / evals);
    }
    if (qs_job_run_is_stream(job))
        run->last_ns = job->win.made.streamed.process.duration_ns /* a pilot's measure */;
}

double qs_job_run_run_median(const struct qs_job_run *job)
{
    if (job->run.clean_n > 0)
        return qs_median_ns(job->run.clean_ns + job->run.warmup_n, job->run.clean_n - job->run.warmup_n);
    return job->run.soft_n > 0 ? qs_median_ns(job->run.soft_ns, job->run.soft_n) : NAN;
}
