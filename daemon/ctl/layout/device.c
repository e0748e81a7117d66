/* A device: what it is, what was found on it (`board`, as daemon/device/board writes it), and what its last
 * session changed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

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

static void head(const struct qs_layout *layout, const json_t *device, struct qs_buf *out)
{
    QS_BUF(text);
    const json_t *facts = json_object_get(device, "facts"), *board = json_object_get(device, "board");
    qs_buf_fmt(&text, "device %s: %s%s", qs_json_get_text(device, "name", "?"),
               qs_json_get_text(device, "state", "?"),
               qs_json_get_true(device, "simulated") ? ", simulated" : "");
    qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BOLD);
    qs_layout_field(layout, out, "why", text_of(device, "why"));
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
    clusters_field(layout, board, out);
    qs_layout_time_field(layout, out, "probed", device, "probed_wall_ns");
    qs_buf_clear(&text);
    add_list(&text, json_object_get(board, "profiles"));
    qs_layout_field(layout, out, "profiles", text.data);
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

static void domain_row(struct qs_grid *grid, const json_t *domain)
{
    char steps[32];
    QS_BUF(range);
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
}

static void domains(const struct qs_layout *layout, const json_t *board, struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {{.title = "frequency of"},
                                                    {.title = "CPUs", .keep = 1},
                                                    {.title = "range"},
                                                    {.title = "steps", .right = true, .keep = 2},
                                                    {.title = "governor", .keep = 3, .most = 24},
                                                    {.title = "pin"}};
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    size_t i;
    const json_t *domain, *list = json_object_get(board, "domains");
    if (json_array_size(list) == 0)
        return;
    qs_buf_char(out, '\n');
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    json_array_foreach(list, i, domain) domain_row(&grid, domain);
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

static void sensor_row(struct qs_grid *grid, const json_t *sensor)
{
    char value[40];
    int64_t v = qs_json_get_int(sensor, "value", 0);
    bool counts = strcmp(text_of(sensor, "unit"), "count") == 0;
    if (counts)
        snprintf(value, sizeof(value), "%" PRId64, v);
    else
        snprintf(value, sizeof(value),
                 "%.1f \xc2\xb0"
                 "C",
                 (double)v / 1000);
    qs_grid_cell(grid, text_of(sensor, "name"));
    qs_grid_cell(grid, text_of(sensor, "role"));
    qs_grid_cell(grid, value);
}

/* Those that are not believed stand below the others, each with the reason. */
static void sensors(const struct qs_layout *layout, const json_t *board, struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {
        {.title = "sensor", .most = 48}, {.title = "near", .keep = 1}, {.title = "then", .right = true}};
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    size_t i;
    const json_t *sensor, *list = json_object_get(board, "sensors");
    if (json_array_size(list) == 0)
        return;
    qs_buf_char(out, '\n');
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    json_array_foreach(list, i, sensor) if (is_believed(sensor)) sensor_row(&grid, sensor);
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
    const json_t *note, *board = json_object_get(device, "board"),
                        *control = json_object_get(device, "control");
    head(layout, device, out);
    if (json_is_object(board)) {
        domains(layout, board, out);
        sensors(layout, board, out);
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
    if (json_is_object(control))
        qs_layout_control(layout, control, out);
    else
        qs_face_wrap(&layout->face, out, "", "No session has changed anything on it.", QS_INK_PLAIN);
}
