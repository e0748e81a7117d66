/* The history of a file's series: no sample of one process, so nothing that is true of those is said of it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/client/api.h"
#include "ctl/layout/changes.h"
#include "ctl/layout/sample.h"

static const char *label_of(const json_t *result, int64_t i)
{
    const char *label =
        i < 0 ? NULL : json_string_value(json_array_get(json_object_get(result, "labels"), (size_t)i));
    return label != NULL ? label : "";
}

/* "point 16 (2026-11-22)" */
static void name_point(const void *result, int64_t i, struct qs_buf *out)
{
    const char *label = label_of(result, i);
    qs_buf_fmt(out, "point %" PRId64, i + 1);
    if (label[0] != '\0')
        qs_buf_fmt(out, " (%s)", label);
}

/* Only where the file says what is better. */
static const char *direction(const json_t *result, double lo, double hi, double margin)
{
    bool up = lo > 1 + margin, down = hi < 1 / (1 + margin);
    if (!qs_json_get_true(result, "direction_known") || (!up && !down))
        return "";
    return up == qs_json_get_true(result, "lower_is_better") ? ", worse" : ", better";
}

static void add_change(const struct qs_layout *layout, const json_t *result, const json_t *change,
                       double margin, double factor, struct qs_buf *out)
{
    bool drift = strcmp(qs_json_get_text(change, "kind", ""), "drift") == 0;
    double ratio = qs_json_get_number(change, "ratio", NAN);
    double lo = qs_json_get_number(change, "lo", NAN), hi = qs_json_get_number(change, "hi", NAN);
    QS_BUF(text);
    qs_buf_str(&text, drift ? "a drift from " : "from ");
    name_point(result, qs_json_get_int(change, "from", 0), &text);
    if (drift) {
        qs_buf_str(&text, " to ");
        name_point(result, qs_json_get_int(change, "to", 0), &text);
    }
    if (isfinite(ratio))
        qs_buf_fmt(&text, ": %+.1f %%", (ratio - 1) * 100);
    if (isfinite(lo) && isfinite(hi))
        qs_buf_fmt(&text, " (%+.1f to %+.1f %%)%s", (lo - 1) * 100, (hi - 1) * 100,
                   direction(result, lo, hi, margin));
    qs_layout_medians(layout, change, factor, &text);
    if (drift)
        qs_buf_str(&text, "; no single point made it");
    else if (!qs_json_get_true(change, "confirmed"))
        qs_buf_str(&text, ", to be confirmed by further points");
    qs_face_wrap(&layout->face, out, "  - ", text.data, QS_INK_PLAIN);
}

static void add_count(const struct qs_layout *layout, const json_t *result, size_t changes, double margin,
                      struct qs_buf *out)
{
    QS_BUF(text);
    qs_layout_count(&text, (int64_t)changes, "change", "changes");
    qs_buf_str(&text, " in ");
    qs_layout_count(&text, qs_json_get_int(result, "points", 0), "point", "points");
    if (strcmp(qs_json_get_text(result, "point", ""), "run-median") == 0)
        qs_buf_str(&text, ", each the median of a run");
    qs_buf_str(&text, "; what is surely below ");
    qs_layout_percent(&text, margin);
    qs_buf_str(&text, " is left out");
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_BOLD);
}

static void end_label(const json_t *result, int64_t i, char text[40])
{
    const char *label = label_of(result, i);
    if (label[0] != '\0')
        snprintf(text, 40, "%.20s", label);
    else
        snprintf(text, 40, "%" PRId64, i + 1);
}

/* The axis of time is the number of the point. */
static void add_chart(const struct qs_layout *layout, const json_t *result, double factor, struct qs_buf *out)
{
    const json_t *one, *values = json_object_get(result, "values");
    size_t i, n = json_array_size(values);
    double lo = INFINITY, hi = -INFINITY;
    QS_FREED double *v = qs_calloc(n + 1, sizeof(*v));
    QS_FREED enum qs_chart_mark *mark = qs_calloc(n + 1, sizeof(*mark));
    char first[40], last[40];
    QS_BUF(top);
    QS_BUF(bottom);
    json_array_foreach(values, i, one)
    {
        v[i] = json_is_number(one) ? json_number_value(one) * factor : 0;
        lo = v[i] < lo ? v[i] : lo;
        hi = v[i] > hi ? v[i] : hi;
    }
    json_array_foreach(json_object_get(json_object_get(result, "labelled"), "changes"), i, one)
        qs_layout_mark(one, mark, n);
    qs_sample_value(layout, hi, &top);
    qs_sample_value(layout, lo, &bottom);
    end_label(result, 0, first);
    end_label(result, (int64_t)n - 1, last);
    const struct qs_chart chart = {v, mark, n, top.data, bottom.data, first, last};
    if (n > 1) {
        qs_buf_char(out, '\n');
        qs_layout_chart(&layout->face, &chart, out);
    }
}

void qs_layout_points(const struct qs_layout *layout, const json_t *doc, const json_t *result, double factor,
                      struct qs_buf *out)
{
    size_t i;
    const json_t *change, *found = json_object_get(result, "labelled");
    const json_t *changes = json_object_get(found, "changes");
    double margin = qs_json_get_number(json_object_get(doc, "options"), "margin_ratio", NAN);
    const struct qs_stretch stretch = {
        .found = found,
        .trend = json_object_get(result, "drift"),
        .points = qs_json_get_int(result, "points", 0),
        .level = qs_json_get_number(json_object_get(result, "describe"), "median", NAN),
        .margin_ratio = margin,
        .add_moment = name_point,
        .page = result};
    if (json_array_size(changes) > 0)
        add_count(layout, result, json_array_size(changes), margin, out);
    json_array_foreach(changes, i, change) add_change(layout, result, change, margin, factor, out);
    qs_layout_beside(layout, &stretch, out);
    add_chart(layout, result, factor, out);
}
