/* Results of files as text: one page a series where there are few, one line a series where there are many. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client/api.h"
#include "ctl/layout/changes.h"
#include "ctl/layout/finding.h"
#include "ctl/layout/sample.h"

enum { PAGES_MOST = 4 };

static void add_name(const json_t *result, struct qs_buf *out)
{
    const char *benchmark = qs_json_get_text(result, "benchmark", "");
    const char *metric = qs_json_get_text(result, "metric", "");
    qs_buf_fmt(out, "%s%s%s", benchmark, benchmark[0] != '\0' && metric[0] != '\0' ? " " : "", metric);
}

static void add_title(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    QS_BUF(name);
    add_name(result, &name);
    qs_buf_char(out, '\n');
    qs_face_wrap(&layout->face, out, "", name.data, QS_INK_BOLD);
}

static void analysis_page(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    double factor = 1;
    struct qs_layout own = qs_sample_layout(layout, result, &factor);
    const struct qs_shown shown = {
        .name = qs_json_get_text(result, "metric", ""), .sample = result, .factor = factor};
    add_title(layout, result, out);
    qs_sample_headline(&own, result, factor, out);
    qs_sample_spread(&own, result, factor, out);
    qs_sample_table(&own, &shown, 1, out);
}

static void history_page(const struct qs_layout *layout, const json_t *doc, const json_t *result,
                         struct qs_buf *out)
{
    double factor = 1;
    struct qs_layout own = qs_sample_layout(layout, result, &factor);
    add_title(layout, result, out);
    qs_layout_points(&own, doc, result, factor, out);
}

/* A file's name without its folders. */
static const char *file_name(const json_t *doc, size_t index)
{
    const char *name = qs_json_get_text(json_array_get(json_object_get(doc, "files"), index), "name",
                                        index == 0 ? "a" : "b");
    const char *slash = strrchr(name, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : name;
}

static void comparison_page(const struct qs_layout *layout, const json_t *doc, const json_t *result,
                            struct qs_buf *out)
{
    double factor = 1;
    struct qs_layout own = qs_sample_layout(layout, result, &factor);
    const struct qs_shown shown[] = {
        {.name = "baseline", .sample = json_object_get(result, "base"), .factor = factor},
        {.name = "candidate", .sample = json_object_get(result, "candidate"), .factor = factor}};
    bool runs = strcmp(qs_json_get_text(result, "sentence_per", ""), "run") == 0;
    struct qs_findings all;
    QS_BUF(text);
    add_title(layout, result, out);
    qs_findings_of_result(doc, result, &all);
    for (size_t i = 0; i < all.count; i++) {
        const struct qs_finding *f = &all.at[i];
        qs_buf_fmt(&text, "%s (%.3g %% interval over %s)", f->sentence, f->level * 100,
                   runs ? "runs" : "single values");
        qs_face_wrap(&own.face, out, "  ", text.data, QS_INK_BOLD);
        qs_layout_finding(&own, f, out);
        if (strcmp(f->reason, "too-few-runs") == 0)
            qs_face_wrap(&own.face, out, "  ",
                         "A run is a freshly started process. --per iteration takes each value as a run.",
                         QS_INK_PLAIN);
        qs_layout_opinions(&own, f->opinions, out);
    }
    qs_sample_table(&own, shown, 2, out);
    qs_findings_done(&all);
}

static void cell_value(struct qs_grid *grid, const struct qs_layout *layout, double v)
{
    QS_BUF(text);
    if (isfinite(v))
        qs_sample_value(layout, v, &text);
    qs_grid_cell(grid, isfinite(v) ? text.data : "-");
}

static void cell_name(struct qs_grid *grid, const json_t *result)
{
    QS_BUF(name);
    add_name(result, &name);
    qs_grid_cell(grid, name.data);
}

static void cell_percent(struct qs_grid *grid, double ratio)
{
    char text[32] = "-";
    if (isfinite(ratio))
        snprintf(text, sizeof(text), "%.2f %%", ratio * 100);
    qs_grid_cell(grid, text);
}

static void analysis_row(struct qs_grid *grid, const struct qs_layout *layout, const json_t *result)
{
    double factor = 1;
    const char *one = NULL, *many = NULL;
    char warnings[24];
    int64_t n = 0;
    struct qs_layout own = qs_sample_layout(layout, result, &factor);
    const json_t *ci = qs_sample_interval(result, &one, &many, &n);
    cell_name(grid, result);
    cell_value(grid, &own, qs_json_get_number(ci, "estimate", NAN) * factor);
    cell_value(grid, &own, qs_json_get_number(ci, "lo", NAN) * factor);
    cell_value(grid, &own, qs_json_get_number(ci, "hi", NAN) * factor);
    cell_percent(grid, qs_json_get_number(json_object_get(result, "describe"), "cov_abs", NAN));
    snprintf(warnings, sizeof(warnings), "%zu", json_array_size(json_object_get(result, "warnings")));
    qs_grid_cell(grid, warnings);
}

static void comparison_row(struct qs_grid *grid, const struct qs_layout *layout, const json_t *result)
{
    double factor = 1;
    struct qs_layout own = qs_sample_layout(layout, result, &factor);
    const json_t *v = json_array_get(json_object_get(result, "comparisons"), 0);
    const json_t *base = json_object_get(json_object_get(result, "base"), "run_medians");
    cell_name(grid, result);
    cell_value(grid, &own, qs_json_get_number(base, "estimate", NAN) * factor);
    cell_percent(grid, qs_json_get_number(v, "lo", NAN) - 1);
    cell_percent(grid, qs_json_get_number(v, "hi", NAN) - 1);
    qs_grid_cell(grid, qs_json_get_text(v, "verdict", ""));
}

static void history_row(struct qs_grid *grid, const struct qs_layout *layout, const json_t *result)
{
    char text[32];
    const json_t *changes = json_object_get(json_object_get(result, "labelled"), "changes");
    const json_t *last = json_array_get(changes, json_array_size(changes) - 1);
    (void)layout;
    cell_name(grid, result);
    snprintf(text, sizeof(text), "%" PRId64, qs_json_get_int(result, "points", 0));
    qs_grid_cell(grid, text);
    snprintf(text, sizeof(text), "%zu", json_array_size(changes));
    qs_grid_cell(grid, text);
    cell_percent(grid, qs_json_get_number(last, "ratio", NAN) - 1);
    snprintf(text, sizeof(text), "%" PRId64, qs_json_get_int(last, "from", 0) + 1);
    qs_grid_cell(grid, last != NULL ? text : "-");
}

typedef void row_fn(struct qs_grid *grid, const struct qs_layout *layout, const json_t *result);

struct table {
    row_fn *row;
    size_t columns;
    const struct qs_grid_column *column;
};

static const struct qs_grid_column columns_of_sample[] = {{"", false, 0, 40},   {"median", true, 0, 0},
                                                          {"from", true, 0, 0}, {"to", true, 0, 0},
                                                          {"sd", true, 1, 0},   {"doubts", true, 2, 0}},
                                   columns_of_pair[] = {{"", false, 0, 40},
                                                        {"baseline", true, 1, 0},
                                                        {"from", true, 0, 0},
                                                        {"to", true, 0, 0},
                                                        {"verdict", false, 0, 0}},
                                   columns_of_history[] = {{"", false, 0, 40},
                                                           {"points", true, 1, 0},
                                                           {"changes", true, 0, 0},
                                                           {"the last", true, 0, 0},
                                                           {"from point", true, 0, 0}};

static struct table table_of(const json_t *doc)
{
    const char *kind = qs_json_get_text(doc, "kind", "");
    if (strcmp(kind, "comparison") == 0)
        return (struct table){comparison_row, 5, columns_of_pair};
    if (strcmp(kind, "history") == 0)
        return (struct table){history_row, 5, columns_of_history};
    return (struct table){analysis_row, 6, columns_of_sample};
}

static void table(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    const struct table t = table_of(doc);
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    size_t i;
    const json_t *result;
    qs_grid_init(&grid, t.column, t.columns);
    json_array_foreach(json_object_get(doc, "results"), i, result) t.row(&grid, layout, result);
    qs_buf_char(out, '\n');
    qs_grid_print(&grid, &layout->face, "", out);
}

static void add_head(const struct qs_layout *layout, const json_t *doc, bool compares, struct qs_buf *out)
{
    static const char *const sides[] = {"baseline  ", "candidate  "};
    size_t i;
    const json_t *file;
    json_array_foreach(json_object_get(doc, "files"), i, file)
    {
        QS_BUF(text);
        qs_buf_fmt(&text, "%s%s: ", compares ? sides[i > 0] : "", qs_json_get_text(file, "name", "?"));
        qs_layout_count(&text, qs_json_get_int(file, "values", 0), "value", "values");
        if (qs_json_get_int(file, "series", 1) > 1)
            qs_buf_fmt(&text, " in %" PRId64 " series", qs_json_get_int(file, "series", 1));
        qs_buf_fmt(&text, " (%s)", qs_json_get_text(file, "format", "?"));
        qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BOLD);
    }
}

static void add_unmatched(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    static const char *const keys[] = {"only_in_base", "only_in_candidate"};
    for (size_t k = 0; k < 2; k++) {
        size_t i;
        const json_t *series;
        QS_BUF(text);
        const json_t *list = json_object_get(doc, keys[k]);
        qs_buf_fmt(&text, "Only in %s: ", file_name(doc, k));
        json_array_foreach(list, i, series)
        {
            qs_buf_str(&text, i > 0 ? ", " : "");
            add_name(series, &text);
        }
        if (json_array_size(list) > 0) {
            qs_buf_char(out, '\n');
            qs_face_wrap(&layout->face, out, "", text.data, QS_INK_WARN);
        }
    }
}

void qs_layout_analysis(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    size_t i;
    const json_t *result, *file;
    const json_t *results = json_object_get(doc, "results");
    bool compares = strcmp(qs_json_get_text(doc, "kind", ""), "comparison") == 0;
    add_head(layout, doc, compares, out);
    json_array_foreach(json_object_get(doc, "files"), i, file)
        qs_sample_views(layout, qs_json_get_text(file, "name", "?"), json_object_get(file, "views"), out);
    if (json_array_size(results) > PAGES_MOST) {
        table(layout, doc, out);
    } else {
        json_array_foreach(results, i, result)
        {
            if (compares)
                comparison_page(layout, doc, result, out);
            else if (json_object_get(result, "labelled") != NULL)
                history_page(layout, doc, result, out);
            else
                analysis_page(layout, result, out);
        }
    }
    qs_layout_tally(layout, doc, out);
    add_unmatched(layout, doc, out);
}
