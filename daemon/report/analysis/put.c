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

static void find_steady_states(struct qs_view *v, const struct qs_progress *progress)
{
    const struct qs_analysis_opts *given = v->opts;
    struct qs_analysis_opts opts = *given;
    double runs = (double)v->runs;
    v->opts = &opts;
    for (size_t i = 0; i < v->runs; i++) {
        opts.progress = qs_progress_part(progress, (double)i / runs, (double)(i + 1) / runs);
        enum qs_status status = qs_steady_of_run(v, i, &v->steady[i]);
        v->steady_status = i == 0 ? status : v->steady_status;
    }
    v->opts = given;
}

void qs_view_init(struct qs_view *v, const struct qs_import_series *series,
                  const struct qs_analysis_opts *opts)
{
    struct qs_progress piece;
    double cost_ns = opts->line ? 0 : qs_view_cost_ns("steady_state", series->n, series->runs, opts);
    (void)qs_work_begin(opts->work, "steady_state", cost_ns, &piece); /* what follows asks by itself */
    *v = (struct qs_view){.series = series,
                          .x = series->v,
                          .n = series->n,
                          .runs = series->runs,
                          .nested = {.v = series->v, .off = series->off, .k = series->runs},
                          .opts = opts};
    v->id = qs_analysis_stream(qs_analysis_stream(1, series->benchmark), series->metric);
    if (qs_sorted_copy(series->v, series->n, &v->sorted) != QS_OK)
        v->sorted = qs_calloc(series->n, sizeof *v->sorted);
    v->medians = qs_calloc(series->runs, sizeof *v->medians);
    v->means = qs_calloc(series->runs, sizeof *v->means);
    v->minima = qs_calloc(series->runs, sizeof *v->minima);
    for (size_t i = 0; i < series->runs; i++) {
        struct qs_moments m;
        const double *from = series->v + series->off[i];
        size_t n = series->off[i + 1] - series->off[i];
        (void)qs_moments(from, n, &m);
        (void)qs_median(series->runs == 1 ? v->sorted : from, n, &v->medians[i]);
        v->means[i] = m.mean;
        v->minima[i] = m.min;
    }
    v->ess = (struct qs_ess){NAN, NAN, NAN, NAN, NAN};
    v->ess_status = opts->line ? QS_ENODATA : qs_ess(series->v, series->n, NULL, 0, &v->ess);
    for (size_t i = 0; i < QS_DROP_COUNT; i++)
        v->dropped += series->dropped[i];
    v->steady = qs_calloc(series->runs, sizeof *v->steady);
    if (!opts->line)
        find_steady_states(v, &piece);
}

void qs_view_done(struct qs_view *v)
{
    free(v->sorted);
    free(v->medians);
    free(v->means);
    free(v->minima);
    free(v->steady);
}

void qs_put_numbers(struct qs_json *j, const char *key, const double *v, size_t n)
{
    qs_json_karray(j, key);
    for (size_t i = 0; i < n; i++)
        qs_json_double(j, v[i]);
    qs_json_array_end(j);
}

void qs_put_counts(struct qs_json *j, const char *key, const size_t *v, size_t n)
{
    qs_json_karray(j, key);
    for (size_t i = 0; i < n; i++)
        qs_json_uint(j, v[i]);
    qs_json_array_end(j);
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

static bool is_left_out(const struct qs_view_stat *row, const struct qs_analysis_opts *opts)
{
    const struct qs_stat *stat = &row->stat;
    return (opts->line && !is_on_line(stat->name)) ||
           (opts->brief && stat->random && row->basis == QS_BASIS_ITERATIONS) ||
           (opts->page && !is_on_page(stat->name));
}

static void put_view_table(struct qs_json *j, const struct qs_view *v, const struct qs_view_stat *rows,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct qs_stat *stat = &rows[i].stat;
        struct qs_stat_head head = {.n_used = rows[i].basis == QS_BASIS_RUNS ? v->runs : v->n,
                                    .n_dropped = v->dropped,
                                    .seed = v->opts->seed};
        if (is_left_out(&rows[i], v->opts))
            continue;
        struct qs_analysis_opts opts = *v->opts;
        struct qs_view row = *v;
        row.opts = &opts;
        double cost_ns = qs_view_cost_ns(stat->name, v->n, v->runs, &opts);
        if (!qs_work_begin(opts.work, stat->name, cost_ns, &opts.progress))
            return; /* nobody reads the document */
        QS_FREED void *told = qs_calloc(1, stat->bytes);
        head.status = rows[i].tell(&row, told);
        qs_put_stat(j, stat, &head, told);
    }
}

void qs_put_view_stats(struct qs_json *j, const struct qs_view *v)
{
    put_view_table(j, v, qs_one_stats, qs_one_stat_count);
    put_view_table(j, v, qs_shape_stats, qs_shape_stat_count);
    put_view_table(j, v, qs_mode_stats, qs_mode_stat_count);
    put_view_table(j, v, qs_run_stats, qs_run_stat_count);
}

static bool is_pair_left_out(const struct qs_pair_stat *row, enum qs_basis basis,
                             const struct qs_analysis_opts *opts)
{
    return (row->runs_only && basis != QS_BASIS_RUNS) || (opts->page && !is_on_page(row->stat.name));
}

static void put_pair_table(struct qs_json *j, const struct qs_pair *p, const struct qs_pair_stat *rows,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct qs_stat *stat = &rows[i].stat;
        if (is_pair_left_out(&rows[i], p->basis, p->opts))
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
        head.status = rows[i].tell(&pair, told);
        qs_put_stat(j, stat, &head, told);
    }
}

void qs_put_pair_stats(struct qs_json *j, const struct qs_pair *p)
{
    put_pair_table(j, p, qs_two_stats, qs_two_stat_count);
    put_pair_table(j, p, qs_rank_stats, qs_rank_stat_count);
    put_pair_table(j, p, qs_rule_stats, qs_rule_stat_count);
}

void qs_put_points_stats(struct qs_json *j, const struct qs_points *p)
{
    for (size_t i = 0; i < qs_points_stat_count; i++) {
        const struct qs_stat *stat = &qs_points_stats[i].stat;
        if (p->view->opts->page && !is_on_page(stat->name))
            continue;
        struct qs_stat_head head = {
            .n_used = p->n, .n_dropped = p->view->dropped, .seed = p->view->opts->seed};
        struct qs_analysis_opts opts = *p->view->opts;
        struct qs_view view = *p->view;
        struct qs_points points = *p;
        view.opts = &opts;
        points.view = &view;
        double cost_ns = qs_points_cost_ns(stat->name, p->n, &opts);
        if (!qs_work_begin(opts.work, stat->name, cost_ns, &opts.progress))
            return;
        QS_FREED void *told = qs_calloc(1, stat->bytes);
        head.status = qs_points_stats[i].tell(&points, told);
        qs_put_stat(j, stat, &head, told);
    }
}

static double plan_table(const struct qs_view_stat *rows, size_t count, size_t n, size_t n_runs,
                         const struct qs_analysis_opts *opts)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += is_left_out(&rows[i], opts) ? 0 : qs_view_cost_ns(rows[i].stat.name, n, n_runs, opts);
    return sum;
}

double qs_view_plan_ns(size_t n, size_t n_runs, const struct qs_analysis_opts *opts)
{
    double looks = opts->line ? 0
                              : qs_view_cost_ns("steady_state", n, n_runs, opts) +
                                    qs_view_cost_ns("warnings", n, n_runs, opts);
    return looks + plan_table(qs_one_stats, qs_one_stat_count, n, n_runs, opts) +
           plan_table(qs_shape_stats, qs_shape_stat_count, n, n_runs, opts) +
           plan_table(qs_mode_stats, qs_mode_stat_count, n, n_runs, opts) +
           plan_table(qs_run_stats, qs_run_stat_count, n, n_runs, opts);
}

double qs_pair_plan_ns(enum qs_basis basis, size_t n, size_t values, const struct qs_analysis_opts *opts)
{
    const struct qs_pair_stat *const tables[] = {qs_two_stats, qs_rank_stats, qs_rule_stats};
    const size_t counts[] = {qs_two_stat_count, qs_rank_stat_count, qs_rule_stat_count};
    double sum = 0;
    for (size_t t = 0; t < 3; t++)
        for (size_t i = 0; i < counts[t]; i++)
            if (!is_pair_left_out(&tables[t][i], basis, opts))
                sum += qs_pair_cost_ns(tables[t][i].stat.name, n, values, opts);
    return sum;
}

double qs_points_plan_ns(size_t n, const struct qs_analysis_opts *opts)
{
    double sum = 0;
    for (size_t i = 0; i < qs_points_stat_count; i++)
        if (!opts->page || is_on_page(qs_points_stats[i].stat.name))
            sum += qs_points_cost_ns(qs_points_stats[i].stat.name, n, opts);
    return sum;
}
