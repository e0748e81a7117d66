/* Documents of mode stream: their values to the nanosecond, and what is wrong with them with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "formats/document.h"

static struct qs_form form(enum qs_form_kind kind, enum qs_form_unit unit, const char *pattern)
{
    return (struct qs_form){.kind = kind, .unit = unit, .pattern = (char *)pattern};
}

static struct qs_document read(const struct qs_form *f, const char *text)
{
    struct qs_document d;
    struct qs_err err = QS_ERR_INIT;
    if (!qs_document_read(f, text, strlen(text), &d, &err))
        fail_msg("%s", err.text);
    return d;
}

static void gives(enum qs_form_unit unit, const char *text, size_t n, const int64_t *want)
{
    const struct qs_form f = form(QS_FORM_NUMBERS, unit, NULL);
    struct qs_document d = read(&f, text);
    assert_int_equal(d.n, n);
    assert_int_equal(d.evals, 1);
    assert_int_equal(d.metric_count, 0);
    assert_memory_equal(d.durations_ns, want, n * sizeof *want);
    qs_document_done(&d);
}

static void refused(const struct qs_form *f, const char *text, const char *want)
{
    struct qs_document d;
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_document_read(f, text, strlen(text), &d, &err));
    assert_int_equal(err.code, QS_E_DATA);
    assert_null(d.durations_ns);
    assert_int_equal(d.n, 0);
    if (!strstr(err.text, want))
        fail_msg("\"%s\" lacks \"%s\"", err.text, want);
}

static void test_numbers(void **state)
{
    (void)state;
    gives(QS_FORM_MS, "# a\r\n\r\n 1.5 # b\n\t2\t\n\n3e1", 3, (const int64_t[]){1500000, 2000000, 30000000});
    gives(QS_FORM_NS, "7", 1, (const int64_t[]){7});
    gives(QS_FORM_NS, "7\n", 1, (const int64_t[]){7});
    gives(QS_FORM_NS, "0\n7\n9007199254740992\n", 3, (const int64_t[]){0, 7, 9007199254740992});
    gives(QS_FORM_US, "0.1\n0.7\n1234.5678\n", 3, (const int64_t[]){100, 700, 1234568});
    gives(QS_FORM_S,
          "\xef\xbb\xbf"
          "0.25\n4000000000",
          2, (const int64_t[]){250000000, INT64_C(4000000000000000000)});
    const struct qs_form ns = form(QS_FORM_NUMBERS, QS_FORM_NS, NULL),
                         s = form(QS_FORM_NUMBERS, QS_FORM_S, NULL);
    refused(&ns, "1\n2 3\n", "stdout:2:1: `2 3` is not a number (write one number a line");
    refused(&ns, "1\n   x\n", "stdout:2:4: `x` is not a number");
    refused(&ns, "nan\n", "stdout:1:1: `nan` is not a finite number");
    refused(&ns, "1e999\n", "not a finite number");
    refused(&ns, "-3\n", "negative");
    refused(&s, "4000000001\n", "is not a duration");
    refused(&ns, "# nothing\n\n", "stdout: there is no number in it");
    refused(&ns, "", "stdout: the file is empty");
    refused(&ns, "1\n\xff\n", "stdout:2:1: the byte 0xff is not UTF-8");
}

/* Half a nanosecond is a thousandth of 500: beyond that nothing is refused, below it what is no whole number.
 */
static void test_rounding(void **state)
{
    (void)state;
    const struct qs_form ns = form(QS_FORM_NUMBERS, QS_FORM_NS, NULL);
    gives(QS_FORM_NS, "500.5\n1000.4999\n2000.5001", 3, (const int64_t[]){500, 1000, 2001});
    gives(QS_FORM_NS, "2.001\n0.9995", 2, (const int64_t[]){2, 1});
    refused(&ns, "499.5", "499.5 ns cannot be kept in whole nanoseconds");
    refused(&ns, "0.3", "stdout:1:1: 0.3 ns cannot be kept");
    refused(&ns, "2.5", "have the program print the time of many evaluations together");
}

static void test_patterns(void **state)
{
    (void)state;
    struct qs_form f = form(QS_FORM_PATTERN, QS_FORM_MS, "time=([0-9.]+) ms");
    struct qs_document d = read(&f, "begin 7\nrun: time=1.5 ms\r\ntime=x ms\n time=2 ms time=3 ms\n");
    assert_int_equal(d.n, 2);
    assert_int_equal(d.durations_ns[0], 1500000);
    assert_int_equal(d.durations_ns[1], 2000000);
    qs_document_done(&d);
    refused(&f, "time: 7 ms\n", "stdout: no line matches `time=([0-9.]+) ms`");
    refused(&f, "time=1.2.3 ms\n", "stdout:1:6: `1.2.3` is not a number");
    f.pattern = (char *)"^(.)$"; /* the end of a line is none of its characters */
    d = read(&f, "\n\r\n7\r\n\r\n");
    assert_int_equal(d.n, 1);
    assert_int_equal(d.durations_ns[0], 7000000);
    qs_document_done(&d);
    f.pattern = (char *)"time=([0-9.]+) ms";
    f.file = (char *)"out/result.txt";
    refused(&f, "ok\ntime=. ms\n", "out/result.txt:2:6: `.` is not a number");
    f.pattern = (char *)"(";
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_document_read(&f, "1", 1, &d, &err));
    assert_int_equal(err.code, QS_E_JOB);
}

static void test_other_units(void **state)
{
    (void)state;
    struct qs_form f = form(QS_FORM_NUMBERS, QS_FORM_OTHER, NULL);
    f.other = (char *)"MB/s";
    f.metric = (char *)"rate";
    f.higher_is_better = true;
    struct qs_document d = read(&f, "# dd\n812.5\n-3\n0\n");
    assert_int_equal(d.n, 3);
    assert_int_equal(d.evals, 1);
    assert_null(d.durations_ns);
    assert_int_equal(d.metric_count, 1);
    assert_string_equal(d.metrics[0].name, "rate_MB/s_micro");
    assert_string_equal(d.metrics[0].unit, "1e-6 MB/s");
    assert_true(d.metrics[0].higher_is_better);
    assert_memory_equal(d.values, ((const int64_t[]){812500000, -3000000, 0}), 3 * sizeof *d.values);
    qs_document_done(&d);
    refused(&f, "1\n0.0000001\n", "stdout:2:1: 1e-07 MB/s cannot be kept in millionths");
    refused(&f, "1e10\n", "too large");
    refused(&f, "9000000001\n", "too large");
    d = read(&f, "9e9\n-9e9");
    assert_memory_equal(d.values, ((const int64_t[]){INT64_C(9000000000000000), -INT64_C(9000000000000000)}),
                        2 * sizeof *d.values);
    qs_document_done(&d);
    refused(&f, "fast\n", "stdout:1:1: `fast` is not a number");
    refused(&f, "# none\n", "there is no number in it");
}

static void test_bounds(void **state)
{
    (void)state;
    const struct qs_form ns = form(QS_FORM_NUMBERS, QS_FORM_NS, NULL),
                         any = form(QS_FORM_PATTERN, QS_FORM_NS, "([0-9]+)");
    struct qs_buf text;
    qs_buf_init(&text);
    for (int i = 0; i < QS_DOCUMENT_VALUES; i++)
        qs_buf_str(&text, "7\n");
    struct qs_document d = read(&ns, text.data);
    assert_int_equal(d.n, QS_DOCUMENT_VALUES);
    qs_document_done(&d);
    qs_buf_str(&text, "8\n");
    refused(&ns, text.data, "stdout:65537:1: more than 65536 values");
    refused(&any, text.data, "more than 65536 values");
    struct qs_form other = form(QS_FORM_NUMBERS, QS_FORM_OTHER, NULL);
    other.other = other.metric = (char *)"x";
    refused(&other, text.data, "stdout:65537:1: more than 65536 values");
    qs_buf_clear(&text);
    for (int i = 0; i < 1023; i++)
        qs_buf_char(&text, 'x');
    qs_buf_str(&text, "8\r\n");
    d = read(&any, text.data);
    assert_int_equal(d.n, 1);
    assert_int_equal(d.durations_ns[0], 8);
    qs_document_done(&d);
    qs_buf_str(&text, text.data);
    text.data[1023] = 'x';
    text.data[1024] = 'x';
    refused(&any, text.data, "stdout:1:1: a line of more than 1024 bytes");
    qs_buf_done(&text);
}

#define ROW(name, more)                                                                                      \
    "{\"name\":\"" name "\",\"run_name\":\"" name "\",\"run_type\":\"iteration\"," more "}"
#define DOC(rows) "{\"context\":{},\"benchmarks\":[" rows "]}"
#define AGGREGATE "{\"name\":\"a_mean\",\"run_name\":\"a\",\"run_type\":\"aggregate\",\"real_time\":1.0}"

static void test_google_benchmark(void **state)
{
    (void)state;
    struct qs_form f = form(QS_FORM_GBENCH, QS_FORM_NS, NULL);
    struct qs_document d = read(
        &f,
        DOC(ROW(
            "a",
            "\"real_time\":0.3125,\"cpu_time\":0.25,\"time_unit\":\"ns\",\"iterations\":1000,"
            "\"threads\":1,\"items_per_second\":2.5e9,\"ratio\":0.125") "," ROW("a",
                                                                                "\"real_time\":0.5,\"time_"
                                                                                "unit\":\"ns\","
                                                                                "\"iterations\":1000,"
                                                                                "\"ratio\":-1") "," AGGREGATE));
    assert_int_equal(d.n, 2);
    assert_int_equal(d.evals, 1000);
    assert_int_equal(d.durations_ns[0], 312); /* 312.5, to even */
    assert_int_equal(d.durations_ns[1], 500);
    assert_int_equal(d.metric_count, 3);
    assert_string_equal(d.metrics[0].name, "cpu_time_ps");
    assert_string_equal(d.metrics[1].name, "items_per_second_micro");
    assert_true(d.metrics[1].higher_is_better);
    assert_string_equal(d.metrics[2].name, "ratio_micro");
    assert_false(d.metrics[2].higher_is_better);
    const int64_t want[] = {250, INT64_C(2500000000000000), 125000, INT64_MIN, INT64_MIN, -1000000};
    assert_memory_equal(d.values, want, sizeof want);
    qs_document_done(&d);
}

/* Repetitions that ran differently often are all brought to the least; units are the row's. */
static void test_evaluations(void **state)
{
    (void)state;
    struct qs_form f = form(QS_FORM_GBENCH, QS_FORM_NS, NULL);
    f.benchmark = (char *)"b";
    struct qs_document d = read(
        &f,
        DOC(ROW("a", "\"real_time\":1") "," ROW(
            "b",
            "\"real_time\":1.5,\"cpu_time\":1.25,\"time_unit\":\"us\","
            "\"iterations\":70") "," ROW("b", "\"real_time\":0.002,\"time_unit\":\"ms\",\"iterations\":40")));
    assert_int_equal(d.n, 2);
    assert_int_equal(d.evals, 40);
    assert_int_equal(d.durations_ns[0], 60000);
    assert_int_equal(d.durations_ns[1], 80000);
    assert_int_equal(d.values[0], 1250000); /* ps of one evaluation, however many there are */
    qs_document_done(&d);
    d = read(&f, DOC(ROW("b", "\"real_time\":1e-9,\"time_unit\":\"s\",\"iterations\":9e18")));
    assert_int_equal(d.evals, QS_DOCUMENT_EVALS);
    assert_int_equal(d.durations_ns[0], QS_DOCUMENT_EVALS);
    qs_document_done(&d);
}

/* What is no counter, what is too large for one, and what a later repetition lacks. */
static void test_counters(void **state)
{
    const struct qs_form f = form(QS_FORM_GBENCH, QS_FORM_NS, NULL);
    (void)state;
#define FORTY "counter_of_forty_bytes_so_that_there_are"
    struct qs_document d = read(
        &f, DOC(ROW("a", "\"real_time\":5,\"cpu_time\":\"none\",\"threads\":3,\"text\":\"7\",\"" FORTY
                         "_and_eighteen_more\":1,\"" FORTY
                         "_and_nineteen_more_\":2,\"large\":8.5e12,\"over\":9e12,"
                         "\"below\":-9e12") "," ROW("a", "\"real_time\":6,\"cpu_time\":7,\"large\":\"8\"")));
    assert_int_equal(d.metric_count, 5);
    assert_string_equal(d.metrics[1].name, FORTY "_and_eighteen_more_micro");
    assert_string_equal(d.metrics[1].unit, "1e-6");
    const int64_t want[] = {
        INT64_MIN, 1000000,  INT64_C(8500000000000000000), INT64_MIN, INT64_MIN, 7000, INT64_MIN, INT64_MIN,
        INT64_MIN, INT64_MIN};
    assert_memory_equal(d.values, want, sizeof want);
    qs_document_done(&d);
}

/* As many counters as there may be; those that follow are left out. */
static void test_as_many_counters_as_there_may_be(void **state)
{
    const struct qs_form f = form(QS_FORM_GBENCH, QS_FORM_NS, NULL);
    struct qs_buf text;
    (void)state;
    for (int counters = QS_DOCUMENT_METRICS - 2; counters <= QS_DOCUMENT_METRICS; counters++) {
        int kept =
            counters < QS_DOCUMENT_METRICS ? counters : QS_DOCUMENT_METRICS - 1; /* beside cpu_time_ps */
        qs_buf_init(&text);
        qs_buf_str(&text, "{\"benchmarks\":[{\"name\":\"a\",\"real_time\":5");
        for (int i = 0; i < counters; i++)
            qs_buf_fmt(&text, ",\"c%d\":%d", i, i);
        qs_buf_str(&text, "}]}");
        struct qs_document d = read(&f, text.data);
        assert_int_equal(d.metric_count, kept + 1);
        for (int i = 0; i < kept; i++)
            assert_int_equal(d.values[i + 1], i * 1000000);
        qs_document_done(&d);
        qs_buf_done(&text);
    }
}

/* As many repetitions as there may be values. */
static void test_as_many_repetitions_as_there_may_be(void **state)
{
    const struct qs_form f = form(QS_FORM_GBENCH, QS_FORM_NS, NULL);
    struct qs_buf text;
    (void)state;
    qs_buf_init(&text);
    qs_buf_str(&text, "{\"benchmarks\":[");
    for (int i = 0; i < QS_DOCUMENT_VALUES; i++)
        qs_buf_str(&text, i > 0 ? ",{\"name\":\"a\",\"real_time\":1}" : "{\"name\":\"a\",\"real_time\":1}");
    qs_buf_str(&text, "]}");
    struct qs_document d = read(&f, text.data);
    assert_int_equal(d.n, QS_DOCUMENT_VALUES);
    qs_document_done(&d);
    text.len -= 2;
    qs_buf_str(&text, ",{\"name\":\"a\",\"real_time\":1}]}");
    refused(&f, text.data, "more than 65536 values");
    qs_buf_done(&text);
}

static void test_google_benchmark_is_refused(void **state)
{
    (void)state;
    struct qs_form f = form(QS_FORM_GBENCH, QS_FORM_NS, NULL);
    refused(&f, "{\"benchmarks\":[", "stdout:1:16: not JSON");
    refused(&f, "[]", "`benchmarks` is missing");
    refused(&f, "{\"benchmarks\":7}", "benchmarks: expected a list, found a number");
    refused(&f, DOC(""), "there is no measurement in it");
    refused(&f, DOC(AGGREGATE), "there is no measurement in it");
    refused(&f, DOC("3"), "benchmarks[0]: expected an object");
    refused(&f, DOC("{\"real_time\":3}"), "benchmarks[0]: `name` is missing");
    refused(&f, DOC(ROW("a", "\"iterations\":3")), "benchmarks[0]: `real_time` is missing");
    refused(&f, DOC(ROW("a", "\"real_time\":3,\"time_unit\":\"h\"")), "`h` is not a unit of time");
    refused(&f, DOC(ROW("a", "\"real_time\":-3")), "-3 ns is not a duration");
    refused(&f, DOC(ROW("a", "\"real_time\":0.3,\"iterations\":1")), "cannot be kept in whole nanoseconds");
    refused(&f, DOC(ROW("a", "\"real_time\":1") "," ROW("b", "\"real_time\":2")),
            "several benchmarks: a, b (say which in the job: benchmark: NAME)");
    refused(&f, DOC(ROW("a", "\"real_time\":1,\"error_occurred\":true,\"error_message\":\"no lena.ppm\"")),
            "`a` failed: no lena.ppm");
    refused(&f, DOC(ROW("a", "\"real_time\":1,\"skipped\":true,\"skip_message\":\"no card\"")),
            "`a` failed: no card");
    refused(&f, DOC(ROW("a", "\"real_time\":1,\"skipped\":true")), "`a` failed: it does not say why");
#define ONE(name) ROW(name, "\"real_time\":1")
    refused(&f, DOC(ONE("a") "," ONE("b") "," ONE("a") "," ONE("c") "," ONE("d") "," ONE("e")),
            "several benchmarks: a, b, c, d, e (say");
    refused(&f, DOC(ONE("a") "," ONE("b") "," ONE("c") "," ONE("d") "," ONE("e") "," ONE("f") "," ONE("g")),
            "several benchmarks: a, b, c, d, e, ... (say");
    f.benchmark = (char *)"c";
    refused(&f, DOC(ROW("a", "\"real_time\":1") "," ROW("b", "\"real_time\":2")),
            "no benchmark is called `c`: there are a, b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_other_units),
        cmocka_unit_test(test_as_many_counters_as_there_may_be),
        cmocka_unit_test(test_as_many_repetitions_as_there_may_be),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_google_benchmark),
        cmocka_unit_test(test_evaluations),
        cmocka_unit_test(test_google_benchmark_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
