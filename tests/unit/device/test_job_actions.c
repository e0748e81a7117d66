/* What a job does beside measuring: in which order, how often, and what each kind of step asks of the device.
 */
#include <stdio.h>

#include "base/mem.h"
#include "stage_actions.h"
#include "store/rows.h"

#define S INT64_C(1000000000)

/* ---- all goes well ---- */

static void test_each_stage_in_its_place(void **state)
{
    (void)state;
    struct scene t;
    scene_begin(&t, SCENE_JOB "actions:\n"
                              "  before_job: [{run: [bj]}]\n"
                              "  before_session: [{run: [bs]}]\n"
                              "  before_run: [{run: [br, \"{n}\"]}]\n"
                              "  before_window: [{run: [bw]}]\n"
                              "  after_window: [{run: [aw]}]\n"
                              "  after_run: [{run: [ar]}]\n"
                              "  after_session: [{run: [as]}]\n"
                              "  after_job: [{run: [aj]}]\n");
    scene_goes_well(&t);
#define A_RUN "hook br 7 \nrun_begin\nhook bw \nopen\nhook aw \nrun_end\nhook ar \n"
    assert_string_equal(t.a.log.data, "restore\nhook bj \nhook bs \n" A_RUN A_RUN "hook as \nhook aj \n");
    assert_true(stage_told(&t.s, "action.stage {\"stage\":\"before_job\",\"outcome\":\"done\""));
    assert_true(stage_told(&t.s, "\"did\":[\"ran br after 1.00 ms\"],\"more\":0}"));
    scene_end(&t);
}

/* A window that is repeated has them again; a traced one has none. */
static void taint_first(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)s;
    if (run->block > 0 && run->windows == 0)
        w->taint = "cpu.steal_ticks";
}

static void test_repeated_windows(void **state)
{
    (void)state;
    struct scene t;
    scene_begin(&t, SCENE_JOB "trace: {tool: command, argv: [tracer, \"{output}\"]}\n"
                              "actions: {before_window: [{run: [bw]}], after_window: [{run: [aw]}]}\n");
    t.s.script = taint_first;
    t.s.parts.files = (struct qs_files *)(void *)&t.s;
    scene_goes_well(&t);
    assert_int_equal(t.s.traced_windows, 1);
    assert_string_equal(t.a.log.data, "restore\n"
                                      "run_begin\nhook bw \nopen\nhook aw \nrun_end\n"
                                      "run_begin\nhook bw \nopen\nhook aw \nhook bw \nopen\nhook aw \n"
                                      "open\nrun_end\n");
    scene_end(&t);
}

static void test_print_sleep_and_names(void **state)
{
    (void)state;
    struct scene t;
    scene_begin(&t, SCENE_JOB
                "actions: {before_run: [{do: [{print: \"n is {n}\"}, {sleep: 5s}], name: rest}]}\n");
    int64_t began_ns = qs_loop_now_ns(t.s.loop);
    scene_goes_well(&t);
    assert_true(
        stage_told(&t.s, "action.print {\"place\":\"before_run[0].do[0] (rest)\",\"text\":\"n is 7\"}"));
    assert_true(stage_told(
        &t.s, "action.begin {\"place\":\"before_run[0].do[1] (rest)\",\"text\":\"sleep 5.00 s\"}"));
    assert_true(stage_told(&t.s, "\"elapsed_ns\":5000000000,\"did\":[\"slept 5.00 s\"]"));
    assert_in_range(t.a.ended_ns - began_ns, 2 * 5 * S, 2 * 5 * S + S); /* a pilot and a run */
    assert_int_equal(t.s.job->schedule.waited_ns, 5 * S);               /* no measuring */
    scene_end(&t);
}

/* ---- sensors ---- */

static int64_t falls(struct stage *s, unsigned n, enum qs_reading_status *status)
{
    (void)s;
    (void)status;
    return n < 20 ? 60000 - 1000 * (int64_t)n : 40000;
}

static void test_cools_down(void **state)
{
    (void)state;
    struct scene t;
    scene_begin(&t, SCENE_JOB
                "actions: {before_session: [{cool_down: {sensor: \"thermal:cpu-thermal\", below: 45C}}]}\n");
    t.a.says = falls;
    scene_goes_well(&t);
    assert_int_equal(t.a.reads, 16); /* 60 to 45 degrees, once a second */
    assert_true(stage_told(&t.s, "\"did\":[\"thermal:cpu-thermal: 60.0 °C to 45.0 °C in 15.0 s\"]"));
    assert_string_equal(t.a.log.data, "restore\nread\nrun_begin\nopen\nrun_end\nrun_begin\nopen\nrun_end\n");
    scene_end(&t);
}

static void test_never_cool_enough(void **state)
{
    (void)state;
    static const char *const ways[] = {
        SCENE_JOB
        "actions: {before_session: [{cool_down: {sensor: \"thermal:cpu-thermal\", below: 45C, timeout: "
        "30s}}]}\n",
        SCENE_JOB
        "actions: {before_session: [{cool_down: {sensor: \"thermal:cpu-thermal\", below: 45C, timeout: 30s,"
        " on_timeout: go_on}}]}\n"};
    struct scene t;
    scene_begin(&t, ways[0]);
    t.a.says = scene_stays;
    scene_fails(
        &t, "before_session[0]: thermal:cpu-thermal is 60.0 °C, wanted at most 45.0 °C, after 30.0 s; give");
    assert_int_equal(t.s.result.err.code, QS_E_PRECONDITION);
    assert_in_range(t.a.reads, 30, 31);
    assert_int_equal(t.s.run_count, 0);
    assert_true(stage_told(&t.s, "\"outcome\":\"failed\""));
    scene_end(&t);
    scene_begin(&t, ways[1]);
    t.a.says = scene_stays;
    scene_goes_well(&t);
    assert_true(stage_told(&t.s, "job.warning {\"text\":\"before_session: thermal:cpu-thermal is 60.0 °C"));
    scene_end(&t);
}

static int64_t vanishes(struct stage *s, unsigned n, enum qs_reading_status *status)
{
    (void)s;
    *status = n < 3 ? QS_READING_OK : QS_READING_UNREADABLE;
    return 60000;
}

/* It takes until the third look for a reading that is young enough. */
static int64_t is_old_at_first(struct stage *s, unsigned n, enum qs_reading_status *status)
{
    (void)s;
    *status = n < 2 ? QS_READING_STALE : QS_READING_OK;
    return 44000;
}

static void test_what_cannot_be_read(void **state)
{
    (void)state;
    static const char cool[] =
        SCENE_JOB "actions: {before_session: [{cool_down: {sensor: \"thermal:cpu-thermal\", below: 45C}}]}\n";
    struct scene t;
    scene_begin(&t, cool);
    t.a.says = vanishes;
    scene_fails(&t, "before_session[0]: thermal:cpu-thermal cannot be read: it is unreadable");
    assert_int_equal(t.a.reads, 4);
    scene_end(&t);
    scene_begin(&t, cool);
    t.a.says = scene_is_missing;
    scene_fails(&t, "before_session[0]: thermal:cpu-thermal cannot be read: it is missing");
    scene_end(&t);
    scene_begin(&t, cool);
    t.a.says = is_old_at_first;
    scene_goes_well(&t);
    assert_int_equal(t.a.reads, 3);
    scene_end(&t);
}

static int64_t rises_with_load(struct stage *s, unsigned n, enum qs_reading_status *status)
{
    static int64_t mc;
    (void)status;
    mc = n == 0 ? 30000 : s->acting->loaded ? mc + 2000 : mc;
    return mc;
}

static void test_warms_up(void **state)
{
    (void)state;
    struct scene t;
    scene_begin(&t, SCENE_JOB
                "actions:\n"
                "  before_window: [{warm_up: {sensor: \"thermal:cpu-thermal\", above: 40C, cpus: \"0\"}}]\n");
    t.a.says = rises_with_load;
    scene_goes_well(&t);
    assert_string_equal(t.a.log.data, "restore\n"
                                      "run_begin\nread\nload 0 149999\nread\nunload\nopen\nrun_end\n"
                                      "run_begin\nread\nopen\nrun_end\n"); /* warm by then */
    scene_end(&t);
    scene_begin(&t, SCENE_JOB "actions: {before_run: [{warm_up: {for: 10s, cpus: \"0\"}}]}\n");
    int64_t began_ns = qs_loop_now_ns(t.s.loop);
    scene_goes_well(&t);
    assert_string_equal(t.a.log.data, "restore\nload 0 40000\nunload\nrun_begin\nopen\nrun_end\n"
                                      "load 0 40000\nunload\nrun_begin\nopen\nrun_end\n");
    assert_in_range(t.a.ended_ns - began_ns, 20 * S, 21 * S);
    assert_true(stage_told(&t.s, "kept processors busy for 10.0 s"));
    scene_end(&t);
}

static void test_cannot_be_warmed(void **state)
{
    (void)state;
    static const char warm[] = SCENE_JOB "actions: {before_run: [{warm_up: {for: 10s}}]}\n";
    struct scene t;
    scene_begin(&t, warm);
    t.a.no_load = QS_LOAD_NO_CPUS;
    scene_fails(&t, "before_run[0]: processors (all) cannot be kept busy: the agent may not use all of them");
    scene_end(&t);
    scene_begin(&t, warm);
    t.a.load_stays = true;
    scene_fails(&t, "before_run[0]: the processors that were kept busy do not end");
    scene_end(&t);
    scene_begin(&t, SCENE_JOB "actions: {before_run: [{warm_up: {for: 10s, cpus: big}}]}\n");
    scene_fails(&t, "before_run[0]: ");
    assert_int_equal(t.a.loads, 0);
    scene_end(&t);
    scene_begin(
        &t, SCENE_JOB
        "actions: {before_run: [{warm_up: {sensor: \"thermal:cpu-thermal\", above: 90C, timeout: 9s}}]}\n");
    t.a.says = scene_stays;
    scene_fails(&t, "before_run[0]: thermal:cpu-thermal is 60.0 °C, wanted at least 90.0 °C, after 9.0");
    assert_true(strstr(t.a.log.data, "read\nload  39000\nread\nunload\n") ||
                strstr(t.a.log.data, "read\nload  38999\nread\nunload\n")); /* before it is told */
    scene_end(&t);
}

#define BRANCHES                                                                                             \
    "then: [{run: [cold]}], else: [{if: {sensor: \"thermal:cpu-thermal\", above: 80C}, then: [{run: "        \
    "[hot]}],"                                                                                               \
    " else: [{run: [mild]}]}]"

static int64_t is_mild(struct stage *s, unsigned n, enum qs_reading_status *status)
{
    (void)s;
    (void)n;
    (void)status;
    return 45001;
}

static void test_branches(void **state)
{
    (void)state;
    static const struct {
        int64_t (*says)(struct stage *s, unsigned n, enum qs_reading_status *status);
        const char *unreadable, *hooks;
    } cases[] = {{NULL, "fail", "cold "},
                 {is_mild, "fail", "mild "},
                 {scene_is_missing, "then", "cold "},
                 {scene_is_missing, "else", NULL},
                 {scene_is_missing, "fail", NULL},
                 {is_old_at_first, "fail", "cold "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene t;
        char job[1000];
        snprintf(job, sizeof job,
                 SCENE_JOB
                 "actions: {before_session: [{if: {sensor: \"thermal:cpu-thermal\", band: [0C, 45C]},"
                 " unreadable: %s, " BRANCHES "}, {run: [next]}]}\n",
                 cases[i].unreadable);
        scene_begin(&t, job);
        t.a.says = cases[i].says;
        if (!cases[i].hooks) {
            scene_fails(&t, "thermal:cpu-thermal cannot be read: it is missing");
            assert_string_equal(t.s.hooks.data, "");
        } else {
            stage_go(&t.s);
            char want[32];
            snprintf(want, sizeof want, "%snext ", cases[i].hooks);
            assert_string_equal(t.s.hooks.data, want);
        }
        scene_end(&t);
    }
}

/* An agent reads so many sensors and no more: what a step names is among them. */
static void test_its_sensors_come_first(void **state)
{
    (void)state;
    static const char job[] =
        SCENE_JOB "actions: {before_session: [{do: [{if: {sensor: \"%s\", below: 90C}, then: [{sleep: 1s}],"
                  " unreadable: then}]}]}\n";
    static const char *const named[] = {"thermal:zone-98", "thermal:zone-99"};
    for (size_t k = 0; k < 2; k++) {
        struct scene t;
        char text[1000];
        snprintf(text, sizeof text, job, named[k]);
        scene_begin(&t, text);
        for (unsigned i = 20; i < 100; i++) {
            char path[64], type[32];
            snprintf(path, sizeof path, "class/thermal/thermal_zone%u/type", i);
            snprintf(type, sizeof type, "zone-%u", i);
            stage_file_add(&t.c, path, type, false);
            snprintf(path, sizeof path, "class/thermal/thermal_zone%u/temp", i);
            stage_file_add(&t.c, path, "40000", false);
        }
        scene_goes_well(&t);
        assert_non_null(strstr(t.c.log.data, named[k]));
        assert_null(strstr(t.c.log.data, named[1 - k]));
        scene_end(&t);
    }
}

/* ---- files ---- */

static const char write_job[] =
    SCENE_JOB "actions:\n"
              "  before_session: [{write: {file: " SCENE_FILE ", value: \"1200000\"}}]\n"
              "  before_window: [{write: {file: " SCENE_FILE ", value: \"{n}00000\"}}]\n";

static void check_written(struct stage *s, uint32_t arm)
{
    (void)arm;
    assert_string_equal(stage_policy_says(s->control, 0, "scaling_max_freq"),
                        s->run_count == 1 ? "1200000" : "700000");
}

static void test_writes_and_puts_back(void **state)
{
    (void)state;
    struct scene t;
    scene_begin(&t, write_job);
    t.c.on_run = check_written;
    scene_goes_well(&t);
    assert_string_equal(t.a.log.data, "restore\ntune\nrun_begin\ntune\nopen\nrun_end\n"
                                      "run_begin\ntune\nopen\nrun_end\nrestore\n");
    assert_string_equal(t.c.stored.data,
                        "policy0/scaling_max_freq 1200000: 1800000, 1200000: set\n"
                        "policy0/scaling_max_freq 700000: 1200000, 700000: set\n"
                        "policy0/scaling_max_freq 700000: 700000, 700000: same\n"
                        "policy0/scaling_max_freq 1800000: 1800000, 1800000: set restored\n");
    assert_true(stage_told(&t.s, "\"did\":[\"wrote `1200000` to " SCENE_FILE ", which said `1800000`\"]"));
    assert_true(stage_all_put_back(&t.c));
    scene_end(&t);
}

/* Other conditions begin with everything put back: what actions have written is written again. */
static void check_held(struct stage *s, uint32_t arm)
{
    assert_string_equal(stage_policy_says(s->control, 0, "scaling_governor"), "performance");
    assert_string_equal(stage_policy_says(s->control, 0, "scaling_max_freq"),
                        arm == 0 ? "1800000" : "600000");
    assert_string_equal(s->control->files[s->control->file_count - 1].value, "9");
}

static void test_stands_under_any_conditions(void **state)
{
    (void)state;
    struct scene t;
    scene_begin(
        &t,
        "quiesce: 1\n"
        "benchmarks: [{name: work, argv: [work]}]\n"
        "arms: {top: {conditions: default}, low: {conditions: low}}\n"
        "plan: {seed: 1, blocks: 2, until: {interval: 0}, warmup: {iterations: 1}, window: {iterations: 2}}\n"
        "conditions: {frequency: max}\ncondition_sets: {low: {frequency: min}}\n"
        "actions: {before_session: [{write: {file: class/leds/red/brightness, value: \"9\"}}]}\n");
    stage_file_add(&t.c, "class/leds/red/brightness", "0", true);
    t.c.on_run = check_held;
    scene_goes_well(&t);
    assert_true(t.c.restores >= 3); /* the sets took turns */
    assert_true(stage_all_put_back(&t.c));
    scene_end(&t);
}

static void test_cannot_be_written(void **state)
{
    (void)state;
    static const struct {
        enum qs_tune_outcome odd;
        const char *says, *text;
    } cases[] = {{QS_TUNE_SLIPPED, "1500000",
                  "writing `1200000` to " SCENE_FILE " failed, it says `1500000`: it did not stay"},
                 {QS_TUNE_REFUSED, NULL, "failed: the device refused it"},
                 {QS_TUNE_UNREADABLE, NULL, "failed: the file cannot be read, so it could not be put back"},
                 {QS_TUNE_UNJOURNALLED, NULL, "failed: what the file said could not be saved on the device"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene t;
        scene_begin(&t, write_job);
        t.c.odd_file = "policy0/scaling_max_freq";
        t.c.odd = cases[i].odd;
        t.c.odd_text = cases[i].says;
        scene_fails(&t, cases[i].text);
        assert_true(stage_all_put_back(&t.c)); /* it may have been changed all the same */
        assert_int_equal(t.c.restores, 2);
        scene_end(&t);
    }
    struct scene t;
    scene_begin(&t, SCENE_JOB
                "actions: {before_session: [{write: {file: class/leds/red/brightness, value: \"9\"}}]}\n");
    scene_fails(
        &t,
        "before_session[0]: writing `9` to class/leds/red/brightness failed: the device has no such file");
    scene_end(&t);
}

static void test_profiles_avoid_files(void **state)
{
    (void)state;
    struct scene t;
    scene_begin(&t,
                SCENE_JOB "actions: {before_session: [{write: {file: class/thermal/cooling_device0/cur_state,"
                          " value: \"1\"}}]}\n");
    stage_file_add(&t.c, "class/thermal/cooling_device0/cur_state", "0", true);
    for (size_t i = 0; i < t.c.farm.profiles.count; i++) {
        struct qs_profile *p = t.c.farm.profiles.at[i];
        if (strcmp(p->name, "generic") != 0)
            continue;
        p->avoid.at = qs_realloc(p->avoid.at, (p->avoid.count + 1) * sizeof *p->avoid.at);
        p->avoid.at[p->avoid.count++] = qs_strdup("class/thermal/cooling_device*/cur_state");
    }
    scene_fails(&t,
                "before_session[0]: class/thermal/cooling_device0/cur_state is never written: the profile "
                "generic avoids it");
    assert_int_equal(t.s.result.err.code, QS_E_DENIED);
    assert_int_equal(t.c.tunes, 0);
    scene_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_stage_in_its_place),
        cmocka_unit_test(test_repeated_windows),
        cmocka_unit_test(test_print_sleep_and_names),
        cmocka_unit_test(test_cools_down),
        cmocka_unit_test(test_never_cool_enough),
        cmocka_unit_test(test_what_cannot_be_read),
        cmocka_unit_test(test_warms_up),
        cmocka_unit_test(test_cannot_be_warmed),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_its_sensors_come_first),
        cmocka_unit_test(test_writes_and_puts_back),
        cmocka_unit_test(test_stands_under_any_conditions),
        cmocka_unit_test(test_cannot_be_written),
        cmocka_unit_test(test_profiles_avoid_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
