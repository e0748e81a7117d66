/* The sentence, the verdict in words, and what an inconclusive comparison lacks. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

static const struct {
    const char *verdict;
    enum qs_ink ink;
    const char *words; /* %c candidate, %b base, %m margin */
} verdicts[] = {
    {"regression", QS_INK_BAD, "Regression: %c is slower than %b by more than the margin of %m."},
    {"improvement", QS_INK_GOOD, "Improvement: %c is faster than %b by more than the margin of %m."},
    {"probable-regression", QS_INK_WARN,
     "Probable regression: %c is slower, but perhaps by less than the margin of %m."},
    {"probable-improvement", QS_INK_WARN,
     "Probable improvement: %c is faster, but perhaps by less than the margin of %m."},
    {"negligible", QS_INK_PLAIN, "Negligible: a real difference, smaller than the margin of %m."},
    {"equivalent", QS_INK_PLAIN, "Equivalent: any difference is smaller than the margin of %m."},
    {"inconclusive", QS_INK_WARN,
     "Inconclusive: the interval is too wide to say whether %c differs from %b by more than %m."}};

static const struct {
    const char *reason, *words;
} reasons[] = {
    {"too-few-runs", "Inconclusive: too few complete blocks."},
    {"borderline",
     "Inconclusive: the interval leaves out no change, but only just: a change is called at 99 %, so that "
     "noise alone is seldom called one."},
    {"no-spread", "Inconclusive: the times have no spread to judge by."},
    {"taint-rates-differ",
     "Inconclusive: the arms lost different shares of their runs, so what is left may not be alike."}};

void qs_layout_percent(struct qs_buf *out, double ratio)
{
    double v = ratio * 100;
    if (v < 0.001)
        qs_buf_str(out, v > 0 ? "under 0.001 %" : "0 %");
    else
        qs_buf_fmt(out, v >= 9.95 ? "%.0f %%" : "%.2g %%", v);
}

static void fill(struct qs_buf *out, const char *words, const json_t *pair)
{
    for (const char *s = words; *s != '\0'; s++) {
        if (*s != '%') {
            qs_buf_char(out, *s);
            continue;
        }
        s++;
        if (*s == 'c')
            qs_buf_str(out, qs_json_get_text(pair, "cand", "?"));
        else if (*s == 'b')
            qs_buf_str(out, qs_json_get_text(pair, "base", "?"));
        else if (*s == 'm')
            qs_layout_percent(out, qs_json_get_number(pair, "margin_ratio", 0));
        else
            qs_buf_fmt(out, "%%%c", *s);
    }
}

static void add_verdict(const struct qs_layout *layout, const json_t *pair, struct qs_buf *out)
{
    const char *verdict = qs_json_get_text(pair, "verdict", "inconclusive");
    const char *reason = qs_json_get_text(pair, "reason", "");
    const char *words = NULL;
    enum qs_ink ink = QS_INK_PLAIN;
    struct qs_buf text;
    for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
        if (strcmp(verdicts[i].verdict, verdict) == 0) {
            words = verdicts[i].words;
            ink = verdicts[i].ink;
        }
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (strcmp(verdict, "inconclusive") == 0 && strcmp(reasons[i].reason, reason) == 0)
            words = reasons[i].words;
    qs_buf_init(&text);
    fill(&text, words != NULL ? words : verdict, pair);
    qs_face_wrap(&layout->face, out, "  ", text.data, ink);
    qs_buf_done(&text);
}

/* What the sample could have shown, and what it would take. */
static void add_power(const struct qs_layout *layout, const json_t *pair, struct qs_buf *out)
{
    double mde = qs_json_get_number(pair, "mde_ratio", NAN);
    double more_s = qs_json_get_number(pair, "seconds_needed", NAN);
    int64_t needed = qs_json_get_int(pair, "blocks_needed", 0);
    struct qs_buf text;
    if (strcmp(qs_json_get_text(pair, "verdict", ""), "inconclusive") != 0)
        return;
    qs_buf_init(&text);
    if (isfinite(mde)) {
        qs_buf_str(&text, "The least difference that this sample shows reliably is ");
        qs_layout_percent(&text, mde);
        qs_buf_str(&text, ". ");
    }
    if (needed > qs_json_get_int(pair, "blocks", 0)) {
        qs_buf_str(&text, "To show ");
        qs_layout_percent(&text, qs_json_get_number(pair, "margin_ratio", 0));
        qs_buf_str(&text, " takes about ");
        qs_layout_count(&text, needed, "block", "blocks");
        if (isfinite(more_s)) {
            qs_buf_str(&text, ", ");
            qs_text_duration(&text, more_s * 1e9);
            qs_buf_str(&text, " more of measuring");
        }
        if (needed <= QS_RUNS_MAX)
            qs_buf_fmt(&text, ": --runs %" PRId64 ", or `blocks: %" PRId64 "` in a job file", needed, needed);
        else
            qs_buf_fmt(&text,
                       ", more than a job may have (%d): a quieter machine or a larger margin takes fewer",
                       QS_RUNS_MAX);
    }
    if (text.len > 0)
        qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_PLAIN);
    qs_buf_done(&text);
}

static void add_pair(const struct qs_layout *layout, const json_t *pair, struct qs_buf *out)
{
    struct qs_buf text;
    qs_buf_init(&text);
    qs_buf_str(&text, qs_json_get_text(pair, "sentence", ""));
    if (json_is_number(json_object_get(pair, "lo"))) {
        qs_buf_fmt(&text, " (%g %% interval, ",
                   qs_json_get_number(pair, "judged_level", qs_json_get_number(pair, "level", 0.95)) * 100);
        qs_layout_count(&text, qs_json_get_int(pair, "blocks", 0), "block", "blocks");
        qs_buf_char(&text, ')');
    }
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_BOLD);
    add_verdict(layout, pair, out);
    add_power(layout, pair, out);
    qs_layout_opinions(layout, json_object_get(pair, "opinions"), out);
    qs_buf_done(&text);
}

/* One arm alone has an interval of its own. */
static void add_alone(const struct qs_layout *layout, const json_t *arm, struct qs_buf *out)
{
    struct qs_buf text;
    double lo = qs_json_get_number(arm, "median_lo_ns", NAN);
    double hi = qs_json_get_number(arm, "median_hi_ns", NAN);
    double level = qs_json_get_number(arm, "median_confidence", NAN);
    double median = qs_json_get_number(arm, "median_ns", NAN);
    struct qs_scale scale;
    qs_buf_init(&text);
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
    qs_buf_done(&text);
}

/* With two arms the comparison says it. */
static void add_ranking(const struct qs_layout *layout, const json_t *result, struct qs_buf *out)
{
    size_t i;
    const json_t *place, *places = json_object_get(result, "ranking");
    struct qs_buf text;
    if (json_array_size(places) < 3)
        return;
    qs_buf_init(&text);
    qs_buf_fmt(&text, "Fastest: %s", qs_json_get_text(json_array_get(places, 0), "arm", "?"));
    qs_buf_char(out, '\n');
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_BOLD);
    json_array_foreach(places, i, place)
    {
        if (i > 0)
            qs_face_wrap(&layout->face, out, "    ", qs_json_get_text(place, "sentence", ""), QS_INK_PLAIN);
    }
    qs_buf_done(&text);
}

void qs_layout_verdicts(const struct qs_layout *layout, const json_t *doc, const json_t *result,
                        struct qs_buf *out)
{
    size_t i;
    const json_t *pair;
    const json_t *pairs = json_object_get(result, "comparisons");
    (void)doc;
    json_array_foreach(pairs, i, pair)
    {
        if (i > 0)
            qs_buf_char(out, '\n');
        add_pair(layout, pair, out);
    }
    add_ranking(layout, result, out);
    if (json_array_size(pairs) == 0)
        add_alone(layout, json_array_get(json_object_get(result, "arms"), 0), out);
}
