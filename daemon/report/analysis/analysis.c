/* The documents: heads, files, and for each series all that the tables know. */
#include "report/analysis/analysis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/analysis/tables.h"
#include "report/job/opinion.h"
#include "report/verdict/verdict.h"
#include "report/work.h"
#include "stats/twosample.h"
#include "stats/verdict.h"

enum { ANALYSIS_VERSION = 1 };
static const char OPINIONS[] = "opinions";

static void put_options(struct qs_json *j, const struct qs_analysis_opts *opts)
{
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)opts->seed);
    qs_json_kobject(j, "options");
    qs_json_kdouble(j, "level", opts->level);
    qs_json_kdouble(j, "margin_ratio", opts->margin_ratio);
    qs_json_kdouble(j, "resolution", opts->resolution > 0 ? opts->resolution : NAN);
    qs_json_kstring(j, "seed", seed);
    qs_json_kint(j, "resamples", (int64_t)opts->resamples);
    qs_json_kstring(j, "per", opts->per == QS_PER_RUN ? "run" : "iteration");
    qs_json_object_end(j);
}

static void put_file(struct qs_json *j, const struct qs_analysis_file *file,
                     const struct qs_analysis_opts *opts)
{
    qs_json_object(j);
    qs_json_kstring(j, "name", file->name);
    qs_json_kstring(j, "format", qs_format_names[file->import->format]);
    qs_json_kint(j, "bytes", (int64_t)file->bytes);
    qs_json_kint(j, "series", (int64_t)file->import->count);
    qs_json_kint(j, "values", (int64_t)file->import->values);
    qs_views_put(j, &opts->views, &file->tally);
    qs_json_object_end(j);
}

static void put_head(struct qs_json *j, const char *kind, const struct qs_analysis_file *files, size_t count,
                     const struct qs_analysis_opts *opts)
{
    qs_json_object(j);
    qs_json_kstring(j, "kind", kind);
    qs_json_kint(j, "version", ANALYSIS_VERSION);
    qs_json_kstring(j, "quiesce", QS_VERSION);
    put_options(j, opts);
    qs_json_karray(j, "files");
    for (size_t i = 0; i < count; i++)
        put_file(j, &files[i], opts);
    qs_json_array_end(j);
}

static void put_dropped(struct qs_json *j, const struct qs_import_series *s)
{
    qs_json_kobject(j, "dropped");
    for (size_t i = 0; i < QS_DROP_COUNT; i++)
        if (s->dropped[i] > 0)
            qs_json_kint(j, qs_drop_names[i], (int64_t)s->dropped[i]);
    qs_json_object_end(j);
}

static bool lower_is_better(const struct qs_import_series *s, const struct qs_analysis_opts *opts)
{
    enum qs_direction d = s->direction == QS_DIRECTION_UNKNOWN ? opts->direction : s->direction;
    return d != QS_DIRECTION_HIGHER;
}

static void put_names(struct qs_json *j, const struct qs_import_series *s,
                      const struct qs_analysis_opts *opts)
{
    qs_json_kstring(j, "benchmark", s->benchmark);
    qs_json_kstring(j, "metric", s->metric);
    qs_json_kstring(j, "unit", s->unit);
    qs_json_kbool(j, "lower_is_better", lower_is_better(s, opts));
    qs_json_kbool(j, "direction_known", s->direction != QS_DIRECTION_UNKNOWN || opts->direction);
}

static void put_warnings(struct qs_json *j, const struct qs_view *v)
{
    struct qs_analysis_opts opts = *v->opts;
    struct qs_view view = *v;
    double cost_ns = qs_view_cost_ns("warnings", v->n, v->runs, &opts);
    view.opts = &opts;
    if (qs_work_begin(opts.work, "warnings", cost_ns, &opts.progress))
        qs_put_warnings(j, &view);
}

void qs_put_sample(struct qs_json *j, const struct qs_view *v, double lo, double hi)
{
    qs_json_kdouble(j, "scale", v->series->scale);
    qs_json_kint(j, "n", (int64_t)v->n);
    qs_json_kint(j, "runs", (int64_t)v->runs);
    qs_json_kint(j, "n_dropped", (int64_t)v->dropped);
    put_dropped(j, v->series);
    if (!v->opts->line) {
        put_warnings(j, v);
        qs_put_histogram(j, v, lo, hi);
    }
    qs_put_view_stats(j, v);
}

typedef void put_series_fn(struct qs_json *j, const struct qs_import_series *s,
                           const struct qs_analysis_opts *opts);

typedef double plan_series_fn(const struct qs_import_series *s, const struct qs_analysis_opts *opts);

static double plan_analysis(const struct qs_import_series *s, const struct qs_analysis_opts *opts)
{
    return qs_view_plan_ns(s->n, s->runs, opts);
}

static double plan_history(const struct qs_import_series *s, const struct qs_analysis_opts *opts)
{
    return plan_analysis(s, opts) + qs_points_plan_ns(s->runs > 1 ? s->runs : s->n, opts);
}

/* A document with one result for each series of each file. */
static enum qs_status put_document(const char *kind, const struct qs_analysis_file *files, size_t count,
                                   const struct qs_analysis_opts *given, plan_series_fn *plan,
                                   put_series_fn *put, struct qs_buf *out)
{
    struct qs_work work;
    struct qs_analysis_opts opts = *given;
    double planned_ns = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < files[i].import->count; k++)
            planned_ns += plan(&files[i].import->series[k], given);
    qs_work_init(&work, &given->progress, planned_ns);
    opts.work = &work;
    struct qs_json j = qs_json_to(out);
    put_head(&j, kind, files, count, given);
    qs_json_karray(&j, "results");
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < files[i].import->count && !work.ended; k++) {
            qs_json_object(&j);
            qs_json_kint(&j, "file", (int64_t)i);
            put(&j, &files[i].import->series[k], &opts);
            qs_json_object_end(&j);
        }
    }
    qs_json_array_end(&j);
    qs_json_object_end(&j);
    return qs_work_finish(&work);
}

static void put_analysis(struct qs_json *j, const struct qs_import_series *s,
                         const struct qs_analysis_opts *opts)
{
    struct qs_view v;
    double lo, hi;
    qs_view_init(&v, s, opts);
    qs_histogram_range(&v, &lo, &hi);
    put_names(j, s, opts);
    qs_put_sample(j, &v, lo, hi);
    qs_view_done(&v);
}

enum qs_status qs_analysis_describe(const struct qs_analysis_file *files, size_t count,
                                    const struct qs_analysis_opts *opts, struct qs_buf *out)
{
    return put_document("analysis", files, count, opts, plan_analysis, put_analysis, out);
}

static struct qs_pair make_pair(const struct qs_view *base, const struct qs_view *cand, enum qs_basis basis)
{
    bool runs = basis == QS_BASIS_RUNS;
    return (struct qs_pair){.base = base,
                            .cand = cand,
                            .x = runs ? base->medians : base->x,
                            .y = runs ? cand->medians : cand->x,
                            .nx = runs ? base->runs : base->n,
                            .ny = runs ? cand->runs : cand->n,
                            .basis = basis,
                            .lower_is_better = lower_is_better(base->series, base->opts),
                            .opts = base->opts};
}

static void put_sides(struct qs_json *j, const struct qs_view *x, const struct qs_view *y)
{
    double lo[2], hi[2];
    qs_histogram_range(x, &lo[0], &hi[0]);
    qs_histogram_range(y, &lo[1], &hi[1]);
    double least = fmin(lo[0], lo[1]), most = fmax(hi[0], hi[1]);
    qs_json_kobject(j, "base");
    qs_put_sample(j, x, least, most);
    qs_json_object_end(j);
    qs_json_kobject(j, "candidate");
    qs_put_sample(j, y, least, most);
    qs_json_object_end(j);
}

static const char *short_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] != '\0' ? slash + 1 : path;
}

/* For times "b takes 3-5 % longer than a", for everything else how many percent apart they are. */
static bool add_sentence(struct qs_buf *text, const struct qs_analysis_file *files, const struct qs_pair *p,
                         double level)
{
    struct qs_ratio_test t;
    const char *a = short_name(files[0].name), *b = short_name(files[1].name);
    if (qs_log_welch(p->x, p->nx, p->y, p->ny, level, &t) != QS_OK)
        return false;
    if (!isnan(qs_opinions_one_ms(p->base->series->unit)))
        qs_report_sentence(text, a, b, t.ci.lo, t.ci.hi);
    else
        qs_buf_fmt(text, "%s is %+.2f to %+.2f %% from %s", b, (t.ci.lo - 1) * 100, (t.ci.hi - 1) * 100, a);
    return true;
}

/* Where there are too few runs, what the single values say, which is not what a verdict needs. True where it
 * is told over runs. */
static bool add_told(struct qs_buf *text, const struct qs_analysis_file *files, const struct qs_pair *runs,
                     const struct qs_pair *iterations, const struct qs_comparison *c)
{
    double level = qs_verdict_interval(&c->v)->level; /* of the interval that the verdict rests on */
    bool per_run = runs->opts->per == QS_PER_RUN && add_sentence(text, files, runs, level);
    if (!per_run && !add_sentence(text, files, iterations, level))
        qs_buf_fmt(text, "there is no interval of the ratio of %s to %s", short_name(files[1].name),
                   short_name(files[0].name));
    return per_run;
}

static struct qs_side_values side_of(const struct qs_view *view, const double *v, size_t n, enum qs_units of)
{
    struct qs_side_values side = {.v = qs_malloc((n + 1) * sizeof *side.v),
                                  .n = n,
                                  .dropped = view->dropped,
                                  .fold = of,
                                  .run_count = view->runs,
                                  .iteration_count = view->n};
    memcpy(side.v, v, n * sizeof *v);
    return side;
}

static struct qs_comparison judge(const struct qs_judging *how, const struct qs_pair *p,
                                  const struct qs_arm_metric *metric, const struct qs_analysis_file *files)
{
    struct qs_comparison c = qs_comparison_new(how, metric);
    c.units = p->basis == QS_BASIS_RUNS ? QS_UNITS_RUNS : QS_UNITS_ITERATIONS;
    c.side[QS_BASE] = side_of(p->base, p->x, p->nx, c.units);
    c.side[QS_CAND] = side_of(p->cand, p->y, p->ny, c.units);
    c.values[QS_BASE] = p->base->nested;
    c.values[QS_CAND] = p->cand->nested;
    for (int k = 0; k < 2; k++)
        c.names[k] = short_name(files[k].name);
    qs_comparison_conclude(how, &c);
    return c;
}

static struct qs_judging judging_of(const struct qs_view *base, const struct qs_view *cand)
{
    const struct qs_analysis_opts *opts = base->opts;
    double cost_ns = qs_pair_cost_ns(OPINIONS, base->n + cand->n, base->n + cand->n, opts);
    double median = base->sorted[base->n / 2];
    struct qs_judging how = {.alpha = 1 - opts->level,
                             .margin_ratio = opts->margin_ratio,
                             .resolution_ratio =
                                 opts->resolution > 0 && median > 0 ? opts->resolution / median : 0,
                             .seed = opts->seed};
    if (qs_work_begin(opts->work, OPINIONS, cost_ns, &how.progress))
        how.opinions = opts->opinions;
    return how;
}

/* "sentence_per" and "comparisons" of the open object: the one verdict on two files. */
static struct qs_verdict put_verdict(struct qs_json *j, const struct qs_analysis_file *files,
                                     const struct qs_pair *runs, const struct qs_pair *iterations)
{
    const struct qs_import_series *series = runs->base->series;
    const struct qs_arm_metric metric = {
        .name = series->metric, .unit = series->unit, .higher_is_better = !runs->lower_is_better};
    const struct qs_judging how = judging_of(runs->base, runs->cand);
    struct qs_comparison c = judge(&how, runs->opts->per == QS_PER_RUN ? runs : iterations, &metric, files);
    QS_BUF(text);
    bool per_run = add_told(&text, files, runs, iterations, &c);
    c.sentence = text.data;
    qs_json_kstring(j, "sentence_per", per_run ? "run" : "iteration");
    qs_json_karray(j, "comparisons");
    qs_comparison_put(j, &how, &c);
    qs_json_array_end(j);
    qs_file_tables_verdict(runs->opts->rows, series->benchmark, &c);
    qs_comparison_done(&c);
    return c.v;
}

static struct qs_verdict put_comparison(struct qs_json *j, const struct qs_analysis_file *files,
                                        const struct qs_import_series *base,
                                        const struct qs_import_series *cand,
                                        const struct qs_analysis_opts *opts)
{
    struct qs_view x, y;
    qs_view_init(&x, base, opts);
    qs_view_init(&y, cand, opts);
    struct qs_pair runs = make_pair(&x, &y, QS_BASIS_RUNS),
                   iterations = make_pair(&x, &y, QS_BASIS_ITERATIONS);
    qs_json_object(j);
    put_names(j, base, opts);
    struct qs_verdict v = put_verdict(j, files, &runs, &iterations);
    qs_json_kobject(j, "per_run");
    qs_put_pair_stats(j, &runs);
    qs_json_object_end(j);
    qs_json_kobject(j, "per_iteration");
    qs_put_pair_stats(j, &iterations);
    qs_json_object_end(j);
    put_sides(j, &x, &y);
    qs_json_object_end(j);
    qs_view_done(&x);
    qs_view_done(&y);
    return v;
}

static int compare_series(const void *pa, const void *pb)
{
    const struct qs_import_series *a = *(const struct qs_import_series *const *)pa,
                                  *b = *(const struct qs_import_series *const *)pb;
    int order = strcmp(a->benchmark, b->benchmark);
    order = order != 0 ? order : strcmp(a->metric, b->metric);
    return order != 0 ? order : strcmp(a->unit, b->unit);
}

/* The order of names, and of the file among equals. */
static int compare_places(const void *pa, const void *pb)
{
    const struct qs_import_series *a = *(const struct qs_import_series *const *)pa,
                                  *b = *(const struct qs_import_series *const *)pb;
    int order = compare_series(pa, pb);
    return order != 0 ? order : (a > b) - (a < b);
}

/* For each series of `in` the first of the other that is called like it, or NULL. Owned by the caller. */
static const struct qs_import_series **match(const struct qs_import *in, const struct qs_import *other)
{
    const struct qs_import_series **found = qs_calloc(in->count, sizeof *found);
    const struct qs_import_series **order = qs_calloc(other->count, sizeof *order);
    for (size_t i = 0; i < other->count; i++)
        order[i] = &other->series[i];
    if (other->count > 1)
        qsort((void *)order, other->count, sizeof *order, compare_places);
    for (size_t i = 0; i < in->count; i++) {
        const struct qs_import_series *wanted = &in->series[i];
        size_t lo = 0, hi = other->count;
        while (lo < hi) {
            size_t mid = lo + (hi - lo) / 2;
            bool below = compare_series(&order[mid], &wanted) < 0;
            *(below ? &lo : &hi) = below ? mid + 1 : mid;
        }
        if (lo < other->count && compare_series(&order[lo], &wanted) == 0)
            found[i] = order[lo];
    }
    free((void *)order);
    return found;
}

static void put_unmatched(struct qs_json *j, int side, const struct qs_import *in,
                          const struct qs_import *other, struct qs_file_tables *rows)
{
    const struct qs_import_series **found = match(in, other);
    qs_json_karray(j, side == QS_BASE ? "only_in_base" : "only_in_candidate");
    for (size_t i = 0; i < in->count; i++) {
        if (found[i])
            continue;
        qs_json_object(j);
        qs_json_kstring(j, "benchmark", in->series[i].benchmark);
        qs_json_kstring(j, "metric", in->series[i].metric);
        qs_json_kstring(j, "unit", in->series[i].unit);
        qs_json_object_end(j);
        qs_file_tables_alone(rows, side, &in->series[i]);
    }
    qs_json_array_end(j);
    free((void *)found);
}

static double plan_comparison(const struct qs_import_series *base, const struct qs_import_series *cand,
                              const struct qs_analysis_opts *opts)
{
    size_t n_runs = base->runs + cand->runs, n = base->n + cand->n;
    return plan_analysis(base, opts) + plan_analysis(cand, opts) +
           qs_pair_plan_ns(QS_BASIS_RUNS, n_runs, n, opts) +
           qs_pair_plan_ns(QS_BASIS_ITERATIONS, n, n, opts) + qs_pair_cost_ns(OPINIONS, n, n, opts);
}

static void put_results(struct qs_json *j, const struct qs_analysis_file *files,
                        const struct qs_import_series *const *other, const struct qs_analysis_opts *opts,
                        struct qs_family *family)
{
    const struct qs_import *base = files[0].import;
    qs_json_array(j);
    for (size_t i = 0; i < base->count && !opts->work->ended; i++)
        if (other[i]) {
            struct qs_verdict v = put_comparison(j, files, &base->series[i], other[i], opts);
            qs_family_add(family, &base->series[i], &v);
        }
    qs_json_array_end(j);
}

/* Of more results a page has a line each: what a line does not show is not computed. */
enum { PAGES_MOST = 4 };

enum qs_status qs_analysis_compare(const struct qs_analysis_file *files, size_t count,
                                   const struct qs_analysis_opts *given, struct qs_buf *out)
{
    struct qs_work work;
    struct qs_analysis_opts opts = *given;
    const struct qs_import *base = files[0].import, *cand = files[count - 1].import;
    const struct qs_import_series **other = match(base, cand);
    double planned_ns = 0;
    size_t results = 0;
    for (size_t i = 0; i < base->count; i++)
        results += other[i] ? 1 : 0;
    opts.line = opts.page && results > PAGES_MOST;
    for (size_t i = 0; i < base->count; i++)
        planned_ns += other[i] ? plan_comparison(&base->series[i], other[i], &opts) : 0;
    qs_work_init(&work, &given->progress, planned_ns);
    opts.work = &work;
    struct qs_json j = qs_json_to(out);
    put_head(&j, "comparison", files, count, given);
    opts.rows = qs_file_tables_begin(files, given);
    put_unmatched(&j, QS_BASE, base, cand, opts.rows);
    put_unmatched(&j, QS_CAND, cand, base, opts.rows);
    struct qs_family family = {.p = qs_calloc(base->count, sizeof *family.p)};
    qs_json_key(&j, "results");
    put_results(&j, files, other, &opts, &family);
    qs_put_family(&j, &family, given);
    qs_file_tables_end(opts.rows, &family.tally, &j);
    qs_json_object_end(&j);
    free(family.p);
    qs_tally_done(&family.tally);
    free((void *)other);
    return qs_work_finish(&work);
}

static void put_history(struct qs_json *j, const struct qs_import_series *s,
                        const struct qs_analysis_opts *opts)
{
    struct qs_view v;
    double lo, hi;
    qs_view_init(&v, s, opts);
    qs_histogram_range(&v, &lo, &hi);
    bool medians = v.runs > 1;
    const struct qs_points points = {.view = &v,
                                     .v = medians ? v.medians : v.x,
                                     .n = medians ? v.runs : v.n,
                                     .labels = medians ? NULL : s->labels};
    put_names(j, s, opts);
    qs_json_kint(j, "points", (int64_t)points.n);
    qs_json_kstring(j, "point", medians ? "run-median" : "value");
    qs_put_points(j, &points);
    qs_put_points_stats(j, &points);
    qs_put_sample(j, &v, lo, hi);
    qs_view_done(&v);
}

enum qs_status qs_analysis_history(const struct qs_analysis_file *files, size_t count,
                                   const struct qs_analysis_opts *opts, struct qs_buf *out)
{
    return put_document("history", files, count, opts, plan_history, put_history, out);
}
