/* Small files, each with one thing that a reader must get right, and all that is read of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/import.h"

/* "benchmark metric unit <|>|?: values of a run | of the next (what was left out) [labels];" */
static void put_series(const struct qs_import_series *s, struct qs_buf *out)
{
    static const char directions[] = {
        [QS_DIRECTION_UNKNOWN] = '?', [QS_DIRECTION_LOWER] = '<', [QS_DIRECTION_HIGHER] = '>'};
    qs_buf_fmt(out, "%s %s %s %c:", s->benchmark, s->metric, s->unit, directions[s->direction]);
    for (size_t i = 0, run = 0; i < s->n; i++) {
        if (i == s->off[run + 1]) {
            run++;
            qs_buf_str(out, " |");
        }
        qs_buf_fmt(out, " %.12g", s->v[i]);
        if (s->labels)
            qs_buf_fmt(out, "[%s]", s->labels[i]);
    }
    for (int d = 0; d < QS_DROP_COUNT; d++)
        if (s->dropped[d] > 0)
            qs_buf_fmt(out, " (%s %zu)", qs_drop_names[d], s->dropped[d]);
    qs_buf_char(out, ';');
}

static const struct {
    const char *name, *text, *format, *all;
} files[] = {
    {"n", "1 2 3;4\t5 # six 6\n7\n", "numbers", " value  ?: 1 2 3 4 5 7;"},
    {"n", "1\n2\n\n3\n# 4\n5\n\n\n6\n\n", "numbers", " value  ?: 1 2 | 3 5 | 6;"},
    {"n", "\n\n# a\n\n1\nnan 2 inf NA -Infinity +3\n", "numbers", " value  ?: 1 2 3 (not-finite 4);"},
    {"n", "0,10.5\n1,2,3\n1,2345,6\n7,\n", "numbers", " value  ?: 0 10.5 1 2 3 1 2345 6 7;"},
    {"n",
     "\xef\xbb\xbf"
     "1e3\n-.5\n",
     "numbers", " value  ?: 1000 -0.5;"},
    {"n.csv", "1\n2\n", "numbers", " value  ?: 1 2;"},
    {".csv", "1 2\n", "numbers", " value  ?: 1 2;"},
    {"c", "run,iteration,value,unit\n1,1,5,ms\n1,0,4,ms\n0,0,3,ms\n1,0,6,s\n", "csv",
     " value ms <: 4 5 | 3; value s <: 6;"},
    {"c", "value,unit\n1,B/s\n2,/s\n3,B/sec\n4,/sec\n", "csv",
     " value B/s >: 1; value /s ?: 2; value B/sec >: 3; value /sec ?: 4;"},
    {"c", "name,value\na,1\nb,2\nc,3\na,4\nb,5\nc,6\n", "csv",
     "a value  ?: 1 4;b value  ?: 2 5;c value  ?: 3 6;"},
    {"c", "v1;v2;v10\n1;2;3\n4;;6\n", "csv", " value  ?: 1 2 3 | 4 6;"},
    {"c", "name,v1,v2,mem\na,1,2,7\nb,3,4,8\na,5,6,9\n", "csv",
     "a value  ?: 1 2 | 5 6;a mem  ?: 7 | 9;b value  ?: 3 4;b mem  ?: 8;"},
    {"c", "run,v1,v2\nx,1,2\ny,3,4\nx,5,6\n", "csv", " value  ?: 1 2 5 6 | 3 4;"},
    {"c", "run,seq,v1,v2\nx,1,1,2\nx,0,3,4\n", "csv", " value  ?: 3 4 1 2;"},
    {"c", "V1\n1\n2\n", "csv", " value  ?: 1 2;"},
    {"c", "v,v1x,V2\n1,2,3\n", "csv", " v  ?: 1; v1x  ?: 2; value  ?: 3;"},
    {"c", "a\tmem_bytes\t_ns\trate\nx y\t 7 \t1\t2\n", "csv", " mem bytes <: 7; _ns  ?: 1; rate  ?: 2;"},
    {"c", "# c\n\r\n# d\n value ,\"w \"\"q\"\"\" \r\n# e\n1,\"2\"\r\n\n3,4", "csv",
     " value  ?: 1 3; w \"q\"  ?: 2 4;"},
    {"c", "name,arm,group,fork,value\nn,a,1,1,5\nn,,1,2,6\n,a,1,1,7\nn,a,1,1,8\n", "csv",
     "n a value  ?: 5 8;n value  ?: 6;a value  ?: 7;"},
    {"c",
     "phase,taint,value\nwarmup,0,1\nWarm-Up,,2\ntune,0,3\nmeasure,gate,4\ntraced,x,5\nmeasure,0,6\n,,7\n",
     "csv", " value  ?: 6 7 (warm-up 4) (failed 1);"},
    {"c", "evals,duration_ns,size\n4,10,10\n1,3,3\n", "csv", " duration ns <: 2.5 3; size  ?: 10 3;"},
    {"c", "time,commit,value\nmon,a,1\ntue,,\n,,3\n", "csv", " value  ?: 1[mon a] 3[] (empty 1);"},
    {"c", "time,run\n1.5,a\n2.5,b\n", "csv", " time  ?: 1.5 | 2.5;"},
    {"c", "label,index,x\n1,2,3\n4,5,6\n", "csv", " x  ?: 3 6;"},
    {"c", "value,w\n1,2\n , \n", "csv", " value  ?: 1 (empty 1); w  ?: 2 (empty 1);"},
    {"c", "_id,value\n1,2\n", "csv", " _id  ?: 1; value  ?: 2;"},
    {"c", "block,block,value\na,b,1\n", "csv", " value  ?: 1;"},
    {"c", "# a, b\na\tb\n1\t2\n", "csv", " a  ?: 1; b  ?: 2;"},
    {"c", "#\n# a, b\na;b\n1;2", "csv", " a  ?: 1; b  ?: 2;"},
    {"c", "x,y\n1,a\ninf,b\n", "csv", " x  ?: 1 (not-finite 1);"},
    {"c", "a\tb\n\t2\n1\t3\n", "csv", " b  ?: 2 3;"},
    {"c", "a,b\n1,\t\"2\"\n", "csv", " a  ?: 1; b  ?: 2;"},
    {"c", "value,w\n1,\"2\"", "csv", " value  ?: 1; w  ?: 2;"},
    {"n", "7", "numbers", " value  ?: 7;"},
    {"n", "1.0000000000000000000000000000000000000000000000000000000000000\n", "numbers", " value  ?: 1;"},
    {"j",
     "{\"benchmarks\":[{\"name\":\"a/"
     "1\",\"run_name\":\"a\",\"real_time\":1.5,\"cpu_time\":1,\"time_unit\":\"us\","
     "\"iterations\":7,\"bytes_per_second\":2,\"cycles\":3},"
     "{\"name\":\"a_mean\",\"run_name\":\"a\",\"run_type\":\"aggregate\",\"real_time\":1.5},"
     "{\"name\":\"a\",\"error_occurred\":true,\"real_time\":9,\"cpu_time\":9},"
     "{\"name\":\"b\",\"error_occurred\":false,\"real_time\":2,\"threads\":1}]}",
     "google-benchmark",
     "a real_time us <: 1.5;a cpu_time us <: 1;a bytes_per_second  >: 2;a cycles  ?: 3;b real_time ns <: 2;"},
    {"j",
     "{\"metadata\":{\"unit\":\"second\",\"name\":\"all\"},\"benchmarks\":[{\"runs\":[{\"warmups\":[1,2],"
     "\"values\":[0.5,1]},{\"metadata\":{}},{\"values\":[2]}]},"
     "{\"metadata\":{\"name\":\"m\",\"unit\":\"byte\"},\"runs\":[{\"values\":[7]}]}]}",
     "pyperf", "all time ns <: 500000000 1000000000 | 2000000000 (warm-up 2);m value byte <: 7;"},
    {"j",
     "{\"results\":[{\"command\":\"x\",\"times\":[0.5,1,2],\"exit_codes\":[0,1,null]},"
     "{\"command\":\"y\",\"times\":[1]},{\"command\":\"z\",\"times\":[3,4,5],\"exit_codes\":[-9,0.5,0]}]}",
     "hyperfine",
     "x time ns <: 500000000 (failed 2);y time ns <: 1000000000;z time ns <: 4000000000 | 5000000000 (failed "
     "1);"},
    {"j", "{\"benchmarks\":[{\"name\":\"s\",\"sampledMetrics\":{\"aUs\":{\"runs\":[[1,2],[3]]}}}]}",
     "androidx", "s aUs us <: 1 2 | 3;"},
    {"j",
     "{\"benchmarks\":[{\"name\":\"startup\",\"metrics\":{\"timeToInitialDisplayMs\":{\"runs\":[1,2]},"
     "\"timeToX\":{\"runs\":[5,6]},\"theDisplay\":{\"runs\":[7,8]},"
     "\"memoryKb\":{\"runs\":[3,4]}},\"sampledMetrics\":{\"frameNs\":{\"runs\":[[1,2],[3]]}}},"
     "{\"name\":\"a\",\"params\":{\"compilation\":\"None\"},\"metrics\":{\"timeToFullDisplayMs\":{\"runs\":["
     "1,2]}}},"
     "{\"name\":\"startupWarm\",\"metrics\":{\"timeToFullDisplayMs\":{\"runs\":[1,2]}}},"
     "{\"name\":\"s\",\"params\":{\"mode\":\"HOT\",\"n\":1},\"metrics\":{\"timeToFullDisplayMs\":{\"runs\":["
     "5,6]},"
     "\"timeToX\":{\"runs\":[7]},\"Ms\":{\"runs\":[8,null]},\"aPercent\":{\"runs\":[9]}}}]}",
     "androidx",
     "startup timeToInitialDisplayMs ms <: 1 | 2;startup timeToX  ?: 5 6;startup theDisplay  ?: 7 8;startup "
     "memoryKb KiB <: 3 4;startup frameNs ns <: 1 2 | "
     "3;a timeToFullDisplayMs ms <: 1 | 2;startupWarm timeToFullDisplayMs ms <: 1 2;s timeToFullDisplayMs ms "
     "<: 5 6;s timeToX  ?: 7;s Ms  ?: 8 "
     "(not-finite 1);s aPercent % ?: 9;"},
    {"g",
     "goos: linux\nBenchmarkA-8 10 5 ns/op 7 B/op\nBenchmarkA-8 20 6 ns/op\nPASS\nUnit tok/op x "
     "better=higher\n"
     "BenchmarkA-8\t30\t4 ns/op\t\r\nBenchmarkA-8 logs x\nBenchmarkB\nBenchmark 1 2 x\nFAIL\nBenchmarkA-8 1 "
     "9 tok/op",
     "go",
     "BenchmarkA-8 ns/op ns/op <: 5 6 | 4;BenchmarkA-8 B/op B/op <: 7;BenchmarkA-8 tok/op tok/op >: 9;"},
    {"g",
     "Unit uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu better=higher\nUnit wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww "
     "better=higher\n"
     "BenchmarkA 1 2 uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu 3 wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww\n",
     "go",
     "BenchmarkA uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu >: 2;BenchmarkA "
     "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww ?: 3;"},
};

static void each_is_read_as_it_is_meant(void **state)
{
    struct qs_buf all;
    (void)state;
    qs_buf_init(&all);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct qs_problems problems;
        struct qs_import in;
        qs_problems_init(&problems);
        qs_buf_clear(&all);
        if (!qs_import_read(files[i].name, files[i].text, strlen(files[i].text), QS_FORMAT_AUTO, &in,
                            &problems))
            qs_problems_text(&problems, files[i].name, &all);
        size_t values = 0;
        for (size_t k = 0; k < in.count; k++) {
            put_series(&in.series[k], &all);
            values += in.series[k].n;
        }
        assert_int_equal(in.values, values);
        if (strcmp(qs_format_names[in.format], files[i].format) != 0 || strcmp(all.data, files[i].all) != 0)
            fail_msg("file %zu: %s: %s", i, qs_format_names[in.format], all.data);
        qs_import_done(&in);
        qs_problems_done(&problems);
    }
    qs_buf_done(&all);
}

/* Two names that are too long together are cut to what a name may have. */
static void long_names_are_joined_as_far_as_there_is_room(void **state)
{
    struct qs_buf text;
    struct qs_problems problems;
    struct qs_import in;
    (void)state;
    qs_buf_init(&text);
    qs_problems_init(&problems);
    qs_buf_fmt(&text, "name,arm,time,commit,value\n%0*d,%0*d,%0*d,%0*d,1\n", 250, 1, 300, 2, 199, 3, 200, 4);
    assert_true(qs_import_read("f", text.data, text.len, QS_FORMAT_AUTO, &in, &problems));
    assert_int_equal(strlen(in.series[0].benchmark), QS_IMPORT_NAME_BYTES);
    assert_memory_equal(in.series[0].benchmark + 249, "1 0", 3);
    assert_int_equal(strlen(in.series[0].labels[0]), QS_IMPORT_NAME_BYTES); /* as long as it may be */
    assert_memory_equal(in.series[0].labels[0] + QS_IMPORT_NAME_BYTES - 2, "04", 3);
    qs_import_done(&in);
    qs_problems_done(&problems);
    qs_buf_done(&text);
}

/* One more unit than are remembered is of no known direction. */
static void units_are_remembered_as_far_as_there_is_room(void **state)
{
    struct qs_buf text;
    struct qs_problems problems;
    struct qs_import in;
    (void)state;
    qs_buf_init(&text);
    qs_problems_init(&problems);
    for (int i = 0; i < 33; i++)
        qs_buf_fmt(&text, "Unit u%d better=higher\n", i);
    qs_buf_str(&text, "BenchmarkA 1 5 u0 6 u31 7 u32\n");
    assert_true(qs_import_read("f", text.data, text.len, QS_FORMAT_AUTO, &in, &problems));
    assert_int_equal(in.count, 3);
    assert_int_equal(in.series[0].direction, QS_DIRECTION_HIGHER);
    assert_int_equal(in.series[1].direction, QS_DIRECTION_HIGHER);
    assert_int_equal(in.series[2].direction, QS_DIRECTION_UNKNOWN);
    qs_import_done(&in);
    qs_problems_done(&problems);
    qs_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_read_as_it_is_meant),
                                       cmocka_unit_test(long_names_are_joined_as_far_as_there_is_room),
                                       cmocka_unit_test(units_are_remembered_as_far_as_there_is_room)};
    return cmocka_run_group_tests_name("small", tests, NULL, NULL);
}
