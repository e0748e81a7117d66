/* While a window is open nobody disturbs it: the farm's token, and what this machine holds back. */
#include "base/loop.h"
#include "device/job/impl.h"
#include "store/store.h"

static void hold(struct qs_job_run *job, bool on)
{
    if (job->quiet.holds == on)
        return;
    job->quiet.holds = on;
    if (on) {
        qs_store_hold(job->p.store);
        qs_loop_hold_works(job->p.loop);
    } else {
        qs_loop_release_works(job->p.loop);
        qs_store_release(job->p.store);
    }
}

void qs_job_run_set_silence(struct qs_job_run *job, bool on)
{
    if (job->quiet.silent == on)
        return;
    job->quiet.silent = on;
    if (!on)
        hold(job, false);
    if (job->events.on_silence)
        job->events.on_silence(on, job->events.user);
}

/* A host that somebody asks all the time would never have nothing to do: it ends what it has begun and begins
 * nothing else until the device asks again, or waits for something of its own. What is held before the last
 * answer is known would keep that answer for as long as the window is open. */
bool qs_job_run_is_host_idle(struct qs_job_run *job, const char **why)
{
    if (!job->p.local)
        return true;
    qs_job_run_set_silence(job, true);
    *why = "somebody who asked before is being answered";
    if (!job->quiet.holds && job->events.is_answering && job->events.is_answering(job->events.user))
        return false;
    hold(job, true);
    *why = "a commit is on its way";
    if (qs_store_is_busy(job->p.store))
        return false;
    *why = "the host reads its database, or finishes an upload";
    return !qs_loop_is_working(job->p.loop);
}

static void ask_again(void *user)
{
    struct qs_job_run *job = user;
    job->quiet.again = NULL;
    job->quiet.go_on(job);
}

bool qs_job_run_has_token(struct qs_job_run *job, qs_job_run_then *go_on)
{
    const int64_t ask_ns = INT64_C(100000000);
    struct qs_quiet_in_hand *quiet = &job->quiet;
    const char *why;
    if (quiet->has_token || !job->events.take_token)
        return true;
    quiet->has_token = job->events.take_token(false, &why, job->events.user);
    quiet->go_on = go_on;
    if (!quiet->has_token && !quiet->again)
        quiet->again = qs_timer_start(job->p.loop, ask_ns, ask_again, job);
    return quiet->has_token;
}

void qs_job_run_give_token(struct qs_job_run *job)
{
    qs_timer_stop(job->quiet.again);
    job->quiet.again = NULL;
    if (job->quiet.has_token && job->events.give_token)
        job->events.give_token(job->events.user);
    job->quiet.has_token = false;
}
