/* plan.stop: presets by name, rules by the rows of stats/rule.h, and how they are joined. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/job/read.h"
#include "config/job/stop.h"

enum { RULES_MAX = 32, LEVELS_MAX = 8, WORDS_MAX = QS_PRESETS + QS_RULE_KINDS, CHOICES_MAX = 8 };

struct value { /* one argument as the tables of keys read it */
    uint32_t count;
    double ratio;
    int64_t duration_ns;
    unsigned word;
    char *name; /* owned until it is the rule's */
};

struct room { /* for what is still to be read */
    unsigned rules, levels;
};

struct leaf_keys { /* the arguments of a rule as keys of a map */
    struct qs_key keys[QS_RULE_ARGS + 1];
    struct qs_word words[QS_RULE_ARGS][CHOICES_MAX + 1];
    struct value values[QS_RULE_ARGS];
};

static void key_of(struct leaf_keys *l, size_t i, const struct qs_rule_arg *arg)
{
    struct qs_key *key = &l->keys[i];
    size_t at = offsetof(struct leaf_keys, values) + i * sizeof(struct value);
    *key = (struct qs_key){
        .name = arg->name, .help = arg->help, .min = (int64_t)arg->min, .max = (int64_t)arg->max};
    switch (arg->type) {
    case QS_ARG_COUNT:
        key->type = QS_KEY_U32;
        key->offset = at + offsetof(struct value, count);
        break;
    case QS_ARG_DURATION:
        key->type = QS_KEY_DURATION;
        key->offset = at + offsetof(struct value, duration_ns);
        break;
    case QS_ARG_RATIO:
        key->type = QS_KEY_RATIO;
        key->offset = at + offsetof(struct value, ratio);
        key->min = (int64_t)(arg->min * 1e6 + 0.5);
        key->max = (int64_t)(arg->max * 1e6 + 0.5);
        break;
    case QS_ARG_WORD:
        key->type = QS_KEY_ENUM;
        key->offset = at + offsetof(struct value, word);
        for (unsigned w = 0; arg->words != NULL && arg->words[w] != NULL && w < CHOICES_MAX; w++)
            l->words[i][w] = (struct qs_word){arg->words[w], w};
        key->words = l->words[i];
        key->min = key->max = 0;
        break;
    case QS_ARG_NAME:
        key->type = QS_KEY_NAME;
        key->offset = at + offsetof(struct value, name);
        break;
    }
}

static double value_of(const struct value *v, enum qs_rule_arg_type type)
{
    switch (type) {
    case QS_ARG_COUNT:
        return v->count;
    case QS_ARG_DURATION:
        return (double)v->duration_ns;
    case QS_ARG_RATIO:
        return v->ratio;
    case QS_ARG_WORD:
        return v->word;
    case QS_ARG_NAME:
        break;
    }
    return 0;
}

/* `{fixed: 50}` gives the one argument that has no name; `{stable: {least: 50}}` names them. */
static void read_leaf(struct qs_schema_reader *r, const struct qs_node *node, struct qs_rule *rule)
{
    const struct qs_rule_row *row = qs_rule_row(rule->kind);
    struct leaf_keys l = {0};
    size_t n = 0, before = r->count;
    for (; n < QS_RULE_ARGS && row->args[n].name != NULL; n++)
        key_of(&l, n, &row->args[n]);
    bool bare = node->kind != QS_NODE_MAP && n == 1;
    if (bare)
        qs_schema_value(r, &l.keys[0], node, &l);
    else if (qs_schema_is(r, node, QS_NODE_MAP, "a map of arguments"))
        qs_schema_map(r, &(struct qs_table){.keys = l.keys}, node, &l);
    for (size_t i = 0; i < n && r->count == before; i++) {
        if (bare || qs_node_get(node, row->args[i].name, NULL) != NULL)
            rule->arg[i] = value_of(&l.values[i], row->args[i].type);
    }
    if (rule->kind != QS_RULE_EXTERNAL)
        return;
    rule->name = l.values[0].name;
    if (rule->name == NULL && r->count == before)
        qs_schema_problem(r, node, "write {external: NAME}", "the name of the rule is missing");
}

static void read_rule(struct qs_schema_reader *r, const struct qs_node *node, struct qs_rule *rule,
                      struct room *left);

static void read_joined(struct qs_schema_reader *r, const struct qs_node *node, struct qs_rule *rule,
                        struct room *left)
{
    if (!qs_schema_is(r, node, QS_NODE_LIST, "a list of rules"))
        return;
    if (node->count == 0 || node->count > left->rules) {
        qs_schema_problem(r, node, NULL, "%s", node->count == 0 ? "no rule here" : "too many rules");
        return;
    }
    rule->child = qs_calloc(node->count, sizeof(*rule->child));
    for (size_t i = 0; i < node->count; i++) {
        size_t mark = qs_schema_enter_index(r, i);
        read_rule(r, &node->items[i], &rule->child[rule->child_count++], left);
        qs_schema_leave(r, mark);
    }
}

static void unknown(struct qs_schema_reader *r, const struct qs_node *at, const char *what, bool presets)
{
    const char *words[WORDS_MAX];
    size_t n = 0;
    for (size_t i = 0; presets && i < QS_PRESETS; i++)
        words[n++] = qs_presets[i].name;
    for (int k = 0; k < QS_RULE_KINDS; k++)
        words[n++] = qs_rule_row((enum qs_rule_kind)k)->name;
    QS_BUF(out);
    qs_schema_suggest(&out, at->text, presets ? "the presets and rules are" : "the rules are", words, n);
    qs_schema_problem(r, at, out.data, "unknown %s", what);
}

/* A preset, or a rule with nothing but its defaults. */
static void read_word(struct qs_schema_reader *r, const struct qs_node *node, struct qs_rule *rule)
{
    enum qs_rule_kind kind;
    for (size_t i = 0; i < QS_PRESETS; i++) {
        if (strcmp(qs_presets[i].name, node->text) == 0) {
            QS_FREED struct qs_rule *copy = qs_stop_copy(&qs_presets[i].rule);
            *rule = *copy;
            return;
        }
    }
    if (!qs_rule_find(node->text, &kind))
        unknown(r, node, "preset or rule", true);
    else if (kind >= QS_RULE_LEAVES || kind == QS_RULE_EXTERNAL)
        qs_schema_problem(r, node, NULL, "`%s` is not a rule by itself", node->text);
    else
        *rule = qs_rule_default(kind);
}

static void read_map(struct qs_schema_reader *r, const struct qs_node *node, struct qs_rule *rule,
                     struct room *left)
{
    enum qs_rule_kind kind;
    if (node->count != 1) {
        qs_schema_problem(r, node, "join rules as {any: [...]} or {all: [...]}",
                          "a rule has exactly one key, this has %zu", node->count);
        return;
    }
    size_t mark = qs_schema_enter(r, node->keys[0].text);
    if (!qs_rule_find(node->keys[0].text, &kind)) {
        unknown(r, &node->keys[0], "rule", false);
    } else if (kind < QS_RULE_LEAVES) {
        *rule = qs_rule_default(kind);
        read_leaf(r, &node->items[0], rule);
    } else {
        rule->kind = kind;
        if (kind == QS_RULE_NOT) {
            rule->child = qs_calloc(1, sizeof(*rule->child));
            rule->child_count = 1;
            read_rule(r, &node->items[0], rule->child, left);
        } else {
            read_joined(r, &node->items[0], rule, left);
        }
    }
    qs_schema_leave(r, mark);
}

static void read_rule(struct qs_schema_reader *r, const struct qs_node *node, struct qs_rule *rule,
                      struct room *left)
{
    if (left->rules == 0)
        return;
    if (left->levels == 0) {
        qs_schema_problem(r, node, NULL, "rules inside of rules, more than %d deep", LEVELS_MAX);
        return;
    }
    left->rules--;
    left->levels--;
    if (node->kind == QS_NODE_TEXT)
        read_word(r, node, rule);
    else if (qs_schema_is(r, node, QS_NODE_MAP, "a preset such as standard, or a rule such as {fixed: 50}"))
        read_map(r, node, rule, left);
    left->levels++;
}

void qs_job_read_stop(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at)
{
    (void)key;
    struct qs_job_enough *enough = at;
    struct room left = {RULES_MAX, LEVELS_MAX};
    size_t before = r->count;
    enough->stop = qs_calloc(1, sizeof(*enough->stop));
    read_rule(r, node, enough->stop, &left);
    if (left.rules == 0 && r->count == before)
        qs_schema_problem(r, node, NULL, "more than %d rules", RULES_MAX - 1);
}

/* A rule that a cap keeps from ever holding, or NULL; below not and xor it may be meant so. */
static const struct qs_rule *unreachable(const struct qs_rule *rule, const struct qs_job_enough *enough)
{
    bool late = (rule->kind == QS_RULE_FIXED && rule->arg[0] > enough->cap_iterations) ||
                (rule->kind == QS_RULE_TIME && rule->arg[0] > (double)enough->cap_time_ns);
    if (late || (rule->kind != QS_RULE_ANY && rule->kind != QS_RULE_ALL))
        return late ? rule : NULL;
    for (size_t i = 0; i < rule->child_count; i++) {
        const struct qs_rule *found = unreachable(&rule->child[i], enough);
        if (found != NULL)
            return found;
    }
    return NULL;
}

void qs_job_check_stop(struct qs_schema_reader *r, const struct qs_node *map,
                       const struct qs_job_enough *enough)
{
    const struct qs_rule *late = enough->stop != NULL ? unreachable(enough->stop, enough) : NULL;
    if (late == NULL)
        return;
    char text[64];
    qs_rule_text(late, text, sizeof(text));
    size_t mark = qs_schema_enter(r, "stop");
    bool iterations = late->kind == QS_RULE_FIXED;
    const struct qs_node *stop = qs_node_get(map, "stop", NULL);
    qs_schema_problem(r, stop != NULL ? stop : map,
                      iterations ? "raise `caps.iterations`" : "raise `caps.time`",
                      "%s cannot hold: a cap ends the run before", text);
    qs_schema_leave(r, mark);
}
