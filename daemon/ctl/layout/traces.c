/* The fastest and the slowest iteration, and where to look for their reasons. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

static void time_cell(const struct qs_layout *layout, struct qs_grid *grid, const json_t *object,
                      const char *key, const char *sign, int64_t evals)
{
    char text[64];
    struct qs_scale scale;
    double ns = (double)qs_json_get_int(object, key, 0) / (double)(evals > 0 ? evals : 1);
    qs_layout_scale(layout->unit, ns, &scale);
    snprintf(text, sizeof text, "%s%.*f %s", sign, scale.decimals, ns / scale.ns, scale.name);
    qs_grid_cell(grid, text);
}

/* One iteration; returns whether it has a trace. */
static bool add_row(const struct qs_layout *layout, struct qs_grid *grid, const json_t *group,
                    const char *key, const char *title)
{
    const json_t *x = json_object_get(group, key), *trace = json_object_get(x, "trace");
    char text[64];
    if (!json_is_object(x))
        return false;
    qs_grid_cell(grid, title);
    time_cell(layout, grid, x, "duration_ns", "", qs_json_get_int(x, "evals", 1)); /* as reports have it */
    snprintf(text, sizeof text, "%" PRId64, qs_json_get_int(x, "block", 0));
    qs_grid_cell(grid, text);
    snprintf(text, sizeof text, "%" PRId64, qs_json_get_int(x, "seq", 0));
    qs_grid_cell(grid, text);
    qs_grid_cell(grid, qs_json_get_text(trace, "name", "-"));
    if (json_object_get(trace, "offset_ns") != NULL)
        time_cell(layout, grid, trace, "offset_ns", "+", 1);
    else
        qs_grid_cell(grid, json_is_object(trace) ? "nearest" : "");
    qs_grid_cell(grid, qs_json_get_text(trace, "run", qs_json_get_text(x, "run", "?")));
    return json_is_object(trace);
}

static bool print_group(const struct qs_layout *layout, const json_t *group, struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {{.title = "iteration"},
                                                    {.title = "took", .right = true},
                                                    {.title = "block", .right = true, .keep = 1},
                                                    {.title = "seq", .right = true, .keep = 1},
                                                    {.title = "trace"},
                                                    {.title = "at", .right = true},
                                                    {.title = "of run"}};
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    QS_BUF(text);
    qs_buf_fmt(&text, "traces of %s on %s, point %" PRId64, qs_json_get_text(group, "arm_name", "?"),
               qs_json_get_text(group, "device", "?"), qs_json_get_int(group, "point", 0));
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_PLAIN);
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    bool any = add_row(layout, &grid, group, "fastest", "fastest");
    any = add_row(layout, &grid, group, "slowest", "slowest") || any;
    any = add_row(layout, &grid, group, "traced_fastest", "fastest traced") || any;
    any = add_row(layout, &grid, group, "traced_slowest", "slowest traced") || any;
    qs_grid_print(&grid, &layout->face, "    ", out);
    return any;
}

void qs_layout_traces(const struct qs_layout *layout, const json_t *groups, struct qs_buf *out)
{
    size_t i;
    const json_t *group;
    bool any = false;
    json_array_foreach(groups, i, group) any = print_group(layout, group, out) || any;
    if (any)
        qs_face_wrap(&layout->face, out, "  ", "quiesce show RUN --artifact TRACE > FILE fetches a trace.",
                     QS_INK_DIM);
    else if (json_array_size(groups) > 0)
        qs_face_wrap(&layout->face, out, "  ", "No trace was kept; `quiesce show RUN` says why.", QS_INK_DIM);
}
