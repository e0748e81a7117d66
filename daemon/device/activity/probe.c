/* Before a job changes its device: what of it stays as it is written, and does something? Each device and
 * system is tried once, by the first such job; what was found, then or before, is told where the job needs
 * it. A job that changes nothing never causes it, because a trial writes to the device. */
#include "device/activity/probe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/activity/knobs.h"
#include "device/activity/lock.h"
#include "device/activity/sense.h"
#include "device/board/knob.h"
#include "device/job/asks.h"
#include "device/job/events.h"
#include "store/knob.h"
#include "store/model.h"

struct finding { /* what cannot be relied on, and the job sets or reads */
    char *path;  /* of a knob's file, or "" */
    char *says;  /* in words */
    int64_t job; /* that found it */
};
struct findings {
    struct finding *at; /* owned */
    size_t count;
};

struct probe {
    struct findings known;
    bool tried; /* in this session: what was found is of this job */
    bool told;  /* what is known */
    bool characterized;
    qs_job_run_then *then; /* what follows the sensors */
};

static struct probe *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_PROBE];
}

static void forget(struct findings *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->at[i].path);
        free(f->at[i].says);
    }
    free(f->at);
    *f = (struct findings){0};
}

static void over(struct qs_job_run *job)
{
    qs_job_run_tell(job, &qs_step_probe, QS_JI_DONE);
}

/* ---- what is stored ---- */

struct look {
    struct qs_job_look at;
    const struct qs_job_spec *spec; /* borrowed of the job run */
    bool tried, characterized;      /* of this system */
    struct findings found;
};

static void add(struct findings *f, const char *path, char *owned_says, int64_t job)
{
    f->at = qs_grow(f->at, f->count, sizeof *f->at);
    f->at[f->count++] = (struct finding){.path = qs_strdup(path), .says = owned_says, .job = job};
}

static void take_knob(const struct qs_knob_info *k, void *user)
{
    struct look *l = user;
    QS_BUF(says);
    bool matters = false;
    if (strcmp(k->fingerprint, l->at.fingerprint) != 0)
        return;
    l->tried = true;
    for (size_t i = 0; i < l->spec->condition_count; i++)
        matters = matters || qs_knob_matters(&k->row, &l->spec->conditions[i].controls.wishes);
    if (!matters || !qs_knob_is_doubtful(&k->row))
        return;
    qs_knob_say(&k->row, &says);
    add(&l->found, k->row.path, qs_buf_take(&says), k->job);
}

static bool is_gated(const struct qs_job_spec *spec, const char *sensor)
{
    for (size_t i = 0; i < spec->condition_count; i++)
        for (size_t k = 0; k < spec->conditions[i].gate_count; k++)
            if (strcmp(spec->conditions[i].gate[k].sensor, sensor) == 0)
                return true;
    return false;
}

static void take_model(const struct qs_model_info *m, void *user)
{
    struct look *l = user;
    l->characterized = l->characterized || strcmp(m->row.kind, "cools") == 0;
    if (strcmp(m->row.kind, "sensor") == 0 && strcmp(m->row.says, "ok") != 0 &&
        is_gated(l->spec, m->row.sensor))
        add(&l->found, "",
            qs_asprintf("%s, for which its gate waits, cannot be relied on (%s): %s", m->row.sensor,
                        m->row.says, m->row.why ? m->row.why : m->row.says),
            m->job);
}

static bool look(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct look *l = user;
    return qs_read_knobs(reader, l->at.device, take_knob, l, err) &&
           qs_read_models(reader, l->at.device, l->at.fingerprint, false, take_model, l, err);
}

static void warn(struct qs_job_run *job)
{
    const struct findings *f = &mine(job)->known;
    for (size_t i = 0; i < f->count && !mine(job)->told; i++)
        qs_job_event_warning(job,
                             "%s: %s; job %" PRId64 " found that, and `quiesce devices probe %s` looks again",
                             job->p.device, f->at[i].says, f->at[i].job, job->p.device);
    mine(job)->told = true;
}

static void try_first(struct qs_job_run *job);

static void on_looked(const struct qs_err *err, void *user)
{
    struct look l = *(struct look *)user;
    struct qs_job_run *job = l.at.job;
    free(user);
    if (!qs_job_look_end(&l.at)) {
        forget(&l.found);
        return;
    }
    struct probe *p = mine(job);
    forget(&p->known);
    p->known = l.found;
    p->characterized = l.characterized;
    if (err) {
        qs_job_run_fail(job, err);
        qs_job_run_tell(job, &qs_step_probe, QS_JI_FAIL);
    } else if (l.tried || p->tried || qs_job_run_over(job) ||
               qs_farm_probe_of(job->p.farm, job->p.device) != QS_PROBE_FIRST) {
        warn(job);
        over(job);
    } else {
        try_first(job);
    }
}

static void look_up(struct qs_job_run *job)
{
    struct look *l = qs_calloc(1, sizeof *l);
    l->spec = job->p.spec;
    qs_job_look_begin(&l->at, job, look, on_looked);
}

/* ---- it is tried ---- */

static void tried(struct qs_job_run *job)
{
    mine(job)->tried = true;
    if (qs_job_run_over(job))
        over(job);
    else
        look_up(job);
}

static void try_first(struct qs_job_run *job)
{
    size_t clocks, switches;
    int64_t takes_ns = qs_activity_knobs_length_ns(job, &clocks, &switches);
    if (clocks + switches == 0) { /* what is wanted fails for a reason that names it */
        over(job);
        return;
    }
    qs_job_event_probing(job, clocks, switches, takes_ns + qs_activity_sense_length_ns(job));
    qs_activity_probe_try(job, true, mine(job)->characterized, tried);
}

static void try_knobs(struct qs_job_run *job)
{
    if (qs_job_run_over(job))
        mine(job)->then(job);
    else
        qs_activity_knobs_try(job, mine(job)->then);
}

void qs_activity_probe_try(struct qs_job_run *job, bool sensors, bool characterized, qs_job_run_then *then)
{
    mine(job)->then = then;
    if (sensors)
        qs_activity_sense_try(job, characterized, try_knobs);
    else
        try_knobs(job);
}

bool qs_activity_probe_cut_short(struct qs_job_run *job)
{
    return qs_activity_knobs_cut_short(job) || qs_activity_sense_cut_short(job);
}

/* ---- for others ---- */

bool qs_activity_probe_is_due(const struct qs_job_run *job)
{
    const struct qs_job_spec *spec = job->p.spec;
    bool changes = false;
    for (size_t i = 0; i < spec->condition_count; i++)
        changes = changes || qs_wishes_write(&spec->conditions[i].controls.wishes);
    return changes && qs_activity_lock_board(job) && !qs_job_run_over(job) &&
           qs_session_has(job->p.session, QS_FEATURE_CONTROL) &&
           qs_farm_probe_of(job->p.farm, job->p.device) != QS_PROBE_UNSET;
}

void qs_activity_probe_say(const struct qs_job_run *job, const char *path, struct qs_buf *out)
{
    const struct findings *f = &mine(job)->known;
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->at[i].path, path) == 0 && path[0] != '\0')
            qs_buf_fmt(out, "; job %" PRId64 " had found: %s", f->at[i].job, f->at[i].says);
}

static void cancel(struct qs_job_run *job)
{
    (void)qs_activity_probe_cut_short(job); /* what was asked is answered first */
}

/* What is known stays: another link does not change it, and after it the device is tried again only where
 * nothing was stored. */
static void stop(struct qs_job_run *job, const char *why)
{
    (void)why;
    mine(job)->tried = false;
}

static void done(struct qs_job_run *job)
{
    forget(&mine(job)->known);
}

const struct qs_step qs_step_probe = {.start = look_up, .cancel = cancel};
const struct qs_activity qs_activity_probe = {
    .state_bytes = sizeof(struct probe), .stop = stop, .done = done};
