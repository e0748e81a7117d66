/* Runs into series, and the series of one side to those of the other. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/sides_impl.h"

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static const char *arm_of(const struct qs_arm_run *run, bool by_build)
{
    return by_build ? run->build : run->arm_name;
}

#define COMPARE(a, b)                                                                                        \
    do {                                                                                                     \
        if ((a) != (b))                                                                                      \
            return (a) < (b) ? -1 : 1;                                                                       \
    } while (0)

/* What makes two runs the same series. */
static int compare_series(const struct qs_arm_run *a, const struct qs_arm_run *b)
{
    const char *const pairs[][2] = {{a->benchmark, b->benchmark},
                                    {a->params_json, b->params_json},
                                    {a->conditions_json, b->conditions_json},
                                    {a->build, b->build},
                                    {a->build ? NULL : a->arm_name, b->build ? NULL : b->arm_name},
                                    {a->device, b->device}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int order = compare_texts(pairs[i][0], pairs[i][1]);
        if (order != 0)
            return order;
    }
    return 0;
}

static int compare_runs(const void *pa, const void *pb)
{
    const struct qs_arm_run *a = *(const struct qs_arm_run *const *)pa,
                            *b = *(const struct qs_arm_run *const *)pb;
    int order = compare_series(a, b);
    if (order != 0)
        return order;
    COMPARE(a->job, b->job);
    COMPARE(a->block, b->block);
    COMPARE(a->attempt, b->attempt);
    COMPARE(a->pos, b->pos);
    return memcmp(a->uid, b->uid, sizeof a->uid);
}

/* Of a block that was repeated the last attempt counts, never the best. */
static bool is_superseded(const struct qs_arm_run *run, const struct qs_arm_run *const *after, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (after[i]->job != run->job || after[i]->block != run->block || compare_series(after[i], run) != 0)
            return false;
        if (after[i]->attempt > run->attempt)
            return true;
    }
    return false;
}

static void add_run(struct qs_side *side, const struct qs_arm_run *run)
{
    struct qs_side_series *last = side->count > 0 ? &side->at[side->count - 1] : NULL;
    if (!last || compare_series(last->runs[0], run) != 0) {
        side->at = qs_realloc(side->at, (side->count + 1) * sizeof *side->at);
        last = &side->at[side->count++];
        *last = (struct qs_side_series){.arm = arm_of(run, run->build != NULL)};
    }
    last->runs = qs_realloc((void *)last->runs, (last->count + 1) * sizeof *last->runs);
    last->runs[last->count++] = run;
}

void qs_sides_collect(struct qs_sides *s)
{
    for (int i = 0; i < 2; i++) {
        const struct qs_arm_runs *runs = s->in->runs[i];
        const struct qs_arm_run **order = qs_calloc(runs->count + 1, sizeof *order);
        for (size_t k = 0; k < runs->count; k++)
            order[k] = &runs->at[k];
        if (runs->count > 1)
            qsort((void *)order, runs->count, sizeof *order, compare_runs);
        for (size_t k = 0; k < runs->count; k++)
            if (!is_superseded(order[k], order + k + 1, runs->count - k - 1))
                add_run(&s->side[i], order[k]);
        free((void *)order);
    }
}

/* How alike two series have to be; each round is less strict. */
enum round {
    SAME_ARM,    /* everything, the arm's name or build too */
    ONLY_ARM,    /* the point, where each side measured it in one arm */
    CONDITIONS,  /* the same under other conditions, where each side measured it once */
    ONLY_SERIES, /* all that each side has on the device */
    ROUNDS
};

static bool are_alike(const struct qs_side_series *a, const struct qs_side_series *b, enum round round)
{
    const struct qs_arm_run *x = a->runs[0], *y = b->runs[0];
    if (compare_texts(x->device, y->device) != 0)
        return false;
    if (round == ONLY_SERIES)
        return true;
    if (compare_texts(x->benchmark, y->benchmark) != 0 || compare_texts(x->params_json, y->params_json) != 0)
        return false;
    if (round == CONDITIONS)
        return true;
    return compare_texts(x->conditions_json, y->conditions_json) == 0 &&
           (round == ONLY_ARM || compare_texts(a->arm, b->arm) == 0);
}

/* The only one of a side that is like this one; NULL where there are several, or it is taken: what is left
 * over after others were matched has not become like it. */
static struct qs_side_series *only_one(struct qs_side *side, const struct qs_side_series *like,
                                       enum round round)
{
    struct qs_side_series *found = NULL;
    for (size_t i = 0; i < side->count; i++) {
        if (!are_alike(&side->at[i], like, round))
            continue;
        if (found)
            return NULL;
        found = &side->at[i];
    }
    return found && !found->matched ? found : NULL;
}

/* Pairs of the same benchmark, parameters, conditions and arms are one point on several devices. */
static bool same_point(const struct qs_sides_pair *pair, const struct qs_side_series *base,
                       const struct qs_side_series *cand)
{
    const struct qs_side_series *const now[] = {base, cand};
    for (int i = 0; i < 2; i++) {
        const struct qs_arm_run *x = pair->series[i]->runs[0], *y = now[i]->runs[0];
        if (compare_texts(x->benchmark, y->benchmark) != 0 ||
            compare_texts(x->params_json, y->params_json) != 0 ||
            compare_texts(x->conditions_json, y->conditions_json) != 0 ||
            compare_texts(pair->series[i]->arm, now[i]->arm) != 0)
            return false;
    }
    return true;
}

static void add_pair(struct qs_sides *s, struct qs_side_series *base, struct qs_side_series *cand)
{
    struct qs_sides_point *point = NULL;
    for (size_t i = 0; i < s->point_count && !point; i++)
        point = same_point(&s->points[i].pairs[0], base, cand) ? &s->points[i] : NULL;
    if (!point) {
        s->points = qs_realloc(s->points, (s->point_count + 1) * sizeof *s->points);
        point = &s->points[s->point_count++];
        *point = (struct qs_sides_point){0};
    }
    point->pairs = qs_realloc(point->pairs, (point->count + 1) * sizeof *point->pairs);
    point->pairs[point->count++] = (struct qs_sides_pair){.series = {base, cand}};
    base->matched = cand->matched = true;
}

void qs_sides_match(struct qs_sides *s)
{
    struct qs_side *base = &s->side[QS_BASE], *cand = &s->side[QS_CAND];
    for (enum round round = SAME_ARM; round < ROUNDS; round++) {
        for (size_t i = 0; i < base->count; i++) {
            if (base->at[i].matched)
                continue;
            struct qs_side_series *other = only_one(cand, &base->at[i], round);
            if (other && only_one(base, other, round) == &base->at[i])
                add_pair(s, &base->at[i], other);
        }
    }
}

static void point_done(struct qs_sides_point *point, size_t metrics)
{
    for (size_t i = 0; i < point->count; i++) {
        for (size_t m = 0; point->pairs[i].metrics && m < metrics; m++)
            for (int k = 0; k < 2; k++)
                qs_side_values_done(&point->pairs[i].metrics[m].side[k]);
        free(point->pairs[i].metrics);
    }
    for (size_t m = 0; point->over && m < metrics; m++)
        for (int k = 0; k < 2; k++)
            qs_side_values_done(&point->over[m].side[k]);
    free(point->pairs);
    free(point->over);
}

void qs_sides_done(struct qs_sides *s)
{
    for (size_t i = 0; i < s->point_count; i++)
        point_done(&s->points[i], s->in->runs[QS_BASE]->metric_count);
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < s->side[i].count; k++)
            free((void *)s->side[i].at[k].runs);
        free(s->side[i].at);
    }
    free(s->points);
    free(s->allowed);
    qs_env_diff_free(&s->environment);
    qs_env_diff_free(&s->arms);
}
