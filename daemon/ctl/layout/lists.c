/* Jobs, runs and devices. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

static void int_cell(struct qs_grid *grid, const json_t *object, const char *key)
{
    char text[32] = "-";
    if (json_is_integer(json_object_get(object, key)))
        snprintf(text, sizeof(text), "%" PRId64, qs_json_get_int(object, key, 0));
    qs_grid_cell(grid, text);
}

static void text_cell(struct qs_grid *grid, const json_t *object, const char *key)
{
    qs_grid_cell(grid, qs_json_get_text(object, key, ""));
}

static void time_cell(struct qs_grid *grid, const json_t *object, const char *key)
{
    char text[32] = "";
    int64_t wall_ns = qs_json_get_int(object, key, 0);
    if (wall_ns > 0)
        qs_text_second(wall_ns, text);
    qs_grid_cell(grid, text);
}

static const char *state_of(const json_t *job)
{
    const char *why = qs_json_get_text(job, "why", ""); /* no daemon runs, or its end is not on disk */
    return why[0] != '\0' ? "waiting" : qs_json_get_text(job, "state", "");
}

static const char *verdict_of(const json_t *job)
{
    return qs_json_get_text(json_object_get(job, "verdict"), "text", "-");
}

static void add_job(struct qs_grid *grid, const json_t *job)
{
    int_cell(grid, job, "id");
    qs_grid_cell(grid, state_of(job));
    text_cell(grid, job, "name");
    qs_grid_cell(grid, verdict_of(job));
    int_cell(grid, job, "runs");
    int_cell(grid, job, "runs_tainted");
    int_cell(grid, job, "iterations");
    time_cell(grid, job, "submitted_wall_ns");
    text_cell(grid, job, "owner");
    text_cell(grid, job, "reason");
}

/* Its verdict, or how it stands and why. */
static void add_job_narrow(struct qs_grid *grid, const json_t *job)
{
    QS_BUF(result);
    const char *reason = qs_json_get_text(job, "reason", "");
    if (json_is_object(json_object_get(job, "verdict")))
        qs_buf_str(&result, verdict_of(job));
    else
        qs_buf_fmt(&result, "%s%s%s", state_of(job), reason[0] != '\0' ? ": " : "", reason);
    int_cell(grid, job, "id");
    text_cell(grid, job, "name");
    qs_grid_cell(grid, result.data);
}

void qs_layout_jobs(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {{.title = "job", .right = true},
                                                    {.title = "state"},
                                                    {.title = "name", .most = 60},
                                                    {.title = "verdict", .keep = 1, .most = 48},
                                                    {.title = "runs", .right = true, .keep = 4},
                                                    {.title = "tainted", .right = true, .keep = 5},
                                                    {.title = "iterations", .right = true, .keep = 3},
                                                    {.title = "submitted", .keep = 2},
                                                    {.title = "owner", .keep = 6},
                                                    {.title = "reason", .most = 80}};
    static const struct qs_grid_column narrow[] = {
        {.title = "job", .right = true}, {.title = "name", .most = 60}, {.title = "result", .most = 80}};
    enum { NARROW_CELLS = 60 };
    bool wide = layout->face.width >= NARROW_CELLS;
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    size_t i;
    const json_t *job;
    const char *disk = "";
    const json_t *jobs = json_object_get(doc, "jobs");
    if (json_array_size(jobs) == 0) {
        qs_buf_str(out, "There are no jobs yet. To begin: quiesce run -- COMMAND\n");
        return;
    }
    qs_grid_init(&grid, wide ? columns : narrow,
                 wide ? sizeof(columns) / sizeof(columns[0]) : sizeof(narrow) / sizeof(narrow[0]));
    json_array_foreach(jobs, i, job)
    {
        disk = qs_json_get_text(job, "why", disk);
        (wide ? add_job : add_job_narrow)(&grid, job);
    }
    qs_grid_print(&grid, &layout->face, "", out);
    if (disk[0] != '\0')
        qs_face_wrap(&layout->face, out, "", disk, QS_INK_PLAIN);
}

void qs_layout_field(const struct qs_layout *layout, struct qs_buf *out, const char *name, const char *value)
{
    QS_BUF(lead);
    if (value == NULL || value[0] == '\0')
        return;
    qs_buf_fmt(&lead, "  %-11s", name);
    qs_face_wrap(&layout->face, out, lead.data, value, QS_INK_PLAIN);
}

void qs_layout_time_field(const struct qs_layout *layout, struct qs_buf *out, const char *name,
                          const json_t *object, const char *key)
{
    char text[32];
    int64_t wall_ns = qs_json_get_int(object, key, 0);
    if (wall_ns <= 0)
        return;
    qs_text_time(wall_ns, text);
    qs_layout_field(layout, out, name, text);
}

void qs_layout_age(const struct qs_layout *layout, const json_t *of, const char *key, struct qs_buf *out)
{
    int64_t now_ns = layout->now_wall_ns, then_ns = qs_json_get_int(of, key, 0);
    if (then_ns <= 0 || now_ns < then_ns)
        return;
    int64_t s = (now_ns - then_ns) / 1000000000;
    qs_buf_char(out, ' ');
    if (s < 60)
        qs_buf_str(out, "less than a minute");
    else
        qs_text_duration(out, (double)(s - s % (s < 3600 ? 60 : s < 86400 ? 3600 : 86400)) * 1e9);
    qs_buf_str(out, " ago");
}

/* Names in a list: of strings, or of objects with a name. */
static void names_field(const struct qs_layout *layout, struct qs_buf *out, const char *name,
                        const json_t *list)
{
    QS_BUF(text);
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item) qs_buf_fmt(
        &text, "%s%s", i > 0 ? ", " : "",
        json_is_string(item) ? json_string_value(item)
                             : qs_json_get_text(item, "name", qs_json_get_text(item, "label", "?")));
    qs_layout_field(layout, out, name, text.data);
}

/* "old (build v1), cold (conditions quiet)": builds and conditions that are not called as their arms. */
static void arms_field(const struct qs_layout *layout, struct qs_buf *out, const json_t *job)
{
    const json_t *builds = json_object_get(job, "builds"), *sets = json_object_get(job, "conditions"), *arm;
    QS_BUF(text);
    size_t i;
    json_array_foreach(json_object_get(job, "arms"), i, arm)
    {
        const char *name = json_is_string(arm) ? json_string_value(arm) : qs_json_get_text(arm, "name", "?");
        const char *build = json_string_value(json_array_get(builds, i));
        qs_buf_fmt(&text, "%s%s", i > 0 ? ", " : "", name);
        if (build != NULL && strcmp(build, name) != 0)
            qs_buf_fmt(&text, " (build %s)", build);
        const char *set = json_string_value(json_array_get(sets, i));
        if (set != NULL && strcmp(set, name) != 0)
            qs_buf_fmt(&text, " (conditions %s)", set);
    }
    qs_layout_field(layout, out, "arms", text.data);
}

static void progress_field(const struct qs_layout *layout, struct qs_buf *out, const json_t *job)
{
    const json_t *p = json_object_get(job, "progress");
    char text[120];
    if (!json_is_object(p) || strcmp(qs_json_get_text(job, "state", ""), "running") != 0)
        return;
    snprintf(text, sizeof(text), "block %" PRId64 " of at most %" PRId64, qs_json_get_int(p, "block", 0),
             qs_json_get_int(p, "blocks_max", 0));
    qs_layout_field(layout, out, "progress", text);
}

/* One line a point and device; which they are is said where there are several. */
static void evals_fields(const struct qs_layout *layout, struct qs_buf *out, const json_t *list)
{
    QS_BUF(text);
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one)
    {
        qs_buf_clear(&text);
        if (json_array_size(list) > 1)
            qs_buf_fmt(&text, "%s on %s: ", qs_json_get_text(one, "label", "?"),
                       qs_json_get_text(one, "device", "?"));
        if (qs_layout_evals(json_object_get(one, "evaluations"), &text))
            qs_layout_field(layout, out, "evaluated", text.data);
    }
}

/* "2 min 46 s at 3 gates, the longest 1 min 3 s (block 2 of a on bench): thermal:cpu from 70.0 °C to 45.0 °C
 * █▅▃▁": of the sensor that the gate waited for most. */
static void waits_field(const struct qs_layout *layout, struct qs_buf *out, const json_t *waits)
{
    QS_BUF(text);
    const json_t *longest = json_array_get(json_object_get(waits, "longest"), 0), *one, *most = NULL;
    int64_t gates = qs_json_get_int(waits, "gates", 0);
    size_t i;
    json_array_foreach(json_object_get(longest, "sensors"), i, one)
    {
        if (json_array_size(json_object_get(one, "trace")) > json_array_size(json_object_get(most, "trace")))
            most = one;
    }
    if (most == NULL)
        return;
    qs_text_duration(&text, qs_json_get_number(waits, "waited_ns", 0));
    qs_buf_str(&text, " at ");
    qs_layout_count(&text, gates, "gate", "gates");
    if (gates > 1) {
        qs_buf_str(&text, ", the longest ");
        qs_text_duration(&text, qs_json_get_number(longest, "waited_ns", 0));
    }
    qs_buf_fmt(&text, " (block %" PRId64 " of %s on %s): %s from %s to %s ",
               qs_json_get_int(longest, "block", 0), qs_json_get_text(longest, "arm_name", "?"),
               qs_json_get_text(longest, "device", "?"), qs_json_get_text(most, "sensor", "?"),
               qs_json_get_text(most, "from", "?"), qs_json_get_text(most, "to", "?"));
    qs_layout_trend(layout, json_object_get(most, "trace"), &text);
    qs_layout_field(layout, out, "waited", text.data);
}

void qs_layout_job(const struct qs_layout *layout, const json_t *job, struct qs_buf *out)
{
    QS_BUF(text);
    const json_t *seed = json_object_get(job, "seed");
    qs_buf_fmt(&text, "job %" PRId64 ": %s, %s", qs_json_get_int(job, "id", 0),
               qs_json_get_text(job, "name", "?"), qs_json_get_text(job, "state", "?"));
    qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BOLD);
    qs_layout_field(layout, out, "verdict", qs_json_get_text(json_object_get(job, "verdict"), "text", ""));
    qs_layout_field(layout, out, "reason", qs_json_get_text(job, "reason", ""));
    qs_layout_field(layout, out, "waits for", qs_json_get_text(job, "why", ""));
    progress_field(layout, out, job);
    arms_field(layout, out, job);
    names_field(layout, out, "points", json_object_get(job, "points"));
    qs_buf_clear(&text);
    qs_buf_fmt(&text, "%" PRId64 " (%" PRId64 " tainted), %" PRId64 " iterations",
               qs_json_get_int(job, "runs", 0), qs_json_get_int(job, "runs_tainted", 0),
               qs_json_get_int(job, "iterations", 0));
    qs_layout_field(layout, out, "runs", text.data);
    qs_buf_clear(&text);
    if (json_is_integer(seed))
        qs_buf_fmt(&text, "%" PRIu64, (uint64_t)json_integer_value(seed));
    qs_layout_field(layout, out, "seed", json_is_string(seed) ? json_string_value(seed) : text.data);
    evals_fields(layout, out, json_object_get(job, "evaluations"));
    waits_field(layout, out, json_object_get(job, "waits"));
    qs_layout_field(layout, out, "owner", qs_json_get_text(job, "owner", ""));
    qs_layout_time_field(layout, out, "submitted", job, "submitted_wall_ns");
    qs_layout_time_field(layout, out, "started", job, "started_wall_ns");
    qs_layout_time_field(layout, out, "ended", job, "ended_wall_ns");
    qs_layout_traces(layout, json_object_get(job, "traces"), out);
}

/* Words of a list, joined. */
static void join(const json_t *list, struct qs_buf *text)
{
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item)
        qs_buf_fmt(text, "%s%s", i > 0 ? "," : "", json_is_string(item) ? json_string_value(item) : "?");
}

/* "proven (12), none (1)": what is claimed of the windows' silence. */
static void silence_field(const struct qs_layout *layout, struct qs_buf *out, const json_t *windows)
{
    static const char *const claims[] = {"proven", "observed", "claimed", "none"};
    QS_BUF(text);
    for (size_t k = 0; k < sizeof(claims) / sizeof(claims[0]); k++) {
        size_t i, n = 0;
        const json_t *window;
        const char *why = "";
        json_array_foreach(windows, i, window)
        {
            bool is = strcmp(qs_json_get_text(window, "silence", ""), claims[k]) == 0;
            n += is ? 1 : 0;
            why = is ? qs_json_get_text(window, "silence_why", why) : why;
        }
        if (n > 0)
            qs_buf_fmt(&text, "%s%s (%zu window%s)%s%s", text.len > 0 ? ", " : "", claims[k], n,
                       n == 1 ? "" : "s", why[0] ? ": " : "", why);
    }
    qs_layout_field(layout, out, "silence", text.data);
}

/* Mode stream: whose times they are, and where they were read. */
static void stream_field(const struct qs_layout *layout, struct qs_buf *out, const json_t *stream)
{
    QS_BUF(text);
    const char *unit = qs_json_get_text(stream, "unit", "");
    if (!json_is_object(stream))
        return;
    const char *better = qs_json_get_text(stream, "better", "");
    qs_buf_fmt(&text, "the program's own, kept as they are: %s%s%s%s%s%s, read from %s",
               qs_json_get_text(stream, "format", "?"), unit[0] != '\0' ? " in " : "", unit,
               better[0] != '\0' ? " (" : "", better, better[0] != '\0' ? " is better)" : "",
               qs_json_get_text(stream, "file", "its standard output"));
    qs_layout_field(layout, out, "values", text.data);
}

/* One line for each artifact of the run. */
static void artifact_fields(const struct qs_layout *layout, struct qs_buf *out, const json_t *artifacts)
{
    size_t i;
    const json_t *one;
    json_array_foreach(artifacts, i, one)
    {
        char kept[32], total[32];
        QS_BUF(text);
        int64_t bytes = qs_json_get_int(one, "kept_bytes", 0), all = qs_json_get_int(one, "total_bytes", 0);
        qs_layout_bytes(kept, (double)bytes);
        qs_layout_bytes(total, (double)all);
        qs_buf_fmt(&text, "%s: ", qs_json_get_text(one, "name", "?"));
        const char *why = qs_json_get_text(one, "why", "");
        if (bytes == 0 && why[0] != '\0')
            qs_buf_fmt(&text, "not kept, %s", why);
        else
            qs_buf_fmt(&text, "%s%s%s%s%s", kept, bytes < all ? " of " : "", bytes < all ? total : "",
                       why[0] != '\0' ? ", but " : "", why);
        qs_layout_field(layout, out, i == 0 ? "left" : "", text.data);
    }
}

void qs_layout_run(const struct qs_layout *layout, const json_t *run, struct qs_buf *out)
{
    QS_BUF(text);
    qs_buf_fmt(&text, "run %s: %s", qs_json_get_text(run, "uid", "?"), qs_json_get_text(run, "state", "?"));
    qs_face_wrap(&layout->face, out, "", text.data, QS_INK_BOLD);
    qs_layout_field(layout, out, "arm", qs_json_get_text(run, "arm_name", ""));
    qs_layout_field(layout, out, "build", qs_json_get_text(run, "build", ""));
    qs_layout_field(layout, out, "device", qs_json_get_text(run, "device", ""));
    qs_buf_clear(&text);
    qs_buf_fmt(&text, "%" PRId64 ", turn %" PRId64 ", attempt %" PRId64, qs_json_get_int(run, "block", 0),
               qs_json_get_int(run, "pos", 0), qs_json_get_int(run, "attempt", 0));
    qs_layout_field(layout, out, "block", text.data);
    qs_buf_clear(&text);
    int64_t warmup_n = qs_json_get_int(run, "warmup_n", 0);
    qs_buf_fmt(&text, "%" PRId64 " (%" PRId64 " tainted", qs_json_get_int(run, "n", 0),
               qs_json_get_int(run, "n_tainted", 0));
    if (warmup_n > 0)
        qs_buf_fmt(&text, ", the first %" PRId64 " set aside as warm-up", warmup_n);
    qs_buf_char(&text, ')');
    qs_layout_field(layout, out, "iterations", text.data);
    qs_buf_clear(&text);
    join(json_object_get(run, "taint"), &text);
    qs_layout_field(layout, out, "taint", text.data);
    qs_buf_clear(&text);
    qs_layout_evals(json_object_get(json_object_get(run, "harness"), "evals"), &text);
    qs_layout_field(layout, out, "evaluated", text.data);
    stream_field(layout, out, json_object_get(run, "stream"));
    silence_field(layout, out, json_object_get(run, "windows"));
    qs_layout_field(layout, out, "stopped by", qs_json_get_text(run, "stop_reason", ""));
    qs_layout_field(layout, out, "error", qs_json_get_text(run, "error", ""));
    qs_layout_field(layout, out, "program", qs_json_get_text(run, "exe_path", ""));
    qs_layout_field(layout, out, "sha256", qs_json_get_text(run, "exe_sha256", ""));
    artifact_fields(layout, out, json_object_get(run, "artifacts"));
    qs_layout_time_field(layout, out, "started", run, "started_wall_ns");
    qs_layout_traces(layout, json_object_get(run, "traces"), out);
}

/* What its agent has kept of jobs' files; "-" where it keeps none. */
static void cache_cell(struct qs_grid *grid, const json_t *cache)
{
    char text[32];
    qs_layout_bytes(text, qs_json_get_number(cache, "bytes", -1));
    qs_grid_cell(grid, text);
}

/* "ready, held", and why; what people note of it stands behind. */
static void add_standing(const json_t *device, struct qs_buf *state, struct qs_buf *why)
{
    const json_t *held = json_object_get(device, "held");
    const char *note = qs_json_get_text(json_object_get(device, "note"), "text", "");
    qs_buf_fmt(state, "%s%s", qs_json_get_text(device, "state", ""), json_is_object(held) ? ", held" : "");
    if (json_is_object(held))
        qs_layout_held(held, why);
    const char *const others[] = {qs_json_get_text(device, "why", ""), note};
    for (size_t i = 0; i < 2; i++)
        if (others[i][0] != '\0')
            qs_buf_fmt(why, "%s%s", why->len > 0 ? "; " : "", others[i]);
}

void qs_layout_devices(const struct qs_layout *layout, const json_t *doc, struct qs_buf *out)
{
    static const struct qs_grid_column columns[] = {{.title = "device"},
                                                    {.title = "state"},
                                                    {.title = "link", .keep = 3},
                                                    {.title = "kind", .keep = 4},
                                                    {.title = "cache", .right = true, .keep = 2},
                                                    {.title = "agent", .keep = 5, .most = 40},
                                                    {.title = "why", .most = 100}};
    QS_SCOPED(qs_grid_done) struct qs_grid grid = {0};
    size_t i;
    const json_t *device;
    const json_t *devices = json_object_get(doc, "devices");
    if (json_array_size(devices) == 0) {
        qs_buf_str(out, "This farm has no devices.\n");
        return;
    }
    qs_grid_init(&grid, columns, sizeof(columns) / sizeof(columns[0]));
    json_array_foreach(devices, i, device)
    {
        QS_BUF(state);
        QS_BUF(why);
        add_standing(device, &state, &why);
        text_cell(&grid, device, "name");
        qs_grid_cell(&grid, state.data);
        text_cell(&grid, device, "link");
        qs_grid_cell(&grid, qs_json_get_true(device, "simulated") ? "simulated"
                            : qs_json_get_true(device, "local")   ? "this machine"
                                                                  : "remote");
        cache_cell(&grid, json_object_get(device, "cache"));
        text_cell(&grid, device, "agent");
        qs_grid_cell(&grid, why.data);
    }
    qs_grid_print(&grid, &layout->face, "", out);
    const char *disk = qs_json_get_text(doc, "disk", "");
    if (disk[0] != '\0')
        qs_face_wrap(&layout->face, out, "", disk, QS_INK_PLAIN);
}
