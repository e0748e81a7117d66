/* `frequency: hold` on simulated boards, in virtual time: their governors follow the load, and nothing of
 * them is written. The board itself tells whether its clock was where it is said to be. */
#include "bed.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sim/port.h"
#include "store/read/read.h"

static struct bed *bed;
static struct qs_sim_bed *seen; /* of the one device */
static char said[1 << 16];
static size_t clean, tainted; /* iterations, in runs of counted blocks */

bool __real_qs_sim_bed_open(struct qs_sim_bed *bed, const char *tree, const struct qs_sim_event *events,
                            size_t n);
bool __wrap_qs_sim_bed_open(struct qs_sim_bed *bed, const char *tree, const struct qs_sim_event *events,
                            size_t n);

bool __wrap_qs_sim_bed_open(struct qs_sim_bed *its, const char *tree, const struct qs_sim_event *events,
                            size_t n)
{
    seen = its;
    return __real_qs_sim_bed_open(its, tree, events, n);
}

static size_t number_of(const char *json, const char *key)
{
    const char *at = strstr(json, key);
    assert_non_null(at);
    return (size_t)strtoull(at + strlen(key), NULL, 10);
}

static void on_event(const struct qs_farm_event *event, void *user)
{
    (void)user;
    if (strcmp(event->kind, "run.done") == 0 && !strstr(event->body_json, "\"block\":0,")) {
        clean += number_of(event->body_json, "\"n\":");
        tainted += number_of(event->body_json, "\"tainted\":");
    }
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s %s\n", event->kind, event->body_json);
}

static void on_idle(void *user)
{
    (void)user;
    qs_farm_stop(bed->farm, bed_on_stopped, bed);
}

static void on_submitted(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    (void)user;
    assert_null(err);
}

static void expect(const char *what)
{
    if (strstr(said, what) == NULL)
        fail_msg("no `%s` in: %.6000s", what, said);
}

static char taints[4096]; /* of all windows, between blanks */

static bool has_taint(const char *code)
{
    QS_FREED char *word = qs_asprintf(" %s ", code);
    return strstr(taints, word) != NULL;
}

static uint32_t windows, windows_tainted, windows_left; /* by what reports read */

static bool count_windows(struct qs_store_reader *r, void *user, struct qs_err *err)
{
    struct qs_measured_runs runs;
    (void)user;
    windows = windows_tainted = windows_left = 0;
    if (!qs_read_measured_runs(r, 1, &runs, err))
        return false;
    for (size_t i = 0; i < runs.count; i++) {
        for (size_t k = 0; k < QS_SILENCES; k++)
            windows += runs.at[i].windows[k];
        windows_tainted += runs.at[i].windows_tainted;
        windows_left += runs.at[i].windows_left;
    }
    qs_measured_runs_free(&runs);
    return true;
}

static void read_taints(const struct bed *b)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    taints[0] = '\0';
    assert_int_equal(sqlite3_open(b->db, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT DISTINCT code FROM v_taint", -1, &st, NULL), SQLITE_OK);
    while (sqlite3_step(st) == SQLITE_ROW)
        snprintf(taints + strlen(taints), sizeof taints - strlen(taints), " %s ",
                 (const char *)sqlite3_column_text(st, 0));
    sqlite3_finalize(st);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void live(const char *tree, const char *events, const char *conditions)
{
    struct bed b;
    QS_FREED char *farm = qs_asprintf("devices: {board: {link: sim, sim_seed: 1, sim_board: %s/%s.tree.tsv, "
                                      "sim_events: [{do: load 5}%s]}}\n",
                                      QS_TREES, tree, events);
    QS_FREED char *job = qs_asprintf(
        "quiesce: 1\nbenchmarks: [{name: work, argv: [sim, \"400000000\"]}]\n"
        "conditions: {frequency: hold, bounds: none%s}\n"
        "plan: {blocks: 6, window: {iterations: 3}, warmup: {iterations: 1}, until: {interval: 0}}\n",
        conditions);
    const struct qs_submission sub = {.text = job, .text_bytes = strlen(job), .name = "job"};
    said[0] = '\0';
    clean = tainted = 0;
    bed = &b;
    bed_init(&b, farm);
    b.events = (struct qs_farm_events){.on_event = on_event, .on_idle = on_idle};
    bed_begin(&b, INT64_C(1000000000000000), 1);
    assert_true(bed_submit(&b, &sub, NULL, on_submitted, NULL, NULL));
    qs_loop_run(b.loop);
    assert_int_equal(seen->board.logged, 0); /* writes */
    assert_int_equal(seen->knob_count, 0);
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_store_read_now(b.store, count_windows, NULL, &err));
    bed_end(&b);
    read_taints(&b);
    bed_done(&b);
}

/* Every board, whoever may write what: all windows are clean, and none of them is waited for. */
static void on_every_board(void **state)
{
    static const struct {
        const char *tree, *cpus, *held;
    } boards[] = {{"huawei-p8lite2017", ", affinity: big", "policy4: 2112 MHz (its highest;"},
                  {"odroid-xu3", ", affinity: big", "policy4: 2000 MHz (its highest;"},
                  {"pixel6-oriole", ", affinity: prime", "policy6: 2802 MHz (its highest;"},
                  {"rock5b-rk3588", ", affinity: \"6-7\"", "policy6: 2400 MHz (its highest;"},
                  {"rpi4b", ", affinity: all", "policy0: 1500 MHz (its highest;"},
                  {"sony-xperia-z-unrooted", ", affinity: \"0\"", "cpu0: 1512 MHz (its highest;"}};
    (void)state;
    for (size_t i = 0; i < sizeof boards / sizeof *boards; i++) {
        live(boards[i].tree, "", boards[i].cpus);
        expect("\"state\":\"done\"");
        expect(boards[i].held);
        print_message("# %s: %zu clean, %zu tainted\n", boards[i].tree, clean, tainted);
        assert_int_equal(clean, 18);
        assert_int_equal(tainted, 0);
        assert_null(strstr(said, "leaves idle"));
    }
}

/* Of processors that the program leaves idle the clock falls: that is told before, and taints. */
static void idle_clocks_fall(void **state)
{
    (void)state;
    live("pixel6-oriole", "", ", repeat_tainted: 0");
    expect("\"state\":\"done\"");
    expect("the job may use processors of 3 clocks: of those that it leaves idle");
    assert_int_equal(clean, 0);
    assert_int_equal(tainted, 18);
    assert_int_equal(windows, 6);
    assert_int_equal(windows_tainted, 6);
    assert_int_equal(windows_left, 6);
    live("pixel6-oriole", "", ", repeat_tainted: 2"); /* it goes on with what it has */
    expect("\"state\":\"done\"");
    assert_int_equal(windows, 3 * 6);
    assert_int_equal(windows_tainted, 3 * 6);
    assert_int_equal(windows_left, 6);
    assert_true(has_taint("residency:policy0") && has_taint("transitions:policy4"));
    assert_false(has_taint("residency:policy6") || has_taint("pin:policy0.max"));
}

/* Of one that throttles in a window that window is tainted, and repeated when it has cooled down. */
static void what_throttles_taints(void **state)
{
    (void)state;
    live("rock5b-rk3588", ", {window: 3, at: 100ms, do: heat 99}",
         ", affinity: \"6-7\", repeat_tainted: 3, gate: [{sensor: 'thermal:bigcore0-thermal', below: 60C, "
         "timeout: 5min, "
         "on_timeout: fail}]");
    expect("\"state\":\"done\"");
    expect("\"taint\":\"evidence\"");
    assert_int_equal(clean, 18);
    assert_in_range(tainted, 3, 6);
    assert_int_equal(windows, 6 + tainted / 3);
    assert_int_equal(windows_tainted, tainted / 3);
    assert_int_equal(windows_left, 0);
    assert_true(has_taint("residency:policy6") && has_taint("transitions:policy6") &&
                has_taint("pin:policy6.max"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_every_board), cmocka_unit_test(idle_clocks_fall),
                                       cmocka_unit_test(what_throttles_taints)};
    return cmocka_run_group_tests_name("farm hold", tests, NULL, NULL);
}
