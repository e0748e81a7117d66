/* How statistics are written: heads, fields, and the tables from their first row to their last. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/analysis/impl.h"
#include "report/work.h"
#include "stats/bootstrap.h"
#include "stats/describe.h"
#include "stats/sum.h"

struct qs_analysis_opts qs_analysis_opts_default(void)
{
    return (struct qs_analysis_opts){.level = 0.95,
                                     .margin_ratio = 0.02,
                                     .seed = 1,
                                     .resamples = 10000,
                                     .change_window = 50,
                                     .change_p_max = 0.001};
}

/* FNV-1a of the name, from a start that the series gives. */
uint64_t qs_analysis_stream(uint64_t id, const char *statistic)
{
    uint64_t h = 14695981039346656037u ^ (id * 0x9e3779b97f4a7c15u);
    for (const char *s = statistic; *s != '\0'; s++)
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    return h;
}

enum { DRAWS_MOST = 100000000 };

size_t qs_analysis_resamples(const struct qs_analysis_opts *opts, size_t n)
{
    size_t most = DRAWS_MOST / (n > 0 ? n : 1);
    most = most > QS_BOOT_RESAMPLES_MIN ? most : QS_BOOT_RESAMPLES_MIN;
    return opts->resamples < most ? opts->resamples : most;
}

static void find_steady_states(struct qs_sample *s, const struct qs_progress *progress)
{
    const struct qs_analysis_opts *given = s->opts;
    struct qs_analysis_opts opts = *given;
    double runs = (double)s->runs;
    s->opts = &opts;
    for (size_t i = 0; i < s->runs; i++) {
        opts.progress = qs_progress_part(progress, (double)i / runs, (double)(i + 1) / runs);
        enum qs_status status = qs_steady_of_run(s, i, &s->steady[i]);
        s->steady_status = i == 0 ? status : s->steady_status;
    }
    s->opts = given;
}

void qs_sample_init(struct qs_sample *s, const struct qs_import_series *series,
                    const struct qs_analysis_opts *opts)
{
    struct qs_progress piece;
    double cost_ns = opts->line ? 0 : qs_sample_cost_ns("steady_state", series->n, series->runs, opts);
    (void)qs_work_begin(opts->work, "steady_state", cost_ns, &piece); /* what follows asks by itself */
    *s = (struct qs_sample){.series = series,
                            .x = series->v,
                            .n = series->n,
                            .runs = series->runs,
                            .nested = {.v = series->v, .off = series->off, .k = series->runs},
                            .opts = opts};
    s->id = qs_analysis_stream(qs_analysis_stream(1, series->benchmark), series->metric);
    if (qs_sorted_copy(series->v, series->n, &s->sorted) != QS_OK)
        s->sorted = qs_calloc(series->n, sizeof *s->sorted);
    s->medians = qs_calloc(series->runs, sizeof *s->medians);
    s->means = qs_calloc(series->runs, sizeof *s->means);
    s->minima = qs_calloc(series->runs, sizeof *s->minima);
    for (size_t i = 0; i < series->runs; i++) {
        struct qs_moments m;
        const double *from = series->v + series->off[i];
        size_t n = series->off[i + 1] - series->off[i];
        (void)qs_moments(from, n, &m);
        (void)qs_median(series->runs == 1 ? s->sorted : from, n, &s->medians[i]);
        s->means[i] = m.mean;
        s->minima[i] = m.min;
    }
    s->ess = (struct qs_ess){NAN, NAN, NAN, NAN, NAN};
    s->ess_status = opts->line ? QS_ENODATA : qs_ess(series->v, series->n, NULL, 0, &s->ess);
    for (size_t i = 0; i < QS_DROP_COUNT; i++)
        s->dropped += series->dropped[i];
    s->steady = qs_calloc(series->runs, sizeof *s->steady);
    if (!opts->line)
        find_steady_states(s, &piece);
}

void qs_sample_done(struct qs_sample *s)
{
    free(s->sorted);
    free(s->medians);
    free(s->means);
    free(s->minima);
    free(s->steady);
}

/* What the layouts of quiesce (ctl/layout/) and its exports read: to show more, name it here too. */
static bool is_on_page(const char *name)
{
    static const char *const names[] = {
        "describe",          "quantiles",           "median_ci", "median_ci_dependent", "run_medians",
        "mean_ci_dependent", "variance_components", "labelled",  "change_points",       "drift"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool is_on_line(const char *name)
{
    return strcmp(name, "describe") == 0 || strcmp(name, "run_medians") == 0;
}

static bool is_left_out(const struct qs_sample_stat *row, const struct qs_analysis_opts *opts)
{
    const struct qs_stat *stat = &row->stat;
    return (opts->line && !is_on_line(stat->name)) ||
           (opts->brief && stat->random && row->basis == QS_BASIS_ITERATIONS) ||
           (opts->page && !is_on_page(stat->name));
}

const struct qs_stat_table qs_sample_tables[] = {{&qs_one_stats->stat, sizeof *qs_one_stats},
                                                 {&qs_shape_stats->stat, sizeof *qs_shape_stats},
                                                 {&qs_mode_stats->stat, sizeof *qs_mode_stats},
                                                 {&qs_run_stats->stat, sizeof *qs_run_stats},
                                                 {NULL, 0}};

static const struct qs_sample_stat *view_at(size_t i)
{
    return (const void *)qs_stat_at(qs_sample_tables, i);
}

static void put_view(struct qs_json *j, const void *at)
{
    const struct qs_sample *s = *(const struct qs_sample *const *)at;
    const struct qs_sample_stat *row;
    for (size_t i = 0; (row = view_at(i)); i++) {
        const struct qs_stat *stat = &row->stat;
        struct qs_stat_head head = {.n_used = row->basis == QS_BASIS_RUNS ? s->runs : s->n,
                                    .n_dropped = s->dropped,
                                    .seed = s->opts->seed};
        if (is_left_out(row, s->opts))
            continue;
        struct qs_analysis_opts opts = *s->opts;
        struct qs_sample sample = *s;
        sample.opts = &opts;
        double cost_ns = qs_sample_cost_ns(stat->name, s->n, s->runs, &opts);
        if (!qs_work_begin(opts.work, stat->name, cost_ns, &opts.progress))
            return; /* nobody reads the document */
        QS_FREED void *told = qs_calloc(1, stat->bytes);
        head.status = row->tell(&sample, told);
        qs_put_stat(j, stat, &head, told);
    }
}

const struct qs_field qs_sample_stat_rows[] = {QS_STATS_PART(qs_sample_tables, put_view), {.name = NULL}};

const struct qs_stat_table qs_pair_tables[] = {{&qs_two_stats->stat, sizeof *qs_two_stats},
                                               {&qs_rank_stats->stat, sizeof *qs_rank_stats},
                                               {&qs_rule_stats->stat, sizeof *qs_rule_stats},
                                               {NULL, 0}};

static const struct qs_pair_stat *pair_at(size_t i)
{
    return (const void *)qs_stat_at(qs_pair_tables, i);
}

static bool is_pair_left_out(const struct qs_pair_stat *row, enum qs_basis basis,
                             const struct qs_analysis_opts *opts)
{
    return (row->stat.runs_only && basis != QS_BASIS_RUNS) || (opts->page && !is_on_page(row->stat.name));
}

static void put_pair(struct qs_json *j, const void *at)
{
    const struct qs_pair *p = at;
    const struct qs_pair_stat *row;
    for (size_t i = 0; (row = pair_at(i)); i++) {
        const struct qs_stat *stat = &row->stat;
        if (is_pair_left_out(row, p->basis, p->opts))
            continue;
        struct qs_stat_head head = {
            .n_used = p->nx + p->ny, .n_dropped = p->base->dropped + p->cand->dropped, .seed = p->opts->seed};
        struct qs_analysis_opts opts = *p->opts;
        struct qs_pair pair = *p;
        pair.opts = &opts;
        double cost_ns = qs_pair_cost_ns(stat->name, head.n_used, p->base->n + p->cand->n, &opts);
        if (!qs_work_begin(opts.work, stat->name, cost_ns, &opts.progress))
            return;
        QS_FREED void *told = qs_calloc(1, stat->bytes);
        head.status = row->tell(&pair, told);
        qs_put_stat(j, stat, &head, told);
    }
}

const struct qs_field qs_pair_rows[] = {QS_STATS_PART(qs_pair_tables, put_pair), {.name = NULL}};

const struct qs_stat_table qs_points_tables[] = {{&qs_points_stats->stat, sizeof *qs_points_stats},
                                                 {NULL, 0}};

static const struct qs_points_stat *points_at(size_t i)
{
    return (const void *)qs_stat_at(qs_points_tables, i);
}

static void put_points(struct qs_json *j, const void *at)
{
    const struct qs_points *p = at;
    const struct qs_points_stat *row;
    for (size_t i = 0; (row = points_at(i)); i++) {
        const struct qs_stat *stat = &row->stat;
        if (p->sample->opts->page && !is_on_page(stat->name))
            continue;
        struct qs_stat_head head = {
            .n_used = p->n, .n_dropped = p->sample->dropped, .seed = p->sample->opts->seed};
        struct qs_analysis_opts opts = *p->sample->opts;
        struct qs_sample sample = *p->sample;
        struct qs_points points = *p;
        sample.opts = &opts;
        points.sample = &sample;
        double cost_ns = qs_points_cost_ns(stat->name, p->n, &opts);
        if (!qs_work_begin(opts.work, stat->name, cost_ns, &opts.progress))
            return;
        QS_FREED void *told = qs_calloc(1, stat->bytes);
        head.status = row->tell(&points, told);
        qs_put_stat(j, stat, &head, told);
    }
}

static void put_values(struct qs_json *j, const void *at)
{
    const struct qs_points *p = at;
    qs_json_array(j);
    for (size_t i = 0; i < p->n; i++)
        qs_json_double(j, p->v[i]);
    qs_json_array_end(j);
}

static void put_labels(struct qs_json *j, const void *at)
{
    const struct qs_points *p = at;
    qs_json_array(j);
    for (size_t i = 0; p->labels && i < p->n; i++)
        qs_json_string(j, p->labels[i]);
    qs_json_array_end(j);
}

const struct qs_field qs_points_rows[] = {
    QS_ROW_AS("points", qs_points, n, COUNT, "points of the history"),
    QS_ROW_AS("point", qs_points, of, TEXT, "what a point is",
              .words = (const char *const[]){"value", "run-median", NULL}),
    QS_ROW_PUT("values", put_values, NUMBERS, "the points, in the order of time"),
    QS_ROW_PUT("labels", put_labels, TEXTS,
               "their names, as many as there are points; empty where the file has none"),
    QS_STATS_PART(qs_points_tables, put_points),
    {.name = NULL}};

double qs_sample_plan_ns(size_t n, size_t n_runs, const struct qs_analysis_opts *opts)
{
    const struct qs_sample_stat *row;
    double sum = opts->line ? 0
                            : qs_sample_cost_ns("steady_state", n, n_runs, opts) +
                                  qs_sample_cost_ns("warnings", n, n_runs, opts);
    for (size_t i = 0; (row = view_at(i)); i++)
        sum += is_left_out(row, opts) ? 0 : qs_sample_cost_ns(row->stat.name, n, n_runs, opts);
    return sum;
}

double qs_pair_plan_ns(enum qs_basis basis, size_t n, size_t values, const struct qs_analysis_opts *opts)
{
    const struct qs_pair_stat *row;
    double sum = 0;
    for (size_t i = 0; (row = pair_at(i)); i++)
        sum += is_pair_left_out(row, basis, opts) ? 0 : qs_pair_cost_ns(row->stat.name, n, values, opts);
    return sum;
}

double qs_points_plan_ns(size_t n, const struct qs_analysis_opts *opts)
{
    const struct qs_points_stat *row;
    double sum = 0;
    for (size_t i = 0; (row = points_at(i)); i++)
        sum += opts->page && !is_on_page(row->stat.name) ? 0 : qs_points_cost_ns(row->stat.name, n, opts);
    return sum;
}
