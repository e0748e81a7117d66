#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "golden.h"

static const char *examples_dir;

static struct qs_job_spec *parse(const char *text)
{
    struct qs_buf err;
    qs_buf_init(&err);
    struct qs_job_spec *spec = golden_job("test", text, strlen(text), &err);
    if (spec == NULL)
        print_message("%s", err.data);
    assert_non_null(spec);
    assert_int_equal(err.len, 0);
    qs_buf_done(&err);
    return spec;
}

static void test_defaults(void **state)
{
    (void)state;
    struct qs_job_spec *s = parse("quiesce: 1\nbenchmarks: [{name: gz, argv: [gzip, -1]}]\n");
    assert_string_equal(s->name, "gz");
    assert_int_equal(s->arm_count, 1);
    assert_string_equal(s->arms[0].name, "gz");
    assert_int_equal(s->point_count, 1);
    assert_string_equal(s->points[0].label, "gz");
    const struct qs_job_benchmark *b = &s->benchmarks[0];
    assert_true(b->env_inherit);
    assert_int_equal(b->output, QS_OUTPUT_DISCARD);
    assert_int_equal(b->iteration_limit_ns, INT64_C(60000000000));
    assert_int_equal(b->run_limit_ns, INT64_C(1800000000000));
    assert_int_equal(b->hook_limit_ns, INT64_C(300000000000));
    assert_true(b->margin_ratio == 0.02);
    assert_true(s->alpha == 0.05);
    assert_false(s->plan.has_seed);
    assert_int_equal(s->plan.order, QS_ORDER_RANDOM);
    assert_int_equal(s->plan.blocks_min, 6);
    assert_int_equal(s->plan.blocks_max, 30);
    assert_int_equal(s->plan.look_count, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(s->plan.looks[i], 10 + 5 * i);
    assert_true(s->plan.interval_ratio == 0.01);
    assert_int_equal(s->plan.window_iterations, 0);
    assert_int_equal(s->plan.window_target_ns, 50000000);
    assert_int_equal(s->plan.window_auto_max, 50);
    assert_int_equal(s->plan.warmup_iterations, 2);
    assert_null(s->conditions[0].enough.stop);
    assert_string_equal(s->conditions[0].controls.cpus, "");
    assert_int_equal(s->conditions[0].gate_count, 1);
    assert_string_equal(s->conditions[0].gate[0].sensor, "cpu.busy_ratio_ppm");
    assert_int_equal(s->conditions[0].gate[0].hi, 100000);
    assert_int_equal(s->conditions[0].gate[0].timeout_ns, INT64_C(5000000000));
    assert_int_equal(s->conditions[0].bound_count, 2);
    qs_job_free(s);
}

static const char yaml_job[] = "quiesce: 1\n"
                               "name: no\n"
                               "benchmarks:\n"
                               "  - name: 1e3\n"
                               "    argv: [prog, 0777, 1:30, \"{a}\", \"{b}x\", no, 1e3]\n"
                               "    env: {MODE: 0755, ANSWER: yes, EMPTY: \"\"}\n"
                               "    env_inherit: no\n"
                               "    params: {a: [on, 010], b: 1:30}\n"
                               "    exit: [0, 3]\n"
                               "    prepare: {shell: \"sync; echo {a}\"}\n"
                               "    inputs: {in/x: ../x.bin}\n"
                               "    limits: {iteration: 1e1s, hook: 1min30s}\n"
                               "arms:\n"
                               "  yes: {build: {label: 2026, files: {prog: out/a}}}\n"
                               "  off: {env: {Z: 1}, setup: [./s, \"{c}\"], params: {c: 0x1F}}\n"
                               "compare: {baseline: off, alpha: 1%, margin: 0.03, fail_on: regression}\n"
                               "devices: {where: 'link == \"sim\"', take: 2}\n"
                               "plan:\n"
                               "  seed: 0042\n"
                               "  order: BA\n"
                               "  runs: {min: 40}\n"
                               "  until: {interval: 0, time: 90s}\n"
                               "  window: {iterations: 010, max: 1s}\n"
                               "  stop: {not: {any: [{fixed: 5}, {cov_window: {}}]}}\n"
                               "conditions:\n"
                               "  affinity: 0-3\n"
                               "  gate: [{sensor: \"thermal:soc\", band: [34C, 38.5C], dwell: 2s, "
                               "on_timeout: defer, unreadable_ok: yes}]\n"
                               "  bounds: none\n";

static const char json_job[] =
    "{\"quiesce\": 1, \"name\": \"no\", \"benchmarks\": [{\"name\": \"1e3\","
    " \"argv\": [\"prog\", \"0777\", \"1:30\", \"{a}\", \"{b}x\", \"no\", \"1e3\"],"
    " \"env\": {\"MODE\": \"0755\", \"ANSWER\": \"yes\", \"EMPTY\": \"\"}, \"env_inherit\": false,"
    " \"params\": {\"a\": [\"on\", \"010\"], \"b\": \"1:30\"}, \"exit\": [0, 3],"
    " \"prepare\": {\"shell\": \"sync; echo {a}\"}, \"inputs\": {\"in/x\": \"../x.bin\"},"
    " \"limits\": {\"iteration\": \"10s\", \"hook\": \"90s\"}}],"
    " \"arms\": {\"yes\": {\"build\": {\"label\": 2026, \"files\": {\"prog\": \"out/a\"}}},"
    "  \"off\": {\"env\": {\"Z\": 1}, \"setup\": [\"./s\", \"{c}\"], \"params\": {\"c\": \"0x1F\"}}},"
    " \"compare\": {\"baseline\": \"off\", \"alpha\": 0.01, \"margin\": \"3%\", \"fail_on\": \"regression\"},"
    " \"devices\": {\"where\": \"link == \\\"sim\\\"\", \"take\": 2},"
    " \"plan\": {\"seed\": 42, \"order\": \"BA\", \"blocks\": {\"min\": 40, \"max\": 40},"
    "  \"until\": {\"interval\": 0.0, \"time\": \"1min30s\"}, \"window\": {\"iterations\": 10, \"max\": "
    "\"1000ms\"},"
    "  \"stop\": {\"not\": {\"any\": [{\"fixed\": 5}, {\"cov_window\": {\"last\": 20, \"at_most\": "
    "0.05}}]}}},"
    " \"conditions\": {\"affinity\": \"0-3\", \"gate\": [{\"sensor\": \"thermal:soc\", \"band\": [\"34C\", "
    "\"38.5C\"],"
    "  \"dwell\": \"2s\", \"on_timeout\": \"defer\", \"unreadable_ok\": true}], \"bounds\": \"none\"}}";

/* YAML and JSON become one structure, and YAML 1.1's traps mean what a person thinks: `no` is a name here and
 * a truth value there, 0777 and 010 are digits. */
static void test_yaml_equals_json(void **state)
{
    (void)state;
    struct qs_buf a, b;
    qs_buf_init(&a);
    qs_buf_init(&b);
    struct qs_job_spec *one = parse(yaml_job);
    struct qs_job_spec *two = parse(json_job);
    golden_dump(one, &a);
    golden_dump(two, &b);
    assert_string_equal(a.data, b.data);
    assert_string_equal(one->name, "no");
    assert_string_equal(one->benchmarks[0].argv.at[1], "0777");
    assert_string_equal(one->benchmarks[0].argv.at[2], "1:30");
    assert_string_equal(one->benchmarks[0].env.at[1], "ANSWER=yes");
    assert_false(one->benchmarks[0].env_inherit);
    assert_string_equal(one->points[1].label, "1e3 a=010 b=1:30");
    assert_int_equal(one->plan.seed, 42);
    assert_int_equal(one->plan.window_iterations, 10);
    assert_int_equal(one->plan.blocks_max, 40);
    assert_int_equal(one->baseline, 1);
    assert_int_equal(one->conditions[0].gate[0].hi, 38500);
    qs_job_free(one);
    qs_job_free(two);
    qs_buf_done(&a);
    qs_buf_done(&b);
}

static void test_points_are_multiplied(void **state)
{
    (void)state;
    struct qs_job_spec *s = parse(
        "quiesce: 1\nbenchmarks:\n"
        "  - {name: x, argv: [x], params: {a: [1, 2], b: [p, q, r], c: z}, exclude: [{a: 2, b: q}, {b: r}]}\n"
        "  - {name: y, argv: [y]}\n");
    static const char *const labels[] = {"x a=1 b=p c=z", "x a=1 b=q c=z", "x a=2 b=p c=z", "y"};
    assert_int_equal(s->point_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(s->points[i].label, labels[i]);
    assert_int_equal(s->points[3].benchmark, 1);
    assert_string_equal(s->arms[0].name, "default");
    qs_job_free(s);
}

static void test_templates(void **state)
{
    (void)state;
    struct qs_job_spec *s = parse("quiesce: 1\nbenchmarks:\n"
                                  "  - {name: x, argv: [x, \"{a}-{b}\", \"{{a}\", \"{print $1}\", \"{}\", "
                                  "\"{{{a}}\"], params: {a: [1, \"{b}\"]}}\n"
                                  "arms: {one: {params: {b: B}}, two: {argv: [y, \"{a}{a}\"]}}\n");
    static const char *const filled[] = {"x", "{b}-B", "{a}", "{print $1}", "{}", "{{b}}"};
    struct qs_strings argv;
    qs_job_argv(s, 0, 1, &argv);
    assert_int_equal(argv.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(argv.at[i], filled[i]);
    assert_null(argv.at[6]);
    qs_strings_done(&argv);
    qs_job_argv(s, 1, 0, &argv);
    assert_string_equal(argv.at[1], "11");
    qs_strings_done(&argv);
    qs_job_free(s);
}

static void test_files_are_bound_by_path(void **state)
{
    (void)state;
    struct qs_job_spec *s = parse("quiesce: 1\nbenchmarks:\n"
                                  "  - {name: x, argv: [x], inputs: [data/a.bin, /abs/b.bin]}\n"
                                  "  - {name: y, argv: [y], inputs: {a: data/a.bin}}\n"
                                  "arms: {one: {build: {label: l, files: {p: out/p}}}}\n");
    static const char *const paths[] = {"data/a.bin", "/abs/b.bin", "out/p"};
    assert_int_equal(qs_job_file_count(s), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(qs_job_file_at(s, i)->path, paths[i]);
    assert_null(qs_job_file_at(s, 3));
    assert_string_equal(s->benchmarks[0].inputs[1].name, "b.bin");
    assert_true(s->arms[0].files[0].executable);
    char hash[65] = {0};
    memset(hash, 'a', 64);
    assert_true(qs_job_bind_file(s, "data/a.bin", hash));
    assert_false(qs_job_bind_file(s, "other", hash));
    assert_string_equal(s->benchmarks[0].inputs[0].sha256, hash);
    assert_string_equal(s->benchmarks[1].inputs[0].sha256, hash);
    assert_string_equal(s->benchmarks[0].inputs[1].sha256, "");
    qs_job_free(s);
}

/* What a job may hold is looked up, not searched for: with the searches of old this ran into the test's
 * limit. */
static void test_the_largest_jobs(void **state)
{
    enum { ARMS = 16, FILES = 256, BENCHMARKS = 24, VALUES = 900 };
    (void)state;
    struct qs_buf text;
    qs_buf_init(&text);
    qs_buf_str(&text, "quiesce: 1\nbenchmarks:\n");
    for (int b = 0; b < BENCHMARKS; b++) {
        qs_buf_fmt(&text, "  - {name: b%d, argv: [x], params: {v: [", b);
        for (int i = 0; i < VALUES; i++)
            qs_buf_fmt(&text, "%s%d", i ? "," : "", i);
        qs_buf_str(&text, "], w: [0,1,2,3,4,5,6,7,8,9]}, exclude: [");
        for (int i = 1; i < VALUES; i++)
            qs_buf_fmt(&text, "%s{v: %d}", i > 1 ? "," : "", i);
        qs_buf_str(&text, ",{w: 9}]}\n");
    }
    qs_buf_str(&text, "arms:\n");
    for (int a = 0; a < ARMS; a++) {
        qs_buf_fmt(&text, "  a%d: {build: {label: l%d, files: {", a, a);
        for (int i = 0; i < FILES; i++)
            qs_buf_fmt(&text, "%sf%d: /x/%d", i ? ", " : "", i, i % 2 ? i : a * FILES + i);
        qs_buf_str(&text, "}}}\n");
    }
    struct qs_job_spec *s = parse(text.data);
    char hash[65] = {0}, path[32];
    memset(hash, 'b', 64);
    assert_int_equal(s->point_count, BENCHMARKS * 9);
    assert_string_equal(s->points[9].label, "b1 v=0 w=0");
    assert_int_equal(qs_job_file_count(s), ARMS * FILES / 2 + FILES / 2);
    assert_string_equal(qs_job_file_at(s, FILES)->path, "/x/256");
    for (int i = 0; i < ARMS * FILES; i += 2) {
        snprintf(path, sizeof path, "/x/%d", i);
        assert_true(qs_job_bind_file(s, path, hash));
    }
    assert_true(qs_job_bind_file(s, "/x/3", hash));
    assert_false(qs_job_bind_file(s, "/x/257", hash));
    assert_string_equal(s->arms[7].files[3].sha256, hash);
    assert_string_equal(s->arms[7].files[5].sha256, "");
    qs_job_free(s);
    qs_buf_done(&text);
}

/* A line that has one to come back to is two, each with all that the first says of waiting. */
static void test_gate_that_comes_back(void **state)
{
    (void)state;
    struct qs_job_spec *s = parse("quiesce: 1\nbenchmarks: [{name: x, shell: 'a | b'}]\nconditions: {gate: "
                                  "[{sensor: load1_milli, below: 2},\n"
                                  "  {sensor: 'thermal:soc', band: [20C, 45C], back_to: 38C, dwell: 2s, "
                                  "timeout: 1min, on_timeout: fail, "
                                  "end_below: 70C, heat: true, backoff: false, unreadable_ok: true}, "
                                  "{sensor: load1_milli, below: 1.5, back_to: 1}]}\n");
    const struct qs_job_expectation *e = s->conditions[0].gate;
    assert_int_equal(s->conditions[0].gate_count, 5);
    assert_true(!e[0].returns && !e[1].returns && e[1].heat && e[1].has_lo && e[1].has_end);
    assert_int_equal(e[1].hi, 45000);
    assert_string_equal(e[2].sensor, "thermal:soc");
    assert_true(e[2].returns && e[2].has_hi && !e[2].has_lo && !e[2].has_end && !e[2].heat &&
                !e[2].unreadable_ok);
    assert_int_equal(e[2].hi, 38000);
    assert_int_equal(e[2].dwell_ns, INT64_C(2000000000));
    assert_int_equal(e[2].timeout_ns, INT64_C(60000000000));
    assert_int_equal(e[2].on_timeout, QS_ON_TIMEOUT_FAIL);
    assert_false(e[2].backoff);
    assert_true(e[4].returns);
    assert_int_equal(e[4].hi, 1000);
    qs_job_free(s);
}

static void test_gate_none(void **state)
{
    (void)state;
    struct qs_job_spec *s = parse(
        "quiesce: 1\nbenchmarks: [{name: x, shell: 'a | b'}]\nconditions: {gate: none, bounds: none}\n");
    assert_int_equal(s->conditions[0].gate_count, 0);
    assert_int_equal(s->conditions[0].bound_count, 0);
    assert_int_equal(s->benchmarks[0].argv.count, 3);
    assert_string_equal(s->benchmarks[0].argv.at[2], "a | b");
    qs_job_free(s);
}

/* What a set says replaces it, what it leaves out is as in the job's own; an arm's come before the
 * benchmark's. */
/* The caps of conditions stand in place of the plan's, whose stop rule they may let happen. */
static void test_caps_of_conditions(void **state)
{
    (void)state;
    struct qs_job_spec *s = parse("quiesce: 1\nbenchmarks: [{name: a, argv: [x]}]\n"
                                  "plan: {stop: {fixed: 20000}}\nconditions: {caps: {iterations: 50000}}\n");
    assert_int_equal(s->conditions[0].enough.cap_iterations, 50000);
    assert_true(s->conditions[0].enough.stop->arg[0] == 20000);
    qs_job_free(s);
}

static void test_condition_sets(void **state)
{
    (void)state;
    struct qs_job_spec *s = parse(
        "quiesce: 1\n"
        "benchmarks: [{name: a, argv: [x], params: {p: [1, 2]}}, {name: b, argv: [x], conditions: loud}]\n"
        "arms: {one: {conditions: pinned}, two: {env: {A: b}}, three: {conditions: default}}\n"
        "plan: {stop: {fixed: 50}, caps: {time: 20s}}\n"
        "conditions: {affinity: 0-1, patience: 7s, repeat_tainted: 0, bounds: {cpu.steal_ticks: 5}}\n"
        "condition_sets:\n"
        "  pinned: {affinity: any, gate: [{sensor: load1_milli, below: 1.5}], repeat_tainted: 3, "
        "caps: {iterations: 99}}\n"
        "  loud: {gate: none, bounds: none, stop: {time: 1s}}\n");
    assert_int_equal(s->condition_count, 3);
    const struct qs_job_conditions *own = qs_job_conditions(s, 0, 1);
    assert_ptr_equal(own, &s->conditions[0]);
    assert_string_equal(own->name, "default");
    assert_string_equal(own->controls.cpus, "0-1");
    assert_int_equal(own->enough.stop->arg[0], 50);
    assert_int_equal(own->enough.cap_time_ns, INT64_C(20000000000));
    assert_int_equal(own->enough.cap_iterations, 10000);
    const struct qs_job_conditions *pinned = qs_job_conditions(s, 0, 0);
    assert_string_equal(pinned->name, "pinned");
    assert_string_equal(pinned->controls.cpus, "");
    assert_int_equal(pinned->gate_count, 1);
    assert_string_equal(pinned->gate[0].sensor, "load1_milli");
    assert_int_equal(pinned->gate[0].timeout_ns, INT64_C(5000000000));
    assert_int_equal(pinned->patience_ns, INT64_C(7000000000));
    assert_int_equal(pinned->bound_count, 1);
    assert_int_equal(pinned->bounds[0].bound, 5);
    assert_int_equal(pinned->repeat_tainted, 3);
    assert_int_equal(pinned->enough.stop->arg[0], 50);
    assert_int_equal(pinned->enough.cap_time_ns, INT64_C(20000000000));
    assert_int_equal(pinned->enough.cap_iterations, 99);
    const struct qs_job_conditions *loud = qs_job_conditions(s, 2, 1); /* the benchmark's */
    assert_string_equal(loud->name, "loud");
    assert_string_equal(loud->controls.cpus, "0-1");
    assert_int_equal(loud->gate_count + loud->bound_count, 0);
    assert_int_equal(loud->repeat_tainted, 0);
    assert_int_equal(loud->enough.stop->kind, QS_RULE_TIME);
    assert_ptr_equal(qs_job_conditions(s, 2, 0), pinned);
    assert_ptr_equal(qs_job_conditions(s, 2, 2), own); /* said by the arm, not inherited */
    assert_ptr_equal(qs_job_conditions(s, 1, 2), own);
    assert_int_equal(qs_job_repeats(s, 0), 3);
    qs_job_free(s);
}

/* Every example is a job; their number is held so that a folder that moved is noticed. */
static void test_examples(void **state)
{
    (void)state;
    char *dir = qs_asprintf("%s/jobs", examples_dir);
    size_t count = 0;
    char **names = golden_list(dir, ".yaml", ".json", &count);
    assert_int_equal(count, 11);
    for (size_t i = 0; i < count; i++) {
        char *path = qs_asprintf("%s/%s", dir, names[i]);
        size_t len = 0;
        char *text = golden_read(path, &len);
        assert_non_null(text);
        qs_job_free(parse(text));
        free(text);
        free(path);
        free(names[i]);
    }
    free(names);
    free(dir);
}

static void assert_tracer(const char *trace, size_t point, const char *expected)
{
    char *text = qs_asprintf(
        "quiesce: 1\nbenchmarks: [{name: a, argv: [x, \"{n}\"], params: {n: [1, 2]}}]\ntrace: %s\n", trace);
    struct qs_job_spec *s = parse(text);
    struct qs_strings argv;
    struct qs_buf words;
    qs_buf_init(&words);
    qs_job_tracer_argv(s, 0, point, &argv);
    for (size_t i = 0; i < argv.count; i++)
        qs_buf_fmt(&words, "%s%s", i > 0 ? "|" : "", argv.at[i]);
    assert_string_equal(words.data, expected);
    qs_buf_done(&words);
    qs_strings_done(&argv);
    qs_job_free(s);
    free(text);
}

/* What only the agent knows stays as it is; parameters are filled in. */
static void test_tracers(void **state)
{
    (void)state;
    assert_tracer("{tool: perf}", 0, "perf|record|-k|CLOCK_MONOTONIC_RAW|-o|{output}|-p|{pid}|-g");
    assert_tracer("{tool: perf, events: [cycles:u, faults], options: [-F, \"{n}\"]}", 1,
                  "perf|record|-k|CLOCK_MONOTONIC_RAW|-o|{output}|-p|{pid}|-e|cycles:u|-e|faults|-F|2");
    assert_tracer(
        "{tool: ftrace, events: [sched:sched_switch], options: [current_tracer=nop], buffer: 1MiB}", 0,
        "{agent}|--ftrace|{output}|trace_clock=mono_raw|buffer_size_kb=1024|set_event=sched:sched_switch|"
        "current_tracer=nop");
    assert_tracer("{tool: perfetto, config: x}", 0, "perfetto|-c|-|--txt|-o|{output}");
    assert_tracer("{tool: command, argv: [t, \"--pid={pid}\", \"{output}\", \"a{n}{{b\"]}", 1,
                  "t|--pid={pid}|{output}|a2{b");
}

static void test_traced_blocks(void **state)
{
    (void)state;
    struct qs_job_trace t = {.tool = QS_TRACER_PERF, .every = 3};
    static const bool expected[] = {false, true, false, false, true, false, false, true};
    for (uint32_t block = 0; block < 8; block++)
        assert_int_equal(qs_job_is_traced(&t, block), expected[block]);
    t.every = 0;
    assert_true(qs_job_is_traced(&t, 1));
    assert_false(qs_job_is_traced(&t, 2));
    t.tool = QS_TRACER_NONE;
    assert_false(qs_job_is_traced(&t, 1));
    struct qs_job_spec *s = parse("quiesce: 1\nbenchmarks: [{name: a, argv: [x]}]\ntrace: {tool: perf}\n");
    assert_int_equal(s->trace.every, 1);
    assert_int_equal(s->trace.windows, 1);
    assert_int_equal(s->trace.max_bytes, 16 << 20);
    assert_int_equal(s->trace.settle_ns, 500000000);
    assert_int_equal(s->trace.stop_ns, INT64_C(10000000000));
    assert_false(s->trace.required);
    qs_job_free(s);
}

static void test_evals(void **state)
{
    (void)state;
    struct qs_job_spec *spec = parse("quiesce: 1\nbenchmarks:\n"
                                     "  - {name: a, mode: harness, argv: [./a], evals: 1000000}\n"
                                     "  - {name: b, mode: harness, argv: [./b], evals: auto}\n"
                                     "  - {name: c, mode: harness, argv: [./c]}\n");
    assert_int_equal(spec->benchmarks[0].evals, 1000000);
    assert_int_equal(spec->benchmarks[1].evals, 0);
    assert_int_equal(spec->benchmarks[2].evals, 0);
    qs_job_free(spec);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    examples_dir = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_yaml_equals_json),
        cmocka_unit_test(test_points_are_multiplied),
        cmocka_unit_test(test_templates),
        cmocka_unit_test(test_files_are_bound_by_path),
        cmocka_unit_test(test_the_largest_jobs),
        cmocka_unit_test(test_gate_that_comes_back),
        cmocka_unit_test(test_gate_none),
        cmocka_unit_test(test_caps_of_conditions),
        cmocka_unit_test(test_condition_sets),
        cmocka_unit_test(test_tracers),
        cmocka_unit_test(test_traced_blocks),
        cmocka_unit_test(test_evals),
        cmocka_unit_test(test_examples),
    };
    return cmocka_run_group_tests_name("config job", tests, NULL, NULL);
}
