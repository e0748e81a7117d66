/* The report on a job or a run (schema/report.md) as text: the interval first. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client/api.h"
#include "ctl/findings.h"
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
    if (!json_is_object(floor)) /* the duration alone has one */
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
        heading(layout, out, "What correlates with the times");
        qs_grid_print(&grid, &layout->face, "  ", out);
    } else {
        qs_buf_fmt(
            &text,
            "Nothing that was read around the windows correlates with the times (%zu rank correlations)",
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
static json_t *all_warnings(const json_t *sample, const json_t *of_arm)
{
    json_t *all = json_array();
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(sample, "warnings"), i, one) json_array_append(all, one);
    json_array_foreach(of_arm, i, one)
    {
        if (!qs_sample_warns(sample, qs_json_get_text(one, "code", "")))
            json_array_append(all, one);
    }
    return all;
}

/* The parts of a metric from its interval to what is wrong with it. */
static void add_metric(const struct qs_layout *layout, const json_t *metric, const char *name,
                       const json_t *of_arm, struct qs_buf *out)
{
    double factor;
    const struct qs_layout own = qs_sample_layout(layout, metric, &factor);
    const json_t *sample = json_object_get(metric, "sample"), *floor = json_object_get(metric, "floor");
    const struct qs_shown shown = {.name = name,
                                   .sample = sample,
                                   .factor = factor,
                                   .no_floor = json_is_object(floor) && !qs_json_get_true(floor, "verified")};
    json_t *page =
        json_pack("{s:[{s:s, s:o}]}", "arms", "name", name, "warnings", all_warnings(sample, of_arm));
    qs_sample_headline(&own, sample, factor, out);
    qs_sample_spread(&own, sample, factor, out);
    qs_sample_views(&own, "", json_object_get(metric, "views"), out);
    qs_buf_char(out, '\n');
    qs_layout_table(&own, &shown, 1, out);
    add_floor(&own, floor, out);
    qs_layout_histogram(&own, &shown, 1, out);
    qs_layout_strip(&own, json_object_get(metric, "strip"), out);
    add_covariates(&own, json_object_get(metric, "covariates"), out);
    qs_layout_doubts(&own, NULL, page, out);
    json_decref(page);
}

static void add_title(const struct qs_layout *layout, const json_t *metric, struct qs_buf *out)
{
    QS_BUF(title);
    qs_metric_title(metric, &title);
    qs_buf_fmt(&title, ", %s is better%s", qs_json_get_true(metric, "lower_is_better") ? "lower" : "higher",
               strcmp(qs_json_get_text(metric, "of", ""), "windows") == 0 ? ", one value a window" : "");
    wrap(layout, out, title.data, QS_INK_BOLD);
}

/* `part`: a run's document, or an arm of a job's. One metric in full, the duration with a row of each other.
 */
static void add_part(const struct qs_layout *layout, const json_t *part, const char *name, struct qs_buf *out)
{
    bool one = layout->metric != NULL;
    const json_t *metric = qs_metric_named(part, one ? layout->metric : "duration_ns");
    if (!json_is_object(json_object_get(metric, "sample"))) {
        wrap(layout, out, one ? "There is no accepted value." : "There is no accepted iteration.",
             QS_INK_WARN);
        return;
    }
    if (one)
        add_title(layout, metric, out);
    add_metric(layout, metric, name, one ? NULL : json_object_get(part, "warnings"), out);
    if (!one)
        qs_layout_metric_samples(layout, part, out);
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
