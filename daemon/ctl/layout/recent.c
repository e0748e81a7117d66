#include "ctl/layout/recent.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ctl/client/api.h"

enum { COLUMNS_MOST = 24, COLUMNS_LEAST = 8 };
#define FRESH_NS (120 * INT64_C(1000000000))

static int64_t int_at(const json_t *point, size_t i)
{
    return json_integer_value(json_array_get(point, i));
}

static const json_t *points_of(const struct qs_recent *recent, const char *sensor)
{
    size_t i;
    const json_t *one;
    json_array_foreach(recent->sensors, i, one)
    {
        if (strcmp(qs_json_get_text(one, "sensor", ""), sensor) == 0)
            return json_object_get(one, "points");
    }
    return NULL;
}

void qs_recent_of(const json_t *device, struct qs_recent *ret)
{
    size_t i;
    const json_t *one, *doc = json_object_get(device, "recent");
    *ret = (struct qs_recent){.now = json_object_get(json_object_get(device, "now"), "readings"),
                              .sensors = json_object_get(doc, "sensors"),
                              .oldest_ms = INT64_MAX,
                              .newest_ms = INT64_MIN,
                              .newest_wall_ns = qs_json_get_int(doc, "newest_wall_ns", 0)};
    json_array_foreach(ret->sensors, i, one)
    {
        const json_t *points = json_object_get(one, "points");
        size_t n = json_array_size(points);
        int64_t first = int_at(json_array_get(points, 0), 0), last = int_at(json_array_get(points, n - 1), 0);
        ret->oldest_ms = n > 0 && first < ret->oldest_ms ? first : ret->oldest_ms;
        ret->newest_ms = n > 0 && last > ret->newest_ms ? last : ret->newest_ms;
    }
    if (ret->newest_ms < ret->oldest_ms)
        ret->oldest_ms = ret->newest_ms = 0;
}

bool qs_recent_now(const struct qs_recent *recent, const char *sensor, int64_t *ret_value)
{
    size_t i;
    const json_t *one;
    json_array_foreach(recent->now, i, one)
    {
        if (strcmp(qs_json_get_text(one, "sensor", ""), sensor) != 0 ||
            !json_is_integer(json_object_get(one, "value")))
            continue;
        *ret_value = qs_json_get_int(one, "value", 0);
        return true;
    }
    return false;
}

bool qs_recent_last(const struct qs_recent *recent, const char *sensor, int64_t *ret_value)
{
    const json_t *points = points_of(recent, sensor);
    size_t n = json_array_size(points);
    if (n == 0)
        return false;
    *ret_value = int_at(json_array_get(points, n - 1), 1);
    return true;
}

size_t qs_recent_columns(const struct qs_layout *layout)
{
    size_t quarter = layout->face.width / 4;
    return quarter > COLUMNS_MOST ? COLUMNS_MOST : quarter < COLUMNS_LEAST ? COLUMNS_LEAST : quarter;
}

/* What one sign stands for: the mean of the readings in its part of the span; NaN: there are none. */
static double mean_of(const struct qs_recent *recent, const json_t *points, size_t sign, size_t columns)
{
    double sum = 0, span = (double)(recent->newest_ms - recent->oldest_ms);
    size_t i, n = 0;
    const json_t *point;
    json_array_foreach(points, i, point)
    {
        double at = (double)(int_at(point, 0) - recent->oldest_ms) / span * (double)columns;
        size_t place = at >= (double)columns ? columns - 1 : (size_t)(at > 0 ? at : 0);
        sum += place == sign ? (double)int_at(point, 1) : 0;
        n += place == sign;
    }
    return n > 0 ? sum / (double)n : NAN;
}

void qs_recent_strip(const struct qs_layout *layout, const struct qs_recent *recent, const char *sensor,
                     size_t columns, struct qs_buf *out)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const signs[] = {".", ":", "-", "=", "+", "*", "#", "@"};
    const json_t *points = points_of(recent, sensor), *point;
    double low = INFINITY, high = -INFINITY;
    size_t i, n = json_array_size(points);
    if (n < 2 || recent->newest_ms <= recent->oldest_ms)
        return;
    json_array_foreach(points, i, point)
    {
        double v = (double)int_at(point, 1);
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    for (i = 0; i < columns; i++) {
        double v = mean_of(recent, points, i, columns);
        size_t level = high > low && v > low ? (size_t)(8 * (v - low) / (high - low)) : 0;
        level = level > 7 ? 7 : level;
        qs_buf_str(out, isnan(v) ? " " : layout->face.utf8 ? blocks[level] : signs[level]);
    }
}

void qs_recent_span(const struct qs_layout *layout, const struct qs_recent *recent, struct qs_buf *out)
{
    int64_t span_s = (recent->newest_ms - recent->oldest_ms + 500) / 1000;
    bool fresh = layout->now_wall_ns == 0 || layout->now_wall_ns - recent->newest_wall_ns < FRESH_NS;
    if (recent->newest_ms <= recent->oldest_ms)
        return;
    if (span_s < 60)
        qs_buf_fmt(out, "%s%" PRId64 " s", fresh ? "last " : "", span_s > 0 ? span_s : 1);
    else
        qs_buf_fmt(out, "%s%" PRId64 " min", fresh ? "last " : "", (span_s + 30) / 60);
    if (fresh)
        return;
    QS_BUF(age);
    json_auto_t *of = json_pack("{s:I}", "at", (json_int_t)recent->newest_wall_ns);
    qs_layout_age(layout, of, "at", &age);
    qs_buf_fmt(out, ", until%s", age.data);
}
