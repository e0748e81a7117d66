#include "report/median.h"
#include "report/job/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct qs_views qs_report_metric_views(const struct qs_report_group *g, const struct qs_report_metric *m)
{
    const struct qs_views none = {.count = 0};
    return m->metric->of_windows ? none : g->in->views;
}

struct qs_sides_how qs_report_metric_how(const struct qs_report_group *g)
{
    const struct qs_job_spec *spec = g->in->spec;
    return (struct qs_sides_how){.alpha = spec->alpha,
                                 .margin_ratio =
                                     spec->benchmarks[spec->points[g->point].benchmark].margin_ratio,
                                 .opinions = g->in->opinions,
                                 .seed = g->in->job->seed,
                                 .progress = qs_work_here(g->work)};
}

void qs_report_pair_names(const struct qs_report_group *g, size_t pair, const char *names[2])
{
    const struct qs_job_spec *spec = g->in->spec;
    names[QS_BASE] = spec->arms[spec->baseline].name;
    names[QS_CAND] = spec->arms[g->pairs[pair].cand].name;
}

static const struct qs_values *values_of(const struct qs_report_group *g, size_t run, size_t metric)
{
    const struct qs_run_metrics *all = qs_job_metrics_find(g->in->metrics, g->runs[run].sample->run_uid);
    return all ? &all->values[metric] : NULL;
}

static void fill_run(const struct qs_report_group *g, struct qs_report_metric *m, size_t run, size_t metric)
{
    const struct qs_values *values = values_of(g, run, metric);
    const struct qs_views views = qs_report_metric_views(g, m);
    struct qs_metric_run *to = &m->runs[run];
    *to = (struct qs_metric_run){
        .values = values ? values->at : NULL, .n = values ? values->n : 0, .median = NAN};
    if (to->n > 0 && views.count > 0) {
        to->seen = qs_malloc(to->n * sizeof *to->seen);
        memcpy(to->seen, to->values, to->n * sizeof *to->seen);
        to->n = qs_views_apply(&views, to->seen, to->n, &to->tally);
        to->values = to->seen;
    }
    if (g->runs[run].sample->state == QS_RUN_DONE && to->n > 0)
        (void)qs_median(to->values, to->n, &to->median);
}

static bool is_used(const struct qs_report_group *g, size_t run)
{
    return g->block_used[g->runs[run].block];
}

static void fill_arm(const struct qs_report_group *g, struct qs_report_metric *m, size_t index)
{
    struct qs_metric_arm *arm = &m->arms[index];
    double *medians = qs_malloc(g->run_count * sizeof *medians), *all = NULL;
    for (size_t i = 0; i < g->run_count; i++) {
        const struct qs_metric_run *run = &m->runs[i];
        medians[i] = run->median;
        if (g->runs[i].arm != index || !is_used(g, i))
            continue;
        arm->missing += isnan(run->median) ? 1 : 0;
        if (isnan(run->median))
            continue;
        arm->runs++;
        all = qs_realloc(all, (arm->values + run->n) * sizeof *all);
        memcpy(all + arm->values, run->values, run->n * sizeof *all);
        arm->values += run->n;
        qs_views_add(&arm->tally, &run->tally);
    }
    (void)qs_describe(all, arm->values, &arm->all);
    qs_report_median(g, index, medians, &arm->median);
    free(medians);
    free(all);
}

/* Two turns of a block count with the mean of their logs, one with its median as it is: 0 is a value too. */
static double unit_value(const struct qs_report_group *g, const struct qs_report_metric *m, size_t block,
                         size_t arm)
{
    double sum = 0, only = NAN;
    size_t turns = 0;
    for (size_t i = g->block_first[block]; i < g->block_first[block + 1]; i++) {
        if (g->runs[i].arm != arm)
            continue;
        only = m->runs[i].median;
        sum += only > 0 ? log(only) : NAN;
        turns++;
    }
    return turns == 1 ? only : exp(sum / (double)turns);
}

static void add_runs(const struct qs_report_group *g, const struct qs_report_metric *m, size_t block,
                     size_t arm, struct qs_side_values *to)
{
    for (size_t i = g->block_first[block]; i < g->block_first[block + 1]; i++) {
        const struct qs_metric_run *run = &m->runs[i];
        if (g->runs[i].arm != arm || isnan(run->median))
            continue;
        to->iterations = qs_realloc(to->iterations, (to->iteration_count + run->n) * sizeof *to->iterations);
        memcpy(to->iterations + to->iteration_count, run->values, run->n * sizeof *run->values);
        to->iteration_count += run->n;
        to->runs[++to->run_count] = to->iteration_count;
    }
}

/* The blocks that the comparison of durations rests on, where both arms have a value. */
static void gather(const struct qs_report_group *g, const struct qs_report_metric *m, const size_t arms[2],
                   struct qs_sides_verdict *ret)
{
    int64_t session = -1;
    for (int k = 0; k < 2; k++) {
        ret->side[k].v = qs_calloc(g->block_count, sizeof *ret->side[k].v);
        ret->side[k].disturbed = qs_calloc(g->block_count, sizeof *ret->side[k].disturbed);
        ret->side[k].runs = qs_calloc(g->run_count + 1, sizeof *ret->side[k].runs);
    }
    for (size_t b = 0; b < g->block_count; b++) {
        double v[2] = {unit_value(g, m, b, arms[0]), unit_value(g, m, b, arms[1])};
        bool counts = g->block_complete[b] && isfinite(v[0]) && isfinite(v[1]), begins = false;
        if (counts) {
            int64_t now = g->runs[g->block_first[b]].sample->session; /* a block that counts has runs */
            begins = session != now;
            session = now;
        }
        for (int k = 0; k < 2; k++) {
            struct qs_side_values *side = &ret->side[k];
            side->dropped += !counts;
            side->sessions += begins;
            if (!counts)
                continue;
            side->disturbed[side->n] = g->block_soft[b];
            side->v[side->n++] = v[k];
            side->builds = 1;
            add_runs(g, m, b, arms[k], side);
        }
    }
}

static void judge_exact(const struct qs_report_group *g, const struct qs_report_metric *m,
                        const size_t arms[2], struct qs_sides_verdict *ret)
{
    if (!m->metric->deterministic)
        return;
    ret->exact = (struct qs_sides_exact){.declared = true, .constant = {true, true}, .value = {NAN, NAN}};
    for (size_t i = 0; i < g->run_count; i++) {
        const struct qs_values values = {.at = (double *)(uintptr_t)m->runs[i].values, .n = m->runs[i].n};
        for (int k = 0; k < 2; k++)
            if (g->runs[i].arm == arms[k])
                qs_sides_look(&values, &ret->exact.constant[k], &ret->exact.value[k]);
    }
    qs_sides_judge_exact(m->metric, ret);
}

static void judge(const struct qs_report_group *g, const struct qs_report_metric *m, size_t pair,
                  struct qs_sides_verdict *ret)
{
    const size_t arms[2] = {g->in->spec->baseline, g->pairs[pair].cand};
    const struct qs_sides_how how = qs_report_metric_how(g);
    const struct qs_sides_rates rates = {.lost_p = g->pairs[pair].taint_p, .timeout_p = NAN};
    *ret = (struct qs_sides_verdict){.level = QS_SIDES_BLOCKS,
                                     .paired = true,
                                     .reason = "none",
                                     .p_bh = NAN,
                                     .uses_soft = g->soft_blocks > 0};
    gather(g, m, arms, ret);
    qs_sides_conclude(&how, m->metric, ret);
    judge_exact(g, m, arms, ret);
    qs_sides_ask_rates(ret, &rates, how.alpha);
}

static bool any_has(const struct qs_report_group *g, size_t metric)
{
    for (size_t i = 0; i < g->run_count; i++) {
        const struct qs_values *values = values_of(g, i, metric);
        if (values && values->n > 0)
            return true;
    }
    return false;
}

static void fill_one(struct qs_report_group *g, size_t metric)
{
    struct qs_report_metric *m = &g->metrics[g->metric_count++];
    *m = (struct qs_report_metric){.metric = &g->in->metrics->metrics[metric],
                                   .runs = qs_calloc(g->run_count, sizeof *m->runs),
                                   .arms = qs_calloc(g->in->spec->arm_count, sizeof *m->arms),
                                   .pairs = qs_calloc(g->pair_count, sizeof *m->pairs)};
    for (size_t i = 0; i < g->run_count; i++)
        fill_run(g, m, i, metric);
    for (size_t a = 0; a < g->in->spec->arm_count; a++)
        fill_arm(g, m, a);
    for (size_t p = 0; p < g->pair_count; p++)
        judge(g, m, p, &m->pairs[p]);
}

void qs_report_fill_metrics(struct qs_report_group *g)
{
    size_t count = g->in->metrics ? g->in->metrics->metric_count : 0;
    g->metrics = qs_calloc(count, sizeof *g->metrics);
    for (size_t m = 0; m < count; m++)
        if (qs_report_goes_on(g, g->value_count) && any_has(g, m))
            fill_one(g, m);
}

void qs_report_metrics_free(struct qs_report_group *g)
{
    for (size_t i = 0; i < g->metric_count; i++) {
        struct qs_report_metric *m = &g->metrics[i];
        for (size_t r = 0; r < g->run_count; r++)
            free(m->runs[r].seen);
        for (size_t p = 0; p < g->pair_count; p++)
            for (int k = 0; k < 2; k++)
                qs_side_values_done(&m->pairs[p].side[k]);
        free(m->runs);
        free(m->arms);
        free(m->pairs);
    }
    free(g->metrics);
}
