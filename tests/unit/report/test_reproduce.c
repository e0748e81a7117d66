/* A job and its repetition, both made up: order, layout, environment and values side by side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "golden.h"
#include "listener.h"
#include "report/reproduce.h"
#include "world.h"

enum { BLOCKS = 5, RUNS = 2 * BLOCKS };

static char device[] = "bench", benchmark[] = "blur", names[2][2] = {"a", "b"};

struct job { /* two arms in five blocks, two iterations a run */
    struct qs_run_info info[RUNS];
    struct qs_arm_run run[RUNS];
    struct qs_values of[RUNS];
    double ns[RUNS][2];
    struct qs_runs runs;
    struct qs_arm_runs values;
};

struct facts { /* of all its runs */
    char *env_json, *exe_sha256, *harness_json;
};

static void make_run(struct job *j, uint8_t number, uint32_t i, uint32_t arm, const struct facts *facts)
{
    uint32_t block = i / 2 + 1, pos = i % 2;
    j->of[i] = (struct qs_values){.at = j->ns[i], .n = 2};
    j->info[i] = (struct qs_run_info){.uid = {number, (uint8_t)i},
                                      .arm = arm,
                                      .block = block,
                                      .pos = pos,
                                      .n = 2,
                                      .state = QS_RUN_DONE,
                                      .arm_name = names[arm],
                                      .device = device,
                                      .harness_json = facts->harness_json};
    j->run[i] = (struct qs_arm_run){.uid = {number, (uint8_t)i},
                                    .arm = arm,
                                    .block = block,
                                    .pos = pos,
                                    .state = QS_RUN_DONE,
                                    .benchmark = benchmark,
                                    .label = benchmark,
                                    .arm_name = names[arm],
                                    .device = device,
                                    .exe_sha256 = facts->exe_sha256,
                                    .env_json = facts->env_json,
                                    .values = &j->of[i]};
}

/* Arm b first in the blocks of `swapped`. */
static void make_job(struct job *j, uint8_t number, unsigned swapped, double level_ns,
                     const struct facts *facts)
{
    memset(j, 0, sizeof *j);
    for (uint32_t i = 0; i < RUNS; i++) {
        uint32_t block = i / 2 + 1, arm = (swapped >> block & 1) ? 1 - i % 2 : i % 2;
        double noise = 0.002 * ((double)((block + number) % 3) - 1);
        for (int k = 0; k < 2; k++)
            j->ns[i][k] = level_ns * (1 + noise) * (arm ? 2 : 1);
        make_run(j, number, i, arm, facts);
    }
    j->runs = (struct qs_runs){.at = j->info, .count = RUNS};
    j->values = (struct qs_arm_runs){.at = j->run, .count = RUNS};
}

static const double margins[] = {0.02, 0.2};

static bool write_to(struct qs_buf *out, struct job *original, struct job *again, const uint8_t *run_uid,
                     struct listener *l, struct qs_err *err)
{
    const struct qs_reproduce_input in = {
        .original = {.job = 4, .seed = 7, .runs = &original->runs, .values = &original->values},
        .again = {.job = 9, .seed = 7, .runs = &again->runs, .values = &again->values},
        .run_uid = run_uid,
        .margin_ratio = margins,
        .point_count = 2,
        .alpha = 0.05,
        .progress = {.go_on = hear, .user = l}};
    return qs_reproduce_document(&in, out, err);
}

static json_t *compare(struct job *original, struct job *again, const uint8_t *run_uid)
{
    struct listener l = {.refuse_at = 0};
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf out;
    qs_buf_init(&out);
    bool ok = write_to(&out, original, again, run_uid, &l, &err);
    json_t *doc = ok ? json_loadb(out.data, out.len, 0, NULL) : NULL;
    qs_buf_done(&out);
    return doc;
}

static json_t *in_list(json_t *doc, const char *list, size_t i)
{
    return json_array_get(json_object_get(doc, list), i);
}

static long long count(json_t *doc, const char *object, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(doc, object), key));
}

static json_t *of_verdict(const json_t *result, const char *key)
{
    return json_object_get(json_array_get(json_object_get(result, "comparisons"), 0), key);
}

static char env[] = "{\"kernel\":\"6.1\"}", newer[] = "{\"kernel\":\"6.6\"}", exe[] = "aa", other[] = "bb";
static char moved[] =
    "{\"layout\":\"random\",\"environment_bytes\":16,\"stack_bytes\":32,\"heap_bytes\":0,\"code\":0}";
static char moved_on[] =
    "{\"layout\":\"random\",\"environment_bytes\":48,\"stack_bytes\":32,\"heap_bytes\":0}";

static void the_same_again(void **state)
{
    (void)state;
    static struct job x, y;
    const struct facts facts = {env, exe, moved};
    make_job(&x, 1, 0x14, 1e6, &facts);
    make_job(&y, 2, 0x14, 1.001e6, &facts);
    json_t *doc = compare(&x, &y, x.info[3].uid);
    assert_non_null(doc);
    assert_true(json_is_true(json_object_get(doc, "same_seed")));
    assert_int_equal(count(doc, "order", "turns"), RUNS);
    assert_int_equal(count(doc, "order", "same"), RUNS);
    assert_int_equal(count(doc, "layouts", "same"), RUNS);
    assert_int_equal(json_integer_value(json_object_get(in_list(doc, "environments", 0), "matter")), 0);
    assert_int_equal(json_array_size(json_object_get(doc, "results")), 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(json_is_true(json_object_get(in_list(doc, "results", i), "reproduced")));
    json_t *mate = json_object_get(json_object_get(doc, "run"), "again");
    assert_int_equal(strncmp(json_string_value(json_object_get(mate, "uid")), "0203", 4), 0);
    golden_document("reproduction", doc);
    json_decref(doc);
}

static void what_is_not_the_same(void **state)
{
    (void)state;
    static struct job x, y;
    const struct facts then = {env, exe, moved}, now = {newer, other, moved_on};
    make_job(&x, 1, 0x14, 1e6, &then);
    make_job(&y, 2, 0x24, 1.1e6, &now); /* the fourth and fifth block the other way round */
    y.runs.count = RUNS - 2;            /* one block less */
    json_t *doc = compare(&x, &y, NULL);
    assert_int_equal(count(doc, "order", "turns"), RUNS - 2);
    assert_int_equal(count(doc, "order", "same"), RUNS - 4);
    assert_int_equal(count(doc, "layouts", "same"), 0);
    json_t *differences = json_object_get(in_list(doc, "environments", 0), "differences");
    assert_int_equal(json_array_size(differences), 3); /* the kernel and two executables */
    assert_string_equal(json_string_value(json_object_get(json_array_get(differences, 1), "key")),
                        "executable.arm0");
    for (size_t i = 0; i < 2; i++)
        assert_true(json_is_false(json_object_get(in_list(doc, "results", i), "reproduced")));
    assert_true(json_is_null(json_object_get(doc, "run")));
    json_decref(doc);
    uint8_t stranger[16] = {77};
    assert_null(compare(&x, &y, stranger));
}

/* Each benchmark has a margin of its own. */
static void margins_are_those_of_the_benchmarks(void **state)
{
    (void)state;
    static struct job x, y;
    const struct facts facts = {env, exe, NULL};
    make_job(&x, 1, 0, 1e6, &facts);
    make_job(&y, 2, 0, 1.1e6, &facts);
    for (size_t i = 0; i < RUNS; i++) /* arm b is another point */
        x.run[i].point = y.run[i].point = x.info[i].point = y.info[i].point = x.run[i].arm;
    json_t *doc = compare(&x, &y, NULL);
    json_t *strict = in_list(doc, "results", 0), *wide = in_list(doc, "results", 1);
    assert_true(json_is_false(json_object_get(strict, "reproduced")));
    assert_true(json_real_value(of_verdict(strict, "margin_ratio")) == 0.02);
    assert_true(json_is_true(json_object_get(wide, "reproduced")));
    assert_true(json_real_value(of_verdict(wide, "margin_ratio")) == 0.2);
    json_decref(doc);
}

/* What a busy machine made longer is no change: both jobs are compared as any two sides are. */
static void disturbed_runs_count_for_what_they_are_worth(void **state)
{
    (void)state;
    static struct job x, y;
    const struct facts facts = {env, exe, NULL};
    make_job(&x, 1, 0, 1e6, &facts);
    make_job(&y, 2, 0, 1e6, &facts);
    for (size_t i = 0; i < RUNS; i++) {
        x.run[i].arm = y.run[i].arm = 0;
        y.of[i].disturbed = i >= RUNS - 4;
        for (size_t k = 0; k < 2; k++) {
            x.ns[i][k] /= i % 2 ? 2 : 1; /* it was arm b */
            y.ns[i][k] *= y.of[i].disturbed ? 3 : i % 2 ? 0.5 : 1;
        }
    }
    json_t *doc = compare(&x, &y, NULL), *result = in_list(doc, "results", 0);
    assert_int_equal(json_array_size(json_object_get(doc, "results")), 1);
    assert_true(json_is_true(json_object_get(result, "reproduced")));
    assert_true(json_is_true(of_verdict(result, "uses_tainted")));
    assert_int_equal(json_integer_value(json_object_get(of_verdict(result, "candidate"), "units")), RUNS - 4);
    assert_int_equal(json_integer_value(json_object_get(of_verdict(result, "candidate"), "units_dropped")),
                     4);
    assert_int_equal(json_integer_value(json_object_get(of_verdict(result, "clean"), "base")), RUNS);
    json_decref(doc);
}

/* Of what is left nobody knows whether it is alike: that is no reproduction. A run whose block was begun
 * again is not lost. */
static void lost_runs_withhold_good_news(void **state)
{
    (void)state;
    static struct job x, y;
    const struct facts facts = {env, exe, NULL};
    make_job(&x, 1, 0, 1e6, &facts);
    make_job(&y, 2, 0, 1e6, &facts);
    for (size_t i = 0; i < RUNS; i++) {
        x.run[i].arm = y.run[i].arm = 0;
        y.of[i].n = i < RUNS - 5 ? 2 : 0;
        for (size_t k = 0; k < 2; k++) {
            x.ns[i][k] /= i % 2 ? 2 : 1; /* it was arm b */
            y.ns[i][k] /= i % 2 ? 2 : 1;
        }
    }
    json_t *doc = compare(&x, &y, NULL), *result = in_list(doc, "results", 0);
    assert_true(json_is_null(json_object_get(result, "reproduced")));
    assert_string_equal(json_string_value(of_verdict(result, "reason")), "taint-rates-differ");
    /* R: fisher.test(matrix(c(0, 10, 5, 5), 2))$p.value */
    assert_true(fabs(json_real_value(of_verdict(result, "lost_p")) - 0.0325077399) < 1e-9);
    json_decref(doc);
    for (size_t i = RUNS - 5; i < RUNS; i++)
        y.run[i].superseded = true;
    doc = compare(&x, &y, NULL);
    assert_true(json_is_true(json_object_get(in_list(doc, "results", 0), "reproduced")));
    json_decref(doc);
}

/* Beyond the margin, and not beyond it once more for what sessions differ by, of which there is one a side.
 */
static void a_small_change_is_probable(void **state)
{
    (void)state;
    static struct job x, y;
    const struct facts facts = {env, exe, NULL};
    make_job(&x, 1, 0, 1e6, &facts);
    make_job(&y, 2, 0, 1.03e6, &facts);
    json_t *doc = compare(&x, &y, NULL), *result = in_list(doc, "results", 0);
    assert_string_equal(json_string_value(of_verdict(result, "verdict")), "probable-regression");
    assert_string_equal(json_string_value(of_verdict(result, "reason")), "one-session");
    assert_true(json_is_false(json_object_get(result, "reproduced")));
    json_decref(doc);
}

static void too_little_is_no_answer(void **state)
{
    (void)state;
    static struct job x, y;
    const struct facts then = {env, exe, NULL}, now = {NULL, exe, NULL};
    make_job(&x, 1, 0, 1e6, &then);
    make_job(&y, 2, 0, 1e6, &now);
    y.values.count = 2; /* one run of each arm */
    json_t *doc = compare(&x, &y, NULL);
    assert_int_equal(count(doc, "layouts", "runs"), 0);
    assert_true(json_is_false(json_object_get(in_list(doc, "environments", 0), "known")));
    assert_true(json_is_null(json_object_get(in_list(doc, "results", 0), "reproduced")));
    json_decref(doc);
}

/* Every question may be the last: one for each turn, one for each run's values, and one at the end. */
static void it_ends_where_it_is_told_to(void **state)
{
    (void)state;
    static struct job x, y;
    const struct facts facts = {env, exe, NULL};
    struct listener all = {.asked = 0};
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf out;
    qs_buf_init(&out);
    make_job(&x, 1, 0, 1e6, &facts);
    make_job(&y, 2, 0, 1e6, &facts);
    assert_true(write_to(&out, &x, &y, NULL, &all, &err));
    assert_int_equal(all.asked, RUNS + RUNS + 1);
    assert_true(!all.fell && all.last == 1);
    for (size_t k = 1; k <= all.asked; k++) {
        struct listener l = {.refuse_at = k};
        struct qs_err why = QS_ERR_INIT;
        assert_false(write_to(&out, &x, &y, NULL, &l, &why));
        assert_int_equal(why.code, QS_E_STOPPED);
        assert_int_equal(l.asked, k);
        size_t done = k <= RUNS ? k - 1 : RUNS + 2 * (k - 1 - RUNS); /* values of both sides cost twice */
        assert_true(fabs(l.last - (double)done / (3 * RUNS)) < 1e-12);
    }
    qs_buf_done(&out);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_again),
        cmocka_unit_test(what_is_not_the_same),
        cmocka_unit_test(margins_are_those_of_the_benchmarks),
        cmocka_unit_test(disturbed_runs_count_for_what_they_are_worth),
        cmocka_unit_test(lost_runs_withhold_good_news),
        cmocka_unit_test(a_small_change_is_probable),
        cmocka_unit_test(too_little_is_no_answer),
        cmocka_unit_test(it_ends_where_it_is_told_to),
    };
    golden_dir = argc > 1 ? argv[1] : golden_dir;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
