/* Files of each tool become the same structure: series, runs, iterations, and what was left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/import.h"

static const char *data; /* argv[1] */

static bool read_text(const char *text, enum qs_format format, struct qs_import *ret)
{
    struct qs_problems problems;
    struct qs_buf told;
    qs_problems_init(&problems);
    bool ok = qs_import_read("test", text, strlen(text), format, ret, &problems);
    qs_buf_init(&told);
    qs_problems_text(&problems, "test", &told);
    if (!ok)
        print_message("%s", told.data);
    assert_int_equal(ok, problems.count == 0);
    qs_buf_done(&told);
    qs_problems_done(&problems);
    return ok;
}

static void read_file(const char *name, struct qs_import *ret)
{
    char path[4096], chunk[4096];
    struct qs_buf text;
    snprintf(path, sizeof(path), "%s/%s", data, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    qs_buf_init(&text);
    for (size_t n = 0; (n = fread(chunk, 1, sizeof(chunk), f)) > 0;)
        qs_buf_add(&text, chunk, n);
    fclose(f);
    assert_true(read_text(text.data, QS_FORMAT_AUTO, ret));
    qs_buf_done(&text);
}

static const struct qs_import_series *check(const struct qs_import *in, size_t index, const char *benchmark,
                                            const char *metric, const char *unit, size_t runs, size_t n)
{
    assert_true(index < in->count);
    const struct qs_import_series *s = &in->series[index];
    assert_string_equal(s->benchmark, benchmark);
    assert_string_equal(s->metric, metric);
    assert_string_equal(s->unit, unit);
    assert_int_equal(s->runs, runs);
    assert_int_equal(s->n, n);
    assert_int_equal(s->off[0], 0);
    assert_int_equal(s->off[runs], n);
    return s;
}

static void plain_numbers(void **state)
{
    struct qs_import in;
    (void)state;
    assert_true(
        read_text("# ns\n10 11.5\n1e3\n\n\n-2 # cold\n# nothing\n+3, 4\nnan inf\n", QS_FORMAT_AUTO, &in));
    assert_int_equal(in.format, QS_FORMAT_NUMBERS);
    const struct qs_import_series *s = check(&in, 0, "", "value", "", 2, 6);
    static const double want[] = {10, 11.5, 1000, -2, 3, 4};
    for (size_t i = 0; i < 6; i++)
        assert_true(s->v[i] == want[i]);
    assert_int_equal(s->off[1], 3);
    assert_int_equal(s->dropped[QS_DROP_NOT_FINITE], 2);
    assert_int_equal(s->direction, QS_DIRECTION_UNKNOWN);
    qs_import_done(&in);
}

static void json_lists(void **state)
{
    struct qs_import in;
    (void)state;
    assert_true(read_text(" [1.5, 2,\n3e2, null]\n", QS_FORMAT_AUTO, &in));
    assert_int_equal(in.format, QS_FORMAT_NUMBERS);
    const struct qs_import_series *s = check(&in, 0, "", "value", "", 1, 3);
    assert_true(s->v[0] == 1.5 && s->v[1] == 2 && s->v[2] == 300);
    assert_int_equal(s->dropped[QS_DROP_NOT_FINITE], 1);
    qs_import_done(&in);
    assert_true(read_text("[[1,2],[3]]", QS_FORMAT_NUMBERS, &in));
    s = check(&in, 0, "", "value", "", 2, 3);
    assert_int_equal(s->off[1], 2);
    assert_true(s->v[2] == 3);
    qs_import_done(&in);
}

/* A moment and a number of something else are no measurements, whatever stands before the underline. */
static void csv_of_a_push(void **state)
{
    struct qs_import in;
    (void)state;
    assert_true(
        read_text("push_timestamp,push_id,head_revision,value\n1600000000,7,abc,12\n1600000060,8,abd,13\n",
                  QS_FORMAT_AUTO, &in));
    assert_int_equal(in.count, 1);
    const struct qs_import_series *s = check(&in, 0, "", "value", "", 1, 2);
    assert_string_equal(s->labels[1], "1600000060 abd");
    assert_true(s->v[1] == 13);
    qs_import_done(&in);
}

/* Rows of two runs in turn, iterations out of order, a quoted cell, a byte order mark and Windows line ends.
 */
static void csv_with_named_columns(void **state)
{
    struct qs_import in;
    (void)state;
    assert_true(
        read_text("\xef\xbb\xbfrun,iteration,value,unit\r\nb,1,4,ns\r\n\"a\",0,\"1\",ns\r\nb,0,3,ns\r\n"
                  "a,1,2,ns\r\na,2,,ns\r\n",
                  QS_FORMAT_AUTO, &in));
    assert_int_equal(in.format, QS_FORMAT_CSV);
    const struct qs_import_series *s = check(&in, 0, "", "value", "ns", 2, 4);
    static const double want[] = {3, 4, 1, 2};
    for (size_t i = 0; i < 4; i++)
        assert_true(s->v[i] == want[i]);
    assert_int_equal(s->dropped[QS_DROP_EMPTY], 1);
    assert_int_equal(s->direction, QS_DIRECTION_LOWER);
    qs_import_done(&in);
}

static void csv_of_many_columns(void **state)
{
    struct qs_import in;
    (void)state;
    assert_true(
        read_text("time;commit;metric1;load_ms;note\n2024-01-01;aaa;1;2.5;x\n2024-01-02;bbb;2;3.5;y\n",
                  QS_FORMAT_AUTO, &in));
    assert_int_equal(in.count, 2);
    const struct qs_import_series *s = check(&in, 0, "", "metric1", "", 1, 2);
    assert_string_equal(s->labels[1], "2024-01-02 bbb");
    check(&in, 1, "", "load", "ms", 1, 2);
    qs_import_done(&in);
    assert_true(read_text("benchmark,run,unit,v1,v2\nBenchmarkA,n1,ns/op,1,2\n", QS_FORMAT_AUTO, &in));
    check(&in, 0, "BenchmarkA", "value", "ns/op", 1, 2);
    qs_import_done(&in);
    assert_true(read_text("iteration\ttime\n0\t5\n1\t6\n", QS_FORMAT_AUTO, &in));
    check(&in, 0, "", "time", "", 1, 2);
    qs_import_done(&in);
}

/* A duration is of all evaluations; what else was measured is of the iteration. */
static void evaluations_are_divided_out(void **state)
{
    struct qs_import in;
    (void)state;
    assert_true(read_text("run,seq,duration_ns,evals,phase,pixels\nf,0,600,3,tune,7\nf,1,900,4,measure,8\n"
                          "f,2,1000,8,measure,9\n",
                          QS_FORMAT_AUTO, &in));
    const struct qs_import_series *s = check(&in, 0, "", "duration", "ns", 1, 2);
    assert_int_equal(s->dropped[QS_DROP_WARMUP], 1);
    assert_true(s->v[0] == 225 && s->v[1] == 125);
    s = check(&in, 1, "", "pixels", "", 1, 2);
    assert_true(s->v[0] == 8);
    qs_import_done(&in);
    assert_false(read_text("run,duration_ns,evals\nf,600,0\n", QS_FORMAT_AUTO, &in));
    assert_true(read_text("run,arm,build,point,label,duration_ns\nf,a,7,0,12,600\n", QS_FORMAT_AUTO, &in));
    assert_int_equal(in.count, 1); /* numbers that name something are no values */
    check(&in, 0, "a 0", "duration", "ns", 1, 1);
    qs_import_done(&in);
}

/* What `quiesce compare --csv` and its export write. */
static void our_own_csv(void **state)
{
    struct qs_import in;
    (void)state;
    assert_true(read_text(
        "run,arm,build,point,label,device,block,pos,seq,duration_ns,evals,taint,status,phase,conditions\n"
        "f1,a,7,0,x,local,0,0,0,900,1,0,0,warmup,default\nf2,a,7,0,x,local,1,0,0,100,1,0,0,measure,default\n"
        "f2,a,7,0,x,local,1,0,1,101,1,0,0,measure,default\nf3,b,8,0,x,local,1,1,0,102,1,4,0,measure,default\n"
        "f3,b,8,0,x,local,1,1,1,103,1,,0,measure,default\nf3,b,8,0,x,local,1,1,2,990,1,,0,traced,default\n",
        QS_FORMAT_AUTO, &in));
    assert_int_equal(in.count, 2);
    const struct qs_import_series *s = check(&in, 0, "a 0 local", "duration", "ns", 1, 2);
    assert_int_equal(s->dropped[QS_DROP_WARMUP], 1);
    s = check(&in, 1, "b 0 local", "duration", "ns", 1, 1);
    assert_int_equal(s->dropped[QS_DROP_FAILED], 1);
    assert_int_equal(s->dropped[QS_DROP_WARMUP], 1);
    qs_import_done(&in);
}

static void google_benchmark(void **state)
{
    struct qs_import in;
    (void)state;
    read_file("gbench/test3_run0.json", &in);
    assert_int_equal(in.format, QS_FORMAT_GBENCH);
    const struct qs_import_series *s = check(&in, 0, "BM_Two", "real_time", "ns", 1, 2);
    assert_true(s->v[0] == 9 && s->v[1] == 8);
    check(&in, 1, "BM_Two", "cpu_time", "ns", 1, 2);
    qs_import_done(&in);
    assert_true(
        read_text("{\"benchmarks\":[{\"name\":\"x\",\"error_occurred\":true,\"real_time\":0},{\"name\":\"x\","
                  "\"real_time\":2,\"time_unit\":\"ms\",\"items_per_second\":5,\"threads\":1,\"hits\":7}]}",
                  QS_FORMAT_AUTO, &in));
    assert_int_equal(in.count, 3);
    check(&in, 0, "x", "real_time", "ms", 1, 1);
    s = check(&in, 1, "x", "items_per_second", "", 1, 1);
    assert_int_equal(s->direction, QS_DIRECTION_HIGHER);
    s = check(&in, 2, "x", "hits", "", 1, 1);
    assert_int_equal(s->direction, QS_DIRECTION_UNKNOWN);
    qs_import_done(&in);
}

static void androidx(void **state)
{
    struct qs_import in;
    (void)state;
    read_file("measure_sh/startup-benchmark__12-02-2024-msr-disabled.json", &in);
    assert_int_equal(in.format, QS_FORMAT_ANDROIDX);
    const struct qs_import_series *s =
        check(&in, 0, "startupBenchmark", "timeToInitialDisplayMs", "ms", 35, 35);
    assert_true(s->v[0] == 375.568111 && s->v[34] == 381.675923);
    qs_import_done(&in);
    /* A warm start keeps its process, and a loop of a microbenchmark has one. */
    assert_true(
        read_text("{\"benchmarks\":[{\"name\":\"startup\",\"params\":{\"mode\":\"WARM\"},\"metrics\":{"
                  "\"timeToFullDisplayMs\":{\"runs\":[1,2,3]}}},{\"name\":\"start_cold\",\"metrics\":{"
                  "\"timeToFullDisplayMs\":{\"runs\":[1,2,3]},\"timeNs\":{\"runs\":[1,2,3]}}}]}",
                  QS_FORMAT_AUTO, &in));
    (void)check(&in, 0, "startup", "timeToFullDisplayMs", "ms", 1, 3);
    (void)check(&in, 1, "start_cold", "timeToFullDisplayMs", "ms", 3, 3);
    (void)check(&in, 2, "start_cold", "timeNs", "ns", 1, 3);
    qs_import_done(&in);
    /* Frames: each iteration is a run of its own length. */
    assert_true(read_text("{\"benchmarks\":[{\"name\":\"scroll\",\"metrics\":{},\"sampledMetrics\":{"
                          "\"frameDurationCpuMs\":{\"P50\":1,\"runs\":[[1,2,3],[],[4]]}}}]}",
                          QS_FORMAT_AUTO, &in));
    s = check(&in, 0, "scroll", "frameDurationCpuMs", "ms", 2, 4);
    assert_int_equal(s->off[1], 3);
    qs_import_done(&in);
}

static void pyperf(void **state)
{
    struct qs_import in;
    (void)state;
    read_file("pyperf/telco.json", &in);
    assert_int_equal(in.format, QS_FORMAT_PYPERF);
    const struct qs_import_series *s = check(&in, 0, "telco", "time", "ns", 40, 120);
    assert_true(s->scale == 1e9);
    assert_int_equal(s->dropped[QS_DROP_WARMUP], 44);
    for (size_t i = 0; i < 40; i++)
        assert_int_equal(s->off[i + 1] - s->off[i], 3);
    qs_import_done(&in);
}

static void go_text(void **state)
{
    struct qs_import in;
    (void)state;
    read_file("gobench/benchstat_old.txt", &in);
    assert_int_equal(in.format, QS_FORMAT_GOBENCH);
    assert_int_equal(in.count, 2);
    const struct qs_import_series *s =
        check(&in, 0, "BenchmarkEncode/format=json-48", "ns/op", "ns/op", 1, 10);
    assert_true(s->v[0] == 1726 && s->v[9] == 1774);
    qs_import_done(&in);
    /* Two processes, a line of output, a unit that is better when higher. */
    assert_true(read_text(
        "Unit hits/op better=higher\nBenchmarkA\nBenchmarkA-8 says hello\nBenchmarkA-8 10 5 ns/op 3 "
        "hits/op\nPASS\nok x 1s\nBenchmarkA-8 10 6 ns/op 4 hits/op\nPASS\n",
        QS_FORMAT_AUTO, &in));
    check(&in, 0, "BenchmarkA-8", "ns/op", "ns/op", 2, 2);
    s = check(&in, 1, "BenchmarkA-8", "hits/op", "hits/op", 2, 2);
    assert_int_equal(s->direction, QS_DIRECTION_HIGHER);
    qs_import_done(&in);
}

static void hyperfine(void **state)
{
    struct qs_import in;
    (void)state;
    assert_true(
        read_text("{\"results\":[{\"command\":\"sleep 0.1\",\"mean\":0.1,\"times\":[0.101,0.102,9,0.103],"
                  "\"exit_codes\":[0,0,1,0]}]}",
                  QS_FORMAT_AUTO, &in));
    assert_int_equal(in.format, QS_FORMAT_HYPERFINE);
    const struct qs_import_series *s = check(&in, 0, "sleep 0.1", "time", "ns", 3, 3);
    assert_true(s->v[0] == 0.101 * 1e9);
    assert_int_equal(s->dropped[QS_DROP_FAILED], 1);
    qs_import_done(&in);
}

static void names_of_formats(void **state)
{
    (void)state;
    for (int i = 0; i < QS_FORMAT_COUNT; i++) {
        enum qs_format found = QS_FORMAT_COUNT;
        assert_true(qs_format_find(qs_format_names[i], &found));
        assert_int_equal(found, i);
    }
    enum qs_format none;
    assert_false(qs_format_find("excel", &none));
    assert_null(qs_format_names[QS_FORMAT_COUNT]);
    assert_null(qs_drop_names[QS_DROP_COUNT]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain_numbers),
                                       cmocka_unit_test(json_lists),
                                       cmocka_unit_test(csv_of_a_push),
                                       cmocka_unit_test(csv_with_named_columns),
                                       cmocka_unit_test(csv_of_many_columns),
                                       cmocka_unit_test(our_own_csv),
                                       cmocka_unit_test(evaluations_are_divided_out),
                                       cmocka_unit_test(google_benchmark),
                                       cmocka_unit_test(androidx),
                                       cmocka_unit_test(pyperf),
                                       cmocka_unit_test(go_text),
                                       cmocka_unit_test(hyperfine),
                                       cmocka_unit_test(names_of_formats)};
    if (argc < 2)
        return 2;
    data = argv[1];
    return cmocka_run_group_tests_name("formats", tests, NULL, NULL);
}
