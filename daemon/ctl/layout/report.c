/* The report on a job or a run (schema/report.md) as text: the interval first. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client/api.h"
#include "ctl/layout/metrics.h"
#include "ctl/layout/sample.h"

enum { TOLD_COVARIATES = 5 };
#define TOLD_P 0.05

static void wrap(const struct qs_layout *layout, struct qs_buf *out, const char *text, enum qs_ink ink)
{
    qs_face_wrap(&layout->face, out, "  ", text, ink);
}

static void heading(const struct qs_layout *layout, struct qs_buf *out, const char *text)
{
    qs_buf_char(out, '\n');
    wrap(layout, out, text, QS_INK_BOLD);
}

/* --- floor --- */

static void add_floor(const struct qs_layout *layout, const json_t *floor, struct qs_buf *out)
{
    QS_BUF(text);
    double ns = qs_json_get_number(floor, "ns", NAN);
    if (floor == NULL)
        return;
    if (qs_json_get_true(floor, "verified") && isfinite(ns)) {
        qs_buf_str(&text, "Floor ");
        qs_sample_value(layout, ns, &text);
        qs_buf_fmt(&text, ": %s", qs_json_get_text(floor, "text", ""));
        wrap(layout, out, text.data, QS_INK_PLAIN);
    } else {
        qs_buf_fmt(&text, "No floor: %s", qs_json_get_text(floor, "text", ""));
        wrap(layout, out, text.data, QS_INK_DIM);
    }
}

/* --- covariates --- */

static void covariate_row(struct qs_grid *grid, const json_t *row)
{
    char text[160];
    const char *name = qs_json_get_text(row, "name", "?");
    const char *per = qs_json_get_text(row, "per", "");
    snprintf(text, sizeof(text), "%.100s%s%.40s", name, per[0] != '\0' ? " per " : "", per);
    qs_grid_cell(grid, text);
    qs_grid_cell(grid, qs_json_get_text(row, "of", ""));
    snprintf(text, sizeof(text), "%+.2f", qs_json_get_number(row, "rho", NAN));
    qs_grid_cell(grid, text);
    snprintf(text, sizeof(text), "%.2g", qs_json_get_number(row, "p_bh", NAN));
    qs_grid_cell(grid, text);
    snprintf(text, sizeof(text), "%" PRId64, qs_json_get_int(row, "n", 0));
    qs_grid_cell(grid, text);
}

static void add_covariates(const struct qs_layout *layout, const json_t *found, struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {{.title = "association, not cause", .most = 60},
                                                    {.title = "of", .keep = 2},
                                                    {.title = "rank corr.", .right = true},
                                                    {.title = "p adj.", .right = true},
                                                    {.title = "n", .right = true, .keep = 1}};
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    QS_BUF(text);
    size_t i, told = 0;
    const json_t *row, *rows = json_object_get(found, "rows");
    if (json_array_size(rows) == 0)
        return;
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    json_array_foreach(rows, i, row)
    {
        if (told == TOLD_COVARIATES || !(qs_json_get_number(row, "p_bh", 1) <= TOLD_P))
            continue;
        covariate_row(&grid, row);
        told++;
    }
    if (told > 0) {
        heading(layout, out, "What rises and falls with the times");
        qs_grid_print(&grid, &layout->face, "  ", out);
    } else {
        qs_buf_fmt(&text,
                   "Nothing that was read around the windows goes with the times (%zu rank correlations)",
                   json_array_size(rows));
        qs_buf_char(out, '\n');
        wrap(layout, out, text.data, QS_INK_DIM);
    }
}

/* --- levels --- */

static void number_cell(struct qs_grid *grid, const char *fmt, double v)
{
    char text[32] = "-";
    if (isfinite(v))
        snprintf(text, sizeof(text), fmt, v);
    qs_grid_cell(grid, text);
}

static void add_levels(const struct qs_layout *layout, const json_t *point, struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {{.title = "level"},
                                                    {.title = "units", .right = true},
                                                    {.title = "variance", .right = true},
                                                    {.title = "sd", .right = true, .keep = 2},
                                                    {.title = "impact", .right = true},
                                                    {.title = "", .keep = 1, .most = 44}};
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    QS_BUF(text);
    size_t i;
    const json_t *level, *levels = json_object_get(point, "levels");
    if (json_array_size(levels) == 0)
        return;
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    json_array_foreach(levels, i, level)
    {
        char units[32];
        snprintf(units, sizeof(units), "%" PRId64, qs_json_get_int(level, "units", 0));
        qs_grid_cell(&grid, qs_json_get_text(level, "level", "?"));
        qs_grid_cell(&grid, units);
        number_cell(&grid, "%.0f %%", qs_json_get_number(level, "share", NAN) * 100);
        number_cell(&grid, "%.2f %%", qs_json_get_number(level, "sd_ratio", NAN) * 100);
        number_cell(&grid, "%.2f", qs_json_get_number(level, "impact", NAN));
        qs_grid_cell(&grid, qs_json_get_text(level, "why", ""));
    }
    heading(layout, out, "Where the variance comes from");
    qs_grid_print(&grid, &layout->face, "  ", out);
    qs_buf_str(&text, qs_json_get_text(point, "levels_sentence", ""));
    if (text.len > 0 && text.data[0] >= 'a' && text.data[0] <= 'z')
        text.data[0] = (char)(text.data[0] - 'a' + 'A');
    wrap(layout, out, text.data, QS_INK_PLAIN);
}

/* --- one sample --- */

/* The sample's warnings, and those of the arm that say something else. */
static json_t *all_warnings(const json_t *part)
{
    json_t *all = json_array();
    size_t i;
    json_t *one;
    const json_t *sample = json_object_get(part, "sample");
    json_array_foreach(json_object_get(sample, "warnings"), i, one) json_array_append(all, one);
    json_array_foreach(json_object_get(part, "warnings"), i, one)
    {
        if (!qs_sample_warns(sample, qs_json_get_text(one, "code", "")))
            json_array_append(all, one);
    }
    return all;
}

/* The parts of a sample from its interval to what is wrong with it; factor makes its values ns, or 1. */
static void add_sample(const struct qs_layout *layout, const json_t *part, const char *name, double factor,
                       struct qs_buf *out)
{
    const json_t *sample = json_object_get(part, "sample"), *floor = json_object_get(part, "floor");
    const struct qs_shown shown = {.name = name,
                                   .sample = sample,
                                   .factor = factor,
                                   .no_floor = floor != NULL && !qs_json_get_true(floor, "verified")};
    json_t *page = json_pack("{s:[{s:s, s:o}]}", "arms", "name", name, "warnings", all_warnings(part));
    qs_sample_headline(layout, sample, factor, out);
    qs_sample_spread(layout, sample, factor, out);
    qs_sample_views(layout, "", json_object_get(part, "views"), out);
    qs_buf_char(out, '\n');
    qs_layout_table(layout, &shown, 1, out);
    add_floor(layout, floor, out);
    qs_layout_histogram(layout, &shown, 1, out);
    qs_layout_strip(layout, json_object_get(part, "strip"), out);
    add_covariates(layout, json_object_get(part, "covariates"), out);
    qs_layout_doubts(layout, NULL, page, out);
    json_decref(page);
}

static const json_t *metric_of(const json_t *part, const char *name)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(part, "metrics"), i,
                       one) if (strcmp(qs_json_get_text(one, "metric", ""), name) == 0) return one;
    return NULL;
}

/* One metric in full, in place of the duration. */
static void add_metric(const struct qs_layout *layout, const json_t *metric, const char *name,
                       struct qs_buf *out)
{
    double factor;
    QS_BUF(title);
    const struct qs_layout own = qs_sample_layout(layout, metric, &factor);
    if (!json_is_object(json_object_get(metric, "sample"))) {
        wrap(layout, out, "There is no accepted value.", QS_INK_WARN);
        return;
    }
    qs_metric_title(metric, &title);
    qs_buf_fmt(&title, ", %s is better%s", qs_json_get_true(metric, "lower_is_better") ? "lower" : "higher",
               strcmp(qs_json_get_text(metric, "of", ""), "windows") == 0 ? ", one value a window" : "");
    wrap(layout, out, title.data, QS_INK_BOLD);
    add_sample(&own, metric, name, factor, out);
}

/* `part`: a run's document, or an arm of a job's. */
static void add_part(const struct qs_layout *layout, const json_t *part, const char *name, struct qs_buf *out)
{
    if (layout->metric != NULL) {
        add_metric(layout, metric_of(part, layout->metric), name, out);
    } else if (!json_is_object(json_object_get(part, "sample"))) {
        wrap(layout, out, "There is no accepted iteration.", QS_INK_WARN);
    } else {
        add_sample(layout, part, name, 1, out);
        qs_layout_metric_samples(layout, part, out);
    }
}

static void add_rule(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    const json_t *rule = json_object_get(doc, "rule");
    const char *stop = qs_json_get_text(rule, "stop", "");
    const json_t *stops = json_object_get(rule, "stops"), *of;
    QS_BUF(text);
    size_t i;
    if (stop[0] != '\0' && json_array_size(stops) < 2)
        qs_buf_fmt(&text, "Stop rule of a run: %s. ", stop);
    json_array_foreach(json_array_size(stops) > 1 ? stops : NULL, i, of)
        qs_buf_fmt(&text, "Stop rule of a run under `%s`: %s. ", qs_json_get_text(of, "conditions", "?"),
                   qs_json_get_text(of, "stop", "none"));
    qs_buf_fmt(&text, "What stands for it: %s; outliers are %s.", qs_json_get_text(rule, "location", "?"),
               qs_json_get_text(rule, "outliers", "?"));
    qs_buf_char(out, '\n');
    wrap(layout, out, text.data, QS_INK_DIM);
}

static void add_group_warnings(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(result, "warnings"), i, one)
        qs_face_wrap(&layout->face, out, "  - ", qs_json_get_text(one, "text", ""), QS_INK_PLAIN);
}

static void add_result(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    size_t i;
    const json_t *arm;
    QS_BUF(text);
    json_array_foreach(json_object_get(result, "arms"), i, arm)
    {
        qs_buf_clear(&text);
        qs_buf_fmt(&text, "%s: %s on %s%s", qs_json_get_text(arm, "name", "?"),
                   qs_json_get_text(result, "label", "?"), qs_json_get_text(result, "device", "?"),
                   qs_json_get_true(result, "simulated") ? " (simulated)" : "");
        qs_buf_char(out, '\n');
        qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BOLD);
        add_part(layout, arm, qs_json_get_text(arm, "name", "?"), out);
    }
    if (json_array_size(json_object_get(result, "warnings")) > 0)
        qs_buf_char(out, '\n');
    add_group_warnings(layout, result, out);
}

void qs_layout_report(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    size_t i;
    const json_t *one;
    if (strcmp(qs_json_get_text(doc, "kind", ""), "run") == 0) {
        qs_buf_char(out, '\n');
        add_part(layout, doc, qs_json_get_text(doc, "arm", "?"), out);
        add_rule(layout, doc, out);
        return;
    }
    const json_t *results = json_object_get(doc, "results"), *points = json_object_get(doc, "points");
    json_array_foreach(results, i, one) add_result(layout, one, out);
    json_array_foreach(points, i, one)
    {
        if (json_array_size(points) > 1) {
            qs_buf_char(out, '\n');
            qs_face_wrap(&layout->face, out, "", qs_json_get_text(one, "label", "?"), QS_INK_BOLD);
        }
        if (layout->metric == NULL) /* they are those of the duration */
            add_levels(layout, one, out);
    }
    if (json_array_size(results) > 0)
        add_rule(layout, doc, out);
}
