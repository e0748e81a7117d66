/* A simulated device that has a board: its files are found as the tree has them, work lasts as the model's
 * clock runs, and what was changed is put back by whoever has to. */
#include "sim_device.h"
#include "sim_world.h"

#include "proto/names.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TREE      QS_TREES "/rock5b-rk3588.tree.tsv"
#define POLICY4   "devices/system/cpu/cpufreq/policy4/"
#define S         INT64_C(1000000000)
#define MAX4      POLICY4 "scaling_max_freq"
#define MIN4      POLICY4 "scaling_min_freq"
#define GOVERNOR4 POLICY4 "scaling_governor"

static struct qs_sim_bed *bed_of(const struct qs_sim_event *events, size_t n)
{
    struct qs_sim_bed *bed = malloc(sizeof *bed);
    if (!qs_sim_bed_open(bed, TREE, events, n)) {
        fail_msg("%s", bed->why);
    }
    return bed;
}

static struct qs_sim_options on_board(struct qs_sim_bed *bed)
{
    return (struct qs_sim_options){.seed = 1, .clock_offset_ns = 5000 * MS, .thermal_tau_ns = S, .bed = bed};
}

/* The paths of the tree's text between these two, sorted as in the text. */
static size_t count_in_tree(const char *from, const char *end)
{
    char line[8192];
    size_t n = 0;
    FILE *file = fopen(TREE, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *tab = strchr(line, '\t');
        size_t m = strlen(end);
        n += tab && strncmp(line, from, strlen(from)) == 0 && (size_t)(tab - line) > m &&
             strncmp(tab - m, end, m) == 0;
    }
    fclose(file);
    return n;
}

static size_t find_all(struct qs_sim *sim, const char *pattern, const char *first, const char *last)
{
    struct qs_port_found found;
    char after[256] = "";
    size_t n = 0;
    while (qs_sim_find(sim, pattern, after, &found)) {
        assert_true(strcmp(found.path, after) > 0);
        assert_true(n > 0 || strcmp(found.path, first) == 0);
        snprintf(after, sizeof after, "%s", found.path);
        n++;
    }
    assert_string_equal(after, last);
    return n;
}

static void finds_what_the_tree_has(void **state)
{
    struct qs_sim_bed *bed = bed_of(NULL, 0);
    const struct qs_sim_options options = on_board(bed);
    struct qs_port_found found;
    struct device d;
    (void)state;
    device_init(&d, &options);
    assert_int_equal(find_all(d.sim, "devices/system/cpu/cpufreq/policy4/scaling_*",
                              POLICY4 "scaling_available_frequencies", POLICY4 "scaling_setspeed"),
                     count_in_tree("/sys/" POLICY4 "scaling_", ""));
    assert_int_equal(find_all(d.sim, "class/thermal/thermal_zone*/temp", "class/thermal/thermal_zone0/temp",
                              "class/thermal/thermal_zone6/temp"),
                     count_in_tree("/sys/devices/virtual/thermal/thermal_zone", "/temp"));
    assert_false(qs_sim_find(d.sim, "class/thermal/*", "", &found)); /* folders and links are no files */
    assert_false(qs_sim_find(d.sim, "../sys/kernel/*", "", &found));
    assert_true(qs_sim_find(d.sim, GOVERNOR4, "", &found));
    assert_int_equal(found.access, 3);
    assert_memory_equal(found.value, "schedutil\n", found.n);
    assert_true(qs_sim_find(d.sim, POLICY4 "scaling_cur_freq", "", &found));
    assert_int_equal(found.access, 1);
    device_done(&d);
    free(bed);
}

static void put(struct qs_sim_bed *bed, const char *path, const char *value)
{
    char whole[256];
    snprintf(whole, sizeof whole, "sys/%s", path);
    assert_int_equal(qs_vboard_write(&bed->board, whole, 0, value, strlen(value)), 0);
}

static void tell(struct qs_sim_bed *bed, const char *line)
{
    if (!qs_vboard_command(&bed->board, line)) {
        fail_msg("%s", bed->board.why);
    }
}

/* Written is not slower: what counts is how the clock runs. A file that takes a value without any effect
 * changes no duration, and one that is throttled without a write does. */
static void work_lasts_as_the_clock_runs(void **state)
{
    static const struct {
        const char *fault, *max;
        int64_t lasts_ns;
    } cases[] = {{NULL, "2400000", S / 10},
                 {NULL, "1200000", S / 5},
                 {"inert " MAX4, "1200000", S / 10},
                 {"refuse " MIN4 " EBUSY", "1800000", 133333334}};
    static const char *const argv[] = {"sim", "100000000", "exact", NULL};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct qs_sim_bed *bed = bed_of(NULL, 0);
        const struct qs_sim_options options = on_board(bed);
        struct world w;
        int64_t durations[3];
        world_init(&w, &options);
        put(bed, "devices/system/cpu/cpufreq/policy6/scaling_governor", "powersave");
        put(bed, GOVERNOR4, "performance");
        if (cases[i].fault) {
            tell(bed, cases[i].fault);
        }
        put(bed, MAX4, cases[i].max);
        measure(&w, argv, 3, durations);
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(durations[k], cases[i].lasts_ns);
        }
        world_done(&w);
        free(bed);
    }
}

/* Throttled without any write. */
static void the_clock_falls_while_it_works(void **state)
{
    static const struct qs_sim_event hot = {.window = 1, .at_ns = S, .words = "heat 99"};
    static const char *const argv[] = {"sim", "3000000000", "exact", NULL};
    struct qs_sim_bed *bed = bed_of(&hot, 1);
    const struct qs_sim_options options = on_board(bed);
    struct world w;
    int64_t durations[1];
    (void)state;
    world_init(&w, &options);
    put(bed, GOVERNOR4, "performance");
    measure(&w, argv, 1, durations);
    assert_true(durations[0] > 3300 * MS); /* a second at 2.4 GHz, then a step down each tenth of one */
    assert_true(durations[0] < 5000 * MS); /* never below half of it */
    assert_int_equal(bed->windows, 1);
    world_done(&w);
    free(bed);
}

/* It heats what it runs on, and only while it runs. */
static void work_is_load(void **state)
{
    static const char *const argv[] = {"sim", "20000000000", "exact", NULL};
    struct qs_sim_bed *bed = bed_of(NULL, 0);
    const struct qs_sim_options options = on_board(bed);
    struct world w;
    char mc[QS_VBOARD_TEXT_BYTES];
    int64_t durations[1];
    (void)state;
    world_init(&w, &options);
    measure(&w, argv, 1, durations);
    qs_sim_file_read(w.sim, "class/thermal/thermal_zone1/temp", mc, sizeof mc);
    assert_true(atoi(mc) >
                46000); /* 40.7 at rest; two of eight processors, for longer than the time constant */
    qs_sim_on_time(w.sim, w.now_ns + 25 * S);
    qs_sim_file_read(w.sim, "class/thermal/thermal_zone1/temp", mc, sizeof mc);
    assert_in_range(atoi(mc), 40600, 43000);
    world_done(&w);
    free(bed);
}

/* So are processors that the host asks to keep busy. */
static void a_load_is_load(void **state)
{
    static const struct {
        const char *cpus;
        uint8_t outcome;
        int least_mc, most_mc;
    } cases[] = {{"", QS_LOAD_ON, 78000, 96000}, /* 55 degrees more, but for the fan */
                 {"4-7", QS_LOAD_ON, 60000, 72000},
                 {"0-8", QS_LOAD_NO_CPUS, 40600, 40800},
                 {"x", QS_LOAD_NO_CPUS, 40600, 40800}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct qs_sim_bed *bed = bed_of(NULL, 0);
        const struct qs_sim_options options = on_board(bed);
        struct device d;
        char mc[QS_VBOARD_TEXT_BYTES];
        device_init(&d, &options);
        put(bed, "devices/virtual/thermal/thermal_zone1/mode", "disabled");
        assert_int_equal(d.port->load.start(d.sim, cases[i].cpus), cases[i].outcome);
        qs_sim_on_time(d.sim, BEGAN_NS + 75 * S);
        qs_sim_file_read(d.sim, "class/thermal/thermal_zone1/temp", mc, sizeof mc);
        assert_in_range(atoi(mc), cases[i].least_mc, cases[i].most_mc);
        assert_true(d.port->load.stop(d.sim));
        qs_sim_on_time(d.sim, BEGAN_NS + 250 * S);
        qs_sim_file_read(d.sim, "class/thermal/thermal_zone1/temp", mc, sizeof mc);
        assert_in_range(atoi(mc), 40600, 40800);
        device_done(&d);
        free(bed);
    }
}

static void a_harness_program_works_too(void **state)
{
    static const char *const argv[] = {"sim", "1000000", "exact", NULL};
    struct qs_sim_bed *bed = bed_of(NULL, 0);
    const struct qs_sim_options options = on_board(bed);
    struct world w;
    struct qs_msg_closed closed;
    struct qs_msg_iterations m;
    struct qs_row row;
    uint32_t n = 0;
    (void)state;
    world_init(&w, &options);
    put(bed, "devices/system/cpu/cpufreq/policy6/scaling_governor", "powersave");
    put(bed, GOVERNOR4, "performance");
    put(bed, MAX4, "1200000");
    peer_run_begin(&w.peer, &(struct run_spec){.argv = argv, .benchmark = "b", .capacity = 4096});
    expect(&w, QS_MSG_RUN_READY);
    peer_open(&w.peer, &(struct open_spec){.iterations = 10, .evals = 7});
    expect(&w, QS_MSG_ARM);
    peer_window(&w.peer, QS_MSG_QUIET, 0);
    const struct letter *l = expect(&w, QS_MSG_CLOSED);
    assert_int_equal(qs_msg_decode_closed(l->payload, l->n, &closed), 0);
    assert_int_equal(closed.how, QS_CLOSED_DONE);
    l = expect(&w, QS_MSG_ITERATIONS);
    assert_int_equal(qs_msg_decode_iterations(l->payload, l->n, &m), 0);
    struct qs_iter it = qs_list_iter(&m.rows);
    for (; qs_list_row(&it, 1, &row); n++) {
        assert_int_equal(row.duration_ns, 14 * MS); /* at half the highest frequency */
        assert_int_equal(row.values[0], 7);
    }
    assert_int_equal(n, 10);
    world_done(&w);
    free(bed);
}

/* ---- what is changed for a while ---- */

static enum qs_tune_outcome tune(struct device *d, const char *path, const char *value, uint8_t flags)
{
    struct qs_sim_bed *bed = d->sim->options.bed;
    d->port->control->tune(d->sim, path, value, flags);
    assert_true(bed->question.due_ns > d->sim->now_ns); /* never at once */
    qs_sim_on_time(d->sim, bed->question.due_ns);
    return (enum qs_tune_outcome)bed->answer.outcome;
}

static const char *says(struct device *d, const char *path)
{
    static char text[QS_VBOARD_TEXT_BYTES];
    return qs_sim_file_read(d->sim, path, text, sizeof text) < 0 ? "" : text;
}

static void each_write_has_its_outcome(void **state)
{
    static const struct {
        const char *fault, *path, *value;
        enum qs_tune_outcome outcome;
        int32_t error;
        const char *before;
    } cases[] = {
        {NULL, GOVERNOR4, "performance", QS_TUNE_SET, 0, "schedutil"},
        {NULL, MAX4, "2400000", QS_TUNE_SAME, 0, "2400000"},
        {NULL, MAX4, "1000", QS_TUNE_REFUSED, EINVAL, "2400000"},
        {"refuse " MAX4 " EBUSY", MAX4, "1800000", QS_TUNE_REFUSED, EBUSY, "2400000"},
        {"lie " MAX4 " with EIO", MAX4, "1800000", QS_TUNE_UNREADABLE, EIO, ""},
        {"vanish " MAX4, MAX4, "1800000", QS_TUNE_MISSING, ENOENT, ""},
        {"slow " MAX4 " 5000", MAX4, "1800000", QS_TUNE_TIMEOUT, 0, ""},
        {"slow " MAX4 " 100", MAX4, "1800000", QS_TUNE_SET, 0, "2400000"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct qs_sim_bed *bed = bed_of(NULL, 0);
        const struct qs_sim_options options = on_board(bed);
        struct device d;
        device_init(&d, &options);
        if (cases[i].fault) {
            tell(bed, cases[i].fault);
        }
        assert_string_equal(qs_tune_outcome_name(tune(&d, cases[i].path, cases[i].value, 0)),
                            qs_tune_outcome_name(cases[i].outcome));
        assert_int_equal(bed->answer.error, cases[i].error);
        assert_string_equal(bed->answer.before, cases[i].before);
        assert_int_equal(bed->knob_count,
                         cases[i].outcome == QS_TUNE_SET || cases[i].outcome == QS_TUNE_REFUSED);
        device_done(&d);
        free(bed);
    }
}

/* When nobody is heard any more: all of it, in the order that the limits need. */
static void a_lease_ends(void **state)
{
    struct qs_sim_bed *bed = bed_of(NULL, 0);
    const struct qs_sim_options options = on_board(bed);
    struct device d;
    (void)state;
    device_init(&d, &options);
    assert_int_equal(tune(&d, MAX4, "1800000", 0), QS_TUNE_SET);
    assert_int_equal(tune(&d, MIN4, "1800000", 0), QS_TUNE_SET);
    assert_int_equal(tune(&d, MAX4, "2016000", 0), QS_TUNE_SET); /* the first value stays what is put back */
    d.port->control->lease(d.sim, 1, 2 * S);
    int64_t end_ns = d.sim->now_ns + 2 * S;
    qs_sim_on_time(d.sim, end_ns - 1);
    assert_string_equal(says(&d, MAX4), "2016000");
    assert_string_equal(bed->restored, "none");
    qs_sim_on_time(d.sim, end_ns);
    assert_string_equal(says(&d, MAX4), "2400000");
    assert_string_equal(says(&d, MIN4), "1200000");
    assert_int_equal(bed->knob_count, 0);
    assert_string_equal(bed->restored,
                        "2 of 2, because the host was not heard for as long as its lease: " MIN4
                        "=1200000, " MAX4 "=2400000");
    device_done(&d);
    free(bed);
}

/* A file that is refused as long as another one stands elsewhere has a second turn. */
static void what_waits_is_put_back_last(void **state)
{
    struct qs_sim_bed *bed = bed_of(NULL, 0);
    const struct qs_sim_options options = on_board(bed);
    struct device d;
    (void)state;
    device_init(&d, &options);
    put(bed, MAX4, "1800000");
    assert_int_equal(tune(&d, MIN4, "1416000", 0), QS_TUNE_SET);
    assert_int_equal(tune(&d, MAX4, "2400000", 0), QS_TUNE_SET);
    assert_int_equal(tune(&d, MIN4, "2400000", 0), QS_TUNE_SET);
    qs_sim_knobs_lease_end(d.sim);
    assert_string_equal(says(&d, MAX4), "1800000");
    assert_string_equal(says(&d, MIN4), "1200000");
    assert_int_equal(tune(&d, MIN4, "1800000", 0), QS_TUNE_SET);
    tell(bed, "refuse " MIN4 " EBUSY");
    qs_sim_knobs_lease_end(d.sim);
    assert_string_equal(bed->restored,
                        "0 of 1, because the host was not heard for as long as its lease: not " MIN4
                        "=1200000 (refused)");
    assert_int_equal(bed->knob_count, 1); /* it is tried again by the next RESTORE */
    device_done(&d);
    free(bed);
}

static void a_reboot_undoes_what_is_not_persistent(void **state)
{
    static const struct qs_sim_event events[] = {{.at_ns = 10 * S, .words = "reboot 2000"},
                                                 {.at_ns = 5 * S, .words = "heat 80"}};
    struct qs_sim_bed *bed = bed_of(events, 2);
    const struct qs_sim_options options = on_board(bed);
    struct device d;
    char boot[40];
    (void)state;
    device_init(&d, &options);
    snprintf(boot, sizeof boot, "%s", d.sim->boot_id);
    assert_int_equal(tune(&d, MAX4, "1800000", 0), QS_TUNE_SET);
    assert_int_equal(tune(&d, GOVERNOR4, "performance", QS_TUNE_PERSISTENT), QS_TUNE_SET);
    qs_sim_on_time(d.sim, BEGAN_NS + 10 * S);
    assert_string_equal(says(&d, MAX4), "2400000");
    assert_string_equal(says(&d, GOVERNOR4), "schedutil");
    assert_true(atoi(says(&d, "class/thermal/thermal_zone1/temp")) > 60000); /* it is as hot as before */
    assert_string_equal(bed->restored,
                        "1 of 1, because the device was restarted before the agent could do it: " GOVERNOR4
                        "=schedutil");
    assert_string_not_equal(boot, d.sim->boot_id);
    assert_false(qs_sim_takes_link(d.sim));
    qs_sim_on_time(d.sim, BEGAN_NS + 12 * S);
    assert_true(qs_sim_takes_link(d.sim));
    device_done(&d);
    free(bed);
}

static void says_what_is_wrong_with_it(void **state)
{
    static const struct {
        const char *tree, *words, *why;
    } cases[] = {{"/nosuch", "load 5", "/nosuch: No such file or directory"},
                 {QS_TREES "/sources.json", "load 5", "line 1: it has not the five fields of a tree"},
                 {TREE, "heet 95", "`heet 95`: heet: there is no such word"},
                 {TREE, "refuse nosuch EBUSY", "`refuse nosuch EBUSY`: refuse: there is no file nosuch"},
                 {TREE, "unplug soon", "`unplug soon`: unplug: "},
                 {TREE, "reboot 0", "`reboot 0`: reboot: "}};
    struct qs_sim_bed *bed = malloc(sizeof *bed);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct qs_sim_event event = {.words = cases[i].words};
        assert_false(qs_sim_bed_open(bed, cases[i].tree, &event, 1));
        if (!strstr(bed->why, cases[i].why)) {
            fail_msg("%s", bed->why);
        }
    }
    free(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_the_tree_has),
        cmocka_unit_test(work_lasts_as_the_clock_runs),
        cmocka_unit_test(the_clock_falls_while_it_works),
        cmocka_unit_test(work_is_load),
        cmocka_unit_test(a_load_is_load),
        cmocka_unit_test(a_harness_program_works_too),
        cmocka_unit_test(each_write_has_its_outcome),
        cmocka_unit_test(a_lease_ends),
        cmocka_unit_test(what_waits_is_put_back_last),
        cmocka_unit_test(a_reboot_undoes_what_is_not_persistent),
        cmocka_unit_test(says_what_is_wrong_with_it),
    };
    return cmocka_run_group_tests_name("agent.sim_board", tests, NULL, NULL);
}
