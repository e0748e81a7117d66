/* The first job that changes a simulated board tries it first, in virtual time: once for each device and
 * system, with its sensors under load; what was found is told where a job needs it. */
#include "bed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { TEXT_BYTES = 1 << 18 };

static struct bed *bed;
static char said[TEXT_BYTES]; /* every event of this life */
static const char *system_name;

void __wrap_qs_board_fingerprint(const char *facts_json, struct qs_buf *out);
void __wrap_qs_board_fingerprint(const char *facts_json, struct qs_buf *out)
{
    (void)facts_json;
    qs_buf_str(out, system_name);
}

static bool loaded;    /* its processors are kept busy */
static unsigned loads; /* how often they were */

bool __real_qs_session_call(struct qs_session *session, const struct qs_call *call, struct qs_err *err);
bool __wrap_qs_session_call(struct qs_session *session, const struct qs_call *call, struct qs_err *err);
bool __wrap_qs_session_call(struct qs_session *session, const struct qs_call *call, struct qs_err *err)
{
    if (call->type == QS_MSG_LOAD) {
        loaded = ((const struct qs_msg_load *)call->m)->for_ms > 0;
        loads += loaded;
    } else if (call->type == QS_MSG_TUNE || call->type == QS_MSG_RUN_BEGIN) {
        assert_false(loaded); /* what was kept busy for one look is not for the next */
    }
    return __real_qs_session_call(session, call, err);
}

static void on_event(const struct qs_farm_event *event, void *user)
{
    (void)user;
    size_t n = strlen(said);
    snprintf(said + n, sizeof said - n, "%s %s\n", event->kind, event->body_json);
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

static void on_cancelled(const struct qs_err *err, int64_t id, void *user)
{
    on_submitted(err, id, user);
}

static void cancel(void *user)
{
    struct qs_err err = QS_ERR_INIT;
    (void)user;
    assert_true(qs_farm_cancel(bed->farm, 1, "not needed", on_cancelled, NULL, &err));
}

/* One life of the daemon with one job, which is cancelled after so long (0: never). */
static void live(int64_t start_s, const char *job, int64_t cancel_ms)
{
    const struct qs_submission sub = {.text = job, .text_bytes = strlen(job), .name = "job"};
    said[0] = '\0';
    loaded = false;
    bed_begin(bed, start_s * INT64_C(1000000000), (uint64_t)start_s);
    assert_true(bed_submit(bed, &sub, NULL, on_submitted, NULL, NULL));
    if (cancel_ms > 0)
        qs_timer_start(bed->loop, cancel_ms * INT64_C(1000000), cancel, NULL);
    qs_loop_run(bed->loop);
    bed_end(bed);
}

#define WORK            "quiesce: 1\nbenchmarks: [{name: work, argv: [sim, \"100000000\"]}]\n"
#define PLAN            "plan: {blocks: 1, window: {iterations: 1}, warmup: {iterations: 0}}\n"
#define JOB(conditions) WORK "conditions: {gate: none, bounds: none" conditions "}\n" PLAN
#define GATED(sensor)                                                                                        \
    WORK "conditions: {frequency: max, bounds: none, gate: [{sensor: \"" sensor "\", below: 200C}]}\n" PLAN
#define MAX_FILE "devices/system/cpu/cpufreq/policy0/scaling_max_freq"

static void begin(struct bed *b, const char *farm, const char *tree, const char *device, const char *events)
{
    QS_FREED char *text = qs_asprintf("%sdevices: {board: {link: sim, sim_seed: 1, %s"
                                      "sim_board: %s/%s.tree.tsv, sim_events: [{do: load 5}%s]}}\n",
                                      farm, device, QS_TREES, tree, events);
    bed = b;
    system_name = "one";
    bed_init(b, text);
    b->events = (struct qs_farm_events){.on_event = on_event, .on_idle = on_idle};
}

static const char *expect(const char *what)
{
    const char *at = strstr(said, what);
    if (at == NULL)
        fail_msg("no `%s` in: %.26000s", what, said);
    return at;
}

static void expect_no(const char *what)
{
    if (strstr(said, what) != NULL)
        fail_msg("`%s` in: %.26000s", what, said);
}

/* Five seconds for the sensors, two for each clock that can be held; its switches are none to be turned. */
#define PROBING "job.probing {\"device\":\"board\",\"clocks\":1,\"switches\":0,\"takes_ns\":7000000000}\n"

static void once_for_each_system(void **state)
{
    struct bed b;
    (void)state;
    begin(&b, "", "rpi4b", "", "");
    live(1000000, JOB(""), 0);
    expect("\"state\":\"done\"");
    expect_no("job.probing"); /* it changes nothing */
    live(1000500, JOB(", frequency: hold"), 0);
    expect_no("job.probing"); /* nor does this one: it keeps its processors busy */
    live(1001000, JOB(", frequency: max"), 0);
    const char *probing = expect(PROBING), *knobs = expect("job.knobs {\"doubtful\":[]");
    const char *pinned = expect("job.pinned {\"held\":[\"policy0: 1500 MHz");
    assert_true(probing < knobs && knobs < pinned);
    expect("\"state\":\"done\"");
    expect_no("job.warning");
    live(1002000, JOB(", frequency: max"), 0);
    expect("job.pinned");
    expect_no("job.probing");
    expect_no("job.knobs");
    system_name = "two";
    live(1003000, JOB(", governor: powersave"), 0);
    expect("job.probing");
    system_name = "one";
    live(1004000, JOB(", frequency: max"), 0);
    expect("\"state\":\"done\"");
    bed_done(&b);
}

/* What the farm and the device say of it. */
static void where_it_is_wanted(void **state)
{
    static const struct {
        const char *farm, *device;
        bool probes;
    } rows[] = {{"probe: never\n", "", false},
                {"probe: first\n", "", true},
                {"probe: never\n", "probe: first, ", true},
                {"", "probe: never, ", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bed b;
        begin(&b, rows[i].farm, "rpi4b", rows[i].device, "");
        live(1000000, JOB(", frequency: min"), 0);
        assert_int_equal(strstr(said, "job.probing") != NULL, rows[i].probes);
        expect("\"state\":\"done\"");
        bed_done(&b);
    }
}

/* A job that would fail says what the trial had found; one that would not know is warned. */
static void what_was_found_is_told(void **state)
{
    struct bed b;
    (void)state;
    begin(&b, "", "rpi4b", "", ", {do: ignore " MAX_FILE "}");
    live(1000000, JOB(", frequency: min"), 0);
    const char *warned =
        expect("job.warning {\"text\":\"board: policy0 cannot be relied on (ignored): 600000 was "
               "written and taken, and it still says 1500000; job 1 found that, and `quiesce "
               "devices probe board` looks again\"}\n");
    assert_true(warned > expect("job.knobs"));
    expect("cannot be held as the job's conditions want: writing `600000` to " MAX_FILE " failed");
    expect("`frequency: free` leaves frequencies alone; job 1 had found: policy0 cannot be relied on "
           "(ignored): ");
    expect("\"state\":\"failed\"");
    live(1001000, JOB(", switches: {\"idle:*\": off}"), 0); /* that is another part of it */
    expect_no("policy0");
    bed_done(&b);
    begin(&b, "", "rpi4b", "", ", {do: inert " MAX_FILE "}");
    for (int64_t life = 0; life < 2; life++) {
        live(1000000 + 1000 * life, JOB(", frequency: 600MHz"), 0);
        warned = expect(
            "job.warning {\"text\":\"board: policy0 cannot be relied on (no effect): held at 600 MHz it "
            "ran at 1500 MHz; job 1 found that, and");
        assert_true(warned < expect("job.pinned"));
        expect("\"state\":\"done\"");
        assert_int_equal(strstr(said, "job.probing") != NULL, life == 0);
    }
    bed_done(&b);
}

/* A sensor that stands still while others become hot, and one that jumps; none of a gate that names neither.
 */
static void sensors_under_load(void **state)
{
    struct bed b;
    (void)state;
    loads = 0;
    begin(&b, "", "rock5b-rk3588", "",
          ", {do: stuck class/thermal/thermal_zone1/temp}, "
          "{at: 4s, do: lie class/thermal/thermal_zone2/temp with constant 90000}, "
          "{at: 4400ms, do: heal class/thermal/thermal_zone2/temp}"); /* for one reading */
    live(1000000, GATED("thermal:bigcore0-thermal"), 0);
    expect("job.characterizing {\"domain\":\"all\",\"phase\":\"sensors\"");
    assert_int_equal(loads, 1 + 2 * 3); /* for the sensors, and for each point of three policies */
    expect("job.warning {\"text\":\"board: thermal:bigcore0-thermal, for which its gate waits, cannot be "
           "relied on "
           "(still): it stayed at ");
    expect_no("bigcore2");
    live(1001000, GATED("thermal:bigcore2-thermal"), 0);
    expect_no("job.probing");
    expect("thermal:bigcore2-thermal, for which its gate waits, cannot be relied on (jumps): single readings "
           "are ");
    live(1002000, GATED("thermal:littlecore-thermal"), 0);
    expect_no("job.warning");
    bed_done(&b);
}

/* A job that is cancelled, or loses its link, while the board is tried: what was found by then is not stored.
 */
static void cut_short(void **state)
{
    static const int64_t when_ms[] = {1500, 4000, 6200, 6600, 7000};
    (void)state;
    for (size_t i = 0; i < sizeof when_ms / sizeof *when_ms; i++) {
        struct bed b;
        begin(&b, "", "rpi4b", "", "");
        live(1000000, JOB(", frequency: max"), when_ms[i]);
        expect("job.probing");
        expect("\"state\":\"cancelled\"");
        expect_no("job.knobs");
        expect_no("\"left\":1");
        live(1001000, JOB(", frequency: max"), 0);
        expect("job.probing");
        expect("\"state\":\"done\"");
        bed_done(&b);
    }
    for (size_t i = 0; i < sizeof when_ms / sizeof *when_ms; i++) {
        struct bed b;
        QS_FREED char *unplug = qs_asprintf(", {at: %lldms, do: unplug 3000}", (long long)when_ms[i]);
        begin(&b, "", "rpi4b", "", unplug);
        live(1000000, JOB(", frequency: max"), 0);
        expect("job.lost");
        expect("job.probing");
        expect("job.knobs");
        expect("\"state\":\"done\"");
        bed_done(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(once_for_each_system),
                                       cmocka_unit_test(where_it_is_wanted),
                                       cmocka_unit_test(what_was_found_is_told),
                                       cmocka_unit_test(sensors_under_load), cmocka_unit_test(cut_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
