/* The apps of a job's conditions are looked at when a session begins: a debug build, or one that is
 * interpreted, is another program than the one that people use. */
#include <string.h>

#include "device/board/package.h"
#include "device/job/impl.h"

struct app {
    size_t set; /* whose app is asked for */
    bool on;    /* its command runs */
    uint32_t id;
};

static struct app *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_APP];
}

static void check_next(struct qs_job_run *job);

/* People, and comparisons, see what was there. */
static void keep(struct qs_job_run *job, const struct qs_job_app *app, const struct qs_package *is)
{
    QS_BUF(key);
    QS_BUF(value);
    qs_buf_fmt(&key, "app %s", app->package);
    qs_package_put(is, &value);
    (void)qs_activity_session_fact(job, key.data, value.data);
}

static bool judge(struct qs_job_run *job, const struct qs_msg_hook_done *m, struct qs_err *err)
{
    const struct qs_job_app *app = &job->p.spec->conditions[mine(job)->set].app;
    struct qs_package is;
    if (m->how != QS_HOOK_EXITED || m->code != 0)
        return qs_fail(err, QS_E_PRECONDITION,
                       "`app`: `dumpsys package %s` on %s %s, so that nobody knows how %s was built%s%.*s",
                       app->package, job->p.device,
                       m->how == QS_HOOK_NOT_STARTED ? "cannot be started"
                       : m->how == QS_HOOK_TIMED_OUT ? "did not end in time"
                                                     : "failed",
                       app->package, m->output.n ? ": " : "", qs_job_run_quoted(m->output),
                       m->output.n ? m->output.p : "");
    qs_package_read(m->output.p, m->output.n, app->package, &is);
    keep(job, app, &is);
    return qs_package_holds(&is, app, job->p.device, err);
}

static void on_said(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct qs_err err = QS_ERR_INIT;
    (void)refused; /* it is about no run: it cannot be */
    if (!mine(job)->on)
        return;
    mine(job)->on = false;
    if (qs_job_run_over(job) || judge(job, &reply->hook_done, &err)) {
        mine(job)->set++;
        check_next(job);
        return;
    }
    qs_job_run_fail(job, &err);
    qs_job_run_tell(job, &qs_step_check, QS_JI_FAIL);
}

static void check_next(struct qs_job_run *job)
{
    const struct qs_job_spec *spec = job->p.spec;
    struct app *a = mine(job);
    struct qs_err err = QS_ERR_INIT;
    a->set = qs_job_next_set(spec, a->set);
    while (a->set < spec->condition_count && spec->conditions[a->set].app.package == NULL)
        a->set = qs_job_next_set(spec, a->set + 1);
    if (a->set >= spec->condition_count || qs_job_run_over(job)) {
        qs_job_run_tell(job, &qs_step_check, QS_JI_DONE);
        return;
    }
    char *const argv[] = {(char *)"dumpsys", (char *)"package", spec->conditions[a->set].app.package};
    a->on = true;
    if (!qs_job_run_send_look(job, ++a->id, QS_LOOK_LIMIT_S * INT64_C(1000000000), argv,
                              sizeof argv / sizeof *argv, on_said, &err))
        qs_job_run_unsent(job, &err);
}

static void start(struct qs_job_run *job)
{
    mine(job)->set = 0;
    check_next(job);
}

static void stop(struct qs_job_run *job, const char *why)
{
    (void)why;
    mine(job)->on = false;
}

const struct qs_step qs_step_check = {.start = start};
const struct qs_activity qs_activity_app = {.state_bytes = sizeof(struct app), .stop = stop};
