#include "ctl/layout/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client/api.h"
#include "ctl/layout/finding.h"
#include "ctl/layout/sample.h"

enum { SENTENCES_MOST = 6, NAME_COLUMNS = 12, TITLE_COLUMNS = 28 };

static bool ends_with(const char *name, const char *unit)
{
    size_t n = strlen(name), k = strlen(unit);
    return n > k && strcmp(name + n - k, unit) == 0;
}

/* A count has no digits behind the point. */
static bool is_whole(const struct qs_layout *own, double factor, double v)
{
    return own->plain_unit != NULL && !(factor < 1) && fabs(v) < 1e15 && v == (double)(int64_t)v;
}

/* The layout for its values: what is no time has no unit beside its numbers, the title says it; what is kept
 * in millionths has, since the name says something else. */
static struct qs_layout layout_of(const struct qs_layout *layout, const json_t *metric, double *ret_factor)
{
    struct qs_layout own = qs_sample_layout(layout, metric, ret_factor);
    if (own.plain_unit != NULL && !(*ret_factor < 1))
        own.plain_unit = "";
    return own;
}

void qs_metric_title(const json_t *metric, struct qs_buf *out)
{
    double factor;
    const char *name = qs_json_get_text(metric, "metric", "?"), *unit = qs_json_get_text(metric, "unit", "");
    const struct qs_layout none = {.face = {.width = QS_FACE_USUAL}};
    bool told = unit[0] == '\0' || ends_with(name, unit) ||
                layout_of(&none, metric, &factor).plain_unit == NULL || factor < 1;
    qs_buf_str(out, name);
    if (!told)
        qs_buf_fmt(out, " (%s)", unit);
}

/* A value in the metric's unit, without it where the title has it; "-" where it is not known. */
static void metric_value(const struct qs_layout *layout, const json_t *metric, double v, struct qs_buf *out)
{
    double factor;
    const struct qs_layout own = layout_of(layout, metric, &factor);
    if (is_whole(&own, factor, v))
        qs_buf_fmt(out, "%.0f", v);
    else if (isfinite(v))
        qs_sample_value(&own, v * factor, out);
    else
        qs_buf_char(out, '-');
}

/* "12.3–12.9 ms" likewise. */
static void metric_range(const struct qs_layout *layout, const json_t *metric, double lo, double hi,
                         double typical, struct qs_buf *out)
{
    double factor;
    const struct qs_layout own = layout_of(layout, metric, &factor);
    if (is_whole(&own, factor, lo) && is_whole(&own, factor, hi))
        qs_buf_fmt(out, "%.0f–%.0f", lo, hi);
    else if (isfinite(lo) && isfinite(hi))
        qs_sample_range(&own, lo * factor, hi * factor, typical * factor, out);
    else
        qs_buf_char(out, '-');
}

static bool is_change(const struct qs_finding *f)
{
    static const char *const changes[] = {"regression", "improvement", "probable-regression",
                                          "probable-improvement"};
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        if (strcmp(f->verdict, changes[i]) == 0)
            return true;
    return false;
}

/* The duration has been told. */
static bool is_told(const struct qs_finding *f)
{
    return !qs_finding_is_duration(f) && (is_change(f) || json_array_size(f->opinions) > 0);
}

/* Changes alone, unless there are so many that the table says it better. */
static void add_sentences(const struct qs_layout *layout, const struct qs_findings *all, struct qs_buf *out)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        count += is_told(&all->at[i]);
    if (count > SENTENCES_MOST)
        return;
    for (size_t i = 0; i < all->count; i++) {
        const struct qs_finding *f = &all->at[i];
        if (!is_told(f))
            continue;
        qs_face_wrap(&layout->face, out, "  ", f->sentence, QS_INK_BOLD);
        qs_layout_finding(layout, f, out);
        qs_layout_opinions(layout, f->opinions, out);
        qs_buf_char(out, '\n');
    }
}

static void cell(struct qs_grid *grid, struct qs_buf *text)
{
    qs_grid_cell(grid, text->data);
    qs_buf_clear(text);
}

static void value_cell(const struct qs_layout *layout, struct qs_grid *grid, const json_t *metric, double v)
{
    QS_BUF(text);
    metric_value(layout, metric, v, &text);
    cell(grid, &text);
}

static void title_cell(struct qs_grid *grid, const json_t *metric, bool first)
{
    QS_BUF(text);
    if (first)
        qs_metric_title(metric, &text);
    cell(grid, &text);
}

/* A candidate: beside the baseline's median its own. */
static void add_candidate(const struct qs_layout *layout, struct qs_grid *grid, const json_t *metric,
                          const struct qs_finding *f, bool first, bool named)
{
    char verdict[48];
    title_cell(grid, metric, first);
    if (first)
        value_cell(layout, grid, metric, f->base);
    else
        qs_grid_cell(grid, "");
    if (named)
        qs_grid_cell(grid, f->candidate);
    value_cell(layout, grid, metric, f->cand);
    qs_finding_change(grid, f);
    snprintf(verdict, sizeof(verdict), "%s%s", f->verdict, f->stands ? "" : "?");
    qs_grid_cell(grid, verdict);
}

static void add_compared(const struct qs_layout *layout, const json_t *result, const struct qs_findings *all,
                         struct qs_buf *out)
{
    const json_t *metrics = json_object_get(result, "metrics"),
                 *first = json_array_get(json_object_get(result, "comparisons"), 0);
    bool named = all->count > json_array_size(metrics);
    struct qs_grid_column columns[6] = {{.title = "metric", .most = TITLE_COLUMNS}};
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    size_t n = 1;
    columns[n++] =
        (struct qs_grid_column){.title = qs_json_get_text(first, "base_arm", "?"), .right = true, .keep = 3};
    if (named)
        columns[n++] = (struct qs_grid_column){.title = "arm", .most = NAME_COLUMNS};
    columns[n++] =
        (struct qs_grid_column){.title = named ? "median" : all->at[0].candidate, .right = true, .keep = 2};
    columns[n++] = (struct qs_grid_column){.title = "change", .right = true, .keep = 1};
    columns[n++] = (struct qs_grid_column){.title = "verdict"};
    qs_grid_init(&grid, columns, n);
    for (size_t i = 0; i < all->count; i++) {
        const struct qs_finding *f = &all->at[i];
        bool begins = i == 0 || strcmp(all->at[i - 1].metric, f->metric) != 0;
        if (!qs_finding_is_duration(f))
            add_candidate(layout, &grid, qs_metric_named(result, f->metric), f, begins, named);
    }
    qs_grid_print(&grid, &layout->face, "  ", out);
}

/* One arm alone: its interval. */
static void add_alone(const struct qs_layout *layout, const json_t *metrics, struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {{.title = "metric", .most = TITLE_COLUMNS},
                                                    {.title = "median", .right = true},
                                                    {.title = "interval", .right = true},
                                                    {.title = "runs", .right = true, .keep = 1}};
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    QS_BUF(text);
    size_t m;
    const json_t *metric;
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    json_array_foreach(metrics, m, metric)
    {
        const json_t *arm = json_array_get(json_object_get(metric, "arms"), 0);
        if (m == 0) /* the duration has been told */
            continue;
        double median = qs_json_get_number(arm, "median", NAN);
        title_cell(&grid, metric, true);
        value_cell(layout, &grid, metric, median);
        metric_range(layout, metric, qs_json_get_number(arm, "median_lo", NAN),
                     qs_json_get_number(arm, "median_hi", NAN), median, &text);
        cell(&grid, &text);
        qs_buf_fmt(&text, "%" PRId64, qs_json_get_int(arm, "runs", 0));
        cell(&grid, &text);
    }
    qs_grid_print(&grid, &layout->face, "  ", out);
}

void qs_layout_metrics(const struct qs_layout *layout, const json_t *doc, const json_t *result,
                       struct qs_buf *out)
{
    const json_t *metrics = json_object_get(result, "metrics");
    struct qs_findings all;
    if (json_array_size(metrics) < 2)
        return;
    qs_findings_of_result(doc, result, &all);
    qs_buf_char(out, '\n');
    qs_face_wrap(&layout->face, out, "  ", "Other metrics", QS_INK_BOLD);
    add_sentences(layout, &all, out);
    if (all.count > 0)
        add_compared(layout, result, &all, out);
    else
        add_alone(layout, metrics, out);
    qs_findings_done(&all);
}

static void add_sample(const struct qs_layout *layout, struct qs_grid *grid, const json_t *metric)
{
    static const char *const quantiles[] = {"p05", "p25", "p75", "p95"};
    const json_t *sample = json_object_get(metric, "sample");
    const char *one = NULL, *many = NULL;
    int64_t n = 0;
    QS_BUF(text);
    const json_t *ci = qs_sample_interval(sample, &one, &many, &n);
    double median = qs_json_get_number(ci, "estimate", NAN);
    title_cell(grid, metric, true);
    value_cell(layout, grid, metric, median);
    metric_range(layout, metric, qs_json_get_number(ci, "lo", NAN), qs_json_get_number(ci, "hi", NAN), median,
                 &text);
    cell(grid, &text);
    qs_buf_fmt(&text, "%" PRId64, qs_json_get_int(sample, "n", 0));
    cell(grid, &text);
    for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
        value_cell(layout, grid, metric,
                   qs_json_get_number(json_object_get(sample, "quantiles"), quantiles[i], NAN));
}

static void add_warnings(const struct qs_layout *layout, const json_t *metric, struct qs_buf *out)
{
    size_t i;
    const json_t *w;
    QS_BUF(text);
    int64_t missing = qs_json_get_int(metric, "runs_missing", 0);
    const char *name = qs_json_get_text(metric, "metric", "?");
    if (missing > 0) {
        qs_buf_fmt(&text, "%s: ", name);
        qs_layout_count(&text, missing, "run has", "runs have");
        qs_buf_str(&text, " no value of it");
        qs_face_wrap(&layout->face, out, "  - ", text.data, QS_INK_PLAIN);
    }
    json_array_foreach(json_object_get(json_object_get(metric, "sample"), "warnings"), i, w)
    {
        /* That a deterministic metric does not vary is what its program says of it. */
        if (qs_json_get_true(metric, "deterministic") &&
            strcmp(qs_json_get_text(w, "code", ""), "constant") == 0)
            continue;
        qs_buf_clear(&text);
        qs_buf_fmt(&text, "%s: %s", name, qs_json_get_text(w, "text", ""));
        qs_face_wrap(&layout->face, out, "  - ", text.data, QS_INK_PLAIN);
    }
}

void qs_layout_metric_samples(const struct qs_layout *layout, const json_t *part, struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {
        {.title = "metric", .most = TITLE_COLUMNS}, {.title = "median", .right = true},
        {.title = "interval", .right = true},       {.title = "n", .right = true, .keep = 1},
        {.title = "p5", .right = true, .keep = 2},  {.title = "p25", .right = true, .keep = 4},
        {.title = "p75", .right = true, .keep = 5}, {.title = "p95", .right = true, .keep = 3}};
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    size_t i;
    const json_t *metrics = json_object_get(part, "metrics");
    if (json_array_size(metrics) < 2)
        return;
    qs_buf_char(out, '\n');
    qs_face_wrap(&layout->face, out, "  ", "Other metrics (--metric NAME shows one in full)", QS_INK_BOLD);
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    for (i = 1; i < json_array_size(metrics); i++)
        add_sample(layout, &grid, json_array_get(metrics, i));
    qs_grid_print(&grid, &layout->face, "  ", out);
    for (i = 1; i < json_array_size(metrics); i++)
        add_warnings(layout, json_array_get(metrics, i), out);
}
