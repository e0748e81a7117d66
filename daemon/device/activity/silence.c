/* The way into a window's silence. */
#include "base/loop.h"
#include "device/job/impl.h"
#include "device/job/events.h"

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

void qs_job_run_set_silence(struct qs_job_run *job, bool on)
{
    if (job->silence_on == on)
        return;
    job->silence_on = on;
    if (job->p.local) {
        if (on) {
            qs_store_hold(job->p.store);
            qs_loop_hold_works(job->p.loop);
        } else {
            qs_loop_release_works(job->p.loop);
            qs_store_release(job->p.store);
        }
    }
    if (job->events.on_silence)
        job->events.on_silence(on, job->events.user);
}

/* A host that somebody asks all the time would never have nothing to do: it ends what it has begun and begins
 * nothing else until the device asks again, or waits for something of its own. */
static bool is_host_ready(struct qs_job_run *job, const char **why)
{
    if (qs_store_log_is_full(job->p.store)) { /* it is not for the host's silence: that would keep it full */
        *why = "waiting for the disk: somebody keeps a transaction open on the database, and its log is full";
        qs_job_run_set_silence(job, false);
        say_held(job, *why);
        return false;
    }
    if (job->p.local && qs_store_is_busy(job->p.store))
        *why = "a commit is on its way";
    else if (job->p.local && qs_loop_is_working(job->p.loop))
        *why = "the host reads its database, or finishes an upload";
    else
        return true;
    qs_job_run_set_silence(job, true);
    return false;
}

bool qs_job_run_may_quiet(const char **why, void *user)
{
    struct qs_job_run *job = user;
    if (!is_host_ready(job, why))
        return false;
    if (job->events.take_token && !job->events.take_token(true, why, job->events.user)) {
        qs_job_run_set_silence(job, false); /* who has it may need the store before he gives it */
        say_held(job, *why);
        return false;
    }
    job->has_token = true;
    return true;
}

bool qs_job_run_has_token(struct qs_job_run *job, struct qs_timer **again, qs_loop_fn *ask_again)
{
    const int64_t ask_ns = INT64_C(100000000);
    const char *why;
    if (job->has_token || !job->events.take_token)
        return true;
    job->has_token = job->events.take_token(false, &why, job->events.user);
    if (!job->has_token && !*again)
        *again = qs_timer_start(job->p.loop, ask_ns, ask_again, job);
    return job->has_token;
}

void qs_job_run_give_token(struct qs_job_run *job)
{
    if (job->has_token && job->events.give_token)
        job->events.give_token(job->events.user);
    job->has_token = false;
}
