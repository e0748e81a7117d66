/* What of a device stays as it is written, and does something (`knobs` of a device). */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

static bool is(const json_t *knob, const char *key, const char *value)
{
    return strcmp(qs_json_get_text(knob, key, ""), value) == 0;
}

void qs_layout_knob(const json_t *knob, struct qs_buf *out)
{
    static const char *const words[][2] = {{"yes", "stays as it is written"},
                                           {"late", "is late"},
                                           {"slips", "slips"},
                                           {"ignored", "is ignored"},
                                           {"untried", "was not tried"},
                                           {"refused", "is refused"},
                                           {"timeout", "hangs"},
                                           {"unreadable", "cannot be read"},
                                           {"missing", "is gone"}};
    static const char *const effects[][2] = {{"no", " and has no effect"},
                                             {"claimed", " and only claims to have an effect"}};
    const char *sticks = qs_json_get_text(knob, "sticks", "?"), *why = qs_json_get_text(knob, "why", "");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        sticks = strcmp(sticks, words[i][0]) == 0 ? words[i][1] : sticks;
    qs_buf_fmt(out, "%s %s", qs_json_get_text(knob, "name", "?"), sticks);
    for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++)
        qs_buf_str(out, is(knob, "effect", effects[i][0]) ? effects[i][1] : "");
    qs_buf_fmt(out, "%s%s", why[0] != '\0' ? ": " : "", why);
}

static bool is_good(const json_t *knob)
{
    return is(knob, "sticks", "yes") && !is(knob, "effect", "no") && !is(knob, "effect", "claimed");
}

/* "policy0, policy4 (a loop took 3.02 times as long)": those whose clock was seen to follow. */
static void put_working(const struct qs_layout *layout, const json_t *rows, struct qs_buf *out)
{
    QS_BUF(text);
    size_t i;
    const json_t *knob;
    json_array_foreach(rows, i, knob)
    {
        double ratio = qs_json_get_number(knob, "loop_ratio", 0);
        if (!is_good(knob) || !is(knob, "effect", "yes"))
            continue;
        qs_buf_fmt(&text, "%s%s",
                   text.len > 0 ? ", " : "the clock follows: ", qs_json_get_text(knob, "name", "?"));
        if (ratio > 0)
            qs_buf_fmt(&text, " (at its lowest a loop takes %.2f times as long)", ratio);
    }
    if (text.len > 0)
        qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_PLAIN);
}

/* Those that were not tried, together for each reason. */
static void put_untried(const struct qs_layout *layout, const json_t *rows, struct qs_buf *out)
{
    size_t i, k;
    const json_t *knob, *other;
    json_array_foreach(rows, i, knob)
    {
        const char *why = qs_json_get_text(knob, "why", "");
        size_t n = 0;
        bool told = !is(knob, "sticks", "untried");
        QS_BUF(text);
        json_array_foreach(rows, k, other)
        {
            bool same = is(other, "sticks", "untried") && is(other, "why", why);
            told = told || (same && k < i);
            n += same ? 1 : 0;
        }
        if (told)
            continue;
        qs_buf_str(&text, qs_json_get_text(knob, "name", "?"));
        if (n > 1)
            qs_buf_fmt(&text, " and %zu more were", n - 1);
        qs_buf_fmt(&text, "%s not tried: %s", n > 1 ? "" : " was", why);
        qs_face_wrap(&layout->face, out, "- ", text.data, QS_INK_DIM);
    }
}

static void head(const struct qs_layout *layout, const json_t *device, const json_t *rows, struct qs_buf *out)
{
    const json_t *knobs = json_object_get(device, "knobs"), *knob;
    size_t i, tried = 0, good = 0;
    QS_BUF(text);
    json_array_foreach(rows, i, knob)
    {
        tried += is(knob, "sticks", "untried") ? 0 : 1;
        good += is_good(knob) ? 1 : 0;
    }
    qs_buf_fmt(&text, "Of what can be written, %zu of %zu can be relied on; job %" PRId64 " tried it", good,
               tried, qs_json_get_int(knobs, "job", 0));
    qs_layout_age(layout, knobs, "found_wall_ns", &text);
    qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BOLD);
}

void qs_layout_knobs(const struct qs_layout *layout, const json_t *device, struct qs_buf *out)
{
    const json_t *knobs = json_object_get(device, "knobs"), *rows = json_object_get(knobs, "rows"), *knob;
    size_t i;
    QS_BUF(text);
    qs_buf_char(out, '\n');
    if (!json_is_object(knobs)) {
        qs_face_wrap(&layout->face, out, "", "Whether it does what is written to it is not known.",
                     QS_INK_PLAIN);
        return;
    }
    head(layout, device, rows, out);
    if (!is(knobs, "fingerprint", qs_json_get_text(device, "fingerprint", ""))) {
        qs_buf_fmt(&text, "that was another system (%s)", qs_json_get_text(knobs, "fingerprint", "?"));
        qs_face_wrap(&layout->face, out, "- ", text.data, QS_INK_WARN);
    }
    put_working(layout, rows, out);
    json_array_foreach(rows, i, knob)
    {
        qs_buf_clear(&text);
        qs_layout_knob(knob, &text);
        if (!is_good(knob) && !is(knob, "sticks", "untried"))
            qs_face_wrap(&layout->face, out, "- ", text.data, QS_INK_WARN);
    }
    put_untried(layout, rows, out);
}
