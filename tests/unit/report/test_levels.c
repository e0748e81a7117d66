/* The levels of variance of a point, from samples whose levels are known; the sets of conditions: what ends
 * their runs, and whose they are. */
#include "page.h"
#include "world.h"

#include "report/job/document.h"
#include "report/tables/tables.h"
#include "stats/rng.h"

static json_t *report_of(struct world *w)
{
    const bool brief = false;
    struct qs_windows windows = {.count = 0};
    struct qs_buf text;
    qs_buf_init(&text);
    qs_report_job(&w->in, &windows, brief, &text);
    json_t *doc = page_read(&text);
    qs_buf_done(&text);
    return doc;
}

static const json_t *level(const json_t *doc, const char *name)
{
    return row_of(doc, "points.0.levels", "level", name);
}

/* Normal, by twelve uniform numbers. */
static double noise(struct qs_rng *rng, double sd)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += qs_rng_unit(rng);
    return sd * sum;
}

/* Two arms 50 % apart, 200 blocks; blocks, runs and iterations add 3, 2 and 1 %. */
static void test_levels(void **state)
{
    (void)state;
    struct world w;
    struct qs_rng rng;
    qs_rng_seed(&rng, 5, 1);
    world_init(&w, 2, NULL);
    for (uint32_t b = 1; b <= 200; b++) {
        double block = noise(&rng, 0.03);
        for (uint32_t a = 0; a < 2; a++) {
            int64_t ns[8];
            double run = noise(&rng, 0.02);
            for (size_t i = 0; i < 8; i++)
                ns[i] = (int64_t)(1e6 * (a + 2) * (1 + block + run + noise(&rng, 0.01)));
            struct qs_measured_run *s = world_run(&w, b, a, ns, 8);
            s->session = s->boot = 1;
        }
    }
    json_t *doc = report_of(&w);
    assert_true(fabs(number(level(doc, "block"), "sd_ratio") - 0.03) < 0.004);
    assert_true(fabs(number(level(doc, "run"), "sd_ratio") - 0.02) < 0.002);
    assert_true(fabs(number(level(doc, "iteration"), "sd_ratio") - 0.01) < 0.001);
    assert_true(fabs(number(level(doc, "block"), "share") - 9.0 / 14) < 0.08);
    assert_true(fabs(number(level(doc, "run"), "impact") - sqrt(5)) < 0.25);
    assert_true(fabs(number(level(doc, "block"), "impact") - sqrt(14.0 / 5)) < 0.2);
    assert_string_equal(text_at(level(doc, "device"), "why"), "one unit");
    assert_int_equal(number(level(doc, "block"), "units"), 200);
    assert_int_equal(number(level(doc, "run"), "units"), 400);
    assert_non_null(strstr(text_at(doc, "points.0.levels_sentence"), "between blocks: the machine changes"));
    json_decref(doc);
    world_done(&w);
}

/* One arm on two devices: a block is a run, the devices differ. */
static void test_levels_of_devices(void **state)
{
    (void)state;
    struct world w;
    struct qs_rng rng;
    qs_rng_seed(&rng, 5, 1);
    world_init(&w, 1, NULL);
    for (uint32_t d = 0; d < 2; d++)
        for (uint32_t b = 1; b <= 10; b++) {
            int64_t ns[4];
            for (size_t i = 0; i < 4; i++)
                ns[i] = (int64_t)(1e6 * (1 + 0.2 * d + noise(&rng, 0.01)));
            struct qs_measured_run *s = world_run(&w, b, 0, ns, 4);
            s->device[0] = (char)('x' + d);
            s->boot = s->session = d + 1;
        }
    json_t *doc = report_of(&w);
    assert_int_equal(json_array_size(at(doc, "results")), 2);
    assert_int_equal(json_array_size(at(doc, "points")), 1);
    assert_string_equal(text_at(level(doc, "block"), "why"), "one unit for each unit of the level below");
    assert_string_equal(text_at(level(doc, "device"), "why"), "one unit for each unit of the level below");
    assert_true(number(level(doc, "session"), "share") > 0.95);
    json_decref(doc);
    world_done(&w);
}

/* Each set that an arm is measured under, in words; "default" is none of them here. */
static void test_stops_of_sets(void **state)
{
    (void)state;
    struct world w;
    world_read(&w, "quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\nplan: {caps: {iterations: 7}}\n"
                   "condition_sets: {cold: {affinity: 1}, warm: {stop: {fixed: 3}}}\n"
                   "arms: {a: {conditions: warm}, b: {conditions: cold}}\n");
    json_t *doc = report_of(&w);
    assert_string_equal(text_at(doc, "rule.conditions"), "cold");
    assert_true(json_is_null(at(doc, "rule.stop")));
    assert_int_equal(json_array_size(at(doc, "rule.stops")), 2);
    assert_string_equal(text_at(doc, "rule.stops.0.conditions"), "cold");
    assert_true(json_is_null(at(doc, "rule.stops.0.stop")));
    assert_int_equal(number(doc, "rule.stops.0.cap_iterations"), 7);
    assert_string_equal(text_at(doc, "rule.stops.1.conditions"), "warm");
    assert_string_equal(text_at(doc, "rule.stops.1.stop"), "fixed(3)");
    json_decref(doc);
    world_done(&w);
}

/* An arm's own, or its benchmark's; the job's own and one that is called as its arm need no name in a table.
 */
static void test_arms_name_their_sets(void **state)
{
    (void)state;
    struct world w;
    struct qs_tables t;
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(text);
    world_read(
        &w, "quiesce: 1\ncondition_sets: {cold: {affinity: 1}, c: {affinity: 2}}\n"
            "benchmarks: [{name: x, argv: [x]}, {name: y, argv: [y], conditions: cold}]\n"
            "arms: {a: {argv: [x]}, b: {conditions: cold}, c: {conditions: c}, d: {conditions: default}}\n");
    for (uint32_t point = 0; point < 2; point++)
        for (uint32_t arm = 0; arm < 4; arm++)
            world_one(&w, 1, arm, 1000000)->point = point;
    assert_true(qs_tables_init(&t, "markdown"));
    w.in.tables = &t;
    assert_true(qs_report_compare(&w.in, &text, &err));
    json_t *doc = page_read(&text);
    assert_true(json_is_null(at(doc, "results.0.arms.0.conditions")));
    assert_string_equal(text_at(doc, "results.0.arms.1.conditions"), "cold");
    assert_string_equal(text_at(doc, "results.0.arms.2.conditions"), "c");
    assert_string_equal(text_at(doc, "results.1.arms.0.conditions"), "cold");
    assert_true(json_is_null(at(doc, "results.1.arms.3.conditions")));
    const char *second = strstr(t.out.data, "## y on local");
    assert_non_null(second);
    assert_null(strstr(strstr(t.out.data, "| a: `x`"), "(conditions c)"));
    assert_non_null(strstr(t.out.data, "| b (conditions cold): `x`"));
    assert_non_null(strstr(t.out.data, "| d: `x`"));
    assert_non_null(strstr(second, "| a (conditions cold): `"));
    assert_non_null(strstr(second, "| d: `y`"));
    json_decref(doc);
    qs_tables_done(&t);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_levels_of_devices),
        cmocka_unit_test(test_stops_of_sets),
        cmocka_unit_test(test_arms_name_their_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
