/* Values in the order of time as one line of signs. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ctl/client/api.h"
#include "ctl/layout/sample.h"

static double number_at(const json_t *list, size_t i)
{
    const json_t *v = json_array_get(list, i);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

struct strip {
    const json_t *median, *left_out;
    double lo, hi;
    size_t cells, each; /* cells of the document in one sign */
};

static size_t level_of(const struct strip *s, size_t sign)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = sign * s->each; i < (sign + 1) * s->each && i < s->cells; i++) {
        double v = number_at(s->median, i);
        sum += isfinite(v) ? v : 0;
        n += isfinite(v) ? 1 : 0;
    }
    if (n == 0)
        return 0;
    double at = s->hi > s->lo ? (sum / (double)n - s->lo) / (s->hi - s->lo) : 0;
    at = at < 0 ? 0 : at > 1 ? 1 : at;
    return 1 + (size_t)(at * 7 + 0.5);
}

static bool is_marked(const struct strip *s, size_t sign)
{
    for (size_t i = sign * s->each; i < (sign + 1) * s->each && i < s->cells; i++)
        if (number_at(s->left_out, i) > 0)
            return true;
    return false;
}

static void strip_legend(const struct qs_layout *layout, const json_t *strip, size_t per_sign, bool marked,
                         struct qs_buf *out)
{
    QS_BUF(text);
    const char *many = qs_json_get_text(strip, "of", "values");
    qs_buf_fmt(&text, "%" PRId64 " %s", qs_json_get_int(strip, "n", 0), many);
    qs_buf_str(&text, " in the order of time");
    if (per_sign > 1)
        qs_buf_fmt(&text, ", %zu a sign", per_sign);
    if (marked)
        qs_buf_str(&text, "; x: left out");
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_DIM);
}

void qs_layout_strip(const struct qs_layout *layout, const json_t *strip, struct qs_buf *out)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const signs[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    struct strip s = {.median = json_object_get(strip, "median"),
                      .left_out = json_object_get(strip, "left_out"),
                      .lo = qs_json_get_number(strip, "lo", NAN),
                      .hi = qs_json_get_number(strip, "hi", NAN)};
    size_t room = layout->face.width - 2, count;
    bool marked = false;
    s.cells = json_array_size(s.median);
    if (s.cells < 2 || !(s.hi >= s.lo))
        return;
    s.each = (s.cells + room - 1) / room;
    count = (s.cells + s.each - 1) / s.each;
    qs_buf_str(out, "\n  ");
    for (size_t i = 0; i < count; i++) {
        size_t level = level_of(&s, i);
        qs_buf_str(out, layout->face.utf8 ? blocks[level] : signs[level]);
        marked = marked || is_marked(&s, i);
    }
    qs_buf_char(out, '\n');
    if (marked) {
        qs_buf_str(out, "  ");
        for (size_t i = 0; i < count; i++)
            qs_buf_char(out, is_marked(&s, i) ? 'x' : ' ');
        while (out->data[out->len - 1] == ' ')
            out->data[--out->len] = '\0';
        qs_buf_char(out, '\n');
    }
    strip_legend(layout, strip, s.each * (size_t)qs_json_get_int(strip, "per_cell", 1), marked, out);
}
