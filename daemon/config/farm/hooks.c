/* rules and metrics of a farm: commands of the daemon's machine, which jobs name and never bring. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/document/doc_build.h"
#include "config/farm/farm.h"
#include "config/job/read.h"
#include "config/document/scalar.h"
#include "config/job/stop.h"

#define HOOK(field) offsetof(struct qs_farm_hook, field)
#define MS          INT64_C(1000000)

enum { NAME_BYTES = 32, UNIT_BYTES = 16, SCALE_MAX = 1000000000 };

static void check_hook(struct qs_schema_reader *r, const struct qs_node *node, void *target);

#define COMMAND                                                                                              \
    {.name = "command",                                                                                      \
     .type = QS_KEY_CUSTOM,                                                                                  \
     .offset = HOOK(command),                                                                                \
     .read = qs_job_read_link,                                                                               \
     .form = "a list, one word each",                                                                        \
     .required = true,                                                                                       \
     .help = "The command, run as the daemon's user; JSON is its standard input."},                          \
    {                                                                                                        \
        .name = "timeout", .type = QS_KEY_DURATION, .offset = HOOK(timeout_ns), .min = 10 * MS,              \
        .max = 60000 * MS, .fallback = "5s", .help = "After this time it is ended, and has failed."          \
    }

static const struct qs_key rule_keys[] = {COMMAND, {0}};
const struct qs_table qs_farm_rule_table = {.keys = rule_keys,
                                            .size_bytes = sizeof(struct qs_farm_hook),
                                            .name_offset = HOOK(name),
                                            .check = check_hook};

static const struct qs_word better_words[] = {
    {"lower", QS_JOB_BETTER_LOWER}, {"higher", QS_JOB_BETTER_HIGHER}, {NULL, 0}};
static const struct qs_key metric_keys[] = {
    COMMAND,
    {.name = "unit",
     .type = QS_KEY_TEXT,
     .offset = HOOK(unit),
     .min = 1,
     .max = UNIT_BYTES,
     .required = true,
     .help = "The unit of what is stored: letters, digits, %, / and -, such as mW."},
    {.name = "scale",
     .type = QS_KEY_U32,
     .offset = HOOK(scale),
     .min = 1,
     .max = SCALE_MAX,
     .fallback = "1",
     .help = "The factor by which the number is multiplied before it is stored as a whole number: 1000 for a "
             "command that prints W."},
    {.name = "better",
     .type = QS_KEY_ENUM,
     .offset = HOOK(better),
     .words = better_words,
     .fallback = "lower",
     .help = "Whether the lower or the higher value is the better one."},
    {0}};
const struct qs_table qs_farm_metric_table = {.keys = metric_keys,
                                              .size_bytes = sizeof(struct qs_farm_hook),
                                              .name_offset = HOOK(name),
                                              .check = check_hook};

static void check_hook(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    const struct qs_farm_hook *hook = target;
    (void)node;
    if (hook->name != NULL && (!qs_text_is_word(hook->name, "-_.") || strlen(hook->name) > NAME_BYTES))
        qs_schema_problem(r, NULL, "letters, digits, `-`, `_` and `.`", "`%s` is not a name for a command",
                          qs_show(hook->name).text);
    if (hook->unit != NULL && !qs_text_is_word(hook->unit, "%/-"))
        qs_schema_problem(r, NULL, "such as mW", "`%s` is not a unit", qs_show(hook->unit).text);
}

void qs_farm_hooks_done(struct qs_farm_hook *hooks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(hooks[i].name);
        free(hooks[i].unit);
        qs_strings_done(&hooks[i].command);
    }
    free(hooks);
}

static const struct qs_farm_hook *find(const struct qs_farm_hook *hooks, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(hooks[i].name, name) == 0)
            return &hooks[i];
    return NULL;
}

const struct qs_farm_hook *qs_farm_rule(const struct qs_farm_config *farm, const char *name)
{
    return find(farm->rules, farm->rule_count, name);
}

const struct qs_farm_hook *qs_farm_metric(const struct qs_farm_config *farm, const char *name)
{
    return find(farm->metrics, farm->metric_count, name);
}

/* --- what a job names --- */

struct check {
    const struct qs_doc *doc;
    struct qs_problems *problems;
    bool virtual_time;
};

static void refuse(const struct check *k, const struct qs_node *at, const char *path, const char *what,
                   const char *name, const struct qs_farm_hook *hooks, size_t count)
{
    const char *names[100];
    size_t n = 0;
    for (; n < count && n < sizeof names / sizeof *names; n++)
        names[n] = hooks[n].name;
    QS_BUF(hint);
    if (n > 0)
        qs_schema_suggest(&hint, name, "this farm has", names, n);
    else
        qs_buf_fmt(&hint,
                   "declare it in farm.yaml under `%ss`: commands of this machine come from there alone",
                   what);
    qs_problems_add(k->problems, k->doc, at, path, hint.data, "this farm has no %s `%s`", what,
                    qs_show(name).text);
}

/* The name as it stands in the document, below the stop rule. */
static const struct qs_node *name_node(const struct qs_node *node, const char *name)
{
    const struct qs_node *found = NULL;
    for (size_t i = 0; i < node->count && found == NULL; i++) {
        const struct qs_node *item = &node->items[i];
        if (item->kind == QS_NODE_TEXT && strcmp(item->text, name) == 0)
            found = item;
        else
            found = name_node(item, name);
    }
    return found;
}

static void check_one(const struct check *k, const struct qs_node *at, const char *path, const char *what,
                      const char *name, const struct qs_farm_hook *hooks, size_t count)
{
    if (find(hooks, count, name) == NULL)
        refuse(k, at, path, what, name, hooks, count);
    else if (k->virtual_time)
        qs_problems_add(k->problems, k->doc, at, path, "leave it out of a simulation",
                        "the %s `%s` is a real command, which has no place in virtual time", what, name);
}

/* The stop rule that a set writes itself (NULL: it takes another one's), and where that stands. */
static const struct qs_node *written_stop(const struct qs_doc *doc, const struct qs_job_spec *spec,
                                          size_t set, struct qs_buf *path)
{
    const struct qs_node *map = qs_node_get(&doc->root, "conditions", NULL);
    bool of_plan = qs_node_get(map, "stop", NULL) == NULL;
    qs_buf_clear(path);
    qs_path_key(path, set > 0 ? "condition_sets" : of_plan ? "plan" : "conditions");
    if (set > 0) {
        const struct qs_node *sets = qs_node_get(&doc->root, "condition_sets", NULL);
        if (sets == NULL || set > sets->count) /* made of another one */
            return NULL;
        map = &sets->items[set - 1];
        qs_path_key(path, qs_show(spec->conditions[set].name).text);
    } else if (of_plan) {
        map = qs_node_get(&doc->root, "plan", NULL);
    }
    qs_path_key(path, "stop");
    return qs_node_get(map, "stop", NULL);
}

static void check_rules(const struct check *k, const struct qs_farm_config *farm,
                        const struct qs_job_spec *spec)
{
    const char *names[QS_JOB_HOOKS_MAX], *all[QS_JOB_HOOKS_MAX];
    size_t seen = 0;
    QS_BUF(path);
    for (size_t set = 0; set < spec->condition_count && seen <= QS_JOB_HOOKS_MAX; set++) {
        const struct qs_node *stop = written_stop(k->doc, spec, set, &path);
        const struct qs_rule *rule = stop != NULL ? spec->conditions[set].enough.stop : NULL;
        seen = qs_stop_externals(rule, all, QS_JOB_HOOKS_MAX, seen);
        if (seen > QS_JOB_HOOKS_MAX)
            qs_problems_add(k->problems, k->doc, stop, path.data, NULL, "more than %d external rules",
                            QS_JOB_HOOKS_MAX);
        size_t count = qs_stop_externals(rule, names, QS_JOB_HOOKS_MAX, 0);
        for (size_t i = 0; i < count && i < QS_JOB_HOOKS_MAX; i++) {
            const struct qs_node *at = name_node(stop, names[i]);
            check_one(k, at != NULL ? at : stop, path.data, "rule", names[i], farm->rules, farm->rule_count);
        }
    }
}

/* Where a set writes its gate; made ones have that of another. */
static const struct qs_node *written_gate(const struct qs_doc *doc, size_t set)
{
    const struct qs_node *sets = qs_node_get(&doc->root, "condition_sets", NULL);
    const struct qs_node *map = set == 0 ? qs_node_get(&doc->root, "conditions", NULL)
                                : sets != NULL && set <= sets->count ? &sets->items[set - 1]
                                                                     : NULL;
    return qs_node_get(map, "gate", NULL);
}

static void check_ambient(const struct check *k, const struct qs_farm_config *farm,
                          const struct qs_job_spec *spec)
{
    for (size_t set = 0; set < spec->condition_count; set++) {
        const struct qs_node *gate = written_gate(k->doc, set);
        bool relative = false;
        for (size_t i = 0; gate != NULL && i < spec->conditions[set].gate_count; i++)
            relative = relative || spec->conditions[set].gate[i].lo_ambient ||
                       spec->conditions[set].gate[i].hi_ambient;
        if (relative && farm->ambient_count == 0)
            qs_problems_add(k->problems, k->doc, gate, "gate", "declare one in farm.yaml under `ambient`",
                            "this farm has no ambient sensor");
        else if (relative && k->virtual_time)
            qs_problems_add(k->problems, k->doc, gate, "gate", "write a temperature such as 38C",
                            "an ambient sensor is real, and has no place in virtual time");
    }
}

bool qs_farm_check_hooks(const struct qs_farm_config *farm, bool virtual_time, const struct qs_doc *doc,
                         const struct qs_job_spec *spec, struct qs_problems *problems)
{
    const struct check k = {doc, problems, virtual_time};
    const struct qs_node *list = qs_node_get(qs_node_get(&doc->root, "plan", NULL), "metrics", NULL);
    size_t before = problems->count;
    check_rules(&k, farm, spec);
    check_ambient(&k, farm, spec);
    for (size_t i = 0; i < spec->plan.metrics.count; i++)
        check_one(&k, list != NULL && i < list->count ? &list->items[i] : NULL, "plan.metrics", "metric",
                  spec->plan.metrics.at[i], farm->metrics, farm->metric_count);
    return problems->count == before;
}
