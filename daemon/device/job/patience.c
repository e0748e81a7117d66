#include "device/job/patience.h"

#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "base/text.h"
#include "device/activity/activity.h"
#include "device/job/impl.h"
#include "device/job/events.h"

static bool marks(const struct qs_job_expectation *e)
{
    return e->on_timeout == QS_ON_TIMEOUT_TAINT;
}

/* Of the arm in turn: another gate is another neighbour to wait for. */
static size_t in_hand(const struct qs_job_run *job)
{
    return qs_job_conditions_index(job->p.spec, job->schedule.point, qs_schedule_arm(&job->schedule));
}

static int64_t left_of_ns(const struct qs_job_run *job, size_t set)
{
    int64_t left_ns = job->p.spec->conditions[set].patience_ns - job->patience[set].vain_ns;
    return left_ns > 0 ? left_ns : 0;
}

int64_t qs_patience_left_ns(const struct qs_job_run *job)
{
    int64_t left_ns = 0;
    for (size_t i = 0; i < job->p.spec->condition_count; i++)
        left_ns += left_of_ns(job, i);
    return left_ns;
}

int64_t qs_patience_waited_ns(const struct qs_job_run *job)
{
    int64_t waited_ns = 0;
    for (size_t i = 0; i < job->p.spec->condition_count; i++)
        waited_ns += job->patience[i].waited_ns;
    return waited_ns;
}

int64_t qs_patience_timeout_ns(const struct qs_job_run *job, const struct qs_job_expectation *e)
{
    const unsigned halvings_max = 62;
    if (!marks(e))
        return e->timeout_ns;
    unsigned misses = job->patience[in_hand(job)].misses;
    unsigned halvings = misses < halvings_max ? misses : halvings_max;
    int64_t timeout_ns = e->backoff ? e->timeout_ns >> halvings : e->timeout_ns;
    int64_t left_ns = left_of_ns(job, in_hand(job));
    return timeout_ns < left_ns ? timeout_ns : left_ns;
}

/* By the device's clock, and never more than the block in hand has taken by ours. */
static int64_t wait_ns(const struct qs_job_run *job)
{
    const struct qs_gate_record *gate = &job->win.made.closed.gate;
    int64_t most_ns = qs_loop_now_ns(job->p.loop) - job->block.began_ns;
    if (gate->decided_ns <= gate->began_ns || gate->began_ns < 0)
        return 0;
    int64_t waited_ns = gate->decided_ns - gate->began_ns;
    return waited_ns < most_ns ? waited_ns : most_ns;
}

static void keep_busiest(struct qs_patience *p, struct qs_text busiest)
{
    size_t n = 0;
    while (n < busiest.n && n + 1 < sizeof p->busiest && busiest.p[n] != '[' && busiest.p[n] != '\0')
        n++;
    if (n > 0)
        snprintf(p->busiest, sizeof p->busiest, "%.*s", (int)n, busiest.p);
}

static void tell_used_up(struct qs_job_run *job)
{
    const struct qs_patience *p = &job->patience[in_hand(job)];
    QS_BUF(span);
    qs_text_duration(&span, (double)p->vain_ns);
    qs_job_event_warning(job,
                         "waited %s in vain for quiet%s%s: from now on windows begin at once, and are "
                         "tainted where the gate is shut",
                         span.data, p->busiest[0] ? ", busiest: " : "", p->busiest);
}

void qs_patience_book(struct qs_job_run *job)
{
    struct qs_patience *p = &job->patience[in_hand(job)];
    bool vain = job->win.made.closed.gate.outcome == QS_GATE_TAINTED;
    int64_t waited_ns = wait_ns(job);
    if (qs_activity_trace_is_on(job)) /* a traced window has no gate */
        return;
    p->misses = vain ? p->misses + 1 : 0;
    p->waited_ns += waited_ns;
    p->vain_ns += vain ? waited_ns : 0;
    keep_busiest(p, job->win.made.closed.gate.busiest);
    qs_schedule_waited(&job->schedule, waited_ns, vain);
    if (vain && p->vain_ns > 0 && left_of_ns(job, in_hand(job)) == 0 && !p->told) {
        p->told = true;
        tell_used_up(job);
    }
}

void qs_patience_put(const struct qs_job_run *job, struct qs_json *j)
{
    int64_t vain_ns = 0;
    const char *busiest = "";
    for (size_t i = 0; i < job->p.spec->condition_count; i++) {
        vain_ns += job->patience[i].vain_ns;
        busiest = job->patience[i].busiest[0] != '\0' ? job->patience[i].busiest : busiest;
    }
    qs_json_kint(j, "waited_ns", qs_patience_waited_ns(job));
    qs_json_kint(j, "waited_in_vain_ns", vain_ns);
    qs_json_kstring(j, "busiest", busiest);
}
