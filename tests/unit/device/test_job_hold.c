/* Jobs with `frequency: hold`, on a device of which nothing may be written. */
#include <stdio.h>

#include "stage_control.h"

#define POLICY0 "devices/system/cpu/cpufreq/policy0/"
#define BUSY    "; kept busy until it is there, nothing is written)"

#define JOB(conditions)                                                                                      \
    "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\narms: {a: {argv: [a]}}\n"                         \
    "plan: {seed: 1, blocks: {min: 2, max: 2}, until: {interval: 0%}, warmup: {iterations: 1},"              \
    " window: {iterations: 2}}\nconditions: {" conditions "}\n"

static struct qs_buf out; /* what was recorded */

static void begin(struct stage *s, struct stage_control *c, const char *job)
{
    stage_control_begin(s, c, job);
    for (size_t i = 0; i < c->file_count; i++)
        c->files[i].writable = false;
    c->changes_nothing = true; /* nor has it a place to keep what to put back */
    stage_file_add(c, POLICY0 "scaling_cur_freq", "600000", false);
    stage_file_add(c, POLICY0 "stats/time_in_state", "600000 1\n1200000 2\n1800000 3\n", false);
    stage_file_add(c, POLICY0 "stats/total_trans", "4711", false);
    qs_buf_clear(&out);
    s->record.out = &out;
}

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        n++;
    return n;
}

static void test_nothing_is_written(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    begin(&s, &c, JOB("frequency: hold"));
    stage_go(&s);
    if (s.result.end != QS_END_DONE)
        fail_msg("%s", s.result.err.text);
    assert_int_equal(c.writes + c.tunes, 0);
    assert_int_equal(count_of(c.log.data, "bind pin:"), 1); /* once for all runs */
    assert_non_null(strstr(c.log.data,
                           "bind pin:policy0.max(policy0/scaling_max_freq)=1800000..1800000/3"
                           " freq:policy0_khz(policy0/scaling_cur_freq)=0..9223372036854775807/1"
                           " residency:policy0(policy0/stats/time_in_state)=1800000..1800000/21"
                           " transitions:policy0(policy0/stats/total_trans)=0..9223372036854775807/17"
                           " thermal:cpu-thermal("));
    assert_true(
        stage_told(&s, "job.pinned {\"held\":[\"policy0: 1800 MHz (its highest" BUSY "\"],\"files\":0}"));
    assert_non_null(strstr(out.data, "timeout=5000000000 then=0\n  gate=freq:policy0_khz flags=33"));
    assert_int_equal(count_of(out.data, "freq:policy0_khz flags=33 lo=1800000 hi=0 dwell=0 "
                                        "timeout=10000000000 then=0"),
                     count_of(out.data, "OPEN "));
    stage_control_end(&s);
}

static void limit_moves(struct stage *s, const struct stage_run *run, struct stage_window *w)
{
    (void)run;
    if (s->opens == 2) {
        for (size_t i = 0; i < s->control->file_count; i++) {
            struct stage_file *f = &s->control->files[i];
            if (strstr(f->path, "scaling_max_freq"))
                snprintf(f->value, sizeof f->value, "1800000");
        }
        w->taint = "pin:policy0.max";
    }
}

/* A device that was too hot at first, and cools down: what is held is looked at again before the next run. */
static void test_a_limit_that_rises(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    begin(&s, &c, JOB("frequency: hold, repeat_tainted: 0"));
    for (size_t i = 0; i < c.file_count; i++)
        if (strstr(c.files[i].path, "scaling_max_freq"))
            snprintf(c.files[i].value, sizeof c.files[i].value, "1300000");
    s.script = limit_moves;
    stage_go(&s);
    if (s.result.end != QS_END_DONE)
        fail_msg("%s", s.result.err.text);
    assert_true(stage_told(&s, "policy0: 1200 MHz (its upper limit now, of 1800 MHz"));
    assert_true(stage_told(&s, "policy0: 1800 MHz (its highest"));
    assert_int_equal(count_of(c.log.data, "survey\n"), 2);
    assert_non_null(strstr(c.log.data, "pin:policy0.max(policy0/scaling_max_freq)=1300000..1300000/3"));
    assert_non_null(strstr(c.log.data, "pin:policy0.max(policy0/scaling_max_freq)=1800000..1800000/3"));
    assert_int_equal(count_of(out.data, "lo=1200000"), 2);
    assert_int_equal(count_of(out.data, "lo=1800000"), 1);
    assert_int_equal(c.writes + c.tunes, 0);
    stage_control_end(&s);
}

static void test_who_cannot(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    begin(&s, &c, JOB("frequency: hold"));
    c.holds_nothing = true;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_non_null(strstr(s.result.err.text, "`frequency: hold`: the agent on local is too old to keep"));
    stage_control_end(&s);
    begin(&s, &c, JOB("frequency: hold, governor: performance"));
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    assert_non_null(strstr(s.result.err.text, "cannot change what the job's conditions want"));
    stage_control_end(&s);
}

/* Arms with other processors are to hold other clocks; one that holds none is kept waiting for none. */
static void test_arms_of_their_own(void **state)
{
    (void)state;
    struct stage s;
    struct stage_control c;
    begin(&s, &c,
          "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\n"
          "condition_sets: {one: {affinity: \"0\"}, other: {affinity: \"1\"}, none: {frequency: free}}\n"
          "arms: {a: {conditions: one}, b: {conditions: other}, c: {conditions: none}}\n"
          "plan: {seed: 1, blocks: {min: 1, max: 1}, until: {interval: 0%}, warmup: {iterations: 0},"
          " window: {iterations: 2}}\nconditions: {frequency: hold, gate: none}\n");
    stage_policy_add(&c, 1, "500000 2000000");
    stage_file_add(&c, "devices/system/cpu/cpufreq/policy1/scaling_cur_freq", "500000", false);
    stage_go(&s);
    if (s.result.end != QS_END_DONE)
        fail_msg("%s", s.result.err.text);
    assert_int_equal(count_of(out.data, "\n  gate=freq:"), 2);
    assert_int_equal(count_of(out.data, "gate=freq:policy0_khz flags=33 lo=1800000"), 1);
    assert_int_equal(count_of(out.data, "gate=freq:policy1_khz flags=33 lo=2000000"), 1);
    stage_control_end(&s);
}

int main(void)
{
    qs_buf_init(&out);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_written),
        cmocka_unit_test(test_a_limit_that_rises),
        cmocka_unit_test(test_who_cannot),
        cmocka_unit_test(test_arms_of_their_own),
    };
    int failed = cmocka_run_group_tests_name("device job hold", tests, NULL, NULL);
    qs_buf_done(&out);
    return failed;
}
