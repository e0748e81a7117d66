/* Mode app: Android's commands before a run and at the end, on a phone of which the stage knows what is
 * installed; each row of both states. */
#include "stage.h"

#include <stdio.h>

static const char two_builds[] =
    "quiesce: 1\n"
    "benchmarks: [{name: start, mode: app, app: {package: org.example, apk: app.apk, activity: .Main, "
    "compile: "
    "speed, keep: false}}]\n"
    "arms:\n"
    "  a: {build: {label: a, files: {app.apk: old.apk}}}\n"
    "  b: {build: {label: b, files: {app.apk: new.apk}}}\n"
    "plan: {seed: 1, order: AB, blocks: {min: 2, max: 2}, until: {interval: 0%}, warmup: {iterations: 0},"
    " window: {iterations: 1}}\n";
static const char a_test[] =
    "quiesce: 1\n"
    "benchmarks: [{name: t, mode: app, inputs: {t.apk: new.apk},\n"
    "  app: {package: org.example, test_package: org.example.test, test_apk: t.apk}}]\n"
    "plan: {seed: 1, blocks: {min: 1, max: 1}, until: {interval: 0%}, warmup: {iterations: 0},"
    " window: {iterations: 1}}\n";

/* The stage's files have hashes of one letter: that with which their path begins. */
static struct phone {
    char has, has_test; /* 0: nothing */
    const char *filter;
    bool debuggable, no_flags, stubborn, unlike_android;
    const char *refuses, *how; /* a command, and what it says */
} phone;

static const char *dump_of(const char *name, const char *filter)
{
    static char text[512];
    snprintf(text, sizeof text,
             "Packages:\n  Package [%s] (1):\n    versionName=1.0\n%s"
             "Dexopt state:\n  [%s]\n    path: /x\n      arm64: [status=%s]\n",
             name,
             phone.no_flags     ? ""
             : phone.debuggable ? "    flags=[ DEBUGGABLE ]\n"
                                : "    flags=[ HAS_CODE ]\n",
             name, filter);
    return text;
}

static bool is(const char *words, const char *command)
{
    return strncmp(words, command, strlen(command)) == 0;
}

static const char *says(const char *words, struct qs_msg_hook_done *m)
{
    static char hash[80];
    bool test = strstr(words, "org.example.test") != NULL;
    char *has = test ? &phone.has_test : &phone.has;
    if (phone.refuses && is(words, phone.refuses)) {
        m->code = 1;
        return phone.how;
    }
    if (phone.unlike_android) {
        m->how = QS_HOOK_NOT_STARTED;
        m->code = 2;
        return "there is no pm";
    }
    if (is(words, "pm path")) {
        m->code = *has ? 0 : 1;
        return !*has  ? ""
               : test ? "package:/data/app/org.example.test/base.apk\n"
                      : "package:/data/app/o/base.apk\r\n";
    }
    if (is(words, "sha256sum ")) {
        memset(hash, is(words, "sha256sum /data/app/org.example.test/base.apk ") ? phone.has_test : phone.has,
               64);
        memcpy(hash + 64, "  /x\n", 6);
        return hash;
    }
    if (is(words, "pm uninstall ")) {
        *has = 0;
        return "Success\n";
    }
    if (is(words, "pm install -t /cache/")) {
        test = strstr(words, "t.apk") != NULL;
        *(test ? &phone.has_test : &phone.has) = strstr(words, "/cache/0000") && !test ? 'b' : 'a';
        phone.filter = test ? phone.filter : "verify";
        return "Success\n";
    }
    if (is(words, "cmd package compile -m ")) {
        const char *to = words + strlen("cmd package compile -m ");
        phone.filter = phone.stubborn ? phone.filter : is(to, "speed ") ? "speed" : "verify";
        return "Success\n";
    }
    if (is(words, "dumpsys "))
        return dump_of(test ? "org.example.test" : "org.example", test ? "verify" : phone.filter);
    return "";
}

/* Each file's path begins with a letter that a hash may have. */
static void begin(struct stage *s, const char *text)
{
    stage_init(s, text);
    for (size_t i = 0; i < qs_job_file_count(s->spec); i++) {
        char sha256[65] = {0};
        const char *path = qs_job_file_at(s->spec, i)->path;
        memset(sha256, path[0] == 'o' ? 'b' : 'a', 64);
        assert_true(qs_job_bind_file(s->spec, path, sha256));
    }
    s->parts.files = (struct qs_files *)(void *)s;
    s->hook_says = says;
}

/* What am says of one start. */
static bool document(struct stage *s, struct qs_msg_document *m)
{
    static const char text[] = "quiesce: start 1\nLaunchState: COLD\nTotalTime: 10\nWaitTime: 12\nComplete\n";
    static const char passed[] =
        "INSTRUMENTATION_CODE: -1\nquiesce: file x\n{\"benchmarks\": [{\"name\": \"t\", "
        "\"metrics\": {\"timeNs\": {\"runs\": [7]}}}]}";
    const char *now = s->spec->benchmarks[0].android.activity ? text : passed;
    if (m->total_bytes > 0)
        return false;
    m->total_bytes = m->kept_bytes = (uint32_t)strlen(now);
    m->bytes = qs_text_of(now);
    return true;
}

static void expect_hooks(const struct stage *s, const char *want)
{
    if (strcmp(s->hooks.data ? s->hooks.data : "", want) != 0)
        fail_msg("%s", s->hooks.data);
}

#define LOOKED "pm path org.example sha256sum /data/app/o/base.apk "
#define GONE   "pm uninstall org.example "
#define COMPILED                                                                                             \
    "dumpsys package org.example cmd package compile -m speed -f org.example dumpsys package org.example "
#define PUT(arm) "pm install -t /cache/000" arm "/app.apk "

static void test_two_builds_take_turns(void **state)
{
    (void)state;
    struct stage s;
    phone = (struct phone){.filter = "verify"};
    begin(&s, two_builds);
    s.record.piece = document;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    expect_hooks(&s, "pm path org.example " PUT("0") COMPILED LOOKED GONE PUT("1")
                         COMPILED LOOKED GONE PUT("0") COMPILED LOOKED GONE PUT("1") COMPILED GONE);
    assert_int_equal(phone.has, 0);
    assert_non_null(strstr(
        s.left.data, "\"app org.example (a)\":\"1.0, release build, compiled: speed, sha256 bbbbbbbbbbbb\""));
    assert_non_null(strstr(
        s.left.data, "\"app org.example (b)\":\"1.0, release build, compiled: speed, sha256 aaaaaaaaaaaa\""));
    stage_done(&s);
}

static void test_what_was_there_stays(void **state)
{
    (void)state;
    struct stage s;
    phone = (struct phone){.has = 'x', .filter = "speed"};
    begin(&s, a_test);
    s.record.piece = document;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    expect_hooks(&s, "pm path org.example dumpsys package org.example pm path org.example.test pm install -t "
                     "/cache/0000/t.apk dumpsys package org.example.test pm uninstall org.example.test ");
    assert_int_equal(phone.has, 'x');
    stage_done(&s);
}

/* While the link was away anybody may have been at the device. */
static void test_looked_at_again(void **state)
{
    (void)state;
    static const char look[] = "pm path org.example dumpsys package org.example pm path org.example.test ";
    struct stage s;
    phone = (struct phone){.has = 'x', .filter = "speed"};
    begin(&s, a_test);
    s.record.piece = document;
    s.strike = STRIKE_DOWN;
    s.strike_state = "run";
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_int_equal(s.struck, 1);
    const char *first = strstr(s.hooks.data, look);
    if (!first || !strstr(first + 1, look))
        fail_msg("%s", s.hooks.data);
    assert_int_equal(phone.has_test, 0);
    stage_done(&s);
}

static void refuse(const char *job, struct phone is_now, const char *why, char left)
{
    struct stage s;
    phone = is_now;
    begin(&s, job);
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_FAILED);
    if (!strstr(s.result.err.text, why))
        fail_msg("%s", s.result.err.text);
    assert_int_equal(s.opens, 0);
    assert_int_equal(phone.has, left);
    stage_done(&s);
}

static void test_refused(void **state)
{
    (void)state;
    refuse(two_builds, (struct phone){.unlike_android = true},
           "local: `pm path` could not be started: there is no pm (mode `app` needs an Android device)", 0);
    refuse(two_builds, (struct phone){.has = 'c', .filter = "speed"},
           "local has org.example already, with another content than the job's: uninstall it there, or write "
           "`replace: true`",
           'c');
    refuse(two_builds, (struct phone){.has = 'a', .filter = "speed"}, "with another content", 'a');
    refuse(two_builds, (struct phone){.debuggable = true},
           "org.example is a build that may be debugged, which is slower in its own ways", 0);
    refuse(two_builds, (struct phone){.no_flags = true, .filter = "speed"},
           "does not say whether org.example may be debugged", 0);
    refuse(two_builds, (struct phone){.stubborn = true},
           "org.example on local is compiled as `verify` after `cmd package compile -m speed -f`: the device "
           "does "
           "not know it",
           0);
    refuse(
        two_builds,
        (struct phone){.refuses = "pm install", .how = "Failure [INSTALL_FAILED_OLDER_SDK: needs 34]\n"},
        "local: `pm install` exited with code 1: Failure [INSTALL_FAILED_OLDER_SDK: needs 34] (its minSdk is "
        "above the device's Android)",
        0);
    refuse(two_builds, (struct phone){.refuses = "cmd package", .how = "Failure: \x1b[31mno"},
           "`cmd package compile` exited with code 1: Failure: \\x1b[31mno", 0);
    refuse(two_builds, (struct phone){.refuses = "dumpsys", .how = ""},
           "`dumpsys package` exited with code 1", 0);
    refuse(a_test, (struct phone){.filter = "speed"}, "local has no app org.example: install it", 0);
    refuse(a_test, (struct phone){.has = 'x', .has_test = 'y', .filter = "speed"},
           "local has org.example.test already, with another content", 'x');
}

/* What cannot be taken away is told, and the job has ended well all the same. */
static void test_left_behind(void **state)
{
    (void)state;
    struct stage s;
    phone = (struct phone){.has = 'x', .filter = "speed", .refuses = "pm uninstall", .how = "Failure [no]"};
    begin(&s, a_test);
    s.record.piece = document;
    stage_go(&s);
    assert_int_equal(s.result.end, QS_END_DONE);
    assert_true(stage_told(&s, "local: `pm uninstall` exited with code 1: Failure [no], going on"));
    stage_done(&s);
}

static bool strike(const char *at, enum stage_strike how, unsigned after, enum qs_job_run_end end)
{
    struct stage s;
    phone = (struct phone){.filter = "verify"};
    begin(&s, two_builds);
    s.record.piece = document;
    s.strike = how;
    s.strike_state = at;
    s.strike_after = after;
    stage_go(&s);
    bool struck = s.struck > 0;
    if (struck)
        assert_int_equal(s.result.end, end);
    assert_int_equal(s.conflicts, 0);
    if (how != STRIKE_ABANDON)
        assert_int_equal(phone.has, 0);
    stage_done(&s);
    return struck;
}

/* Before each answer: the link goes down and comes back, or the job ends; nothing stays installed but where
 * the device is given up at once. */
static void test_trouble(void **state)
{
    (void)state;
    unsigned after = 0;
    for (; strike("install", STRIKE_DOWN, after, QS_END_DONE); after++)
        ;
    assert_in_range(after, 20, 60);
    for (after = 0; after < 12; after++) {
        assert_true(strike("install", STRIKE_CANCEL, after, QS_END_CANCELLED));
        assert_true(strike("install", STRIKE_ABANDON, after, QS_END_CANCELLED));
    }
    assert_true(strike("uninstall", STRIKE_DOWN, 0, QS_END_DONE));
    assert_true(strike("uninstall", STRIKE_CANCEL, 0, QS_END_CANCELLED));
    assert_true(strike("uninstall", STRIKE_ABANDON, 0, QS_END_CANCELLED));
}

static void test_every_row_is_taken(void **state)
{
    (void)state;
    static const enum qs_job_run_state states[] = {QS_JS_INSTALL, QS_JS_UNINSTALL};
    for (size_t i = 0; i < 2; i++)
        for (enum qs_job_run_input e = 0; e < QS_JI_COUNT; e++)
            if (!stage_taken[states[i]][e] && qs_job_run_find(states[i], e))
                fail_msg("not taken: %s, %s", qs_job_run_state_text(states[i]), qs_job_run_input_text(e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_builds_take_turns), cmocka_unit_test(test_what_was_there_stays),
        cmocka_unit_test(test_looked_at_again),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_left_behind),           cmocka_unit_test(test_trouble),
        cmocka_unit_test(test_every_row_is_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
