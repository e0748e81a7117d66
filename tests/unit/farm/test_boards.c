/* Jobs that hold the clocks of simulated boards, in virtual time: whatever goes wrong, on each of the trees,
 * the job ends in a state that has a name, says what to do, and leaves the board as it was. */
#include "bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "farm/simulate.h"
#include "sim/port.h"

enum { TEXT_BYTES = 1 << 20, NODES = QS_VBOARD_NODES_MAX };

static const struct tree {
    const char *name, *folder, *sensor, *zone, *battery;
} trees[] = {
    {"huawei-p8lite2017", "devices/system/cpu/cpufreq/policy4", "thermal:cluster0", "thermal_zone1",
     "Battery"},
    {"odroid-xu3", "devices/system/cpu/cpufreq/policy4", "thermal:cpu0-thermal", "thermal_zone0", NULL},
    {"pixel6-oriole", "devices/system/cpu/cpufreq/policy6", "thermal:BIG", "thermal_zone0", "battery"},
    {"rock5b-rk3588", "devices/system/cpu/cpufreq/policy4", "thermal:bigcore0-thermal", "thermal_zone1",
     NULL},
    {"rpi4b", "devices/system/cpu/cpufreq/policy0", "thermal:cpu-thermal", "thermal_zone0", NULL},
    {"sony-xperia-z-unrooted", "devices/system/cpu/cpu0/cpufreq", "thermal:tsens_tz_sensor0", "thermal_zone0",
     "battery"}};

/* ---- the board itself, beside everything that the daemon is told of it ---- */

static struct qs_sim_bed *seen; /* of the one device */
static char *stood[NODES];      /* what its writable files said at first */
static size_t left_changed, lease_ends, reboots, seen_windows;
static char changed[512];

bool __real_qs_sim_bed_open(struct qs_sim_bed *bed, const char *tree, const struct qs_sim_event *events,
                            size_t n);
bool __wrap_qs_sim_bed_open(struct qs_sim_bed *bed, const char *tree, const struct qs_sim_event *events,
                            size_t n);
void __real_qs_farm_free(struct qs_farm *farm);
void __wrap_qs_farm_free(struct qs_farm *farm);
void __real_qs_sim_knobs_lease_end(struct qs_sim *sim);
void __wrap_qs_sim_knobs_lease_end(struct qs_sim *sim);
void __real_qs_sim_knobs_reboot(struct qs_sim *sim);
void __wrap_qs_sim_knobs_reboot(struct qs_sim *sim);

static char *says(const struct qs_vboard_node *node)
{
    char text[QS_VBOARD_TEXT_BYTES];
    int n = qs_vboard_read(&seen->board, node->path, 0, text, sizeof text);
    return n < 0 ? qs_asprintf("error %d", -n) : qs_strdup(text);
}

bool __wrap_qs_sim_bed_open(struct qs_sim_bed *bed, const char *tree, const struct qs_sim_event *events,
                            size_t n)
{
    bool ok = __real_qs_sim_bed_open(bed, tree, events, n);
    seen = bed;
    for (size_t i = 0; ok && i < bed->board.node_count; i++) {
        free(stood[i]);
        const struct qs_vboard_node *node = &bed->board.nodes[i];
        bool knob = node->mode & 0222 && !node->is_link && !strstr(node->path, "/cur_state"); /* heat's own */
        stood[i] = knob ? says(node) : NULL;
    }
    return ok;
}

/* Without its faults, and when it has cooled down: what of it says something else than at first? */
void __wrap_qs_farm_free(struct qs_farm *farm)
{
    struct qs_vboard *board = &seen->board;
    assert_true(qs_vboard_command(board, "heal"));
    assert_true(qs_vboard_command(board, "ambient 25"));
    assert_true(qs_vboard_command(board, "load rest"));
    qs_vboard_on_time(board, board->now_us + INT64_C(1200) * 1000000);
    for (size_t i = 0; i < board->node_count; i++) {
        char *now = stood[i] ? says(&board->nodes[i]) : NULL;
        if (now && strcmp(now, stood[i]) != 0) {
            snprintf(changed, sizeof changed, "%s: %s, was %s", board->nodes[i].path, now, stood[i]);
            left_changed++;
        }
        free(now);
        free(stood[i]);
        stood[i] = NULL;
    }
    left_changed += seen->knob_count;
    seen_windows = seen->windows;
    __real_qs_farm_free(farm);
}

void __wrap_qs_sim_knobs_lease_end(struct qs_sim *sim)
{
    lease_ends++;
    __real_qs_sim_knobs_lease_end(sim);
    assert_int_equal(sim->options.bed->knob_count, 0);
    assert_non_null(strstr(sim->options.bed->restored, "because the host was not heard"));
}

void __wrap_qs_sim_knobs_reboot(struct qs_sim *sim)
{
    reboots++;
    __real_qs_sim_knobs_reboot(sim);
    assert_int_equal(sim->options.bed->knob_count, 0);
}

/* ---- one job ---- */

static char dir[] = "/tmp/quiesce-test-XXXXXX";

/* MIN, MAX, TEMP, SENSOR, CELL of a case's words are the tree's. */
static char *fill(const struct tree *tree, const char *words)
{
    static const char *const marks[] = {"MIN", "MAX", "TEMP", "SENSOR", "CELL"};
    struct qs_buf out;
    qs_buf_init(&out);
    for (const char *p = words; *p;) {
        size_t k = 0;
        while (k < 5 && strncmp(p, marks[k], strlen(marks[k])) != 0)
            k++;
        switch (k) {
        case 0:
            qs_buf_fmt(&out, "%s/scaling_min_freq", tree->folder);
            break;
        case 1:
            qs_buf_fmt(&out, "%s/scaling_max_freq", tree->folder);
            break;
        case 2:
            qs_buf_fmt(&out, "class/thermal/%s/temp", tree->zone);
            break;
        case 3:
            qs_buf_str(&out, tree->sensor);
            break;
        case 4:
            qs_buf_str(&out, tree->battery);
            break;
        default:
            qs_buf_char(&out, *p);
        }
        p += k < 5 ? strlen(marks[k]) : 1;
    }
    return qs_buf_take(&out);
}

/* And it is gone. */
static char *read_log(const char *log_path)
{
    char *log = qs_calloc(1, TEXT_BYTES);
    FILE *f = fopen(log_path, "re");
    assert_non_null(f);
    assert_in_range(fread(log, 1, TEXT_BYTES - 1, f), 100, TEXT_BYTES - 2);
    fclose(f);
    unlink(log_path);
    return log;
}

static size_t count_of(const char *log, const char *text)
{
    size_t n = 0;
    for (const char *at = strstr(log, text); at; at = strstr(at + 1, text))
        n++;
    return n;
}

static char *simulate(const struct tree *tree, const char *events, const char *gate, const char *more)
{
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf out;
    QS_FREED char *log_path = qs_asprintf("%s/events", dir);
    QS_FREED char *e = fill(tree, events);
    QS_FREED char *g = fill(tree, gate);
    QS_FREED char *farm =
        qs_asprintf("probe: never\ndevices: {board: {link: sim, sim_seed: 1, sim_board: %s/%s.tree.tsv, "
                    "sim_events: [{do: load 5}%s]}}\n",
                    QS_TREES, tree->name, e);
    QS_FREED char *job = qs_asprintf(
        "quiesce: 1\nbenchmarks: [{name: work, argv: [sim, \"400000000\"]}]\n"
        "conditions: {frequency: {cpu: max}, gate: %s, bounds: none%s}\n"
        "plan: {blocks: 3, window: {iterations: 1}, warmup: {iterations: 0}, until: {interval: 0}}\n",
        g, more);
    struct qs_farm_config *config = bed_farm_of(farm);
    const struct qs_simulation sim = {.config = config,
                                      .job_text = job,
                                      .job_bytes = strlen(job),
                                      .job_name = "job",
                                      .event_log = log_path,
                                      .seed = 1};
    qs_buf_init(&out);
    left_changed = lease_ends = reboots = 0;
    bool ok = qs_simulate(&sim, &out, &err);
    qs_buf_done(&out);
    qs_farm_config_free(config);
    if (!ok)
        fail_msg("%s: %s", tree->name, err.text);
    return read_log(log_path);
}

/* The log's last line is how the job ended. */
static const char *last_line(const char *log)
{
    const char *at = strstr(log, "\"kind\":\"job.state\"");
    for (const char *next = at; next; next = strstr(next + 1, "\"kind\":\"job.state\""))
        at = next;
    return at ? at : "";
}

#define COOL             "[{sensor: SENSOR, below: 49C, timeout: 1min, on_timeout: fail}]"
#define CHARGED(outcome) "[{sensor: battery:CELL, above: 30%, timeout: 1min, on_timeout: " outcome "}]"
#define DRAINED          ", {window: 1, at: 100ms, do: lie class/power_supply/CELL/capacity with 29}"
#define WARM             "[{sensor: SENSOR, below: 60C, timeout: 1min, on_timeout: fail}]"

static const struct fault {
    const char *name, *events, *gate, *more;
    const char *ends, *says, *mend; /* in the last line; anywhere in the log; what to do, in the last line;
                                       NULL: nothing more */
    size_t lease_ends, reboots;
} faults[] = {
    {"nothing", "", "none", "", "\"state\":\"done\"", NULL, NULL, 0, 0},
    {"a write is refused", ", {do: refuse MIN EPERM}", "none", "", "\"state\":\"failed\"",
     "the device refused it", "`frequency: free` leaves", 0, 0},
    {"a write is ignored", ", {do: ignore MIN}", "none", "", "\"state\":\"failed\"", "it did not stay",
     "`frequency: free` leaves", 0, 0},
    {"a driver does not answer", ", {do: slow MIN 5000}", "none", "", "\"state\":\"failed\"",
     "its driver did not answer in time", "`frequency: free` leaves", 0, 0},
    {"a service sets it at once", ", {do: reset MIN every 50}", "none", "", "\"state\":\"failed\"",
     "it did not stay", "`frequency: free` leaves", 0, 0},
    {"a service sets it later", ", {window: 2, do: reset MIN every 100}", "none", "", "\"state\":\"done\"",
     NULL, NULL, 0, 0},
    {"the sensor vanishes", ", {window: 2, do: vanish TEMP}", WARM, "", "\"state\":\"failed\"",
     "\"gate.timeout\"", "`quiesce devices read DEVICE`", 0, 0},
    {"summer, fail", ", {do: ambient 42}, {do: heat 56}", COOL, "", "\"state\":\"failed\"",
     "gate did not open", "Let the device come to rest", 0, 0},
    {"summer, taint", ", {do: ambient 42}, {do: heat 56}",
     "[{sensor: SENSOR, below: 49C, timeout: 1min, on_timeout: taint}]", "", "\"state\":\"done\"",
     "\"taint\":\"gate\"", NULL, 0, 0},
    {"summer, requeue", ", {do: ambient 42}, {do: heat 56}, {at: 10min, do: ambient 20}",
     "[{sensor: SENSOR, below: 49C, timeout: 1min, on_timeout: requeue}]", "", "\"state\":\"done\"",
     "\"gate.timeout\"", NULL, 0, 0},
    {"summer, defer", ", {do: ambient 42}, {do: heat 56}, {at: 10min, do: ambient 20}",
     "[{sensor: SENSOR, below: 49C, timeout: 1min, on_timeout: defer}]", "", "\"state\":\"done\"",
     "\"gate.timeout\"", NULL, 0, 0},
    {"winter", ", {do: ambient -20}, {do: heat 5}",
     "[{sensor: SENSOR, above: 30C, timeout: 1min, on_timeout: fail}]", "", "\"state\":\"failed\"",
     "gate did not open", "`heat: true`", 0, 0},
    {"the battery runs down, fail", DRAINED, CHARGED("fail"), "", "\"state\":\"failed\"",
     "is 29 %, wanted at least 30 %", "Charge the device", 0, 0},
    {"the battery runs down, requeue", DRAINED ", {at: 10min, do: heal}", CHARGED("requeue"), "",
     "\"state\":\"done\"", "\"gate.timeout\"", NULL, 0, 0},
    {"the link is lost for longer than the lease", ", {window: 2, at: 100ms, do: unplug 90000}", "none", "",
     "\"state\":\"done\"", NULL, NULL, 1, 0},
    {"the link is lost for a moment", ", {window: 2, at: 100ms, do: unplug 2000}", "none", "",
     "\"state\":\"done\"", NULL, NULL, 0, 0},
    {"it restarts", ", {window: 2, at: 100ms, do: reboot 20000}", "none", "", "\"state\":\"done\"", NULL,
     NULL, 0, 1},
};

static void whatever_goes_wrong(void **state)
{
    size_t wrong = 0;
    (void)state;
    for (size_t t = 0; t < sizeof trees / sizeof *trees; t++) {
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
            const struct fault *f = &faults[i];
            if (!trees[t].battery && strstr(f->gate, "CELL"))
                continue;
            QS_FREED char *log = simulate(&trees[t], f->events, f->gate, f->more);
            const char *last = last_line(log);
            if (strstr(last, f->ends) && (!f->says || strstr(log, f->says)) &&
                (!f->mend || strstr(last, f->mend)) && left_changed == 0 && lease_ends == f->lease_ends &&
                reboots == f->reboots)
                continue;
            print_message("%s, %s: lease ends %zu, restarts %zu, left %zu (%s): %.600s\n", trees[t].name,
                          f->name, lease_ends, reboots, left_changed, left_changed ? changed : "", last);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* Heated while it is measured: that window is marked and repeated, on cool silicon; and all of it again, byte
 * by byte. */
static void throttled_once(void **state)
{
    static const char hot[] = ", {do: heat 54}, {window: 3, at: 100ms, do: heat 95}";
    (void)state;
    QS_FREED char *log = simulate(&trees[3], hot, COOL, "");
    QS_FREED char *again = simulate(&trees[3], hot, COOL, "");
    assert_non_null(strstr(last_line(log), "\"state\":\"done\""));
    assert_non_null(strstr(log, "\"block\":3,\"pos\":0,\"n\":1,\"tainted\":1,\"taint\":\"evidence\""));
    assert_int_equal(left_changed, 0);
    assert_int_equal(seen_windows, 4);
    assert_string_equal(log, again);
}

/* So hot that the kernel has lowered its limits when they are to be held: a gate for the temperature lets it
 * cool down first; without one the job says so. */
static void hot_at_first(void **state)
{
    static const char hot[] = ", {do: heat 110}";
    (void)state;
    QS_FREED char *waits = simulate(&trees[3], hot, WARM, ", repeat_tainted: 0");
    assert_non_null(strstr(last_line(waits), "\"state\":\"done\""));
    assert_non_null(strstr(waits, "the job waits at its gate until thermal:bigcore0-thermal has fallen"));
    assert_int_equal(seen_windows, 3);
    assert_null(strstr(waits, "\"tainted\":1"));
    assert_int_equal(left_changed, 0);
    QS_FREED char *fails = simulate(&trees[3], hot, "none", "");
    assert_non_null(strstr(last_line(fails), "\"state\":\"failed\""));
    assert_non_null(strstr(last_line(fails), "is lower: the device is too hot for it"));
    assert_int_equal(left_changed, 0);
}

/* A job at each of four places among the operating points: how long the same work takes follows the clock
 * that the model has, which no file tells. */
static void at_each_frequency(void **state)
{
    static const char job[] =
        "quiesce: 1\nbenchmarks: [{name: work, argv: [sim, \"100000000\"]}]\n"
        "conditions: {frequency: each 4, gate: none, bounds: none}\n"
        "plan: {blocks: 3, window: {iterations: 1}, warmup: {iterations: 0}, until: {interval: 0}}\n";
    static const double fastest_mhz[] = {1200, 1608, 2016, 2400}; /* steps of a table of seven */
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(out);
    (void)state;
    struct qs_farm_config *config =
        bed_farm_of("probe: never\ndevices: {board: {link: sim, sim_seed: 1, sim_board: " QS_TREES
                    "/rock5b-rk3588.tree.tsv}}\n");
    const struct qs_simulation sim = {
        .config = config, .job_text = job, .job_bytes = sizeof job - 1, .job_name = "job", .seed = 1};
    left_changed = 0;
    if (!qs_simulate(&sim, &out, &err))
        fail_msg("%s", err.text);
    qs_farm_config_free(config);
    for (size_t i = 1; i < 4; i++) {
        QS_FREED char *line = qs_asprintf("%zu/4 takes ", i + 1);
        const char *at = strstr(out.data, line);
        double lo = 0, hi = 0, less = (1 - fastest_mhz[0] / fastest_mhz[i]) * 100;
        assert_non_null(at);
        if (sscanf(at + strlen(line), "%lf–%lf %% less time than 1/4", &lo, &hi) != 2 || lo > less ||
            less > hi || hi - lo > 2)
            fail_msg("%.1f %% less, and it says: %s", less, at);
    }
    assert_int_equal(left_changed, 0);
}

/* What actions write and wait for: a cool_down before each session, whatever becomes of the link, and a file
 * that is put back with the lease and written again. */
static void with_actions(void **state)
{
    static const char job[] =
        "quiesce: 1\nbenchmarks: [{name: work, argv: [sim, \"400000000\"]}]\n"
        "conditions: {gate: none, bounds: none}\n"
        "plan: {blocks: 3, window: {iterations: 1}, warmup: {iterations: 0}, until: {interval: 0}}\n"
        "actions:\n"
        "  before_job: [{print: once}]\n"
        "  before_session:\n"
        "    - cool_down: {sensor: \"thermal:bigcore0-thermal\", below: 49C}\n"
        "    - write: {file: devices/system/cpu/cpufreq/policy4/scaling_max_freq, value: \"1200000\"}\n"
        "  before_window: [{warm_up: {for: 2s}}, {sleep: 1s}]\n"
        "  after_job: [{print: \"at the end\"}]\n";
    static const struct {
        const char *events;
        size_t lease_ends, sessions;
    } cases[] = {{"", 0, 1},
                 {", {window: 2, at: 100ms, do: unplug 90000}", 1, 2},
                 {", {window: 2, at: 100ms, do: unplug 2000}", 0, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qs_err err = QS_ERR_INIT;
        QS_BUF(out);
        QS_FREED char *log_path = qs_asprintf("%s/events", dir);
        QS_FREED char *farm =
            qs_asprintf("devices: {board: {link: sim, sim_seed: 1, sim_board: %s/rock5b-rk3588.tree.tsv,"
                        " sim_events: [{do: load 5}, {do: heat 70}%s]}}\n",
                        QS_TREES, cases[i].events);
        struct qs_farm_config *config = bed_farm_of(farm);
        const struct qs_simulation sim = {.config = config,
                                          .job_text = job,
                                          .job_bytes = sizeof job - 1,
                                          .job_name = "job",
                                          .event_log = log_path,
                                          .seed = 1};
        left_changed = lease_ends = 0;
        if (!qs_simulate(&sim, &out, &err))
            fail_msg("%s", err.text);
        qs_farm_config_free(config);
        QS_FREED char *log = read_log(log_path);
        assert_non_null(strstr(last_line(log), "\"state\":\"done\""));
        assert_int_equal(count_of(log, "\"text\":\"once\""), 1);
        assert_int_equal(count_of(log, "\"text\":\"at the end\""), 1);
        assert_int_equal(count_of(log, "\"stage\":\"before_session\",\"outcome\":\"done\""),
                         cases[i].sessions);
        assert_int_equal(count_of(log, "wrote `1200000` to"), cases[i].sessions);
        assert_int_equal(count_of(log, "thermal:bigcore0-thermal: 69."), 1); /* the first time it is hot */
        assert_int_equal(lease_ends, cases[i].lease_ends);
        if (left_changed > 0)
            fail_msg("%s", changed);
    }
}

static int group_setup(void **state)
{
    (void)state;
    return mkdtemp(dir) == NULL;
}

static int group_teardown(void **state)
{
    (void)state;
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_goes_wrong),
                                       cmocka_unit_test(throttled_once), cmocka_unit_test(hot_at_first),
                                       cmocka_unit_test(at_each_frequency), cmocka_unit_test(with_actions)};
    return cmocka_run_group_tests_name("farm boards", tests, group_setup, group_teardown);
}
