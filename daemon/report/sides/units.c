/* Runs into the values that a verdict rests on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/sides/impl.h"
#include "stats/describe.h"

static void add_turn(const struct qs_arm_run *run, size_t metric, double *sum, bool *disturbed,
                     bool *positive, double *only)
{
    const struct qs_values *values = &run->values[metric];
    *only = NAN;
    if (values->n > 0)
        (void)qs_median(values->at, values->n, only);
    *disturbed = *disturbed || values->disturbed;
    *positive = *positive && *only > 0;
    *sum += *only > 0 ? log(*only) : NAN;
}

/* Two turns of a block count with the mean of their logs, one with its median as it is: 0 is a value too. */
static void fill_unit(const struct qs_side_series *series, size_t metric, struct qs_side_unit *unit)
{
    double sum = 0, only = NAN;
    bool positive = true;
    for (size_t i = 0; i < unit->count; i++)
        add_turn(series->runs[unit->first + i], metric, &sum, &unit->disturbed, &positive, &only);
    unit->value = unit->count == 1 ? only : positive ? exp(sum / (double)unit->count) : NAN;
}

void qs_sides_units(const struct qs_side_series *series, size_t metric, struct qs_side_units *ret)
{
    *ret = (struct qs_side_units){.at = qs_calloc(series->count, sizeof *ret->at)};
    for (size_t i = 0; i < series->count; i++) {
        const struct qs_arm_run *run = series->runs[i];
        struct qs_side_unit *last = ret->count > 0 ? &ret->at[ret->count - 1] : NULL;
        if (last && last->job == run->job && last->block == run->block &&
            strcmp(last->build, qs_sides_build(run)) == 0) {
            last->count++;
            continue;
        }
        ret->at[ret->count++] = (struct qs_side_unit){.job = run->job,
                                                      .session = run->session,
                                                      .block = run->block,
                                                      .build = qs_sides_build(run),
                                                      .first = i,
                                                      .count = 1,
                                                      .factor = 1,
                                                      .weight = 1};
    }
    for (size_t i = 0; i < ret->count; i++)
        fill_unit(series, metric, &ret->at[i]);
}

static size_t values_in(const struct qs_side_series *series, size_t metric)
{
    size_t n = 0;
    for (size_t i = 0; i < series->count; i++)
        n += series->runs[i]->values[metric].n;
    return n;
}

static void add_run(struct qs_side_values *ret, const struct qs_arm_run *run, size_t metric, double factor)
{
    const struct qs_values *values = &run->values[metric];
    for (size_t i = 0; i < values->n; i++)
        ret->iterations[ret->iteration_count++] = values->at[i] * factor;
    ret->runs[++ret->run_count] = ret->iteration_count;
}

static int by_build(const void *pa, const void *pb)
{
    const struct qs_side_unit *a = *(const struct qs_side_unit *const *)pa,
                              *b = *(const struct qs_side_unit *const *)pb;
    int order = strcmp(a->build, b->build);
    return order != 0 ? order : (a > b) - (a < b); /* else in the order of time */
}

static bool is_same(const struct qs_side_unit *a, const struct qs_side_unit *b, enum qs_units fold)
{
    switch (fold) {
    case QS_UNITS_BLOCKS:
        return a->job == b->job && a->block == b->block;
    case QS_UNITS_SESSIONS:
        return a->session == b->session;
    case QS_UNITS_BUILDS:
        return strcmp(a->build, b->build) == 0;
    case QS_UNITS_RUNS: /* nothing of the store folds into these */
    case QS_UNITS_DEVICES:
    case QS_UNITS_ITERATIONS:
        break;
    }
    return false;
}

/* The geometric mean of several; one counts as it is: 0 is a value too. */
static double folded(const struct qs_side_unit *const *units, size_t n)
{
    double sum = 0, weight = 0;
    for (size_t i = 0; i < n; i++) {
        double v = units[i]->value * units[i]->factor;
        sum += v > 0 ? units[i]->weight * log(v) : NAN;
        weight += units[i]->weight;
    }
    return n == 1 ? units[0]->value * units[0]->factor : exp(sum / weight);
}

static size_t count_changes(const struct qs_side_unit *const *units, size_t n, enum qs_units by)
{
    size_t changes = 0;
    for (size_t i = 0; i < n; i++)
        changes += i == 0 || !is_same(units[i], units[i - 1], by);
    return changes;
}

void qs_sides_fill(const struct qs_side_series *series, size_t metric, const struct qs_side_units *units,
                   const bool *used, enum qs_units fold, struct qs_side_values *ret)
{
    const struct qs_side_unit **order = qs_malloc(units->count * sizeof *order);
    size_t n = 0;
    *ret = (struct qs_side_values){.v = qs_calloc(units->count, sizeof *ret->v),
                                   .disturbed = qs_calloc(units->count, sizeof *ret->disturbed),
                                   .iterations = qs_malloc(values_in(series, metric) * sizeof(double)),
                                   .runs = qs_calloc(series->count + 1, sizeof *ret->runs),
                                   .groups = qs_calloc(units->count + 2, sizeof *ret->groups),
                                   .fold = fold};
    for (size_t i = 0; i < units->count; i++)
        if (used[i])
            order[n++] = &units->at[i];
    ret->dropped = units->count - n;
    ret->sessions = count_changes(order, n, QS_UNITS_SESSIONS);
    if (fold == QS_UNITS_BUILDS && n > 1)
        qsort((void *)order, n, sizeof *order, by_build);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && is_same(order[end], order[i], fold); end++) {
            ret->disturbed[ret->n] =
                fold == QS_UNITS_BLOCKS && (order[end]->disturbed || ret->disturbed[ret->n]);
            for (size_t k = 0; k < order[end]->count; k++)
                add_run(ret, series->runs[order[end]->first + k], metric, order[end]->factor);
        }
        ret->v[ret->n++] = folded(order + i, end - i);
        ret->groups[ret->n] = ret->run_count;
    }
    ret->group_count = fold == QS_UNITS_BLOCKS ? 0 : ret->n;
    free((void *)order);
}
