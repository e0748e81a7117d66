/* Under which conditions a device is measured, by what is known of it. */
#include "cm.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ctl/run/aim.h"

#define CPU(name, cpus, more)                                                                                \
    "{\"name\":\"" name "\",\"kind\":\"cpu\",\"cpus\":" cpus                                                 \
    ",\"unit\":\"kHz\",\"steps_khz\":[500000,1800000]," more "}"
#define OK "\"current_khz\":500000,\"residency_file\":null,\"hold\":\"ok\",\"why\":null"
#define DENIED                                                                                               \
    "\"current_khz\":500000,\"residency_file\":null,\"hold\":\"denied\",\"why\":\"only root may write it\""
#define BLIND                                                                                                \
    "\"current_khz\":0,\"residency_file\":null,\"hold\":\"denied\",\"why\":\"only root may write it\""
#define GPU      "{\"name\":\"gpu\",\"kind\":\"gpu\",\"cpus\":null,\"hold\":\"denied\",\"why\":\"no\"}"
#define CLUSTERS "[{\"name\":\"little\",\"cpus\":\"0-3\"},{\"name\":\"big\",\"cpus\":\"4-7\"}]"
#define TELLS    "`quiesce devices show board` tells more"
#define QUIET    "; windows begin when it is at most 10 %% busy"

/* The job's frequency ("" where it has none), and what is said. */
static void aims(const char *domains, const char *knobs, const char *affinity, const char *frequency,
                 const char *says)
{
    char text[4096];
    QS_BUF(said);
    QS_BUF(wanted);
    json_auto_t *job = json_pack("{s:{s:s}, s:{s:s}}", "devices", "take", "any", "conditions", "kept", "yes");
    if (affinity != NULL)
        json_object_set_new(json_object_get(job, "conditions"), "affinity", json_string(affinity));
    snprintf(text, sizeof text,
             "{\"name\":\"board\",\"knobs\":%s,\"board\":{\"clusters\":" CLUSTERS
             ",\"domains\":[%s],\"sensors\":[]}}",
             knobs, domains);
    json_auto_t *device = json_loads(text, 0, NULL);
    assert_non_null(device);
    qs_run_aim(job, device, NULL, &said);
    qs_buf_fmt(&wanted, "board: %s" QUIET "; " TELLS, says);
    assert_string_equal(said.data, wanted.data);
    const json_t *conditions = json_object_get(job, "conditions");
    const json_t *found = json_object_get(conditions, "frequency");
    assert_string_equal(found != NULL ? json_string_value(found) : "", frequency);
    assert_string_equal(json_string_value(json_object_get(conditions, "kept")), "yes");
    assert_string_equal(json_string_value(json_object_get(json_object_get(job, "devices"), "where")),
                        "name == \"board\"");
    assert_string_equal(json_string_value(json_object_get(conditions, "patience")), "15s");
}

static void clocks_that_may_be_written_are_held(void **state)
{
    (void)state;
    aims(CPU("policy0", "\"0-3\"", OK) "," CPU("policy4", "\"4-7\"", OK) "," GPU, "null", NULL, "max",
         "holds policy0, policy4 at the highest frequency");
    aims(CPU("policy0", "\"0-3\"", OK) "," CPU("policy4", "\"4-7\"", OK), "null", "big", "max",
         "holds policy4 at the highest frequency");
}

static void the_only_clock_that_may_be_read_is_brought_there_by_load(void **state)
{
    static const char by_load[] = "brings %s to its highest frequency by load before each window, and writes "
                                  "nothing: only root may write it";
    char all[200], big[200];
    (void)state;
    snprintf(all, sizeof all, by_load, "policy0");
    snprintf(big, sizeof big, by_load, "policy4");
    aims(CPU("policy0", "\"0-7\"", DENIED), "null", NULL, "hold", all);
    aims(CPU("policy0", "null", DENIED), "null", "2", "hold", all);
    aims(CPU("policy0", "\"0-3\"", DENIED) "," CPU("policy4", "\"4-7\"", DENIED), "null", "big", "hold", big);
    aims(CPU("policy0", "\"0-3\"", DENIED) "," CPU("policy4", "\"4-7\"", DENIED), "null", "5,6-7", "hold",
         big);
    aims(CPU("policy0", "\"0-3\"", DENIED) "," CPU("policy4", "\"4-7\"", OK), "null", "0", "hold", all);
}

static void what_cannot_be_held_is_left_with_the_reason(void **state)
{
    (void)state;
    aims("", "null", NULL, "", "it shows no clocks of its processors: nothing is held");
    aims(GPU, "null", NULL, "", "it shows no clocks of its processors: nothing is held");
    aims(CPU("policy0", "\"0-7\"", BLIND), "null", NULL, "", "does not hold policy0: only root may write it");
    aims(CPU("policy0", "\"0-3\"", DENIED) "," CPU("policy4", "\"4-7\"", DENIED), "null", NULL, "",
         "does not hold policy0, policy4: only root may write it (with --affinity to processors of one clock "
         "it "
         "is brought to its highest by load)");
    aims(CPU("policy0", "\"0-3\"", DENIED) "," CPU("policy4", "\"4-7\"", BLIND), "null", "3-4", "",
         "does not hold policy0, policy4: only root may write it");
}

static void what_an_earlier_trial_found_counts(void **state)
{
    static const char knobs[] =
        "{\"rows\":[{\"name\":\"policy0\",\"sticks\":\"%s\",\"why\":\"a service sets it again\"}]}";
    static const struct {
        const char *sticks;
        bool held;
    } cases[] = {{"yes", true},      {"late", true},   {"untried", true},
                 {"ignored", false}, {"slips", false}, {"denied", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, knobs, cases[i].sticks);
        aims(CPU("policy0", "\"0-7\"", OK), text, NULL, cases[i].held ? "max" : "hold",
             cases[i].held ? "holds policy0 at the highest frequency"
                           : "brings policy0 to its highest frequency by load before each window, and writes "
                             "nothing: a service sets it again");
    }
}

/* The second line of the gate, and what is said of it. */
static void gates(const char *sensors, const char *readings, const char *sensor, const char *below)
{
    char text[2048];
    QS_BUF(said);
    json_auto_t *job = json_pack("{s:{}, s:{}}", "devices", "conditions");
    snprintf(text, sizeof text, "{\"name\":\"b\",\"board\":{\"domains\":[],\"sensors\":[%s]}}", sensors);
    json_auto_t *device = json_loads(text, 0, NULL), *now = readings ? json_loads(readings, 0, NULL) : NULL;
    assert_non_null(device);
    qs_run_aim(job, device, now, &said);
    const json_t *gate = json_object_get(json_object_get(job, "conditions"), "gate");
    const json_t *busy = json_array_get(gate, 0), *warm = json_array_get(gate, 1);
    assert_string_equal(json_string_value(json_object_get(busy, "sensor")), "cpu.busy_ratio_ppm");
    assert_string_equal(json_string_value(json_object_get(busy, "below")), "10%");
    assert_int_equal(json_array_size(gate), sensor != NULL ? 2 : 1);
    if (sensor == NULL)
        return;
    assert_string_equal(json_string_value(json_object_get(warm, "sensor")), sensor);
    assert_string_equal(json_string_value(json_object_get(warm, "below")), below);
    assert_string_equal(json_string_value(json_object_get(warm, "on_timeout")), "taint");
    snprintf(text, sizeof text, "at most 10 %% busy and %s at most %.*s °C;", sensor, (int)strlen(below) - 1,
             below);
    assert_non_null(strstr(said.data, text));
}

#define SENSOR(name, role, unit, status, value)                                                              \
    "{\"name\":\"" name "\",\"role\":\"" role "\",\"unit\":\"" unit "\",\"status\":\"" status                \
    "\",\"value\":" value "}"
#define NOW(name, value) "{\"readings\":[{\"sensor\":\"" name "\",\"value\":" value "}]}"

static void the_warmest_processor_is_waited_for(void **state)
{
    (void)state;
    gates(SENSOR("thermal:a", "cpu", "mC", "ok", "38000"), NULL, "thermal:a", "60C");
    gates(SENSOR("thermal:a", "cpu", "mC", "ok", "46000"), NULL, "thermal:a", "61C");
    gates(
        SENSOR("thermal:a", "cpu", "mC", "ok", "38000") "," SENSOR("thermal:b", "cpu", "auto", "ok", "39000"),
        NULL, "thermal:b", "60C");
    gates(SENSOR("thermal:a", "cpu", "mC", "ok", "38000"), NOW("thermal:a", "70500"), "thermal:a", "85C");
    gates(SENSOR("thermal:a", "cpu", "mC", "ok", "48000"), NOW("thermal:a", "48"), "thermal:a",
          "63C"); /* no unit */
    gates(SENSOR("thermal:a", "cpu", "mC", "ok", "48000"), NOW("thermal:b", "70000"), "thermal:a", "63C");
    gates("", NULL, NULL, NULL);
    gates(SENSOR("thermal:a", "skin", "mC", "ok", "38000"), NULL, NULL, NULL);
    gates(SENSOR("thermal:a", "cpu", "mC", "spoilt", "38000"), NULL, NULL, NULL);
    gates(SENSOR("thermal:a", "cpu", "count", "ok", "38000"), NULL, NULL, NULL);
    gates(SENSOR("thermal:a", "cpu", "mC", "ok", "0"), NULL, NULL, NULL);
}

static void a_device_that_nobody_has_looked_at_is_told_so(void **state)
{
    (void)state;
    QS_BUF(said);
    QS_BUF(wanted);
    json_auto_t *job = json_pack("{s:{}, s:{}}", "devices", "conditions");
    json_auto_t *device = json_pack("{s:s, s:n}", "name", "new", "board");
    qs_run_aim(job, device, NULL, &said);
    qs_buf_fmt(&wanted, "new: nobody has looked at it yet, so nothing of it is held" QUIET
                        "; `quiesce devices show new` tells more");
    assert_string_equal(said.data, wanted.data);
    assert_null(json_object_get(json_object_get(job, "conditions"), "frequency"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_that_may_be_written_are_held),
        cmocka_unit_test(the_only_clock_that_may_be_read_is_brought_there_by_load),
        cmocka_unit_test(what_cannot_be_held_is_left_with_the_reason),
        cmocka_unit_test(what_an_earlier_trial_found_counts),
        cmocka_unit_test(the_warmest_processor_is_waited_for),
        cmocka_unit_test(a_device_that_nobody_has_looked_at_is_told_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
