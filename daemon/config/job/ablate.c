#include "config/job/ablate.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/job/read.h"
#include "config/job/stop.h"

enum { ARMS_MAX = 100 };

/* ---- what can be left out ---- */

static size_t has_affinity(const struct qs_job_conditions *set)
{
    return set->controls.cpus[0] != '\0';
}

static void drop_affinity(struct qs_job_conditions *set, size_t i)
{
    (void)i;
    set->controls.cpus[0] = '\0';
}

static size_t has_frequency(const struct qs_job_conditions *set)
{
    size_t held = 0;
    for (size_t k = 0; k < QS_DOMAIN_KINDS; k++)
        held += set->controls.wishes.frequency[k].how != QS_WISH_FREE;
    return held > 0;
}

static void drop_frequency(struct qs_job_conditions *set, size_t i)
{
    (void)i;
    memset(set->controls.wishes.frequency, 0, sizeof(set->controls.wishes.frequency));
}

static size_t has_governor(const struct qs_job_conditions *set)
{
    size_t chosen = 0;
    for (size_t k = 0; k < QS_DOMAIN_KINDS; k++)
        chosen += set->controls.wishes.governor[k] != NULL;
    return chosen > 0;
}

static void drop_governor(struct qs_job_conditions *set, size_t i)
{
    (void)i;
    for (size_t k = 0; k < QS_DOMAIN_KINDS; k++) {
        free(set->controls.wishes.governor[k]);
        set->controls.wishes.governor[k] = NULL;
    }
}

static size_t has_online(const struct qs_job_conditions *set)
{
    return set->controls.wishes.online != NULL;
}

static void drop_online(struct qs_job_conditions *set, size_t i)
{
    (void)i;
    free(set->controls.wishes.online);
    set->controls.wishes.online = NULL;
}

static size_t has_boost(const struct qs_job_conditions *set)
{
    return set->controls.wishes.boost != QS_SWITCH_LEFT;
}

static void drop_boost(struct qs_job_conditions *set, size_t i)
{
    (void)i;
    set->controls.wishes.boost = QS_SWITCH_LEFT;
}

static size_t has_idle(const struct qs_job_conditions *set)
{
    return set->controls.wishes.idle;
}

static void drop_idle(struct qs_job_conditions *set, size_t i)
{
    (void)i;
    set->controls.wishes.idle = false;
}

static size_t has_switches(const struct qs_job_conditions *set)
{
    return set->controls.wishes.switch_count;
}

static const char *switch_name(const struct qs_job_conditions *set, size_t i)
{
    return set->controls.wishes.switches[i].of;
}

static void drop_switch(struct qs_job_conditions *set, size_t i)
{
    struct qs_wishes *w = &set->controls.wishes;
    free(w->switches[i].of);
    w->switch_count--;
    memmove(&w->switches[i], &w->switches[i + 1], (w->switch_count - i) * sizeof(*w->switches));
}

static size_t has_priority(const struct qs_job_conditions *set)
{
    return set->controls.start.sched != QS_SCHED_KEPT;
}

static void drop_priority(struct qs_job_conditions *set, size_t i)
{
    (void)i;
    set->controls.start = (struct qs_start){.flags = set->controls.start.flags};
}

static size_t has_aslr(const struct qs_job_conditions *set)
{
    return set->controls.start.flags != 0;
}

static void drop_aslr(struct qs_job_conditions *set, size_t i)
{
    (void)i;
    set->controls.start.flags = 0;
}

/* A line that waits for a return goes with the one before it. */
static size_t has_gate(const struct qs_job_conditions *set)
{
    size_t n = 0;
    for (size_t i = 0; i < set->gate_count; i++)
        n += !set->gate[i].returns;
    return n;
}

static size_t gate_line(const struct qs_job_conditions *set, size_t i)
{
    size_t at = 0;
    for (; set->gate[at].returns || i > 0; at++)
        i -= !set->gate[at].returns;
    return at;
}

static const char *gate_name(const struct qs_job_conditions *set, size_t i)
{
    return set->gate[gate_line(set, i)].sensor;
}

static void drop_gate(struct qs_job_conditions *set, size_t i)
{
    size_t at = gate_line(set, i);
    do {
        free(set->gate[at].sensor);
        set->gate_count--;
        memmove(&set->gate[at], &set->gate[at + 1], (set->gate_count - at) * sizeof(*set->gate));
    } while (at < set->gate_count && set->gate[at].returns);
}

static size_t has_bounds(const struct qs_job_conditions *set)
{
    return set->bound_count;
}

static const char *bound_name(const struct qs_job_conditions *set, size_t i)
{
    return set->bounds[i].kind;
}

static void drop_bound(struct qs_job_conditions *set, size_t i)
{
    free(set->bounds[i].kind);
    set->bound_count--;
    memmove(&set->bounds[i], &set->bounds[i + 1], (set->bound_count - i) * sizeof(*set->bounds));
}

/* The parts of a rule that joins some; of any other the rule. */
static size_t has_stop(const struct qs_job_conditions *set)
{
    const struct qs_rule *rule = set->enough.stop;
    bool joins = rule != NULL && rule->kind > QS_RULE_LEAVES - 1 && rule->kind != QS_RULE_NOT;
    return rule == NULL ? 0 : joins && rule->child_count > 1 ? rule->child_count : 1;
}

static const char *stop_name(const struct qs_job_conditions *set, size_t i)
{
    return qs_rule_row(set->enough.stop->child[i].kind)->name;
}

static void drop_stop(struct qs_job_conditions *set, size_t i)
{
    struct qs_rule *rule = set->enough.stop;
    if (has_stop(set) == 1) {
        qs_stop_free(rule);
        set->enough.stop = NULL;
        return;
    }
    qs_stop_done(&rule->child[i]);
    rule->child_count--;
    memmove(&rule->child[i], &rule->child[i + 1], (rule->child_count - i) * sizeof(*rule->child));
}

/* name: of one of several; where there is one alone, the part's word says enough. */
static const struct part {
    const char *word;
    size_t (*has)(const struct qs_job_conditions *set);
    void (*drop)(struct qs_job_conditions *set, size_t i);
    const char *(*name)(const struct qs_job_conditions *set, size_t i);
} parts[] = {{"affinity", has_affinity, drop_affinity, NULL},
             {"frequency", has_frequency, drop_frequency, NULL},
             {"governor", has_governor, drop_governor, NULL},
             {"online", has_online, drop_online, NULL},
             {"boost", has_boost, drop_boost, NULL},
             {"idle_states", has_idle, drop_idle, NULL},
             {"switch", has_switches, drop_switch, switch_name},
             {"priority", has_priority, drop_priority, NULL},
             {"aslr", has_aslr, drop_aslr, NULL},
             {"gate", has_gate, drop_gate, gate_name},
             {"bound", has_bounds, drop_bound, bound_name},
             {"stop", has_stop, drop_stop, stop_name}};
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

/* ---- arms ---- */

static size_t count_parts(const struct qs_job_conditions *set)
{
    size_t n = 0;
    for (size_t p = 0; p < PARTS; p++)
        n += parts[p].has(set);
    return n;
}

static char *name_of(const struct qs_job_conditions *set, const struct part *part, size_t i)
{
    if (part->has(set) == 1 || part->name == NULL)
        return qs_asprintf(QS_JOB_ABLATE_WITHOUT "%s", part->word);
    return qs_asprintf(QS_JOB_ABLATE_WITHOUT "%s %s", part->word, part->name(set, i));
}

static void add(struct qs_job_spec *spec, size_t base_set, const struct part *part, size_t i)
{
    const struct qs_job_conditions *full = &spec->conditions[base_set];
    struct qs_job_conditions *set = &spec->conditions[spec->condition_count];
    char *name = part != NULL ? name_of(full, part, i) : qs_strdup(QS_JOB_ABLATE_FULL);
    qs_job_conditions_copy(set, full);
    set->name = name;
    if (part != NULL)
        part->drop(set, i);
    struct qs_job_arm *arm = &spec->arms[spec->arm_count++];
    if (part != NULL)
        qs_job_arm_copy(arm, &spec->arms[0]);
    free(arm->name);
    arm->name = qs_strdup(name);
    arm->has_conditions = true;
    arm->conditions = spec->condition_count++;
}

/* The baseline becomes the first arm and the only one. */
static void keep_baseline(struct qs_job_spec *spec)
{
    struct qs_job_arm kept = spec->arms[spec->baseline];
    spec->arms[spec->baseline] = (struct qs_job_arm){0};
    for (size_t a = 0; a < spec->arm_count; a++)
        qs_job_arm_done(&spec->arms[a]);
    free(spec->arms);
    spec->arms = qs_calloc(ARMS_MAX, sizeof(*spec->arms));
    spec->arms[0] = kept;
    spec->arm_count = 0;
    spec->baseline = 0;
}

static bool fits(struct qs_schema_reader *r, const struct qs_node *at, const struct qs_job_spec *spec,
                 size_t set)
{
    size_t n = count_parts(&spec->conditions[set]);
    bool one_set = true;
    for (size_t p = 0; p < spec->point_count; p++)
        one_set = one_set && qs_job_conditions_index(spec, p, spec->baseline) == set;
    if (!one_set)
        qs_schema_problem(r, at, "give all benchmarks the same conditions",
                          "the benchmarks are measured under different conditions");
    else if (n == 0)
        qs_schema_problem(r, at, "give it controls, a gate, bounds or a stop rule",
                          "there is nothing in the job's conditions that could be left out");
    else if (n >= ARMS_MAX)
        qs_schema_problem(r, at, "write fewer", "the conditions have %zu parts, at most %d can be left out",
                          n, ARMS_MAX - 1);
    return one_set && n > 0 && n < ARMS_MAX;
}

bool qs_job_ablate(struct qs_schema_reader *r, const struct qs_node *root, struct qs_job_spec *spec)
{
    const struct qs_node *at = qs_node_get(root, "ablate", NULL);
    size_t base_set = qs_job_conditions_index(spec, 0, spec->baseline);
    size_t mark = qs_schema_enter(r, "ablate");
    bool ok = fits(r, at, spec, base_set);
    qs_schema_leave(r, mark);
    if (!ok)
        return false;
    size_t n = 1 + count_parts(&spec->conditions[base_set]);
    spec->conditions = qs_realloc(spec->conditions, (spec->condition_count + n) * sizeof(*spec->conditions));
    keep_baseline(spec);
    add(spec, base_set, NULL, 0);
    for (size_t p = 0; p < PARTS; p++)
        for (size_t i = 0; i < parts[p].has(&spec->conditions[base_set]); i++)
            add(spec, base_set, &parts[p], i);
    return true;
}

const char *qs_job_left_out(const struct qs_job_spec *spec, size_t arm)
{
    return spec->ablate && arm > 0 ? spec->arms[arm].name + strlen(QS_JOB_ABLATE_WITHOUT) : NULL;
}
