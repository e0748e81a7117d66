/* From the agent's CLOSED and ITERATIONS to one window's rows, and from there to the run's accepted
 * durations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/closed.h"
#include "device/control_impl.h"
#include "device/metrics.h"
#include "proto/names.h"
#include "report/median.h"

enum { SOFT = QS_TAINT_GATE | QS_TAINT_EVIDENCE | QS_TAINT_LINK };

void qs_control_window_reset(struct qs_control *c)
{
    qs_assembler_done(&c->win.made);
    c->win.waits_for[0] = '\0';
    c->win.held_ns = 0;
    c->win.held_told = false;
}

void qs_control_on_closed(struct qs_control *c, const struct qs_msg_closed *m,
                          const struct qs_session_quiet *quiet)
{
    if (!qs_control_owns(c, &m->run) || m->window != c->run.window)
        return;
    const struct qs_assembler_about about = {
        .quiet = quiet, .local = c->p.local, .streams = qs_control_is_stream(c)};
    qs_assembler_closed(&c->win.made, m, &about);
    qs_control_left_output(c);
    qs_control_patience_book(c);
    qs_control_feed(c, QS_CE_CLOSED);
}

void qs_control_on_document(struct qs_control *c, const struct qs_msg_document *m)
{
    if (qs_control_owns(c, &m->run) && c->state == QS_CS_EVIDENCE)
        qs_assembler_document(&c->win.made, m);
}

void qs_control_on_iterations(struct qs_control *c, const struct qs_msg_iterations *m)
{
    if (!qs_control_owns(c, &m->run) || c->state != QS_CS_EVIDENCE || !qs_assembler_take(&c->win.made, m))
        return;
    if (qs_control_is_stream(c))
        qs_control_stream_read(c);
    else
        qs_control_window_whole(c);
}

void qs_control_window_whole(struct qs_control *c)
{
    qs_control_give_token(c); /* all rows have come */
    c->host.metric_count = 0;
    if (c->win.made.rows_n > 0 && c->win.made.closed.phase == QS_PHASE_MEASURE && !c->trace.runs &&
        c->p.spec->plan.metrics.count > 0)
        qs_control_host_begin(c, true);
    else
        qs_control_window_store(c);
}

void qs_control_window_store(struct qs_control *c)
{
    struct qs_evidence_row ours[QS_JOB_HOOKS_MAX];
    const struct qs_assembler_place place = {.run = &c->run.uid,
                                             .attempt = c->run.attempt,
                                             .first_seq = c->run.stored_n,
                                             .evidence = ours,
                                             .evidence_count = qs_control_host_evidence(c, ours)};
    qs_store_done_fn *fn;
    void *user;
    if (qs_control_is_stream(c) && c->win.made.closed.iterations > 0 && c->p.files)
        c->run.documents++;
    qs_control_store_request(c, QS_CE_COMMITTED, &fn, &user);
    qs_assembler_store(&c->win.made, &place, c->p.store, fn, user);
}

static void push(double **list, size_t *n, double v)
{
    *list = qs_grow(*list, *n, sizeof **list);
    (*list)[(*n)++] = v;
}

void qs_control_window_count(struct qs_control *c)
{
    struct qs_control_run *run = &c->run;
    run->next_seq += c->win.made.closed.iterations;
    run->stored_n += c->win.made.rows_n;
    run->taint |= c->win.made.taint;
    if (c->win.made.closed.closed_ns > c->win.made.closed.opened_ns)
        run->windows_ns += c->win.made.closed.closed_ns - c->win.made.closed.opened_ns;
    double evals = c->win.made.evals;
    for (size_t i = 0; i < c->win.made.rows_n; i++) {
        const struct qs_iteration_row *row = &c->win.made.rows[i];
        uint32_t taint = row->taint | c->win.made.taint;
        run->taint |= row->taint;
        run->last_ns = row->duration_ns;
        if (row->taint & (QS_TAINT_EXIT | QS_TAINT_TIMEOUT))
            run->failures++;
        if (row->duration_ns > 0 && run->measured_ns <= INT64_MAX - row->duration_ns)
            run->measured_ns += row->duration_ns;
        qs_control_stop_push(c, row->duration_ns, taint == 0);
        if (taint == 0)
            push(&run->clean_ns, &run->clean_n, (double)row->duration_ns / evals);
        else if ((taint & ~(uint32_t)SOFT) == 0)
            push(&run->soft_ns, &run->soft_n, (double)row->duration_ns / evals);
    }
    if (qs_control_is_stream(c))
        run->last_ns = c->win.made.streamed.process.duration_ns /* a pilot's measure */;
}

double qs_control_run_median(const struct qs_control *c)
{
    if (c->run.clean_n > 0)
        return qs_median_ns(c->run.clean_ns + c->run.warmup_n, c->run.clean_n - c->run.warmup_n);
    return c->run.soft_n > 0 ? qs_median_ns(c->run.soft_ns, c->run.soft_n) : NAN;
}
