#include "device/activity/ambient.h"

#include <stdio.h>
#include <string.h>

#include "config/farm/farm.h"
#include "device/activity/pin.h"
#include "device/ambient.h"

enum { TEXT_BYTES = QS_NAME_MAX_BYTES + 10 };

struct ambient {
    const struct qs_farm_ambient *of; /* borrowed; NULL: the device has none */
    bool on;                          /* it is asked, or the token for that is waited for */
    struct qs_ambient_ask *ask;
    qs_job_run_then *then;
    char kind[TEXT_BYTES];                   /* "ambient:room" */
    char names[2 * QS_GATE_MAX][TEXT_BYTES]; /* "below:thermal:cpu" */
};

static struct ambient *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_AMBIENT];
}

static void init(struct qs_job_run *job)
{
    struct ambient *m = mine(job);
    if (job->p.ambients && job->p.farm && !qs_loop_is_virtual(job->p.loop))
        m->of = qs_farm_ambient(job->p.farm, job->p.device);
    if (m->of)
        snprintf(m->kind, sizeof m->kind, "ambient:%.32s", m->of->name);
}

/* ---- before a window ---- */

static void over(struct qs_job_run *job)
{
    struct ambient *m = mine(job);
    m->on = false;
    m->ask = NULL;
    qs_job_run_give_token(job);
    m->then(job);
}

static void on_read(void *user)
{
    over(user);
}

static void read_it(struct qs_job_run *job)
{
    struct ambient *m = mine(job);
    if (!qs_job_run_has_token(job, read_it))
        return;
    m->ask = qs_ambients_ask(job->p.ambients, m->of, on_read, job);
    if (!m->ask)
        over(job);
}

void qs_activity_ambient_refresh(struct qs_job_run *job, qs_job_run_then *then)
{
    struct ambient *m = mine(job);
    m->then = then;
    if (!m->of || !qs_ambients_is_due(job->p.ambients, m->of)) {
        then(job);
        return;
    }
    m->on = true;
    read_it(job);
}

bool qs_activity_ambient_hush(struct qs_job_run *job)
{
    struct ambient *m = mine(job);
    bool on = m->on;
    qs_ambients_drop(m->ask);
    if (on)
        over(job);
    return on;
}

/* ---- the gate ---- */

static const struct qs_ambient_reading *good(const struct qs_job_run *job)
{
    const struct qs_farm_ambient *of = mine(job)->of;
    return of && qs_ambients_is_good(job->p.ambients, of) ? qs_ambients_last(job->p.ambients, of) : NULL;
}

const char *qs_activity_ambient_name(const struct qs_job_run *job)
{
    return mine(job)->of ? mine(job)->of->name : NULL;
}

const char *qs_activity_ambient_why(const struct qs_job_run *job)
{
    const struct qs_farm_ambient *of = mine(job)->of;
    if (!of)
        return "farm.yaml names no ambient sensor for the device";
    const struct qs_ambient_reading *last = qs_ambients_last(job->p.ambients, of);
    return last->why[0] ? last->why : "its last reading is older than its maximum age";
}

void qs_activity_ambient_bounds(struct qs_job_run *job)
{
    const struct qs_ambient_reading *now = good(job);
    const struct qs_job_expectation *e;
    for (size_t i = 0; i < QS_GATE_MAX && (e = qs_activity_pin_line(job, i)) != NULL; i++) {
        struct qs_bound_in_hand *b = &job->win.bounds[i];
        bool relative = e->lo_ambient || e->hi_ambient;
        *b = (struct qs_bound_in_hand){.lo = e->lo, .hi = e->hi, .missing = relative && !now};
        b->lo += e->lo_ambient && now ? now->mc : 0;
        b->hi += e->hi_ambient && now ? now->mc : 0;
        b->age_ns = relative && now ? qs_loop_now_ns(job->p.loop) - now->at_ns : 0;
    }
}

/* ---- with a window ---- */

void qs_activity_ambient_note(struct qs_job_run *job)
{
    const struct qs_ambient_reading *now = good(job);
    job->win.ambient_known = now != NULL;
    job->win.ambient_mc = now ? now->mc : 0;
}

size_t qs_activity_ambient_evidence(const struct qs_job_run *job, struct qs_evidence_row *rows)
{
    if (!mine(job)->of || job->win.made.closed.opened_ns == 0)
        return 0;
    rows[0] = (struct qs_evidence_row){.kind = mine(job)->kind,
                                       .present = job->win.ambient_known,
                                       .before = job->win.ambient_mc,
                                       .after = job->win.ambient_mc};
    return 1;
}

static void add(struct ambient *m, const char *what, const struct qs_job_expectation *e,
                const struct qs_bound_in_hand *b, int64_t value, struct qs_reading_row *rows, size_t *n)
{
    snprintf(m->names[*n], sizeof m->names[*n], "%s:%.64s", what, e->sensor);
    rows[*n] = (struct qs_reading_row){.sensor = m->names[*n],
                                       .status = b->missing ? QS_READING_MISSING : QS_READING_OK,
                                       .value = b->missing ? 0 : value,
                                       .age_ns = b->age_ns};
    (*n)++;
}

size_t qs_activity_ambient_readings(struct qs_job_run *job, struct qs_reading_row *rows)
{
    const struct qs_job_conditions *set = qs_schedule_conditions(&job->schedule);
    size_t n = 0;
    for (size_t i = 0; i < set->gate_count && i < QS_GATE_MAX && !qs_activity_trace_is_on(job); i++) {
        const struct qs_job_expectation *e = &set->gate[i];
        const struct qs_bound_in_hand *b = &job->win.bounds[i];
        if (e->lo_ambient)
            add(mine(job), "above", e, b, b->lo, rows, &n);
        if (e->hi_ambient)
            add(mine(job), e->returns ? "back_to" : "below", e, b, b->hi, rows, &n);
    }
    return n;
}

static void stop(struct qs_job_run *job, const char *why)
{
    struct ambient *m = mine(job);
    (void)why;
    qs_ambients_drop(m->ask);
    m->ask = NULL;
    m->on = false;
}

const struct qs_activity qs_activity_ambient = {
    .state_bytes = sizeof(struct ambient), .init = init, .stop = stop};
