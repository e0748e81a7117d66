/* From the checked spec to messages: the host compiles, the device decides. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/loop.h"
#include "base/mem.h"
#include "config/job/env.h"
#include "device/activity/activity.h"
#include "device/activity/ambient.h"
#include "device/activity/harness.h"
#include "device/activity/headroom.h"
#include "device/activity/pin.h"
#include "device/activity/trip.h"
#include "device/activity/tune.h"
#include "device/job/impl.h"
#include "proto/names.h"
#include "report/variables.h"

static const struct qs_job_benchmark *benchmark_of(const struct qs_job_run *job, size_t point)
{
    return &job->p.spec->benchmarks[job->p.spec->points[point].benchmark];
}

const struct qs_job_benchmark *qs_job_run_benchmark(const struct qs_job_run *job)
{
    return benchmark_of(job, job->schedule.point);
}

enum { LIST_BYTES = QS_ARGV_MAX_BYTES + 4096, LISTS = 5 };

struct lists { /* memory for the lists of one message */
    uint8_t *mem;
    struct qs_build build[LISTS];
    size_t used;
};

static struct lists lists_new(void)
{
    return (struct lists){.mem = qs_malloc((size_t)LISTS * LIST_BYTES)};
}

static void lists_done(struct lists *l)
{
    free(l->mem);
}

static struct qs_build *lists_next(struct lists *l)
{
    struct qs_build *b = &l->build[l->used];
    qs_build_init(b, l->mem + l->used * LIST_BYTES, LIST_BYTES);
    l->used++;
    return b;
}

static bool add_strings(struct qs_build *b, const struct qs_strings *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (strlen(s->at[i]) > UINT16_MAX || !qs_build_text(b, qs_text_of(s->at[i])))
            return false;
    }
    return true;
}

/* Appends a list whose {parameters} are filled in, without what `later` sets again. */
static bool add_filled(const struct qs_job_run *job, size_t arm, size_t point, const struct qs_strings *tmpl,
                       const struct qs_strings *later, struct qs_build *b)
{
    QS_SCOPED(qs_strings_done) struct qs_strings filled = {0};
    bool ok = true;
    qs_job_fill(job->p.spec, arm, point, tmpl, &filled);
    for (size_t i = 0; ok && i < filled.count; i++) {
        if (!later || !qs_env_sets(later, filled.at[i]))
            ok = strlen(filled.at[i]) <= UINT16_MAX && qs_build_text(b, qs_text_of(filled.at[i]));
    }
    return ok;
}

/* What is inherited at all: a variable that the wire can carry, and of a name that stands twice the last. */
static bool is_inheritable(const char *const *kv)
{
    size_t n = strcspn(*kv, "=") + 1;
    if (n == 1 || (*kv)[n - 1] != '=' || strlen(*kv) > UINT16_MAX)
        return false;
    for (const char *const *later = kv + 1; *later; later++)
        if (strncmp(*later, *kv, n) == 0)
            return false;
    return true;
}

/* Others would not come back from JSON as they are, and two of them perhaps as one. */
static bool has_plain_name(const char *kv)
{
    for (; *kv != '='; kv++)
        if (*kv <= ' ' || *kv > '~')
            return false;
    return true;
}

static bool inherits(const struct qs_job_run *job)
{
    for (size_t i = 0; job->p.base_env && i < job->p.spec->benchmark_count; i++)
        if (job->p.spec->benchmarks[i].env_inherit)
            return true;
    return false;
}

/* More than fits a message is not handed on either: such a job fails at its first run. */
static void put_inherited(const struct qs_job_run *job, struct qs_json *j)
{
    size_t bytes = 0;
    QS_BUF(kept);
    qs_json_object(j);
    for (const char *const *kv = job->p.base_env; *kv && bytes <= QS_ARGV_MAX_BYTES; kv++) {
        if (!is_inheritable(kv) || !has_plain_name(*kv) || !qs_job_inherits_any(job->p.spec, *kv))
            continue;
        QS_FREED char *name = qs_strndup(*kv, strcspn(*kv, "="));
        qs_buf_clear(&kept);
        qs_variable_keep(name, *kv + strlen(name) + 1, job->p.farm ? &job->p.farm->variables : NULL, &kept);
        qs_json_kstring(j, name, kept.len > 0 ? kept.data : "");
        bytes += strlen(*kv) + 2;
    }
    qs_json_object_end(j);
}

char *qs_job_run_environment(const struct qs_job_run *job, const char *facts_json)
{
    QS_BUF(out);
    QS_BUF(variables);
    if (!inherits(job))
        return qs_strdup(facts_json);
    struct qs_json j = qs_json_to(&variables);
    put_inherited(job, &j);
    int facts = (int)strlen(facts_json) - 1; /* without the brace that closes them */
    qs_buf_fmt(&out, "%.*s%s\"variables\":%s}", facts, facts_json, facts > 1 ? "," : "", variables.data);
    return qs_buf_take(&out);
}

/* The whole environment of a process: what is inherited, then the benchmark's, then the arm's; later ones
 * replace earlier ones. */
static bool build_env(const struct qs_job_run *job, size_t arm_index, size_t point, struct qs_build *b)
{
    const struct qs_job_benchmark *bench = benchmark_of(job, point);
    const struct qs_job_arm *arm = &job->p.spec->arms[arm_index];
    for (const char *const *kv = job->p.base_env; kv && *kv; kv++) {
        if (is_inheritable(kv) && qs_job_inherits(job->p.spec, arm_index, point, *kv) &&
            !qs_build_text(b, qs_text_of(*kv)))
            return false;
    }
    return add_filled(job, arm_index, point, &bench->env, &arm->env, b) &&
           add_filled(job, arm_index, point, &arm->env, NULL, b);
}

static const char *cwd_of(const struct qs_job_run *job, size_t arm, size_t point)
{
    const struct qs_job_benchmark *bench = benchmark_of(job, point);
    if (bench->dir)
        return bench->dir;
    const char *own = qs_activity_files_dir(job, arm);
    return own ? own : "";
}

static bool too_large(struct qs_err *err)
{
    return qs_fail(err, QS_E_LIMIT, "arguments and environment do not fit one message: at most %d bytes each",
                   QS_ARGV_MAX_BYTES);
}

static void fill_output(const struct qs_job_run *job, const struct qs_job_benchmark *bench,
                        struct qs_msg_run_begin *m)
{
    bool apart = qs_session_has(job->p.session, QS_FEATURE_APART);
    m->output_kind = bench->output == QS_OUTPUT_FILE      ? QS_OUTPUT_KIND_FILE
                     : bench->output != QS_OUTPUT_CAPTURE ? QS_OUTPUT_KIND_DISCARD
                     : apart                              ? QS_OUTPUT_KIND_APART
                                                          : QS_OUTPUT_KIND_CAPTURE;
    m->output_path = qs_text_of(bench->output_file);
    m->output_max_bytes = bench->output_max_bytes > QS_OUTPUT_MAX_BYTES ? QS_OUTPUT_MAX_BYTES
                                                                        : (uint32_t)bench->output_max_bytes;
    if (qs_stream_is_on(job))
        qs_stream_fill(job, m);
}

static bool fill_run_begin(struct qs_job_run *job, struct lists *l, struct qs_msg_run_begin *m)
{
    size_t arm_index = qs_schedule_arm(&job->schedule);
    const struct qs_job_arm *arm = &job->p.spec->arms[arm_index];
    const struct qs_job_benchmark *bench = qs_job_run_benchmark(job);
    QS_SCOPED(qs_strings_done) struct qs_strings argv = {0};
    qs_job_process_argv(job->p.spec, arm_index, job->schedule.point, &argv);
    struct qs_build *b = lists_next(l);
    bool ok = add_strings(b, &argv);
    m->argv = qs_build_list(b);
    b = lists_next(l);
    ok = ok && build_env(job, arm_index, job->schedule.point, b);
    m->env = qs_build_list(b);
    b = lists_next(l);
    ok = ok && add_filled(job, arm_index, job->schedule.point,
                          arm->prepare.count ? &arm->prepare : &bench->prepare, NULL, b);
    m->prepare = qs_build_list(b);
    b = lists_next(l);
    ok = ok && add_filled(job, arm_index, job->schedule.point,
                          arm->conclude.count ? &arm->conclude : &bench->conclude, NULL, b);
    m->conclude = qs_build_list(b);
    m->cwd = qs_text_of(cwd_of(job, arm_index, job->schedule.point));
    m->stdin_kind = bench->stdin_path ? QS_STDIN_FILE : QS_STDIN_NULL;
    m->stdin_path = qs_text_of(bench->stdin_path);
    fill_output(job, bench, m);
    m->iteration_limit_ns = bench->iteration_limit_ns;
    m->exit_rule = bench->exit_rule == QS_EXIT_ANY    ? QS_EXIT_RULE_ANY
                   : bench->exit_rule == QS_EXIT_LIST ? QS_EXIT_RULE_LIST
                                                      : QS_EXIT_RULE_ZERO;
    m->cpus = qs_text_of(qs_activity_pin_cpus(job));
    m->hook_limit_ns = bench->hook_limit_ns;
    m->user = qs_text_of(bench->user);
    m->start = qs_schedule_conditions(&job->schedule)->controls.start;
    if (qs_harness_is_on(job))
        ok = qs_harness_fill(job, lists_next(l), m) && ok;
    return ok;
}

int64_t qs_job_run_step_limit_ns(const struct qs_job_run *job)
{
    const struct qs_job_benchmark *bench = qs_job_run_benchmark(job);
    return qs_harness_is_on(job) ? bench->hook_limit_ns : 0;
}

bool qs_job_run_send_run_begin(struct qs_job_run *job, qs_session_reply *on_reply, struct qs_err *err)
{
    const struct qs_job_benchmark *bench = qs_job_run_benchmark(job);
    QS_SCOPED(lists_done) struct lists l = lists_new();
    struct qs_msg_run_begin m = {.run = job->run.uid};
    bool ok = fill_run_begin(job, &l, &m) || too_large(err);
    struct qs_build codes;
    uint8_t mem[4 * QS_EXIT_CODES_MAX];
    qs_build_init(&codes, mem, sizeof mem);
    for (size_t i = 0; ok && i < bench->exit_count; i++)
        ok = qs_build_i32(&codes, bench->exit_codes[i]) || qs_fail(err, QS_E_LIMIT, "too many exit codes");
    m.exit_codes = qs_build_list(&codes);
    const struct qs_run_events events = qs_activity_window_events(job);
    const struct qs_call call = {.type = QS_MSG_RUN_BEGIN,
                                 .m = &m,
                                 .allow_ns = qs_job_run_step_limit_ns(job),
                                 .on_reply = on_reply,
                                 .user = job,
                                 .events = &events};
    ok = ok && qs_session_call(job->p.session, &call, err);
    return ok;
}

/* What cannot be compared, because nobody knows how warm it is, is a sensor that no device has. */
static struct qs_text sensor_of(const struct qs_job_run *job, size_t i, const struct qs_job_expectation *e,
                                char name[QS_NAME_MAX_BYTES])
{
    const char *ambient = qs_activity_ambient_name(job);
    snprintf(name, QS_NAME_MAX_BYTES, "ambient:%s", ambient ? ambient : "none");
    return qs_text_of(job->win.bounds[i].missing ? name : e->sensor);
}

static bool build_gate(struct qs_job_run *job, struct qs_build *gate, struct qs_build *bounds)
{
    const struct qs_job_conditions *set = qs_schedule_conditions(&job->schedule);
    const struct qs_job_expectation *e;
    bool ok = true;
    qs_activity_ambient_bounds(job);
    for (size_t i = 0; ok && (e = qs_activity_pin_line(job, i)) != NULL && i < QS_GATE_MAX; i++) {
        const struct qs_bound_in_hand *in_hand = &job->win.bounds[i];
        char name[QS_NAME_MAX_BYTES];
        struct qs_expectation x = {.sensor = sensor_of(job, i, e, name),
                                   .lo = in_hand->lo,
                                   .hi = in_hand->hi,
                                   .dwell_ns = e->dwell_ns,
                                   .timeout_ns = in_hand->missing ? 0 : qs_patience_timeout_ns(job, e),
                                   .on_timeout = (enum qs_gate_on_timeout)e->on_timeout};
        x.flags = (uint8_t)((e->has_lo ? QS_GATE_HAS_LO : 0) | (e->has_hi ? QS_GATE_HAS_HI : 0) |
                            (e->unreadable_ok ? QS_GATE_UNREADABLE_OK : 0) | (e->heat ? QS_GATE_HEAT : 0) |
                            (e->returns ? QS_GATE_RETURN : 0) | (i >= set->gate_count ? QS_GATE_HOLD : 0));
        ok = qs_build_expectation(gate, &x);
    }
    for (size_t i = 0; ok && i < set->bound_count; i++) {
        struct qs_bound x = {.kind = qs_text_of(set->bounds[i].kind), .bound = set->bounds[i].bound};
        ok = qs_build_bound(bounds, &x);
    }
    return ok && qs_activity_pin_line(job, QS_GATE_MAX) == NULL;
}

/* What a line asks for that not every agent does: without it the wait would be for nothing, or too short. */
static bool can_gate(const struct qs_job_run *job, struct qs_err *err)
{
    const struct qs_job_conditions *set = qs_schedule_conditions(&job->schedule);
    bool heats = false, returns = false;
    for (size_t i = 0; i < set->gate_count; i++) {
        heats = heats || set->gate[i].heat;
        returns = returns || set->gate[i].returns;
    }
    if (heats && !qs_session_has(job->p.session, QS_FEATURE_LOAD))
        return qs_fail(err, QS_E_AGENT,
                       "the gate has `heat: true`, and the agent keeps no processors busy: it is too old");
    return !returns || qs_session_has(job->p.session, QS_FEATURE_RETURN) ||
           qs_fail(err, QS_E_AGENT, "the gate has `back_to`, which the agent does not know: it is too old");
}

static int64_t add_spans(int64_t a, int64_t b)
{
    return a > QS_SPAN_MAX_NS - b ? QS_SPAN_MAX_NS : a + b;
}

/* Of a window that counts: what the job allows, or what the device's heat does. */
static int64_t longest_ns(const struct qs_job_run *job)
{
    int64_t most_ns = job->p.spec->plan.window_max_ns;
    struct qs_headroom_of of;
    if (!qs_headroom_of_arm(job, qs_schedule_arm(&job->schedule), &of) || (most_ns > 0 && most_ns <= of.ns))
        return most_ns;
    return of.ns > 0 ? of.ns : 1;
}

bool qs_job_run_send_open(struct qs_job_run *job, struct qs_err *err)
{
    const struct qs_job_plan *plan = &job->p.spec->plan;
    const struct qs_job_benchmark *bench = qs_job_run_benchmark(job);
    /* Each of three processes may ignore SIGTERM (1 s), resist SIGKILL (5 s) and leave others behind (2 s).
     */
    const int64_t grace_ns = INT64_C(30000000000);
    uint8_t gate_mem[QS_GATE_MAX * 128], bounds_mem[QS_BOUNDS_MAX * 80];
    struct qs_build gate, bounds;
    qs_build_init(&gate, gate_mem, sizeof gate_mem);
    qs_build_init(&bounds, bounds_mem, sizeof bounds_mem);
    bool traced = qs_activity_trace_is_on(job); /* nothing of it is judged */
    if (!traced && !can_gate(job, err))
        return false;
    size_t most = qs_session_has(job->p.session, QS_FEATURE_PRIORITY) ? QS_GATE_MAX : QS_GATE_OLD_MAX;
    if ((!traced && !build_gate(job, &gate, &bounds)) || !qs_trip_gate(job, &gate) || gate.count > most)
        return qs_fail(
            err, QS_E_LIMIT,
            "the gate does not fit one message: this agent takes at most %zu expectations, with a line for "
            "each temperature where there is a `trip` limit, and %d bounds",
            most, QS_BOUNDS_MAX);
    bool pilot = job->schedule.block == 0;
    int64_t max_ns = pilot ? plan->warmup_max_ns : traced ? plan->window_max_ns : longest_ns(job);
    uint32_t n = qs_schedule_iterations(&job->schedule);
    struct qs_msg_open m = {.run = job->run.uid,
                            .window = job->run.window,
                            .phase = traced  ? QS_PHASE_TRACED
                                     : pilot ? QS_PHASE_WARMUP
                                             : QS_PHASE_MEASURE,
                            .first_seq = job->run.next_seq,
                            .iterations = n > QS_ITERATIONS_MAX ? QS_ITERATIONS_MAX : n,
                            .max_ns = max_ns > 0 ? max_ns : QS_SPAN_MAX_NS / 4,
                            .quiet_lead_ns = job->p.quiet_lead_ns,
                            .gate = qs_build_list(&gate),
                            .bounds = qs_build_list(&bounds)};
    qs_activity_tune_open(job, &m);
    /* The lease outlasts the longest window there can be: its lead and time, one iteration and its hooks at
     * their limits. */
    const struct qs_job_arm *arm = &job->p.spec->arms[qs_schedule_arm(&job->schedule)];
    int64_t prepare_ns = arm->prepare.count + bench->prepare.count > 0 ? bench->hook_limit_ns : 0;
    int64_t conclude_ns = arm->conclude.count + bench->conclude.count > 0 ? bench->hook_limit_ns : 0;
    m.lease_ns =
        add_spans(add_spans(m.max_ns, bench->iteration_limit_ns), add_spans(prepare_ns, conclude_ns));
    m.lease_ns = add_spans(m.lease_ns, add_spans(m.quiet_lead_ns, grace_ns));
    return qs_session_open(job->p.session, &m, err);
}

/* perf, ftrace and perfetto look at the system, and run as the agent; a command of the job as its other ones.
 */
bool qs_job_run_send_trace(struct qs_job_run *job, uint32_t id, qs_session_reply *on_reply,
                           struct qs_err *err)
{
    const struct qs_job_trace *wish = &job->p.spec->trace;
    const struct qs_job_benchmark *bench = qs_job_run_benchmark(job);
    size_t arm = qs_schedule_arm(&job->schedule);
    QS_SCOPED(qs_strings_done) struct qs_strings argv = {0};
    QS_SCOPED(lists_done) struct lists l = lists_new();
    struct qs_build *a = lists_next(&l), *e = lists_next(&l);
    qs_job_tracer_argv(job->p.spec, arm, job->schedule.point, &argv);
    bool ok = (add_strings(a, &argv) && build_env(job, arm, job->schedule.point, e)) || too_large(err);
    const struct qs_msg_trace m = {.run = job->run.uid,
                                   .id = id,
                                   .argv = qs_build_list(a),
                                   .env = qs_build_list(e),
                                   .cwd = qs_text_of(cwd_of(job, arm, job->schedule.point)),
                                   .input = qs_text_of(wish->config),
                                   .user = qs_text_of(wish->tool == QS_TRACER_COMMAND ? bench->user : NULL),
                                   .settle_ns = wish->settle_ns,
                                   .stop_ns = wish->stop_ns,
                                   .max_bytes = (uint64_t)wish->max_bytes};
    ok = ok && qs_job_run_call(job, QS_MSG_TRACE, &m, wish->settle_ns, on_reply, err);
    return ok;
}

bool qs_job_run_send_hook(struct qs_job_run *job, const struct qs_hook *hook, qs_session_reply *on_reply,
                          struct qs_err *err)
{
    enum { TAIL_BYTES = 4096 };
    const struct qs_job_benchmark *bench = benchmark_of(job, hook->point);
    QS_SCOPED(lists_done) struct lists l = lists_new();
    struct qs_build *a = lists_next(&l), *e = lists_next(&l);
    bool ok = (add_strings(a, hook->argv) && build_env(job, hook->arm, hook->point, e)) || too_large(err);
    struct qs_msg_hook m = {.id = hook->id,
                            .argv = qs_build_list(a),
                            .env = qs_build_list(e),
                            .cwd = qs_text_of(cwd_of(job, hook->arm, hook->point)),
                            .limit_ns = hook->limit_ns > 0 ? hook->limit_ns : bench->hook_limit_ns,
                            .output_max_bytes = TAIL_BYTES,
                            .user = qs_text_of(bench->user)};
    ok = ok && qs_job_run_call(job, QS_MSG_HOOK, &m, m.limit_ns, on_reply, err);
    return ok;
}

/* Android's commands are in a folder that no other system has. */
static bool add_path(const struct qs_job_run *job, struct qs_build *env)
{
    QS_BUF(path);
    qs_buf_str(&path, "PATH=");
    for (const char *const *kv = job->p.base_env; kv && *kv; kv++)
        if (strncmp(*kv, "PATH=", 5) == 0)
            qs_buf_fmt(&path, "%s:", *kv + 5);
    qs_buf_str(&path, "/system/bin:/usr/bin:/bin");
    return path.len <= UINT16_MAX && qs_build_text(env, qs_text_of(path.data));
}

bool qs_job_run_send_look(struct qs_job_run *job, uint32_t id, int64_t limit_ns, char *const *argv,
                          size_t words, qs_session_reply *on_reply, struct qs_err *err)
{
    QS_SCOPED(lists_done) struct lists l = lists_new();
    struct qs_build *a = lists_next(&l), *e = lists_next(&l);
    bool ok = add_path(job, e);
    for (size_t i = 0; ok && i < words; i++)
        ok = qs_build_text(a, qs_text_of(argv[i]));
    const struct qs_msg_hook m = {.id = id,
                                  .argv = qs_build_list(a),
                                  .env = qs_build_list(e),
                                  .limit_ns = limit_ns,
                                  .output_max_bytes = QS_OUTPUT_MAX_BYTES};
    ok = (ok || too_large(err)) && qs_job_run_call(job, QS_MSG_HOOK, &m, limit_ns, on_reply, err);
    return ok;
}
