#include "config/job/stop.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

static void copy_into(struct qs_rule *to, const struct qs_rule *from)
{
    *to = *from;
    to->name = qs_strdup(from->name);
    to->child = from->child_count > 0 ? qs_calloc(from->child_count, sizeof(*to->child)) : NULL;
    for (size_t i = 0; i < from->child_count; i++)
        copy_into(&to->child[i], &from->child[i]);
}

struct qs_rule *qs_stop_copy(const struct qs_rule *rule)
{
    struct qs_rule *copy = qs_calloc(1, sizeof(*copy));
    copy_into(copy, rule);
    return copy;
}

void qs_stop_done(struct qs_rule *rule)
{
    for (size_t i = 0; i < rule->child_count; i++)
        qs_stop_done(&rule->child[i]);
    free(rule->child);
    free(rule->name);
    rule->name = NULL;
    rule->child = NULL;
    rule->child_count = 0;
}

void qs_stop_free(struct qs_rule *rule)
{
    if (rule == NULL)
        return;
    qs_stop_done(rule);
    free(rule);
}

static void find_externals(const struct qs_rule *rule, const char **names, size_t most, size_t *count)
{
    bool known = rule->kind != QS_RULE_EXTERNAL || rule->name == NULL;
    for (size_t i = 0; i < *count && i < most && !known; i++)
        known = strcmp(names[i], rule->name) == 0;
    if (!known && (*count)++ < most)
        names[*count - 1] = rule->name;
    for (size_t i = 0; i < rule->child_count; i++)
        find_externals(&rule->child[i], names, most, count);
}

size_t qs_stop_externals(const struct qs_rule *rule, const char **names, size_t most, size_t count)
{
    if (rule != NULL)
        find_externals(rule, names, most, &count);
    return count;
}

/* As a person writes it: "20", "500ms", "5%", "median". */
static void add_value(struct qs_buf *out, const struct qs_rule_arg *arg, double v)
{
    switch (arg->type) {
    case QS_ARG_DURATION:
        if (v >= 1e9)
            qs_buf_fmt(out, "%gs", v / 1e9);
        else
            qs_buf_fmt(out, "%gms", v / 1e6);
        break;
    case QS_ARG_RATIO:
        qs_buf_fmt(out, "%g%%", v * 100);
        break;
    case QS_ARG_WORD:
        qs_buf_str(out, arg->words[(size_t)v]);
        break;
    case QS_ARG_COUNT:
        qs_buf_fmt(out, "%.0f", v);
        break;
    case QS_ARG_NAME:
        qs_buf_str(out, "NAME");
        break;
    }
}

static void add_args(struct qs_buf *out, const struct qs_rule_row *row)
{
    for (size_t i = 0; i < QS_RULE_ARGS && row->args[i].name != NULL; i++) {
        const struct qs_rule_arg *arg = &row->args[i];
        qs_buf_fmt(out, "%s`%s: ", i > 0 ? "<br>" : "", arg->name);
        add_value(out, arg, arg->fallback);
        qs_buf_fmt(out, "` %s", arg->help);
        if (arg->type == QS_ARG_WORD) {
            qs_buf_str(out, " One of");
            for (size_t w = 0; arg->words[w] != NULL; w++)
                qs_buf_fmt(out, "%s `%s`", w > 0 ? "," : "", arg->words[w]);
            qs_buf_char(out, '.');
        }
    }
}

void qs_stop_reference(struct qs_buf *out)
{
    qs_buf_str(out, "| rule | it holds when | arguments with their defaults |\n|---|---|---|\n");
    for (int k = 0; k < QS_RULE_KINDS; k++) {
        const struct qs_rule_row *row = qs_rule_row((enum qs_rule_kind)k);
        qs_buf_fmt(out, "| `%s` | %s | ", row->name, row->help);
        add_args(out, row);
        qs_buf_str(out, k == QS_RULE_NOT      ? "a rule |\n"
                        : k >= QS_RULE_LEAVES ? "a list of rules |\n"
                                              : " |\n");
    }
    qs_buf_str(out, "\n| preset | what it is | as a rule |\n|---|---|---|\n");
    for (size_t i = 0; i < QS_PRESETS; i++) {
        char text[256];
        qs_rule_text(&qs_presets[i].rule, text, sizeof(text));
        qs_buf_fmt(out, "| `%s` | %s | %s |\n", qs_presets[i].name, qs_presets[i].help, text);
    }
}

static void put_args(struct qs_json *j, const struct qs_rule *rule)
{
    const struct qs_rule_row *row = qs_rule_row(rule->kind);
    qs_json_object(j);
    for (size_t i = 0; i < QS_RULE_ARGS && row->args[i].name != NULL; i++) {
        const struct qs_rule_arg *arg = &row->args[i];
        if (arg->type == QS_ARG_NAME)
            qs_json_kstring(j, arg->name, rule->name);
        else if (arg->type == QS_ARG_WORD)
            qs_json_kstring(j, arg->name, arg->words[(size_t)rule->arg[i]]);
        else
            qs_json_kdouble(j, arg->name, rule->arg[i]);
    }
    qs_json_object_end(j);
}

void qs_stop_put(struct qs_json *j, const struct qs_rule *rule)
{
    if (rule == NULL) {
        qs_json_null(j);
        return;
    }
    qs_json_object(j);
    qs_json_key(j, qs_rule_row(rule->kind)->name);
    if (rule->kind < QS_RULE_LEAVES) {
        put_args(j, rule);
    } else {
        qs_json_array(j);
        for (size_t i = 0; i < rule->child_count; i++)
            qs_stop_put(j, &rule->child[i]);
        qs_json_array_end(j);
    }
    qs_json_object_end(j);
}

void qs_stop_json_ref(struct qs_json *j)
{
    qs_json_kstring(j, "$ref", "#/properties/plan/properties/stop");
}

static void add_ref(struct qs_json *j)
{
    qs_json_object(j);
    qs_stop_json_ref(j);
    qs_json_object_end(j);
}

static void add_leaf(struct qs_json *j, const struct qs_rule_row *row)
{
    static const char *const types[] = {"object", "string", "integer"};
    qs_json_karray(j, "type");
    for (size_t i = 0; i < 3; i++)
        qs_json_string(j, types[i]);
    qs_json_array_end(j);
    qs_json_kbool(j, "additionalProperties", false);
    qs_json_kobject(j, "properties");
    for (size_t i = 0; i < QS_RULE_ARGS && row->args[i].name != NULL; i++) {
        qs_json_kobject(j, row->args[i].name);
        qs_json_kstring(j, "description", row->args[i].help);
        qs_json_object_end(j);
    }
    qs_json_object_end(j);
}

static void add_rule(struct qs_json *j, enum qs_rule_kind kind)
{
    const struct qs_rule_row *row = qs_rule_row(kind);
    qs_json_key(j, row->name);
    if (kind == QS_RULE_NOT) {
        add_ref(j);
        return;
    }
    qs_json_object(j);
    qs_json_kstring(j, "description", row->help);
    if (kind < QS_RULE_LEAVES) {
        add_leaf(j, row);
    } else {
        qs_json_kstring(j, "type", "array");
        qs_json_kint(j, "minItems", 1);
        qs_json_key(j, "items");
        add_ref(j);
    }
    qs_json_object_end(j);
}

void qs_stop_json_schema(struct qs_json *j)
{
    qs_json_karray(j, "oneOf");
    qs_json_object(j);
    qs_json_karray(j, "enum");
    for (size_t i = 0; i < QS_PRESETS; i++)
        qs_json_string(j, qs_presets[i].name);
    for (int k = 0; k < QS_RULE_LEAVES; k++)
        if (k != QS_RULE_EXTERNAL)
            qs_json_string(j, qs_rule_row((enum qs_rule_kind)k)->name);
    qs_json_array_end(j);
    qs_json_object_end(j);
    qs_json_object(j);
    qs_json_kstring(j, "type", "object");
    qs_json_kint(j, "minProperties", 1);
    qs_json_kint(j, "maxProperties", 1);
    qs_json_kbool(j, "additionalProperties", false);
    qs_json_kobject(j, "properties");
    for (int k = 0; k < QS_RULE_KINDS; k++)
        add_rule(j, (enum qs_rule_kind)k);
    qs_json_object_end(j);
    qs_json_object_end(j);
    qs_json_array_end(j);
}
