/* One verdict in words, and its cells in a table. */
#include "ctl/layout/finding.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client/api.h"

static const struct {
    const char *verdict;
    enum qs_ink ink;
    const char *words;
} verdicts[] = {{"regression", QS_INK_BAD, "Regression: worse by more than the margin of "},
                {"improvement", QS_INK_GOOD, "Improvement: better by more than the margin of "},
                {"probable-regression", QS_INK_WARN,
                 "Probable regression: worse, but perhaps by less than the margin of "},
                {"probable-improvement", QS_INK_WARN,
                 "Probable improvement: better, but perhaps by less than the margin of "},
                {"negligible", QS_INK_PLAIN, "Negligible: a real difference, smaller than the margin of "},
                {"equivalent", QS_INK_PLAIN, "Equivalent: any difference is smaller than the margin of "},
                {"inconclusive", QS_INK_WARN, "Inconclusive: the interval is too wide for a margin of "}};

enum qs_ink qs_layout_verdict(const char *verdict, double margin_ratio, struct qs_buf *out)
{
    for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
        if (strcmp(verdicts[i].verdict, verdict) != 0)
            continue;
        qs_buf_str(out, verdicts[i].words);
        qs_layout_percent(out, margin_ratio);
        qs_buf_char(out, '.');
        return verdicts[i].ink;
    }
    return QS_INK_PLAIN;
}

static const struct {
    const char *reason, *words;
} reasons[] = {
    {"too-few-runs", "Inconclusive: a side has fewer than two runs that count."},
    {"borderline",
     "Inconclusive: the interval leaves out no change, but only just: a change is called at 99 %."},
    {"exact", "Compared exactly: any difference is a change."},
    {"one-session", " One session a side: it would take twice the margin to be sure."},
    {"taint-rates-differ",
     "Inconclusive: the sides lost different shares of their runs, so what is left may not be alike."},
    {"timeout-rates-differ",
     "Inconclusive: different shares of the runs timed out, so the slowest are missing."},
    {"not-positive", "Inconclusive: a value of 0 has no logarithm."}};

static const char *words_of(const char *reason)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (strcmp(reasons[i].reason, reason) == 0)
            return reasons[i].words;
    return NULL;
}

void qs_layout_finding(const struct qs_layout *layout, const struct qs_finding *f, struct qs_buf *out)
{
    struct qs_buf text;
    const char *words = words_of(f->reason);
    bool open = strcmp(f->verdict, "inconclusive") == 0, exact = strcmp(f->reason, "exact") == 0;
    enum qs_ink ink = QS_INK_WARN;
    qs_buf_init(&text);
    if (!open || words == NULL)
        ink = qs_layout_verdict(f->verdict, f->margin_ratio, &text);
    if (exact)
        qs_buf_clear(&text);
    if (words != NULL)
        qs_buf_str(&text, words);
    if (!f->stands)
        qs_buf_str(&text, " Among so many comparisons it is expected by chance.");
    if (open && isfinite(f->mde_ratio)) {
        qs_buf_str(&text, " The least difference that this sample shows reliably is ");
        qs_layout_percent(&text, f->mde_ratio);
        qs_buf_char(&text, '.');
        if (f->needed > 0)
            qs_buf_fmt(&text, " For the margin it would take about %" PRId64 " %s a side.", f->needed,
                       f->needed_of);
    }
    qs_face_wrap(&layout->face, out, "  ", text.data, ink);
    qs_buf_done(&text);
}

void qs_finding_value(const struct qs_layout *layout, struct qs_grid *grid, double v, const char *unit)
{
    char text[64] = "?";
    struct qs_scale scale;
    if (isfinite(v) && strcmp(unit, "ns") == 0) {
        qs_layout_scale(layout->unit, v, &scale);
        snprintf(text, sizeof(text), "%.*f %s", scale.decimals, v / scale.ns, scale.name);
    } else if (isfinite(v)) {
        snprintf(text, sizeof(text), "%.6g", v);
    }
    qs_grid_cell(grid, text);
}

void qs_finding_change(struct qs_grid *grid, const struct qs_finding *f)
{
    char text[64] = "?", lo[24], hi[24];
    if (strcmp(f->reason, "exact") == 0 && isfinite(f->ratio)) {
        snprintf(text, sizeof(text), "%+.3g %%", (f->ratio - 1) * 100);
    } else if (isfinite(f->lo) && isfinite(f->hi)) {
        snprintf(lo, sizeof(lo), "%+.1f", (f->lo - 1) * 100);
        snprintf(hi, sizeof(hi), "%+.1f", (f->hi - 1) * 100);
        bool one = strcmp(lo, hi) == 0;
        snprintf(text, sizeof(text), "%s%s%s %%", lo, one ? "" : " to ", one ? "" : hi);
    }
    qs_grid_cell(grid, text);
}
