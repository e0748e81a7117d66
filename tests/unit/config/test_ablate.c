/* A job that leaves out one of its conditions at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "config/farm/farm.h"
#include "config/job/ablate.h"
#include "golden.h"

#define HEAD  "quiesce: 1\nbenchmarks: [{name: x, argv: [\"true\"]}]\nablate: true\n"
#define PLAIN "conditions: {gate: none, bounds: none"

static struct qs_job_spec *read_job(const char *rest, struct qs_buf *err)
{
    QS_BUF(text);
    qs_buf_fmt(&text, HEAD "%s\n", rest);
    return golden_job("test", text.data, text.len, err);
}

static struct qs_job_spec *parse(const char *rest)
{
    QS_BUF(err);
    struct qs_job_spec *spec = read_job(rest, &err);
    if (spec == NULL)
        fail_msg("%s", err.data);
    return spec;
}

static void check_arms(const struct qs_job_spec *spec, const char *const *names, size_t count)
{
    assert_int_equal(spec->arm_count, count);
    assert_int_equal(spec->baseline, 0);
    for (size_t a = 0; a < count; a++) {
        assert_string_equal(spec->arms[a].name, names[a]);
        assert_string_equal(qs_job_conditions(spec, 0, a)->name, names[a]);
        if (a > 0)
            assert_string_equal(qs_job_left_out(spec, a), names[a] + strlen("without "));
    }
    assert_null(qs_job_left_out(spec, 0));
}

/* What an arm's conditions are worth, in one line. */
static void sum_up(const struct qs_job_spec *spec, size_t arm, struct qs_buf *out)
{
    const struct qs_job_conditions *set = qs_job_conditions(spec, 0, arm);
    const struct qs_wishes *w = &set->controls.wishes;
    qs_buf_clear(out);
    qs_buf_fmt(out, "%s|%d|%s|%s|%d|%d|%zu|%zu|%zu|%d", set->controls.cpus,
               (int)w->frequency[QS_DOMAIN_CPU].how,
               w->governor[QS_DOMAIN_CPU] != NULL ? w->governor[QS_DOMAIN_CPU] : "-",
               w->online != NULL ? w->online : "-", (int)w->boost, w->idle, w->switch_count, set->gate_count,
               set->bound_count, set->enough.stop != NULL ? (int)set->enough.stop->child_count : -1);
}

static void test_every_part(void **state)
{
    (void)state;
    static const char *const names[] = {"full",
                                        "without affinity",
                                        "without frequency",
                                        "without governor",
                                        "without online",
                                        "without boost",
                                        "without idle_states",
                                        "without switch fan:*",
                                        "without switch led",
                                        "without gate",
                                        "without bound cpu.steal_ticks",
                                        "without bound sched.involuntary_switches",
                                        "without stop fixed",
                                        "without stop stable"};
    static const char *const sums[] = {"0|1|performance|0-1|2|1|2|1|2|2", "|1|performance|0-1|2|1|2|1|2|2",
                                       "0|0|performance|0-1|2|1|2|1|2|2", "0|1|-|0-1|2|1|2|1|2|2",
                                       "0|1|performance|-|2|1|2|1|2|2",   "0|1|performance|0-1|0|1|2|1|2|2",
                                       "0|1|performance|0-1|2|0|2|1|2|2", "0|1|performance|0-1|2|1|1|1|2|2",
                                       "0|1|performance|0-1|2|1|1|1|2|2", "0|1|performance|0-1|2|1|2|0|2|2",
                                       "0|1|performance|0-1|2|1|2|1|1|2", "0|1|performance|0-1|2|1|2|1|1|2",
                                       "0|1|performance|0-1|2|1|2|1|2|1", "0|1|performance|0-1|2|1|2|1|2|1"};
    struct qs_job_spec *spec =
        parse("conditions: {affinity: \"0\", frequency: max, governor: performance, online: 0-1, boost: off, "
              "idle_states: 1, switches: {\"fan:*\": off, led: on}, stop: {all: [{fixed: 30}, stable]}}");
    QS_BUF(sum);
    check_arms(spec, names, sizeof names / sizeof *names);
    for (size_t a = 0; a < spec->arm_count; a++) {
        sum_up(spec, a, &sum);
        assert_string_equal(sum.data, sums[a]);
    }
    const struct qs_job_conditions *fan = qs_job_conditions(spec, 0, 7),
                                   *fixed = qs_job_conditions(spec, 0, 12);
    assert_string_equal(fan->controls.wishes.switches[0].of, "led");
    assert_int_equal(fixed->enough.stop->child[0].kind, QS_RULE_STABLE);
    assert_string_equal(qs_job_conditions(spec, 0, 10)->bounds[0].kind, "sched.involuntary_switches");
    qs_job_free(spec);
}

/* A line of the gate goes with what it comes back to, and alone. */
static void test_lines_that_come_back(void **state)
{
    (void)state;
    static const char *const names[] = {"full", "without gate thermal:a", "without gate load1_milli"};
    struct qs_job_spec *spec =
        parse("conditions: {bounds: none, gate: [{sensor: 'thermal:a', below: 45C, back_to: 38C}, "
              "{sensor: load1_milli, below: 2, back_to: 1}]}");
    check_arms(spec, names, sizeof names / sizeof *names);
    for (size_t a = 1; a < 3; a++) {
        const struct qs_job_conditions *set = qs_job_conditions(spec, 0, a);
        assert_int_equal(set->gate_count, 2);
        assert_string_equal(set->gate[0].sensor, a == 1 ? "load1_milli" : "thermal:a");
        assert_string_equal(set->gate[1].sensor, set->gate[0].sensor);
        assert_true(!set->gate[0].returns && set->gate[1].returns);
    }
    qs_job_free(spec);
}

/* Of several arms it is the baseline, with what it has of its own, under its own conditions. */
static void test_of_the_baseline(void **state)
{
    (void)state;
    static const char *const names[] = {"full", "without affinity", "without stop"};
    struct qs_job_spec *spec =
        parse(PLAIN "}\n"
                    "condition_sets: {held: {affinity: \"1\", stop: {fixed: 3}}}\n"
                    "compare: {baseline: b}\n"
                    "arms: {a: {argv: [a]}, b: {argv: [b, x], env: {K: v}, prepare: [p], "
                    "build: {label: L, files: {f: g}}, conditions: held}}");
    check_arms(spec, names, 3);
    for (size_t a = 0; a < 3; a++) {
        const struct qs_job_arm *arm = &spec->arms[a];
        assert_string_equal(arm->argv.at[1], "x");
        assert_string_equal(arm->env.at[0], "K=v");
        assert_string_equal(arm->prepare.at[0], "p");
        assert_string_equal(arm->build_label, "L");
        assert_int_equal(arm->file_count, 1);
        assert_string_equal(arm->files[0].path, "g");
    }
    assert_string_equal(qs_job_conditions(spec, 0, 1)->controls.cpus, "");
    assert_null(qs_job_conditions(spec, 0, 2)->enough.stop);
    assert_int_equal(qs_job_file_count(spec), 1); /* all of them: each path once */
    qs_job_free(spec);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *rest, *says;
    } rows[] = {
        {PLAIN "}", "there is nothing in the job's conditions that could be left out"},
        {"condition_sets: {y: {affinity: \"1\"}}\nbenchmarks: [{name: x, argv: [a]}, {name: z, argv: [a], "
         "conditions: y}]",
         "the benchmarks are measured under different conditions"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        QS_BUF(err);
        QS_BUF(text);
        const char *head = i == 0 ? HEAD : "quiesce: 1\nablate: true\n";
        qs_buf_fmt(&text, "%s%s\n", head, rows[i].rest);
        assert_null(golden_job("test", text.data, text.len, &err));
        if (strstr(err.data, rows[i].says) == NULL)
            fail_msg("%s", err.data);
    }
}

/* What a farm has to say of the job is not confused by conditions that nobody has written. */
static void test_farm(void **state)
{
    (void)state;
    static const char text[] = HEAD "plan: {stop: {any: [{external: r}, {fixed: 3}]}}\n";
    static const struct qs_farm_config farm = {.rules = NULL};
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    struct qs_job_spec *spec = NULL;
    assert_true(qs_doc_read("test", text, sizeof text - 1, false, &doc, &problems));
    assert_true(qs_job_from_doc(doc, &spec, &problems));
    assert_false(qs_farm_check_hooks(&farm, false, doc, spec, &problems));
    assert_int_equal(problems.count, 1);
    assert_string_equal(problems.at[0].what, "this farm has no rule `r`");
    qs_job_free(spec);
}

/* A job that measures a device needs nothing else. */
static void test_device_alone(void **state)
{
    (void)state;
    static const char text[] = "quiesce: 1\ncharacterize: {heat: 1min}\n", nothing[] = "quiesce: 1\n";
    QS_BUF(err);
    struct qs_job_spec *spec = golden_job("test", text, sizeof text - 1, &err);
    assert_non_null(spec);
    assert_true(spec->characterize.on);
    assert_string_equal(spec->name, "characterize");
    assert_int_equal(spec->point_count, 1);
    assert_int_equal(spec->arm_count, 1);
    qs_job_free(spec);
    assert_null(golden_job("test", nothing, sizeof nothing - 1, &err));
    assert_non_null(strstr(err.data, "benchmarks: is missing: what is measured, at least one"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_part),
                                       cmocka_unit_test(test_lines_that_come_back),
                                       cmocka_unit_test(test_of_the_baseline),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_farm),
                                       cmocka_unit_test(test_device_alone)};
    return cmocka_run_group_tests_name("config ablate", tests, NULL, NULL);
}
