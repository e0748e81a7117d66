#include "report/median.h"
#include "report/job/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/dependence.h"

const struct qs_arm_metric qs_duration_metric = {.name = (char *)(uintptr_t) "duration_ns",
                                                 .unit = (char *)(uintptr_t) "ns"};

struct qs_views qs_report_metric_views(const struct qs_report_group *g, const struct qs_report_metric *m)
{
    const struct qs_views none = {.count = 0};
    return m->metric->of_windows ? none : g->in->views;
}

struct qs_judging qs_report_judging(const struct qs_report_group *g)
{
    const struct qs_job_spec *spec = g->in->spec;
    return (struct qs_judging){.alpha = spec->alpha,
                               .margin_ratio =
                                   spec->benchmarks[spec->points[g->point].benchmark].margin_ratio,
                               .opinions = g->in->opinions,
                               .seed = g->in->job->seed,
                               .progress = qs_work_here(g->work)};
}

const struct qs_values *qs_report_run_values(const struct qs_report_group *g,
                                             const struct qs_arm_metric *metric, size_t run)
{
    const struct qs_measured_run *measured = g->runs[run].measured;
    if (metric == &qs_duration_metric)
        return &measured->values;
    const struct qs_run_metrics *all = qs_job_metrics_find(g->in->metrics, measured->run_uid);
    return all ? &all->values[metric - g->in->metrics->metrics] : NULL;
}

static void fill_run(const struct qs_report_group *g, struct qs_report_metric *m, size_t run)
{
    const struct qs_values *values = qs_report_run_values(g, m->metric, run);
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
    if (to->n > 0)
        (void)qs_median(to->values, to->n, &to->median);
}

static struct qs_report_metric *add_metric(struct qs_report_group *g, const struct qs_arm_metric *metric)
{
    struct qs_report_metric *m = &g->metrics[g->metric_count++];
    *m = (struct qs_report_metric){.metric = metric, .runs = qs_calloc(g->run_count, sizeof *m->runs)};
    for (size_t i = 0; i < g->run_count; i++)
        fill_run(g, m, i);
    return m;
}

void qs_report_take_durations(struct qs_report_group *g)
{
    g->metrics = qs_calloc(1 + (g->in->metrics ? g->in->metrics->metric_count : 0), sizeof *g->metrics);
    (void)add_metric(g, &qs_duration_metric);
}

/* Whether its arm's numbers stand on it. */
static bool is_used(const struct qs_report_group *g, const struct qs_report_metric *m, size_t run, size_t arm)
{
    return g->runs[run].arm == arm && g->block_used[g->runs[run].block] && !isnan(m->runs[run].median);
}

struct qs_nested qs_report_values(const struct qs_report_group *g, const struct qs_report_metric *m,
                                  size_t arm, double **ret_v, size_t **ret_off)
{
    size_t n = 0, k = 0, *off = qs_calloc(g->run_count + 1, sizeof *off);
    for (size_t i = 0; i < g->run_count; i++)
        n += is_used(g, m, i, arm) ? m->runs[i].n : 0;
    double *v = qs_malloc((n + 1) * sizeof *v);
    n = 0;
    for (size_t i = 0; i < g->run_count; i++) {
        if (!is_used(g, m, i, arm))
            continue;
        memcpy(v + n, m->runs[i].values, m->runs[i].n * sizeof *v);
        n += m->runs[i].n;
        off[++k] = n;
    }
    *ret_v = v;
    *ret_off = off;
    return (struct qs_nested){.v = v, .off = off, .k = k};
}

static void fill_arm(const struct qs_report_group *g, struct qs_report_metric *m, size_t index)
{
    struct qs_metric_arm *arm = &m->arms[index];
    double r[2];
    size_t *off;
    struct qs_nested values = qs_report_values(g, m, index, &arm->values, &off);
    arm->count = off[values.k];
    arm->run_medians = qs_malloc((values.k + 1) * sizeof *arm->run_medians);
    for (size_t i = 0; i < g->run_count; i++) {
        if (g->runs[i].arm != index || !g->block_used[g->runs[i].block])
            continue;
        qs_views_add(&arm->tally, &m->runs[i].tally); /* also where they left nothing of it */
        if (is_used(g, m, i, index))
            arm->run_medians[arm->runs++] = m->runs[i].median;
        else
            arm->missing++;
    }
    (void)qs_describe(arm->values, arm->count, &arm->all);
    (void)qs_describe(arm->run_medians, arm->runs, &arm->medians);
    arm->has_tukey = qs_tukey_flags(arm->values, arm->count, NULL, &arm->tukey) == QS_OK;
    arm->r1 = qs_acf(arm->run_medians, arm->runs, NULL, 0, 1, r) == QS_OK ? r[1] : NAN;
    qs_report_median(g, index, m->runs, &arm->median);
    free(off);
}

/* One axis for all arms: from the least value to the highest that is no far outlier; what lies above is
 * counted apart. */
static void fill_bins(const struct qs_report_group *g, struct qs_report_metric *m)
{
    m->bin_lo = INFINITY;
    m->bin_hi = -INFINITY;
    for (size_t a = 0; a < g->in->spec->arm_count; a++) {
        const struct qs_metric_arm *arm = &m->arms[a];
        if (arm->count == 0)
            continue;
        double hi = arm->all.max;
        if (arm->has_tukey && arm->tukey.far_hi < hi)
            hi = arm->tukey.far_hi;
        m->bin_lo = fmin(m->bin_lo, arm->all.min);
        m->bin_hi = fmax(m->bin_hi, hi);
    }
    double width = (m->bin_hi - m->bin_lo) / QS_REPORT_BINS;
    for (size_t a = 0; a < g->in->spec->arm_count; a++) {
        struct qs_metric_arm *arm = &m->arms[a];
        for (size_t i = 0; i < arm->count; i++) {
            double at = width > 0 ? (arm->values[i] - m->bin_lo) / width : 0;
            if (arm->values[i] > m->bin_hi)
                arm->above++;
            else
                arm->bins[at >= QS_REPORT_BINS ? QS_REPORT_BINS - 1 : (size_t)at]++;
        }
    }
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
                   struct qs_comparison *ret)
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
            int64_t now = g->runs[g->block_first[b]].measured->session; /* a block that counts has runs */
            begins = session != now;
            session = now;
        }
        for (int k = 0; k < 2; k++) {
            struct qs_side_values *side = &ret->side[k];
            side->dropped += !counts;
            side->sessions += begins;
            if (!counts)
                continue;
            side->disturbed[side->n] = g->block_disturbed[b];
            side->v[side->n++] = v[k];
            side->builds = 1;
            add_runs(g, m, b, arms[k], side);
        }
    }
}

static void judge_exact(const struct qs_report_group *g, const struct qs_report_metric *m,
                        const size_t arms[2], struct qs_comparison *ret)
{
    if (!m->metric->deterministic)
        return;
    ret->exact = qs_exact_new(true);
    for (size_t i = 0; i < g->run_count; i++)
        for (int k = 0; k < 2; k++)
            if (g->runs[i].arm == arms[k])
                qs_exact_look(m->runs[i].values, m->runs[i].n, &ret->exact.constant[k], &ret->exact.value[k]);
    qs_comparison_judge_exact(ret);
}

struct qs_comparison qs_report_judge(const struct qs_report_group *g, const struct qs_report_metric *m,
                                     size_t base, size_t cand)
{
    const size_t arms[2] = {base, cand};
    const struct qs_judging how = qs_report_judging(g);
    struct qs_comparison ret = qs_comparison_new(&how, m->metric);
    for (int k = 0; k < 2; k++)
        ret.names[k] = g->in->spec->arms[arms[k]].name;
    ret.units = QS_UNITS_BLOCKS;
    ret.paired = true;
    ret.uses_tainted = g->blocks_tainted > 0;
    ret.seconds_per_unit = g->seconds_per_block;
    gather(g, m, arms, &ret);
    qs_comparison_conclude(&how, &ret);
    judge_exact(g, m, arms, &ret);
    return ret;
}

static bool any_has(const struct qs_report_group *g, const struct qs_arm_metric *metric)
{
    for (size_t i = 0; i < g->run_count; i++) {
        const struct qs_values *values = qs_report_run_values(g, metric, i);
        if (values && values->n > 0)
            return true;
    }
    return false;
}

static void fill_metric(struct qs_report_group *g, struct qs_report_metric *m)
{
    const struct qs_job_spec *spec = g->in->spec;
    m->arms = qs_calloc(spec->arm_count, sizeof *m->arms);
    m->pairs = qs_calloc(g->pair_count, sizeof *m->pairs);
    for (size_t a = 0; a < spec->arm_count; a++) {
        if (!qs_report_goes_on(g, g->value_count / spec->arm_count))
            return;
        fill_arm(g, m, a);
    }
    fill_bins(g, m);
    for (size_t p = 0; p < g->pair_count; p++) {
        m->pairs[p] = qs_report_judge(g, m, spec->baseline, g->pairs[p].cand);
        qs_comparison_ask_rates(&m->pairs[p], &g->pairs[p].rates);
    }
}

void qs_report_fill_metrics(struct qs_report_group *g)
{
    size_t count = g->in->metrics ? g->in->metrics->metric_count : 0;
    fill_metric(g, &g->metrics[0]);
    for (size_t m = 0; m < count && !g->work->ended; m++)
        if (any_has(g, &g->in->metrics->metrics[m]))
            fill_metric(g, add_metric(g, &g->in->metrics->metrics[m]));
}

void qs_report_metrics_free(struct qs_report_group *g)
{
    for (size_t i = 0; i < g->metric_count; i++) {
        struct qs_report_metric *m = &g->metrics[i];
        for (size_t r = 0; r < g->run_count; r++)
            free(m->runs[r].seen);
        for (size_t a = 0; a < g->in->spec->arm_count; a++) {
            free(m->arms[a].values);
            free(m->arms[a].run_medians);
        }
        for (size_t p = 0; p < g->pair_count; p++)
            qs_comparison_done(&m->pairs[p]);
        free(m->runs);
        free(m->arms);
        free(m->pairs);
    }
    free(g->metrics);
}

void qs_report_adjust(struct qs_report_group *groups, size_t count, struct qs_comparisons *ret)
{
    *ret = (struct qs_comparisons){0};
    for (size_t i = 0; i < count; i++)
        for (size_t m = 0; m < groups[i].metric_count; m++)
            for (size_t p = 0; p < groups[i].pair_count; p++)
                qs_comparisons_add(ret, &groups[i].metrics[m].pairs[p]);
    qs_comparisons_adjust(ret, count > 0 ? groups[0].in->spec->alpha : NAN);
    for (size_t i = 0; i < count; i++)
        groups[i].family = ret->tested;
}
