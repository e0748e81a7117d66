/* What each part of a job's conditions is worth: its arms without one of them, beside the full set. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/layout/finding.h"

static bool is_ablation(const json_t *result)
{
    size_t i;
    const json_t *arm;
    json_array_foreach(json_object_get(result, "arms"), i, arm)
    {
        if (json_is_string(json_object_get(arm, "left_out")))
            return true;
    }
    return false;
}

static const struct qs_finding *finding_of(const struct qs_findings *all, const char *arm)
{
    for (size_t i = 0; i < all->count; i++)
        if (qs_finding_is_duration(&all->at[i]) && strcmp(all->at[i].candidate, arm) == 0)
            return &all->at[i];
    return NULL;
}

static void percent_cell(struct qs_grid *grid, const char *lead, double ratio)
{
    QS_BUF(text);
    qs_buf_str(&text, isfinite(ratio) ? lead : "-");
    if (isfinite(ratio))
        qs_layout_percent(&text, ratio);
    qs_grid_cell(grid, text.data);
}

/* "+3.1 % (+1.2 to +5.0)". */
static void shift_cell(struct qs_grid *grid, const struct qs_finding *f)
{
    char text[96] = "-";
    if (f != NULL && isfinite(f->ratio) && isfinite(f->lo) && isfinite(f->hi))
        snprintf(text, sizeof(text), "%+.1f %% (%+.1f to %+.1f)", (f->ratio - 1) * 100, (f->lo - 1) * 100,
                 (f->hi - 1) * 100);
    qs_grid_cell(grid, text);
}

static void add_row(const struct qs_layout *layout, struct qs_grid *grid, const json_t *arm,
                    const json_t *times, const struct qs_finding *f)
{
    QS_BUF(text);
    struct qs_scale scale;
    double median = qs_json_get_number(times, "median", NAN);
    qs_grid_cell(grid, qs_json_get_text(arm, "left_out", "nothing"));
    qs_layout_scale(layout->unit, median, &scale);
    if (isfinite(median))
        qs_buf_fmt(&text, "%.*f %s", scale.decimals, median / scale.ns, scale.name);
    qs_grid_cell(grid, isfinite(median) ? text.data : "-");
    shift_cell(grid, f);
    percent_cell(grid, "±", qs_json_get_number(times, "half_width_ratio", NAN));
    percent_cell(grid, "", qs_json_get_number(times, "run_cov", NAN));
    qs_buf_clear(&text);
    qs_text_duration(&text, qs_json_get_number(arm, "taken_ns", 0));
    qs_grid_cell(grid, text.data);
    qs_grid_cell(grid, f != NULL ? f->verdict : "");
}

void qs_layout_ablation(const struct qs_layout *layout, const json_t *doc, const json_t *result,
                        struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {{.title = "left out", .most = 40},
                                                    {.title = "median", .right = true, .keep = 1},
                                                    {.title = "shift (interval)", .right = true},
                                                    {.title = "precision", .right = true},
                                                    {.title = "run to run", .right = true},
                                                    {.title = "device time", .right = true},
                                                    {.title = "verdict", .keep = 2}};
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    const json_t *duration = json_array_get(json_object_get(result, "metrics"), 0), *arm;
    struct qs_findings all;
    size_t i;
    if (!is_ablation(result))
        return;
    qs_findings_of_result(doc, result, &all);
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    json_array_foreach(json_object_get(result, "arms"), i, arm)
        add_row(layout, &grid, arm, json_array_get(json_object_get(duration, "arms"), i),
                finding_of(&all, qs_json_get_text(arm, "name", "?")));
    qs_face_wrap(&layout->face, out, "  ", "What each part of the conditions is worth here", QS_INK_BOLD);
    qs_grid_print(&grid, &layout->face, "  ", out);
    qs_face_wrap(&layout->face, out, "  ",
                 "A part that neither shifts the median nor widens precision or spread when it is left out "
                 "costs its device time for nothing.",
                 QS_INK_DIM);
    qs_buf_char(out, '\n');
    qs_findings_done(&all);
}
