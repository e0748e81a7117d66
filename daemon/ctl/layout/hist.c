/* A histogram of each arm in one line, all on one axis. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

enum { NAME_COLUMNS = 16, BINS_MAX = 64, CELLS_PER_BIN = 2, LEAST_CELLS = 10 };

struct axis {
    double lo, hi;
    size_t bins, cells; /* cells: a multiple of bins */
    size_t indent;
};

/* Every arm has the same bins: the report counts on one axis. */
static bool find_axis(const struct qs_layout *layout, const struct qs_shown *shown, size_t count,
                      struct axis *axis)
{
    const json_t *h = count > 0 ? json_object_get(shown[0].sample, "histogram") : NULL;
    size_t name = qs_layout_name_columns(layout, shown, count, NAME_COLUMNS);
    axis->lo = qs_json_get_number(h, "lo", NAN) * (count > 0 ? shown[0].factor : 1);
    axis->hi = qs_json_get_number(h, "hi", NAN) * (count > 0 ? shown[0].factor : 1);
    axis->bins = json_array_size(json_object_get(h, "counts"));
    axis->indent = 2 + (name < 2 ? 2 : name) + 2;
    if (axis->bins == 0 || axis->bins > BINS_MAX || !(axis->lo < axis->hi))
        return false;
    size_t room =
        layout->face.width > axis->indent + LEAST_CELLS ? layout->face.width - axis->indent : LEAST_CELLS;
    size_t each = room / axis->bins < CELLS_PER_BIN ? room / axis->bins : CELLS_PER_BIN;
    axis->cells = axis->bins * (each > 0 ? each : 1);
    return axis->indent + axis->cells <= layout->face.width;
}

static void add_bars(const struct qs_layout *layout, const json_t *counts, const struct axis *axis,
                     struct qs_buf *out)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const signs[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    size_t i;
    const json_t *count;
    int64_t most = 1;
    json_array_foreach(counts, i, count) most =
        json_integer_value(count) > most ? json_integer_value(count) : most;
    for (size_t bin = 0; bin < axis->bins; bin++) {
        int64_t n = json_integer_value(json_array_get(counts, bin));
        /* One iteration is always seen. */
        size_t level =
            n <= 0 ? 0 : 1 + (size_t)(7.0 * (double)(n - 1) / (double)(most > 1 ? most - 1 : 1) + 0.5);
        for (size_t k = 0; k < axis->cells / axis->bins; k++)
            qs_buf_str(out, layout->face.utf8 ? blocks[level] : signs[level]);
    }
}

static void add_one(const struct qs_layout *layout, const struct qs_shown *shown, const struct axis *axis,
                    struct qs_buf *out)
{
    const json_t *h = json_object_get(shown->sample, "histogram");
    const json_t *counts = json_object_get(h, "counts");
    int64_t above = qs_json_get_int(h, "above", 0);
    QS_BUF(name);
    QS_BUF(more);
    if (json_array_size(counts) != axis->bins)
        return;
    qs_face_text(&layout->face, &name, shown->name);
    qs_buf_str(out, "  ");
    qs_face_left(&layout->face, out, name.data, axis->indent - 4);
    qs_buf_str(out, "  ");
    add_bars(layout, counts, axis, out);
    qs_buf_fmt(&more, " +%" PRId64 " above", above);
    if (above > 0 && axis->indent + axis->cells + more.len <= layout->face.width)
        qs_buf_str(out, more.data);
    while (out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    qs_buf_char(out, '\n');
}

static void add_axis(const struct qs_layout *layout, const struct axis *axis, struct qs_buf *out)
{
    struct qs_scale scale;
    QS_BUF(lo);
    QS_BUF(hi);
    const struct qs_face *face = &layout->face;
    qs_layout_scale_of(layout, axis->lo, &scale);
    qs_scale_part(&scale, axis->lo, axis->hi);
    char number[40], text[64];
    const char *gap = scale.name[0] != '\0' ? " " : "";
    qs_scale_number(&scale, axis->lo, number);
    snprintf(text, sizeof(text), "%s%s%s", number, gap, scale.name);
    qs_face_text(face, &lo, text);
    qs_scale_number(&scale, axis->hi, number);
    snprintf(text, sizeof(text), "%s%s%s", number, gap, scale.name);
    qs_face_text(face, &hi, text);
    qs_face_fill(out, axis->indent);
    qs_face_ink(face, out, QS_INK_DIM);
    qs_buf_str(out, face->utf8 ? "└" : "+");
    for (size_t i = 2; i < axis->cells; i++)
        qs_buf_str(out, face->utf8 ? "─" : "-");
    qs_buf_str(out, face->utf8 ? "┘\n" : "+\n");
    qs_face_fill(out, axis->indent);
    qs_face_left(face, out, lo.data, axis->cells / 2);
    qs_face_right(face, out, hi.data, axis->cells - axis->cells / 2);
    qs_face_ink(face, out, QS_INK_PLAIN);
    qs_buf_char(out, '\n');
}

void qs_layout_histogram(const struct qs_layout *layout, const struct qs_shown *shown, size_t count,
                         struct qs_buf *out)
{
    struct axis axis;
    if (!find_axis(layout, shown, count, &axis))
        return;
    QS_FREED size_t *order = qs_calloc(count, sizeof(*order));
    qs_layout_order(layout, shown, count, order);
    qs_buf_char(out, '\n');
    for (size_t i = 0; i < count; i++)
        add_one(layout, &shown[order[i]], &axis, out);
    add_axis(layout, &axis, out);
}
