/* A job that changes a device that nobody has tried tries it first: what is asked of the device, what of the
 * store, and what becomes of it where something is in the way. */
#include <stdio.h>

#include "device/board/board.h"
#include "stage_control.h"

#define PLAN                                                                                                 \
    "plan: {seed: 1, blocks: {min: 2, max: 2}, until: {interval: 0%}, warmup: {iterations: 1},"              \
    " window: {iterations: 2}}\n"
#define ONE_ARM "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\narms: {a: {argv: [a]}}\n" PLAN

static const char slow_job[] = ONE_ARM "conditions: {frequency: 600MHz}\n";

#define TO(khz)                                                                                              \
    "policy0/scaling_min_freq=600000! policy0/scaling_max_freq=" khz " policy0/scaling_min_freq=" khz "\n"
#define SENSORS " thermal:cpu-thermal(class/thermal/thermal_zone0/temp)=-30000..130000/1\n"
/* Held at its lowest, then at its highest, then as it was; then as the job wants it. */
#define FIRST                                                                                                \
    "restore\nsurvey\nbind" SENSORS "tune policy0/scaling_governor=performance " TO(                         \
        "600000") "tune policy0/scaling_governor=performance " TO("1800000") "restore\n"
#define THEN "tune policy0/scaling_governor=performance " TO("600000") "bind pin:policy0.min"

static void begin(struct stage *s, struct stage_control *c, enum qs_farm_probe probe)
{
    stage_control_begin(s, c, slow_job);
    c->farm.probe = probe;
}

static void check_begins(const struct stage_control *c, const char *with)
{
    if (strncmp(c->log.data, with, strlen(with)) != 0)
        fail_msg("%s does not begin with %s", c->log.data, with);
}

static void test_tried_first(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    begin(&s, &c, QS_PROBE_FIRST);
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    check_begins(&c, FIRST THEN);
    assert_true(stage_told(
        &s, "job.probing {\"device\":\"local\",\"clocks\":1,\"switches\":0,\"takes_ns\":2000000000}"));
    assert_true(stage_told(&s, "job.knobs {\"doubtful\":[],\"tried\":1,\"untried\":0}"));
    assert_true(stage_all_put_back(&c));
    stage_control_end(&s);
}

static void test_not_tried(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    begin(&s, &c, QS_PROBE_NEVER);
    stage_go(&s);
    check_begins(&c, "restore\nsurvey\nbind" SENSORS THEN);
    stage_control_end(&s);
    begin(&s, &c, QS_PROBE_FIRST);
    c.changes_nothing = true; /* an agent that could not put it back */
    stage_go(&s);
    assert_int_equal(s.result.err.code, QS_E_DENIED);
    assert_false(stage_told(&s, "job.probing"));
    stage_control_end(&s);
}

static void set_known(struct stage *s, struct qs_knob_info *k, const char *fingerprint)
{
    *k = (struct qs_knob_info){.row = {.name = "policy0",
                                       .kind = "cpu",
                                       .path = "devices/system/cpu/cpufreq/policy0/scaling_max_freq",
                                       .sticks = "ignored",
                                       .effect = "unknown",
                                       .why = "it still says 5"},
                               .fingerprint = fingerprint,
                               .job = 77};
    s->record.knobs = k;
    s->record.knob_count = 1;
}

/* What an earlier job found is not found again, but named; also where this one would never try. */
static void test_known(void **state)
{
    (void)state;
    for (int probe = QS_PROBE_FIRST; probe <= QS_PROBE_NEVER; probe++) {
        struct stage s;
        struct stage_control c;
        struct qs_knob_info k;
        begin(&s, &c, (enum qs_farm_probe)probe);
        QS_BUF(fingerprint);
        qs_board_fingerprint("{}", &fingerprint);
        set_known(&s, &k, fingerprint.data);
        c.odd_file = "policy0/scaling_max_freq";
        c.odd = QS_TUNE_SLIPPED;
        c.odd_text = "5";
        stage_go(&s);
        check_begins(&c, "restore\nsurvey\nbind" SENSORS "tune ");
        assert_true(
            stage_told(&s, "job.warning {\"text\":\"local: policy0 cannot be relied on (ignored): it still "
                           "says 5; job 77 found that, and `quiesce devices probe local` looks again\"}"));
        assert_int_equal(s.result.end, QS_END_FAILED);
        assert_non_null(strstr(s.result.err.text,
                               "leaves frequencies alone; job 77 had found: policy0 cannot be "
                               "relied on (ignored): it still says 5"));
        stage_control_end(&s);
    }
}

/* Of another system nothing is known. */
static void test_another_system(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    struct qs_knob_info k;
    begin(&s, &c, QS_PROBE_FIRST);
    set_known(&s, &k, "another");
    stage_go(&s);
    assert_true(stage_told(&s, "job.probing"));
    assert_false(stage_told(&s, "job.warning"));
    stage_control_end(&s);
}

static void test_what_is_stored_cannot_be_read(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    begin(&s, &c, QS_PROBE_FIRST);
    s.record.knobs_fail = true;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_int_equal(s.result.err.code, QS_E_STORE);
    assert_int_equal(c.tunes, 0);
    stage_control_end(&s);
}

static bool strike(unsigned after, enum stage_strike how)
{
    struct stage s;
    struct stage_control c;
    begin(&s, &c, QS_PROBE_FIRST);
    s.strike = how;
    s.strike_state = "probe";
    s.strike_after = after;
    stage_go(&s);
    bool struck = s.struck > 0;
    enum qs_job_run_end end = struck && how != STRIKE_DOWN ? QS_END_CANCELLED : QS_END_DONE;
    assert_int_equal(s.result.end, end);
    assert_true(stage_all_put_back(&c) || (struck && how == STRIKE_ABANDON));
    assert_int_equal(s.sessions, struck && how == STRIKE_DOWN ? 2 : 1);
    stage_control_end(&s);
    return struck;
}

static void test_trouble(void **state)
{
    (void)state;
    static const enum stage_strike hows[] = {STRIKE_DOWN, STRIKE_CANCEL, STRIKE_ABANDON};
    for (size_t i = 0; i < 3; i++) {
        unsigned after = 0;
        while (strike(after, hows[i]))
            after++;
        assert_true(after >= 5); /* two reads, three questions, and what was found */
    }
}

static void test_every_row_is_taken(void **state)
{
    (void)state;
    for (unsigned e = 0; e < QS_JI_COUNT; e++)
        if (qs_job_run_find(QS_JS_PROBE, (enum qs_job_run_input)e) && !stage_taken[QS_JS_PROBE][e])
            fail_msg("not taken: probe, %s", qs_job_run_input_text((enum qs_job_run_input)e));
    assert_true(stage_taken[QS_JS_LOCK][QS_JI_PROBE]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tried_first),
        cmocka_unit_test(test_not_tried),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_another_system),
        cmocka_unit_test(test_what_is_stored_cannot_be_read),
        cmocka_unit_test(test_trouble),
        cmocka_unit_test(test_every_row_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
