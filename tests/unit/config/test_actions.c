/* The actions of a job, as they are read and as they are told; what is wrong with them is in golden/config.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "config/job/job.h"

static struct qs_job_spec *parse(const char *text)
{
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    struct qs_job_spec *spec = NULL;
    qs_problems_init(&problems);
    if (!qs_doc_read("job", text, strlen(text), false, &doc, &problems) ||
        !qs_job_from_doc(doc, &spec, &problems))
        fail_msg("%s: %s", problems.at[0].path, problems.at[0].what);
    qs_problems_done(&problems);
    qs_doc_free(doc);
    return spec;
}

#define S   INT64_C(1000000000)
#define JOB "quiesce: 1\nbenchmarks: [{name: a, argv: [a], params: {n: [1]}}]\n"

static const char all[] =
    JOB "actions:\n"
        "  before_job: [{sleep: 1min30s}, {print: \"hello\"}]\n"
        "  before_session:\n"
        "    - {run: [sync, -f], timeout: 7s, ignore_failure: true}\n"
        "    - {run: {shell: \"a | b\"}}\n"
        "    - {write: {file: class/leds/red/brightness, value: \"1 2\"}}\n"
        "  before_run:\n"
        "    - {cool_down: {sensor: \"thermal:cpu\", below: 40C}}\n"
        "    - {cool_down: {sensor: load1_milli, below: 1.5, timeout: 1d, on_timeout: go_on}}\n"
        "    - {warm_up: {sensor: \"freq:policy0_khz\", above: 1.8GHz, cpus: big}}\n"
        "    - {warm_up: {for: 9min, cpus: \"0-3,6\"}}\n"
        "  after_window:\n"
        "    - do:\n"
        "        - {if: {sensor: \"thermal:cpu\", band: [20C, 30C]}, then: [{sleep: 1ms}], else: [{print: "
        "\"{n}\"}],"
        " unreadable: else}\n"
        "        - {if: {sensor: \"thermal:cpu\", above: 20C}, then: [{sleep: 1s}, {sleep: 2s}], unreadable: "
        "then}\n"
        "      name: both\n";

static void test_values(void **state)
{
    (void)state;
    struct qs_job_spec *s = parse(all);
    const struct qs_action *a = s->actions.stages[QS_STAGE_BEFORE_JOB].at;
    assert_int_equal(a[0].limit_ns, 90 * S);
    assert_string_equal(a[1].text, "hello");
    a = s->actions.stages[QS_STAGE_BEFORE_SESSION].at;
    assert_int_equal(s->actions.stages[QS_STAGE_BEFORE_SESSION].count, 3);
    assert_int_equal(a[0].argv.count, 2);
    assert_int_equal(a[0].limit_ns, 7 * S);
    assert_true(a[0].ignore_failure);
    assert_int_equal(a[1].limit_ns, 0); /* that of the benchmark */
    assert_false(a[1].ignore_failure);
    assert_string_equal(a[2].file, "class/leds/red/brightness");
    assert_string_equal(a[2].text, "1 2");
    a = s->actions.stages[QS_STAGE_BEFORE_RUN].at;
    assert_true(a[0].when.has_hi && !a[0].when.has_lo);
    assert_int_equal(a[0].when.hi, 40000);
    assert_int_equal(a[0].limit_ns, 600 * S);
    assert_int_equal(a[0].on_timeout, QS_LATE_FAIL);
    assert_int_equal(a[1].when.hi, 1500);
    assert_int_equal(a[1].on_timeout, QS_LATE_GO_ON);
    assert_int_equal(a[2].when.lo, 1800000);
    assert_int_equal(a[2].limit_ns, 120 * S);
    assert_string_equal(a[2].cpus, "big");
    assert_int_equal(a[3].for_ns, 540 * S);
    assert_int_equal(a[3].limit_ns, 0);
    a = s->actions.stages[QS_STAGE_AFTER_WINDOW].at;
    assert_string_equal(a[0].text, "both");
    assert_int_equal(a[0].then.at[0].unreadable, QS_UNREAD_ELSE);
    assert_int_equal(a[0].then.at[1].unreadable, QS_UNREAD_THEN);
    assert_int_equal(a[0].then.at[1].then.count, 2);
    assert_true(qs_job_has_actions(&s->actions));
    assert_true(qs_actions_have(&s->actions.stages[QS_STAGE_AFTER_WINDOW], QS_ACTION_PRINT));
    assert_false(qs_actions_have(&s->actions.stages[QS_STAGE_AFTER_WINDOW], QS_ACTION_WRITE));
    assert_true(qs_actions_read(&s->actions.stages[QS_STAGE_AFTER_WINDOW], "thermal:cpu"));
    assert_false(qs_actions_read(&s->actions.stages[QS_STAGE_AFTER_WINDOW], "thermal:gpu"));
    qs_job_free(s);
    s = parse(JOB);
    assert_false(qs_job_has_actions(&s->actions));
    qs_job_free(s);
}

static void test_words(void **state)
{
    (void)state;
    struct qs_job_spec *s = parse(all);
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_job_actions_put(&j, &s->actions);
    assert_string_equal(
        out.data,
        "{\"before_job\":\"sleep 1 min 30 s; print \\\"hello\\\"\","
        "\"before_session\":\"run sync -f, 7.00 s at most, whatever it ends with; run in a shell: a | b; "
        "write \\\"1 2\\\" to class/leds/red/brightness\","
        "\"before_run\":\"cool_down until thermal:cpu is at most 40.0 °C, 10 min 0 s at most; "
        "cool_down until load1_milli is at most 1.50, 1 d 0 h at most, then go on; "
        "warm_up of big until freq:policy0_khz is at least 1800 MHz, 2 min 0 s at most; "
        "warm_up of 0-3,6 for 9 min 0 s\","
        "\"after_window\":\"do both (if thermal:cpu is from 20.0 °C to 30.0 °C and can be read "
        "then (sleep 1.00 ms) else (print \\\"{n}\\\"); "
        "if thermal:cpu is at least 20.0 °C or cannot be read then (sleep 1.00 s; sleep 2.00 s))\"}");
    qs_job_free(s);
}

/* 64 steps of one list, 256 in all, lists eight deep: these are the last that fit. */
static void test_limits(void **state)
{
    (void)state;
    QS_BUF(text);
    qs_buf_str(&text, JOB "actions: {before_run: [");
    for (int i = 0; i < 4; i++) { /* 4 + 252 */
        qs_buf_fmt(&text, "%s{do: [", i > 0 ? ", " : "");
        for (int k = 0; k < 63; k++)
            qs_buf_fmt(&text, "%s{sleep: 1s}", k > 0 ? ", " : "");
        qs_buf_str(&text, "]}");
    }
    qs_buf_str(&text, "], after_run: [{sleep: 1s}");
    for (int k = 1; k < QS_ACTIONS_MAX; k++)
        qs_buf_str(&text, ", {sleep: 1s}");
    qs_buf_str(&text, "], before_window: [");
    for (int k = 1; k < QS_ACTIONS_DEEP_MAX; k++)
        qs_buf_str(&text, "{do: [");
    qs_buf_str(&text, "{sleep: 1s}");
    for (int k = 1; k < QS_ACTIONS_DEEP_MAX; k++)
        qs_buf_str(&text, "]}");
    qs_buf_str(&text, "]}\n");
    struct qs_job_spec *s = parse(text.data);
    assert_int_equal(s->actions.stages[QS_STAGE_AFTER_RUN].count, QS_ACTIONS_MAX);
    assert_int_equal(s->actions.stages[QS_STAGE_BEFORE_RUN].at[3].then.count, 63);
    qs_job_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
