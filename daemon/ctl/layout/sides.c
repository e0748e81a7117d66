/* Two sides as text: what was found, what differs, what has no partner. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/findings.h"
#include "ctl/layout/layout.h"
#include "ctl/layout/finding.h"
#include "ctl/layout/sample.h"

enum { SENTENCES_MOST = 6 };

static void add_sentences(const struct qs_layout *layout, const struct qs_findings *all, struct qs_buf *out)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct qs_finding *f = &all->at[i];
        QS_BUF(text);
        bool exact = strcmp(f->reason, "exact") == 0;
        qs_buf_fmt(&text, "%s on %s, %s", f->point, f->where, f->metric);
        qs_buf_char(out, '\n');
        qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BOLD);
        qs_buf_clear(&text);
        qs_buf_str(&text, f->sentence);
        if (!exact && isfinite(f->level))
            qs_buf_fmt(&text, " (%g %% interval over %s)", f->level * 100, f->units_of);
        qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_BOLD);
        if (!exact || strcmp(f->verdict, "equivalent") != 0)
            qs_layout_finding(layout, f, out);
        qs_layout_opinions(layout, f->opinions, out);
    }
}

/* The arms stand in the title where all points have the same; the metric where it is not the duration. */
static void point_cell(struct qs_grid *grid, const struct qs_finding *f, bool with_arms)
{
    bool arms = with_arms && f->arms[0] != '\0', metric = !qs_finding_is_duration(f);
    QS_FREED char *text = qs_asprintf("%s%s%s%s%s", f->point, metric ? " " : "", metric ? f->metric : "",
                                      arms ? ", " : "", arms ? f->arms : "");
    qs_grid_cell(grid, text);
}

static bool arms_vary(const struct qs_findings *all)
{
    for (size_t i = 1; i < all->count; i++)
        if (strcmp(all->at[i].arms, all->at[0].arms) != 0)
            return true;
    return false;
}

static void add_table(const struct qs_layout *layout, const struct qs_findings *all, struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {
        {.title = "benchmark", .most = 28},          {.title = "device", .keep = 1, .most = 12},
        {.title = "base", .right = true, .keep = 5}, {.title = "candidate", .right = true, .keep = 6},
        {.title = "change", .right = true},          {.title = "verdict"}};
    const bool with_arms = arms_vary(all);
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < all->count; i++) {
        const struct qs_finding *f = &all->at[i];
        char verdict[48];
        snprintf(verdict, sizeof(verdict), "%s%s", f->verdict, f->stands ? "" : "?");
        point_cell(&grid, f, with_arms);
        qs_grid_cell(&grid, f->where);
        qs_finding_value(layout, &grid, f->base, f->unit);
        qs_finding_value(layout, &grid, f->cand, f->unit);
        qs_finding_change(&grid, f);
        qs_grid_cell(&grid, verdict);
    }
    qs_buf_char(out, '\n');
    qs_grid_print(&grid, &layout->face, "  ", out);
}

static void add_differences(const struct qs_layout *layout, const json_t *list, const char *title,
                            bool with_state, struct qs_buf *out)
{
    size_t i;
    const json_t *change;
    if (json_array_size(list) == 0)
        return;
    qs_buf_char(out, '\n');
    qs_face_wrap(&layout->face, out, "  ", title, QS_INK_BOLD);
    json_array_foreach(list, i, change)
    {
        QS_BUF(text);
        bool matters = qs_json_get_true(change, "matters"), allowed = qs_json_get_true(change, "allowed");
        qs_buf_fmt(&text, "%s: %s | %s", qs_json_get_text(change, "key", "?"),
                   qs_json_get_text(change, "base", "none"), qs_json_get_text(change, "candidate", "none"));
        if (with_state && !matters)
            qs_buf_str(&text, " (noted only)");
        else if (with_state && allowed)
            qs_buf_str(&text, " (allowed)");
        qs_face_wrap(&layout->face, out, "  - ", text.data,
                     with_state && matters && !allowed ? QS_INK_BAD : QS_INK_PLAIN);
    }
}

static void add_unmatched(const struct qs_layout *layout, const json_t *list, const char *title,
                          struct qs_buf *out)
{
    size_t i;
    const json_t *one;
    if (json_array_size(list) == 0)
        return;
    qs_buf_char(out, '\n');
    qs_face_wrap(&layout->face, out, "  ", title, QS_INK_BOLD);
    json_array_foreach(list, i, one)
    {
        QS_BUF(text);
        qs_buf_fmt(&text, "%s in %s on %s (", qs_json_get_text(one, "label", "?"),
                   qs_json_get_text(one, "arm", "?"), qs_json_get_text(one, "device", "?"));
        qs_layout_count(&text, qs_json_get_int(one, "runs", 0), "run", "runs");
        qs_buf_char(&text, ')');
        qs_face_wrap(&layout->face, out, "  - ", text.data, QS_INK_WARN);
    }
}

static void add_running(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    static const char *const sides[] = {"base", "candidate"};
    for (size_t k = 0; k < 2; k++) {
        size_t i;
        const json_t *job;
        json_array_foreach(json_object_get(json_object_get(doc, sides[k]), "running"), i, job)
        {
            char text[120];
            snprintf(text, sizeof(text),
                     "Job %" JSON_INTEGER_FORMAT " of the %s has not ended and is left out.",
                     json_integer_value(job), sides[k]);
            qs_face_wrap(&layout->face, out, "  ", text, QS_INK_WARN);
        }
    }
}

static bool has_text(const json_t *warnings, const char *text)
{
    size_t i;
    const json_t *w;
    json_array_foreach(warnings, i, w) if (strcmp(qs_json_get_text(w, "text", ""), text) == 0) return true;
    return false;
}

/* "blur on p1, blur on p2 and 3 more: what is wrong", where the first of them is this one. */
static void add_warning(const struct qs_layout *layout, const struct qs_findings *all, size_t first,
                        const char *warning, struct qs_buf *out)
{
    enum { NAMED_MOST = 3 };
    QS_BUF(text);
    size_t named = 0;
    for (size_t i = first; i < all->count; i++) {
        if (has_text(all->at[i].warnings, warning) && named++ < NAMED_MOST)
            qs_buf_fmt(&text, "%s%s on %s", named > 1 ? ", " : "", all->at[i].point, all->at[i].where);
    }
    if (named > NAMED_MOST)
        qs_buf_fmt(&text, " and %zu more", named - NAMED_MOST);
    qs_buf_fmt(&text, ": %s", warning);
    qs_face_wrap(&layout->face, out, "  - ", text.data, QS_INK_PLAIN);
}

static bool was_told(const struct qs_findings *all, size_t before, const char *warning)
{
    for (size_t i = 0; i < before; i++)
        if (has_text(all->at[i].warnings, warning))
            return true;
    return false;
}

static void add_warnings(const struct qs_layout *layout, const struct qs_findings *all, struct qs_buf *out)
{
    bool any = false;
    for (size_t i = 0; i < all->count; i++) {
        size_t k;
        const json_t *w;
        json_array_foreach(all->at[i].warnings, k, w)
        {
            const char *text = qs_json_get_text(w, "text", "");
            if (was_told(all, i, text))
                continue;
            if (!any) {
                qs_buf_char(out, '\n');
                qs_face_wrap(&layout->face, out, "  ", "What to know about these samples", QS_INK_BOLD);
            }
            any = true;
            add_warning(layout, all, i, text, out);
        }
    }
}

static void add_head(const struct qs_layout *layout, const json_t *doc, const struct qs_findings *all,
                     struct qs_buf *out)
{
    QS_BUF(text);
    QS_FREED char *title = qs_findings_title(doc);
    qs_buf_fmt(&text, "%s: ", title);
    qs_layout_count(&text, (int64_t)json_array_size(json_object_get(doc, "results")), "point", "points");
    qs_buf_str(&text, ", ");
    qs_layout_count(&text, (int64_t)all->count, "verdict", "verdicts");
    qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BOLD);
    add_running(layout, doc, out);
    qs_sample_views(layout, "the base", json_object_get(json_object_get(doc, "base"), "views"), out);
    qs_sample_views(layout, "the candidate", json_object_get(json_object_get(doc, "candidate"), "views"),
                    out);
}

/* The advice is what can be typed: the keys that were refused, or everything where they are many. */
static void add_refusal(const struct qs_layout *layout, const json_t *environment, struct qs_buf *out)
{
    enum { KEYS_MOST = 4 };
    QS_BUF(keys);
    QS_BUF(text);
    size_t i, count = 0;
    const json_t *change;
    json_array_foreach(environment, i, change)
    {
        if (qs_json_get_true(change, "matters") && !qs_json_get_true(change, "allowed"))
            qs_buf_fmt(&keys, "%c%s", count++ == 0 ? '=' : ',', qs_json_get_text(change, "key", "?"));
    }
    qs_buf_fmt(&text,
               "Refused: the sides differ in more than the arm. To compare them anyway: --allow-diff%s",
               count > 0 && count <= KEYS_MOST ? keys.data : "");
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_BAD);
}

void qs_layout_sides(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    struct qs_findings all;
    bool refused = qs_findings_refused(doc);
    qs_findings_of(doc, &all);
    add_head(layout, doc, &all, out);
    if (refused)
        add_refusal(layout, json_object_get(doc, "environment"), out);
    else if (all.count == 0)
        qs_face_wrap(&layout->face, out, "  ", "The sides have nothing in common to compare.", QS_INK_BAD);
    if (all.count > 0 && all.count <= SENTENCES_MOST)
        add_sentences(layout, &all, out);
    if (all.count > 0)
        add_table(layout, &all, out);
    qs_layout_tally(layout, doc, out);
    add_differences(layout, json_object_get(doc, "arm"), "The arms: base | candidate", false, out);
    add_differences(layout, json_object_get(doc, "environment"), "What else differs: base | candidate", true,
                    out);
    add_unmatched(layout, json_object_get(doc, "only_in_base"), "Only in the base", out);
    add_unmatched(layout, json_object_get(doc, "only_in_candidate"), "Only in the candidate", out);
    add_warnings(layout, &all, out);
    qs_findings_done(&all);
}
