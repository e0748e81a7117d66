/* Runs into the values that a verdict rests on. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/sides_impl.h"
#include "stats/describe.h"

/* What counts of a run: clean iterations, softly tainted ones where there is no other. */
static const struct qs_arm_values *values_of(const struct qs_arm_run *run, size_t metric, bool *ret_soft)
{
    bool clean = run->clean[metric].n > 0;
    *ret_soft = !clean && run->soft[metric].n > 0;
    return clean ? &run->clean[metric] : &run->soft[metric];
}

static double median_of(const struct qs_arm_run *run, size_t metric, bool *ret_soft)
{
    double median = NAN;
    const struct qs_arm_values *values = values_of(run, metric, ret_soft);
    if (run->state == QS_RUN_DONE && values->n > 0)
        (void)qs_median(values->at, values->n, &median);
    return median;
}

static void add_turn(const struct qs_arm_run *run, size_t metric, double *sum, bool *soft, bool *positive,
                     double *only)
{
    bool is_soft = false;
    *only = median_of(run, metric, &is_soft);
    *soft = *soft || is_soft;
    *positive = *positive && *only > 0;
    *sum += *only > 0 ? log(*only) : NAN;
}

/* Two turns of a block count with the mean of their logs, one with its median as it is: 0 is a value too. */
static void fill_unit(const struct qs_side_series *series, size_t metric, struct qs_side_unit *unit)
{
    double sum = 0, only = NAN;
    bool positive = true;
    for (size_t i = 0; i < unit->count; i++)
        add_turn(series->runs[unit->first + i], metric, &sum, &unit->soft, &positive, &only);
    unit->value = unit->count == 1 ? only : positive ? exp(sum / (double)unit->count) : NAN;
}

void qs_sides_units(const struct qs_side_series *series, size_t metric, struct qs_side_units *ret)
{
    *ret = (struct qs_side_units){.at = qs_calloc(series->count + 1, sizeof *ret->at)};
    for (size_t i = 0; i < series->count; i++) {
        const struct qs_arm_run *run = series->runs[i];
        struct qs_side_unit *last = ret->count > 0 ? &ret->at[ret->count - 1] : NULL;
        if (last && last->job == run->job && last->block == run->block) {
            last->count++;
            continue;
        }
        ret->at[ret->count++] = (struct qs_side_unit){
            .job = run->job, .session = run->session, .block = run->block, .first = i, .count = 1};
    }
    for (size_t i = 0; i < ret->count; i++)
        fill_unit(series, metric, &ret->at[i]);
}

static void add_run(struct qs_side_values *ret, const struct qs_arm_run *run, size_t metric)
{
    bool soft = false;
    const struct qs_arm_values *values = values_of(run, metric, &soft);
    ret->iterations =
        qs_realloc(ret->iterations, (ret->iteration_count + values->n + 1) * sizeof *ret->iterations);
    for (size_t i = 0; i < values->n; i++)
        ret->iterations[ret->iteration_count++] = values->at[i];
    ret->runs[++ret->run_count] = ret->iteration_count;
}

/* The geometric mean of a session's units, or NaN. */
static double session_value(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i] > 0 ? log(v[i]) : NAN;
    return exp(sum / (double)n);
}

/* Units of one session, which are neighbours: jobs follow each other, and a session has one job. */
static void join_sessions(struct qs_side_values *ret, const size_t *begins)
{
    for (size_t g = 0; g < ret->sessions; g++)
        ret->v[g] = session_value(ret->v + begins[g], begins[g + 1] - begins[g]);
    ret->n = ret->sessions;
}

void qs_sides_fill(const struct qs_side_series *series, size_t metric, const struct qs_side_units *units,
                   const bool *used, bool by_session, struct qs_side_values *ret)
{
    size_t *begins = qs_calloc(units->count + 2, sizeof *begins);
    int64_t session = -1;
    *ret = (struct qs_side_values){.v = qs_calloc(units->count + 1, sizeof *ret->v),
                                   .runs = qs_calloc(series->count + 1, sizeof *ret->runs),
                                   .groups = qs_calloc(units->count + 2, sizeof *ret->groups)};
    for (size_t i = 0; i < units->count; i++) {
        const struct qs_side_unit *unit = &units->at[i];
        if (!used[i]) {
            ret->dropped++;
            continue;
        }
        if (unit->session != session || ret->n == 0) {
            begins[ret->sessions++] = ret->n;
            session = unit->session;
        }
        ret->v[ret->n++] = unit->value;
        begins[ret->sessions] = ret->n;
        for (size_t k = 0; k < unit->count; k++)
            add_run(ret, series->runs[unit->first + k], metric);
        ret->groups[ret->sessions] = ret->run_count;
    }
    ret->group_count = by_session ? ret->sessions : 0;
    if (by_session)
        join_sessions(ret, begins);
    free(begins);
}
