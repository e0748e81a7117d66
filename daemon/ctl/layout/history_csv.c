/* The points of a series for other tools. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/layout/history.h"

/* RFC 4180: quoted where a comma, a quote or a line end is inside. */
static void add_text(struct qs_buf *out, const char *s)
{
    bool quoted = strpbrk(s, ",\"\r\n") != NULL;
    if (quoted)
        qs_buf_char(out, '"');
    for (; *s != '\0'; s++) {
        if (*s == '"')
            qs_buf_char(out, '"');
        qs_buf_char(out, *s);
    }
    if (quoted)
        qs_buf_char(out, '"');
}

static void add_number(struct qs_buf *out, const json_t *point, const char *key)
{
    double v = qs_json_get_number(point, key, NAN);
    qs_buf_char(out, ',');
    if (isfinite(v))
        qs_buf_fmt(out, "%.15g", v);
}

/* The stretch a point is in, and "step" or "drift" where a change begins with it. */
static size_t find_segment(const json_t *doc, int64_t point, const char **ret_change)
{
    size_t s, i, found = 0;
    const json_t *segment, *change;
    *ret_change = "";
    json_array_foreach(json_object_get(doc, "segments"), s, segment)
    {
        if (qs_json_get_int(segment, "from", 0) <= point)
            found = s;
        json_array_foreach(json_object_get(segment, "changes"), i, change)
        {
            if (qs_json_get_int(change, "from", -1) == point)
                *ret_change = qs_json_get_text(change, "kind", "");
        }
    }
    return found;
}

void qs_layout_history_csv(const json_t *doc, struct qs_buf *out)
{
    size_t i;
    const json_t *point;
    const char *change;
    qs_buf_fmt(out, "point,began,job,session,build,%s,lo,hi,runs,tainted_runs,segment,change,night\n",
               strcmp(qs_json_get_text(doc, "metric", ""), "time") == 0 ? "time_ns" : "value");
    json_array_foreach(json_object_get(doc, "points"), i, point)
    {
        char began[32];
        qs_text_time(qs_json_get_int(point, "started_wall_ns", 0), began);
        qs_buf_fmt(out, "%zu,%s,%" PRId64 ",%s,", i + 1, began, qs_json_get_int(point, "job", 0),
                   qs_json_get_text(point, "session", ""));
        add_text(out, qs_json_get_text(point, "build", ""));
        add_number(out, point, "value");
        add_number(out, point, "lo");
        add_number(out, point, "hi");
        add_number(out, point, "runs");
        add_number(out, point, "tainted_runs");
        size_t segment = find_segment(doc, (int64_t)i, &change);
        qs_buf_fmt(out, ",%zu,%s,%s\n", segment + 1, change, qs_json_get_text(point, "night", ""));
    }
}
