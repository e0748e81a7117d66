/* Setup and cleanup commands of the arms, one after the other; and what an earlier life of the daemon left of
 * the point. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "device/job/impl.h"
#include "device/job/events.h"
#include "report/median.h"

static const struct qs_strings *hook_of(const struct qs_job_run *job, size_t arm, bool setup)
{
    const struct qs_job_arm *a = &job->p.spec->arms[arm];
    const struct qs_job_benchmark *b =
        &job->p.spec->benchmarks[job->p.spec->points[job->plan.point].benchmark];
    const struct qs_strings *own = setup ? &a->setup : &a->cleanup;
    return own->count > 0 ? own : setup ? &b->setup : &b->cleanup;
}

static void on_hook_done(const union qs_msg *reply, const struct qs_err *refused, void *user);

/* Sends the next arm's command; false where no arm is left that has one. */
static bool send_next(struct qs_job_run *job, bool setup)
{
    for (; job->hook_arm < job->p.spec->arm_count; job->hook_arm++) {
        const struct qs_strings *tmpl = hook_of(job, job->hook_arm, setup);
        if (tmpl->count == 0)
            continue;
        struct qs_strings argv;
        struct qs_err err = QS_ERR_INIT;
        qs_job_fill(job->p.spec, job->hook_arm, job->plan.point, tmpl, &argv);
        job->hook_id++;
        bool sent = qs_job_run_send_hook(job, &argv, on_hook_done, &err);
        qs_strings_done(&argv);
        if (!sent && qs_job_run_is_operators(&err)) {
            qs_job_run_fail(job, &err);
            continue;
        }
        if (!sent)
            qs_job_run_unsent(job, &err);
        job->in_hooks = true;
        return true;
    }
    job->in_hooks = false;
    return false;
}

static const char *how_text(const struct qs_msg_hook_done *m, char *out, size_t n)
{
    switch (m->how) {
    case QS_HOOK_EXITED:
        snprintf(out, n, "exited with code %d", m->code);
        break;
    case QS_HOOK_SIGNALLED:
        snprintf(out, n, "was ended by signal %d", m->code);
        break;
    case QS_HOOK_TIMED_OUT:
        snprintf(out, n, "did not end within its limit");
        break;
    case QS_HOOK_NOT_STARTED:
        if (m->output.n > 0) /* the agent says why, and better */
            snprintf(out, n, "could not be started");
        else
            snprintf(out, n, "could not be started: %s", strerror(m->code));
        break;
    }
    return out;
}

static void on_hook_done(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    const struct qs_msg_hook_done *m = &reply->hook_done;
    (void)refused; /* a hook is about no run: it cannot be */
    if (!job->in_hooks)
        return; /* nobody waits for it any more */
    bool setup = job->state == QS_JS_SETUP;
    if (setup && qs_job_run_over(job)) { /* cancelled: how it ended is no news */
        job->in_hooks = false;
        qs_job_run_feed(job, QS_JI_POINT_OVER);
        return;
    }
    if (m->how != QS_HOOK_EXITED || m->code != 0) {
        char how[128];
        struct qs_err err = QS_ERR_INIT;
        const char *wrote = m->how == QS_HOOK_NOT_STARTED ? ": " : "; it wrote: ";
        qs_fail(&err, QS_E_COMMAND, "%s of %s %s%s%.*s", setup ? "setup" : "cleanup",
                job->p.spec->arms[job->hook_arm].name, how_text(m, how, sizeof how), m->output.n ? wrote : "",
                qs_job_run_quoted(m->output), m->output.n ? m->output.p : "");
        if (setup) {
            job->in_hooks = false;
            qs_job_run_fail(job, &err);
            qs_job_run_feed(job, QS_JI_FAIL);
            return;
        }
        qs_job_event_warning(job, "%s, going on", err.text);
    }
    job->hook_arm++;
    if (!send_next(job, setup))
        qs_job_run_feed(job, setup && job->failed ? QS_JI_FAIL : QS_JI_HOOKS_OVER);
}

static bool is_of_block(const struct qs_job_run *job, const struct qs_sample *s, uint32_t block)
{
    return s->point == job->plan.point && s->block == block && strcmp(s->device, job->p.device) == 0 &&
           s->arm < job->p.spec->arm_count;
}

struct stored_block { /* one block at its last attempt, as an earlier life left it */
    bool any, soft;
    uint32_t attempt;
    size_t done;        /* runs that ended well */
    double *medians_ns; /* per arm, NaN where a turn gave nothing */
};

static void count_runs(const struct qs_job_run *job, uint32_t block, struct stored_block *b)
{
    size_t arms = job->p.spec->arm_count;
    size_t *n = qs_calloc(arms, sizeof *n);
    memset(b->medians_ns, 0, arms * sizeof *b->medians_ns);
    for (size_t i = 0; i < job->p.earlier->count; i++) {
        const struct qs_sample *s = &job->p.earlier->at[i];
        if (!is_of_block(job, s, block) || s->attempt != b->attempt)
            continue;
        double median_ns =
            s->n > 0 ? qs_median_ns(s->durations_ns, s->n) : qs_median_ns(s->soft_ns, s->soft_n);
        bool well = s->state == QS_RUN_DONE && median_ns > 0;
        b->medians_ns[s->arm] += well ? log(median_ns) : NAN;
        b->done += well ? 1 : 0;
        b->soft = b->soft || s->n == 0;
        n[s->arm]++;
    }
    for (size_t a = 0; a < arms; a++)
        b->medians_ns[a] = n[a] == job->plan.turns / arms ? exp(b->medians_ns[a] / (double)n[a]) : NAN;
    free(n);
}

static bool find_block(const struct qs_job_run *job, uint32_t block, struct stored_block *b)
{
    *b = (struct stored_block){.medians_ns = b->medians_ns};
    for (size_t i = 0; i < job->p.earlier->count; i++) {
        const struct qs_sample *s = &job->p.earlier->at[i];
        if (!is_of_block(job, s, block))
            continue;
        b->any = true;
        if (s->attempt > b->attempt)
            b->attempt = s->attempt;
    }
    if (b->any)
        count_runs(job, block, b);
    return b->any;
}

/* r as it was: the longest window of the point, since a limit may have cut others short. */
static void restore_iterations(struct qs_job_run *job)
{
    uint32_t longest = 0;
    for (size_t i = 0; i < job->p.earlier->count; i++) {
        const struct qs_sample *s = &job->p.earlier->at[i];
        if (s->point == job->plan.point && strcmp(s->device, job->p.device) == 0 && s->window_n > longest)
            longest = s->window_n;
    }
    if (job->plan.run_iterations == 0)
        qs_plan_set_iterations(&job->plan, longest);
}

static bool has_later(const struct qs_job_run *job, uint32_t block, bool later_point)
{
    for (size_t i = 0; i < job->p.earlier->count; i++) {
        const struct qs_sample *s = &job->p.earlier->at[i];
        if (strcmp(s->device, job->p.device) != 0)
            continue;
        if (later_point ? s->point > job->plan.point : s->point == job->plan.point && s->block > block)
            return true;
    }
    return false;
}

/* The runs of a block that the daemon's end cut short are kept, marked. */
static void mark_block(struct qs_job_run *job, uint32_t block, uint32_t attempt)
{
    struct qs_err err = QS_ERR_INIT;
    qs_fail(&err, QS_E_RESOURCE, "the daemon ended during this block");
    for (size_t i = 0; i < job->p.earlier->count; i++) {
        const struct qs_sample *s = &job->p.earlier->at[i];
        struct qs_uid uid;
        if (!is_of_block(job, s, block) || s->attempt != attempt)
            continue;
        memcpy(uid.b, s->run_uid, sizeof uid.b);
        qs_job_run_mark_interrupted(job, &uid, &err);
    }
}

/* Blocks that were closed count as they are, with holes where a run failed; the last one, where it is
 * incomplete, is repeated whole under new identities. A point that a later one follows was enough then and is
 * now. */
static void restore_point(struct qs_job_run *job)
{
    if (!job->p.earlier || job->restored_points > job->plan.point)
        return;
    job->restored_points = job->plan.point + 1;
    restore_iterations(job);
    struct stored_block b = {.medians_ns = qs_calloc(job->p.spec->arm_count, sizeof *b.medians_ns)};
    for (uint32_t block = 1; find_block(job, block, &b); block++) {
        if (b.done < job->plan.turns && !has_later(job, block, false)) {
            mark_block(job, block, b.attempt);
            qs_plan_resume(&job->plan, b.attempt + 1);
            break;
        }
        qs_plan_restore_block(&job->plan, b.medians_ns, b.soft);
    }
    free(b.medians_ns);
    enum qs_plan_stop stop =
        qs_plan_enough(&job->plan, qs_plan_half_width(&job->plan), qs_loop_now_ns(job->p.loop));
    if (stop == QS_PLAN_GO_ON && has_later(job, 0, true))
        stop = QS_PLAN_TIME;
    if (stop != QS_PLAN_GO_ON) {
        job->stop = stop;
        job->point_over = true;
    }
}

void qs_job_run_do_setup(struct qs_job_run *job)
{
    qs_job_run_planner_begin(job);
    restore_point(job);
    job->hook_arm = 0;
    if (qs_job_run_over(job) || job->point_over) {
        qs_job_run_feed(job, QS_JI_POINT_OVER);
        return;
    }
    qs_plan_warm_again(&job->plan);
    qs_job_run_evals_begin(job);
    bool sent = send_next(job, true);
    if (job->failed)
        qs_job_run_feed(job, QS_JI_FAIL);
    else if (!sent)
        qs_job_run_feed(job, QS_JI_HOOKS_OVER);
}

void qs_job_run_do_cleanup(struct qs_job_run *job)
{
    job->hook_arm = 0;
    if (!send_next(job, false))
        qs_job_run_feed(job, QS_JI_HOOKS_OVER);
}
