/* actions: lists of steps, each a map with exactly one kind, and lists of steps inside of them. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/farm/sensors.h"
#include "config/job/read_actions.h"
#include "config/job/read_params.h"

/* ---- a list ---- */

static const char *const inner_keys[] = {"then", "else", "do"};
enum { INNER = sizeof inner_keys / sizeof *inner_keys };

struct extent {
    size_t steps, levels;
    const struct qs_node *deepest;
};

/* How much of it there is, whatever it says. */
static void measure(const struct qs_node *list, size_t level, struct extent *e)
{
    if (level > e->levels) {
        e->levels = level;
        e->deepest = list;
    }
    for (size_t i = 0; list->kind == QS_NODE_LIST && i < list->count; i++) {
        e->steps++;
        for (size_t k = 0; k < INNER; k++) {
            const struct qs_node *inner = qs_node_get(&list->items[i], inner_keys[k], NULL);
            if (inner != NULL)
                measure(inner, level + 1, e);
        }
    }
}

/* Of several kinds the last one: the step is none then, with a problem. */
static bool find_kind(struct qs_schema_reader *r, const struct qs_node *node, enum qs_action_kind *ret)
{
    const char *names[QS_ACTION_KINDS];
    const struct qs_node *first = NULL, *second = NULL;
    for (size_t k = 0; k < QS_ACTION_KINDS; k++) {
        const struct qs_node *key = NULL;
        names[k] = qs_action_kind_name((enum qs_action_kind)k);
        if (qs_node_get(node, names[k], &key) == NULL)
            continue;
        *ret = (enum qs_action_kind)k;
        second = first != NULL ? key : NULL;
        first = first != NULL ? first : key;
        if (second != NULL)
            break;
    }
    if (second != NULL) {
        qs_schema_problem(r, second, "make two steps of them", "`%s` and `%s` are two kinds of step in one",
                          first->text, second->text);
    } else if (first == NULL) {
        QS_BUF(out);
        const struct qs_node *at = node->count > 0 ? &node->keys[0] : node;
        qs_schema_suggest(&out, node->count > 0 ? at->text : "", "the kinds are", names, QS_ACTION_KINDS);
        qs_schema_problem(r, at, out.data, "this is no step: it has none of the kinds");
    }
    return first != NULL && second == NULL;
}

static void read_step(struct qs_schema_reader *r, const struct qs_node *node, struct qs_action *action)
{
    if (node->kind != QS_NODE_MAP)
        qs_schema_is(r, node, QS_NODE_MAP, "a step such as {sleep: 5s}");
    else if (find_kind(r, node, &action->kind))
        qs_schema_map(r, qs_job_step_table(action->kind), node, action);
}

void qs_job_read_steps(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at)
{
    struct qs_actions *list = at;
    (void)key;
    if (!qs_schema_is(r, node, QS_NODE_LIST, "a list of steps"))
        return;
    if (node->count == 0 || node->count > QS_ACTIONS_MAX) {
        qs_schema_problem(
            r, node, node->count == 0 ? "leave the key out" : "put some of them into `do` lists",
            node->count == 0 ? "no steps here" : "%zu steps are too many for one list (at most %d)",
            node->count, QS_ACTIONS_MAX);
        return;
    }
    list->at = qs_calloc(node->count, sizeof *list->at);
    for (size_t i = 0; i < node->count; i++) {
        size_t mark = qs_schema_enter_index(r, i);
        read_step(r, &node->items[i], &list->at[list->count++]);
        qs_schema_leave(r, mark);
    }
}

void qs_job_read_stage(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at)
{
    struct extent e = {.steps = 0};
    measure(node, 1, &e);
    if (e.levels > QS_ACTIONS_DEEP_MAX)
        qs_schema_problem(r, e.deepest, NULL, "steps inside of steps, more than %d deep",
                          QS_ACTIONS_DEEP_MAX);
    else if (e.steps > QS_ACTIONS_ALL_MAX)
        qs_schema_problem(r, node, NULL, "%zu steps, with those inside of others, are too many (at most %d)",
                          e.steps, QS_ACTIONS_ALL_MAX);
    else
        qs_job_read_steps(r, key, node, at);
}

/* ---- what the keys of a step must agree on ---- */

/* The sensor with its bounds; NULL with a problem. */
static const struct qs_sensor_kind *read_when(struct qs_schema_reader *r, const struct qs_node *node,
                                              struct qs_action *a, const char *bound)
{
    const struct qs_node *sensor = qs_node_get(node, "sensor", NULL);
    if (sensor == NULL) {
        qs_schema_problem(r, NULL, NULL, "`sensor` is missing: what is read on the device");
        return NULL;
    }
    if (bound != NULL && qs_node_get(node, bound, NULL) == NULL) {
        qs_schema_problem(r, NULL, NULL, "`%s` is missing: until when it goes on", bound);
        return NULL;
    }
    const struct qs_sensor_kind *kind =
        a->when.sensor != NULL ? qs_job_read_when(r, node, "`if`", &a->when) : NULL;
    if (kind != NULL && (a->when.lo_ambient || a->when.hi_ambient)) {
        qs_schema_problem(r, NULL, "write a temperature such as 38C",
                          "only a gate can be relative to `ambient`");
        return NULL;
    }
    return kind;
}

void qs_job_check_cool_down(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    if (node != NULL)
        (void)read_when(r, node, target, "below");
}

void qs_job_check_if(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    if (node != NULL)
        (void)read_when(r, node, target, NULL);
}

void qs_job_check_warm_up(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    struct qs_action *a = target;
    const struct qs_node *sensor = qs_node_get(node, "sensor", NULL), *key = NULL;
    if (node == NULL)
        return;
    if (qs_node_get(node, "for", NULL) != NULL) {
        static const char *const none[] = {"sensor", "above", "timeout", "on_timeout"};
        a->limit_ns = 0;
        for (size_t i = 0; i < sizeof none / sizeof *none; i++)
            if (qs_node_get(node, none[i], &key) != NULL) {
                qs_schema_problem(r, key, "keep one of the two", "`for` and `%s` do not go together",
                                  none[i]);
                return;
            }
        return;
    }
    if (sensor == NULL) {
        qs_schema_problem(r, NULL, "write {sensor: ..., above: ...}, or {for: 10s}",
                          "nothing says how long it goes on");
        return;
    }
    const struct qs_sensor_kind *kind = read_when(r, node, a, "above");
    if (kind != NULL && kind->unit != QS_UNIT_MC && kind->unit != QS_UNIT_KHZ) {
        size_t mark = qs_schema_enter(r, "sensor");
        qs_schema_problem(r, sensor, NULL, "`%s` is neither a temperature nor a clock",
                          qs_show(sensor->text).text);
        qs_schema_leave(r, mark);
    }
}

void qs_job_check_branches(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    (void)target;
    if (qs_node_get(node, "then", NULL) == NULL && qs_node_get(node, "else", NULL) == NULL)
        qs_schema_problem(r, NULL, "add `then: [...]`, `else: [...]` or both", "`if` without steps");
}

/* ---- parameters, and what a harness program does not allow ---- */

struct walk {
    struct qs_schema_reader *r;
    const struct qs_node *axes, *fixed; /* of the benchmark, of the arm; NULL: none */
    bool of_run;                        /* there are parameters */
    bool parked;                        /* the program of a harness run is there: no other is started */
};

static void unknown_param(const struct walk *w, const struct qs_node *at, const char *name)
{
    if (!w->of_run) {
        qs_schema_problem(w->r, at, "use it in `before_run` to `after_run`, or write `{{` for a brace",
                          "`{%s}`: no parameter has a value here", qs_show(name).text);
        return;
    }
    QS_BUF(out);
    qs_job_suggest_param(&out, name, w->axes, w->fixed);
    qs_schema_problem(w->r, at, out.data, "`{%s}` is not a parameter of every benchmark and arm",
                      qs_show(name).text);
}

static void check_text(const struct walk *w, const struct qs_node *node)
{
    const char *name = NULL;
    size_t n = 0;
    if (node == NULL || node->kind != QS_NODE_TEXT)
        return;
    for (const char *p = qs_template_next(node->text, &name, &n); p != NULL;
         p = qs_template_next(name + n, &name, &n)) {
        QS_FREED char *word = qs_strndup(name, n);
        bool known = qs_node_get(w->axes, word, NULL) != NULL || qs_node_get(w->fixed, word, NULL) != NULL;
        if (!w->of_run || !known)
            unknown_param(w, node, word);
    }
}

static void check_run(const struct walk *w, const struct qs_node *run)
{
    if (run == NULL)
        return;
    if (w->parked)
        qs_schema_problem(w->r, run, "put it into `before_run` or `after_run`",
                          "no command can be run before or after a window in mode `harness`: the program "
                          "stands by there");
    check_text(w, qs_node_get(run, "shell", NULL));
    for (size_t i = 0; run->kind == QS_NODE_LIST && i < run->count; i++)
        check_text(w, &run->items[i]);
}

static void check_list(const struct walk *w, const struct qs_node *list)
{
    for (size_t i = 0; list->kind == QS_NODE_LIST && i < list->count; i++) {
        const struct qs_node *step = &list->items[i];
        size_t mark = qs_schema_enter_index(w->r, i);
        size_t inside = qs_schema_enter(w->r, "run");
        check_run(w, qs_node_get(step, "run", NULL));
        qs_schema_leave(w->r, inside);
        qs_schema_enter(w->r, "print");
        check_text(w, qs_node_get(step, "print", NULL));
        qs_schema_leave(w->r, inside);
        qs_schema_enter(w->r, "write");
        qs_schema_enter(w->r, "value");
        check_text(w, qs_node_get(qs_node_get(step, "write", NULL), "value", NULL));
        qs_schema_leave(w->r, inside);
        for (size_t k = 0; k < INNER; k++) {
            const struct qs_node *inner = qs_node_get(step, inner_keys[k], NULL);
            qs_schema_enter(w->r, inner_keys[k]);
            if (inner != NULL)
                check_list(w, inner);
            qs_schema_leave(w->r, inside);
        }
        qs_schema_leave(w->r, mark);
    }
}

static bool is_harness(const struct qs_node *benchmark)
{
    const struct qs_node *mode = qs_node_get(benchmark, "mode", NULL);
    return mode != NULL && mode->kind == QS_NODE_TEXT && strcmp(mode->text, "harness") == 0;
}

/* One stage with each benchmark and arm; what one of them finds is not said again for the next. */
static void check_stage(struct qs_schema_reader *r, const struct qs_node *root, enum qs_stage stage,
                        const struct qs_node *list)
{
    const struct qs_node *benchmarks = qs_node_get(root, "benchmarks", NULL);
    const struct qs_node *arms = qs_node_get(root, "arms", NULL);
    struct walk w = {.r = r, .of_run = qs_stage_is_of_run(stage)};
    size_t before = r->count;
    if (!w.of_run)
        check_list(&w, list);
    for (size_t b = 0; w.of_run && benchmarks != NULL && b < benchmarks->count; b++) {
        w.axes = qs_node_get(&benchmarks->items[b], "params", NULL);
        w.parked = qs_stage_is_in_run(stage) && is_harness(&benchmarks->items[b]);
        size_t arm_count = arms != NULL && arms->kind == QS_NODE_MAP ? arms->count : 1;
        for (size_t a = 0; a < arm_count && r->count == before; a++) {
            w.fixed = arms != NULL ? qs_node_get(&arms->items[a], "params", NULL) : NULL;
            check_list(&w, list);
        }
    }
}

void qs_job_check_actions(struct qs_schema_reader *r, const struct qs_node *root)
{
    const struct qs_node *actions = qs_node_get(root, "actions", NULL);
    size_t mark = qs_schema_enter(r, "actions");
    const struct qs_node *characterize = qs_node_get(root, "characterize", NULL);
    if (actions != NULL && characterize != NULL)
        qs_schema_problem(r, actions, "leave one of them out",
                          "a job that characterizes its device has no runs, and no `actions`");
    for (size_t s = 0; s < QS_STAGE_COUNT; s++) {
        const char *name = qs_stage_name((enum qs_stage)s);
        const struct qs_node *list = qs_node_get(actions, name, NULL);
        size_t inside = qs_schema_enter(r, name);
        if (list != NULL)
            check_stage(r, root, (enum qs_stage)s, list);
        qs_schema_leave(r, inside);
    }
    qs_schema_leave(r, mark);
}
