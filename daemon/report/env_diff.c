#include "report/env_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/job/env.h"
#include "report/conditions.h"
#include "report/env_facts.h"
#include "report/variables.h"

/* An app as the device has it: what is compared may be its versions. */
#define APP "achieved.app "

/* Last part of a key. */
static const struct {
    const char *key;
    enum qs_env_class class;
} classes[] = {
    {"agent", QS_ENV_INSTRUMENT},
    {"agent_sha256", QS_ENV_INSTRUMENT},
    {"quiesced", QS_ENV_INSTRUMENT},
    {"capabilities", QS_ENV_NOTED},
    {"cgroup", QS_ENV_NOTED},
    {"memory_bytes", QS_ENV_NOTED}, /* a few pages more or less each boot */
    {"spool", QS_ENV_NOTED},
    {"variables_bytes", QS_ENV_NOTED}, /* moves the stack, as does the path of the program */
};

enum qs_env_class qs_env_class_of(const char *key, const struct qs_farm_variables *of_farm)
{
    const char *variable = qs_env_variable(key);
    if (variable)
        return qs_variable_class(variable, of_farm);
    if (strncmp(key, QS_CONDITIONS_EFFORT, sizeof QS_CONDITIONS_EFFORT - 1) == 0 ||
        strcmp(key, QS_CONDITIONS_SET) == 0 || strncmp(key, "actions.", sizeof "actions." - 1) == 0 ||
        strncmp(key, APP, sizeof APP - 1) == 0)
        return QS_ENV_NOTED;
    const char *dot = strrchr(key, '.');
    const char *last = dot ? dot + 1 : key;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(classes[i].key, last) == 0)
            return classes[i].class;
    return QS_ENV_MACHINE;
}

const char *qs_env_class_name(enum qs_env_class class)
{
    static const char *const names[] = {"machine", "instrument", "noted", "recorded"};
    return names[class];
}

void qs_env_diff_add(struct qs_env_diff *diff, const char *key, const char *base, const char *cand,
                     enum qs_env_class class)
{
    if ((!base && !cand) || (base && cand && strcmp(base, cand) == 0))
        return;
    diff->at = qs_grow(diff->at, diff->count, sizeof *diff->at);
    diff->at[diff->count++] = (struct qs_env_change){.key = qs_strdup(key),
                                                     .base = base ? qs_strdup(base) : NULL,
                                                     .cand = cand ? qs_strdup(cand) : NULL,
                                                     .class = class};
}

/* Of variables those that may matter, where both sides know theirs. */
static bool is_told(const char *key, enum qs_env_class class, const struct qs_env_facts *base,
                    const struct qs_env_facts *cand)
{
    return !qs_env_variable(key) || (base->has_variables && cand->has_variables && class != QS_ENV_RECORDED);
}

/* Both lists ascend by key. */
static void merge(struct qs_env_diff *diff, const struct qs_env_facts *base, const struct qs_env_facts *cand,
                  const struct qs_farm_variables *of_farm)
{
    size_t i = 0, j = 0;
    while (i < base->count || j < cand->count) {
        int order = i == base->count ? 1 : j == cand->count ? -1 : strcmp(base->at[i].key, cand->at[j].key);
        const struct qs_env_fact *x = order <= 0 ? &base->at[i++] : NULL,
                                 *y = order >= 0 ? &cand->at[j++] : NULL;
        const char *key = x ? x->key : y->key;
        enum qs_env_class class = qs_env_class_of(key, of_farm);
        if (is_told(key, class, base, cand))
            qs_env_diff_add(diff, key, x ? x->value : NULL, y ? y->value : NULL, class);
    }
}

bool qs_env_diff(const char *base_json, const char *cand_json, const struct qs_farm_variables *of_farm,
                 struct qs_env_diff *ret, struct qs_err *err)
{
    struct qs_env_facts base = {0}, cand = {0};
    *ret = (struct qs_env_diff){.known = base_json && cand_json};
    if (!ret->known)
        return true;
    bool ok = qs_env_facts_read(base_json, &base, err) && qs_env_facts_read(cand_json, &cand, err);
    if (ok)
        merge(ret, &base, &cand, of_farm);
    qs_env_facts_done(&base);
    qs_env_facts_done(&cand);
    return ok;
}

static void change_free(struct qs_env_change *c)
{
    free(c->key);
    free(c->base);
    free(c->cand);
}

static void leave_inherited(char **value, const struct qs_env_processes *of, const char *name)
{
    if (!*value || !of->spec || qs_job_inherits(of->spec, of->arm, of->point, name))
        return;
    free(*value);
    *value = NULL;
}

void qs_env_diff_inherited(struct qs_env_diff *diff, const struct qs_env_processes *base,
                           const struct qs_env_processes *cand)
{
    size_t kept = 0;
    for (size_t i = 0; i < diff->count; i++) {
        struct qs_env_change *c = &diff->at[i];
        const char *name = qs_env_variable(c->key);
        if (name) {
            leave_inherited(&c->base, base, name);
            leave_inherited(&c->cand, cand, name);
        }
        if (c->base || c->cand)
            diff->at[kept++] = *c;
        else
            change_free(c);
    }
    diff->count = kept;
}

bool qs_env_diff_join(struct qs_env_diff *diff, const char *name, const char *base, const char *cand,
                      enum qs_env_class class)
{
    for (size_t i = 0; i < diff->count; i++) {
        struct qs_env_change old = diff->at[i];
        const char *inherited = qs_env_variable(old.key);
        if (!inherited || strcmp(inherited, name) != 0 || (base && old.base) || (cand && old.cand))
            continue;
        diff->count--;
        memmove(&diff->at[i], &diff->at[i + 1], (diff->count - i) * sizeof old);
        qs_env_diff_add(diff, old.key, base ? base : old.base, cand ? cand : old.cand, class);
        change_free(&old);
        return true;
    }
    return false;
}

void qs_env_diff_free(struct qs_env_diff *diff)
{
    for (size_t i = 0; i < diff->count; i++)
        change_free(&diff->at[i]);
    free(diff->at);
    *diff = (struct qs_env_diff){0};
}

bool qs_env_matters(enum qs_env_class class)
{
    return class == QS_ENV_MACHINE || class == QS_ENV_INSTRUMENT;
}

size_t qs_env_diff_matters(const struct qs_env_diff *diff)
{
    size_t count = 0;
    for (size_t i = 0; i < diff->count; i++)
        count += qs_env_matters(diff->at[i].class);
    return count;
}

struct difference {
    const char *key, *base, *candidate, *class;
    bool matters;
};
static const char *const class_words[] = {"machine", "instrument", "noted", NULL};
static const struct qs_field difference_rows[] = {
    QS_ROW(difference, key, TEXT, "conditions.gate.SENSOR, governors, kernel, command, executable, ...",
           .known = true),
    QS_ROW(difference, base, TEXT, "what it was; null: not there"),
    QS_ROW(difference, candidate, TEXT, "what it is; null: not there"),
    QS_ROW(difference, class, TEXT, "what it may do to a comparison", .words = class_words),
    QS_ROW(difference, matters, BOOL, "false for noted: it breaks no series"),
    {.name = NULL}};
const struct qs_field qs_env_told_rows[] = {QS_ROW(qs_env_told, differences, OBJECTS, "what is different",
                                                   .of = difference_rows, .bytes = sizeof(struct difference)),
                                            {.name = NULL}};

struct qs_env_told qs_env_diff_told(const struct qs_env_diff *diff)
{
    struct difference *told = qs_calloc(diff->count, sizeof *told);
    for (size_t i = 0; i < diff->count; i++) {
        const struct qs_env_change *c = &diff->at[i];
        told[i] = (struct difference){c->key, c->base, c->cand, qs_env_class_name(c->class),
                                      qs_env_matters(c->class)};
    }
    return (struct qs_env_told){{told, diff->count}};
}
