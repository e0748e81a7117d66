/* How a device warms up and cools down, as `characterize` found it (`models` of a device). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

enum { STRIP_MOST = 32 };

static bool is(const json_t *model, const char *key, const char *value)
{
    return strcmp(qs_json_get_text(model, key, ""), value) == 0;
}

static double number(const json_t *model, const char *key)
{
    return qs_json_get_number(model, key, NAN);
}

/* "15.3 s", "2 min 5 s" */
static void add_time(struct qs_buf *out, double s)
{
    if (s < 60)
        qs_buf_fmt(out, "%.*f s", s < 10 ? 2 : 1, s);
    else
        qs_text_duration(out, s * 1e9);
}

void qs_layout_curve(const json_t *curve, struct qs_buf *out)
{
    if (!is(curve, "says", "fits")) {
        qs_buf_fmt(out, "is not known: %s", qs_json_get_text(curve, "why", "it was not measured"));
        return;
    }
    qs_buf_str(out, "with a time constant of ");
    add_time(out, number(curve, "tau_s"));
    qs_buf_str(out, " (");
    add_time(out, number(curve, "tau_lo_s"));
    qs_buf_str(out, " to ");
    add_time(out, number(curve, "tau_hi_s"));
    qs_buf_fmt(out,
               ") towards %.1f \xc2\xb0"
               "C (%.1f to %.1f)",
               number(curve, "end_mc") / 1000, number(curve, "end_lo_mc") / 1000,
               number(curve, "end_hi_mc") / 1000);
}

/* The curve of this kind and domain that moved most; NULL: there is none. */
static const json_t *strongest(const json_t *models, const char *kind, const char *domain)
{
    const json_t *model, *best = NULL;
    double most = -1;
    size_t i;
    json_array_foreach(models, i, model)
    {
        double moved = number(model, "high_mc") - number(model, "low_mc");
        if (is(model, "kind", kind) && is(model, "domain", domain) && moved > most) {
            most = moved;
            best = model;
        }
    }
    return best;
}

static double value_at(const json_t *trace, size_t i)
{
    return json_number_value(json_array_get(json_array_get(trace, i), 1));
}

void qs_layout_trend(const struct qs_layout *layout, const json_t *trace, struct qs_buf *out)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t n = json_array_size(trace), columns = n < STRIP_MOST ? n : STRIP_MOST;
    size_t room = layout->face.width > 24 ? layout->face.width - 24 : 0;
    double low = INFINITY, high = -INFINITY;
    columns = columns < room ? columns : room;
    for (size_t i = 0; i < n; i++) {
        double v = value_at(trace, i);
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    for (size_t i = 0; layout->face.utf8 && high > low && i < columns; i++) {
        double v = value_at(trace, i * (n - 1) / (columns > 1 ? columns - 1 : 1));
        int step = (int)(8 * (v - low) / (high - low));
        qs_buf_str(out, blocks[step > 7 ? 7 : step]);
    }
}

/* The readings as a strip from the lowest to the highest: "25.1 ▁▃▅▇ 80.2 °C in 2 min". */
static void add_strip(const struct qs_layout *layout, const json_t *curve, struct qs_buf *out)
{
    const json_t *trace = json_object_get(curve, "trace");
    size_t n = json_array_size(trace);
    if (n < 2 || !(number(curve, "high_mc") > number(curve, "low_mc")))
        return;
    QS_BUF(text);
    qs_buf_fmt(&text, "%.1f ", value_at(trace, 0) / 1000);
    qs_layout_trend(layout, trace, &text);
    qs_buf_fmt(&text,
               "%s%.1f \xc2\xb0"
               "C in ",
               layout->face.utf8 ? " " : "to ", value_at(trace, n - 1) / 1000);
    add_time(&text, number(curve, "span_s"));
    qs_face_wrap(&layout->face, out, "    ", text.data, QS_INK_DIM);
}

static void put_curve(const struct qs_layout *layout, const json_t *models, const char *kind,
                      const char *domain, struct qs_buf *out)
{
    const json_t *curve = strongest(models, kind, domain);
    QS_BUF(text);
    if (curve == NULL)
        return;
    qs_buf_fmt(&text, "%s, %s: %s ", domain, qs_json_get_text(curve, "sensor", "?"),
               strcmp(kind, "cools") == 0 ? "cools down" : "warms up");
    qs_layout_curve(curve, &text);
    qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_PLAIN);
    add_strip(layout, curve, out);
}

static void put_domains(const struct qs_layout *layout, const json_t *models, struct qs_buf *out)
{
    const json_t *model, *before;
    size_t i, k;
    json_array_foreach(models, i, model)
    {
        const char *domain = qs_json_get_text(model, "domain", "");
        bool told = !is(model, "kind", "cools");
        json_array_foreach(models, k, before)
        {
            if (k < i && is(before, "kind", "cools") && is(before, "domain", domain))
                told = true;
        }
        if (told)
            continue;
        put_curve(layout, models, "warms", domain, out);
        put_curve(layout, models, "cools", domain, out);
    }
}

/* What waits of gates say, and where that is not as it was characterized. */
static void put_refits(const struct qs_layout *layout, const json_t *device, struct qs_buf *out)
{
    const json_t *refit;
    size_t i;
    json_array_foreach(json_object_get(device, "refits"), i, refit)
    {
        QS_BUF(text);
        const char *sensor = qs_json_get_text(refit, "sensor", "?");
        if (is(refit, "says", "fits")) {
            char date[32];
            qs_text_time(qs_json_get_int(refit, "newest_wall_ns", 0), date);
            qs_buf_fmt(&text, "by its last %" PRId64 " waits at gates, up to %.10s, %s cools down ",
                       qs_json_get_int(refit, "waits", 0), date, sensor);
            qs_layout_curve(refit, &text);
            qs_face_wrap(&layout->face, out, "  ", text.data, QS_INK_PLAIN);
        }
        const char *off = qs_json_get_text(refit, "characterized", "");
        qs_buf_clear(&text);
        qs_buf_fmt(&text, "how %s cools down, as it was measured, %s", sensor, off);
        if (off[0] != '\0')
            qs_face_wrap(&layout->face, out, "- ", text.data, QS_INK_WARN);
    }
}

/* Sensors that were found to say what is not so. */
static void put_doubtful(const struct qs_layout *layout, const json_t *models, struct qs_buf *out)
{
    const json_t *model;
    size_t i;
    json_array_foreach(models, i, model)
    {
        QS_BUF(text);
        qs_buf_fmt(&text, "%s cannot be relied on: %s", qs_json_get_text(model, "sensor", "?"),
                   qs_json_get_text(model, "why", qs_json_get_text(model, "says", "")));
        if (is(model, "kind", "sensor") && !is(model, "says", "ok"))
            qs_face_wrap(&layout->face, out, "- ", text.data, QS_INK_WARN);
    }
}

void qs_layout_heat(const struct qs_layout *layout, const json_t *device, struct qs_buf *out)
{
    const json_t *model, *models = json_object_get(device, "models"), *newest = NULL;
    size_t i;
    QS_BUF(text);
    qs_buf_char(out, '\n');
    json_array_foreach(models, i, model) /* in the order in which they were found */
        newest = is(model, "kind", "sensor") ? newest : model;
    if (newest == NULL) {
        qs_face_wrap(&layout->face, out, "", "How it warms up and cools down is not known.", QS_INK_PLAIN);
        put_refits(layout, device, out);
        put_doubtful(layout, models, out);
        return;
    }
    qs_buf_fmt(&text, "How it warms up and cools down; job %" PRId64 " found it",
               qs_json_get_int(newest, "job", 0));
    qs_layout_age(layout, newest, "found_wall_ns", &text);
    qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BOLD);
    put_domains(layout, models, out);
    put_refits(layout, device, out);
    put_doubtful(layout, models, out);
}
