#include "device/activity/cools.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/activity/pin.h"
#include "device/job/asks.h"
#include "device/job/events.h"
#include "report/refits.h"

enum { READINGS_MAX = 256, JUDGED_EVERY = 16 };
#define SECOND 1e9

struct qs_cools {
    struct qs_refits known; /* owned */
    bool *told;             /* owned; of each sensor: that what was measured does not hold */
    struct wait {           /* in hand */
        uint32_t window;
        const struct qs_job_expectation *of;
        double times[READINGS_MAX], values[READINGS_MAX];
        size_t n;
    } wait;
};

void qs_cools_free(struct qs_cools *cools)
{
    if (!cools)
        return;
    qs_refits_done(&cools->known);
    free(cools->told);
    free(cools);
}

struct look {
    struct qs_job_look at;
    struct qs_cools *found; /* owned */
};

static bool look(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct look *l = user;
    return qs_refits_read(reader, l->at.device, l->at.fingerprint, &l->found->known, err);
}

static void warn(struct qs_job_run *job, const struct qs_refit *refit)
{
    QS_BUF(text);
    qs_refit_say(refit, &text);
    qs_job_event_warning(job,
                         "how %s of %s cools down, as it was measured, %s; `quiesce characterize --again "
                         "%s` finds it anew",
                         refit->sensor, job->p.device, text.data, job->p.device);
}

static void take(struct qs_job_run *job, struct qs_cools *found)
{
    const struct qs_cools *before = job->cools;
    found->told = qs_calloc(found->known.count + 1, sizeof *found->told);
    if (before)
        found->wait = before->wait;
    for (size_t i = 0; i < found->known.count; i++) {
        const struct qs_refit *refit = &found->known.at[i];
        const struct qs_refit *same = before ? qs_refits_find(&before->known, refit->sensor) : NULL;
        found->told[i] = same && before->told[same - before->known.at];
        if (qs_refit_no_longer_holds(refit) && !found->told[i])
            warn(job, refit);
        found->told[i] = found->told[i] || qs_refit_no_longer_holds(refit);
    }
    qs_cools_free(job->cools);
    job->cools = found;
}

/* Without it nothing is missing but a number for people. */
static void on_looked(const struct qs_err *err, void *user)
{
    struct look l = *(struct look *)user;
    free(user);
    if (!qs_job_look_end(&l.at) || err) {
        qs_cools_free(l.found);
        return;
    }
    take(l.at.job, l.found);
}

static bool waits_to_cool(const struct qs_job_spec *spec)
{
    for (size_t i = 0; i < spec->condition_count; i++)
        for (size_t k = 0; k < spec->conditions[i].gate_count; k++) {
            const struct qs_job_expectation *e = &spec->conditions[i].gate[k];
            if (e->has_hi && strncmp(e->sensor, "thermal:", strlen("thermal:")) == 0)
                return true;
        }
    return false;
}

void qs_cools_read(struct qs_job_run *job)
{
    if (!waits_to_cool(job->p.spec))
        return;
    struct look *l = qs_calloc(1, sizeof *l);
    l->found = qs_calloc(1, sizeof *l->found);
    qs_job_look_begin(&l->at, job, look, on_looked);
}

/* Of more readings than there is room for, every second one is kept. */
static void keep(struct wait *w, double at_s, double value)
{
    if (w->n == READINGS_MAX) {
        for (w->n = 0; w->n < READINGS_MAX / 2; w->n++) {
            w->times[w->n] = w->times[2 * w->n];
            w->values[w->n] = w->values[2 * w->n];
        }
    }
    w->times[w->n] = at_s;
    w->values[w->n++] = value;
}

static void judge(struct qs_job_run *job, const struct qs_refit *refit)
{
    const struct wait *w = &job->cools->wait;
    bool *told = &job->cools->told[refit - job->cools->known.at];
    struct qs_cooling_check check;
    if (*told || w->n % JUDGED_EVERY != 0 ||
        qs_cooling_holds(&refit->measured, w->times, w->values, w->n, &check) != QS_OK || check.holds)
        return;
    *told = true;
    qs_job_event_warning(job,
                         "%s of %s does not cool down as it did when that was measured: it is %.1f "
                         "\xc2\xb0"
                         "C off, where up to %.1f \xc2\xb0"
                         "C is usual; how long gates wait is told by %s until `quiesce "
                         "characterize --again %s`",
                         refit->sensor, job->p.device, check.rms / 1000, 2 * check.expected / 1000,
                         qs_refit_best(refit) == &refit->fit ? "its last waits" : "the old measurement",
                         job->p.device);
}

double qs_cools_take(struct qs_job_run *job, const struct qs_job_expectation *e,
                     const struct qs_msg_waiting *m, double *end_mc)
{
    const struct qs_refit *refit = job->cools ? qs_refits_find(&job->cools->known, e->sensor) : NULL;
    const struct qs_cooling *best = refit ? qs_refit_best(refit) : NULL;
    double value = (double)m->value, at_s = (double)m->elapsed_ns / SECOND;
    const int64_t hi = job->win.bounds[m->expectation].hi; /* the gate has it */
    if (!best || !e->has_hi || m->status != QS_READING_OK || m->value <= hi)
        return NAN;
    struct wait *w = &job->cools->wait;
    const struct qs_job_expectation *of = qs_activity_pin_line(job, m->expectation); /* e may be a copy */
    if (w->of != of || w->window != m->window || (w->n > 0 && at_s < w->times[w->n - 1]))
        w->n = 0;
    w->of = of;
    w->window = m->window;
    keep(w, at_s, value);
    judge(job, refit);
    *end_mc = best->end;
    return qs_cooling_eta(best->tau, best->end, QS_COOLS, value, (double)hi);
}
