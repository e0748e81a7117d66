/* What else a job wants set on its device: governors, switches, processors on and off, and where it runs.
 * What is asked of the device for it, in which order, and what it finds in its runs. */
#include <errno.h>
#include <stdio.h>

#include "stage_control.h"

#define PLAN                                                                                                 \
    "plan: {seed: 1, blocks: {min: 2, max: 2}, until: {interval: 0%}, warmup: {iterations: 1},"              \
    " window: {iterations: 2}}\n"
#define ONE_ARM                                                                                              \
    "quiesce: 1\n"                                                                                           \
    "benchmarks: [{name: work, argv: [work]}]\n" PLAN
#define CPU     "devices/system/cpu/"
#define SENSORS " thermal:cpu-thermal(class/thermal/thermal_zone0/temp)=-30000..130000/1\n"

struct bed {
    struct stage s;
    struct stage_control c;
    struct stage_file *online, *boost;
};

/* policy0 drives processors 0 and 1, policy2 the faster 2 and 3, which is there while processor 2 is on. */
static void begin(struct bed *b, const char *job)
{
    stage_control_begin(&b->s, &b->c, job);
    stage_file_add(&b->c, CPU "present", "0-3", false);
    b->online = stage_file_add(&b->c, CPU "cpu2/online", "1", true);
    stage_file_add(&b->c, CPU "cpu3/online", "1", true);
    b->boost = stage_file_add(&b->c, CPU "cpufreq/boost", "1", true);
    stage_file_add(&b->c, CPU "cpu0/cpuidle/state0/disable", "0", true);
    stage_file_add(&b->c, CPU "cpu0/cpuidle/state1/disable", "0", true);
    stage_file_add(&b->c, "class/power_supply/battery/charging_enabled", "1", true);
    size_t before = b->c.file_count;
    stage_policy_add(&b->c, 2, "500000 2000000");
    for (size_t i = 0; i < b->c.file_count; i++) {
        struct stage_file *f = &b->c.files[i];
        f->needs = i < before ? NULL : b->online;
        if (strstr(f->path, "related_cpus"))
            snprintf(f->value, sizeof f->value, "%s", i < before ? "0 1" : "2 3");
    }
}

static void check_log(struct bed *b, const char *want)
{
    if (strcmp(b->c.log.data, want) != 0)
        print_error("in place of\n%s\n", want);
    assert_string_equal(b->c.log.data, want);
}

static void finish(struct bed *b)
{
    assert_true(stage_all_put_back(&b->c));
    stage_control_end(&b->s);
}

static void test_switches_and_governor(void **state)
{
    (void)state;
    struct bed b;
    begin(&b,
          ONE_ARM "conditions: {governor: performance, idle_states: off, switches: {\"charging:*\": off}}\n");
    stage_go(&b.s);
    assert_int_equal(b.s.result.end, QS_END_DONE);
    check_log(&b, "restore\nsurvey\nbind" SENSORS "tune " CPU
                  "cpu0/cpuidle/state1/disable=1 class/power_supply/battery/charging_enabled=0p "
                  "policy0/scaling_governor=performance policy2/scaling_governor=performance\n"
                  "bind" SENSORS "run 0\nrun 0\nrun 0\nrestore\nend\n");
    assert_true(stage_told(&b.s, "job.pinned {\"held\":[\"idle states deeper than 0: off (1 files)\","
                                 "\"charging:*: off\",\"policy0: governor performance\","
                                 "\"policy2: governor performance\"],\"files\":4}"));
    assert_non_null(strstr(b.c.stored.data, "charging_enabled 0: 1, 0: set\n"));
    assert_non_null(strstr(b.c.stored.data, "charging_enabled 1: 1, 1: set restored\n"));
    finish(&b);
}

/* Of a cluster that is off there are no clocks: what stands is looked at again. */
static void test_processors_off(void **state)
{
    (void)state;
    struct bed b;
    begin(&b, ONE_ARM "conditions: {frequency: max, online: little, boost: off}\n");
    stage_go(&b.s);
    assert_int_equal(b.s.result.end, QS_END_DONE);
    static const char order[] = "restore\nsurvey\nbind" SENSORS "tune " CPU "cpu2/online=0 " CPU
                                "cpu3/online=0 boost=0\nsurvey\nbind" SENSORS "tune " CPU "cpu2/online=0 " CPU
                                "cpu3/online=0 boost=0 "
                                "policy0/scaling_governor=performance policy0/scaling_min_freq=600000! "
                                "policy0/scaling_max_freq=1800000 policy0/scaling_min_freq=1800000\nbind";
    b.c.log.data[sizeof order - 1] = '\0';
    check_log(&b, order);
    finish(&b);
}

static void check_big(struct stage *s, uint32_t arm)
{
    struct stage_file *online = ((struct bed *)(void *)s)->online;
    assert_string_equal(online->value, arm == 0 ? "0" : "1");
    if (arm > 0)
        assert_string_equal(stage_policy_says(s->control, 2, "scaling_min_freq"), "2000000");
}

/* What one set switches off another one holds: the board as it was at first is known all the time. */
static void test_sets_that_differ_in_processors(void **state)
{
    (void)state;
    struct bed b;
    begin(&b,
          "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\n"
          "arms: {little: {conditions: little}, all: {conditions: default}, big: {conditions: big}}\n" PLAN
          "conditions: {frequency: max}\n"
          "condition_sets: {little: {online: little, affinity: all}, big: {affinity: big}}\n");
    b.c.on_run = check_big;
    stage_go(&b.s);
    assert_int_equal(b.s.result.end, QS_END_DONE);
    assert_non_null(strstr(b.c.log.data, "run 0 on 0-3\n"));
    assert_non_null(strstr(b.c.log.data, "run 1\n"));
    assert_non_null(strstr(b.c.log.data, "run 2 on 2-3\n"));
    finish(&b);
}

/* Arms of a block have the same one, the next block the next. */
static void test_one_big(void **state)
{
    (void)state;
    struct bed b;
    begin(&b, "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\narms: {a: {argv: [a]}, b: {argv: [b]}}\n"
              "plan: {seed: 1, order: AB, blocks: 3, until: {interval: 0%}, warmup: {iterations: 0},"
              " window: {iterations: 1}}\nconditions: {affinity: one-big}\n");
    stage_go(&b.s);
    assert_int_equal(b.s.result.end, QS_END_DONE);
    check_log(&b, "restore\nsurvey\nbind" SENSORS
                  "run 0 on 3\nrun 1 on 3\nrun 0 on 2\nrun 1 on 2\nrun 0 on 3\nrun 1 on 3\nend\n");
    finish(&b);
}

/* A core's sibling, a processor that was never plugged in: what nobody asked for does not end the job. */
static void test_processors_that_stay_off(void **state)
{
    (void)state;
    struct bed b;
    begin(&b, ONE_ARM "conditions: {frequency: max}\n");
    stage_file_add(&b.c, CPU "cpu5/online", "0", true);
    b.c.odd_file = CPU "cpu5/online";
    b.c.odd = QS_TUNE_REFUSED;
    b.c.odd_errno = EPERM;
    b.c.odd_text = "0";
    stage_go(&b.s);
    assert_int_equal(b.s.result.end, QS_END_DONE);
    assert_non_null(strstr(b.c.log.data, "tune " CPU "cpu5/online=1\nsurvey\n"));
    assert_non_null(strstr(b.c.stored.data, "cpu5/online 1: 0, 0: refused\n"));
    assert_true(stage_told(&b.s, "policy2: 2000 MHz"));
    finish(&b);
    begin(&b, ONE_ARM "conditions: {online: 0-2}\n"); /* but what the job wants does */
    b.c.odd_file = CPU "cpu3/online";
    b.c.odd = QS_TUNE_REFUSED;
    b.c.odd_errno = EPERM;
    b.c.odd_text = "1";
    stage_go(&b.s);
    assert_int_equal(b.s.result.end, QS_END_FAILED);
    assert_non_null(strstr(b.s.result.err.text, "writing `0` to " CPU "cpu3/online failed"));
    finish(&b);
}

static void test_what_the_device_lacks(void **state)
{
    (void)state;
    static const struct {
        const char *conditions, *text;
        bool no_control;
    } cases[] = {
        {"{affinity: prime}", "this device has no processors `prime`: it has little (0-1) and big (2-3)",
         false},
        {"{online: prime}", "this device has no processors `prime`: it has little (0-1) and big (2-3)",
         false},
        {"{boost: off}", "the agent on local cannot change what the job's conditions want", true},
        {"{governor: walt}", "policy0 has no such governor: it has schedutil, performance", false},
        {"{switches: {\"fan:*\": 255}}", "this device has no switch `fan:*`: it has online:cpu2,", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bed b;
        char job[512];
        snprintf(job, sizeof job, "%sconditions: %s\n", ONE_ARM, cases[i].conditions);
        begin(&b, job);
        b.c.changes_nothing = cases[i].no_control;
        stage_go(&b.s);
        assert_int_equal(b.s.result.end, QS_END_FAILED);
        if (!strstr(b.s.result.err.text, cases[i].text))
            fail_msg("`%s` lacks `%s`", b.s.result.err.text, cases[i].text);
        assert_null(strstr(b.c.log.data, "run "));
        finish(&b);
    }
}

/* An agent that would take a command's words for the path of a file is sent none of them. */
static void test_commands_of_an_old_agent(void **state)
{
    static const char own[] =
        "# YAML\n{profile: mine, switches: {t: {kind: other, name: tool, get: [ask, it], "
        "set: [tell, \"{value}\"], on: \"1\", off: \"0\"}}}";
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    struct bed b;
    (void)state;
    begin(&b, ONE_ARM "conditions: {switches: {tool: on}}\n");
    assert_true(qs_doc_read("own", own, strlen(own), false, &doc, &problems) &&
                qs_profiles_add(&b.c.farm.profiles, doc, true, &problems));
    stage_go(&b.s);
    assert_int_equal(b.s.result.end, QS_END_FAILED);
    assert_non_null(
        strstr(b.s.result.err.text, " is too old to set what is a command (ask it): start a newer one"));
    assert_null(strstr(b.c.log.data, "tune "));
    finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switches_and_governor),          cmocka_unit_test(test_processors_off),
        cmocka_unit_test(test_sets_that_differ_in_processors), cmocka_unit_test(test_one_big),
        cmocka_unit_test(test_processors_that_stay_off),       cmocka_unit_test(test_what_the_device_lacks),
        cmocka_unit_test(test_commands_of_an_old_agent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
