/* Quantiles and resources of each arm, aligned; what does not fit a narrow screen is left out, least first.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

enum { NAME_COLUMNS = 16 };

struct column {
    const char *title, *key;
    bool usage;    /* in us */
    unsigned keep; /* 0 stays; the highest is left out first */
};
static const struct column columns[] = {
    {"median", "median", false, 0}, {"mean", "mean", false, 11},  {"sd", "sd", false, 10},
    {"min", "min", false, 1},       {"p5", "p05", false, 7},      {"p25", "p25", false, 5},
    {"p75", "p75", false, 6},       {"p95", "p95", false, 2},     {"p99", "p99", false, 9},
    {"max", "max", false, 8},       {"user", "user_us", true, 3}, {"sys", "system_us", true, 4}};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

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

static double value_of(const struct qs_shown *shown, const struct column *c)
{
    return c->usage ? qs_json_get_number(shown->usage, c->key, NAN) * 1e3 : qs_shown_number(shown, c->key);
}

static double rss_of(const struct qs_shown *shown)
{
    return qs_json_get_number(shown->usage, "max_rss_bytes", NAN);
}

/* What no sample has a number for is no column of dashes, but for the quantiles. */
static bool is_there(const struct qs_shown *shown, size_t count, const struct column *c)
{
    bool any = c->key[0] == 'p';
    for (size_t i = 0; i < count; i++)
        any = any || isfinite(value_of(&shown[i], c));
    return any;
}

static bool has_rss(const struct qs_shown *shown, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isfinite(rss_of(&shown[i])))
            return true;
    return false;
}

static void add_row(struct qs_grid *grid, const struct qs_shown *all, size_t count, size_t index,
                    const struct qs_scale *scale)
{
    char text[40];
    qs_grid_cell(grid, all[index].name);
    for (size_t c = 0; c < COLUMNS; c++) {
        double v = value_of(&all[index], &columns[c]);
        if (!is_there(all, count, &columns[c]))
            continue;
        if (isfinite(v))
            qs_scale_number(scale, v, text);
        qs_grid_cell(grid, isfinite(v) ? text : "-");
    }
    qs_layout_bytes(text, rss_of(&all[index]));
    if (has_rss(all, count))
        qs_grid_cell(grid, text);
}

/* The digits of the least median; rows whose values are all nearly the same show in what they differ. */
static void find_scale(const struct qs_layout *layout, const struct qs_shown *shown, size_t count,
                       struct qs_scale *ret)
{
    double least = INFINITY, lo = INFINITY, hi = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        double median = qs_shown_number(&shown[i], "median"), min = qs_shown_number(&shown[i], "min"),
               max = qs_shown_number(&shown[i], "max");
        least = median < least ? median : least;
        lo = min < lo ? min : lo;
        hi = max > hi ? max : hi;
    }
    qs_layout_scale_of(layout, isfinite(least) ? least : 1e6, ret);
    qs_scale_part(ret, lo, hi);
}

void qs_layout_table(const struct qs_layout *layout, const struct qs_shown *shown, size_t count,
                     struct qs_buf *out)
{
    struct qs_grid_column head[COLUMNS + 2];
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    struct qs_scale scale;
    size_t n = 1;
    find_scale(layout, shown, count, &scale);
    const char *unit = layout->face.utf8 || scale.ns != 1e3 ? scale.name : "us";
    head[0] = (struct qs_grid_column){.title = unit,
                                      .most = qs_layout_name_columns(layout, shown, count, NAME_COLUMNS)};
    for (size_t c = 0; c < COLUMNS; c++)
        if (is_there(shown, count, &columns[c]))
            head[n++] =
                (struct qs_grid_column){.title = columns[c].title, .right = true, .keep = columns[c].keep};
    if (has_rss(shown, count))
        head[n++] = (struct qs_grid_column){.title = "RSS", .right = true, .keep = 4};
    if (head[0].most < 2)
        head[0].most = 2;
    qs_grid_init(&grid, head, n);
    QS_FREED size_t *order = qs_calloc(count, sizeof(*order));
    qs_layout_order(layout, shown, count, order);
    for (size_t i = 0; i < count; i++)
        add_row(&grid, shown, count, order[i], &scale);
    qs_grid_print(&grid, &layout->face, "  ", out);
}
