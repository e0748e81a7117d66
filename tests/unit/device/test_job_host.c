/* Rules and metrics that are commands of this machine: when they are asked, what they are given, and what
 * becomes of their answers and of their failures. */
#include "stage.h"

#include <stdio.h>

#include "config/farm/farm.h"
#include "device/activity/host.h"

extern const char *(*stage_command)(const char *name, const char *input);
extern unsigned stage_commands, stage_commands_running;

static char ask[] = "ask", reading[] = "read", other[] = "other", enough[] = "enough", power[] = "power",
            milliwatts[] = "mW";
static char *argv_of[3][1] = {{ask}, {reading}, {other}};
static struct qs_farm_hook rules[] = {{.name = enough, .command = {argv_of[0], 1}, .timeout_ns = 1},
                                      {.name = other, .command = {argv_of[2], 1}, .timeout_ns = 1}};
static struct qs_farm_hook metrics[] = {
    {.name = power, .command = {argv_of[1], 1}, .timeout_ns = 1, .unit = milliwatts, .scale = 1000}};
static const struct qs_farm_config farm = {
    .rules = rules, .rule_count = 2, .metrics = metrics, .metric_count = 1};

#define JOB(plan)                                                                                            \
    "quiesce: 1\nbenchmarks: [{name: work, argv: [work]}]\n"                                                 \
    "plan: {seed: 1, blocks: {min: 2, max: 2}, window: {iterations: 4}, " plan "}\n"

static void begin(struct stage *s, const char *job, const char *(*command)(const char *, const char *))
{
    stage_command = command;
    stage_commands = 0;
    stage_init(s, job);
    s->parts.farm = &farm;
}

static const char *enough_at_12(const char *name, const char *input)
{
    int n = -1;
    const char *at = strstr(input, "\"n\":");
    assert_string_equal(name, "ask");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "\"n\":%d", &n), 1);
    assert_non_null(strstr(input, "\"version\":1,\"rule\":\"enough\""));
    assert_non_null(strstr(input, "\"durations_ns\":[10000000,"));
    assert_int_equal(input[strlen(input) - 1], '\n');
    return n >= 12 ? "{\"stop\": true, \"reason\": \"12 do\"}" : "{\"stop\":false}\n";
}

static void test_a_rule_ends_runs(void **state)
{
    (void)state;
    struct stage s;
    begin(&s, JOB("stop: {any: [{external: enough}, {fixed: 100}]}"), enough_at_12);
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    for (size_t i = 0; i < s.run_count; i++) {
        assert_int_equal(s.runs[i].windows, s.runs[i].block == 0 ? 1 : 3);
        assert_string_equal(s.runs[i].stop_reason,
                            s.runs[i].block == 0 ? "" : "external(enough); enough: 12 do");
    }
    assert_int_equal(stage_commands, 6); /* never in the pilot */
    assert_int_equal(s.tokens, 0);
    stage_done(&s);
}

static const char *never(const char *name, const char *input)
{
    (void)input;
    return strcmp(name, "ask") == 0 ? NULL : "yes";
}

static size_t times(const struct stage *s, const char *text)
{
    size_t n = 0;
    for (const char *at = strstr(s->news.data, text); at; at = strstr(at + 1, text))
        n++;
    return n;
}

/* One exits badly, the others answer nonsense: no rule holds, the cap ends the run, and it says why. Each is
 * told once in a run of two windows. */
static void test_rules_that_fail(void **state)
{
    (void)state;
    struct stage s;
    begin(
        &s,
        JOB("stop: {any: [{external: enough}, {external: other}]}, caps: {iterations: 8}, metrics: [power]"),
        never);
    s.token_refusals = 2;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    for (size_t i = 0; i < s.run_count; i++)
        if (s.runs[i].block > 0)
            assert_string_equal(s.runs[i].stop_reason,
                                "cap of 8 iterations; rule enough failed: it ended with exit cod");
    assert_int_equal(times(&s, "host.failed {\"what\":\"rule\",\"name\":\"enough\",\"why\":\"it ended with"),
                     2);
    assert_int_equal(
        times(&s, "host.failed {\"what\":\"rule\",\"name\":\"other\",\"why\":\"its answer is not"), 2);
    assert_int_equal(times(&s, "host.failed {\"what\":\"metric\",\"name\":\"power\""), 2);
    assert_int_equal(times(&s, "host.failed"), 6);
    stage_done(&s);
}

static const char *watts(const char *name, const char *input)
{
    assert_string_equal(name, "read");
    assert_non_null(strstr(input, "\"metric\":\"power\""));
    return stage_commands % 2 ? "1.2345\n" : "1 W";
}

static void test_a_metric_is_kept_with_its_window(void **state)
{
    (void)state;
    struct stage s;
    begin(&s, JOB("metrics: [power]"), watts);
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(stage_commands, 2); /* counted windows alone */
    struct qs_evidence_row row[QS_JOB_HOOKS_MAX];
    assert_int_equal(qs_activity_host_evidence(s.job, row), 1);
    assert_string_equal(row[0].kind, "metric:power_mW");
    assert_false(row[0].present); /* "1 W" is not a number */
    assert_true(stage_told(
        &s, "host.failed {\"what\":\"metric\",\"name\":\"power\",\"why\":\"its answer is not one"));
    stage_done(&s);
}

static const char *watts_always(const char *name, const char *input)
{
    (void)name;
    (void)input;
    return " -1.2345e0 ";
}

static void test_scale(void **state)
{
    (void)state;
    struct stage s;
    begin(&s, JOB("metrics: [power]"), watts_always);
    stage_go(&s);
    struct qs_evidence_row row[QS_JOB_HOOKS_MAX];
    assert_int_equal(qs_activity_host_evidence(s.job, row), 1);
    assert_true(row[0].present && row[0].after == -1235 && row[0].before == INT64_MIN);
    stage_done(&s);
}

static const char *said;
static char given[2][1000]; /* the first input of the rule and of the metric */

static const char *says(const char *name, const char *input)
{
    char *to = given[strcmp(name, "ask") == 0 ? 0 : 1];
    if (to[0] == '\0')
        snprintf(to, sizeof given[0], "%s", input);
    return strcmp(name, "ask") == 0 ? "{\"stop\": true}" : said;
}

#define RUN "00000000000000000000000000000000" /* in place of what was drawn */

static void expect_given(size_t which, const char *want)
{
    static const char key[] = "\"run\":\"";
    char *uid = strstr(given[which], key);
    assert_non_null(uid);
    memcpy(uid + strlen(key), RUN, strlen(RUN));
    assert_string_equal(given[which], want);
}

static void opens_and_closes(struct stage *s, struct qs_msg_closed *m, struct qs_session_quiet *quiet)
{
    (void)s;
    (void)quiet;
    m->opened_ns = 5000;
    m->closed_ns = 9000;
}

/* Every field of what they read; what one number is. */
static void test_what_commands_are_given_and_say(void **state)
{
    (void)state;
    static const struct {
        const char *said;
        int64_t value; /* INT64_MIN: none */
    } cases[] = {{"1.5 \r\n\t", 1500}, {"-0.0004", 0},       {"", INT64_MIN},
                 {"W", INT64_MIN},     {"1e400", INT64_MIN}, {"9.1e12", INT64_MIN},
                 {"nan", INT64_MIN},   {"1 2", INT64_MIN},   {"9e12", 9000000000000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage s;
        struct qs_evidence_row row[QS_JOB_HOOKS_MAX];
        said = cases[i].said;
        memset(given, 0, sizeof given);
        begin(&s, JOB("metrics: [power], stop: {any: [{external: enough}, {fixed: 100}]}"), says);
        s.record.closed = opens_and_closes;
        stage_go(&s);
        assert_int_equal(qs_activity_host_evidence(s.job, row), 1);
        assert_int_equal(row[0].present, cases[i].value != INT64_MIN);
        assert_int_equal(row[0].after, cases[i].value);
        assert_string_equal(s.runs[s.run_count - 1].stop_reason, "external(enough)");
        stage_done(&s);
    }
    expect_given(0, "{\"version\":1,\"rule\":\"enough\",\"job\":7,\"device\":\"local\",\"point\":\"work\","
                    "\"arm\":\"work\",\"block\":1,\"run\":\"" RUN "\",\"window\":0,"
                    "\"n\":4,\"left_out\":0,\"measured_ns\":40000000,\"durations_ns\":[10000000,10000000,"
                    "10000000,10000000]}\n");
    expect_given(1, "{\"version\":1,\"metric\":\"power\",\"job\":7,\"device\":\"local\",\"point\":\"work\","
                    "\"arm\":\"work\",\"block\":1,\"run\":\"" RUN "\",\"window\":0,"
                    "\"iterations\":4,\"opened_ns\":5000,\"closed_ns\":9000}\n");
}

#define WHY                                                                                                  \
    "this reason alone is as long as one may be before it is cut, and eight of them do not fit in one text"

static const char *says_a_lot(const char *name, const char *input)
{
    (void)name;
    (void)input;
    return "{\"stop\": true, \"reason\": \"" WHY "\"}";
}

/* As many rules as there may be, each with much to say: what there is room for is kept. */
static void test_long_reasons_are_cut(void **state)
{
    (void)state;
    static char names[QS_JOB_HOOKS_MAX][2];
    struct qs_farm_hook all[QS_JOB_HOOKS_MAX];
    for (size_t i = 0; i < QS_JOB_HOOKS_MAX; i++) {
        names[i][0] = (char)('a' + i);
        all[i] = (struct qs_farm_hook){.name = names[i], .command = {argv_of[0], 1}, .timeout_ns = 1};
    }
    const struct qs_farm_config many = {.rules = all, .rule_count = QS_JOB_HOOKS_MAX};
    struct stage s;
    begin(&s,
          JOB("stop: {all: [{external: a}, {external: b}, {external: c}, {external: d}, {external: e},"
              " {external: f}, {external: g}, {external: h}]}"),
          says_a_lot);
    s.parts.farm = &many;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    const char *reason = s.job->run.stop_reason;
    assert_int_equal(strnlen(reason, sizeof s.job->run.stop_reason + 1), sizeof s.job->run.stop_reason - 1);
    assert_non_null(strstr(reason, "; a: this reason alone is as long as"));
    assert_non_null(strstr(reason, "; b: this reason"));
    stage_done(&s);
}

static struct stage *stage;
static enum qs_job_run_input strike;

static const char *strikes(const char *name, const char *input)
{
    struct qs_err err = QS_ERR_INIT;
    (void)name;
    (void)input;
    qs_fail(&err, QS_E_LINK, "the cable is out");
    if (strike == QS_JI_ABANDON)
        qs_job_run_abandon(stage->job);
    else if (strike == QS_JI_DOWN)
        qs_job_run_on_down(stage->job, &err);
    else
        qs_job_run_cancel(stage->job, "enough of it");
    assert_int_equal(stage_commands_running, 0);
    return "{\"stop\":false}";
}

/* Nothing is left behind, and nobody is asked again; with this every move of the state `ask` was made. */
static void test_struck_while_asked(void **state)
{
    (void)state;
    static const enum qs_job_run_input inputs[] = {QS_JI_CANCEL, QS_JI_DOWN, QS_JI_ABANDON};
    for (size_t i = 0; i < 3; i++) {
        struct stage s;
        strike = inputs[i];
        stage = &s;
        begin(&s, JOB("stop: {any: [{external: enough}, {fixed: 100}]}"), strikes);
        stage_play(&s);
        assert_int_equal(s.tokens, 0);
        assert_int_equal(s.result.end, strike == QS_JI_DOWN ? QS_END_FAILED : QS_END_CANCELLED);
        assert_int_equal(stage_commands, 1);
        assert_true(stage_taken[QS_JS_ASK][inputs[i]]);
        stage_done(&s);
    }
    assert_true(stage_taken[QS_JS_JUDGE][QS_JI_ASK] && stage_taken[QS_JS_ASK][QS_JI_DONE]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rule_ends_runs),
        cmocka_unit_test(test_rules_that_fail),
        cmocka_unit_test(test_a_metric_is_kept_with_its_window),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_what_commands_are_given_and_say),
        cmocka_unit_test(test_long_reasons_are_cut),
        cmocka_unit_test(test_struck_while_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
