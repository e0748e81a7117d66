/* Tables for a pull request. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/export.h"
#include "ctl/findings.h"
#include "ctl/layout/finding.h"

/* Text inside a cell: what has a meaning there is escaped, control characters are shown, line ends are
 * spaces. */
static void put_cell(struct qs_buf *out, const char *s)
{
    struct qs_buf plain;
    qs_buf_init(&plain);
    qs_text_escape(&plain, s, strlen(s));
    for (const char *c = plain.data; *c != '\0'; c++) {
        if (strchr("|\\`*_<>[]#@", *c) != NULL)
            qs_buf_char(out, '\\');
        qs_buf_char(out, *c);
    }
    qs_buf_done(&plain);
}

static void put_value(struct qs_buf *out, double v, const char *unit)
{
    if (!isfinite(v))
        qs_buf_str(out, "–");
    else if (strcmp(unit, "ns") == 0)
        qs_text_duration(out, v);
    else
        qs_buf_fmt(out, "%.6g ", v);
    if (isfinite(v) && strcmp(unit, "ns") != 0)
        put_cell(out, unit);
}

static void put_change(struct qs_buf *out, const struct qs_finding *f)
{
    if (!isfinite(f->ratio))
        qs_buf_str(out, "–");
    else
        qs_buf_fmt(out, "%+.2f %%", (f->ratio - 1) * 100);
    if (isfinite(f->lo) && isfinite(f->hi) && strcmp(f->reason, "exact") != 0)
        qs_buf_fmt(out, " (%+.2f to %+.2f %%)", (f->lo - 1) * 100, (f->hi - 1) * 100);
}

/* How far one unit lies from the next, in percent: a standard deviation of logs. */
static void put_noise(struct qs_buf *out, const struct qs_finding *f)
{
    if (isfinite(f->sd_log))
        qs_buf_fmt(out, "±%.2f %%", f->sd_log * 100);
    else
        qs_buf_str(out, "–");
}

/* "a → b (build v1 → v2)": builds where they say more than the names. */
static void put_arms(struct qs_buf *out, const struct qs_finding *f)
{
    bool more = f->builds != NULL && f->builds[0] != '\0' && strcmp(f->builds, f->arms) != 0;
    put_cell(out, f->arms);
    if (!more)
        return;
    qs_buf_str(out, " (build ");
    put_cell(out, f->builds);
    qs_buf_char(out, ')');
}

static void put_row(struct qs_buf *out, const struct qs_finding *f)
{
    bool loud = strcmp(f->verdict, "regression") == 0;
    qs_buf_str(out, "| ");
    put_cell(out, f->point);
    qs_buf_str(out, " | ");
    put_arms(out, f);
    qs_buf_str(out, " | ");
    put_cell(out, f->where);
    qs_buf_str(out, " | ");
    put_cell(out, f->metric);
    qs_buf_str(out, " | ");
    put_value(out, f->base, f->unit);
    qs_buf_str(out, " | ");
    put_value(out, f->cand, f->unit);
    qs_buf_str(out, " | ");
    put_change(out, f);
    qs_buf_str(out, " | ");
    put_noise(out, f);
    qs_buf_str(out, loud ? " | **" : " | ");
    put_cell(out, f->verdict);
    qs_buf_str(out, loud ? "**" : "");
    if (!f->stands)
        qs_buf_str(out, ", by chance?");
    else if (strcmp(f->reason, "none") != 0 && f->reason[0] != '\0') {
        qs_buf_str(out, " (");
        put_cell(out, f->reason);
        qs_buf_char(out, ')');
    }
    qs_buf_str(out, " |\n");
}

static void put_differences(struct qs_buf *out, const json_t *doc, const char *key, const char *title)
{
    size_t i;
    const json_t *change, *list = json_object_get(doc, key);
    if (!json_is_array(list) || json_array_size(list) == 0)
        return;
    qs_buf_fmt(out, "\n%s\n\n| key | base | candidate |\n|---|---|---|\n", title);
    json_array_foreach(list, i, change)
    {
        static const char *const fields[] = {"key", "base", "candidate"};
        for (size_t k = 0; k < 3; k++) {
            qs_buf_str(out, "| ");
            put_cell(out, qs_json_get_text(change, fields[k], "–"));
            qs_buf_char(out, ' ');
        }
        qs_buf_str(out, "|\n");
    }
}

static void put_unmatched(struct qs_buf *out, const json_t *doc, const char *key, const char *title)
{
    size_t i;
    const json_t *one, *list = json_object_get(doc, key);
    if (json_array_size(list) == 0)
        return;
    qs_buf_fmt(out, "\n%s:\n\n", title);
    json_array_foreach(list, i, one)
    {
        static const char *const fields[] = {"label", "arm", "benchmark", "metric", "device"};
        bool has_label = json_object_get(one, "label") != NULL;
        qs_buf_char(out, '-');
        for (size_t k = 0; k < 5; k++) {
            if (has_label && strcmp(fields[k], "benchmark") == 0)
                continue;
            const char *text = qs_json_get_text(one, fields[k], "");
            qs_buf_str(out, text[0] != '\0' ? " " : "");
            put_cell(out, text);
        }
        qs_buf_char(out, '\n');
    }
}

static void put_views(struct qs_buf *out, const json_t *doc)
{
    struct qs_buf lines;
    qs_buf_init(&lines);
    qs_findings_views(doc, &lines);
    for (const char *line = lines.data; lines.len > 0 && *line != '\0'; line += strcspn(line, "\n") + 1) {
        char *one = qs_strndup(line, strcspn(line, "\n"));
        qs_buf_str(out, "\n- ");
        put_cell(out, one);
        free(one);
    }
    if (lines.len > 0)
        qs_buf_char(out, '\n');
    qs_buf_done(&lines);
}

/* What a reader wants first, of two and more verdicts. */
static void put_tally(struct qs_buf *out, const json_t *doc)
{
    struct qs_buf words;
    qs_buf_init(&words);
    qs_tally_words(doc, &words);
    put_cell(out, words.data);
    qs_buf_str(out, words.len > 0 ? "\n\n" : "");
    qs_buf_done(&words);
}

void qs_export_markdown(const json_t *doc, struct qs_buf *out)
{
    struct qs_findings f;
    char *title = qs_findings_title(doc);
    qs_findings_of(doc, &f);
    qs_buf_str(out, "### ");
    put_cell(out, title);
    qs_buf_str(out, "\n\n");
    if (qs_findings_refused(doc))
        qs_buf_str(out, "**Refused**: the sides differ in more than the arm.\n");
    else if (f.count == 0)
        qs_buf_str(out, "**Nothing was compared**: the sides have nothing in common.\n");
    else
        put_tally(out, doc);
    if (f.count > 0 && !qs_findings_refused(doc))
        qs_buf_str(out,
                   "| benchmark | arms | where | metric | base | candidate | change | noise | verdict |\n"
                   "|---|---|---|---|--:|--:|--:|--:|---|\n");
    for (size_t i = 0; i < f.count; i++)
        put_row(out, &f.at[i]);
    put_views(out, doc);
    put_differences(out, doc, "arm", "The arms differ in:");
    put_differences(out, doc, "environment", "What else differs:");
    put_unmatched(out, doc, "only_in_base", "Only in the base");
    put_unmatched(out, doc, "only_in_candidate", "Only in the candidate");
    qs_findings_done(&f);
    free(title);
}
