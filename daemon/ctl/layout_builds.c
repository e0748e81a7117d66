/* Builds and nights, as compare and history call them. */
#include <inttypes.h>
#include <stdio.h>

#include "ctl/api.h"
#include "ctl/layout.h"

static void add_names(struct qs_grid *grid, const json_t *names)
{
    struct qs_buf text;
    size_t i;
    const json_t *name;
    qs_buf_init(&text);
    json_array_foreach(names, i, name)
        qs_buf_fmt(&text, "%s%s", i > 0 ? ", " : "", json_is_string(name) ? json_string_value(name) : "?");
    qs_grid_cell(grid, text.data);
    qs_buf_done(&text);
}

/* "3, 4", "3 to 40 (12)" */
static void add_jobs(struct qs_grid *grid, const json_t *jobs)
{
    enum { TOLD = 4 };
    struct qs_buf text;
    size_t n = json_array_size(jobs);
    qs_buf_init(&text);
    for (size_t i = 0; i < n && n <= TOLD; i++)
        qs_buf_fmt(&text, "%s%" PRId64, i > 0 ? ", " : "",
                   (int64_t)json_integer_value(json_array_get(jobs, i)));
    if (n > TOLD)
        qs_buf_fmt(&text, "%" PRId64 " to %" PRId64 " (%zu)",
                   (int64_t)json_integer_value(json_array_get(jobs, 0)),
                   (int64_t)json_integer_value(json_array_get(jobs, n - 1)), n);
    qs_grid_cell(grid, text.data);
    qs_buf_done(&text);
}

static void add_runs(struct qs_grid *grid, const json_t *row)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, qs_json_get_int(row, "runs", 0));
    qs_grid_cell(grid, text);
}

static void add_builds(const struct qs_layout *layout, const json_t *builds, struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {{.title = "build", .most = 40},
                                                    {.title = "first night", .keep = 3},
                                                    {.title = "last night", .keep = 1},
                                                    {.title = "runs", .right = true, .keep = 4},
                                                    {.title = "jobs", .keep = 2},
                                                    {.title = "devices", .keep = 5, .most = 40},
                                                    {.title = "benchmarks", .keep = 6, .most = 60}};
    struct qs_grid grid;
    size_t i;
    const json_t *row;
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    json_array_foreach(builds, i, row)
    {
        qs_grid_cell(&grid, qs_json_get_text(row, "build", ""));
        qs_grid_cell(&grid, qs_json_get_text(row, "first_night", ""));
        qs_grid_cell(&grid, qs_json_get_text(row, "last_night", ""));
        add_runs(&grid, row);
        add_jobs(&grid, json_object_get(row, "jobs"));
        add_names(&grid, json_object_get(row, "devices"));
        add_names(&grid, json_object_get(row, "benchmarks"));
    }
    qs_grid_print(&grid, &layout->face, "", out);
    qs_grid_done(&grid);
}

static void add_nights(const struct qs_layout *layout, const json_t *nights, struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {{.title = "night"},
                                                    {.title = "builds", .keep = 1, .most = 40},
                                                    {.title = "runs", .right = true, .keep = 3},
                                                    {.title = "jobs", .keep = 2},
                                                    {.title = "devices", .keep = 4, .most = 40},
                                                    {.title = "benchmarks", .keep = 5, .most = 60}};
    struct qs_grid grid;
    size_t i;
    const json_t *row;
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    json_array_foreach(nights, i, row)
    {
        qs_grid_cell(&grid, qs_json_get_text(row, "night", ""));
        add_names(&grid, json_object_get(row, "builds"));
        add_runs(&grid, row);
        add_jobs(&grid, json_object_get(row, "jobs"));
        add_names(&grid, json_object_get(row, "devices"));
        add_names(&grid, json_object_get(row, "benchmarks"));
    }
    qs_grid_print(&grid, &layout->face, "", out);
    qs_grid_done(&grid);
}

void qs_layout_builds(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    const json_t *builds = json_object_get(doc, "builds"), *nights = json_object_get(doc, "nights");
    if (json_array_size(nights) == 0) {
        qs_buf_str(out, "Nothing was measured yet. To make a job: quiesce run -- COMMAND\n");
        return;
    }
    if (json_array_size(builds) > 0)
        add_builds(layout, builds, out);
    else
        qs_face_wrap(&layout->face, out, "",
                     "No arm has a build: `build:` of an arm in a job file gives it a label.", QS_INK_PLAIN);
    qs_buf_char(out, '\n');
    add_nights(layout, nights, out);
}
