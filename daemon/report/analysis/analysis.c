/* The documents: a head, and for each series all that the tables know. */
#include "report/analysis/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/analysis/frame.h"
#include "report/analysis/tables.h"
#include "report/job/opinion.h"
#include "report/verdict/verdict.h"
#include "report/work.h"
#include "stats/twosample.h"
#include "stats/verdict.h"

static const char OPINIONS[] = "opinions";

typedef void put_series_fn(struct qs_json *j, size_t file, const struct qs_import_series *s,
                           const struct qs_analysis_opts *opts);

typedef double plan_series_fn(const struct qs_import_series *s, const struct qs_analysis_opts *opts);

static double plan_analysis(const struct qs_import_series *s, const struct qs_analysis_opts *opts)
{
    return qs_sample_plan_ns(s->n, s->runs, opts);
}

static double plan_history(const struct qs_import_series *s, const struct qs_analysis_opts *opts)
{
    return plan_analysis(s, opts) + qs_points_plan_ns(s->runs > 1 ? s->runs : s->n, opts);
}

struct document {
    const char *kind;
    struct qs_told_head head;
    const struct qs_analysis_file *files;
    size_t count;
    const struct qs_analysis_opts *opts;
    put_series_fn *put; /* a result; NULL: of a comparison, as what follows */
    const struct qs_import_series *const *other;
    struct qs_field_list only_in_base, only_in_candidate;
    struct qs_family *family;
};

static void put_whole(const struct qs_field *rows, struct document *d, struct qs_buf *out)
{
    struct qs_json j = qs_json_to(out);
    qs_put_object(&j, rows, d);
    qs_fields_free(rows, d);
}

static void put_results(struct qs_json *j, const void *at)
{
    const struct document *d = at;
    qs_json_array(j);
    for (size_t i = 0; i < d->count; i++)
        for (size_t k = 0; k < d->files[i].import->count && !d->opts->work->ended; k++)
            d->put(j, i, &d->files[i].import->series[k], d->opts);
    qs_json_array_end(j);
}

/* A document with one result for each series of each file. */
static enum qs_status put_document(const struct qs_field *rows, const struct qs_analysis_file *files,
                                   size_t count, const struct qs_analysis_opts *given, plan_series_fn *plan,
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
    struct document d = {.kind = rows->words[0], .files = files, .count = count, .opts = &opts, .put = put};
    qs_tell_head(files, count, given, &d.head);
    put_whole(rows, &d, out);
    return qs_work_finish(&work);
}

struct result {
    size_t file;
    struct qs_told_series series;
    struct qs_points points;
    struct qs_told_sample sample;
};

static const struct qs_field described_rows[] = {QS_ROW(result, file, COUNT, "index into files"),
                                                 QS_ROWS_OF(result, series, qs_series_rows),
                                                 QS_ROWS_OF(result, sample, qs_sample_rows),
                                                 {.name = NULL}};

static void put_described(struct qs_json *j, size_t file, const struct qs_import_series *s,
                          const struct qs_analysis_opts *opts)
{
    struct qs_sample sample;
    qs_sample_init(&sample, s, opts);
    const struct result r = {
        .file = file, .series = qs_tell_series(s, opts), .sample = qs_tell_sample(&sample)};
    qs_put_object(j, described_rows, &r);
    qs_sample_done(&sample);
}

const struct qs_field qs_analysis_rows[] = {
    QS_ROW(document, kind, TEXT, "of document", .words = (const char *const[]){"analysis", NULL}),
    QS_ROWS_OF(document, head, qs_head_rows),
    QS_ROW_PUT("results", put_results, OBJECTS, "one a series", .of = described_rows),
    {.name = NULL}};

enum qs_status qs_analysis_describe(const struct qs_analysis_file *files, size_t count,
                                    const struct qs_analysis_opts *opts, struct qs_buf *out)
{
    return put_document(qs_analysis_rows, files, count, opts, plan_analysis, put_described, out);
}

static struct qs_pair make_pair(const struct qs_sample *base, const struct qs_sample *cand,
                                enum qs_basis basis)
{
    bool runs = basis == QS_BASIS_RUNS;
    return (struct qs_pair){.base = base,
                            .cand = cand,
                            .x = runs ? base->medians : base->x,
                            .y = runs ? cand->medians : cand->x,
                            .nx = runs ? base->runs : base->n,
                            .ny = runs ? cand->runs : cand->n,
                            .basis = basis,
                            .lower_is_better = qs_tell_series(base->series, base->opts).lower_is_better,
                            .opts = base->opts};
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

static struct qs_side_values side_of(const struct qs_sample *sample, const double *v, size_t n,
                                     enum qs_units of)
{
    struct qs_side_values side = {.v = qs_malloc((n + 1) * sizeof *side.v),
                                  .n = n,
                                  .dropped = sample->dropped,
                                  .fold = of,
                                  .run_count = sample->runs,
                                  .iteration_count = sample->n};
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

static struct qs_judging judging_of(const struct qs_sample *base, const struct qs_sample *cand)
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

struct compared {
    struct qs_told_series series;
    enum qs_unit_of_work sentence_per;
    const struct qs_judging *how;
    const struct qs_comparison *of;
    struct qs_pair per_run, per_iteration;
    struct qs_told_sample base, candidate;
};

static void put_verdict(struct qs_json *j, const void *at)
{
    const struct compared *told = at;
    qs_json_array(j);
    qs_comparison_put(j, told->how, told->of);
    qs_json_array_end(j);
}

static const struct qs_field compared_rows[] = {
    QS_ROWS_OF(compared, series, qs_series_rows),
    QS_ROW(compared, sentence_per, WORD, "what its sentence is of", .words = qs_per_words),
    QS_ROW_PUT("comparisons", put_verdict, OBJECTS, "the one verdict, in the form of all comparisons",
               .ref = "verdict.schema.json"),
    QS_ROW(compared, per_run, WITHIN, "from run medians", .of = qs_pair_rows, .ref = "#/$defs/pair"),
    QS_ROW(compared, per_iteration, WITHIN, "from single values", .of = qs_pair_rows, .ref = "#/$defs/pair"),
    QS_ROW(compared, base, WITHIN, "the baseline", .of = qs_sample_rows, .ref = "#/$defs/sample"),
    QS_ROW(compared, candidate, WITHIN, "what is compared with it", .of = qs_sample_rows,
           .ref = "#/$defs/sample"),
    {.name = NULL}};

static struct qs_verdict put_comparison(struct qs_json *j, const struct document *d,
                                        const struct qs_import_series *base,
                                        const struct qs_import_series *cand)
{
    struct qs_sample x, y;
    qs_sample_init(&x, base, d->opts);
    qs_sample_init(&y, cand, d->opts);
    const struct qs_judging how = judging_of(&x, &y);
    struct compared told = {.series = qs_tell_series(base, d->opts),
                            .how = &how,
                            .per_run = make_pair(&x, &y, QS_BASIS_RUNS),
                            .per_iteration = make_pair(&x, &y, QS_BASIS_ITERATIONS),
                            .base = qs_tell_sample(&x),
                            .candidate = qs_tell_sample(&y)};
    const struct qs_arm_metric metric = {
        .name = base->metric, .unit = base->unit, .higher_is_better = !told.series.lower_is_better};
    struct qs_comparison c =
        judge(&how, d->opts->per == QS_PER_RUN ? &told.per_run : &told.per_iteration, &metric, d->files);
    QS_BUF(text);
    bool per_run = add_told(&text, d->files, &told.per_run, &told.per_iteration, &c);
    c.sentence = text.data;
    told.of = &c;
    told.sentence_per = per_run ? QS_PER_RUN : QS_PER_ITERATION;
    told.base.lo = told.candidate.lo = fmin(told.base.lo, told.candidate.lo);
    told.base.hi = told.candidate.hi = fmax(told.base.hi, told.candidate.hi);
    qs_put_object(j, compared_rows, &told);
    qs_file_tables_verdict(d->opts->rows, base->benchmark, &c);
    qs_comparison_done(&c);
    qs_sample_done(&x);
    qs_sample_done(&y);
    return c.v;
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

static struct qs_field_list tell_unmatched(int side, const struct qs_import *in,
                                           const struct qs_import *other, struct qs_file_tables *rows)
{
    const struct qs_import_series **found = match(in, other);
    struct qs_told_name *told = qs_calloc(in->count, sizeof *told);
    struct qs_field_list list = {.v = told};
    for (size_t i = 0; i < in->count; i++) {
        if (found[i])
            continue;
        told[list.n++] = qs_tell_name(&in->series[i]);
        qs_file_tables_alone(rows, side, &in->series[i]);
    }
    free((void *)found);
    return list;
}

static double plan_comparison(const struct qs_import_series *base, const struct qs_import_series *cand,
                              const struct qs_analysis_opts *opts)
{
    size_t n_runs = base->runs + cand->runs, n = base->n + cand->n;
    return plan_analysis(base, opts) + plan_analysis(cand, opts) +
           qs_pair_plan_ns(QS_BASIS_RUNS, n_runs, n, opts) +
           qs_pair_plan_ns(QS_BASIS_ITERATIONS, n, n, opts) + qs_pair_cost_ns(OPINIONS, n, n, opts);
}

static void put_comparisons(struct qs_json *j, const void *at)
{
    const struct document *d = at;
    const struct qs_import *base = d->files[0].import;
    qs_json_array(j);
    for (size_t i = 0; i < base->count && !d->opts->work->ended; i++)
        if (d->other[i]) {
            struct qs_verdict v = put_comparison(j, d, &base->series[i], d->other[i]);
            qs_family_add(d->family, &base->series[i], &v);
        }
    qs_json_array_end(j);
}

struct told_tables {
    const char *tables;
};
static const struct qs_field tables_rows[] = {
    QS_ROW(told_tables, tables, TEXT, "where tables are asked for: the comparison for people, in that form",
           .known = true, .optional = true),
    {.name = NULL}};

static void put_tables(struct qs_json *j, const void *at)
{
    const struct document *d = at;
    const struct told_tables told = {qs_file_tables_end(d->opts->rows, &d->family->tally)};
    qs_put_fields(j, tables_rows, &told);
}

const struct qs_field qs_compared_rows[] = {
    QS_ROW(document, kind, TEXT, "of document", .words = (const char *const[]){"comparison", NULL}),
    QS_ROWS_OF(document, head, qs_head_rows),
    QS_ROW(document, only_in_base, OBJECTS, "series that the candidate lacks", .of = qs_name_rows,
           .bytes = sizeof(struct qs_told_name)),
    QS_ROW(document, only_in_candidate, OBJECTS, "series that the baseline lacks", .of = qs_name_rows,
           .bytes = sizeof(struct qs_told_name)),
    QS_ROW_PUT("results", put_comparisons, OBJECTS, "one a series that both have", .of = compared_rows),
    QS_ROWS_OF(document, family, qs_family_rows),
    {.kind = QS_FIELD_PART, .put = put_tables, .of = tables_rows},
    {.name = NULL}};

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
    struct qs_family family = {.p = qs_calloc(base->count, sizeof *family.p), .level = given->level};
    struct document d = {
        .kind = qs_compared_rows->words[0], .files = files, .opts = &opts, .other = other, .family = &family};
    opts.rows = qs_file_tables_begin(files, given);
    qs_tell_head(files, count, given, &d.head);
    d.only_in_base = tell_unmatched(QS_BASE, base, cand, opts.rows);
    d.only_in_candidate = tell_unmatched(QS_CAND, cand, base, opts.rows);
    put_whole(qs_compared_rows, &d, out);
    free(family.p);
    qs_tally_done(&family.tally);
    free((void *)other);
    return qs_work_finish(&work);
}

static const struct qs_field history_rows[] = {QS_ROW(result, file, COUNT, "index into files"),
                                               QS_ROWS_OF(result, series, qs_series_rows),
                                               QS_ROWS_OF(result, points, qs_points_rows),
                                               QS_ROWS_OF(result, sample, qs_sample_rows),
                                               {.name = NULL}};

static void put_history(struct qs_json *j, size_t file, const struct qs_import_series *s,
                        const struct qs_analysis_opts *opts)
{
    struct qs_sample sample;
    qs_sample_init(&sample, s, opts);
    bool medians = sample.runs > 1;
    const struct result r = {.file = file,
                             .series = qs_tell_series(s, opts),
                             .points = {.sample = &sample,
                                        .v = medians ? sample.medians : sample.x,
                                        .n = medians ? sample.runs : sample.n,
                                        .labels = medians ? NULL : s->labels,
                                        .of = medians ? "run-median" : "value"},
                             .sample = qs_tell_sample(&sample)};
    qs_put_object(j, history_rows, &r);
    qs_sample_done(&sample);
}

const struct qs_field qs_history_rows[] = {
    QS_ROW(document, kind, TEXT, "of document", .words = (const char *const[]){"history", NULL}),
    QS_ROWS_OF(document, head, qs_head_rows),
    QS_ROW_PUT("results", put_results, OBJECTS, "one a series", .of = history_rows),
    {.name = NULL}};

enum qs_status qs_analysis_history(const struct qs_analysis_file *files, size_t count,
                                   const struct qs_analysis_opts *opts, struct qs_buf *out)
{
    return put_document(qs_history_rows, files, count, opts, plan_history, put_history, out);
}
