#include "config/job/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/job/read.h"

enum { ARMS_MAX = 100 };

static size_t sweep_of(const struct qs_job_spec *spec, size_t set)
{
    return spec->conditions[set].controls.wishes.sweep_count;
}

/* How many arms there will be; 0: no arm has several frequencies. */
static size_t count_arms(const struct qs_job_spec *spec)
{
    size_t all = 0;
    bool any = false;
    for (size_t a = 0; a < spec->arm_count; a++) {
        size_t n = sweep_of(spec, qs_job_conditions_index(spec, 0, a));
        all += n > 0 ? n : 1;
        any = any || n > 0;
    }
    return any ? all : 0;
}

/* An arm takes its benchmark's conditions where it has none: then they are to be the same everywhere. */
static bool is_clear(const struct qs_job_spec *spec)
{
    for (size_t a = 0; a < spec->arm_count; a++)
        for (size_t p = 1; p < spec->point_count; p++) {
            size_t first = qs_job_conditions_index(spec, 0, a), set = qs_job_conditions_index(spec, p, a);
            if (first != set && (sweep_of(spec, first) > 0 || sweep_of(spec, set) > 0))
                return false;
        }
    return true;
}

/* The set with one frequency: made once, however many arms use it. */
static size_t set_of(struct qs_job_spec *spec, size_t from, const struct qs_wish *wish)
{
    QS_BUF(name);
    if (from > 0)
        qs_buf_fmt(&name, "%s ", spec->conditions[from].name);
    qs_wish_print(wish, &name);
    for (size_t i = 0; i < spec->condition_count; i++)
        if (strcmp(spec->conditions[i].name, name.data) == 0)
            return i;
    struct qs_job_conditions *set = &spec->conditions[spec->condition_count];
    qs_job_conditions_copy(set, &spec->conditions[from]);
    struct qs_wishes *wishes = &set->controls.wishes;
    free(wishes->sweep);
    wishes->sweep = NULL;
    wishes->sweep_count = 0;
    wishes->frequency[wishes->sweep_of] = *wish;
    set->name = qs_buf_take(&name);
    return spec->condition_count++;
}

static void add(struct qs_job_spec *spec, const struct qs_job_arm *from, bool named, size_t set, size_t i)
{
    const struct qs_wish wish = spec->conditions[set].controls.wishes.sweep[i];
    struct qs_job_arm *arm = &spec->arms[spec->arm_count++];
    QS_BUF(name);
    if (named)
        qs_buf_fmt(&name, "%s ", from->name);
    qs_wish_print(&wish, &name);
    qs_job_arm_copy(arm, from);
    free(arm->name);
    arm->name = qs_buf_take(&name);
    arm->has_conditions = true;
    arm->conditions = set_of(spec, set, &wish);
}

static void expand(struct qs_job_spec *spec, size_t all, bool named)
{
    struct qs_job_arm *old = spec->arms;
    size_t count = spec->arm_count, baseline = spec->baseline;
    spec->conditions =
        qs_realloc(spec->conditions, (spec->condition_count + all) * sizeof(*spec->conditions));
    spec->arms = qs_calloc(all, sizeof(*spec->arms));
    spec->arm_count = 0;
    for (size_t a = 0; a < count; a++) {
        size_t set = old[a].has_conditions ? old[a].conditions : spec->points[0].conditions;
        size_t n = sweep_of(spec, set);
        if (a == baseline)
            spec->baseline = spec->arm_count;
        for (size_t i = 0; i < n; i++)
            add(spec, &old[a], named, set, i);
        if (n == 0)
            qs_job_arm_copy(&spec->arms[spec->arm_count++], &old[a]);
        qs_job_arm_done(&old[a]);
    }
    free(old);
}

void qs_job_sweep(struct qs_schema_reader *r, const struct qs_node *root, struct qs_job_spec *spec)
{
    const struct qs_node *arms = qs_node_get(root, "arms", NULL);
    size_t all = count_arms(spec), mark = qs_schema_enter(r, "conditions");
    if (!is_clear(spec))
        qs_schema_problem(r, NULL, "name the conditions in `arms`",
                          "benchmarks with different conditions cannot have several frequencies");
    else if (all > 0 && spec->ablate)
        qs_schema_problem(r, NULL, "write one frequency",
                          "`ablate` leaves out parts of one set of conditions");
    else if (all > ARMS_MAX)
        qs_schema_problem(r, NULL, "write fewer frequencies, or fewer arms",
                          "with a run at each frequency there are %zu arms, at most %d", all, ARMS_MAX);
    else if (all > 0)
        expand(spec, all, arms != NULL);
    qs_schema_leave(r, mark);
}
