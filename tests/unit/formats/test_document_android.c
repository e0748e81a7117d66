/* What Android's am says, and what its tests leave behind: values to the nanosecond, and what is wrong with
 * its place. argv[1]: the folder of files of a real phone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "formats/document.h"

static const char *data_dir;

static struct qs_form starts(const char *how)
{
    return (struct qs_form){.kind = QS_FORM_AM_START, .launch = (char *)how};
}

static struct qs_document read(const struct qs_form *f, const char *text)
{
    struct qs_document d;
    struct qs_err err = QS_ERR_INIT;
    if (!qs_document_read(f, text, strlen(text), &d, &err))
        fail_msg("%s", err.text);
    return d;
}

static void refused(const struct qs_form *f, const char *text, const char *want)
{
    struct qs_document d;
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_document_read(f, text, strlen(text), &d, &err));
    assert_int_equal(err.code, QS_E_DATA);
    assert_int_equal(d.n, 0);
    if (!strstr(err.text, want))
        fail_msg("\"%s\" lacks \"%s\"", err.text, want);
}

/* ---- am start ---- */

#define HEAD "Starting: Intent { cmp=a.b/.C }\n"
#define COLD "Status: ok\nLaunchState: COLD\nActivity: a.b/.C\nTotalTime: 543\nWaitTime: 545\nComplete\n"
#define HOT                                                                                                  \
    "Warning: Activity not started, its current task has been brought to the front\r\nStatus: ok\r\n"        \
    "LaunchState: HOT\r\nActivity: a.b/.C\r\nTotalTime: 61\r\nWaitTime: 64\r\nComplete\r\n\r\n"

static void test_starts(void **state)
{
    (void)state;
    struct qs_form cold = starts("cold"), hot = starts("hot");
    struct qs_document d = read(&cold, "quiesce: start 1\n" HEAD COLD "quiesce: start 2\n" HEAD HOT);
    assert_int_equal(d.n, 2);
    assert_int_equal(d.durations_ns[0], 543000000);
    assert_int_equal(d.durations_ns[1], 61000000);
    assert_int_equal(d.metric_count, 1);
    assert_string_equal(d.metrics[0].name, "wait_time_ns");
    assert_int_equal(d.values[0], 545000000);
    assert_int_equal(d.values[1], 64000000);
    assert_false(d.off[0]);
    assert_true(d.off[1]);
    qs_document_done(&d);
    /* what comes before the first is not counted, and what Android 9 says has no state */
    d = read(&hot,
             HEAD COLD "quiesce: start 1\n" HEAD HOT
                       "quiesce: start 2\nStatus: ok\nThisTime: 5\nTotalTime: 7\nWaitTime: 9\nComplete");
    assert_int_equal(d.n, 2);
    assert_int_equal(d.durations_ns[0], 61000000);
    assert_int_equal(d.durations_ns[1], 7000000);
    assert_false(d.off[0] || d.off[1]);
    qs_document_done(&d);
    /* drawn too late, or not at all: how long am waited, not to be trusted */
    d = read(&cold, "quiesce: start 1\n" COLD
                    "quiesce: start 2\nStatus: timeout\nLaunchState: COLD\nWaitTime: 10003\nComplete\n"
                    "quiesce: start 3\nStatus: ok\nLaunchState: COLD\nTotalTime: 0\nWaitTime: 4\nComplete\n");
    assert_int_equal(d.n, 3);
    assert_false(d.off[0]);
    assert_true(d.off[1] && d.off[2]);
    assert_int_equal(d.durations_ns[1], INT64_C(10003000000));
    assert_int_equal(d.durations_ns[2], 4000000);
    qs_document_done(&d);
}

static void test_starts_that_fail(void **state)
{
    (void)state;
    struct qs_form cold = starts("cold");
    refused(&cold, "", "am start: the file is empty");
    refused(&cold, "sh: am: not found\n", "no start was made: am says `sh: am: not found`");
    refused(&cold,
            "quiesce: start 1\n" HEAD "Error type 3\nError: Activity class {a.b/a.b.C} does not exist.\n",
            "am start:3:1: the app was not started: am says `Error type 3`");
    refused(&cold,
            "quiesce: start 1\n" COLD
            "quiesce: start 2\njava.lang.SecurityException: Permission Denial\n\tat x\n",
            "am says `java.lang.SecurityException: Permission Denial`");
    refused(&cold, "quiesce: start 1\nStatus: ok\nTotalTime: 12\n",
            "am start:3:1: the app was not started: am says `TotalTime: 12`");
    refused(&cold, "quiesce: start 1\n", "am start:1:1: the app was not started: am says ``");
    /* another language, or another program */
    refused(&cold, "quiesce: start 1\nZustand: ok\nGesamtzeit: 12\nWartezeit: 13\nFertig\n",
            "am start:5:1: the app was not started: am says `Fertig` (what `am start -W` says ends in");
    refused(&cold, "quiesce: start 1\nTotalTime: -1\nWaitTime: 2\n",
            "am start:2:12: `-1` is not a number of milliseconds");
    refused(&cold, "quiesce: start 1\nTotalTime: 3600001\n", "`3600001` is not a number of milliseconds");
    refused(&cold, "quiesce: start 1\nTotalTime: 1.5\n", "`1.5` is not a number of milliseconds");
    refused(&cold, "quiesce: start 1\nTotalTime: nan\n", "`nan` is not a number of milliseconds");
    refused(&cold, "quiesce: start 1\nTotalTime: 12ms\n", "`12ms` is not a number of milliseconds");
    refused(&cold, "quiesce: start 1\nWaitTime: \xff\n", "the byte 0xff is not UTF-8");
    refused(&cold, "quiesce: start 1\n" HOT "quiesce: start 2\n" HOT,
            "am start:4:14: none of the 2 starts was cold: am says `LaunchState: HOT` (`start` of the job "
            "says which");
}

/* Each beginning of what am says is read within its bounds, and gives whole starts or none. */
static void test_starts_cut(void **state)
{
    (void)state;
    static const char text[] = HEAD "quiesce: start 1\n" HEAD COLD "quiesce: start 2\n" HEAD COLD;
    struct qs_form cold = starts("cold");
    for (size_t n = 0; n < sizeof text; n++) {
        QS_FREED char *exact = qs_strndup(text, n);
        struct qs_document d;
        struct qs_err err = QS_ERR_INIT;
        if (qs_document_read(&cold, exact, n, &d, &err))
            assert_in_range(d.n, 1, 2);
        else
            assert_true(err.text[0] != '\0' && d.n == 0);
        qs_document_done(&d);
    }
}

/* ---- benchmarkData.json ---- */

static const struct qs_form androidx = {.kind = QS_FORM_ANDROIDX};

#define PASSED                                                                                               \
    "INSTRUMENTATION_STATUS: class=a.B\nINSTRUMENTATION_STATUS_CODE: 1\nINSTRUMENTATION_STATUS_CODE: 0\n"    \
    "INSTRUMENTATION_RESULT: stream=\n\nOK (1 test)\n\nINSTRUMENTATION_CODE: -1\nquiesce: am ended with 0\n"
#define FILE_AT "quiesce: file /sdcard/a.b-benchmarkData.json\n"
#define ONE                                                                                                  \
    "{\"benchmarks\": [{\"name\": \"cold\", \"metrics\": {\"timeToInitialDisplayMs\": {\"runs\": [1.5, "     \
    "2]}, \"extraCount\": {\"runs\": [3, 4]}}}]}"

static void test_iterations(void **state)
{
    (void)state;
    struct qs_document d = read(&androidx, PASSED FILE_AT ONE);
    assert_int_equal(d.body_at, strlen(PASSED FILE_AT));
    assert_int_equal(d.n, 2);
    assert_int_equal(d.durations_ns[0], 1500000);
    assert_int_equal(d.durations_ns[1], 2000000);
    assert_int_equal(d.metric_count, 1);
    assert_string_equal(d.metrics[0].name, "extraCount_micro");
    assert_string_equal(d.metrics[0].unit, "1e-6");
    assert_int_equal(d.values[1], 4000000);
    assert_null(d.off);
    qs_document_done(&d);
    d = read(&androidx, ONE); /* a file by itself */
    assert_int_equal(d.n, 2);
    assert_int_equal(d.body_at, 0);
    qs_document_done(&d);
}

static void test_frames(void **state)
{
    (void)state;
    struct qs_document d =
        read(&androidx,
             "{\"benchmarks\": [{\"name\": \"scroll\", \"metrics\": {\"frameCount\": {\"runs\": [2, 1]}, "
             "\"heapMaxKb\": {\"runs\": [9, 8]}, \"short\": {\"runs\": [1]}}, \"sampledMetrics\": "
             "{\"frameOverrunMs\": {\"runs\": [[-1.5, 2], [3]]}, \"frameDurationCpuMs\": {\"runs\": [[4, 5], "
             "[6]]}, "
             "\"odd\": {\"runs\": [[1], [1]]}}}]}");
    assert_int_equal(d.n, 3);
    assert_int_equal(d.durations_ns[2], 6000000);
    assert_int_equal(d.metric_count, 4);
    static const char *const names[] = {"repeat", "frameCount_micro", "heapMaxKb_micro", "frameOverrunMs_ns"};
    static const char *const units[] = {"", "1e-6", "1e-6 KiB", "ns"};
    static const int64_t want[3][4] = {
        {0, 2000000, 9000000, -1500000}, {0, INT64_MIN, INT64_MIN, 2000000}, {1, 1000000, 8000000, 3000000}};
    for (size_t m = 0; m < 4; m++) {
        assert_string_equal(d.metrics[m].name, names[m]);
        assert_string_equal(d.metrics[m].unit, units[m]);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(d.values[i * 4 + m], want[i][m]);
    }
    qs_document_done(&d);
}

static void test_choice(void **state)
{
    (void)state;
    static const char two[] = "{\"benchmarks\": [{\"name\": \"a\", \"metrics\": {\"xMs\": {\"runs\": [1]}, "
                              "\"yNs\": {\"runs\": [2]}}},"
                              " {\"name\": \"b\", \"metrics\": {\"count\": {\"runs\": [3]}}}]}";
    struct qs_form f = androidx;
    refused(&f, two, "several benchmarks: a, b (say which in the job: benchmark: NAME)");
    f.benchmark = (char *)"c";
    refused(&f, two, "no benchmark is called `c`: there are a, b");
    f.benchmark = (char *)"b";
    refused(&f, two, "there is no time among its metrics: count");
    f.benchmark = (char *)"a";
    refused(&f, two, "several times: xMs, yNs (say which in the job: metric: NAME)");
    f.metric = (char *)"zMs";
    refused(&f, two, "no time is called `zMs`: there are xMs, yNs");
    f.metric = (char *)"yNs";
    struct qs_document d = read(&f, two);
    assert_int_equal(d.durations_ns[0], 2);
    assert_string_equal(d.metrics[0].name, "xMs_ns");
    assert_int_equal(d.values[0], 1000000);
    qs_document_done(&d);
}

static void test_tests_that_fail(void **state)
{
    (void)state;
    struct qs_form f = androidx;
    refused(&f, "", "am instrument: the file is empty");
    refused(&f, PASSED,
            "am instrument: the test passed and left no benchmarkData.json (does it use Jetpack's");
    refused(&f, PASSED FILE_AT, "the test passed and left no benchmarkData.json");
    refused(&f, PASSED FILE_AT "{\"benchmarks\": [}", "benchmarkData.json:1:18: not JSON: unexpected token");
    refused(&f, PASSED FILE_AT "{}", "benchmarkData.json:1:1: `benchmarks` is missing");
    refused(&f, PASSED FILE_AT "{\"benchmarks\": []}",
            "there is no benchmark in it: the test measured nothing");
    refused(&f, "sh: am: not found\nquiesce: am ended with 127\n" FILE_AT ONE,
            "am instrument:1:1: the test failed: am says `sh: am: not found`");
    refused(&f,
            "INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{a/b}\n"
            "INSTRUMENTATION_STATUS_CODE: -1\nandroid.util.AndroidException: INSTRUMENTATION_FAILED: a/b\n",
            "am says `Unable to find instrumentation info for: ComponentInfo{a/b}`");
    refused(&f, "INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n" FILE_AT ONE,
            "am says `Process crashed.`");
    refused(&f,
            "INSTRUMENTATION_STATUS: stack=java.lang.AssertionError: no\n\tat "
            "a\nINSTRUMENTATION_STATUS_CODE: -2\n"
            "INSTRUMENTATION_RESULT: stream=\nFAILURES!!!\nINSTRUMENTATION_CODE: -1\n" FILE_AT ONE,
            "am says `java.lang.AssertionError: no`");
    /* ended before it was over */
    refused(&f, "INSTRUMENTATION_STATUS_CODE: 1\n" FILE_AT ONE, "am says `INSTRUMENTATION_STATUS_CODE: 1`");
    refused(&f, "INSTRUMENTATION_CODE: -10\n" FILE_AT ONE, "am says `INSTRUMENTATION_CODE: -10`");
    /* values that are none */
    refused(&f, "{\"benchmarks\": [{\"name\": \"a\", \"metrics\": {\"xMs\": {\"runs\": [1, null]}}}]}",
            "benchmarks[0].metrics.xMs.runs[1]: expected a number");
    refused(&f, "{\"benchmarks\": [{\"name\": \"a\", \"metrics\": {\"xMs\": {\"runs\": [-1]}}}]}",
            "is not a duration");
    refused(&f, "{\"benchmarks\": [{\"name\": \"a\", \"metrics\": {\"xMs\": {\"runs\": []}}}]}",
            "there is no value in it");
    refused(&f, "{\"benchmarks\": [{\"name\": \"a\", \"metrics\": {\"xMs\": [1]}}]}", "`runs` is missing");
    refused(&f,
            "{\"benchmarks\": [{\"name\": \"a\", \"sampledMetrics\": {\"frameDurationCpuMs\": {\"runs\": "
            "[1]}}}]}",
            "expected a list, the samples of one iteration");
    refused(&f, "{\"benchmarks\": [7]}", "there is no time among its metrics: there are none");
}

static char *load(const char *name)
{
    QS_FREED char *path = qs_asprintf("%s/measure_sh/%s", data_dir, name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    char *text = qs_calloc(1, 1000000);
    assert_in_range(fread(text, 1, 999999, file), 1000, 999998);
    fclose(file);
    return text;
}

/* Of a Pixel 4a: 30 repetitions with 988 frames; each beginning of the file is refused with its place. */
static void test_real(void **state)
{
    (void)state;
    QS_FREED char *text = load("compose-click-benchmark__09-12-2024-msr-disabled.json");
    struct qs_document d = read(&androidx, text);
    size_t repeats = 0, counts = 0;
    int64_t frames = 0;
    for (size_t i = 0; i < d.n; i++) {
        repeats = (size_t)d.values[i * d.metric_count] + 1;
        if (d.values[i * d.metric_count + 1] != INT64_MIN) {
            frames += d.values[i * d.metric_count + 1];
            counts++;
        }
    }
    assert_int_equal(repeats, 30);
    assert_int_equal(counts, 30);
    assert_string_equal(d.metrics[1].name, "frameCount_micro");
    assert_int_equal(frames, (int64_t)d.n * 1000000);
    qs_document_done(&d);
    for (size_t n = strlen(text) - 2; n > 3000; n -= 2999) {
        QS_FREED char *cut = qs_strndup(text, n);
        refused(&androidx, cut, "am instrument:");
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    data_dir = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts),          cmocka_unit_test(test_starts_that_fail),
        cmocka_unit_test(test_starts_cut),      cmocka_unit_test(test_iterations),
        cmocka_unit_test(test_frames),          cmocka_unit_test(test_choice),
        cmocka_unit_test(test_tests_that_fail), cmocka_unit_test(test_real)};
    return cmocka_run_group_tests_name("android documents", tests, NULL, NULL);
}
