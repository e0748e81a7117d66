/* One verdict in words, and its cells in a table. */
#include "ctl/layout/finding.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
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

static enum qs_ink add_verdict(const char *verdict, double margin_ratio, struct qs_buf *out)
{
    for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
        if (strcmp(verdicts[i].verdict, verdict) != 0)
            continue;
        qs_buf_str(out, verdicts[i].words);
        qs_layout_percent(out, margin_ratio);
        qs_buf_char(out, '.');
        return verdicts[i].ink;
    }
    qs_buf_str(out, verdict);
    return QS_INK_PLAIN;
}

/* %u: what counts once. */
static const struct {
    const char *reason, *words;
    bool always; /* else where nothing is known */
} reasons[] = {
    {"too-few-runs", "Inconclusive: a side has fewer than two %u that count.", false},
    {"borderline",
     "Inconclusive: zero change lies just outside the interval: a change is called at 99 %, so that "
     "noise alone is seldom called one.",
     false},
    {"no-spread", "Inconclusive: the values have no spread to judge by.", false},
    {"exact", "Compared exactly: any difference is a change.", true},
    {"one-session", " One session per side: it would take twice the margin to be sure.", true},
    {"taint-rates-differ",
     "Inconclusive: the sides lost different shares of their runs, so what is left may not be alike.", false},
    {"timeout-rates-differ",
     "Inconclusive: different shares of the runs timed out, so the slowest are missing.", false},
    {"not-positive", "Inconclusive: a value of 0 has no logarithm.", false}};

static bool is_open(const struct qs_finding *f)
{
    return strcmp(f->verdict, "inconclusive") == 0;
}

static const char *words_of(const struct qs_finding *f)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (strcmp(reasons[i].reason, f->reason) == 0 && (reasons[i].always || is_open(f)))
            return reasons[i].words;
    return NULL;
}

static void add_words(struct qs_buf *out, const char *words, const struct qs_finding *f)
{
    const char *mark = strstr(words, "%u");
    if (mark == NULL)
        qs_buf_str(out, words);
    else
        qs_buf_fmt(out, "%.*s%s%s", (int)(mark - words), words, f->units_of, mark + 2);
}

/* What more it would take, and how to ask for it. */
static void add_needed(struct qs_buf *out, const struct qs_finding *f)
{
    qs_buf_str(out, "To show ");
    qs_layout_percent(out, f->margin_ratio);
    bool one = f->needed == 1; /* "1 block" */
    qs_buf_fmt(out, " takes about %" PRId64 " %.*s%s", f->needed, (int)strlen(f->units_of) - one, f->units_of,
               f->one_job ? "" : " a side");
    if (isfinite(f->seconds_needed)) {
        qs_buf_str(out, ", ");
        qs_text_duration(out, f->seconds_needed * 1e9);
        qs_buf_str(out, " more measuring");
    }
    if (!f->one_job)
        qs_buf_char(out, '.');
    else if (f->needed <= QS_RUNS_MAX)
        qs_buf_fmt(out, ": --runs %" PRId64 ", or `blocks: %" PRId64 "` in a job file", f->needed, f->needed);
    else
        qs_buf_fmt(out, ", more than a job may have (%d): a quieter machine or a larger margin takes fewer",
                   QS_RUNS_MAX);
}

/* What the sample could have shown, and what it would take. */
static void add_power(const struct qs_layout *layout, const struct qs_finding *f, struct qs_buf *out)
{
    QS_BUF(text);
    if (isfinite(f->mde_ratio)) {
        qs_buf_str(&text, "The smallest difference that this sample shows reliably is ");
        qs_layout_percent(&text, f->mde_ratio);
        qs_buf_str(&text, ". ");
    }
    if (f->needed > f->units)
        add_needed(&text, f);
    while (text.len > 0 && text.data[text.len - 1] == ' ')
        text.data[--text.len] = '\0';
    if (text.len > 0)
        qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_PLAIN);
}

static void add_notes(const struct qs_layout *layout, const char *notes, struct qs_buf *out)
{
    QS_BUF(text);
    qs_buf_fmt(&text, "%s.", notes);
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_PLAIN);
}

void qs_layout_finding(const struct qs_layout *layout, const struct qs_finding *f, struct qs_buf *out)
{
    QS_BUF(text);
    const char *words = words_of(f);
    enum qs_ink ink = QS_INK_WARN;
    if (!is_open(f) || words == NULL)
        ink = add_verdict(f->verdict, f->margin_ratio, &text);
    if (strcmp(f->reason, "exact") == 0)
        qs_buf_clear(&text);
    if (words != NULL)
        add_words(&text, words, f);
    if (!f->stands)
        qs_buf_str(&text, " Among so many comparisons it is expected by chance.");
    qs_face_wrap(&layout->face, out, "  ", text.data, ink);
    if (f->notes[0] != '\0')
        add_notes(layout, f->notes, out);
    if (is_open(f))
        add_power(layout, f, out);
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

/* Many verdicts in a line: how many of each, and the geometric mean of the ratios of each metric. */
void qs_layout_tally(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    const char *words = qs_json_get_text(json_object_get(doc, "tally"), "sentence", "");
    if (words[0] == '\0')
        return;
    qs_buf_char(out, '\n');
    qs_face_wrap(&layout->face, out, "  ", words, QS_INK_BOLD);
}
