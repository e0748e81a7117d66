#include "ctl/layout/reproduce.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ctl/client/api.h"
#include "ctl/layout/sample.h"

void qs_layout_reproduce_plan(const struct qs_face *face, const json_t *plan, const json_t *problems,
                              bool refused, bool fatal, struct qs_buf *out)
{
    size_t i;
    const json_t *one;
    QS_BUF(text);
    qs_buf_fmt(&text, "job %" PRId64 " again: seed %s, devices %s", qs_json_get_int(plan, "job", 0),
               qs_json_get_text(plan, "seed", "?"), qs_json_get_text(plan, "where", "?"));
    qs_face_wrap(face, out, "", text.data, QS_INK_PLAIN);
    json_array_foreach(problems, i, one)
        qs_face_wrap(face, out, "  - ", json_is_string(one) ? json_string_value(one) : "", QS_INK_WARN);
    if (refused)
        qs_face_wrap(face, out, "",
                     fatal ? "Not submitted: what it needs is gone."
                           : "Not submitted: it would not be the same job. --allow-diff submits it anyway.",
                     QS_INK_BAD);
}

static void add_drawn(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    const json_t *order = json_object_get(doc, "order"), *layouts = json_object_get(doc, "layouts");
    int64_t turns = qs_json_get_int(order, "turns", 0), same = qs_json_get_int(order, "same", 0);
    int64_t runs = qs_json_get_int(layouts, "runs", 0);
    QS_BUF(text);
    qs_buf_fmt(&text, "job %" PRId64 " did job %" PRId64 " again: %s seed, ", qs_json_get_int(doc, "job", 0),
               qs_json_get_int(doc, "original", 0),
               qs_json_get_true(doc, "same_seed") ? "the same" : "another");
    if (same == turns)
        qs_buf_fmt(&text, "the same order in all %" PRId64 " turns that both had", turns);
    else
        qs_buf_fmt(&text, "the same arm in %" PRId64 " of %" PRId64 " turns", same, turns);
    if (runs > 0)
        qs_buf_fmt(&text, ", the same layout in %" PRId64 " of %" PRId64 " runs",
                   qs_json_get_int(layouts, "same", 0), runs);
    qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BOLD);
}

static void add_environment(const struct qs_layout *layout, const json_t *one, struct qs_buf *out)
{
    size_t i;
    const json_t *d, *differences = json_object_get(one, "differences");
    QS_BUF(text);
    qs_buf_fmt(&text, "environment of %s: ", qs_json_get_text(one, "device", ""));
    if (!qs_json_get_true(one, "known"))
        qs_buf_str(&text, "not known for both");
    else if (json_array_size(differences) == 0)
        qs_buf_str(&text, "nothing differs");
    else
        qs_layout_count(&text, (int64_t)json_array_size(differences), "difference", "differences");
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_PLAIN);
    json_array_foreach(differences, i, d)
    {
        bool matters = qs_json_get_true(d, "matters");
        qs_buf_clear(&text);
        qs_buf_fmt(&text, "%s: %s -> %s%s", qs_json_get_text(d, "key", ""),
                   qs_json_get_text(d, "base", "(none)"), qs_json_get_text(d, "candidate", "(none)"),
                   matters ? "" : " (usually changes nothing)");
        qs_face_wrap(&layout->face, out, "  - ", text.data, matters ? QS_INK_WARN : QS_INK_DIM);
    }
}

static void add_result(const struct qs_layout *layout, const json_t *r, struct qs_buf *out)
{
    const json_t *reproduced = json_object_get(r, "reproduced"),
                 *v = json_array_get(json_object_get(r, "comparisons"), 0);
    const json_t *x = json_object_get(v, "base"), *y = json_object_get(v, "candidate");
    double lo = qs_json_get_number(v, "lo", NAN), hi = qs_json_get_number(v, "hi", NAN);
    QS_BUF(text);
    qs_buf_fmt(&text, "%s, arm %s on %s: ", qs_json_get_text(r, "point", ""), qs_json_get_text(r, "arm", ""),
               qs_json_get_text(r, "device", ""));
    if (isfinite(lo) && isfinite(hi))
        qs_buf_fmt(&text, "%+.1f to %+.1f %% (%s), ", (lo - 1) * 100, (hi - 1) * 100,
                   qs_json_get_text(v, "verdict", ""));
    qs_buf_str(&text, "median ");
    qs_sample_value(layout, qs_json_get_number(x, "median", NAN), &text);
    qs_buf_str(&text, " then, ");
    qs_sample_value(layout, qs_json_get_number(y, "median", NAN), &text);
    qs_buf_fmt(&text, " now (%" PRId64 " and %" PRId64 " runs): ", qs_json_get_int(x, "runs", 0),
               qs_json_get_int(y, "runs", 0));
    if (json_is_true(reproduced))
        qs_buf_fmt(&text, "reproduced within %.3g %%", qs_json_get_number(v, "margin_ratio", NAN) * 100);
    else if (json_is_false(reproduced))
        qs_buf_str(&text, "not reproduced");
    else
        qs_buf_str(&text, strstr(qs_json_get_text(v, "reason", ""), "-rates-differ") != NULL
                              ? "the jobs lost different shares of their runs"
                              : "too little data");
    qs_face_wrap(&layout->face, out, "  ", text.data,
                 json_is_true(reproduced)    ? QS_INK_GOOD
                 : json_is_false(reproduced) ? QS_INK_BAD
                                             : QS_INK_PLAIN);
}

static void add_run(const struct qs_layout *layout, const json_t *run, struct qs_buf *out)
{
    const json_t *x = json_object_get(run, "original"), *y = json_object_get(run, "again");
    QS_BUF(text);
    if (!json_is_object(x))
        return;
    qs_buf_fmt(&text, "run %s, arm %s, block %" PRId64 ": ", qs_json_get_text(x, "uid", ""),
               qs_json_get_text(x, "arm", ""), qs_json_get_int(x, "block", 0));
    qs_sample_value(layout, qs_json_get_number(x, "median_ns", NAN), &text);
    if (json_is_object(y)) {
        qs_buf_str(&text, " then, ");
        qs_sample_value(layout, qs_json_get_number(y, "median_ns", NAN), &text);
        qs_buf_fmt(&text, " in the run with the same turn now, %s", qs_json_get_text(y, "uid", ""));
    } else {
        qs_buf_str(&text, " then; no run has the same turn now");
    }
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_PLAIN);
}

void qs_layout_reproduction(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    size_t i;
    const json_t *one;
    add_drawn(layout, doc, out);
    add_run(layout, json_object_get(doc, "run"), out);
    json_array_foreach(json_object_get(doc, "results"), i, one) add_result(layout, one, out);
    json_array_foreach(json_object_get(doc, "environments"), i, one) add_environment(layout, one, out);
}
