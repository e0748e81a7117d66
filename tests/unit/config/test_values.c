/* What a checked job says of one run: how its document is read, what a harness program is told, how sensors'
 * values are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/job/harness.h"
#include "config/job/stream.h"
#include "config/farm/sensors.h"
#include "golden.h"

static struct qs_job_spec *parse(const char *text)
{
    struct qs_buf err;
    qs_buf_init(&err);
    struct qs_job_spec *spec = golden_job("test", text, strlen(text), &err);
    if (!spec)
        fail_msg("%s", err.data);
    qs_buf_done(&err);
    return spec;
}

static void assert_form(const struct qs_job_spec *s, size_t arm, size_t point, const char *json)
{
    struct qs_form form;
    struct qs_buf out;
    qs_job_form(s, arm, point, &form);
    qs_buf_init(&out);
    qs_form_json(&form, &out);
    assert_string_equal(out.data, json);
    qs_buf_done(&out);
    qs_form_done(&form);
}

static void forms_are_of_the_run(void **state)
{
    (void)state;
    struct qs_job_spec *s =
        parse("quiesce: 1\nbenchmarks:\n"
              "  - {name: a, argv: [x], mode: stream, format: google-benchmark, benchmark: 'BM_{v}/{n}',\n"
              "     params: {n: [1, 2]}}\n"
              "  - {name: b, argv: [x], mode: stream, format: numbers, unit: us, output: {file: o.txt}}\n"
              "  - {name: c, argv: [x], mode: stream, format: pattern, unit: MB/s, pattern: '([0-9]+) MB',\n"
              "     metric: rate, better: higher}\n"
              "  - {name: d, argv: [x], mode: stream, format: numbers, unit: J, better: lower}\n"
              "arms: {one: {params: {v: add}}, two: {params: {v: mul}}}\n");
    assert_form(s, 0, 1, "{\"format\":\"google-benchmark\",\"benchmark\":\"BM_add/2\"}");
    assert_form(s, 1, 0, "{\"format\":\"google-benchmark\",\"benchmark\":\"BM_mul/1\"}");
    assert_form(s, 0, 2, "{\"format\":\"numbers\",\"unit\":\"us\",\"file\":\"o.txt\"}");
    assert_form(s, 0, 3,
                "{\"format\":\"pattern\",\"unit\":\"MB/s\",\"metric\":\"rate\",\"better\":\"higher\","
                "\"pattern\":\"([0-9]+) MB\"}");
    assert_int_equal(s->conditions[0].bound_count,
                     0); /* a window is as long as its program: no bound of ours fits */
    assert_form(s, 0, 4, "{\"format\":\"numbers\",\"unit\":\"J\",\"metric\":\"value\",\"better\":\"lower\"}");
    qs_job_free(s);
}

static void assert_process(const struct qs_job_spec *s, size_t arm, size_t point, const char *shown,
                           const char *given)
{
    struct qs_strings argv, process;
    QS_BUF(out);
    qs_job_argv(s, arm, point, &argv);
    qs_job_process_argv(s, arm, point, &process);
    for (size_t i = 0; i < argv.count; i++)
        qs_buf_fmt(&out, "%s ", argv.at[i]);
    assert_string_equal(out.data, shown);
    qs_buf_clear(&out);
    assert_string_equal(process.at[0], "/bin/sh");
    assert_string_equal(process.at[1], "-c");
    assert_non_null(strstr(process.at[2], "PATH=$PATH:/system/bin\n"));
    for (size_t i = 3; i < process.count; i++) /* what the script is given */
        qs_buf_fmt(&out, "%s ", process.at[i]);
    assert_string_equal(out.data, given);
    qs_strings_done(&argv);
    qs_strings_done(&process);
}

static void an_app_is_started_by_its_shell(void **state)
{
    (void)state;
    struct qs_job_spec *s = parse(
        "quiesce: 1\nbenchmarks:\n"
        "  - {name: a, mode: app, app: {package: a.b, activity: .C$D, start: hot, iterations: 3, pause: "
        "1500ms}}\n"
        "  - {name: b, mode: app, metric: xMs, benchmark: '{v}', app: {package: a.b, test_package: a.t,\n"
        "     arguments: {class: 'a.B#{v}', x: ''}}}\n"
        "  - {name: c, mode: app, app: {package: a.b, test_package: a.t, runner: a.R, output_dir: "
        "/sdcard/o}}\n"
        "arms: {one: {params: {v: add}}, two: {params: {v: mul}}}\n");
    assert_process(s, 0, 0, "am start -W -n a.b/.C$D hot x3 pause=1.500s ",
                   "quiesce a.b a.b/.C$D hot 3 1.500 ");
    assert_process(s, 1, 1,
                   "am instrument -w -r -e class a.B#mul -e x  a.t/androidx.test.runner.AndroidJUnitRunner ",
                   "quiesce /sdcard/Android/media/a.t/additional_test_output -e class a.B#mul -e x  "
                   "a.t/androidx.test.runner.AndroidJUnitRunner ");
    assert_process(s, 0, 2, "am instrument -w -r a.t/a.R ", "quiesce /sdcard/o a.t/a.R ");
    assert_form(s, 0, 0, "{\"format\":\"am-start\",\"launch\":\"hot\"}");
    assert_form(s, 0, 1, "{\"format\":\"androidx\",\"metric\":\"xMs\",\"benchmark\":\"add\"}");
    assert_int_equal(s->benchmarks[0].iteration_limit_ns, INT64_C(600000000000));
    assert_int_equal(s->conditions[0].bound_count, 0);
    assert_true(qs_job_is_streamed(&s->benchmarks[0]));
    qs_job_free(s);
}

static void assert_params(const struct qs_job_spec *s, size_t arm, size_t point, const char *all)
{
    struct qs_strings params;
    struct qs_buf out;
    qs_job_program_params(s, arm, point, &params);
    qs_buf_init(&out);
    for (size_t i = 0; i < params.count; i++)
        qs_buf_fmt(&out, "%s ", params.at[i]);
    assert_string_equal(out.data, all);
    qs_buf_done(&out);
    qs_strings_done(&params);
}

/* Those that its command line does not tell it already. */
static void a_program_is_told_its_parameters(void **state)
{
    (void)state;
    struct qs_job_spec *s = parse(
        "quiesce: 1\nbenchmarks:\n"
        "  - {name: a, argv: [./a, '--n={n}', '{{k}'], mode: harness, params: {n: [1, 2], nn: x, k: y}}\n"
        "arms: {one: {params: {v: add}}, two: {argv: [./b, '{nn}{v}'], params: {v: mul}}}\n");
    assert_params(s, 0, 1, "nn=x k=y v=add ");
    assert_params(s, 1, 1, "n=2 k=y ");
    assert_int_equal(s->conditions[0].bound_count, 3);
    assert_string_equal(s->conditions[0].bounds[2].kind, "program.children");
    qs_job_free(s);
}

static struct qs_job_layout layout(const struct qs_job_spec *s, uint64_t seed, uint64_t device,
                                   const struct qs_job_turn *turn)
{
    struct qs_job_layout ret;
    qs_job_draw_layout(s, seed, device, turn, &ret);
    return ret;
}

/* Each of what it is drawn from makes another one; the same draws the same, today and in a later version. */
static void a_layout_is_drawn_from_its_turn(void **state)
{
    static const struct qs_job_turn turns[] = {
        {0, 1, 0, 0}, {1, 1, 0, 0}, {0, 2, 0, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}};
    (void)state;
    struct qs_job_spec *s =
        parse("quiesce: 1\nbenchmarks:\n"
              "  - {name: a, argv: [./a], mode: harness, layout: random, params: {n: [1, 2]}}\n"
              "  - {name: b, argv: [./b], mode: harness, layout: fixed}\n");
    struct qs_job_layout seen[7];
    for (size_t i = 0; i < 5; i++)
        seen[i] = layout(s, 7, 9, &turns[i]);
    seen[5] = layout(s, 8, 9, &turns[0]);
    seen[6] = layout(s, 7, 10, &turns[0]);
    for (size_t i = 0; i < 7; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(seen[i].seed != seen[k].seed);
    uint32_t environment = 0, stack = 0, heap = 0;
    for (uint32_t block = 0; block < 40000; block++) {
        struct qs_job_layout one = layout(s, 7, 9, &(struct qs_job_turn){.block = block});
        assert_in_range(one.environment_bytes, 1, 4096);
        assert_int_equal(one.stack_bytes % 16 + one.heap_bytes % 16, 0);
        environment = one.environment_bytes > environment ? one.environment_bytes : environment;
        stack = one.stack_bytes > stack ? one.stack_bytes : stack;
        heap = one.heap_bytes > heap ? one.heap_bytes : heap;
    }
    assert_int_equal(environment, 4096);
    assert_int_equal(stack, 4096 - 16);
    assert_int_equal(heap, 65536 - 16);
    struct qs_job_layout fixed = layout(s, 7, 9, &(struct qs_job_turn){.point = 2});
    assert_int_equal(fixed.environment_bytes + fixed.stack_bytes + fixed.heap_bytes, 0);
    assert_true(fixed.seed != 0);
    qs_job_free(s);
}

static void sensors_are_written_in_their_units(void **state)
{
    static const struct {
        const char *name;
        int64_t value;
        const char *text, *example;
        int64_t of_example;
    } rows[] = {{"cpu.busy_ratio_ppm", 123456, "12.3 %", "10%", 100000},
                {"psi.cpu.some_avg10_ppm", 100, "0.0 %", "10%", 100000},
                {"load1_milli", 1250, "1.25", "1.5", 1500},
                {"thermal:x", 46700, "46.7 °C", "38C", 38000},
                {"battery:BAT0", 54, "54 %", "30%", 30},
                {"freq:policy0_khz", 1500000, "1500 MHz", "1.8GHz", 1800000},
                {"psi.io.some_us", 1500, "1.500 ms", "20ms", 20000},
                {"sched.run_delay_ns", 1500000, "1.500 ms", "20ms", 20000000},
                {"program.rss_bytes", 3 << 19, "1.5 MiB", "16MiB", 16 << 20},
                {"cooling:fan", 3, "3", "3", 3},
                {"throttle.cpu0.count", -2, "-2", "3", 3}};
    (void)state;
    struct qs_buf out;
    qs_buf_init(&out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qs_scalar_why why = {0};
        int64_t value = 0;
        qs_buf_clear(&out);
        qs_sensor_print(rows[i].name, rows[i].value, &out);
        assert_string_equal(out.data, rows[i].text);
        qs_buf_clear(&out);
        const struct qs_sensor_kind *kind = qs_sensor_find(rows[i].name, &out);
        assert_non_null(kind);
        assert_string_equal(out.data, "");
        assert_string_equal(qs_sensor_example(kind), rows[i].example);
        assert_true(qs_sensor_value(kind, rows[i].example, &value, &why));
        assert_int_equal(value, rows[i].of_example);
    }
    struct qs_scalar_why why = {0};
    int64_t value = 0;
    assert_false(qs_sensor_value(qs_sensor_find("battery:BAT0", &out), "30.5%", &value, &why));
    assert_string_equal(why.text, "`30.5%` is finer than one percent");
    qs_buf_clear(&out);
    qs_sensor_print("metric:energy_j", 7, &out); /* nothing is known of it */
    assert_string_equal(out.data, "7");
    qs_buf_clear(&out);
    assert_null(qs_sensor_find("thermal:", &out));
    assert_string_equal(out.data, "write `thermal:` and what it belongs to");
    qs_buf_clear(&out);
    assert_null(qs_sensor_find("lo", &out));
    assert_null(strstr(out.data, "did you mean"));
    qs_buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_of_the_run),
        cmocka_unit_test(an_app_is_started_by_its_shell),
        cmocka_unit_test(a_program_is_told_its_parameters),
        cmocka_unit_test(a_layout_is_drawn_from_its_turn),
        cmocka_unit_test(sensors_are_written_in_their_units),
    };
    return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
