/* Malformed and hostile files: refused with a place, a quote and a reason, and nothing is left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/import.h"

static void refuse(const char *text, size_t len, enum qs_format format, struct qs_buf *told)
{
    struct qs_problems problems;
    struct qs_import in;
    qs_problems_init(&problems);
    qs_buf_clear(told);
    assert_false(qs_import_read("f", text, len, format, &in, &problems));
    assert_int_equal(problems.count, 1);
    assert_int_equal(in.count, 0);
    assert_null(in.series);
    qs_problems_text(&problems, "f", told);
    qs_problems_done(&problems);
}

static const struct {
    const char *text;
    enum qs_format format;
    const char *place, *words; /* of the rendered problem */
} mistakes[] = {
    {"", QS_FORMAT_AUTO, "f: ", "the file is empty\n        check the program that should have written it"},
    {"[]", QS_FORMAT_AUTO, "f: ", "no value"},
    {"[1,\n\"2\"]", QS_FORMAT_AUTO, "f:2:1: ", "[1]: expected a number, found text"},
    {"[1,[2]]", QS_FORMAT_NUMBERS, "f:1:4: ", "[1]: expected a number, found a list"},
    {"[[1],2]", QS_FORMAT_AUTO, "f:1:6: ", "[1]: expected a list of numbers"},
    {"[{\"a\":1}]", QS_FORMAT_AUTO, "f:1:2: ", "[0]: expected a number, found an object"},
    {"{}", QS_FORMAT_NUMBERS, "f:1:1: ", "`{}` is not a number"},
    {"run,push_id,push_timestamp\n1,2,3\n", QS_FORMAT_AUTO, "f:2:1: ", "no column holds numbers"},
    {" \n\t\n", QS_FORMAT_AUTO, "f: ", "empty"},
    {"# only a comment\n", QS_FORMAT_AUTO, "f: ", "no value"},
    {"1\n2\n3x\n4\n", QS_FORMAT_AUTO, "f:3:1: ", "`3x` is not a number"},
    {"1\n0x10\n", QS_FORMAT_AUTO, "f:2:1: ", "`0x10`"},
    {"1.5\n2.5 ms\n", QS_FORMAT_AUTO, "f:2:5: ", "`ms` is not a number"},
    {"11.5\n12,5\n", QS_FORMAT_AUTO, "f:2:1: ", "`12,5` can be one number or several"},
    {"1\n 1,234.5\n", QS_FORMAT_AUTO, "f:2:2: ", "`1,234.5` can be one number or several"},
    {"1,234,567\n", QS_FORMAT_NUMBERS, "f:1:1: ", "`1,234,567` can be"},
    {"1,234,567,\n", QS_FORMAT_NUMBERS, "f:1:1: ", "`1,234,567` can be"},
    {"1,2345\n", QS_FORMAT_AUTO, "f:1:1: ", "`1,2345` can be one number or several"},
    {"7,\n 1,2,\n", QS_FORMAT_AUTO, "f:2:2: ", "`1,2` can be"},
    {"1 2\n3,4,5x\n", QS_FORMAT_AUTO, "f:2:5: ", "`5x` is not a number"},
    {"{\"benchmarks\":[{\"name\":\"x\",\"metrics\":[1]}]}", QS_FORMAT_AUTO,
     "f:1:38: ", "expected an object of metrics"},
    {"{\"benchmarks\":[{\"name\":\"x\",\"real_time\":1},\n 7]}", QS_FORMAT_AUTO,
     "f:2:2: ", "benchmarks[1]: expected an object"},
    {"{\"benchmarks\":[{\"runs\":[7]}]}", QS_FORMAT_AUTO,
     "f:1:25: ", "benchmarks[0].runs[0]: expected an object"},
    {"{\"benchmarks\":[{\"runs\":[{\"values\":[true]}]}]}", QS_FORMAT_AUTO, "f:1:36: ", "found true"},
    {"{\"benchmarks\":[{\"runs\":[{\"values\":[{\"a\\\"]\":[]}, false]}]}]}", QS_FORMAT_AUTO,
     "f:1:36: ", "found an object"},
    {"{\"a\\\"]\":[{},[\"}\"]],\"results\":[{\"command\":\"x\",\"times\":[1,-2e3,\"y\"]}]}", QS_FORMAT_AUTO,
     "f:1:62: ", "results[0].times[2]: expected a time"},
    {"value,value\n1,2\n", QS_FORMAT_AUTO, "f:1:7: ", "a second column is named `value`"},
    {"v1,v1\n1,2\n", QS_FORMAT_AUTO, "f:1:4: ", "a second column is named `v1`"},
    {"run,time_ns,time_ns\n1,2,3\n", QS_FORMAT_AUTO, "f:1:13: ", "a second column is named `time`"},
    {"1\n\xff\n", QS_FORMAT_AUTO, "f:2:1: ", "0xff is not UTF-8"},
    {"nan\n", QS_FORMAT_NUMBERS, "f: ", "no value"},
    {"run,value\n1,2\n1,zwei\n", QS_FORMAT_AUTO, "f:3:3: ", "`zwei` in the column `value` is not a number"},
    {"run,value\n1,2\n1\n", QS_FORMAT_AUTO, "f:3:1: ", "1 cell, the header 2"},
    {"run,value\n1,2,3\n", QS_FORMAT_AUTO, "f:2:5: ", "3 cells, the header 2"},
    {"name,commit\nx,y\n", QS_FORMAT_AUTO, "f:2:1: ", "no column holds numbers"},
    {"run,value\n", QS_FORMAT_AUTO, "f: ", "no value"},
    {"run,value\n\"1,2\n", QS_FORMAT_AUTO, "f:2:1: ", "quote is not closed"},
    {"run,value\n\"1\"2,3\n", QS_FORMAT_AUTO, "f:2:4: ", "after the closing quote"},
    {"run,iteration,value\n1,first,2\n", QS_FORMAT_AUTO, "f:2:3: ", "`first` in the column `iteration`"},
    {"1,2\n3,4\n", QS_FORMAT_CSV, "f:1:1: ", "should name the columns"},
    {"BenchmarkA-8 10 5\n", QS_FORMAT_AUTO, "f:1:17: ", "`5` has no unit"},
    {"BenchmarkA-8 10\n", QS_FORMAT_AUTO, "f:1:14: ", "has no value"},
    {"PASS\nBenchmarkA-8 10 fast ns/op\n", QS_FORMAT_AUTO, "f:2:17: ", "`fast` is not a number"},
    {"{\"benchmarks\": [\n  {\"name\": \"x\",}\n]}\n", QS_FORMAT_AUTO, "f:2:", "not JSON"},
    {"{\"benchmarks\":[]}", QS_FORMAT_AUTO, "f:1:1: ", "an unknown tool"},
    {"{\"a\":1,\"a\":2}", QS_FORMAT_AUTO, "f:1:", "duplicate"},
    {"{}", QS_FORMAT_GBENCH, "f:1:1: ", "`benchmarks` is missing"},
    {"{\"benchmarks\":7}", QS_FORMAT_PYPERF, "f:1:15: benchmarks: ", "expected a list, found a number"},
    {"{\"benchmarks2\":1,\"bench\":2,\"benchmarks\":7}", QS_FORMAT_PYPERF, "f:1:41: ", "found a number"},
    {"run,duration_ns,evals\nf,600,0\n", QS_FORMAT_AUTO, "f:2:7: ", "`0` is not a number of evaluations"},
    {"run,duration_ns,evals\nf,600,nan\n", QS_FORMAT_AUTO, "f:2:7: ", "`nan` is not a number of evaluations"},
    {"x\nBenchmark", QS_FORMAT_AUTO, "f: ", "no value"},
    {"name,value\n\xc3\xa9,x\n", QS_FORMAT_AUTO, "f:2:3: ", "`x` in the column `value`"},
    {"value\n1\n10000000000000000000000000000000000000000000000000000000000000000\n", QS_FORMAT_AUTO,
     "f:3:1: ", "in the column `value` is not a number"},
    {"1\n0123456789012345678901234567890123456789x\n", QS_FORMAT_AUTO,
     "f:2:1: ", "`0123456789012345678901234567890123456789` is not a number"},
    {"1\n012345678901234567890123456789012345678x\n", QS_FORMAT_AUTO,
     "f:2:1: ", "`012345678901234567890123456789012345678x` is not a number"},
    {"{\"benchmarks\":[{\"name\":\"s\",\"metrics\":{\"timeToFullDisplayMs\":{\"runs\":[1,2,\n \"x\"]}}}]}",
     QS_FORMAT_AUTO, "f:2:2: ", "timeToFullDisplayMs.runs[2]: expected a number"},
    {"{\"benchmarks\":[{\"name\":\"s\",\"sampledMetrics\":{\"f\":{\"runs\":[[1],[2,\"x\"]]}}}]}",
     QS_FORMAT_AUTO, "f:1:", "sampledMetrics.f.runs[1][1]: expected a number"},
    {"[[1],[2],\n[\"x\"]]", QS_FORMAT_AUTO, "f:2:2: [2][0]: ", "expected a number"},
    {"{\"benchmarks\":[{\"time_unit\":\"ns\",\"name\":\"x\"}]}", QS_FORMAT_AUTO,
     "f:1:16: ", "`real_time` is missing"},
    {"{\"benchmarks\":[{\"error_occurred\":true,\"name\":\"x\"}]}", QS_FORMAT_AUTO, "f: ", "no value"},
    {"{\"benchmarks\":[{\"real_time\":1}]}", QS_FORMAT_AUTO, "f:1:16: ", "`name` is missing"},
    {"{\"results\":[{\"times\":[1]}]}", QS_FORMAT_AUTO, "f:1:13: ", "`command` is missing"},
    {"{\"benchmarks\":[{\"name\":\"x\",\n\"real_time\":\"fast\"}]}", QS_FORMAT_AUTO,
     "f:2:13: ", "benchmarks[0].real_time: expected a number, found text"},
    {"{\"benchmarks\":[{\"run_type\":\"iteration\"}]}", QS_FORMAT_AUTO, "f:1:16: ", "`name` is missing"},
    {"{\"benchmarks\":[{\"name\":\"s\",\"metrics\":{\"tMs\":{\"runs\":[1,\n \"x\"]}}}]}", QS_FORMAT_AUTO,
     "f:2:2: ", "benchmarks[0].metrics.tMs.runs[1]: expected a number"},
    {"{\"benchmarks\":[{\"name\":\"s\",\"metrics\":{},\"sampledMetrics\":{\"f\":{\"runs\":[1]}}}]}",
     QS_FORMAT_AUTO, "f:1:72: ", "expected a list"},
    {"{\"benchmarks\":[{\"runs\":[{\"values\":[1]},\n{\"values\":3}]}]}", QS_FORMAT_AUTO,
     "f:2:11: ", "benchmarks[0].runs[1].values: expected a list of numbers"},
    {"{\"benchmarks\":[{\"runs\":[{}]}]}", QS_FORMAT_AUTO, "f: ", "no value"},
    {"{\"results\":[{\"command\":\"x\"}]}", QS_FORMAT_AUTO, "f:1:13: ", "`times` is missing"},
    {"{\"results\":[{\"command\":\"x\",\"times\":[0.1,null]}]}", QS_FORMAT_AUTO,
     "f:1:41: ", "results[0].times[1]: expected a time in seconds"},
    {"{\"results\":[{\"command\":\"x\",\"times\":[1e999]}]}", QS_FORMAT_AUTO, "f:1:", "not JSON"},
};

static void mistakes_have_a_place(void **state)
{
    struct qs_buf told;
    (void)state;
    qs_buf_init(&told);
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        refuse(mistakes[i].text, strlen(mistakes[i].text), mistakes[i].format, &told);
        if (strncmp(told.data, mistakes[i].place, strlen(mistakes[i].place)) != 0 ||
            strstr(told.data, mistakes[i].words) == NULL)
            fail_msg("case %zu, wanted %s...%s, got:\n%s", i, mistakes[i].place, mistakes[i].words,
                     told.data);
    }
    qs_buf_done(&told);
}

/* Numbers of runs are no values: only the name of the file tells that a header is missing. */
static void a_csv_file_has_a_header(void **state)
{
    static const char *const rows = "0,10.5\n1,11.5\n", *const column = "10.5\n11.5\n";
    struct qs_problems problems;
    struct qs_import in;
    struct qs_buf told;
    (void)state;
    qs_buf_init(&told);
    qs_problems_init(&problems);
    assert_false(qs_import_read("f.csv", rows, strlen(rows), QS_FORMAT_AUTO, &in, &problems));
    qs_problems_text(&problems, "f.csv", &told);
    assert_non_null(strstr(told.data, "should name the columns"));
    assert_true(qs_import_read("f.csv", rows, strlen(rows), QS_FORMAT_NUMBERS, &in, &problems));
    qs_import_done(&in);
    assert_true(qs_import_read("f.csv", column, strlen(column), QS_FORMAT_AUTO, &in, &problems));
    assert_int_equal(in.format, QS_FORMAT_NUMBERS);
    qs_import_done(&in);
    qs_problems_done(&problems);
    qs_buf_done(&told);
}

static void the_line_is_quoted(void **state)
{
    const char *text = "run,value\n1,2\n1,\xc3\xa9\x1b[31m!\n";
    struct qs_buf told;
    (void)state;
    qs_buf_init(&told);
    refuse(text, strlen(text), QS_FORMAT_AUTO, &told);
    assert_non_null(strstr(told.data, "    3 | 1,\xc3\xa9"));
    assert_non_null(strstr(told.data, "      |   ^\n"));
    assert_non_null(strstr(told.data, "write numbers with a point"));
    assert_null(strchr(told.data, '\x1b'));
    qs_buf_done(&told);
}

static void repeat(struct qs_buf *text, const char *piece, size_t times)
{
    for (size_t i = 0; i < times; i++)
        qs_buf_str(text, piece);
}

/* Limits are met from above: the file is refused, whatever else is wrong with it. */
static void sizes_are_bounded(void **state)
{
    struct qs_buf text, told;
    (void)state;
    qs_buf_init(&text);
    qs_buf_init(&told);
    for (int i = 0; i <= QS_IMPORT_SERIES; i++)
        qs_buf_fmt(&text, "Benchmark%d 1 2 ns/op\n", i);
    refuse(text.data, text.len, QS_FORMAT_AUTO, &told);
    assert_non_null(strstr(told.data, "f:1001:"));
    assert_non_null(strstr(told.data, "more than 1000 benchmarks"));
    qs_buf_clear(&text);
    qs_buf_str(&text, "name,value\n");
    for (int i = 0; i <= QS_IMPORT_SERIES; i++)
        qs_buf_fmt(&text, "b%d,1\n", i);
    refuse(text.data, text.len, QS_FORMAT_AUTO, &told);
    assert_non_null(strstr(told.data, "f:1002:7: more than 1000 benchmarks"));
    qs_buf_clear(&text);
    qs_buf_str(&text, "{\"benchmarks\":[");
    for (int i = 0; i <= QS_IMPORT_SERIES; i++)
        qs_buf_fmt(&text, "%s{\"name\":\"b%d\",\"real_time\":1}", i > 0 ? "," : "", i);
    qs_buf_str(&text, "]}");
    refuse(text.data, text.len, QS_FORMAT_AUTO, &told);
    assert_non_null(strstr(told.data, "more than 1000 benchmarks"));
    qs_buf_clear(&text);
    repeat(&text, "a,", QS_IMPORT_COLUMNS);
    qs_buf_str(&text, "b\n");
    refuse(text.data, text.len, QS_FORMAT_CSV, &told);
    assert_non_null(strstr(told.data, "more than 256 columns"));
    qs_buf_clear(&text);
    repeat(&text, "[", 100000);
    qs_buf_clear(&told);
    refuse(text.data, text.len, QS_FORMAT_GBENCH, &told);
    assert_non_null(strstr(told.data, "not JSON"));
    qs_buf_done(&text);
    qs_buf_done(&told);
}

static void build(struct qs_buf *text, const char *head, const char *piece, size_t times, const char *tail)
{
    qs_buf_clear(text);
    qs_buf_str(text, head);
    repeat(text, piece, times);
    qs_buf_str(text, tail);
}

/* head, `times` pieces, tail: read, with so many values; with one piece more refused for this reason. */
static void fits(const char *head, const char *piece, size_t times, const char *tail, size_t values,
                 const char *reason)
{
    struct qs_buf text, told;
    struct qs_problems problems;
    struct qs_import in;
    qs_buf_init(&text);
    qs_buf_init(&told);
    qs_problems_init(&problems);
    build(&text, head, piece, times, tail);
    assert_true(qs_import_read("f", text.data, text.len, QS_FORMAT_AUTO, &in, &problems));
    assert_int_equal(in.values, values);
    qs_import_done(&in);
    build(&text, head, piece, times + 1, tail);
    refuse(text.data, text.len, QS_FORMAT_AUTO, &told);
    if (!strstr(told.data, reason))
        fail_msg("%s in place of %s", told.data, reason);
    qs_problems_done(&problems);
    qs_buf_done(&text);
    qs_buf_done(&told);
}

/* One more is refused. */
static void what_fits_is_read(void **state)
{
    (void)state;
    fits("", "1\n", QS_IMPORT_VALUES, "", QS_IMPORT_VALUES, "more than 1000000 values");
    fits("1\n#", "x", QS_IMPORT_BYTES - 4, "\n", 1, "longer than 16 MiB");
    fits("name,value\n", "x", QS_IMPORT_NAME_BYTES, ",7\n", 1, "a name of more than 400 bytes");
    fits("x", "y", QS_IMPORT_NAME_BYTES - 1, "\n7\n", 1, "a name of more than 400 bytes");
    fits("Benchmark", "x", QS_IMPORT_NAME_BYTES - 9, " 1 2 ns/op\n", 1, "a name of more than 400 bytes");
    fits("BenchmarkA 1 2 ", "u", 63, "\n", 1, "a unit of more than 63 bytes");
    fits("{\"results\":[{\"times\":[1],\"command\":\"", "x", QS_IMPORT_NAME_BYTES, "\"}]}", 1,
         "is a name of more than 400 bytes");
    fits("{\"benchmarks\":[{\"metrics\":{\"aMs\":{\"runs\":[1]}},\"name\":\"", "x", QS_IMPORT_NAME_BYTES,
         "\"}]}", 1, "is a name of more than 400 bytes");
    fits("{\"x\":\"", ",", 2 * QS_IMPORT_VALUES - 2, "\",\"results\":[{\"times\":[1],\"command\":\"a\"}]}", 1,
         "more than 2000000 commas");
}

/* Each column is a series. */
static void as_many_series_as_there_may_be(void **state)
{
    struct qs_buf text;
    struct qs_problems problems;
    struct qs_import in;
    (void)state;
    qs_buf_init(&text);
    for (int i = 1; i <= QS_IMPORT_COLUMNS; i++)
        qs_buf_fmt(&text, "c%d%c", i, i == QS_IMPORT_COLUMNS ? '\n' : ',');
    for (int i = 1; i <= QS_IMPORT_COLUMNS; i++)
        qs_buf_fmt(&text, "%d%c", i, i == QS_IMPORT_COLUMNS ? '\n' : ',');
    qs_problems_init(&problems);
    assert_true(qs_import_read("f", text.data, text.len, QS_FORMAT_AUTO, &in, &problems));
    assert_int_equal(in.count, QS_IMPORT_COLUMNS);
    assert_string_equal(in.series[QS_IMPORT_COLUMNS - 1].metric, "c256");
    assert_true(in.series[QS_IMPORT_COLUMNS - 1].v[0] == 256);
    qs_import_done(&in);
    qs_buf_clear(&text);
    for (int i = 1; i <= QS_IMPORT_SERIES; i++)
        qs_buf_fmt(&text, "Benchmark%d 1 %d ns/op\n", i, i);
    assert_true(qs_import_read("f", text.data, text.len, QS_FORMAT_AUTO, &in, &problems));
    assert_int_equal(in.count, QS_IMPORT_SERIES);
    assert_true(in.series[999].v[0] == 1000);
    qs_import_done(&in);
    qs_problems_done(&problems);
    qs_buf_done(&text);
}

static void nul_bytes_are_no_text(void **state)
{
    static const char text[] = "1\n\0\n2\n";
    struct qs_buf told;
    (void)state;
    qs_buf_init(&told);
    refuse(text, sizeof(text) - 1, QS_FORMAT_AUTO, &told);
    assert_non_null(strstr(told.data, "f:2:1: a NUL byte"));
    qs_buf_done(&told);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_have_a_place), cmocka_unit_test(a_csv_file_has_a_header),
        cmocka_unit_test(the_line_is_quoted),    cmocka_unit_test(sizes_are_bounded),
        cmocka_unit_test(what_fits_is_read),     cmocka_unit_test(as_many_series_as_there_may_be),
        cmocka_unit_test(nul_bytes_are_no_text)};
    return cmocka_run_group_tests_name("mistakes", tests, NULL, NULL);
}
