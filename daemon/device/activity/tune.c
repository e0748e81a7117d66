/* Evaluations in the job run: what earlier jobs found, the windows that find them, and what is told of
 * it. */
#include "device/activity/pin.h"
#include "device/activity/tune.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "device/activity/harness.h"
#include "device/job/asks.h"
#include "device/job/evals.h"
#include "device/job/events.h"
#include "proto/names.h"
#include "stats/timer.h"

struct tune {
    size_t points; /* that were begun */
    struct qs_evals at;
    char *depends; /* owned: the key of what is being found, or NULL where it cannot be known again */
};

static struct tune *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_TUNE];
}

static bool is_wanted(const struct qs_job_run *job)
{
    return qs_harness_is_on(job) && mine(job)->at.step != QS_EVALS_MEASURE;
}

/* The run in hand is the baseline's pilot, which finds them. */
static bool is_finding(const struct qs_job_run *job)
{
    return is_wanted(job) && job->schedule.block == 0 &&
           qs_schedule_arm(&job->schedule) == job->p.spec->baseline;
}

static void done(struct qs_job_run *job)
{
    free(mine(job)->depends);
    mine(job)->depends = NULL;
}

void qs_activity_tune_put(const struct qs_job_run *job, struct qs_json *j)
{
    if (mine(job)->at.how == QS_EVALS_OPEN)
        return;
    qs_json_key(j, "evals");
    qs_evals_json(&mine(job)->at, j);
}

static void keep_earlier(struct qs_job_run *job)
{
    for (size_t i = 0; job->p.earlier && i < job->p.earlier->count; i++) {
        const struct qs_measured_run *s = &job->p.earlier->at[i];
        if (s->point == job->schedule.point && strcmp(s->device, job->p.device) == 0)
            qs_evals_keep(&mine(job)->at, s->evals);
    }
}

void qs_activity_tune_begin(struct qs_job_run *job)
{
    struct tune *e = mine(job);
    if (!qs_harness_is_on(job))
        return;
    if (e->points <= job->schedule.point || e->at.step != QS_EVALS_MEASURE) {
        e->points = job->schedule.point + 1;
        qs_evals_init(&e->at, qs_job_run_benchmark(job)->evals);
        keep_earlier(job);
    }
    if (is_wanted(job))
        qs_schedule_baseline_first(&job->schedule);
}

uint32_t qs_activity_tune_rows(const struct qs_job_run *job)
{
    return is_finding(job) ? QS_TUNER_SCAN : 0;
}

/* NULL where the executable could not be read: then its content is not known. */
static char *make_key(struct qs_job_run *job)
{
    const struct qs_job_spec *spec = job->p.spec;
    const struct qs_job_arm *arm = &spec->arms[spec->baseline];
    struct qs_session_place place;
    if (!job->run.exe_sha256[0] || !qs_session_can_tune(job->p.session, &place))
        return NULL;
    QS_SCOPED(qs_strings_done) struct qs_strings argv = {0}, params = {0}, env = {0};
    struct qs_strings own;
    qs_job_argv(spec, spec->baseline, job->schedule.point, &argv);
    qs_job_program_params(spec, spec->baseline, job->schedule.point, &params);
    qs_job_fill(spec, spec->baseline, job->schedule.point, &qs_job_run_benchmark(job)->env, &env);
    qs_job_fill(spec, spec->baseline, job->schedule.point, &arm->env, &own);
    env.at = qs_realloc(env.at, (env.count + own.count + 1) * sizeof *env.at);
    memcpy(env.at + env.count, own.at ? own.at : env.at, own.count * sizeof *env.at);
    env.count += own.count;
    free(own.at); /* the texts are env's now */
    const struct qs_strings arguments = {.at = argv.at + 1, .count = argv.count - 1};
    const struct qs_evals_key key = {.device = job->p.device,
                                     .agent = place.software,
                                     .clock = place.clock,
                                     .operating_json = place.operating_json,
                                     .cpus = job->run.program.cpus,
                                     .held = qs_activity_pin_held(job),
                                     .executable = job->run.exe_sha256,
                                     .benchmark = qs_job_run_benchmark(job)->program_benchmark
                                                      ? qs_job_run_benchmark(job)->program_benchmark
                                                      : "",
                                     .arguments = &arguments,
                                     .env = &env,
                                     .params = &params};
    struct qs_buf out;
    qs_buf_init(&out);
    qs_evals_depends(&key, &out);
    return qs_buf_take(&out);
}

struct look {
    struct qs_job_look at;
    char *depends; /* owned */
    struct qs_tuning tuning;
    bool found;
};

static bool look(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct look *l = user;
    return qs_read_tuning(reader, l->depends, &l->tuning, &l->found, err);
}

static void known(struct qs_job_run *job)
{
    if (mine(job)->at.step == QS_EVALS_MEASURE)
        qs_job_event_evals(job, &mine(job)->at);
    qs_job_run_tell(job, &qs_step_run, QS_JI_DONE);
}

static void on_looked(const struct qs_err *err, void *user)
{
    struct look l = *(struct look *)user;
    struct qs_job_run *job = l.at.job;
    free(user);
    free(l.depends);
    if (!qs_job_look_end(&l.at))
        return;
    if (err) {
        qs_job_run_fail(job, err);
        qs_job_run_tell(job, &qs_step_run, QS_JI_FAIL);
        return;
    }
    qs_evals_looked(&mine(job)->at, l.found ? &l.tuning : NULL);
    known(job);
}

static void start_look(struct qs_job_run *job)
{
    done(job);
    mine(job)->depends = make_key(job);
    if (!mine(job)->depends) {
        qs_evals_looked(&mine(job)->at, NULL);
        known(job);
        return;
    }
    struct look *l = qs_calloc(1, sizeof *l);
    l->depends = qs_strdup(mine(job)->depends);
    qs_job_look_begin(&l->at, job, look, on_looked);
}

/* An arm that cannot do what the baseline was tuned to, or what the job says. */
static bool takes_them(struct qs_job_run *job)
{
    uint32_t most = job->run.program.evals_max, evals = mine(job)->at.found.evals;
    struct qs_err err = QS_ERR_INIT;
    if (most == 0 || evals <= most)
        return true;
    qs_fail(&err, QS_E_COMMAND,
            "the program of %s takes at most %u evaluation%s an iteration, not %u (%s): write `evals: %u`",
            job->p.spec->arms[qs_schedule_arm(&job->schedule)].name, most, most == 1 ? "" : "s", evals,
            mine(job)->at.how == QS_EVALS_GIVEN ? "as the job says" : "as the baseline needs", most);
    qs_job_run_fail(job, &err);
    qs_job_run_feed(job, QS_JI_FAIL);
    return false;
}

void qs_activity_tune_look(struct qs_job_run *job)
{
    struct qs_evals *e = &mine(job)->at;
    struct qs_session_place place;
    if (!qs_harness_is_on(job)) {
        qs_job_run_tell(job, &qs_step_run, QS_JI_DONE);
        return;
    }
    if (e->step == QS_EVALS_MEASURE) {
        if (takes_them(job))
            qs_job_run_tell(job, &qs_step_run, QS_JI_DONE);
        return;
    }
    bool able = qs_session_can_tune(job->p.session, &place);
    qs_evals_program(e, able, job->run.program.evals_max);
    if (!able)
        qs_job_event_warning(job, "the agent is too old to tune evaluations: each iteration has one");
    if (e->step == QS_EVALS_LOOK)
        start_look(job);
    else
        known(job);
}

void qs_activity_tune_open(const struct qs_job_run *job, struct qs_msg_open *m)
{
    const struct qs_evals *e = &mine(job)->at;
    if (!qs_harness_is_on(job))
        return;
    m->evals = e->step == QS_EVALS_MEASURE ? e->found.evals : 1;
    if (e->step == QS_EVALS_SCAN) {
        m->phase = QS_PHASE_TUNE;
        m->iterations = QS_TUNER_SCAN;
        m->max_ns = QS_EVALS_SCAN_NS;
    }
}

/* Of the two readings around the window the better one: a burst of interrupts spoils one of them. */
static int64_t lesser_evidence(const struct qs_job_run *job, const char *kind)
{
    struct qs_iter it = qs_list_iter(&job->win.made.closed.evidence);
    struct qs_evidence e;
    while (qs_list_evidence(&it, &e))
        if (qs_text_is(e.kind, kind) && e.status == QS_READING_OK)
            return e.before < e.after ? e.before : e.after;
    return 0;
}

static void take_scan(struct qs_job_run *job)
{
    QS_FREED int64_t *total_ns = qs_calloc(job->win.made.rows_n + 1, sizeof *total_ns);
    for (size_t i = 0; i < job->win.made.rows_n; i++)
        total_ns[i] = job->win.made.rows[i].taint == 0 ? job->win.made.rows[i].duration_ns : -1;
    const struct qs_evals_scan scan = {.precision_ns = lesser_evidence(job, QS_SENSOR_CLOCK_PRECISION),
                                       .accuracy_ns = lesser_evidence(job, QS_SENSOR_CLOCK_ACCURACY),
                                       .total_ns = total_ns,
                                       .n = job->win.made.rows_n};
    qs_evals_window(&mine(job)->at, &scan);
}

static void store_found(struct qs_job_run *job)
{
    struct qs_tuning *found = &mine(job)->at.found;
    memcpy(found->run_uid, job->run.uid.b, sizeof found->run_uid);
    found->found_wall_ns = qs_loop_wall_ns(job->p.loop);
    if (!mine(job)->depends)
        return;
    qs_store_tuning(job->p.store, mine(job)->depends, found, qs_job_run_stored, qs_job_run_asks(job));
}

static void found(struct qs_job_run *job)
{
    if (mine(job)->at.how == QS_EVALS_TUNED)
        store_found(job);
    else
        qs_job_event_warning(
            job, "no iteration of the tuning window was valid: each iteration has one evaluation");
    qs_job_event_evals(job, &mine(job)->at);
}

bool qs_activity_tune_window(struct qs_job_run *job)
{
    struct qs_evals *e = &mine(job)->at;
    if (!is_finding(job))
        return false;
    if (e->step == QS_EVALS_SCAN)
        take_scan(job);
    else
        qs_evals_window(e, NULL);
    if (e->step == QS_EVALS_MEASURE)
        found(job);
    job->run.window++;
    qs_job_run_feed(job, QS_JI_AGAIN);
    return true;
}

const struct qs_activity qs_activity_tune = {.state_bytes = sizeof(struct tune), .done = done};
