/* A device: what it is, what was found on it (`board`, as daemon/device/board writes it), and what its last
 * session changed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/layout/layout.h"
#include "ctl/layout/recent.h"

static const char *text_of(const json_t *object, const char *key)
{
    return qs_json_get_text(object, key, "");
}

/* "big, 8 cores": the texts of a list. */
static void add_list(struct qs_buf *out, const json_t *list)
{
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item)
        qs_buf_fmt(out, "%s%s", i > 0 ? ", " : "", json_is_string(item) ? json_string_value(item) : "?");
}

/* "1.80 GHz", "300 MHz" */
static void add_khz(struct qs_buf *out, int64_t khz)
{
    if (khz >= 1000000)
        qs_buf_fmt(out, "%.2f GHz", (double)khz / 1e6);
    else
        qs_buf_fmt(out, "%.0f MHz", (double)khz / 1e3);
}

static void cache_field(const struct qs_layout *layout, const json_t *device, struct qs_buf *out)
{
    char bytes[32], most[32];
    QS_BUF(text);
    const json_t *cache = json_object_get(device, "cache");
    if (!json_is_object(cache))
        return;
    qs_layout_bytes(bytes, qs_json_get_number(cache, "bytes", -1));
    qs_layout_bytes(most, qs_json_get_number(cache, "most_bytes", -1));
    qs_buf_fmt(&text, "%s of at most %s", bytes, most);
    qs_layout_field(layout, out, "cache", text.data);
}

static void clusters_field(const struct qs_layout *layout, const json_t *board, struct qs_buf *out)
{
    QS_BUF(text);
    size_t i;
    const json_t *cluster;
    const json_t *clusters = json_object_get(board, "clusters");
    const char *cpus = text_of(board, "cpus"), *online = text_of(board, "online");
    qs_buf_str(&text, cpus);
    if (strcmp(online, cpus) != 0 && online[0] != '\0')
        qs_buf_fmt(&text, "%sof which %s run", text.len > 0 ? ", " : "", online);
    json_array_foreach(clusters, i, cluster)
    {
        int64_t khz = qs_json_get_int(cluster, "max_khz", 0);
        if (json_array_size(clusters) > 1)
            qs_buf_fmt(&text, "; %s %s%s", text_of(cluster, "name"), text_of(cluster, "cpus"),
                       khz > 0 ? " up to " : "");
        else if (khz > 0)
            qs_buf_str(&text, ", up to ");
        if (khz > 0)
            add_khz(&text, khz);
    }
    qs_layout_field(layout, out, "processors", text.data);
}

/* "room: 21.5 C, 12 s ago" */
static void ambient_field(const struct qs_layout *layout, const json_t *ambient, struct qs_buf *out)
{
    QS_BUF(text);
    const json_t *mc = json_object_get(ambient, "mc");
    if (!json_is_object(ambient))
        return;
    qs_buf_fmt(&text, "%s: ", text_of(ambient, "name"));
    if (json_is_integer(mc)) {
        qs_buf_fmt(&text,
                   "%.1f \xc2\xb0"
                   "C, ",
                   (double)json_integer_value(mc) / 1000);
        qs_text_duration(&text, (double)qs_json_get_int(ambient, "age_ns", 0));
        qs_buf_str(&text, " ago");
    } else {
        qs_buf_fmt(&text, "not known: %s", text_of(ambient, "why"));
    }
    qs_layout_field(layout, out, "ambient", text.data);
}

/* Those whose key has the value; NULL: is true. */
static size_t count_of(const json_t *list, const char *key, const char *value)
{
    size_t i, n = 0;
    const json_t *one;
    json_array_foreach(list, i, one) n +=
        value != NULL ? strcmp(text_of(one, key), value) == 0 : qs_json_get_true(one, key);
    return n;
}

/* "its agent is user 2000, not root: it can pin 1 of 3 clocks and set 2 of 9 switches" */
static void add_right(const json_t *device, struct qs_buf *out)
{
    const json_t *board = json_object_get(device, "board");
    const json_t *clocks = json_object_get(board, "domains"), *switches = json_object_get(board, "switches");
    const char *uid = text_of(json_object_get(device, "facts"), "uid");
    if (strcmp(uid, "0") == 0)
        qs_buf_str(out, "its agent is root");
    else if (uid[0] != '\0')
        qs_buf_fmt(out, "its agent is user %s, not root", uid);
    if (json_array_size(clocks) + json_array_size(switches) == 0)
        return;
    qs_buf_str(out, uid[0] != '\0' ? ": it can " : "its agent can ");
    if (json_array_size(clocks) > 0)
        qs_buf_fmt(out, "pin %zu of %zu clocks%s", count_of(clocks, "hold", "ok"), json_array_size(clocks),
                   json_array_size(switches) > 0 ? " and " : "");
    if (json_array_size(switches) > 0)
        qs_buf_fmt(out, "set %zu of %zu switches", count_of(switches, "writable", NULL),
                   json_array_size(switches));
}

/* "job 7 (nightly), 3 h ago, done in 2 min: 12 windows, 3 of them marked (residency:policy0 2)". */
static void add_session(const struct qs_layout *layout, const json_t *session, struct qs_buf *out)
{
    int64_t began = qs_json_get_int(session, "started_wall_ns", 0),
            ended = qs_json_get_int(session, "ended_wall_ns", 0);
    int64_t tainted = qs_json_get_int(session, "tainted", 0),
            measured = qs_json_get_int(session, "windows", 0);
    const json_t *taint;
    size_t i;
    if (!json_is_object(session))
        return;
    qs_buf_fmt(out, "job %" PRId64 " (%s), ", qs_json_get_int(session, "job", 0), text_of(session, "name"));
    if (ended > 0) {
        QS_BUF(age);
        qs_layout_age(layout, session, "ended_wall_ns", &age);
        qs_buf_fmt(out, "%s after ", text_of(session, "job_state"));
        qs_text_duration(out, (double)(ended > began ? ended - began : 0));
        qs_buf_fmt(out, "%s%s", age.len > 0 ? "," : "", age.len > 0 ? age.data : "");
    } else {
        QS_BUF(age);
        qs_layout_age(layout, session, "started_wall_ns", &age);
        qs_buf_fmt(out, "goes on, begun%s", age.len > 0 ? age.data : "");
    }
    qs_buf_str(out, measured > 0 ? ": " : "");
    if (measured > 0)
        qs_layout_count(out, measured, "window", "windows");
    if (tainted > 0)
        qs_buf_fmt(out, ", %" PRId64 " of them marked", tainted);
    json_array_foreach(json_object_get(session, "taints"), i, taint)
        qs_buf_fmt(out, "%s%s %" PRId64, i == 0 ? " (" : ", ", text_of(taint, "code"),
                   qs_json_get_int(taint, "windows", 0));
    qs_buf_str(out, json_array_size(json_object_get(session, "taints")) > 0 ? ")" : "");
    if (text_of(session, "reason")[0] != '\0')
        qs_buf_fmt(out, "; %s", text_of(session, "reason"));
}

void qs_layout_held(const json_t *held, struct qs_buf *out)
{
    const char *why = text_of(held, "text");
    char until[32] = "";
    int64_t until_ns = qs_json_get_int(held, "until_wall_ns", 0);
    if (until_ns > 0)
        qs_text_second(until_ns, until);
    qs_buf_fmt(out, "%s%sby %s%s%s%s", why, why[0] != '\0' ? " (" : "", text_of(held, "by"),
               until[0] != '\0' ? " until " : "", until, why[0] != '\0' ? ")" : "");
}

void qs_layout_tags(const json_t *device, struct qs_buf *out)
{
    const char *key;
    const json_t *value;
    size_t n = 0;
    json_object_foreach(json_object_get(device, "tags"), key, value)
    {
        qs_buf_fmt(out, "%s%s=%s", n++ > 0 ? ", " : "", key,
                   json_is_string(value) ? json_string_value(value) : "");
    }
}

/* What people have said of it. */
static void words(const struct qs_layout *layout, const json_t *device, struct qs_buf *out)
{
    const json_t *held = json_object_get(device, "held"), *note = json_object_get(device, "note");
    QS_BUF(text);
    if (json_is_object(held))
        qs_layout_held(held, &text);
    qs_layout_field(layout, out, "held", text.data);
    qs_buf_clear(&text);
    if (json_is_object(note))
        qs_buf_fmt(&text, "%s (%s)", text_of(note, "text"), text_of(note, "by"));
    qs_layout_field(layout, out, "note", text.data);
    qs_buf_clear(&text);
    qs_layout_tags(device, &text);
    qs_layout_field(layout, out, "tags", text.data);
}

static void head(const struct qs_layout *layout, const json_t *device, struct qs_buf *out)
{
    QS_BUF(text);
    const json_t *facts = json_object_get(device, "facts"), *board = json_object_get(device, "board");
    qs_buf_fmt(&text, "device %s: %s%s", qs_json_get_text(device, "name", "?"),
               qs_json_get_text(device, "state", "?"),
               qs_json_get_true(device, "simulated") ? ", simulated" : "");
    qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BOLD);
    qs_layout_field(layout, out, "why", text_of(device, "why"));
    words(layout, device, out);
    if (!json_is_object(facts)) /* it is away: on what it was found */
        qs_layout_field(layout, out, "system", text_of(device, "fingerprint"));
    qs_layout_field(layout, out, "model", qs_json_get_text(facts, "model", text_of(facts, "cpu_model")));
    qs_layout_field(layout, out, "kernel", text_of(facts, "kernel"));
    qs_layout_field(layout, out, "agent", text_of(device, "agent"));
    qs_layout_field(layout, out, "link", text_of(device, "link"));
    qs_buf_clear(&text);
    add_list(&text, json_object_get(device, "labels"));
    qs_layout_field(layout, out, "labels", text.data);
    cache_field(layout, device, out);
    ambient_field(layout, json_object_get(device, "ambient"), out);
    clusters_field(layout, board, out);
    qs_layout_time_field(layout, out, "probed", device, "probed_wall_ns");
    qs_buf_clear(&text);
    add_list(&text, json_object_get(board, "profiles"));
    qs_layout_field(layout, out, "profiles", text.data);
    qs_buf_clear(&text);
    add_right(device, &text);
    qs_layout_field(layout, out, "rights", text.data);
    qs_buf_clear(&text);
    add_session(layout, json_object_get(device, "session"), &text);
    qs_layout_field(layout, out,
                    qs_json_get_int(json_object_get(device, "session"), "ended_wall_ns", 0) > 0 ? "last job"
                                                                                                : "job now",
                    text.data);
}

/* "300 MHz to 1.80 GHz"; of levels that are no frequencies how they count. */
static void add_range(struct qs_buf *out, const json_t *domain)
{
    const json_t *steps = json_object_get(domain, "steps_khz");
    size_t n = json_array_size(steps);
    int64_t least = qs_json_get_int(domain, "hw_min_khz", 0), most = qs_json_get_int(domain, "hw_max_khz", 0);
    if (n > 0 && (least == 0 || most == 0)) {
        least = json_integer_value(json_array_get(steps, 0));
        most = json_integer_value(json_array_get(steps, n - 1));
    }
    if (strcmp(text_of(domain, "unit"), "raw") == 0) {
        qs_buf_str(out, "levels");
    } else if (most == 0) {
        qs_buf_char(out, '-');
    } else {
        add_khz(out, least);
        qs_buf_str(out, " to ");
        add_khz(out, most);
    }
}

static bool has_span(const struct qs_recent *recent)
{
    return recent->newest_ms > recent->oldest_ms;
}

static bool is_read(const struct qs_recent *recent)
{
    return recent->now != NULL || recent->sensors != NULL;
}

/* Now, or where that cannot be asked when it was last read. */
static bool reading_of(const struct qs_recent *recent, const char *sensor, int64_t *ret_value)
{
    return recent->now != NULL ? qs_recent_now(recent, sensor, ret_value)
                               : qs_recent_last(recent, sensor, ret_value);
}

static void domain_row(const struct qs_layout *layout, const struct qs_recent *recent, struct qs_grid *grid,
                       const json_t *domain)
{
    char steps[32], sensor[96];
    int64_t khz = 0;
    QS_BUF(range);
    QS_BUF(clock);
    QS_BUF(strip);
    snprintf(sensor, sizeof(sensor), "freq:%.64s_khz", text_of(domain, "name"));
    if (reading_of(recent, sensor, &khz))
        add_khz(&clock, khz);
    else
        qs_buf_char(&clock, '-');
    qs_recent_strip(layout, recent, sensor, qs_recent_columns(layout), &strip);
    size_t n = json_array_size(json_object_get(domain, "steps_khz"));
    bool any = qs_json_get_true(domain, "range");
    snprintf(steps, sizeof(steps), "%zu", n);
    add_range(&range, domain);
    qs_grid_cell(grid, text_of(domain, "name"));
    qs_grid_cell(grid, qs_json_get_text(domain, "cpus", text_of(domain, "kind")));
    qs_grid_cell(grid, range.data);
    qs_grid_cell(grid, any ? "any" : n > 0 ? steps : "-");
    qs_grid_cell(grid, qs_json_get_text(domain, "governor", "-"));
    qs_grid_cell(grid, strcmp(text_of(domain, "hold"), "ok") == 0 ? "yes" : "no");
    if (!is_read(recent))
        return;
    qs_grid_cell(grid, clock.data);
    if (has_span(recent))
        qs_grid_cell(grid, strip.len > 0 ? strip.data : "");
}

static void domains(const struct qs_layout *layout, const struct qs_recent *recent, const json_t *board,
                    const char *span, struct qs_buf *out)
{
    const struct qs_grid_column columns[] = {{.title = "frequency of"},
                                             {.title = "CPUs", .keep = 2},
                                             {.title = "range", .keep = 1},
                                             {.title = "steps", .right = true, .keep = 4},
                                             {.title = "governor", .keep = 5, .most = 24},
                                             {.title = "pin"},
                                             {.title = recent->now != NULL ? "now" : "then", .right = true},
                                             {.title = span, .keep = 3}};
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    size_t i;
    const json_t *domain, *list = json_object_get(board, "domains");
    if (json_array_size(list) == 0)
        return;
    qs_buf_char(out, '\n');
    qs_grid_init(&grid, columns, 6U + is_read(recent) + has_span(recent));
    json_array_foreach(list, i, domain) domain_row(layout, recent, &grid, domain);
    qs_grid_print(&grid, &layout->face, "", out);
    json_array_foreach(list, i, domain)
    {
        QS_BUF(text);
        qs_buf_fmt(&text, "%s: %s", text_of(domain, "name"), text_of(domain, "why"));
        if (strcmp(text_of(domain, "hold"), "ok") != 0)
            qs_face_wrap(&layout->face, out, "- ", text.data, QS_INK_WARN);
    }
}

static bool is_believed(const json_t *sensor)
{
    return strcmp(text_of(sensor, "status"), "ok") == 0;
}

static void sensor_row(const struct qs_layout *layout, const struct qs_recent *recent, struct qs_grid *grid,
                       const json_t *sensor)
{
    char value[40];
    const char *name = text_of(sensor, "name");
    int64_t v = qs_json_get_int(sensor, "value", 0);
    const char *unit = text_of(sensor, "unit");
    bool degrees = strcmp(unit, "mC") == 0 || strcmp(unit, "dC") == 0 || strcmp(unit, "C") == 0;
    bool power = strcmp(unit, "mW") == 0 || strcmp(unit, "W") == 0; /* kept in uW */
    bool known = reading_of(recent, name, &v) || recent->now == NULL;
    QS_BUF(strip);
    if (!known)
        snprintf(value, sizeof(value), "-");
    else if (strcmp(unit, "count") == 0)
        snprintf(value, sizeof(value), "%" PRId64, v);
    else if (!degrees)
        snprintf(value, sizeof(value), "%" PRId64 " %.8s", v, power ? "uW" : unit);
    else
        snprintf(value, sizeof(value),
                 "%.1f \xc2\xb0"
                 "C",
                 (double)v / 1000);
    qs_recent_strip(layout, recent, name, qs_recent_columns(layout), &strip);
    qs_grid_cell(grid, name);
    qs_grid_cell(grid, text_of(sensor, "role"));
    qs_grid_cell(grid, value);
    if (has_span(recent))
        qs_grid_cell(grid, strip.len > 0 ? strip.data : "");
}

/* Those that are not believed stand below the others, each with the reason. */
static void sensors(const struct qs_layout *layout, const struct qs_recent *recent, const json_t *board,
                    const char *span, struct qs_buf *out)
{
    const struct qs_grid_column columns[] = {{.title = "sensor", .most = 48},
                                             {.title = "near", .keep = 1},
                                             {.title = recent->now != NULL ? "now" : "then", .right = true},
                                             {.title = span, .keep = 2}};
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    size_t i;
    const json_t *sensor, *list = json_object_get(board, "sensors");
    if (json_array_size(list) == 0)
        return;
    qs_buf_char(out, '\n');
    qs_grid_init(&grid, columns, 3U + has_span(recent));
    json_array_foreach(list, i, sensor) if (is_believed(sensor)) sensor_row(layout, recent, &grid, sensor);
    if (grid.row_count > 0)
        qs_grid_print(&grid, &layout->face, "", out);
    json_array_foreach(list, i, sensor)
    {
        QS_BUF(text);
        qs_buf_fmt(&text, "%s is not used: %s", text_of(sensor, "name"),
                   qs_json_get_text(sensor, "why", text_of(sensor, "status")));
        if (!is_believed(sensor))
            qs_face_wrap(&layout->face, out, "- ", text.data, QS_INK_DIM);
    }
}

/* How old what stands under `then` is. */
static void then_is(const struct qs_layout *layout, const struct qs_recent *recent, const json_t *device,
                    struct qs_buf *out)
{
    QS_BUF(text);
    bool window = recent->newest_wall_ns > 0;
    const json_t *of = window ? json_object_get(device, "recent") : device;
    const char *key = window ? "newest_wall_ns" : "probed_wall_ns";
    char time[32];
    if (recent->now != NULL || qs_json_get_int(of, key, 0) <= 0)
        return;
    qs_text_time(qs_json_get_int(of, key, 0), time);
    qs_buf_fmt(&text, "then: %s, %s", window ? "its last window" : "when it was last looked at", time);
    QS_BUF(age);
    qs_layout_age(layout, of, key, &age);
    qs_buf_fmt(&text, "%s%s", age.len > 0 ? "," : "", age.len > 0 ? age.data : "");
    qs_face_wrap(&layout->face, out, "", text.data, QS_INK_DIM);
}

/* "idle 8, boost 1 (read-only)": how many of each kind there are. */
static void switches_field(const struct qs_layout *layout, const json_t *board, struct qs_buf *out)
{
    static const char *const kinds[] = {"idle", "online", "boost", "charging", "fan", "thermal", "other"};
    QS_BUF(text);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        size_t i, n = 0, writable = 0;
        const json_t *one;
        json_array_foreach(json_object_get(board, "switches"), i, one)
        {
            bool is = strcmp(text_of(one, "kind"), kinds[k]) == 0;
            n += is ? 1 : 0;
            writable += is && qs_json_get_true(one, "writable") ? 1 : 0;
        }
        if (n == 0)
            continue;
        qs_buf_fmt(&text, "%s%s %zu", text.len > 0 ? ", " : "", kinds[k], n);
        if (writable == 0)
            qs_buf_str(&text, " (none can be written)");
        else if (writable < n)
            qs_buf_fmt(&text, " (%zu can be written)", writable);
    }
    if (text.len == 0)
        return;
    qs_buf_char(out, '\n');
    qs_face_wrap(&layout->face, out, "switches: ", text.data, QS_INK_PLAIN);
}

void qs_layout_device(const struct qs_layout *layout, const json_t *device, struct qs_buf *out)
{
    size_t i;
    const json_t *note, *board = json_object_get(device, "board");
    struct qs_recent recent;
    QS_BUF(span);
    qs_recent_of(device, &recent);
    qs_recent_span(layout, &recent, &span);
    head(layout, device, out);
    if (json_is_object(board)) {
        const char *title = span.len > 0 ? span.data : "";
        domains(layout, &recent, board, title, out);
        sensors(layout, &recent, board, title, out);
        then_is(layout, &recent, device, out);
        switches_field(layout, board, out);
        json_array_foreach(json_object_get(board, "notes"), i, note)
            qs_face_wrap(&layout->face, out, "- ", json_string_value(note), QS_INK_DIM);
    } else {
        qs_buf_char(out, '\n');
        qs_face_wrap(&layout->face, out, "",
                     "Its frequencies and sensors have not been looked at yet: the first job that runs on it "
                     "does that.",
                     QS_INK_PLAIN);
    }
    if (json_is_object(board)) {
        qs_layout_knobs(layout, device, out);
        qs_layout_heat(layout, device, out);
    }
    qs_buf_char(out, '\n');
    qs_layout_control(layout, device, out);
    qs_layout_todo(layout, device, out);
}
