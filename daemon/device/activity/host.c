#include "device/activity/host.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/farm/farm.h"
#include "config/job/stop.h"
#include "device/job/impl.h"
#include "device/job/events.h"

enum { ITERATIONS_MOST = 10000, OUTPUT_MOST = 4096, VERSION = 1 };

struct host {
    bool metrics; /* of a window are asked, or the rules */
    size_t next;
    struct qs_command_run *running;                  /* owned */
    struct qs_rule_answer answers[QS_JOB_HOOKS_MAX]; /* of each external rule of the job */
    char why[QS_JOB_HOOKS_MAX][96];                  /* the reason that it gave; "": none */
    size_t rule_count;
    char kind[QS_JOB_HOOKS_MAX][64]; /* "metric:power_mW" */
    bool higher_is_better[QS_JOB_HOOKS_MAX];
    int64_t value[QS_JOB_HOOKS_MAX]; /* INT64_MIN: it failed */
    size_t metric_count;             /* of the window in hand */
    qs_job_run_then *then;           /* all of them are asked */
    char failure[160];               /* of the first rule that failed in this run; "": none has */
    uint32_t told; /* bits of the rules, then the metrics, whose failure was told in this run */
};

static struct host *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_HOST];
}

static void init(struct qs_job_run *job)
{
    struct host *h = mine(job);
    const char *names[QS_JOB_HOOKS_MAX];
    size_t count = qs_job_externals(job->p.spec, names, QS_JOB_HOOKS_MAX);
    h->rule_count = count < QS_JOB_HOOKS_MAX ? count : QS_JOB_HOOKS_MAX;
    for (size_t i = 0; i < h->rule_count; i++)
        h->answers[i].name = names[i];
}

/* Whether the run in hand asks this rule, or any where `name` is NULL. */
static bool asks(const struct qs_job_run *job, const char *name)
{
    const char *names[QS_JOB_HOOKS_MAX];
    const struct qs_rule *stop = qs_schedule_conditions(&job->schedule)->enough.stop;
    size_t count = qs_stop_externals(stop, names, QS_JOB_HOOKS_MAX, 0);
    for (size_t i = 0; name && i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return !name && count > 0;
}

bool qs_activity_host_has_rules(const struct qs_job_run *job)
{
    return job->schedule.block > 0 && asks(job, NULL);
}

/* --- what it is given --- */

static void put_head(struct qs_job_run *job, struct qs_json *j, const char *what, const char *name)
{
    char uid[33];
    size_t arm = qs_schedule_arm(&job->schedule);
    qs_hex(job->run.uid.b, sizeof job->run.uid.b, uid);
    qs_json_kint(j, "version", VERSION);
    qs_json_kstring(j, what, name);
    qs_json_kint(j, "job", job->p.job);
    qs_json_kstring(j, "device", job->p.device);
    qs_json_kstring(j, "point", job->p.spec->points[job->schedule.point].label);
    qs_json_kstring(j, "arm", job->p.spec->arms[arm].name);
    qs_json_kint(j, "block", job->schedule.block);
    qs_json_kstring(j, "run", uid);
    qs_json_kint(j, "window", job->run.window);
}

/* The accepted iterations of the run in order; of very many the last. */
static void put_iterations(const struct qs_run_in_hand *run, struct qs_json *j)
{
    size_t from = run->clean_n > ITERATIONS_MOST ? run->clean_n - ITERATIONS_MOST : 0;
    qs_json_kint(j, "n", (int64_t)run->clean_n);
    qs_json_kint(j, "left_out", (int64_t)from);
    qs_json_kint(j, "measured_ns", run->measured_ns);
    qs_json_karray(j, "durations_ns");
    for (size_t i = from; i < run->clean_n; i++)
        qs_json_double(j, run->clean_ns[i]);
    qs_json_array_end(j);
}

static void put_window(const struct qs_window_in_hand *win, struct qs_json *j)
{
    qs_json_kint(j, "iterations", (int64_t)win->made.rows_n);
    qs_json_kint(j, "opened_ns", win->made.closed.opened_ns);
    qs_json_kint(j, "closed_ns", win->made.closed.closed_ns);
}

/* --- what it says --- */

/* Told once a run: it is asked after each window. */
static void failed(struct qs_job_run *job, const char *name, const char *why)
{
    const char *what = mine(job)->metrics ? "metric" : "rule";
    uint32_t bit = 1u << (mine(job)->next + (mine(job)->metrics ? QS_JOB_HOOKS_MAX : 0));
    if (!mine(job)->metrics && mine(job)->failure[0] == '\0')
        snprintf(mine(job)->failure, sizeof mine(job)->failure, "rule %s failed: %.100s", name, why);
    if (!(mine(job)->told & bit))
        qs_job_event_host(job, what, name, why);
    mine(job)->told |= bit;
}

static const char *name_in_hand(const struct qs_job_run *job)
{
    return mine(job)->metrics ? job->p.spec->plan.metrics.at[mine(job)->next]
                              : mine(job)->answers[mine(job)->next].name;
}

/* {"stop": true, "reason": "..."}; the reason may be missing. */
static bool read_rule(struct host *h, const char *output, size_t bytes)
{
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    bool ok = qs_doc_read("answer", output, bytes, true, &doc, &problems);
    const struct qs_node *stop = ok ? qs_node_get(&doc->root, "stop", NULL) : NULL;
    const struct qs_node *reason = ok ? qs_node_get(&doc->root, "reason", NULL) : NULL;
    bool holds = stop && stop->kind == QS_NODE_TEXT && !stop->quoted && strcmp(stop->text, "true") == 0;
    ok = holds || (stop && stop->kind == QS_NODE_TEXT && !stop->quoted && strcmp(stop->text, "false") == 0);
    h->answers[h->next].holds = holds;
    if (holds && reason && reason->kind == QS_NODE_TEXT) {
        QS_BUF(text);
        qs_text_escape(&text, reason->text, strlen(reason->text));
        qs_text_copy(qs_text_of(text.data), h->why[h->next], sizeof h->why[h->next]);
    }
    return ok;
}

/* One number, and nothing else. */
static bool read_metric(struct host *h, const struct qs_farm_hook *hook, const char *output)
{
    const double most = 9e15; /* whole numbers are exact in every reader */
    char *end = NULL;
    errno = 0;
    double v = strtod(output, &end) * hook->scale;
    if (end == output || errno != 0 || !(fabs(v) <= most))
        return false;
    while (*end == ' ' || *end == '\n' || *end == '\r' || *end == '\t')
        end++;
    h->value[h->next] = llround(v);
    return *end == '\0';
}

/* --- one after the other --- */

static void next(struct qs_job_run *job);

static void on_answer(const struct qs_err *err, const char *output, size_t bytes, void *user)
{
    struct qs_job_run *job = user;
    struct host *h = mine(job);
    const char *name = name_in_hand(job);
    h->running = NULL;
    bool ok = !err && (h->metrics ? read_metric(h, qs_farm_metric(job->p.farm, name), output)
                                  : read_rule(h, output, bytes));
    if (!ok && h->metrics)
        h->value[h->next] = INT64_MIN;
    if (!ok)
        failed(job, name,
               err          ? err->text
               : h->metrics ? "its answer is not one number"
                            : "its answer is not {\"stop\": true or false}");
    h->next++;
    next(job);
}

static bool start(struct qs_job_run *job, const struct qs_farm_hook *hook, struct qs_err *err)
{
    QS_BUF(input);
    if (!hook)
        return qs_fail(err, QS_E_COMMAND, "this farm does not have it any more");
    struct qs_json j = qs_json_to(&input);
    qs_json_object(&j);
    put_head(job, &j, mine(job)->metrics ? "metric" : "rule", hook->name);
    if (mine(job)->metrics)
        put_window(&job->win, &j);
    else
        put_iterations(&job->run, &j);
    qs_json_object_end(&j);
    qs_buf_char(&input, '\n');
    QS_FREED const char **argv = qs_calloc(hook->command.count + 1, sizeof *argv);
    for (size_t i = 0; i < hook->command.count; i++)
        argv[i] = hook->command.at[i];
    const struct qs_command_spec spec = {.argv = argv,
                                         .input = input.data,
                                         .input_bytes = input.len,
                                         .timeout_ns = hook->timeout_ns,
                                         .output_max_bytes = OUTPUT_MOST};
    mine(job)->running = qs_command_start(job->p.loop, &spec, on_answer, job, err);
    return mine(job)->running != NULL;
}

static void over(struct qs_job_run *job)
{
    qs_job_run_give_token(job);
    mine(job)->then(job);
}

static void prepare(struct host *h, const struct qs_farm_hook *hook, const char *name)
{
    if (h->metrics) {
        snprintf(h->kind[h->next], sizeof h->kind[h->next], "metric:%.32s_%.16s", name,
                 hook ? hook->unit : "?");
        h->higher_is_better[h->next] = hook && hook->better == QS_JOB_BETTER_HIGHER;
        h->value[h->next] = INT64_MIN;
        h->metric_count = h->next + 1;
    } else {
        h->answers[h->next].holds = false;
        h->why[h->next][0] = '\0';
    }
}

static void next(struct qs_job_run *job)
{
    struct host *h = mine(job);
    size_t count = h->metrics ? job->p.spec->plan.metrics.count : h->rule_count;
    count = count < QS_JOB_HOOKS_MAX ? count : QS_JOB_HOOKS_MAX;
    if (!qs_job_run_has_token(job, next))
        return;
    for (; h->next < count; h->next++) {
        const char *name = name_in_hand(job);
        const struct qs_farm_hook *hook = !job->p.farm ? NULL
                                          : h->metrics ? qs_farm_metric(job->p.farm, name)
                                                       : qs_farm_rule(job->p.farm, name);
        struct qs_err err = QS_ERR_INIT;
        prepare(h, hook, name);
        if (!h->metrics && !asks(job, name))
            continue;
        if (start(job, hook, &err))
            return;
        failed(job, name, err.text);
    }
    over(job);
}

static void begin(struct qs_job_run *job, bool metrics, qs_job_run_then *then)
{
    struct host *h = mine(job);
    h->metrics = metrics;
    h->then = then;
    h->next = 0;
    next(job);
}

void qs_activity_host_metrics(struct qs_job_run *job, qs_job_run_then *then)
{
    begin(job, true, then);
}

void qs_activity_host_no_metrics(struct qs_job_run *job)
{
    mine(job)->metric_count = 0;
}

const struct qs_rule_answer *qs_activity_host_answers(const struct qs_job_run *job, size_t *ret_count)
{
    *ret_count = mine(job)->rule_count;
    return mine(job)->answers;
}

size_t qs_activity_host_evidence(const struct qs_job_run *job, struct qs_evidence_row *rows)
{
    for (size_t i = 0; i < mine(job)->metric_count; i++)
        rows[i] = (struct qs_evidence_row){.kind = mine(job)->kind[i],
                                           .present = mine(job)->value[i] != INT64_MIN,
                                           .before = INT64_MIN,
                                           .after = mine(job)->value[i],
                                           .is_metric = true,
                                           .higher_is_better = mine(job)->higher_is_better[i]};
    return mine(job)->metric_count;
}

void qs_activity_host_explain(struct qs_job_run *job, bool held)
{
    char *reason = job->run.stop_reason;
    const size_t bytes = sizeof job->run.stop_reason;
    for (size_t i = 0; i < mine(job)->rule_count; i++) {
        size_t len = strlen(reason);
        if (held && mine(job)->answers[i].holds && mine(job)->why[i][0] != '\0')
            snprintf(reason + len, bytes - len, "; %s: %s", mine(job)->answers[i].name, mine(job)->why[i]);
    }
    size_t len = strlen(reason);
    if (!held && mine(job)->rule_count > 0 && mine(job)->failure[0] != '\0')
        snprintf(reason + len, bytes - len, "; %s", mine(job)->failure);
}

static void answered(struct qs_job_run *job)
{
    qs_job_run_tell(job, &qs_step_ask, QS_JI_DONE);
}

static void ask(struct qs_job_run *job)
{
    begin(job, false, answered);
}

static void stop(struct qs_job_run *job, const char *why)
{
    struct host *h = mine(job);
    (void)why;
    qs_command_stop(h->running);
    h->running = NULL;
}

static void hush(struct qs_job_run *job)
{
    stop(job, NULL);
    over(job);
}

static void new_run(struct qs_job_run *job)
{
    mine(job)->failure[0] = '\0';
    mine(job)->told = 0;
}

const struct qs_step qs_step_ask = {.start = ask, .cancel = hush};
const struct qs_activity qs_activity_host = {
    .state_bytes = sizeof(struct host), .init = init, .new_run = new_run, .stop = stop};
