/* Runs into series, and the series of one side to those of the other. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/sides/impl.h"

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

#define COMPARE(a, b)                                                                                        \
    do {                                                                                                     \
        if ((a) != (b))                                                                                      \
            return (a) < (b) ? -1 : 1;                                                                       \
    } while (0)

const char *qs_sides_build(const struct qs_arm_run *run)
{
    return run->build ? run->build : run->arm_name;
}

static int compare_points(const struct qs_arm_run *a, const struct qs_arm_run *b)
{
    int order = compare_texts(a->benchmark, b->benchmark);
    order = order != 0 ? order : compare_texts(a->params_json, b->params_json);
    return order != 0 ? order : compare_texts(a->controls_json, b->controls_json);
}

static int compare_places(const struct qs_arm_run *a, const struct qs_arm_run *b)
{
    int order = compare_points(a, b);
    return order != 0 ? order : compare_texts(a->device, b->device);
}

static int compare_builds(const struct qs_arm_run *a, const struct qs_arm_run *b)
{
    int order = compare_texts(qs_sides_build(a), qs_sides_build(b));
    if (order == 0)
        COMPARE(a->build != NULL, b->build != NULL);
    return order;
}

/* What makes two runs the same series. */
static int compare_series(const struct qs_arm_run *a, const struct qs_arm_run *b)
{
    int order = compare_places(a, b);
    return order != 0 ? order : compare_builds(a, b);
}

int qs_sides_by_turn(const struct qs_arm_run *a, const struct qs_arm_run *b)
{
    COMPARE(a->job, b->job);
    COMPARE(a->block, b->block);
    int order = compare_builds(a, b);
    if (order == 0)
        COMPARE(a->pos, b->pos);
    return order;
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

static void add_run(struct qs_side *side, const struct qs_arm_run *run, size_t most)
{
    struct qs_side_series *last = side->count > 0 ? &side->at[side->count - 1] : NULL;
    if (!last || compare_series(last->runs[0], run) != 0) {
        last = &side->at[side->count++];
        *last = (struct qs_side_series){.arm = qs_sides_build(run), .pooled = 1};
        last->runs = qs_malloc(most * sizeof *last->runs);
    }
    last->runs[last->count++] = run;
}

/* The runs of a series follow each other in `order`: so many more are there at most. */
static size_t same_series(const struct qs_arm_run *const *order, size_t count)
{
    size_t n = 1;
    while (n < count && compare_series(order[n], order[0]) == 0)
        n++;
    return n;
}

void qs_sides_collect(struct qs_sides *s)
{
    for (int i = 0; i < 2; i++) {
        const struct qs_arm_runs *runs = s->in->runs[i];
        const struct qs_arm_run **order = qs_calloc(runs->count, sizeof *order);
        for (size_t k = 0; k < runs->count; k++)
            order[k] = &runs->at[k];
        if (runs->count > 1)
            qsort((void *)order, runs->count, sizeof *order, compare_runs);
        s->side[i].at = qs_calloc(runs->count, sizeof *s->side[i].at);
        for (size_t k = 0, end; k < runs->count; k = end) {
            end = k + same_series(order + k, runs->count - k);
            for (size_t m = k; m < end; m++)
                if (!order[m]->superseded)
                    add_run(&s->side[i], order[m], end - k);
        }
        free((void *)order);
    }
}

/* Pairs of the same benchmark, parameters, conditions and arms are one point on several devices. */
static bool same_point(const struct qs_sides_pair *pair, const struct qs_side_series *base,
                       const struct qs_side_series *cand)
{
    const struct qs_side_series *const now[] = {base, cand};
    for (int i = 0; i < 2; i++)
        if (compare_points(pair->series[i]->runs[0], now[i]->runs[0]) != 0 ||
            compare_texts(pair->series[i]->arm, now[i]->arm) != 0)
            return false;
    return true;
}

/* Series come in the order of their points: what belongs together is among the last. */
static void add_pair(struct qs_sides *s, struct qs_side_series *base, struct qs_side_series *cand)
{
    struct qs_sides_point *point = NULL;
    for (size_t i = s->point_count; i > 0 && !point; i--) {
        const struct qs_sides_pair *pair = &s->points[i - 1].pairs[0];
        if (compare_points(pair->series[QS_BASE]->runs[0], base->runs[0]) != 0)
            break;
        point = same_point(pair, base, cand) ? &s->points[i - 1] : NULL;
    }
    if (!point) {
        s->points = qs_grow(s->points, s->point_count, sizeof *s->points);
        point = &s->points[s->point_count++];
        *point = (struct qs_sides_point){.margin_ratio = s->how.margin_ratio};
    }
    point->pairs = qs_grow(point->pairs, point->count, sizeof *point->pairs);
    point->pairs[point->count++] = (struct qs_sides_pair){.series = {base, cand}};
    base->matched = cand->matched = true;
}

struct place { /* the series of one side that measured one point on one device */
    struct qs_side_series **at;
    size_t count;
};

static bool all_same_arms(const struct place here[2])
{
    if (here[QS_BASE].count != here[QS_CAND].count)
        return false;
    for (size_t i = 0; i < here[QS_BASE].count; i++)
        if (strcmp(here[QS_BASE].at[i]->arm, here[QS_CAND].at[i]->arm) != 0)
            return false;
    return true;
}

static void match_same_arms(struct qs_sides *s, const struct place here[2])
{
    for (size_t i = 0, k = 0; i < here[QS_BASE].count && k < here[QS_CAND].count;) {
        int order = strcmp(here[QS_BASE].at[i]->arm, here[QS_CAND].at[k]->arm);
        if (order == 0)
            add_pair(s, here[QS_BASE].at[i], here[QS_CAND].at[k]);
        i += order <= 0;
        k += order >= 0;
    }
}

/* The one name that all runs of the series give their arm, or NULL. */
static const char *name_of(const struct qs_side_series *series)
{
    for (size_t i = 1; i < series->count; i++)
        if (strcmp(series->runs[i]->arm_name, series->runs[0]->arm_name) != 0)
            return NULL;
    return series->runs[0]->arm_name;
}

static size_t left_of_name(const struct place *here, const char *name, struct qs_side_series **ret)
{
    size_t n = 0;
    for (size_t i = 0; i < here->count; i++) {
        const char *its = here->at[i]->matched ? NULL : name_of(here->at[i]);
        if (its && strcmp(its, name) == 0)
            ret[n++] = here->at[i];
    }
    return n;
}

/* `head` of last week is another build than `head` of this week, and the same arm. */
static void match_names(struct qs_sides *s, const struct place here[2])
{
    struct qs_side_series **left[2];
    for (int k = 0; k < 2; k++)
        left[k] = qs_calloc(here[k].count, sizeof **left);
    for (size_t i = 0; i < here[QS_BASE].count; i++) {
        const struct qs_side_series *one = here[QS_BASE].at[i];
        const char *name = one->matched ? NULL : name_of(one);
        size_t n = name ? left_of_name(&here[QS_BASE], name, left[QS_BASE]) : 0;
        size_t m = name ? left_of_name(&here[QS_CAND], name, left[QS_CAND]) : 0;
        if (n > 0 && m > 0)
            add_pair(s, qs_sides_pool(left[QS_BASE], n), qs_sides_pool(left[QS_CAND], m));
    }
    for (int k = 0; k < 2; k++)
        free((void *)left[k]);
}

static void match_place(struct qs_sides *s, const struct place here[2])
{
    const struct qs_side_series *const *base = (const struct qs_side_series *const *)here[QS_BASE].at;
    const struct qs_side_series *const *cand = (const struct qs_side_series *const *)here[QS_CAND].at;
    bool one = here[QS_BASE].count == 1 && here[QS_CAND].count == 1;
    if (all_same_arms(here)) {
        match_same_arms(s, here);
    } else if (one || (qs_sides_may_pool(s->in->pool[QS_BASE], base, here[QS_BASE].count) &&
                       qs_sides_may_pool(s->in->pool[QS_CAND], cand, here[QS_CAND].count))) {
        add_pair(s, qs_sides_pool(here[QS_BASE].at, here[QS_BASE].count),
                 qs_sides_pool(here[QS_CAND].at, here[QS_CAND].count));
    } else {
        match_same_arms(s, here);
        match_names(s, here);
    }
}

static size_t place_at(struct qs_side *side, size_t from, struct place *ret)
{
    size_t end = from;
    ret->count = 0;
    while (end < side->count && compare_places(side->at[end].runs[0], side->at[from].runs[0]) == 0)
        ret->at[ret->count++] = &side->at[end++];
    return end;
}

/* The same point on the same device; where both sides list their arms in order, so do the pairs. */
static void match_places(struct qs_sides *s)
{
    struct place here[2];
    struct qs_side *side = s->side;
    for (int k = 0; k < 2; k++)
        here[k].at = qs_calloc(side[k].count, sizeof *here[k].at);
    for (size_t i = 0, k = 0; i < side[0].count && k < side[1].count;) {
        int order = compare_places(side[0].at[i].runs[0], side[1].at[k].runs[0]);
        size_t next_i = order <= 0 ? place_at(&side[0], i, &here[0]) : i;
        size_t next_k = order >= 0 ? place_at(&side[1], k, &here[1]) : k;
        if (order == 0)
            match_place(s, here);
        i = next_i;
        k = next_k;
    }
    for (int k = 0; k < 2; k++)
        free((void *)here[k].at);
}

/* What has no partner there may have one elsewhere on the device: the same under other conditions, where each
 * side measured it once, and then whatever each side has, where it has one series. */
static bool are_alike(const struct qs_side_series *a, const struct qs_side_series *b, bool any_benchmark)
{
    const struct qs_arm_run *x = a->runs[0], *y = b->runs[0];
    return compare_texts(x->device, y->device) == 0 &&
           (any_benchmark || (compare_texts(x->benchmark, y->benchmark) == 0 &&
                              compare_texts(x->params_json, y->params_json) == 0));
}

/* The only one of a side that is like this one; NULL where there are several, be they matched: what is left
 * over after others were has not become like it. */
static struct qs_side_series *only_one(struct qs_side *side, const struct qs_side_series *like,
                                       bool any_benchmark)
{
    struct qs_side_series *found = NULL;
    for (size_t i = 0; i < side->count; i++) {
        if (!are_alike(&side->at[i], like, any_benchmark))
            continue;
        if (found)
            return NULL;
        found = &side->at[i];
    }
    return found;
}

void qs_sides_match(struct qs_sides *s)
{
    struct qs_side *base = &s->side[QS_BASE], *cand = &s->side[QS_CAND];
    match_places(s);
    for (int any_benchmark = 0; any_benchmark < 2; any_benchmark++) {
        for (size_t i = 0; i < base->count; i++) {
            if (base->at[i].matched)
                continue;
            struct qs_side_series *other = only_one(cand, &base->at[i], any_benchmark);
            if (other && only_one(base, other, any_benchmark) == &base->at[i])
                add_pair(s, &base->at[i], other);
        }
    }
}

static void point_done(struct qs_sides_point *point, size_t metrics)
{
    for (size_t i = 0; i < point->count; i++) {
        for (size_t m = 0; point->pairs[i].metrics && m < metrics; m++)
            qs_comparison_done(&point->pairs[i].metrics[m]);
        free(point->pairs[i].metrics);
    }
    for (size_t m = 0; point->over && m < metrics; m++)
        qs_comparison_done(&point->over[m]);
    free(point->pairs);
    free(point->over);
}

void qs_sides_done(struct qs_sides *s)
{
    for (size_t i = 0; i < s->point_count; i++)
        point_done(&s->points[i], s->in->runs[QS_BASE]->metric_count);
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < s->side[i].count; k++) {
            free((void *)s->side[i].at[k].runs);
            free(s->side[i].at[k].pool);
            free((void *)s->side[i].at[k].builds);
        }
        free(s->side[i].at);
    }
    qs_comparisons_done(&s->all);
    free(s->points);
    free(s->allowed);
    qs_sides_own_free(s->own);
    qs_env_diff_free(&s->environment);
    qs_env_diff_free(&s->arms);
}
