#include "ctl/layout/history.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/layout/changes.h"
#include "ctl/layout/sample.h"

enum { ID_SHOWN = 8 };

void qs_layout_series_name(const json_t *series, struct qs_buf *out)
{
    const char *key;
    json_t *value;
    qs_buf_str(out, qs_json_get_text(series, "benchmark", ""));
    json_object_foreach(json_object_get(series, "params"), key, value)
        qs_buf_fmt(out, " %s=%s", key, json_is_string(value) ? json_string_value(value) : "?");
}

/* "2026-11-22" */
static void day_of(const json_t *object, const char *key, char text[32])
{
    qs_text_time(qs_json_get_int(object, key, 0), text);
    text[10] = '\0';
}

static void add_value_cell(struct qs_grid *grid, const struct qs_layout *layout, double v)
{
    QS_BUF(text);
    if (isfinite(v))
        qs_sample_value(layout, v, &text);
    qs_grid_cell(grid, text.len > 0 ? text.data : "-");
}

static void add_range_cell(struct qs_grid *grid, const struct qs_layout *layout, const json_t *value,
                           double factor)
{
    double lo = qs_json_get_number(value, "lo", NAN) * factor,
           hi = qs_json_get_number(value, "hi", NAN) * factor;
    QS_BUF(text);
    if (isfinite(lo) && isfinite(hi))
        qs_sample_range(layout, lo, hi, (lo + hi) / 2, &text);
    qs_grid_cell(grid, text.len > 0 ? text.data : "-");
}

static void add_int_cell(struct qs_grid *grid, int64_t v)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, v);
    qs_grid_cell(grid, text);
}

static void add_series_row(struct qs_grid *grid, const struct qs_layout *layout, const json_t *series)
{
    char text[32];
    double factor = 1;
    struct qs_layout own = qs_sample_layout(layout, series, &factor);
    QS_BUF(name);
    qs_layout_series_name(series, &name);
    snprintf(text, sizeof(text), "%.*s", ID_SHOWN, qs_json_get_text(series, "id", ""));
    qs_grid_cell(grid, text);
    qs_grid_cell(grid, name.data);
    qs_grid_cell(grid, qs_json_get_text(series, "arm", ""));
    qs_grid_cell(grid, qs_json_get_text(series, "device", ""));
    add_int_cell(grid, qs_json_get_int(series, "sessions", 0));
    day_of(series, "first_wall_ns", text);
    qs_grid_cell(grid, text);
    day_of(series, "last_wall_ns", text);
    qs_grid_cell(grid, text);
    add_value_cell(grid, &own, qs_json_get_number(json_object_get(series, "latest"), "value", NAN) * factor);
}

void qs_layout_series(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {{.title = "series"},
                                                    {.title = "benchmark", .most = 40},
                                                    {.title = "arm", .most = 24},
                                                    {.title = "device", .keep = 2},
                                                    {.title = "sessions", .right = true, .keep = 1},
                                                    {.title = "first", .keep = 4},
                                                    {.title = "last", .keep = 3},
                                                    {.title = "latest", .right = true}};
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    size_t i;
    const json_t *series, *all = json_object_get(doc, "series");
    if (json_array_size(all) == 0) {
        qs_buf_str(out,
                   "There is no series yet. Every job adds to one when it ends: quiesce run -- COMMAND\n");
        return;
    }
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    json_array_foreach(all, i, series) add_series_row(&grid, layout, series);
    qs_grid_print(&grid, &layout->face, "", out);
}

/* --- one series ----------------------------------------------------------------------------------------- */

struct page {
    struct qs_layout layout; /* for the values */
    double factor;           /* makes them ns */
    const json_t *doc, *points, *breaks;
    size_t n;
};

static const json_t *point_at(const struct page *p, int64_t i)
{
    return i >= 0 ? json_array_get(p->points, (size_t)i) : NULL;
}

static double value_at(const struct page *p, int64_t i)
{
    return qs_json_get_number(point_at(p, i), "value", NAN) * p->factor;
}

/* "2026-11-22 (build v12)" */
static void add_moment(const struct page *p, int64_t i, struct qs_buf *out)
{
    char day[32];
    const char *build = qs_json_get_text(point_at(p, i), "build", "");
    day_of(point_at(p, i), "started_wall_ns", day);
    qs_buf_fmt(out, "%s", day);
    if (build[0] != '\0')
        qs_buf_fmt(out, " (%s)", build);
}

static void add_title(const struct page *p, struct qs_buf *out)
{
    QS_BUF(text);
    size_t segments = json_array_size(json_object_get(p->doc, "segments"));
    qs_layout_series_name(p->doc, &text);
    qs_buf_fmt(&text, ", arm %s on %s%s: %s", qs_json_get_text(p->doc, "arm", ""),
               qs_json_get_text(p->doc, "device", ""),
               qs_json_get_true(p->doc, "simulated") ? " (simulated)" : "",
               qs_json_get_text(p->doc, "metric", ""));
    qs_face_wrap(&p->layout.face, out, "", text.data, QS_INK_BOLD);
    qs_buf_clear(&text);
    qs_layout_count(&text, (int64_t)p->n, "session", "sessions");
    if (segments > 1)
        qs_buf_fmt(&text, " in %zu environments", segments);
    qs_buf_str(&text, "; a point is the median of the medians of its runs");
    qs_face_wrap(&p->layout.face, out, "  ", text.data, QS_INK_PLAIN);
}

static void add_latest(const struct page *p, struct qs_buf *out)
{
    const json_t *last = point_at(p, (int64_t)p->n - 1);
    double v = value_at(p, (int64_t)p->n - 1);
    double lo = qs_json_get_number(last, "lo", NAN) * p->factor,
           hi = qs_json_get_number(last, "hi", NAN) * p->factor;
    QS_BUF(text);
    if (isfinite(lo) && isfinite(hi)) {
        qs_sample_range(&p->layout, lo, hi, v, &text);
        qs_buf_str(&text, ": latest ");
    } else {
        qs_buf_str(&text, "Latest ");
    }
    qs_sample_value(&p->layout, v, &text);
    qs_buf_str(&text, ", ");
    add_moment(p, (int64_t)p->n - 1, &text);
    qs_face_wrap(&p->layout.face, out, "  ", text.data, QS_INK_BOLD);
}

static void add_interval(const json_t *change, struct qs_buf *text)
{
    double ratio = qs_json_get_number(change, "ratio", NAN);
    double lo = qs_json_get_number(change, "lo", NAN), hi = qs_json_get_number(change, "hi", NAN);
    if (isfinite(lo) && isfinite(hi))
        qs_buf_fmt(text, "%+.1f to %+.1f %% (%+.1f %%)", (lo - 1) * 100, (hi - 1) * 100, (ratio - 1) * 100);
    else if (isfinite(ratio))
        qs_buf_fmt(text, "%+.1f %%", (ratio - 1) * 100);
}

static void add_change(const struct page *p, const json_t *change, struct qs_buf *out)
{
    bool drift = strcmp(qs_json_get_text(change, "kind", ""), "drift") == 0;
    const char *direction = qs_json_get_text(change, "direction", "unsure"),
               *before = qs_json_get_text(change, "build_before", "");
    enum qs_ink ink = strcmp(direction, "worse") == 0    ? QS_INK_BAD
                      : strcmp(direction, "better") == 0 ? QS_INK_GOOD
                                                         : QS_INK_WARN;
    QS_BUF(text);
    add_interval(change, &text);
    qs_buf_fmt(&text, "%s",
               strcmp(direction, "unsure") == 0  ? ""
               : strcmp(direction, "worse") == 0 ? ", worse"
                                                 : ", better");
    qs_buf_str(&text, drift ? ": drift from " : ": step at ");
    add_moment(p, qs_json_get_int(change, "from", 0), &text);
    if (drift) {
        qs_buf_str(&text, " to ");
        add_moment(p, qs_json_get_int(change, "to", 0), &text);
        qs_buf_str(&text, "; no single session made it");
    } else if (before[0] != '\0' && strcmp(before, qs_json_get_text(change, "build", "")) != 0) {
        qs_buf_fmt(&text, " after %s", before);
    }
    qs_layout_medians(&p->layout, change, p->factor, &text);
    qs_buf_fmt(&text, "; p = %.2g", qs_json_get_number(change, "p", NAN));
    if (!qs_json_get_true(change, "confirmed"))
        qs_buf_str(&text, "; to be confirmed by further sessions");
    qs_face_wrap(&p->layout.face, out, "  - ", text.data, ink);
}

static void add_break(const struct page *p, const json_t *one, struct qs_buf *out)
{
    size_t i;
    int64_t at = qs_json_get_int(one, "at", 0);
    const json_t *d;
    QS_BUF(text);
    qs_buf_str(&text, "environment changed before ");
    add_moment(p, at, &text);
    qs_buf_str(&text, ", ");
    qs_sample_value(&p->layout, value_at(p, at - 1), &text);
    qs_buf_str(&text, " before, ");
    qs_sample_value(&p->layout, value_at(p, at), &text);
    qs_buf_str(&text, " after; not compared across it");
    qs_face_wrap(&p->layout.face, out, "  - ", text.data, QS_INK_WARN);
    json_array_foreach(json_object_get(one, "differences"), i, d)
    {
        if (!qs_json_get_true(d, "matters"))
            continue;
        qs_buf_clear(&text);
        qs_buf_fmt(&text, "%s: %s -> %s", qs_json_get_text(d, "key", ""),
                   qs_json_get_text(d, "base", "(none)"), qs_json_get_text(d, "candidate", "(none)"));
        qs_face_wrap(&p->layout.face, out, "    ", text.data, QS_INK_PLAIN);
    }
}

static void name_point(const void *page, int64_t i, struct qs_buf *out)
{
    add_moment(page, i, out);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median of the points from..end-1. */
static double level_of(const struct page *p, int64_t from, int64_t end)
{
    size_t n = 0, most = end > from ? (size_t)(end - from) : 0;
    double level;
    QS_FREED double *v = qs_calloc(most + 1, sizeof(*v));
    for (int64_t i = from; i < end; i++) {
        v[n] = qs_json_get_number(point_at(p, i), "value", NAN);
        n += isfinite(v[n]) ? 1 : 0;
    }
    qsort(v, n, sizeof(*v), by_size);
    level = n > 0 ? (v[(n - 1) / 2] + v[n / 2]) / 2 : NAN;
    return level;
}

static void add_beside(const struct page *p, const json_t *segment, struct qs_buf *out)
{
    int64_t from = qs_json_get_int(segment, "from", 0), end = qs_json_get_int(segment, "end", from);
    end = end > (int64_t)p->n ? (int64_t)p->n : end;
    const struct qs_stretch stretch = {
        .found = segment,
        .trend = json_object_get(segment, "trend"),
        .points = end - from,
        .level = level_of(p, from, end),
        .margin_ratio = qs_json_get_number(json_object_get(p->doc, "options"), "margin_ratio", NAN),
        .add_moment = name_point,
        .page = p};
    qs_layout_beside(&p->layout, &stretch, out);
}

/* Stretch by stretch: what broke it off from the one before, and what changed in it. */
static void add_story(const struct page *p, struct qs_buf *out)
{
    size_t s, i;
    const json_t *segment, *change;
    json_array_foreach(json_object_get(p->doc, "segments"), s, segment)
    {
        const json_t *changes = json_object_get(segment, "changes");
        if (s > 0)
            add_break(p, json_array_get(p->breaks, s - 1), out);
        json_array_foreach(changes, i, change) add_change(p, change, out);
        add_beside(p, segment, out);
    }
}

static void fill_marks(const struct page *p, enum qs_chart_mark *mark)
{
    size_t s, i;
    const json_t *segment, *one;
    json_array_foreach(json_object_get(p->doc, "segments"), s, segment)
    {
        json_array_foreach(json_object_get(segment, "changes"), i, one) qs_layout_mark(one, mark, p->n);
    }
    json_array_foreach(p->breaks, i, one)
    {
        int64_t at = qs_json_get_int(one, "at", -1);
        if (at >= 0 && (size_t)at < p->n)
            mark[at] = QS_CHART_BREAK;
    }
}

static void add_axis_label(const struct page *p, double v, struct qs_buf *out)
{
    QS_BUF(text);
    qs_sample_value(&p->layout, v, &text);
    qs_face_text(&p->layout.face, out, text.data);
}

static void add_chart(const struct page *p, struct qs_buf *out)
{
    double lo = INFINITY, hi = -INFINITY;
    QS_FREED double *v = qs_calloc(p->n, sizeof(*v));
    QS_FREED enum qs_chart_mark *mark = qs_calloc(p->n, sizeof(*mark));
    char first[32], last[32];
    QS_BUF(top);
    QS_BUF(bottom);
    for (size_t i = 0; i < p->n; i++) {
        v[i] = value_at(p, (int64_t)i);
        v[i] = isfinite(v[i]) ? v[i] : 0;
        lo = v[i] < lo ? v[i] : lo;
        hi = v[i] > hi ? v[i] : hi;
    }
    fill_marks(p, mark);
    add_axis_label(p, hi, &top);
    add_axis_label(p, lo, &bottom);
    day_of(point_at(p, 0), "started_wall_ns", first);
    day_of(point_at(p, (int64_t)p->n - 1), "started_wall_ns", last);
    const struct qs_chart chart = {v, mark, p->n, top.data, bottom.data, first, last};
    qs_buf_char(out, '\n');
    qs_layout_chart(&p->layout.face, &chart, out);
}

static void add_table(const struct page *p, size_t rows, struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {{.title = "point", .right = true, .keep = 4},
                                                    {.title = "began"},
                                                    {.title = "night", .keep = 6},
                                                    {.title = "job", .right = true},
                                                    {.title = "build", .keep = 2, .most = 24},
                                                    {.title = "median", .right = true},
                                                    {.title = "interval", .right = true, .keep = 1},
                                                    {.title = "runs", .right = true, .keep = 3},
                                                    {.title = "tainted", .right = true, .keep = 5}};
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = p->n > rows ? p->n - rows : 0; i < p->n; i++) {
        char text[32];
        const json_t *point = json_array_get(p->points, i);
        qs_text_time(qs_json_get_int(point, "started_wall_ns", 0), text);
        text[16] = '\0';
        add_int_cell(&grid, (int64_t)i + 1);
        qs_grid_cell(&grid, text);
        qs_grid_cell(&grid, qs_json_get_text(point, "night", ""));
        add_int_cell(&grid, qs_json_get_int(point, "job", 0));
        qs_grid_cell(&grid, qs_json_get_text(point, "build", ""));
        add_value_cell(&grid, &p->layout, value_at(p, (int64_t)i));
        add_range_cell(&grid, &p->layout, point, p->factor);
        add_int_cell(&grid, qs_json_get_int(point, "runs", 0));
        add_int_cell(&grid, qs_json_get_int(point, "tainted_runs", 0));
    }
    qs_buf_char(out, '\n');
    if (p->n > rows)
        qs_buf_fmt(out, "The last %zu of %zu (--all shows the rest):\n", rows, p->n);
    qs_grid_print(&grid, &p->layout.face, "", out);
}

void qs_layout_history(const struct qs_layout *layout, const json_t *doc, size_t rows, struct qs_buf *out)
{
    struct page p = {
        .doc = doc, .points = json_object_get(doc, "points"), .breaks = json_object_get(doc, "breaks")};
    p.layout = qs_sample_layout(layout, doc, &p.factor);
    p.n = json_array_size(p.points);
    add_title(&p, out);
    if (p.n == 0)
        return;
    add_latest(&p, out);
    add_story(&p, out);
    add_chart(&p, out);
    add_table(&p, rows, out);
}
