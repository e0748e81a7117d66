#include "device/control_host.h"

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
#include "device/control_impl.h"
#include "device/control_news.h"

enum { ITERATIONS_MOST = 10000, OUTPUT_MOST = 4096, VERSION = 1 };

void qs_control_host_init(struct qs_control *c)
{
    const char *names[QS_JOB_HOOKS_MAX];
    size_t count = qs_stop_externals(c->p.spec->plan.stop, names, QS_JOB_HOOKS_MAX);
    c->host.rule_count = count < QS_JOB_HOOKS_MAX ? count : QS_JOB_HOOKS_MAX;
    for (size_t i = 0; i < c->host.rule_count; i++)
        c->host.answers[i].name = names[i];
}

bool qs_control_host_has_rules(const struct qs_control *c)
{
    return c->host.rule_count > 0 && c->plan.block > 0;
}

/* --- what it is given --- */

static void put_head(struct qs_control *c, struct qs_json *j, const char *what, const char *name)
{
    char uid[33];
    size_t arm = qs_plan_arm(&c->plan);
    qs_hex(c->run.uid.b, sizeof c->run.uid.b, uid);
    qs_json_kint(j, "version", VERSION);
    qs_json_kstring(j, what, name);
    qs_json_kint(j, "job", c->p.job);
    qs_json_kstring(j, "device", c->p.device);
    qs_json_kstring(j, "point", c->p.spec->points[c->plan.point].label);
    qs_json_kstring(j, "arm", c->p.spec->arms[arm].name);
    qs_json_kint(j, "block", c->plan.block);
    qs_json_kstring(j, "run", uid);
    qs_json_kint(j, "window", c->run.window);
}

/* The accepted iterations of the run in order; of very many the last. */
static void put_iterations(const struct qs_control_run *run, struct qs_json *j)
{
    size_t from = run->clean_n > ITERATIONS_MOST ? run->clean_n - ITERATIONS_MOST : 0;
    qs_json_kint(j, "n", (int64_t)run->clean_n);
    qs_json_kint(j, "left_out", (int64_t)from);
    qs_json_kint(j, "measured_ns", run->measured_ns);
    qs_json_key(j, "durations_ns");
    qs_json_array(j);
    for (size_t i = from; i < run->clean_n; i++)
        qs_json_double(j, run->clean_ns[i]);
    qs_json_array_end(j);
}

static void put_window(const struct qs_control_window *win, struct qs_json *j)
{
    qs_json_kint(j, "iterations", (int64_t)win->made.rows_n);
    qs_json_kint(j, "opened_ns", win->made.closed.opened_ns);
    qs_json_kint(j, "closed_ns", win->made.closed.closed_ns);
}

/* --- what it says --- */

/* Told once a run: it is asked after each window. */
static void failed(struct qs_control *c, const char *name, const char *why)
{
    const char *what = c->host.metrics ? "metric" : "rule";
    uint32_t bit = 1u << (c->host.next + (c->host.metrics ? QS_JOB_HOOKS_MAX : 0));
    if (!c->host.metrics && c->run.host.failure[0] == '\0')
        snprintf(c->run.host.failure, sizeof c->run.host.failure, "rule %s failed: %.100s", name, why);
    if (!(c->run.host.told & bit))
        qs_control_news_host(c, what, name, why);
    c->run.host.told |= bit;
}

static const char *name_in_hand(const struct qs_control *c)
{
    return c->host.metrics ? c->p.spec->plan.metrics.at[c->host.next] : c->host.answers[c->host.next].name;
}

/* {"stop": true, "reason": "..."}; the reason may be missing. */
static bool read_rule(struct qs_control_host *h, const char *output, size_t bytes)
{
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    qs_problems_init(&problems);
    bool ok = qs_doc_read("answer", output, bytes, true, &doc, &problems);
    const struct qs_node *stop = ok ? qs_node_get(&doc->root, "stop", NULL) : NULL;
    const struct qs_node *reason = ok ? qs_node_get(&doc->root, "reason", NULL) : NULL;
    bool holds = stop && stop->kind == QS_NODE_TEXT && !stop->quoted && strcmp(stop->text, "true") == 0;
    ok = holds || (stop && stop->kind == QS_NODE_TEXT && !stop->quoted && strcmp(stop->text, "false") == 0);
    h->answers[h->next].holds = holds;
    if (holds && reason && reason->kind == QS_NODE_TEXT) {
        struct qs_buf text;
        qs_buf_init(&text);
        qs_text_escape(&text, reason->text, strlen(reason->text));
        qs_text_copy(qs_text_of(text.data), h->why[h->next], sizeof h->why[h->next]);
        qs_buf_done(&text);
    }
    qs_doc_free(doc);
    qs_problems_done(&problems);
    return ok;
}

/* One number, and nothing else. */
static bool read_metric(struct qs_control_host *h, const struct qs_farm_hook *hook, const char *output)
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

static void next(struct qs_control *c);

static void on_answer(const struct qs_err *err, const char *output, size_t bytes, void *user)
{
    struct qs_control *c = user;
    struct qs_control_host *h = &c->host;
    const char *name = name_in_hand(c);
    h->running = NULL;
    bool ok = !err && (h->metrics ? read_metric(h, qs_farm_metric(c->p.farm, name), output)
                                  : read_rule(h, output, bytes));
    if (!ok && h->metrics)
        h->value[h->next] = INT64_MIN;
    if (!ok)
        failed(c, name,
               err          ? err->text
               : h->metrics ? "its answer is not one number"
                            : "its answer is not {\"stop\": true or false}");
    h->next++;
    next(c);
}

static bool start(struct qs_control *c, const struct qs_farm_hook *hook, struct qs_err *err)
{
    struct qs_buf input;
    struct qs_json j;
    if (!hook)
        return qs_fail(err, QS_E_COMMAND, "this farm does not have it any more");
    qs_buf_init(&input);
    qs_json_init(&j, &input);
    qs_json_object(&j);
    put_head(c, &j, c->host.metrics ? "metric" : "rule", hook->name);
    if (c->host.metrics)
        put_window(&c->win, &j);
    else
        put_iterations(&c->run, &j);
    qs_json_object_end(&j);
    qs_buf_char(&input, '\n');
    const char **argv = qs_calloc(hook->command.count + 1, sizeof *argv);
    for (size_t i = 0; i < hook->command.count; i++)
        argv[i] = hook->command.at[i];
    const struct qs_command_spec spec = {.argv = argv,
                                         .input = input.data,
                                         .input_bytes = input.len,
                                         .timeout_ns = hook->timeout_ns,
                                         .output_max_bytes = OUTPUT_MOST};
    c->host.running = qs_command_start(c->p.loop, &spec, on_answer, c, err);
    free(argv);
    qs_buf_done(&input);
    return c->host.running != NULL;
}

static void over(struct qs_control *c)
{
    c->host.on = false;
    qs_control_give_token(c);
    if (c->host.metrics)
        qs_control_window_store(c);
    else
        qs_control_feed(c, QS_CE_ANSWERED);
}

static void prepare(struct qs_control_host *h, const struct qs_farm_hook *hook, const char *name)
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

static void ask_again(void *user)
{
    struct qs_control *c = user;
    c->host.again = NULL;
    next(c);
}

static void next(struct qs_control *c)
{
    struct qs_control_host *h = &c->host;
    size_t count = h->metrics ? c->p.spec->plan.metrics.count : h->rule_count;
    count = count < QS_JOB_HOOKS_MAX ? count : QS_JOB_HOOKS_MAX;
    if (!qs_control_has_token(c, &c->host.again, ask_again))
        return;
    for (; h->next < count; h->next++) {
        const char *name = name_in_hand(c);
        const struct qs_farm_hook *hook = !c->p.farm   ? NULL
                                          : h->metrics ? qs_farm_metric(c->p.farm, name)
                                                       : qs_farm_rule(c->p.farm, name);
        struct qs_err err = QS_ERR_INIT;
        prepare(h, hook, name);
        if (start(c, hook, &err))
            return;
        failed(c, name, err.text);
    }
    over(c);
}

void qs_control_host_begin(struct qs_control *c, bool metrics)
{
    c->host.on = true;
    c->host.metrics = metrics;
    c->host.next = 0;
    next(c);
}

void qs_control_host_stop(struct qs_control *c)
{
    qs_command_stop(c->host.running);
    qs_timer_stop(c->host.again);
    c->host.running = NULL;
    c->host.again = NULL;
    c->host.on = false;
}

size_t qs_control_host_evidence(const struct qs_control *c, struct qs_evidence_row *rows)
{
    for (size_t i = 0; i < c->host.metric_count; i++)
        rows[i] = (struct qs_evidence_row){.kind = c->host.kind[i],
                                           .present = c->host.value[i] != INT64_MIN,
                                           .before = INT64_MIN,
                                           .after = c->host.value[i],
                                           .is_metric = true,
                                           .higher_is_better = c->host.higher_is_better[i]};
    return c->host.metric_count;
}

void qs_control_host_explain(struct qs_control *c, bool held)
{
    char *reason = c->run.stop_reason;
    const size_t bytes = sizeof c->run.stop_reason;
    for (size_t i = 0; i < c->host.rule_count; i++) {
        size_t len = strlen(reason);
        if (held && c->host.answers[i].holds && c->host.why[i][0] != '\0')
            snprintf(reason + len, bytes - len, "; %s: %s", c->host.answers[i].name, c->host.why[i]);
    }
    size_t len = strlen(reason);
    if (!held && c->host.rule_count > 0 && c->run.host.failure[0] != '\0')
        snprintf(reason + len, bytes - len, "; %s", c->run.host.failure);
}

void qs_control_do_ask_host(struct qs_control *c)
{
    qs_control_host_begin(c, false);
}

void qs_control_do_hush_host(struct qs_control *c)
{
    qs_control_host_stop(c);
    qs_control_feed(c, QS_CE_ANSWERED);
}
