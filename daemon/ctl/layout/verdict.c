/* What a job says of its durations, and its arms in their order. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/layout/finding.h"

void qs_layout_percent(struct qs_buf *out, double ratio)
{
    double v = ratio * 100;
    if (v < 0.001)
        qs_buf_str(out, v > 0 ? "under 0.001 %" : "0 %");
    else
        qs_buf_fmt(out, v >= 9.95 ? "%.0f %%" : "%.2g %%", v);
}

static void add_pair(const struct qs_layout *layout, const struct qs_finding *f, struct qs_buf *out)
{
    QS_BUF(text);
    qs_buf_str(&text, f->sentence);
    if (isfinite(f->lo) && isfinite(f->level)) {
        qs_buf_fmt(&text, " (%g %% interval, ", f->level * 100);
        qs_layout_count(&text, f->units, "block", "blocks");
        qs_buf_char(&text, ')');
    }
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_BOLD);
    qs_layout_finding(layout, f, out);
    qs_layout_opinions(layout, f->opinions, out);
}

/* One arm alone has an interval of its own. */
static void add_alone(const struct qs_layout *layout, const json_t *arm, struct qs_buf *out)
{
    QS_BUF(text);
    double lo = qs_json_get_number(arm, "median_lo", NAN);
    double hi = qs_json_get_number(arm, "median_hi", NAN);
    double level = qs_json_get_number(arm, "median_level", NAN);
    double median = qs_json_get_number(arm, "median", NAN);
    struct qs_scale scale;
    qs_layout_scale(layout->unit, median, &scale);
    qs_buf_fmt(&text, "%s takes ", qs_json_get_text(arm, "name", "?"));
    if (isfinite(lo) && isfinite(hi)) {
        qs_buf_fmt(&text, "%.*f–%.*f %s: median %.*f %s", scale.decimals, lo / scale.ns, scale.decimals,
                   hi / scale.ns, scale.name, scale.decimals, median / scale.ns, scale.name);
        qs_buf_fmt(&text, " (%.3g %% interval, ", level * 100);
        qs_layout_count(&text, qs_json_get_int(arm, "median_runs", qs_json_get_int(arm, "runs", 0)), "run",
                        "runs");
        qs_buf_char(&text, ')');
    } else {
        qs_buf_fmt(&text, "%.*f %s; there are too few runs for an interval", scale.decimals,
                   median / scale.ns, scale.name);
    }
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_BOLD);
}

/* With two arms the comparison says it. */
static void add_ranking(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    size_t i;
    const json_t *place, *places = json_object_get(result, "ranking");
    QS_BUF(text);
    if (json_array_size(places) < 3)
        return;
    qs_buf_fmt(&text, "Fastest: %s", qs_json_get_text(json_array_get(places, 0), "arm", "?"));
    qs_buf_char(out, '\n');
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_BOLD);
    json_array_foreach(places, i, place)
    {
        if (i > 0)
            qs_face_wrap(&layout->face, out, "    ", qs_json_get_text(place, "sentence", ""), QS_INK_PLAIN);
    }
}

void qs_layout_verdicts(const struct qs_layout *layout, const json_t *doc, const json_t *result,
                        struct qs_buf *out)
{
    const json_t *duration = json_array_get(json_object_get(result, "metrics"), 0);
    struct qs_findings all;
    qs_findings_of_result(doc, result, &all);
    for (size_t i = 0; i < all.count && qs_finding_is_duration(&all.at[i]); i++) {
        if (i > 0)
            qs_buf_char(out, '\n');
        add_pair(layout, &all.at[i], out);
    }
    add_ranking(layout, result, out);
    if (all.count == 0)
        add_alone(layout, json_array_get(json_object_get(duration, "arms"), 0), out);
    qs_findings_done(&all);
}
