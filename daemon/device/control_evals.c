/* Evaluations in the controller: what earlier jobs found, the windows that find them, and what is told of
 * it. */
#include "device/control_evals.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "device/control_impl.h"
#include "device/control_news.h"
#include "proto/names.h"
#include "stats/timer.h"

static const struct qs_job_benchmark *benchmark(const struct qs_control *c)
{
    return &c->p.spec->benchmarks[c->p.spec->points[c->plan.point].benchmark];
}

static bool is_wanted(const struct qs_control *c)
{
    return qs_control_is_harness(c) && c->evals.at.step != QS_EVALS_MEASURE;
}

/* The run in hand is the baseline's pilot, which finds them. */
static bool is_finding(const struct qs_control *c)
{
    return is_wanted(c) && c->plan.block == 0 && qs_plan_arm(&c->plan) == c->p.spec->baseline;
}

void qs_control_evals_done(struct qs_control *c)
{
    free(c->evals.depends);
    c->evals.depends = NULL;
}

static void keep_earlier(struct qs_control *c)
{
    for (size_t i = 0; c->p.earlier && i < c->p.earlier->count; i++) {
        const struct qs_sample *s = &c->p.earlier->at[i];
        if (s->point == c->plan.point && strcmp(s->device, c->p.device) == 0)
            qs_evals_keep(&c->evals.at, s->evals);
    }
}

void qs_control_evals_begin(struct qs_control *c)
{
    struct qs_control_evals *e = &c->evals;
    if (!qs_control_is_harness(c))
        return;
    if (e->points <= c->plan.point || e->at.step != QS_EVALS_MEASURE) {
        e->points = c->plan.point + 1;
        qs_evals_init(&e->at, benchmark(c)->evals);
        keep_earlier(c);
    }
    if (is_wanted(c))
        qs_plan_baseline_first(&c->plan);
}

uint32_t qs_control_evals_rows(const struct qs_control *c)
{
    return is_finding(c) ? QS_TUNER_SCAN : 0;
}

/* NULL where the executable could not be read: then its content is not known. */
static char *make_key(struct qs_control *c)
{
    const struct qs_job_spec *spec = c->p.spec;
    const struct qs_job_arm *arm = &spec->arms[spec->baseline];
    struct qs_session_place place;
    if (!c->run.exe_sha256[0] || !qs_session_can_tune(c->p.session, &place))
        return NULL;
    struct qs_strings argv, own, params, env = {0};
    qs_job_argv(spec, spec->baseline, c->plan.point, &argv);
    qs_job_program_params(spec, spec->baseline, c->plan.point, &params);
    qs_job_fill(spec, spec->baseline, c->plan.point, &benchmark(c)->env, &env);
    qs_job_fill(spec, spec->baseline, c->plan.point, &arm->env, &own);
    env.at = qs_realloc(env.at, (env.count + own.count + 1) * sizeof *env.at);
    memcpy(env.at + env.count, own.at ? own.at : env.at, own.count * sizeof *env.at);
    env.count += own.count;
    free(own.at);
    const struct qs_strings arguments = {.at = argv.at + 1, .count = argv.count - 1};
    const struct qs_evals_key key = {
        .device = c->p.device,
        .agent = place.software,
        .clock = place.clock,
        .operating_json = place.operating_json,
        .cpus = c->run.program.cpus,
        .executable = c->run.exe_sha256,
        .benchmark = benchmark(c)->program_benchmark ? benchmark(c)->program_benchmark : "",
        .arguments = &arguments,
        .env = &env,
        .params = &params};
    struct qs_buf out;
    qs_buf_init(&out);
    qs_evals_depends(&key, &out);
    qs_strings_done(&argv);
    qs_strings_done(&params);
    qs_strings_done(&env);
    return qs_buf_take(&out);
}

/* A read of the store may outlive the link, even the controller. */
struct look {
    struct qs_control *c;
    uint64_t epoch;
    char *depends; /* owned */
    struct qs_tuning tuning;
    bool found;
};

static bool look(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct look *l = user;
    return qs_read_tuning(reader, l->depends, &l->tuning, &l->found, err);
}

static void known(struct qs_control *c)
{
    if (c->evals.at.step == QS_EVALS_MEASURE)
        qs_control_news_evals(c);
    qs_control_feed(c, QS_CE_EVALS);
}

static void on_looked(const struct qs_err *err, void *user)
{
    struct look l = *(struct look *)user;
    free(user);
    free(l.depends);
    if (!qs_control_answered(l.c, l.epoch))
        return;
    if (err) {
        qs_control_fail(l.c, err);
        qs_control_feed(l.c, QS_CE_FAIL);
        return;
    }
    qs_evals_looked(&l.c->evals.at, l.found ? &l.tuning : NULL);
    known(l.c);
}

static void start_look(struct qs_control *c)
{
    qs_control_evals_done(c);
    c->evals.depends = make_key(c);
    if (!c->evals.depends) {
        qs_evals_looked(&c->evals.at, NULL);
        known(c);
        return;
    }
    struct look *l = qs_malloc(sizeof *l);
    *l = (struct look){.c = c, .epoch = c->epoch, .depends = qs_strdup(c->evals.depends)};
    c->outstanding++;
    qs_store_read(c->p.store, look, on_looked, l);
}

/* An arm that cannot do what the baseline was tuned to, or what the job says. */
static bool takes_them(struct qs_control *c)
{
    uint32_t most = c->run.program.evals_max, evals = c->evals.at.found.evals;
    struct qs_err err = QS_ERR_INIT;
    if (most == 0 || evals <= most)
        return true;
    qs_fail(&err, QS_E_COMMAND,
            "the program of %s takes at most %u evaluation%s an iteration, not %u (%s): write `evals: %u`",
            c->p.spec->arms[qs_plan_arm(&c->plan)].name, most, most == 1 ? "" : "s", evals,
            c->evals.at.how == QS_EVALS_GIVEN ? "as the job says" : "as the baseline needs", most);
    qs_control_fail(c, &err);
    qs_control_feed(c, QS_CE_FAIL);
    return false;
}

void qs_control_do_evals(struct qs_control *c)
{
    struct qs_evals *e = &c->evals.at;
    struct qs_session_place place;
    if (!qs_control_is_harness(c)) {
        qs_control_feed(c, QS_CE_EVALS);
        return;
    }
    if (e->step == QS_EVALS_MEASURE) {
        if (takes_them(c))
            qs_control_feed(c, QS_CE_EVALS);
        return;
    }
    bool able = qs_session_can_tune(c->p.session, &place);
    qs_evals_program(e, able, c->run.program.evals_max);
    if (!able)
        qs_control_news_warning(c, "the agent is too old to tune evaluations: an iteration has one");
    if (e->step == QS_EVALS_LOOK)
        start_look(c);
    else
        known(c);
}

void qs_control_evals_open(const struct qs_control *c, struct qs_msg_open *m)
{
    const struct qs_evals *e = &c->evals.at;
    if (!qs_control_is_harness(c))
        return;
    m->evals = e->step == QS_EVALS_MEASURE ? e->found.evals : 1;
    if (e->step == QS_EVALS_SCAN) {
        m->phase = QS_PHASE_TUNE;
        m->iterations = QS_TUNER_SCAN;
        m->max_ns = QS_EVALS_SCAN_NS;
    }
}

/* Of the two readings around the window the better one: a burst of interrupts spoils one of them. */
static int64_t lesser_evidence(const struct qs_control *c, const char *kind)
{
    struct qs_iter it = qs_list_iter(&c->win.made.closed.evidence);
    struct qs_evidence e;
    while (qs_list_evidence(&it, &e))
        if (qs_text_is(e.kind, kind) && e.status == QS_READING_OK)
            return e.before < e.after ? e.before : e.after;
    return 0;
}

static void take_scan(struct qs_control *c)
{
    int64_t *total_ns = qs_calloc(c->win.made.rows_n + 1, sizeof *total_ns);
    for (size_t i = 0; i < c->win.made.rows_n; i++)
        total_ns[i] = c->win.made.rows[i].taint == 0 ? c->win.made.rows[i].duration_ns : -1;
    const struct qs_evals_scan scan = {.precision_ns = lesser_evidence(c, QS_SENSOR_CLOCK_PRECISION),
                                       .accuracy_ns = lesser_evidence(c, QS_SENSOR_CLOCK_ACCURACY),
                                       .total_ns = total_ns,
                                       .n = c->win.made.rows_n};
    qs_evals_window(&c->evals.at, &scan);
    free(total_ns);
}

static void store_found(struct qs_control *c)
{
    struct qs_tuning *found = &c->evals.at.found;
    qs_store_done_fn *fn;
    void *user;
    memcpy(found->run_uid, c->run.uid.b, sizeof found->run_uid);
    found->found_wall_ns = qs_loop_wall_ns(c->p.loop);
    if (!c->evals.depends)
        return;
    qs_control_store_quiet(c, &fn, &user);
    qs_store_tuning(c->p.store, c->evals.depends, found, fn, user);
}

static void found(struct qs_control *c)
{
    if (c->evals.at.how == QS_EVALS_TUNED)
        store_found(c);
    else
        qs_control_news_warning(c, "no iteration of the tuning window was valid: an iteration has one "
                                   "evaluation");
    qs_control_news_evals(c);
}

bool qs_control_evals_window(struct qs_control *c)
{
    struct qs_evals *e = &c->evals.at;
    if (!is_finding(c))
        return false;
    if (e->step == QS_EVALS_SCAN)
        take_scan(c);
    else
        qs_evals_window(e, NULL);
    if (e->step == QS_EVALS_MEASURE)
        found(c);
    c->run.window++;
    qs_control_feed(c, QS_CE_AGAIN);
    return true;
}
