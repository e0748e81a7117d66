/* What several keys of a job must agree on. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/job/ablate.h"
#include "config/job/read_actions.h"
#include "config/job/read_meters.h"
#include "config/job/read_params.h"
#include "config/job/sweep.h"
#include "config/document/scalar.h"
#include "proto/limits.h"

enum { LOOK_FIRST = 10, LOOK_STEP = 5 };

void qs_job_check_benchmark(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    struct qs_job_benchmark *b = target;
    if (b->output_max_bytes > QS_OUTPUT_MAX_BYTES) /* 64KiB is one byte more than a message can carry */
        b->output_max_bytes = QS_OUTPUT_MAX_BYTES;
    qs_job_check_exclude(r, node);
    if (b->mode == QS_MODE_HARNESS)
        qs_job_check_harness(r, node);
    else
        qs_job_check_no_harness(r, node, b->mode);
    if (node != NULL)
        qs_job_check_stream(r, node, b);
    if (node != NULL)
        qs_job_check_android(r, node, b);
}

void qs_job_check_arm(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    const struct qs_job_arm *arm = target;
    if (node != NULL && node->count == 0)
        qs_schema_problem(r, node, NULL,
                          "the arm `%s` changes nothing: give it argv, shell, params, env, build or "
                          "conditions",
                          arm->name != NULL ? qs_show(arm->name).text : "");
}

static void check_precision(struct qs_schema_reader *r, const struct qs_node *node, struct qs_job_plan *plan)
{
    const struct qs_node *until = qs_node_get(node, "until", NULL), *key = NULL;
    if (plan->precision_ratio <= 0)
        return;
    plan->interval_ratio = plan->precision_ratio;
    if (until != NULL && until->kind == QS_NODE_MAP && qs_node_get(until, "interval", &key) != NULL)
        qs_schema_problem(r, key, "keep one of the two", "`precision` and `until.interval` say the same");
}

void qs_job_check_plan(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    struct qs_job_draft *draft = target;
    struct qs_job_plan *plan = &draft->spec.plan;
    plan->has_seed = qs_node_get(node, "seed", NULL) != NULL;
    check_precision(r, node, plan);
    if (plan->blocks_max == 0) {
        plan->blocks_min = 6;
        plan->blocks_max = 30;
    }
    if (plan->window_iterations == 0 && plan->warmup_iterations == 0)
        qs_schema_problem(r, NULL, "give `window.iterations` a number, or `warmup.iterations` at least 1",
                          "`window.iterations: auto` needs a pilot, and there is no warm-up");
    if (plan->look_count > 0 && plan->looks[0] > plan->blocks_max)
        qs_schema_problem(r, qs_node_get(node, "looks", NULL), NULL,
                          "the first look comes after the last block (%u)", plan->blocks_max);
    if (plan->looks != NULL)
        return;
    plan->looks = qs_calloc(plan->blocks_max / LOOK_STEP + 2, sizeof(*plan->looks));
    for (uint32_t at = LOOK_FIRST; at < plan->blocks_max; at += LOOK_STEP)
        if (at >= plan->blocks_min)
            plan->looks[plan->look_count++] = at;
    plan->looks[plan->look_count++] = plan->blocks_max;
}

static void check_names(struct qs_schema_reader *r, const struct qs_node *root,
                        const struct qs_job_spec *spec)
{
    const struct qs_node *list = qs_node_get(root, "benchmarks", NULL);
    for (size_t i = 0; i < spec->benchmark_count; i++)
        for (size_t k = 0; k < i; k++) {
            if (spec->benchmarks[i].name == NULL || spec->benchmarks[k].name == NULL ||
                strcmp(spec->benchmarks[i].name, spec->benchmarks[k].name) != 0)
                continue;
            size_t mark = qs_schema_enter(r, "benchmarks");
            qs_schema_enter_index(r, i);
            qs_schema_enter(r, "name");
            qs_schema_problem(r, qs_node_get(&list->items[i], "name", NULL), NULL,
                              "two benchmarks have the name `%s`", qs_show(spec->benchmarks[i].name).text);
            qs_schema_leave(r, mark);
            break;
        }
}

static void resolve_baseline(struct qs_schema_reader *r, const struct qs_node *root,
                             struct qs_job_draft *draft)
{
    struct qs_job_spec *spec = &draft->spec;
    const char *names[100];
    size_t count = 0;
    if (draft->baseline == NULL)
        return;
    for (size_t i = 0; i < spec->arm_count && count < 100; i++) {
        if (spec->arms[i].name == NULL)
            continue;
        if (strcmp(spec->arms[i].name, draft->baseline) == 0) {
            spec->baseline = i;
            return;
        }
        names[count++] = spec->arms[i].name;
    }
    QS_BUF(out);
    size_t mark = qs_schema_enter(r, "compare");
    qs_schema_enter(r, "baseline");
    if (count > 0)
        qs_schema_suggest(&out, draft->baseline, "the arms are", names, count);
    else
        qs_buf_str(&out, "this job has no `arms`");
    qs_schema_problem(r, qs_node_get(qs_node_get(root, "compare", NULL), "baseline", NULL), out.data,
                      "no arm has the name `%s`", qs_show(draft->baseline).text);
    qs_schema_leave(r, mark);
}

/* One place with templates, against the parameters of one arm and one benchmark. */
struct scope {
    struct qs_schema_reader *r;
    const struct qs_node *axes;  /* of the benchmark, or NULL */
    const struct qs_node *fixed; /* of the arm, or NULL */
    bool tracer;                 /* the agent's own places are known too */
};

static bool knows(const struct scope *s, const char *name)
{
    if (s->tracer && (strcmp(name, "pid") == 0 || strcmp(name, "output") == 0 || strcmp(name, "agent") == 0))
        return true;
    return qs_node_get(s->axes, name, NULL) != NULL || qs_node_get(s->fixed, name, NULL) != NULL;
}

static void unknown_param(const struct scope *s, const struct qs_node *at, const char *name)
{
    QS_BUF(out);
    qs_job_suggest_param(&out, name, s->axes, s->fixed);
    qs_schema_problem(s->r, at, out.data, "`{%s}` is not a parameter here", qs_show(name).text);
}

static void check_text(const struct scope *s, const struct qs_node *node)
{
    const char *name = NULL;
    size_t n = 0;
    if (node->kind != QS_NODE_TEXT)
        return;
    for (const char *p = qs_template_next(node->text, &name, &n); p != NULL;
         p = qs_template_next(name + n, &name, &n)) {
        QS_FREED char *word = qs_strndup(name, n);
        if (!knows(s, word))
            unknown_param(s, node, word);
    }
}

static void check_key(const struct scope *s, const struct qs_node *map, const char *key)
{
    const struct qs_node *node = qs_node_get(map, key, NULL);
    if (node == NULL)
        return;
    size_t mark = qs_schema_enter(s->r, key);
    const struct qs_node *shell = qs_node_get(node, "shell", NULL);
    bool hook_shell = strcmp(key, "env") != 0 && strcmp(key, "arguments") != 0 && shell != NULL;
    check_text(s, hook_shell ? shell : node);
    for (size_t i = 0; i < node->count && !hook_shell; i++)
        check_text(s, &node->items[i]);
    qs_schema_leave(s->r, mark);
}

static const char *const hook_keys[] = {"setup", "prepare", "conclude", "cleanup"};

static bool has_command(const struct qs_node *map)
{
    return qs_node_get(map, "argv", NULL) != NULL || qs_node_get(map, "shell", NULL) != NULL;
}

static size_t enter_arm(struct qs_schema_reader *r, const struct qs_node *arms, size_t i)
{
    size_t mark = qs_schema_enter(r, "arms");
    qs_schema_enter(r, arms->keys[i].text);
    return mark;
}

static bool is_mode(const struct qs_node *benchmark, const char *name)
{
    const struct qs_node *mode = qs_node_get(benchmark, "mode", NULL);
    return mode != NULL && mode->kind == QS_NODE_TEXT && strcmp(mode->text, name) == 0;
}

/* The arm's own templates, in the scope of one benchmark. */
static void check_arm_templates(struct scope *s, const struct qs_node *arms, size_t i, bool harness)
{
    const struct qs_node *arm = &arms->items[i];
    size_t mark = enter_arm(s->r, arms, i);
    s->fixed = qs_node_get(arm, "params", NULL);
    if (harness)
        qs_job_check_harness(s->r, arm);
    check_key(s, arm, "argv");
    check_key(s, arm, "shell");
    check_key(s, arm, "env");
    for (size_t h = 0; h < 4; h++)
        check_key(s, arm, hook_keys[h]);
    for (size_t k = 0; s->fixed != NULL && s->fixed->kind == QS_NODE_MAP && k < s->fixed->count; k++)
        if (qs_node_get(s->axes, s->fixed->keys[k].text, NULL) != NULL) {
            qs_schema_enter(s->r, "params");
            qs_schema_problem(s->r, &s->fixed->keys[k], "take it out of the benchmark's `params`",
                              "an arm cannot fix `%s`: the benchmark already varies it",
                              qs_show(s->fixed->keys[k].text).text);
        }
    qs_schema_leave(s->r, mark);
}

static void check_app(const struct scope *s, const struct qs_node *app)
{
    size_t mark = qs_schema_enter(s->r, "app");
    check_key(s, app, "arguments");
    qs_schema_leave(s->r, mark);
}

/* The benchmark's templates that this arm uses: those it does not replace. */
static void check_benchmark_templates(struct scope *s, const struct qs_node *benchmark,
                                      const struct qs_node *arm)
{
    s->fixed = qs_node_get(arm, "params", NULL);
    if (!has_command(arm)) {
        check_key(s, benchmark, "argv");
        check_key(s, benchmark, "shell");
    }
    check_key(s, benchmark, "env");
    if (is_mode(benchmark, "stream") || is_mode(benchmark, "app"))
        check_key(s, benchmark, "benchmark");
    check_app(s, qs_node_get(benchmark, "app", NULL));
    check_key(s, benchmark, "artifacts");
    for (size_t h = 0; h < 4; h++)
        if (qs_node_get(arm, hook_keys[h], NULL) == NULL)
            check_key(s, benchmark, hook_keys[h]);
}

static void check_trace_templates(struct scope *s, const struct qs_node *trace, const struct qs_node *arm)
{
    static const char *const keys[] = {"argv", "options", "events"};
    size_t mark = qs_schema_enter(s->r, "trace");
    s->fixed = qs_node_get(arm, "params", NULL);
    s->tracer = true;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        check_key(s, trace, keys[i]);
    s->tracer = false;
    qs_schema_leave(s->r, mark);
}

/* Every pair of a benchmark and an arm needs a command from one of the two. */
static void check_command(struct qs_schema_reader *r, const struct qs_node *arms, size_t arm,
                          const struct qs_node *list, size_t b)
{
    if (is_mode(&list->items[b], "app") || has_command(&list->items[b]) ||
        (arms != NULL && has_command(&arms->items[arm])))
        return;
    size_t mark = r->path.len;
    if (arms == NULL) {
        qs_schema_enter(r, "benchmarks");
        qs_schema_enter_index(r, b);
        qs_schema_problem(r, &list->items[b], "add argv: [program, argument], or shell: text", "no command");
    } else {
        enter_arm(r, arms, arm);
        qs_schema_problem(r, &arms->keys[arm], "add argv: [program, argument] to the arm or to the benchmark",
                          "no command, and the benchmark has none");
    }
    qs_schema_leave(r, mark);
}

/* Templates of every benchmark with every arm. What one arm finds missing is not said again for the next. */
static void check_pairs(struct qs_schema_reader *r, const struct qs_node *root)
{
    const struct qs_node *list = qs_node_get(root, "benchmarks", NULL);
    const struct qs_node *arms = qs_node_get(root, "arms", NULL);
    size_t arm_count = arms != NULL ? arms->count : 1, of_trace = 0;
    if (arms != NULL && arms->kind != QS_NODE_MAP)
        return; /* told already, and it has no names */
    for (size_t b = 0; b < list->count; b++) {
        const struct qs_node *benchmark = &list->items[b];
        if (benchmark->kind != QS_NODE_MAP)
            continue;
        struct scope s = {.r = r, .axes = qs_node_get(benchmark, "params", NULL)};
        size_t before = r->count;
        for (size_t a = 0; a < arm_count && r->count == before; a++) {
            check_command(r, arms, a, list, b);
            size_t mark = qs_schema_enter(r, "benchmarks");
            qs_schema_enter_index(r, b);
            check_benchmark_templates(&s, benchmark, arms != NULL ? &arms->items[a] : NULL);
            qs_schema_leave(r, mark);
            size_t told = r->count;
            if (of_trace == 0) /* one benchmark's words are enough */
                check_trace_templates(&s, qs_node_get(root, "trace", NULL),
                                      arms != NULL ? &arms->items[a] : NULL);
            of_trace += r->count - told;
        }
        for (size_t a = 0; arms != NULL && a < arm_count && r->count == before; a++)
            check_arm_templates(&s, arms, a, is_mode(benchmark, "harness"));
    }
}

/* Files of a benchmark and of an arm's build meet in one directory. */
static void check_file_names(struct qs_schema_reader *r, const struct qs_node *root,
                             const struct qs_job_spec *spec)
{
    const struct qs_node *arms = qs_node_get(root, "arms", NULL);
    for (size_t a = 0; arms != NULL && a < spec->arm_count; a++)
        for (size_t b = 0; b < spec->benchmark_count; b++)
            for (size_t f = 0; f < spec->arms[a].file_count; f++)
                for (size_t i = 0; i < spec->benchmarks[b].input_count; i++) {
                    if (strcmp(spec->arms[a].files[f].name, spec->benchmarks[b].inputs[i].name) != 0)
                        continue;
                    size_t mark = enter_arm(r, arms, a);
                    qs_schema_problem(
                        r, &arms->keys[a], NULL, "the build's file `%s` has the name of an input of `%s`",
                        qs_show(spec->arms[a].files[f].name).text, qs_show(spec->benchmarks[b].name).text);
                    qs_schema_leave(r, mark);
                }
}

/* So do inputs of all benchmarks: one name can have one content only. */
static void check_input_names(struct qs_schema_reader *r, const struct qs_node *root,
                              const struct qs_job_benchmark *b, const struct qs_job_benchmark *other,
                              size_t at)
{
    const struct qs_node *list = qs_node_get(root, "benchmarks", NULL);
    for (size_t i = 0; i < b->input_count; i++)
        for (size_t k = 0; k < other->input_count; k++) {
            if (strcmp(b->inputs[i].name, other->inputs[k].name) != 0 ||
                strcmp(b->inputs[i].path, other->inputs[k].path) == 0)
                continue;
            size_t mark = qs_schema_enter(r, "benchmarks");
            qs_schema_enter_index(r, at);
            qs_schema_problem(r, qs_node_get(&list->items[at], "inputs", NULL),
                              "give each its own name: a map of name to path",
                              "the input `%s` is another file in `%s`", qs_show(b->inputs[i].name).text,
                              qs_show(other->name).text);
            qs_schema_leave(r, mark);
        }
}

static void add_default_arm(struct qs_job_spec *spec)
{
    spec->arms = qs_calloc(1, sizeof(*spec->arms));
    spec->arm_count = 1;
    spec->arms[0].name = qs_strdup(spec->benchmark_count == 1 ? spec->benchmarks[0].name : "default");
}

/* Iterations of a program cost no process: more of them fill a window where nobody says how many. */
static void widen_windows(const struct qs_node *root, struct qs_job_spec *spec)
{
    enum { PROGRAM_AUTO_MAX = 1000 };
    const struct qs_node *window = qs_node_get(qs_node_get(root, "plan", NULL), "window", NULL);
    bool harness = true;
    for (size_t i = 0; i < spec->benchmark_count; i++)
        harness = harness && spec->benchmarks[i].mode == QS_MODE_HARNESS;
    if (harness && qs_node_get(window, "auto_max", NULL) == NULL)
        spec->plan.window_auto_max = PROGRAM_AUTO_MAX;
}

/* Where the device itself is measured, nothing else has to be: a benchmark that is never run stands for it.
 */
static void want_benchmarks(struct qs_schema_reader *r, const struct qs_node *node, struct qs_job_spec *spec)
{
    if (qs_node_get(node, "benchmarks", NULL) != NULL)
        return;
    if (!spec->characterize.on) {
        size_t mark = qs_schema_enter(r, "benchmarks");
        qs_schema_problem(r, NULL, NULL, "is missing: what is measured, at least one.");
        qs_schema_leave(r, mark);
        return;
    }
    spec->benchmarks = qs_calloc(1, sizeof(*spec->benchmarks));
    spec->benchmark_count = 1;
    spec->benchmarks[0].name = qs_strdup("characterize");
}

void qs_job_check(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    struct qs_job_draft *draft = target;
    struct qs_job_spec *spec = &draft->spec;
    want_benchmarks(r, node, spec);
    qs_job_sets_begin(draft);
    check_names(r, node, spec);
    if (spec->arm_count > 0 || qs_node_get(node, "arms", NULL) == NULL)
        resolve_baseline(r, node, draft);
    if (qs_node_get(node, "benchmarks", NULL) != NULL && spec->benchmark_count > 0)
        check_pairs(r, node);
    qs_job_check_actions(r, node);
    qs_job_check_stream_job(r, node, spec);
    qs_job_check_android_job(r, node, spec);
    qs_job_check_meters(r, node, spec);
    qs_job_sets_check(r, node, draft);
    if (r->count > 0)
        return;
    check_file_names(r, node, spec);
    for (size_t b = 0; b < spec->benchmark_count; b++)
        for (size_t other = 0; other < b; other++)
            check_input_names(r, node, &spec->benchmarks[b], &spec->benchmarks[other], b);
    if (!qs_job_multiply(r, node, spec))
        return;
    if (spec->arm_count == 0)
        add_default_arm(spec);
    if (spec->name == NULL)
        spec->name = qs_strdup(spec->benchmarks[0].name);
    for (size_t i = 0; i < spec->benchmark_count; i++)
        if (spec->benchmarks[i].margin_ratio <= 0)
            spec->benchmarks[i].margin_ratio = draft->margin_ratio;
    widen_windows(node, spec);
    spec->fail_on_regression = draft->fail_on == 1;
    qs_job_sets_fill(r, node, draft);
    if (r->count == 0)
        qs_job_sweep(r, node, spec);
    if (spec->ablate && r->count == 0)
        (void)qs_job_ablate(r, node, spec);
}
