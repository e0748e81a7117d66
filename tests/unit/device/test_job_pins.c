/* What is watched of frequencies that are held, and what becomes of a job where somebody sets them again. */
#include <stdio.h>

#include "stage_control.h"

#define PLAN                                                                                                 \
    "plan: {seed: 1, blocks: {min: 2, max: 2}, until: {interval: 0%}, warmup: {iterations: 1},"              \
    " window: {iterations: 2}}\n"
#define ONE_ARM "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\narms: {a: {argv: [a]}}\n" PLAN
#define FOLDER  "devices/system/cpu/cpufreq/policy0/"
#define WRITES                                                                                               \
    "policy0/scaling_governor=performance policy0/scaling_min_freq=600000! policy0/scaling_max_freq=600000"  \
    " policy0/scaling_min_freq=600000\n"

static const char job_text[] = ONE_ARM "conditions: {frequency: 600MHz, repeat_tainted: 2}\n";

static const char long_job[] =
    "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\narms: {a: {argv: [a]}}\n"
    "plan: {seed: 1, blocks: 30, until: {interval: 0%}, warmup: {iterations: 1},"
    " window: {iterations: 2}}\nconditions: {frequency: 600MHz}\n";

static struct stage_file *file_of(struct stage_control *c, const char *path)
{
    for (size_t i = 0; i < c->file_count; i++)
        if (strcmp(c->files[i].path, path) == 0)
            return &c->files[i];
    fail_msg("there is no %s", path);
    return NULL;
}

static void set(struct stage *s, const char *name, const char *value)
{
    char path[128];
    snprintf(path, sizeof path, FOLDER "%s", name);
    struct stage_file *f = file_of(s->control, path);
    snprintf(f->value, sizeof f->value, "%s", value);
}

/* ---- what is watched ---- */

static void begin_with_stats(struct stage *s, struct stage_control *c)
{
    stage_control_begin(s, c, job_text);
    stage_file_add(c, FOLDER "stats/time_in_state", "600000 1\n1200000 2\n1800000 3\n", false);
    stage_file_add(c, FOLDER "stats/total_trans", "4711", false);
}

static void test_between_two_looks(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    begin_with_stats(&s, &c);
    stage_go(&s);
    assert_non_null(strstr(c.log.data,
                           "bind pin:policy0.min(policy0/scaling_min_freq)=600000..600000/3"
                           " pin:policy0.max(policy0/scaling_max_freq)=600000..600000/3"
                           " residency:policy0(policy0/stats/time_in_state)=600000..600000/21"
                           " transitions:policy0(policy0/stats/total_trans)=0..9223372036854775807/17"
                           " thermal:cpu-thermal(class/thermal/thermal_zone0/temp)=-30000..130000/1\n"));
    stage_control_end(&s);
    begin_with_stats(&s, &c);
    c.senses_nothing = true;
    stage_go(&s);
    assert_non_null(
        strstr(c.log.data, "pin:policy0.max(policy0/scaling_max_freq)=600000..600000/3 thermal:"));
    assert_int_equal(s.result.end, QS_END_DONE);
    stage_control_end(&s);
}

/* Cooling devices and throttle counters are to be steady; what of a Raspberry Pi has happened is told. */
static void test_what_throttles(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    stage_control_begin(&s, &c, ONE_ARM);
    stage_file_add(&c, "class/thermal/cooling_device0/type", "thermal-cpufreq-0", false);
    stage_file_add(&c, "class/thermal/cooling_device0/cur_state", "0", false);
    stage_file_add(&c, "class/thermal/cooling_device1/type", "pwm-fan", false);
    stage_file_add(&c, "class/thermal/cooling_device1/cur_state", "0", false);
    stage_file_add(&c, "devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "7", false);
    stage_file_add(&c, "devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "9", false);
    stage_file_add(&c, "devices/platform/soc/soc:firmware/get_throttled", "50000", false);
    stage_go(&s);
    const char *at = strstr(c.log.data, "bind ");
    assert_non_null(at);
    static const char *const wanted[] = {
        " cooling:pwm-fan(class/thermal/cooling_device1/cur_state)=-2147483648..2147483647/1",
        " cooling:thermal-cpufreq-0(class/thermal/cooling_device0/cur_state)=-2147483648..2147483647/17",
        " throttle.package(devices/system/cpu/cpu0/thermal_throttle/package_throttle_count)=",
        (" throttle.cpu0.count(devices/system/cpu/cpu0/thermal_throttle/core_throttle_count)=-2147483648.."
         "2147483647/17"),
        " throttled.now(devices/platform/soc/soc:firmware/get_throttled)=0..0/11",
        " throttled.since(devices/platform/soc/soc:firmware/get_throttled)=-2147483648..2147483647/25"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strstr(at, wanted[i]))
            fail_msg("%s lacks %s", at, wanted[i]);
    assert_true(stage_told(
        &s, "throttled.since of local: voltage too low, throttled, since the device was started; check its "
            "power supply and its cooling"));
    assert_false(stage_told(&s, "throttled.now of local"));
    stage_control_end(&s);
}

/* Zones "z1" .. "z70", and counters of throttling behind them. */
static void begin_large(struct stage *s, struct stage_control *c, const char *job, unsigned counters)
{
    char path[96], type[8];
    stage_control_begin(s, c, job);
    for (unsigned i = 1; i <= 70; i++) {
        snprintf(path, sizeof path, "class/thermal/thermal_zone%u/type", i);
        snprintf(type, sizeof type, "z%u", i);
        stage_file_add(c, path, type, false);
        snprintf(path, sizeof path, "class/thermal/thermal_zone%u/temp", i);
        stage_file_add(c, path, "42000", false);
    }
    for (unsigned i = 0; i < counters; i++) {
        snprintf(path, sizeof path, "devices/system/cpu/cpu%u/thermal_throttle/core_throttle_count", i);
        stage_file_add(c, path, "7", false);
    }
    stage_file_add(c, FOLDER "stats/time_in_state", "600000 1\n1200000 2\n1800000 3\n", false);
}

/* The sensors of the last BIND, without their files. */
static void last_bound(const struct stage_control *c, struct qs_buf *out)
{
    const char *at = c->log.data ? c->log.data : "", *next;
    while ((next = strstr(at, "bind ")) != NULL)
        at = next + 5;
    for (; *at; at++) {
        qs_buf_add(out, at, strcspn(at, "("));
        qs_buf_char(out, ' ');
        at += strcspn(at, " \n");
        if (*at == '\n')
            break;
    }
}

/* More than the agent reads: limits, what the job names, and what tells of throttling come first. */
static void test_more_than_there_is_room_for(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    QS_BUF(bound);
    begin_large(&s, &c,
                ONE_ARM "conditions: {frequency: 600MHz, gate: [{sensor: 'thermal:z70', below: 50C}, "
                        "{sensor: 'thermal:z69', below: 50C}]}\n",
                2);
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    last_bound(&c, &bound);
    static const char first[] = "pin:policy0.min pin:policy0.max thermal:z69 thermal:z70 throttle.cpu0.count "
                                "throttle.cpu1.count residency:policy0 thermal:cpu-thermal thermal:z1 ";
    assert_true(bound.len > sizeof first);
    assert_memory_equal(bound.data, first, sizeof first - 1);
    assert_non_null(strstr(bound.data, "thermal:z56 "));
    assert_null(strstr(bound.data, "thermal:z57 "));
    assert_true(stage_told(&s, "local has more sensors than its agent reads (64): 9 of them are left out "
                               "(thermal:z60, thermal:z61, thermal:z62, ...); those that a gate"));
    assert_true(stage_told(&s, ": 12 of them are left out (thermal:z57, "));
    assert_false(stage_told(&s, "tell of throttling"));
    stage_control_end(&s);
    begin_large(&s, &c, ONE_ARM, 70);
    stage_go(&s);
    assert_true(stage_told(&s,
                           "left out (throttle.cpu64.count, throttle.cpu65.count, throttle.cpu66.count, "
                           "...), also some that tell of throttling: a window is not tainted for what only "
                           "they see; those"));
    stage_control_end(&s);
}

#define GATED(gate) ONE_ARM "conditions: {frequency: 600MHz, gate: " gate "}\n"

/* Heat keeps a limit low: a job that waits until the device is cool begins, any other one says what to do. */
static void test_a_limit_that_heat_lowers(void **state)
{
    (void)state;
    static const struct {
        const char *job, *file, *says, *told;
    } cases[] = {
        {GATED("[{sensor: 'thermal:cpu-thermal', below: 50C}]"), "policy0/scaling_max_freq", "400000",
         "policy0/scaling_max_freq on local is to be `600000` and is lower, `400000`: the device is too hot "
         "for "
         "it, or a service of the device has set it again; the job waits at its gate until "
         "thermal:cpu-thermal has fallen"},
        {GATED("[{sensor: 'thermal:cpu-thermal', below: 50C}]"), "policy0/scaling_min_freq", "0", NULL},
        {GATED("[{sensor: 'thermal:cpu-thermal', below: 50C}]"), "policy0/scaling_max_freq", "800000", NULL},
        {GATED("[{sensor: 'thermal:cpu-thermal', below: 50C}]"), "policy0/scaling_governor", "1", NULL},
        {GATED("[{sensor: 'thermal:cpu-thermal', above: 20C}]"), "policy0/scaling_max_freq", "400000", NULL},
        {GATED("[{sensor: cpu.busy_ratio_ppm, below: 50%}]"), "policy0/scaling_max_freq", "400000", NULL},
        {GATED("none"), "policy0/scaling_max_freq", "400000", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage s;
        struct stage_control c;
        stage_control_begin(&s, &c, cases[i].job);
        c.odd_file = cases[i].file;
        c.odd = QS_TUNE_SLIPPED;
        c.odd_text = cases[i].says;
        stage_go(&s);
        assert_int_equal(s.result.end, cases[i].told ? QS_END_DONE : QS_END_FAILED);
        if (cases[i].told) {
            assert_true(stage_told(&s, cases[i].told));
            assert_true(s.opens > 0);
        } else {
            bool low = strstr(cases[i].file, "_freq") && strtol(cases[i].says, NULL, 10) == 400000;
            assert_non_null(
                strstr(s.result.err.text, low ? "it did not stay, and is lower: the device is too "
                                                "hot for it, or a service of the device has set "
                                                "it again. Let the job wait until it is cool "
                                                "(`gate:` with a temperature `below:`), or hold a "
                                                "lower frequency; `frequency: free`"
                                              : "it did not stay; the kernel or a service"));
            assert_int_equal(s.opens, 0);
        }
        stage_control_end(&s);
    }
}

/* One TUNE has room for 64 writes. */
static void test_more_than_one_tune(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    stage_control_begin(&s, &c, ONE_ARM "conditions: {frequency: max}\n");
    for (unsigned policy = 1; policy <= 16; policy++)
        stage_policy_add(&c, policy, "500000 2000000");
    c.restored_page = 10; /* of 34 that were changed */
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(c.tunes, 2);
    assert_int_equal(c.writes, 68);
    assert_int_equal(c.restores, 1 + 4);
    assert_true(stage_told(&s, "\"policy16: 2000 MHz (its highest)\"],\"files\":68}"));
    assert_true(stage_told(&s, "job.restored {\"files\":34,\"left\":0}"));
    assert_true(stage_all_put_back(&c));
    stage_control_end(&s);
}

/* ---- it is held again ---- */

static unsigned opened; /* windows */

/* Somebody sets the limit in the second window, and it is found there after it. */
static void slips_once(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)run;
    if (++opened == 2) {
        set(s, "scaling_max_freq", "1200000");
        w->taint = "pin:policy0.max";
    }
}

static void begin(struct stage *s, struct stage_control *c,
                  void (*script)(struct stage *s, const struct stage_run *run, struct stage_window *w))
{
    stage_control_begin(s, c, job_text);
    opened = 0;
    s->script = script;
}

static void test_held_again_within_the_run(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    begin(&s, &c, slips_once);
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(c.tunes, 2);
    assert_non_null(strstr(c.log.data, "run 0\ntune " WRITES "run 0\n")); /* no other question for it */
    assert_true(stage_told(&s, "\"files\":4}"));
    assert_true(stage_told(&s, "\"files\":4,\"again\":1}"));
    assert_non_null(strstr(c.stored.data, "policy0/scaling_max_freq 600000: 1200000, 600000: set\n"));
    assert_true(stage_all_put_back(&c));
    assert_string_equal(stage_policy_says(&c, 0, "scaling_max_freq"), "1800000");
    stage_control_end(&s);
}

static void slips_last(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    slips_once(s, run, w);
    if (opened > 1)
        assert_string_equal(stage_policy_says(s->control, 0, "scaling_max_freq"),
                            opened == 2 ? "1200000" : "600000");
}

/* An agent that takes nothing within a run is asked before the next one. */
static void test_held_again_before_the_next_run(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    stage_control_begin(&s, &c, ONE_ARM "conditions: {frequency: 600MHz, repeat_tainted: 0}\n");
    opened = 0;
    s.script = slips_last;
    c.senses_nothing = true;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(c.tunes, 2);
    assert_true(stage_told(&s, "\"again\":1}"));
    stage_control_end(&s);
}

static void slips_always(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)run;
    opened++;
    set(s, "scaling_min_freq", "800000");
    w->taint = "pin:policy0.min";
}

static void test_somebody_keeps_setting_it(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    stage_control_begin(&s, &c, long_job);
    opened = 0;
    s.script = slips_always;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_int_equal(s.result.err.code, QS_E_PRECONDITION);
    assert_string_equal(
        s.result.err.text,
        "something on local keeps setting " FOLDER "scaling_min_freq: after 10 windows in a row "
        "it was elsewhere and put back, the last time it said `800000`; stop what sets it (on a "
        "phone the vendor's thermal or performance service), hold a lower frequency, or write "
        "`frequency: free`");
    assert_int_equal(opened, 10);
    assert_int_equal(c.tunes, 11);
    assert_true(stage_all_put_back(&c));
    stage_control_end(&s);
}

/* Now and then is no reason to give up. */
static void slips_often(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    if (opened % 10 != 9)
        slips_always(s, run, w);
    else
        opened++;
}

static void test_now_and_then(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    stage_control_begin(&s, &c, long_job);
    opened = 0;
    s.script = slips_often;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_true(opened > 30);
    assert_true(stage_told(&s, "\"again\":12}"));
    stage_control_end(&s);
}

/* Too hot: it does not stay. Its windows are marked, and the job goes on. */
static void resists(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    slips_always(s, run, w);
    s->control->odd_file = "policy0/scaling_min_freq";
    s->control->odd = QS_TUNE_SLIPPED;
    s->control->odd_text = "800000";
}

static void test_what_does_not_stay(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    begin(&s, &c, resists);
    s.control->odd_restore = false;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_true(opened > 3);
    assert_false(stage_told(&s, "\"again\""));
    stage_control_end(&s);
}

static void is_refused(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    resists(s, run, w);
    s->control->odd = QS_TUNE_REFUSED;
}

static void test_what_is_refused_then(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    begin(&s, &c, is_refused);
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_non_null(
        strstr(s.result.err.text, "scaling_min_freq failed, it says `800000`: the device refused it"));
    stage_control_end(&s);
}

/* ---- trouble while it is ---- */

static bool strike(unsigned after, enum stage_strike how)
{
    struct stage s;
    struct stage_control c;
    begin(&s, &c, slips_once);
    s.strike = how;
    s.strike_state = "hold";
    s.strike_after = after;
    stage_go(&s);
    bool struck = s.struck > 0;
    enum qs_job_run_end end = struck && how != STRIKE_DOWN ? QS_END_CANCELLED : QS_END_DONE;
    assert_int_equal(s.result.end, end);
    assert_true(stage_all_put_back(&c) || (struck && how == STRIKE_ABANDON));
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
        assert_true(after > 0);
    }
}

static void test_every_row_is_taken(void **state)
{
    (void)state;
    for (unsigned e = 0; e < QS_JI_COUNT; e++)
        if (qs_job_run_find(QS_JS_HOLD, (enum qs_job_run_input)e) && !stage_taken[QS_JS_HOLD][e])
            fail_msg("not taken: hold, %s", qs_job_run_input_text((enum qs_job_run_input)e));
    assert_true(stage_taken[QS_JS_JUDGE][QS_JI_SLIPPED]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_between_two_looks),
        cmocka_unit_test(test_what_throttles),
        cmocka_unit_test(test_more_than_there_is_room_for),
        cmocka_unit_test(test_a_limit_that_heat_lowers),
        cmocka_unit_test(test_more_than_one_tune),
        cmocka_unit_test(test_held_again_within_the_run),
        cmocka_unit_test(test_held_again_before_the_next_run),
        cmocka_unit_test(test_somebody_keeps_setting_it),
        cmocka_unit_test(test_now_and_then),
        cmocka_unit_test(test_what_does_not_stay),
        cmocka_unit_test(test_what_is_refused_then),
        cmocka_unit_test(test_trouble),
        cmocka_unit_test(test_every_row_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
