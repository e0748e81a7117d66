/* While a window is open nobody disturbs it: the farm's token, and what this machine holds back. */
#include "base/loop.h"
#include "device/job/impl.h"
#include "store/store.h"

void qs_job_run_set_silence(struct qs_job_run *job, bool on)
{
    if (job->quiet.silent == on)
        return;
    job->quiet.silent = on;
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
