/* Setup and cleanup commands of the arms, one after the other. */
#include <stdio.h>
#include <string.h>

#include "device/job/impl.h"
#include "device/job/events.h"

struct hooks {
    size_t arm; /* whose turn it is */
    bool on;    /* its command runs */
    uint32_t id;
};

static struct hooks *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_HOOKS];
}

static const struct qs_strings *hook_of(const struct qs_job_run *job, size_t arm, bool setup)
{
    const struct qs_job_arm *a = &job->p.spec->arms[arm];
    const struct qs_job_benchmark *b =
        &job->p.spec->benchmarks[job->p.spec->points[job->schedule.point].benchmark];
    const struct qs_strings *own = setup ? &a->setup : &a->cleanup;
    return own->count > 0 ? own : setup ? &b->setup : &b->cleanup;
}

static void on_hook_done(const union qs_msg *reply, const struct qs_err *refused, void *user);

/* Sends the next arm's command; false where no arm is left that has one. */
static bool send_next(struct qs_job_run *job, bool setup)
{
    struct hooks *h = mine(job);
    for (; h->arm < job->p.spec->arm_count; h->arm++) {
        const struct qs_strings *tmpl = hook_of(job, h->arm, setup);
        if (tmpl->count == 0)
            continue;
        QS_SCOPED(qs_strings_done) struct qs_strings argv = {0};
        struct qs_err err = QS_ERR_INIT;
        qs_job_fill(job->p.spec, h->arm, job->schedule.point, tmpl, &argv);
        const struct qs_hook hook = {
            .arm = h->arm, .point = job->schedule.point, .id = ++h->id, .argv = &argv};
        bool sent = qs_job_run_send_hook(job, &hook, on_hook_done, &err);
        if (!sent && qs_job_run_is_operators(&err)) {
            qs_job_run_fail(job, &err);
            if (setup)
                break;
            continue;
        }
        if (!sent)
            qs_job_run_unsent(job, &err);
        h->on = true;
        return true;
    }
    h->on = false;
    return false;
}

const char *qs_hook_how(const struct qs_msg_hook_done *m, char *out, size_t n)
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
    if (!mine(job)->on)
        return; /* nobody waits for it any more */
    bool setup = job->state == QS_JS_SETUP;
    if (setup && qs_job_run_over(job)) { /* cancelled: how it ended is no news */
        mine(job)->on = false;
        qs_job_run_feed(job, QS_JI_POINT_OVER);
        return;
    }
    if (m->how != QS_HOOK_EXITED || m->code != 0) {
        char how[128];
        struct qs_err err = QS_ERR_INIT;
        const char *wrote = m->how == QS_HOOK_NOT_STARTED ? ": " : "; it wrote: ";
        qs_fail(&err, QS_E_COMMAND, "%s of %s %s%s%.*s", setup ? "setup" : "cleanup",
                job->p.spec->arms[mine(job)->arm].name, qs_hook_how(m, how, sizeof how),
                m->output.n ? wrote : "", qs_job_run_quoted(m->output), m->output.n ? m->output.p : "");
        if (setup) {
            mine(job)->on = false;
            qs_job_run_fail(job, &err);
            qs_job_run_feed(job, QS_JI_FAIL);
            return;
        }
        qs_job_event_warning(job, "%s, going on", err.text);
    }
    mine(job)->arm++;
    if (!send_next(job, setup))
        qs_job_run_feed(job, setup && job->failed ? QS_JI_FAIL : QS_JI_DONE);
}

static void setup(struct qs_job_run *job)
{
    qs_job_run_point_begins(job);
    mine(job)->arm = 0;
    if (qs_job_run_over(job) || job->point.over) {
        qs_job_run_feed(job, QS_JI_POINT_OVER);
        return;
    }
    bool sent = send_next(job, true);
    if (job->failed)
        qs_job_run_feed(job, QS_JI_FAIL);
    else if (!sent)
        qs_job_run_feed(job, QS_JI_DONE);
}

static void cleanup(struct qs_job_run *job)
{
    mine(job)->arm = 0;
    if (!send_next(job, false))
        qs_job_run_feed(job, QS_JI_DONE);
}

static void stop(struct qs_job_run *job, const char *why)
{
    (void)why;
    mine(job)->on = false;
}

const struct qs_step qs_step_setup = {.start = setup, .cancel = qs_job_run_cut_short};
const struct qs_step qs_step_cleanup = {.start = cleanup};
const struct qs_activity qs_activity_hooks = {.state_bytes = sizeof(struct hooks), .stop = stop};
