/* Windows that are no longer than a simulated board stays cool enough, in virtual time. The board's own model
 * is the truth: its processors go towards 55 degrees above rest with a time constant of 15 s. */
#include "bed.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define SENSOR    "thermal:cpu-thermal"
#define BIG       "thermal:bigcore0-thermal"
#define CHARACTER "quiesce: 1\ncharacterize: {rest: 5s, heat: 60s, cool: 200s, every: 1s, knobs: false}\n"
#define FARM(tree, load, events)                                                                             \
    "probe: never\ndevices: {board: {link: sim, sim_seed: 1, sim_board: " QS_TREES "/" tree                  \
    ".tree.tsv, sim_events: [{do: load " load "}" events "]}}\n"
#define PI   FARM("rpi4b", "5", ", {do: ambient 0}") /* all its processors have one clock: 21 to 76 degrees */
#define ROCK FARM("rock5b-rk3588", "5", "")
/* Iterations of 2 s, as many as fill a minute. */
#define JOB(ns, gate, plan) JOB_OF(SENSOR, ns, gate, plan, "")
#define JOB_OF(sensor, ns, gate, plan, more)                                                                 \
    "quiesce: 1\nbenchmarks: [{name: work, argv: [sim, \"" ns "\"]}]\n"                                      \
    "conditions: {frequency: max" more ", gate: [{sensor: '" sensor "', " gate                               \
    ", timeout: 5min, on_timeout: fail}], bounds: none, repeat_tainted: 0}\n"                                \
    "plan: {blocks: 4, window: {target: 1min" plan "}, until: {interval: 0}}\n"
#define TWO_S  "2000000000"
#define LIMITS "below: 45C, back_to: 40C, end_below: 60C"

static struct bed *bed;
static char said[1 << 17];
static size_t runs, iterations, tainted; /* of counted blocks */

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
        runs++;
        iterations += number_of(event->body_json, "\"n\":");
        tainted += number_of(event->body_json, "\"tainted\":");
    }
    if (strcmp(event->kind, "gate.waiting") != 0)
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

static size_t times(const char *what)
{
    size_t n = 0;
    for (const char *at = said; (at = strstr(at, what)) != NULL; at++)
        n++;
    return n;
}

static void expect(const char *what)
{
    if (times(what) != 1)
        fail_msg("%zu times `%s` in: %.6000s", times(what), what, said);
}

static void live(int64_t start_s, const char *job)
{
    const struct qs_submission sub = {.text = job, .text_bytes = strlen(job), .name = "job"};
    said[0] = '\0';
    runs = iterations = tainted = 0;
    bed_begin(bed, start_s * INT64_C(1000000000), (uint64_t)start_s);
    assert_true(bed_submit(bed, &sub, NULL, on_submitted, NULL, NULL));
    qs_loop_run(bed->loop);
    bed_end(bed);
    expect("\"state\":\"done\"");
}

static void begin(struct bed *b, const char *farm)
{
    bed = b;
    bed_init(b, farm);
    b->events = (struct qs_farm_events){.on_event = on_event, .on_idle = on_idle};
}

static void alter(const struct bed *b, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(b->db, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_true(sqlite3_changes(db) > 0);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The same job without and with what the device is like. */
static void windows_end_cool_enough(void **state)
{
    struct bed b;
    (void)state;
    begin(&b, PI);
    live(1000000, JOB(TWO_S, LIMITS, ""));
    assert_int_equal(runs, 4);
    assert_int_equal(iterations, 0);
    assert_int_equal(tainted, 4 * 31); /* as many as fill the minute by the pilot */
    assert_null(strstr(said, "job.shortened"));
    live(2000000, CHARACTER);
    live(3000000, JOB(TWO_S, LIMITS, ""));
    expect("job.shortened {\"point\":0,\"arm\":\"work\",\"sensor\":\"" SENSOR "\",\"domain\":\"all\","
           "\"from_mc\":45000,\"limit_mc\":60000,\"headroom_ns\":113"); /* 11.3 s: how the readings fell
                                                                           decides the rest */
    expect("\"iteration_ns\":2001531000,\"iterations_per_run\":5,\"wanted\":31,\"text\":\"windows have 5 "
           "iterations, not 31, so that they do not end too warm: " SENSOR " can rise from 45.0 \xc2\xb0"
           "C to 60.0 \xc2\xb0"
           "C within 11.4 s, as it was characterized (all)");
    assert_int_equal(runs, 4);
    assert_int_equal(iterations, 4 * 5);
    assert_int_equal(tainted, 0);
    bed_done(&b);
}

/* A number of iterations that the job gives; without a pilot the time alone is known. */
static void whatever_the_plan(void **state)
{
    struct bed b;
    (void)state;
    begin(&b, PI);
    live(2000000, CHARACTER);
    live(3000000, JOB(TWO_S, LIMITS, ", iterations: 30"));
    assert_int_equal(iterations, 4 * 5);
    assert_int_equal(tainted, 0);
    live(4000000, JOB(TWO_S, LIMITS, ", iterations: 30}, warmup: {iterations: 0"));
    expect("\"text\":\"windows are shortened so that they do not end too warm: ");
    assert_int_equal(iterations + tainted, 4 * 6); /* the one that has begun by then ends */
    live(5000000, JOB(TWO_S, LIMITS, ", iterations: 2"));
    assert_null(strstr(said, "job.shortened")); /* they are */
    assert_int_equal(iterations, 4 * 2);
    live(6000000, JOB("12000000000", "below: 45C, end_below: 60C", ""));
    expect(
        "\"iterations_per_run\":1,\"wanted\":6,\"text\":\"not even one iteration of work (12.0 s) is sure to "
        "end in time: windows are one iteration long, and tainted where they end too warm. ");
    assert_int_equal(tainted, 4);
    live(7000000, JOB(TWO_S, "below: 60C, end_below: 60C", ""));
    expect("\"headroom_ns\":0,");
    assert_int_equal(iterations + tainted, 4 * 1);
    live(8000000, JOB(TWO_S, "below: 45C, end_below: 90C", "")); /* it never is */
    assert_null(strstr(said, "job.shortened"));
    assert_int_equal(iterations, 4 * 31);
    bed_done(&b);
}

/* The curve of the cluster in which the arm runs: the little cores alone heat the others less. */
static void by_cluster(void **state)
{
    struct bed b;
    (void)state;
    begin(&b, ROCK);
    live(2000000, CHARACTER);
    live(3000000, "quiesce: 1\nbenchmarks: [{name: work, argv: [sim, \"" TWO_S "\"]}]\n"
                  "condition_sets: {slow: {affinity: little}, fast: {affinity: \"6-7\"}}\n"
                  "arms: {slow: {conditions: slow}, fast: {conditions: fast}}\n"
                  "conditions: {gate: [{sensor: '" BIG "', " LIMITS
                  ", timeout: 5min, on_timeout: fail}], bounds: none}\n"
                  "plan: {blocks: 3, window: {target: 1min}, until: {interval: 0}}\n");
    expect("\"arm\":\"fast\",\"sensor\":\"" BIG "\",\"domain\":\"big\"");
    assert_int_equal(tainted, 0);
    assert_int_equal(iterations % 6, 0); /* equal for both */
    bed_done(&b);
}

static void only_what_holds_here(void **state)
{
    struct bed b;
    (void)state;
    begin(&b, PI);
    live(2000000, CHARACTER);
    live(3000000, JOB(TWO_S, "above: 1C, end_below: 60C", ""));
    expect("job.warning {\"text\":\"`end_below` of " SENSOR
           " limits no window's length: how warm one may begin "
           "is not said (`below`)");
    assert_null(strstr(said, "job.shortened"));
    alter(&b, "UPDATE device_model SET fingerprint = 'another'");
    live(4000000, JOB(TWO_S, LIMITS, ""));
    expect("job.warning {\"text\":\"how " SENSOR
           " of board warms up was measured with another system on it, and "
           "is not used for the length of windows; `quiesce characterize board` finds it anew");
    assert_null(strstr(said, "job.shortened"));
    assert_int_equal(tainted, 4 * 31); /* as many as fill the minute by the pilot */
    bed_done(&b);
}

/* Something keeps the board warmer than when it was characterized, as the waits of its gates tell. */
static void not_what_has_changed(void **state)
{
#define HEAT(at) ", {window: " at ", at: 10ms, do: heat 84}"
    struct bed b;
    (void)state;
    begin(&b, ROCK);
    live(2000000, CHARACTER);
    live(2500000, JOB_OF(BIG, TWO_S, "below: 55C, end_below: 56C", "", ", affinity: \"6-7\""));
    expect("job.shortened"); /* while it holds */
    qs_farm_config_free(b.config);
    b.config =
        bed_farm_of(FARM("rock5b-rk3588", "35", HEAT("1") HEAT("2") HEAT("3") HEAT("4") HEAT("5") HEAT("6")));
    live(3000000,
         "quiesce: 1\nbenchmarks: [{name: work, argv: [sim, \"100000000\"]}]\n"
         "conditions: {gate: [{sensor: '" BIG
         "', below: 55C, timeout: 5min, on_timeout: fail}], bounds: none, repeat_tainted: 0}\n"
         "plan: {blocks: 7, window: {iterations: 1}, warmup: {iterations: 0}, until: {interval: 0}}\n");
    live(4000000, JOB_OF(BIG, TWO_S, "below: 55C, end_below: 56C", "", ", affinity: \"6-7\""));
    expect(
        "how " BIG " of board warms up is not used for the length of windows: how it cools down, as it was "
        "measured at the same time, no longer holds; `quiesce characterize --again board` finds both anew");
    assert_null(strstr(said, "job.shortened"));
    bed_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(windows_end_cool_enough),
                                       cmocka_unit_test(whatever_the_plan), cmocka_unit_test(by_cluster),
                                       cmocka_unit_test(only_what_holds_here),
                                       cmocka_unit_test(not_what_has_changed)};
    return cmocka_run_group_tests_name("farm headroom", tests, NULL, NULL);
}
