/* Builds and nights, as compare and history call them. */
#include <inttypes.h>
#include <stdio.h>

#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

static void add_text(struct qs_grid *grid, const json_t *text)
{
    qs_grid_cell(grid, json_is_string(text) ? json_string_value(text) : "");
}

static void add_names(struct qs_grid *grid, const json_t *names)
{
    QS_BUF(text);
    size_t i;
    const json_t *name;
    json_array_foreach(names, i, name)
        qs_buf_fmt(&text, "%s%s", i > 0 ? ", " : "", json_is_string(name) ? json_string_value(name) : "?");
    qs_grid_cell(grid, text.data);
}

/* "3, 4", "3 to 40 (12)" */
static void add_jobs(struct qs_grid *grid, const json_t *jobs)
{
    enum { TOLD = 4 };
    QS_BUF(text);
    size_t n = json_array_size(jobs);
    for (size_t i = 0; i < n && n <= TOLD; i++)
        qs_buf_fmt(&text, "%s%" PRId64, i > 0 ? ", " : "",
                   (int64_t)json_integer_value(json_array_get(jobs, i)));
    if (n > TOLD)
        qs_buf_fmt(&text, "%" PRId64 " to %" PRId64 " (%zu)",
                   (int64_t)json_integer_value(json_array_get(jobs, 0)),
                   (int64_t)json_integer_value(json_array_get(jobs, n - 1)), n);
    qs_grid_cell(grid, text.data);
}

static void add_count(struct qs_grid *grid, const json_t *n)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, (int64_t)json_integer_value(n));
    qs_grid_cell(grid, text);
}

/* A column of either list: the member of a row, and how it is told. */
struct field {
    struct qs_grid_column column;
    const char *key;
    void (*add)(struct qs_grid *grid, const json_t *value);
};
enum { FIELDS_MOST = 7 };

static const struct field of_builds[] = {{{.title = "build", .most = 40}, "build", add_text},
                                         {{.title = "first night", .keep = 3}, "first_night", add_text},
                                         {{.title = "last night", .keep = 1}, "last_night", add_text},
                                         {{.title = "runs", .right = true, .keep = 4}, "runs", add_count},
                                         {{.title = "jobs", .keep = 2}, "jobs", add_jobs},
                                         {{.title = "devices", .keep = 5, .most = 40}, "devices", add_names},
                                         {{.title = "benchmarks", .keep = 6, .most = 60},
                                          "benchmarks",
                                          add_names}},
                          of_nights[] = {
                              {{.title = "night"}, "night", add_text},
                              {{.title = "builds", .keep = 1, .most = 40}, "builds", add_names},
                              {{.title = "runs", .right = true, .keep = 3}, "runs", add_count},
                              {{.title = "jobs", .keep = 2}, "jobs", add_jobs},
                              {{.title = "devices", .keep = 4, .most = 40}, "devices", add_names},
                              {{.title = "benchmarks", .keep = 5, .most = 60}, "benchmarks", add_names}};

static void add_list(const struct qs_layout *layout, const json_t *rows, const struct field *fields,
                     size_t count, struct qs_buf *out)
{
    struct qs_grid_column columns[FIELDS_MOST];
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    size_t i;
    const json_t *row;
    for (size_t k = 0; k < count; k++)
        columns[k] = fields[k].column;
    qs_grid_init(&grid, columns, count);
    json_array_foreach(rows, i, row)
    {
        for (size_t k = 0; k < count; k++)
            fields[k].add(&grid, json_object_get(row, fields[k].key));
    }
    qs_grid_print(&grid, &layout->face, "", out);
}

void qs_layout_builds(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    const json_t *builds = json_object_get(doc, "builds"), *nights = json_object_get(doc, "nights");
    if (json_array_size(nights) == 0) {
        qs_buf_str(out, "Nothing has been measured yet. To begin: quiesce run -- COMMAND\n");
        return;
    }
    if (json_array_size(builds) > 0)
        add_list(layout, builds, of_builds, sizeof(of_builds) / sizeof(of_builds[0]), out);
    else
        qs_face_wrap(&layout->face, out, "",
                     "No arm has a build: `build:` of an arm in a job file gives it a label.", QS_INK_PLAIN);
    qs_buf_char(out, '\n');
    add_list(layout, nights, of_nights, sizeof(of_nights) / sizeof(of_nights[0]), out);
}
