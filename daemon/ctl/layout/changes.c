#include "ctl/layout/changes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ctl/client/api.h"
#include "ctl/layout/sample.h"

enum { NAMED_MOST = 5 };

static void add_line(const struct qs_layout *layout, struct qs_buf *text, enum qs_ink ink, struct qs_buf *out)
{
    qs_face_wrap(&layout->face, out, "  - ", text->data, ink);
    qs_buf_clear(text);
}

static void add_quiet(const struct qs_layout *layout, const struct qs_stretch *s, struct qs_buf *out)
{
    double could = qs_json_get_number(s->found, "detectable_ratio", NAN);
    bool blunt = !(could <= s->margin_ratio);
    QS_BUF(text);
    qs_buf_str(&text, blunt ? "No change was found" : "No change of ");
    if (!blunt) {
        qs_layout_percent(&text, s->margin_ratio);
        qs_buf_str(&text, " or more");
    }
    if (isfinite(could)) {
        qs_buf_str(&text, blunt ? "; it would have taken a step of " : "; a step of ");
        qs_layout_percent(&text, could);
        qs_buf_str(&text, blunt ? " in the middle to show in four of five such histories"
                                : " in the middle shows in four of five such histories");
    } else {
        qs_buf_str(&text, "; there are too few points to show one");
    }
    add_line(layout, &text, blunt ? QS_INK_WARN : QS_INK_PLAIN, out);
}

static void add_trend(const struct qs_layout *layout, const struct qs_stretch *s, struct qs_buf *out)
{
    double steps = (double)(s->points - 1) / fabs(s->level) * 100, p = qs_json_get_number(s->trend, "p", NAN);
    double slope = qs_json_get_number(s->trend, "slope", NAN) * steps;
    double lo = qs_json_get_number(s->trend, "lo", NAN) * steps,
           hi = qs_json_get_number(s->trend, "hi", NAN) * steps;
    QS_BUF(text);
    if (!isfinite(p) || !isfinite(slope))
        return;
    qs_buf_fmt(&text, "Trend: %+.1f %% over all %" PRId64 " points", slope, s->points);
    if (isfinite(lo) && isfinite(hi))
        qs_buf_fmt(&text, " (%+.1f to %+.1f %%)", lo, hi);
    qs_buf_fmt(&text, ", p = %.2g (Mann-Kendall for dependent values)", p);
    add_line(layout, &text, QS_INK_PLAIN, out);
}

static void add_alone(const struct qs_layout *layout, const struct qs_stretch *s, struct qs_buf *out)
{
    size_t i;
    const json_t *one, *alone = json_object_get(s->found, "alone");
    QS_BUF(text);
    if (json_array_size(alone) == 0)
        return;
    qs_layout_count(&text, (int64_t)json_array_size(alone),
                    "point stands out alone: ", "points stand out alone: ");
    json_array_foreach(alone, i, one)
    {
        if (i >= NAMED_MOST)
            break;
        qs_buf_str(&text, i > 0 ? ", " : "");
        s->add_moment(s->page, json_integer_value(one), &text);
    }
    if (i < json_array_size(alone))
        qs_buf_fmt(&text, " and %zu more", json_array_size(alone) - i);
    add_line(layout, &text, QS_INK_WARN, out);
}

static void add_smaller(const struct qs_layout *layout, const struct qs_stretch *s, struct qs_buf *out)
{
    const json_t *smaller = json_object_get(s->found, "smaller");
    int64_t steps = qs_json_get_int(smaller, "steps", 0);
    QS_BUF(text);
    if (steps < 1)
        return;
    qs_layout_count(&text, steps, "smaller step", "smaller steps");
    qs_buf_str(&text, ", of at most ");
    qs_layout_percent(&text, qs_json_get_number(smaller, "most_ratio", NAN));
    qs_buf_str(&text, steps == 1 ? ": --margin 0.1% shows it" : ": --margin 0.1% shows them");
    add_line(layout, &text, QS_INK_PLAIN, out);
}

void qs_layout_beside(const struct qs_layout *layout, const struct qs_stretch *s, struct qs_buf *out)
{
    if (json_array_size(json_object_get(s->found, "changes")) == 0) {
        add_quiet(layout, s, out);
        add_trend(layout, s, out);
    }
    add_smaller(layout, s, out);
    add_alone(layout, s, out);
}

void qs_layout_medians(const struct qs_layout *layout, const json_t *change, double factor,
                       struct qs_buf *text)
{
    double before = qs_json_get_number(change, "median_before", NAN) * factor;
    double after = qs_json_get_number(change, "median_after", NAN) * factor;
    if (!isfinite(before) || !isfinite(after))
        return;
    qs_buf_str(text, ", median ");
    qs_sample_value(layout, before, text);
    qs_buf_str(text, " before and ");
    qs_sample_value(layout, after, text);
    qs_buf_str(text, " after");
}

void qs_layout_mark(const json_t *change, enum qs_chart_mark *mark, size_t n)
{
    const char *direction = qs_json_get_text(change, "direction", "");
    int64_t from = qs_json_get_int(change, "from", 0), to = qs_json_get_int(change, "to", from);
    bool drift = strcmp(qs_json_get_text(change, "kind", ""), "drift") == 0;
    if (from < 0 || to < from || (size_t)to >= n)
        return;
    for (int64_t i = from; i <= to; i++)
        mark[i] = drift                              ? QS_CHART_DRIFT
                  : strcmp(direction, "worse") == 0  ? QS_CHART_WORSE
                  : strcmp(direction, "better") == 0 ? QS_CHART_BETTER
                                                     : QS_CHART_CHANGE;
}
