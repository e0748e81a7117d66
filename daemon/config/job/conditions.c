/* Sets of conditions: whose they are, who refers to which, and what a named one takes from the job's own. */
#include "config/job/conditions.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/document/scalar.h"
#include "config/job/read.h"
#include "config/job/stop.h"

void qs_job_conditions_done(struct qs_job_conditions *set)
{
    for (size_t i = 0; i < set->gate_count; i++)
        free(set->gate[i].sensor);
    for (size_t i = 0; i < set->bound_count; i++)
        free(set->bounds[i].kind);
    free(set->gate);
    free(set->bounds);
    free(set->controls.cpus);
    qs_wishes_done(&set->controls.wishes);
    qs_job_app_done(&set->app);
    free(set->name);
    qs_stop_free(set->enough.stop);
    *set = (struct qs_job_conditions){0};
}

size_t qs_job_conditions_index(const struct qs_job_spec *spec, size_t point, size_t arm)
{
    const struct qs_job_arm *a = &spec->arms[arm];
    return a->has_conditions ? a->conditions : spec->points[point].conditions;
}

const struct qs_job_conditions *qs_job_conditions(const struct qs_job_spec *spec, size_t point, size_t arm)
{
    return &spec->conditions[qs_job_conditions_index(spec, point, arm)];
}

static bool is_in_use(const struct qs_job_spec *spec, size_t set)
{
    bool by_point = false;
    for (size_t a = 0; a < spec->arm_count; a++) {
        if (spec->arms[a].has_conditions && spec->arms[a].conditions == set)
            return true;
        by_point = by_point || !spec->arms[a].has_conditions;
    }
    for (size_t i = 0; by_point && i < spec->benchmark_count; i++)
        if (spec->benchmarks[i].conditions == set)
            return true;
    return false;
}

size_t qs_job_next_set(const struct qs_job_spec *spec, size_t from)
{
    while (from < spec->condition_count && !is_in_use(spec, from))
        from++;
    return from;
}

uint32_t qs_job_repeats(const struct qs_job_spec *spec, size_t point)
{
    uint32_t most = 0;
    for (size_t a = 0; a < spec->arm_count; a++) {
        uint32_t repeats = qs_job_conditions(spec, point, a)->repeat_tainted;
        most = repeats > most ? repeats : most;
    }
    return most;
}

size_t qs_job_externals(const struct qs_job_spec *spec, const char **names, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < spec->condition_count; i++)
        count = qs_stop_externals(spec->conditions[i].enough.stop, names, most, count);
    return count;
}

/* --- what a set takes from the job's own --- */

static void copy_cpus(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    free(set->controls.cpus);
    set->controls.cpus = qs_strdup(own->controls.cpus);
}

static void copy_frequency(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    struct qs_wishes *wishes = &set->controls.wishes;
    const struct qs_wishes *from = &own->controls.wishes;
    memcpy(wishes->frequency, from->frequency, sizeof(wishes->frequency));
    wishes->sweep = qs_calloc(from->sweep_count + 1, sizeof(*wishes->sweep));
    for (; wishes->sweep_count < from->sweep_count; wishes->sweep_count++)
        wishes->sweep[wishes->sweep_count] = from->sweep[wishes->sweep_count];
    wishes->sweep_of = from->sweep_of;
}

static void copy_governor(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    for (size_t k = 0; k < QS_DOMAIN_KINDS; k++)
        set->controls.wishes.governor[k] = qs_strdup(own->controls.wishes.governor[k]);
}

static void copy_online(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    set->controls.wishes.online = qs_strdup(own->controls.wishes.online);
}

static void copy_boost(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    set->controls.wishes.boost = own->controls.wishes.boost;
}

static void copy_idle(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    set->controls.wishes.idle = own->controls.wishes.idle;
    set->controls.wishes.idle_deepest = own->controls.wishes.idle_deepest;
}

static void copy_switches(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    const struct qs_wishes *from = &own->controls.wishes;
    struct qs_wishes *to = &set->controls.wishes;
    to->switches = qs_calloc(from->switch_count + 1, sizeof(*to->switches));
    for (; to->switch_count < from->switch_count; to->switch_count++) {
        to->switches[to->switch_count] = from->switches[to->switch_count];
        to->switches[to->switch_count].of = qs_strdup(from->switches[to->switch_count].of);
    }
}

static void copy_priority(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    set->controls.start.sched = own->controls.start.sched;
    set->controls.start.value = own->controls.start.value;
}

static void copy_aslr(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    set->controls.start.flags = own->controls.start.flags;
}

static void copy_trip(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    set->trip_mc = own->trip_mc;
}

static void copy_app(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    qs_job_app_copy(&set->app, &own->app);
}

static void copy_gate(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    set->gate = qs_calloc(own->gate_count, sizeof(*set->gate));
    set->gate_count = own->gate_count;
    for (size_t i = 0; i < own->gate_count; i++) {
        set->gate[i] = own->gate[i];
        set->gate[i].sensor = qs_strdup(own->gate[i].sensor);
    }
}

static void copy_bounds(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    set->bounds = qs_calloc(own->bound_count, sizeof(*set->bounds));
    set->bound_count = own->bound_count;
    for (size_t i = 0; i < own->bound_count; i++)
        set->bounds[i] = (struct qs_job_bound){qs_strdup(own->bounds[i].kind), own->bounds[i].bound};
}

static void copy_patience(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    set->patience_ns = own->patience_ns;
}

static void copy_repeats(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    set->repeat_tainted = own->repeat_tainted;
}

static void copy_stop(struct qs_job_conditions *set, const struct qs_job_conditions *own)
{
    set->enough.stop = own->enough.stop != NULL ? qs_stop_copy(own->enough.stop) : NULL;
}

static const struct {
    const char *key;
    void (*copy)(struct qs_job_conditions *set, const struct qs_job_conditions *own);
} parts[] = {{"affinity", copy_cpus},
             {"frequency", copy_frequency},
             {"governor", copy_governor},
             {"online", copy_online},
             {"boost", copy_boost},
             {"idle_states", copy_idle},
             {"switches", copy_switches},
             {"priority", copy_priority},
             {"aslr", copy_aslr},
             {"trip", copy_trip},
             {"app", copy_app},
             {"gate", copy_gate},
             {"bounds", copy_bounds},
             {"patience", copy_patience},
             {"repeat_tainted", copy_repeats},
             {"stop", copy_stop}};

void qs_job_conditions_copy(struct qs_job_conditions *to, const struct qs_job_conditions *from)
{
    *to = (struct qs_job_conditions){0};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        parts[i].copy(to, from);
    to->enough.cap_time_ns = from->enough.cap_time_ns;
    to->enough.cap_iterations = from->enough.cap_iterations;
}

static void inherit(struct qs_job_conditions *set, const struct qs_job_conditions *own,
                    const struct qs_node *written)
{
    const struct qs_node *caps = qs_node_get(written, "caps", NULL);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (qs_node_get(written, parts[i].key, NULL) == NULL)
            parts[i].copy(set, own);
    if (qs_node_get(caps, "time", NULL) == NULL)
        set->enough.cap_time_ns = own->enough.cap_time_ns;
    if (qs_node_get(caps, "iterations", NULL) == NULL)
        set->enough.cap_iterations = own->enough.cap_iterations;
}

/* `plan` says for all runs when one has enough, unless the job's own conditions do. */
static void take_plan(struct qs_job_draft *draft, const struct qs_node *written)
{
    struct qs_job_enough *own = &draft->spec.conditions[0].enough;
    if (qs_node_get(written, "stop", NULL) == NULL) {
        own->stop = draft->enough.stop;
        draft->enough.stop = NULL;
    }
    if (qs_node_get(written, "caps", NULL) == NULL) {
        own->cap_time_ns = draft->enough.cap_time_ns;
        own->cap_iterations = draft->enough.cap_iterations;
    }
}

/* A frequency that is waited for, as a gate that marks is. */
static bool holds(const struct qs_wishes *wishes)
{
    bool any = qs_wishes_warm(wishes);
    for (size_t i = 0; i < wishes->sweep_count; i++)
        any = any || wishes->sweep[i].how == QS_WISH_HOLD;
    return any;
}

/* A neighbour that comes and goes is given the full wait so often; one that stays costs two full waits. */
static void fill_patience(struct qs_job_conditions *set)
{
    enum { TIMEOUTS = 4 };
    int64_t longest_ns = holds(&set->controls.wishes) ? QS_JOB_HOLD_NS : 0;
    for (size_t i = 0; i < set->gate_count; i++)
        if (set->gate[i].on_timeout == QS_ON_TIMEOUT_TAINT && set->gate[i].timeout_ns > longest_ns)
            longest_ns = set->gate[i].timeout_ns;
    if (set->patience_ns == 0)
        set->patience_ns = TIMEOUTS * longest_ns;
}

void qs_job_sets_fill(struct qs_schema_reader *r, const struct qs_node *root, struct qs_job_draft *draft)
{
    struct qs_job_spec *spec = &draft->spec;
    const struct qs_node *own = qs_node_get(root, "conditions", NULL);
    const struct qs_node *sets = qs_node_get(root, "condition_sets", NULL);
    take_plan(draft, own);
    qs_job_default_conditions(spec, own);
    bool of_plan = qs_node_get(own, "stop", NULL) == NULL;
    size_t mark = qs_schema_enter(r, of_plan ? "plan" : "conditions");
    qs_job_check_stop(r, of_plan ? qs_node_get(root, "plan", NULL) : own, &spec->conditions[0].enough);
    qs_schema_leave(r, mark);
    for (size_t i = 1; i < spec->condition_count; i++) {
        const struct qs_node *written = &sets->items[i - 1];
        inherit(&spec->conditions[i], &spec->conditions[0], written);
        mark = qs_schema_enter(r, "condition_sets");
        qs_schema_enter(r, spec->conditions[i].name);
        qs_job_check_stop(r, written, &spec->conditions[i].enough);
        qs_schema_leave(r, mark);
    }
    for (size_t i = 0; i < spec->condition_count; i++)
        fill_patience(&spec->conditions[i]);
}

/* --- who refers to which --- */

void qs_job_sets_begin(struct qs_job_draft *draft)
{
    struct qs_job_spec *spec = &draft->spec;
    spec->condition_count = 1 + draft->set_count;
    spec->conditions = qs_calloc(spec->condition_count, sizeof(*spec->conditions));
    spec->conditions[0] = draft->own;
    spec->conditions[0].name = qs_strdup(QS_JOB_CONDITIONS_OWN);
    for (size_t i = 0; i < draft->set_count; i++)
        spec->conditions[1 + i] = draft->sets[i];
    free(draft->sets);
    draft->sets = NULL;
}

void qs_job_read_conditions_name(struct qs_schema_reader *r, const struct qs_key *key,
                                 const struct qs_node *node, void *at)
{
    (void)key;
    (void)at;
    if (node->kind == QS_NODE_MAP)
        qs_schema_problem(r, node, "give them a name in `condition_sets`, and write the name here",
                          "expected the name of conditions, found a map");
    else
        (void)qs_schema_text(r, node, "the name of conditions");
}

static void unknown_set(struct qs_schema_reader *r, const struct qs_job_spec *spec, const struct qs_node *at)
{
    const char *names[QS_JOB_CONDITION_SETS_MAX + 1];
    size_t count = 0;
    for (size_t i = 0; i < spec->condition_count; i++)
        if (spec->conditions[i].name != NULL)
            names[count++] = spec->conditions[i].name;
    QS_BUF(out);
    if (count > 1)
        qs_schema_suggest(&out, at->text, "the conditions are", names, count);
    else
        qs_buf_str(&out, "this job has no `condition_sets`");
    qs_schema_problem(r, at, out.data, "no conditions have the name `%s`", qs_show(at->text).text);
}

/* The set that the map of an arm or benchmark names. */
static bool find_set(struct qs_schema_reader *r, const struct qs_job_spec *spec, const struct qs_node *map,
                     size_t *ret)
{
    const struct qs_node *name = qs_node_get(map, "conditions", NULL);
    if (name == NULL || name->kind != QS_NODE_TEXT)
        return false;
    for (*ret = 0; *ret < spec->condition_count; ++*ret)
        if (spec->conditions[*ret].name != NULL && strcmp(spec->conditions[*ret].name, name->text) == 0)
            return true;
    size_t mark = qs_schema_enter(r, "conditions");
    unknown_set(r, spec, name);
    qs_schema_leave(r, mark);
    return false;
}

/* Marks the sets that are used. */
static void refer(struct qs_schema_reader *r, const struct qs_node *root, struct qs_job_spec *spec,
                  bool *used)
{
    const struct qs_node *list = qs_node_get(root, "benchmarks", NULL);
    const struct qs_node *arms = qs_node_get(root, "arms", NULL);
    size_t mark = qs_schema_enter(r, "benchmarks"), set = 0;
    for (size_t i = 0; list != NULL && i < spec->benchmark_count; i++) {
        size_t inner = qs_schema_enter_index(r, i);
        if (find_set(r, spec, &list->items[i], &set)) {
            spec->benchmarks[i].conditions = set;
            used[set] = true;
        }
        qs_schema_leave(r, inner);
    }
    qs_schema_leave(r, mark);
    mark = qs_schema_enter(r, "arms");
    for (size_t i = 0; arms != NULL && i < spec->arm_count; i++) {
        size_t inner = qs_schema_enter(r, arms->keys[i].text);
        spec->arms[i].has_conditions = find_set(r, spec, &arms->items[i], &set);
        if (spec->arms[i].has_conditions) {
            spec->arms[i].conditions = set;
            used[set] = true;
        }
        qs_schema_leave(r, inner);
    }
    qs_schema_leave(r, mark);
}

static void check_set(struct qs_schema_reader *r, const struct qs_node *key, const struct qs_node *written,
                      bool used)
{
    size_t mark = qs_schema_enter(r, key->text);
    if (strcmp(key->text, QS_JOB_CONDITIONS_OWN) == 0)
        qs_schema_problem(r, key, "write its keys under `conditions`, or give it another name",
                          "`" QS_JOB_CONDITIONS_OWN "` is the name of `conditions` itself");
    else if (written->kind == QS_NODE_MAP && written->count == 0)
        qs_schema_problem(r, key, "refer to `" QS_JOB_CONDITIONS_OWN "`, which is `conditions` itself",
                          "the set changes nothing");
    else if (!used)
        qs_schema_problem(r, key, "add `conditions: NAME` to a benchmark or an arm, or take the set out",
                          "nothing is measured under these conditions");
    qs_schema_leave(r, mark);
}

/* What `plan` says as well. */
static void check_twice(struct qs_schema_reader *r, const struct qs_node *root)
{
    static const char *const both[] = {"stop", "caps"};
    const struct qs_node *own = qs_node_get(root, "conditions", NULL);
    const struct qs_node *plan = qs_node_get(root, "plan", NULL), *key = NULL;
    size_t mark = qs_schema_enter(r, "conditions");
    for (size_t i = 0; i < 2; i++)
        if (qs_node_get(own, both[i], &key) != NULL && qs_node_get(plan, both[i], NULL) != NULL) {
            size_t inner = qs_schema_enter(r, both[i]);
            qs_schema_problem(r, key, "keep one of the two", "`conditions.%s` and `plan.%s` say the same",
                              both[i], both[i]);
            qs_schema_leave(r, inner);
        }
    qs_schema_leave(r, mark);
}

void qs_job_sets_check(struct qs_schema_reader *r, const struct qs_node *root, struct qs_job_draft *draft)
{
    struct qs_job_spec *spec = &draft->spec;
    const struct qs_node *sets = qs_node_get(root, "condition_sets", NULL);
    bool used[1 + QS_JOB_CONDITION_SETS_MAX] = {false};
    size_t before = r->count;
    check_twice(r, root);
    refer(r, root, spec, used);
    if (r->count > before)
        return; /* a slip in a name would be told twice */
    size_t mark = qs_schema_enter(r, "condition_sets");
    for (size_t i = 1; i < spec->condition_count; i++)
        check_set(r, &sets->keys[i - 1], &sets->items[i - 1], used[i]);
    qs_schema_leave(r, mark);
}
