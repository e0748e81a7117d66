#include "device/activity/priority.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "device/activity/lock.h"
#include "device/job/events.h"

/* The kernel lets SCHED_FIFO have this much of each second, unless it says another number. */
enum { USUAL_US = 950000 };

struct priority {
    bool set_off; /* the device's switch for it was written, and stands */
    bool warned;
};

static struct priority *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_PRIORITY];
}

bool qs_activity_priority_is_fifo(const struct qs_job_run *job)
{
    return qs_schedule_conditions(&job->schedule)->controls.start.sched == QS_SCHED_FIFO;
}

/* What takes the processor away; NULL: the device does not show it. */
static const struct qs_board_switch *find(const struct qs_job_run *job)
{
    const struct qs_board *board = qs_activity_lock_board(job);
    for (size_t i = 0; board && i < board->switches.count; i++)
        if (board->switches.at[i].kind == QS_SWITCH_REALTIME && board->switches.at[i].off != NULL)
            return &board->switches.at[i];
    return NULL;
}

static bool is_off(const struct qs_job_run *job)
{
    const struct qs_board_switch *s = find(job);
    return mine(job)->set_off || (s && s->said && strcmp(s->said, s->off) == 0);
}

void qs_activity_priority_tuned(struct qs_job_run *job, const struct qs_pins *pins,
                                const struct qs_asked *asked, const struct qs_msg_tuned *m)
{
    const struct qs_board_switch *s = find(job);
    struct qs_iter it = qs_list_iter(&m->writes);
    struct qs_tuned t;
    for (size_t i = asked->from; s && i < asked->from + asked->n && qs_list_tuned(&it, &t); i++)
        if (strcmp(pins->items.at[i].path, s->path) == 0)
            mine(job)->set_off = (t.outcome == QS_TUNE_SET || t.outcome == QS_TUNE_SAME) &&
                                 strcmp(pins->items.at[i].value, s->off) == 0;
}

void qs_activity_priority_begin(struct qs_job_run *job)
{
    const struct qs_board_switch *s = find(job);
    if (qs_activity_priority_is_fifo(job))
        (void)qs_activity_session_fact(job, "realtime_throttling",
                                       is_off(job)    ? "off"
                                       : s && s->said ? s->said
                                                      : "not told");
}

static int64_t allowed_us(const struct qs_board_switch *s)
{
    long us = s && s->said ? strtol(s->said, NULL, 10) : 0;
    return us > 0 && us < 1000000 ? us : USUAL_US;
}

void qs_activity_priority_closed(struct qs_job_run *job)
{
    const struct qs_board_switch *s = find(job);
    const struct qs_msg_closed *m = &job->win.made.closed;
    int64_t lasted_ns = m->opened_ns != 0 ? m->closed_ns - m->opened_ns : 0;
    QS_BUF(lasted);
    if (!qs_activity_priority_is_fifo(job) || is_off(job) || mine(job)->warned ||
        lasted_ns < allowed_us(s) * 1000)
        return;
    mine(job)->warned = true;
    qs_text_duration(&lasted, (double)lasted_ns);
    qs_job_event_warning(
        job,
        "a window on %s lasted %s with `priority: fifo`: the kernel may take the processor away from such a "
        "process for %lld ms of each second (sched_rt_runtime_us), which could not be switched off%s; "
        "make windows shorter than %lld ms, or run the agent as root",
        job->p.device, lasted.data, (long long)(1000 - allowed_us(s) / 1000),
        s ? ": the agent's user may not write it" : ": the device does not show that option",
        (long long)(allowed_us(s) / 1000));
}

static void stop(struct qs_job_run *job, const char *why)
{
    (void)why;
    mine(job)->set_off = false;
}

const struct qs_activity qs_activity_priority = {.state_bytes = sizeof(struct priority), .stop = stop};
