/* Quantiles and resources of each arm, aligned; what does not fit a narrow screen is left out, least first.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

enum { NAME_COLUMNS = 16 };

/* Where a cell's value lies: in the arm or in its quantiles, in ns or in us. */
struct column {
    const char *title, *key;
    bool quantile;
    double ns_of_one;
    unsigned keep; /* 0 stays; the highest is left out first */
};
static const struct column columns[] = {{"median", "median_ns", false, 1, 0},
                                        {"mean", "mean_ns", false, 1, 11},
                                        {"sd", "sd_ns", false, 1, 10},
                                        {"min", "min_ns", false, 1, 1},
                                        {"p5", "p05", true, 1, 7},
                                        {"p25", "p25", true, 1, 5},
                                        {"p75", "p75", true, 1, 6},
                                        {"p95", "p95", true, 1, 2},
                                        {"p99", "p99", true, 1, 9},
                                        {"max", "max_ns", false, 1, 8},
                                        {"user", "user_us", false, 1e3, 3},
                                        {"sys", "system_us", false, 1e3, 4}};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void add_time(struct qs_grid *grid, double v, const struct column *c, const struct qs_scale *scale)
{
    char text[40] = "-";
    if (isfinite(v))
        qs_scale_number(scale, v * c->ns_of_one, text);
    qs_grid_cell(grid, text);
}

void qs_layout_bytes(char text[32], double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t k = 0;
    if (!isfinite(bytes) || bytes < 0) {
        snprintf(text, 32, "-");
        return;
    }
    for (; bytes >= 1024 && k < 4; k++)
        bytes /= 1024;
    snprintf(text, 32, "%.*f %s", k > 0 && bytes < 99.95 ? 1 : 0, bytes, units[k]);
}

static double value_of(const json_t *arm, const struct column *c)
{
    return qs_json_get_number(c->quantile ? json_object_get(arm, "quantiles") : arm, c->key, NAN);
}

/* What no arm has a number for is no column of dashes: not there, or null. */
static bool has_number(const json_t *arms, const char *key)
{
    size_t i;
    const json_t *arm;
    json_array_foreach(arms, i, arm) if (json_is_number(json_object_get(arm, key))) return true;
    return false;
}

static bool is_shown(const json_t *arms, const struct column *c)
{
    return c->quantile || has_number(arms, c->key);
}

static void add_arm(struct qs_grid *grid, const json_t *arms, size_t index, const struct qs_scale *scale)
{
    char bytes[32];
    const json_t *arm = json_array_get(arms, index);
    qs_grid_cell(grid, qs_json_get_text(arm, "name", "?"));
    for (size_t c = 0; c < COLUMNS; c++)
        if (is_shown(arms, &columns[c]))
            add_time(grid, value_of(arm, &columns[c]), &columns[c], scale);
    qs_layout_bytes(bytes, qs_json_get_number(arm, "max_rss_bytes", NAN));
    if (has_number(arms, "max_rss_bytes"))
        qs_grid_cell(grid, bytes);
}

static double least_median(const json_t *arms)
{
    size_t i;
    const json_t *arm;
    double least = INFINITY;
    json_array_foreach(arms, i, arm)
    {
        double median_ns = qs_json_get_number(arm, "median_ns", INFINITY);
        least = median_ns < least ? median_ns : least;
    }
    return isfinite(least) ? least : 1e6;
}

/* Rows whose values are all nearly the same show in what they differ. */
static void part(struct qs_scale *scale, const json_t *arms)
{
    size_t i;
    const json_t *arm;
    double lo = INFINITY, hi = -INFINITY;
    json_array_foreach(arms, i, arm)
    {
        double min = qs_json_get_number(arm, "min_ns", NAN), max = qs_json_get_number(arm, "max_ns", NAN);
        lo = min < lo ? min : lo;
        hi = max > hi ? max : hi;
    }
    qs_scale_part(scale, lo, hi);
}

void qs_layout_table(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    const json_t *arms = json_object_get(result, "arms");
    size_t count = json_array_size(arms);
    struct qs_grid_column head[COLUMNS + 2];
    struct qs_grid grid;
    struct qs_scale scale;
    qs_layout_scale_of(layout, least_median(arms), &scale);
    part(&scale, arms);
    const char *unit = layout->face.utf8 || scale.ns != 1e3 ? scale.name : "us";
    head[0] =
        (struct qs_grid_column){.title = unit, .most = qs_layout_name_columns(layout, arms, NAME_COLUMNS)};
    size_t n = 1;
    for (size_t c = 0; c < COLUMNS; c++)
        if (is_shown(arms, &columns[c]))
            head[n++] =
                (struct qs_grid_column){.title = columns[c].title, .right = true, .keep = columns[c].keep};
    if (has_number(arms, "max_rss_bytes"))
        head[n++] = (struct qs_grid_column){.title = "RSS", .right = true, .keep = 4};
    if (head[0].most < 2)
        head[0].most = 2;
    qs_grid_init(&grid, head, n);
    size_t *order = qs_calloc(count, sizeof(*order));
    qs_layout_order(layout, arms, count, order);
    for (size_t i = 0; i < count; i++)
        add_arm(&grid, arms, order[i], &scale);
    qs_grid_print(&grid, &layout->face, "  ", out);
    free(order);
    qs_grid_done(&grid);
}
