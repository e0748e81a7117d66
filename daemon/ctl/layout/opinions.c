/* Second opinions: what other people's rules say beside the verdict, with the numbers that they rest on. */
#include <math.h>
#include <string.h>

#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

/* "baseline_best" as words. */
static void add_name(struct qs_buf *out, const json_t *number)
{
    for (const char *s = qs_json_get_text(number, "name", "?"); *s != '\0'; s++)
        qs_buf_char(out, *s == '_' ? ' ' : *s);
}

static void add_value(const struct qs_layout *layout, double value, const char *unit, struct qs_buf *out)
{
    struct qs_scale scale;
    if (!isfinite(value)) {
        qs_buf_str(out, "not known");
    } else if (strcmp(unit, "ns") == 0) {
        qs_layout_scale(layout->unit, fabs(value), &scale);
        qs_buf_fmt(out, "%.*f %s", scale.decimals, value / scale.ns, scale.name);
    } else if (strcmp(unit, "ratio") == 0) {
        qs_buf_fmt(out, "%.3g %%", value * 100);
    } else {
        qs_buf_fmt(out, "%.4g%s%s", value, strcmp(unit, "plain") == 0 ? "" : " ",
                   strcmp(unit, "plain") == 0 ? "" : unit);
    }
}

static void add_numbers(const struct qs_layout *layout, const json_t *numbers, struct qs_buf *out)
{
    size_t i;
    const json_t *number;
    json_array_foreach(numbers, i, number)
    {
        qs_buf_str(out, i > 0 ? ", " : "");
        add_name(out, number);
        qs_buf_char(out, ' ');
        add_value(layout, qs_json_get_number(number, "value", NAN), qs_json_get_text(number, "unit", "plain"),
                  out);
    }
}

static void add_broken(const struct qs_layout *layout, const json_t *checks, struct qs_buf *out)
{
    size_t i;
    const json_t *check;
    const char *lead = "precondition not met: ";
    json_array_foreach(checks, i, check)
    {
        if (qs_json_get_true(check, "holds"))
            continue;
        qs_buf_str(out, lead);
        add_name(out, check);
        qs_buf_char(out, ' ');
        add_value(layout, qs_json_get_number(check, "value", NAN), "plain", out);
        bool at_least = strcmp(qs_json_get_text(check, "wanted", ""), "at-least") == 0;
        qs_buf_str(out, at_least ? " (at least " : " (at most ");
        add_value(layout, qs_json_get_number(check, "bound", NAN), "plain", out);
        qs_buf_char(out, ')');
        lead = ", ";
    }
}

/* The answer in words, and what colour it has. */
static enum qs_ink add_answer(const json_t *opinion, struct qs_buf *out)
{
    static const struct {
        const char *answer, *words;
        enum qs_ink ink;
    } answers[] = {{"regression", "regression", QS_INK_BAD},
                   {"improvement", "improvement", QS_INK_GOOD},
                   {"no-change", "no change", QS_INK_PLAIN}};
    static const char *const reasons[][2] = {{"preconditions", "not for these samples"},
                                             {"too-few", "too little data"},
                                             {"no-data", "no data"},
                                             {"degenerate", "nothing varies"}};
    const char *answer = qs_json_get_text(opinion, "answer", "");
    const char *reason = qs_json_get_text(opinion, "reason", "");
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        if (strcmp(answers[i].answer, answer) == 0) {
            qs_buf_str(out, answers[i].words);
            return answers[i].ink;
        }
    }
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        reason = strcmp(reasons[i][0], reason) == 0 ? reasons[i][1] : reason;
    qs_buf_fmt(out, "undecided: %s", reason);
    return QS_INK_WARN;
}

static void add_line(const struct qs_layout *layout, struct qs_buf *line, struct qs_buf *out)
{
    if (line->len > 0)
        qs_face_wrap(&layout->face, out, "    ", line->data, QS_INK_PLAIN);
    qs_buf_clear(line);
}

static void add_one(const struct qs_layout *layout, const json_t *opinion, struct qs_buf *out)
{
    QS_BUF(line);
    qs_buf_fmt(&line, "%s: ", qs_json_get_text(opinion, "rule", "?"));
    enum qs_ink ink = add_answer(opinion, &line);
    qs_face_wrap(&layout->face, out, "  ", line.data, ink);
    qs_buf_clear(&line);
    qs_buf_fmt(&line, "compares %s; calls a change where %s (%s)", qs_json_get_text(opinion, "compared", "?"),
               qs_json_get_text(opinion, "changed_if", "?"), qs_json_get_text(opinion, "source", "?"));
    add_line(layout, &line, out);
    add_broken(layout, json_object_get(opinion, "checks"), &line);
    add_line(layout, &line, out);
    add_numbers(layout, json_object_get(opinion, "thresholds"), &line);
    if (line.len > 0 && json_array_size(json_object_get(opinion, "numbers")) > 0)
        qs_buf_str(&line, "; ");
    add_numbers(layout, json_object_get(opinion, "numbers"), &line);
    add_line(layout, &line, out);
}

void qs_layout_opinions(const struct qs_layout *layout, const json_t *opinions, struct qs_buf *out)
{
    size_t i;
    const json_t *opinion;
    if (json_array_size(opinions) > 0)
        qs_buf_str(out, "\n  What other rules say, each as published:\n");
    json_array_foreach(opinions, i, opinion) add_one(layout, opinion, out);
}
