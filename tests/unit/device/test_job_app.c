/* The apps of a job's conditions are looked at before anything is measured: each row of that state. */
#include "stage.h"

static const char app_job[] =
    "quiesce: 1\n"
    "benchmarks: [{name: work, argv: [work], setup: [mk]}]\n"
    "conditions: {app: {package: org.example, debuggable: no, compiled: speed}}\n"
    "condition_sets:\n"
    "  other: {app: {package: org.other, debuggable: yes}}\n"
    "  third: {app: {package: org.third, debuggable: yes}}\n"
    "arms: {a: {argv: [a]}, b: {argv: [b], conditions: other}, c: {argv: [c], conditions: third}}\n"
    "plan: {seed: 1, blocks: {min: 3, max: 3}, until: {interval: 0%}, warmup: {iterations: 1},"
    " window: {iterations: 5}}\n";

static const char dump[] = "Packages:\n"
                           "  Package [org.example] (1):\n"
                           "    versionName=1.0\n"
                           "    flags=[ HAS_CODE ]\n"
                           "  Package [org.other] (2):\n"
                           "    flags=[ DEBUGGABLE ]\n"
                           "  Package [org.third] (3):\n"
                           "    pkgFlags=[ DEBUGGABLE ]\n"
                           "Dexopt state:\n"
                           "  [org.example]\n"
                           "    path: /data/app/org.example/base.apk\n"
                           "      arm64: [status=speed] [reason=cmdline]\n";

static void test_each_app_is_asked_once(void **state)
{
    (void)state;
    struct stage s;
    stage_init(&s, app_job);
    s.dump = dump;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    static const char first[] =
        "dumpsys package org.example dumpsys package org.other dumpsys package org.third mk ";
    assert_memory_equal(s.hooks.data, first, sizeof first - 1);
    const char *last =
        "environment {\"achieved\":{\"app org.example\":\"1.0, release build, compiled: speed\",\"app "
        "org.other\":\"debuggable, compiled: unknown\",\"app org.third\":\"debuggable, compiled: "
        "unknown\"}}\n";
    if (!strstr(s.left.data, last))
        fail_msg("%s", s.left.data);
    stage_done(&s);
}

static void refuse(const char *text, const char *why)
{
    struct stage s;
    stage_init(&s, app_job);
    s.dump = text;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    if (!strstr(s.result.err.text, why))
        fail_msg("%s", s.result.err.text);
    assert_int_equal(s.opens, 0);
    assert_null(strstr(s.hooks.data, "mk"));
    assert_int_equal(s.sessions_ended, s.sessions);
    stage_done(&s);
}

static void test_refused(void **state)
{
    (void)state;
    refuse("Unable to find package: org.example\n", "local has no app org.example");
    refuse("Packages:\n  Package [org.example] (1):\n    flags=[ DEBUGGABLE ]\n",
           "is a build that may be debugged");
    refuse(NULL, "`dumpsys package org.example` on local failed, so that nobody knows how org.example was "
                 "built: no space");
}

/* Before answer number `after` of the state. */
static bool strike(enum stage_strike how, unsigned after, enum qs_job_run_end end)
{
    struct stage s;
    stage_init(&s, app_job);
    s.dump = dump;
    s.strike = how;
    s.strike_state = "check";
    s.strike_after = after;
    stage_go(&s);
    bool struck = s.struck > 0;
    if (struck) {
        assert_int_equal(s.result.end, end);
        assert_int_equal(s.sessions, how == STRIKE_DOWN ? 2 : 1);
        assert_true(how == STRIKE_DOWN || s.opens == 0);
    }
    assert_int_equal(s.conflicts, 0);
    stage_done(&s);
    return struck;
}

static void test_trouble(void **state)
{
    (void)state;
    for (unsigned after = 0; after < 3; after++) {
        assert_true(strike(STRIKE_DOWN, after, QS_END_DONE));
        assert_true(strike(STRIKE_CANCEL, after, QS_END_CANCELLED));
        assert_true(strike(STRIKE_ABANDON, after, QS_END_CANCELLED));
    }
    assert_true(strike(STRIKE_DOWN, 3, QS_END_DONE)); /* the last one's fact */
}

static void test_every_row_is_taken(void **state)
{
    (void)state;
    for (enum qs_job_run_input e = 0; e < QS_JI_COUNT; e++)
        if (!stage_taken[QS_JS_CHECK][e] && qs_job_run_find(QS_JS_CHECK, e))
            fail_msg("not taken: %s", qs_job_run_input_text(e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_app_is_asked_once),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_trouble),
                                       cmocka_unit_test(test_every_row_is_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
