/* A metric of an arm or a run as a sample of its own, the duration like any other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/analysis/impl.h"
#include "report/job/metrics.h"
#include "report/job/parts.h"

static bool is_duration(const struct qs_part_metric *p)
{
    return p->metric == &qs_duration_metric;
}

/* The runs as one series of values; what was left out is counted. */
static void series_init(struct qs_import_series *s, const struct qs_part_metric *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        n += p->runs[i].n;
    /* What is drawn for a series is keyed by its name: results that are stored can be computed again. */
    *s = (struct qs_import_series){.benchmark = qs_strdup(p->label),
                                   .metric = qs_strdup(is_duration(p) ? "duration" : p->metric->name),
                                   .unit = qs_strdup(p->metric->unit),
                                   .direction =
                                       p->metric->higher_is_better ? QS_DIRECTION_HIGHER : QS_DIRECTION_LOWER,
                                   .scale = 1,
                                   .v = qs_calloc(n, sizeof *s->v),
                                   .off = qs_calloc(p->count + 1, sizeof *s->off),
                                   .runs = p->count};
    for (size_t i = 0; i < p->count; i++) {
        for (size_t k = 0; k < p->runs[i].n; k++)
            s->v[s->n++] = p->runs[i].v[k];
        s->off[i + 1] = s->n;
    }
    memcpy(s->dropped, p->dropped, sizeof s->dropped);
    for (size_t i = 0; i < p->views.count; i++)
        s->dropped[QS_DROP_VIEW] += p->tally.dropped[i];
}

static void series_done(struct qs_import_series *s)
{
    free(s->benchmark);
    free(s->metric);
    free(s->unit);
    free(s->v);
    free(s->off);
}

static double least(const struct qs_import_series *s)
{
    double min = NAN;
    for (size_t i = 0; i < s->n; i++)
        min = fmin(min, s->v[i]);
    return min;
}

static void put_of_windows(struct qs_json *j, const struct qs_part_metric *p,
                           const struct qs_import_series *s)
{
    struct qs_part_windows windows;
    size_t count = p->count + (p->strip ? p->missing : 0); /* of a run: they are there whatever views left */
    if (!p->windows) {
        qs_json_key(j, "floor");
        qs_json_null(j);
        qs_json_key(j, "covariates");
        qs_json_null(j);
        return;
    }
    qs_part_windows(&windows, p->windows, p->runs, count);
    qs_put_part_floor(j, &windows, least(s));
    qs_put_part_covariates(j, &windows, p->runs, count);
    qs_part_windows_done(&windows);
}

static void put_strip(struct qs_json *j, const struct qs_part_metric *p, const struct qs_import_series *s)
{
    QS_FREED double *medians = qs_calloc(p->count, sizeof *medians);
    for (size_t i = 0; i < p->count; i++)
        medians[i] = p->runs[i].median;
    const struct qs_strip of_runs = {.of = "runs", .x = medians, .n = p->count},
                          of_values = {
                              .of = p->metric->of_windows ? "windows" : "iterations", .x = s->v, .n = s->n};
    qs_put_part_strip(j, p->strip ? p->strip : p->count > 1 ? &of_runs : &of_values);
}

static void put_sample(struct qs_json *j, const struct qs_import_series *s,
                       const struct qs_analysis_opts *opts)
{
    struct qs_sample sample;
    qs_json_key(j, "sample");
    if (s->n == 0) {
        qs_json_null(j);
        return;
    }
    qs_sample_init(&sample, s, opts);
    const struct qs_told_sample told = qs_tell_sample(&sample);
    qs_put_object(j, qs_sample_rows, &told);
    qs_sample_done(&sample);
}

void qs_put_part_metric(struct qs_json *j, const struct qs_part_metric *p, const struct qs_analysis_opts *how)
{
    struct qs_analysis_opts opts = *how;
    struct qs_import_series series;
    series_init(&series, p);
    opts.resolution = is_duration(p) ? 0 : 1; /* others are whole numbers of their unit */
    qs_json_object(j);
    qs_report_put_metric_kind(j, p->metric);
    qs_json_kint(j, "runs", (int64_t)p->count);
    qs_json_kint(j, "runs_missing", (int64_t)p->missing);
    qs_json_kint(j, "values", (int64_t)series.n);
    qs_views_put(j, &p->views, &p->tally);
    put_of_windows(j, p, &series);
    put_strip(j, p, &series);
    put_sample(j, &series, &opts);
    qs_json_object_end(j);
    series_done(&series);
}
