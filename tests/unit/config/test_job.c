#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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
    assert_null(s->plan.stop);
    assert_string_equal(s->cpus, "");
    assert_int_equal(s->gate_count, 1);
    assert_string_equal(s->gate[0].sensor, "cpu.busy_ratio_ppm");
    assert_int_equal(s->gate[0].hi, 100000);
    assert_int_equal(s->gate[0].timeout_ns, INT64_C(5000000000));
    assert_int_equal(s->bound_count, 2);
    qs_job_free(s);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    examples_dir = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_defaults)};
    return cmocka_run_group_tests_name("config job", tests, NULL, NULL);
}
