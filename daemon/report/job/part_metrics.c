/* The metrics beside the duration: each as a sample of its own, with its values in the order of time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/analysis/impl.h"
#include "report/job/metrics.h"
#include "report/job/part_metrics.h"
#include "report/work.h"

struct part { /* of one metric */
    const struct qs_arm_metric *metric;
    const char *benchmark;
    struct qs_part_run *runs; /* owned: those that have a value */
    size_t count, missing;
    size_t dropped[QS_DROP_COUNT];
    struct qs_views views;
    struct qs_views_tally tally;
};

static void put_strip(struct qs_json *j, const struct part *p, const struct qs_import_series *series)
{
    struct qs_strip strip = {.of = p->metric->of_windows ? "windows" : "iterations", .n = series->n};
    double *medians = qs_calloc(p->count, sizeof *medians);
    for (size_t i = 0; i < p->count; i++)
        medians[i] = p->runs[i].median_ns;
    strip.x = series->v;
    if (p->count > 1)
        strip = (struct qs_strip){.of = "runs", .x = medians, .n = p->count};
    qs_put_part_strip(j, &strip);
    free(medians);
}

static void put_one(struct qs_json *j, struct part *p, const struct qs_analysis_opts *how)
{
    struct qs_analysis_opts opts = *how;
    struct qs_import_series series;
    opts.resolution = 1; /* values are whole numbers of their unit */
    for (size_t v = 0; v < p->views.count; v++)
        p->dropped[QS_DROP_VIEW] += p->tally.dropped[v];
    qs_part_series(&series, p->runs, p->count, p->benchmark, p->dropped);
    free(series.metric);
    free(series.unit);
    series.metric = qs_strdup(p->metric->name);
    series.unit = qs_strdup(p->metric->unit);
    series.direction = p->metric->higher_is_better ? QS_DIRECTION_HIGHER : QS_DIRECTION_LOWER;
    qs_json_object(j);
    qs_report_put_metric_kind(j, p->metric);
    qs_json_kint(j, "runs", (int64_t)p->count);
    qs_json_kint(j, "runs_missing", (int64_t)p->missing);
    qs_json_kint(j, "values", (int64_t)series.n);
    qs_views_put(j, &p->views, &p->tally);
    put_strip(j, p, &series);
    qs_put_part_sample(j, &series, &opts);
    qs_json_object_end(j);
    qs_part_series_done(&series);
}

/* --- of an arm --- */

static void take_runs(const struct qs_report_group *g, const struct qs_report_metric *m, size_t arm,
                      struct part *p)
{
    size_t metric = (size_t)(m->metric - g->in->metrics->metrics);
    for (size_t i = 0; i < g->run_count; i++) {
        const struct qs_report_run *run = &g->runs[i];
        const struct qs_run_metrics *all = qs_job_metrics_find(g->in->metrics, run->measured->run_uid);
        if (run->arm != arm || !g->block_used[run->block])
            continue;
        if (all)
            qs_part_dropped(&all->values[metric], p->dropped);
        qs_views_add(&p->tally, &m->runs[i].tally);
        p->missing += isnan(m->runs[i].median) ? 1 : 0;
        if (isnan(m->runs[i].median))
            continue;
        p->runs[p->count++] = (struct qs_part_run){.uid = run->measured->run_uid,
                                                   .arm = arm,
                                                   .ns = m->runs[i].values,
                                                   .n = m->runs[i].n,
                                                   .median_ns = m->runs[i].median};
    }
}

void qs_put_part_metrics(struct qs_json *j, const struct qs_report_group *g, size_t arm,
                         const struct qs_analysis_opts *opts)
{
    qs_json_karray(j, "metrics");
    for (size_t i = 1; i < g->metric_count && !opts->work->ended; i++) {
        const struct qs_report_metric *m = &g->metrics[i];
        struct part p = {.metric = m->metric,
                         .benchmark = g->in->spec->points[g->point].label,
                         .runs = qs_calloc(g->run_count, sizeof *p.runs),
                         .views = qs_report_metric_views(g, m)};
        take_runs(g, m, arm, &p);
        if (p.count > 0)
            put_one(j, &p, opts);
        free(p.runs);
    }
    qs_json_array_end(j);
}

double qs_part_metrics_plan_ns(const struct qs_report_group *g, size_t arm,
                               const struct qs_analysis_opts *opts)
{
    double sum = 0;
    for (size_t i = 1; i < g->metric_count; i++) {
        const struct qs_metric_arm *a = &g->metrics[i].arms[arm];
        sum += a->count > 0 ? qs_view_plan_ns(a->count, a->runs, opts) : 0;
    }
    return sum;
}

/* --- of a run --- */

static void put_of_run(struct qs_json *j, const struct qs_report_input *in, const struct qs_run_metrics *run,
                       size_t metric, const struct qs_part_metrics_run *of)
{
    const struct qs_values *values = &run->values[metric];
    struct part p = {.metric = &in->metrics->metrics[metric], .benchmark = of->label, .count = 1};
    double *seen = qs_malloc(values->n * sizeof *seen);
    if (!p.metric->of_windows)
        p.views = in->views;
    for (size_t i = 0; i < values->n; i++)
        seen[i] = values->at[i];
    struct qs_part_run one = {.uid = run->uid, .ns = seen, .median_ns = NAN};
    one.n = qs_views_apply(&p.views, seen, values->n, &p.tally);
    p.runs = &one;
    qs_part_dropped(values, p.dropped);
    if (one.n > 0)
        put_one(j, &p, of->opts);
    free(seen);
}

void qs_put_part_run_metrics(struct qs_json *j, const struct qs_report_input *in,
                             const struct qs_part_metrics_run *of)
{
    const struct qs_run_metrics *run = in->metrics ? qs_job_metrics_find(in->metrics, of->uid) : NULL;
    qs_json_karray(j, "metrics");
    for (size_t m = 0; run && m < in->metrics->metric_count && !of->opts->work->ended; m++)
        put_of_run(j, in, run, m, of);
    qs_json_array_end(j);
}

double qs_part_run_metrics_plan_ns(const struct qs_report_input *in, const struct qs_part_metrics_run *of)
{
    const struct qs_run_metrics *run = in->metrics ? qs_job_metrics_find(in->metrics, of->uid) : NULL;
    double sum = 0;
    for (size_t m = 0; run && m < in->metrics->metric_count; m++)
        sum += run->values[m].n > 0 ? qs_view_plan_ns(run->values[m].n, 1, of->opts) : 0;
    return sum;
}
