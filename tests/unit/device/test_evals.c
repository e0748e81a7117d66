/* The steps to a number of evaluations, and the key of what was found. */
#include "device/job/evals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *json_of(const struct qs_evals *e)
{
    struct qs_buf out;
    qs_buf_init(&out);
    struct qs_json j = qs_json_to(&out);
    qs_evals_json(e, &j);
    return qs_buf_take(&out);
}

static void expect_json(const struct qs_evals *e, const char *want)
{
    char *json = json_of(e);
    assert_string_equal(json, want);
    free(json);
}

static void numbers_that_need_no_scan(void **state)
{
    (void)state;
    struct qs_evals e;
    qs_evals_init(&e, 7);
    qs_evals_keep(&e, 9);
    qs_evals_program(&e, true, 1);
    expect_json(&e, "{\"evals\":7,\"how\":\"given\"}");
    qs_evals_init(&e, 0);
    expect_json(&e, "null");
    qs_evals_keep(&e, 0); /* nothing was measured then */
    assert_int_equal(e.step, QS_EVALS_PROGRAM);
    qs_evals_keep(&e, 9);
    qs_evals_keep(&e, 10);
    expect_json(&e, "{\"evals\":9,\"how\":\"kept\"}");
    qs_evals_init(&e, 0);
    qs_evals_program(&e, false, 1);
    expect_json(&e, "{\"evals\":1,\"how\":\"once\"}");
    qs_evals_init(&e, 0);
    qs_evals_program(&e, false, 0);
    expect_json(&e, "{\"evals\":1,\"how\":\"unable\"}");
    assert_int_equal(e.step, QS_EVALS_MEASURE);
}

static void looks_before_it_measures(void **state)
{
    (void)state;
    struct qs_evals e;
    const struct qs_tuning earlier = {.run_uid = {0xab},
                                      .precision_ns = 52,
                                      .accuracy_ns = 104,
                                      .tries = 12,
                                      .evaluation_ps = 1500,
                                      .table_evals = 2,
                                      .logistic_evals = 1,
                                      .evals = 6934};
    qs_evals_init(&e, 0);
    qs_evals_program(&e, true, 0);
    assert_int_equal(e.step, QS_EVALS_LOOK);
    qs_evals_looked(&e, &earlier);
    assert_int_equal(e.step, QS_EVALS_MEASURE);
    expect_json(&e, "{\"evals\":6934,\"how\":\"cached\",\"oracle\":\"table\",\"precision_ns\":52,"
                    "\"accuracy_ns\":104,\"tries\":12,\"evaluation_ns\":1.5,\"table_evals\":2,"
                    "\"logistic_evals\":1,\"found_by\":\"ab000000000000000000000000000000\"}");
}

static void scan(struct qs_evals *e, const struct qs_evals_scan *s)
{
    qs_evals_init(e, 0);
    qs_evals_program(e, true, 0);
    qs_evals_looked(e, NULL);
    assert_int_equal(e->step, QS_EVALS_WARM);
    qs_evals_window(e, NULL);
    assert_int_equal(e->step, QS_EVALS_SCAN);
    qs_evals_window(e, s);
    assert_int_equal(e->step, QS_EVALS_MEASURE);
    qs_evals_window(e, s); /* nothing is left to be done */
    assert_int_equal(e->step, QS_EVALS_MEASURE);
}

static void the_least_of_the_scan_decides(void **state)
{
    (void)state;
    struct qs_evals e;
    int64_t total_ns[1000];
    for (int i = 0; i < 1000; i++)
        total_ns[i] = 20 * (i + 1) + 30 + (i % 7 == 0 ? 5000 : 0);
    total_ns[999] = -1; /* not valid: it would be the least */
    scan(&e, &(struct qs_evals_scan){.precision_ns = 20, .accuracy_ns = 41, .total_ns = total_ns, .n = 1000});
    assert_int_equal(e.how, QS_EVALS_TUNED);
    assert_int_equal(e.found.tries, 999);
    assert_int_equal(e.found.evaluation_ps, 20030); /* of 999 evaluations: 20 + 30/998 */
    assert_int_equal(e.found.table_evals, 1);
    assert_int_equal(e.found.logistic_evals, 1);
    assert_int_equal(e.found.evals, 205); /* 41 ns are 1 % of 205 * 20.03 ns */
    scan(&e, &(struct qs_evals_scan){.total_ns = total_ns, .n = 1000});
    assert_int_equal(e.found.precision_ns, 0); /* not known, taken as 1 and 1000 */
    assert_int_equal(e.found.evals, 4993);
    assert_int_equal(e.found.table_evals, 997);
    assert_int_equal(e.found.logistic_evals, 986);
}

static void long_work_needs_one(void **state)
{
    (void)state;
    struct qs_evals e;
    int64_t total_ns[30];
    for (int i = 0; i < 30; i++)
        total_ns[i] = 1000000 * (i + 1);
    scan(&e, &(struct qs_evals_scan){.precision_ns = 20, .accuracy_ns = 41, .total_ns = total_ns, .n = 30});
    assert_int_equal(e.how, QS_EVALS_TUNED);
    assert_int_equal(e.found.evals, 1);
    assert_int_equal(e.found.tries, 30);
    total_ns[0] = 700000000; /* longer than the scan may be: its first iteration is its last */
    scan(&e, &(struct qs_evals_scan){.precision_ns = 20, .accuracy_ns = 41, .total_ns = total_ns, .n = 30});
    assert_int_equal(e.found.tries, 1);
}

static void a_scan_that_says_nothing(void **state)
{
    (void)state;
    struct qs_evals e;
    const int64_t bad[] = {-1, -1};
    scan(&e, &(struct qs_evals_scan){.precision_ns = 20, .accuracy_ns = 41});
    expect_json(&e, "{\"evals\":1,\"how\":\"unable\"}");
    scan(&e, &(struct qs_evals_scan){.precision_ns = 20, .accuracy_ns = 41, .total_ns = bad, .n = 2});
    expect_json(&e, "{\"evals\":1,\"how\":\"unable\"}");
}

static char x[] = "-x", y[] = "-y";
static char *words[] = {x}, *others[] = {y};
static const struct qs_strings list = {words, 1}, other = {others, 1};

static char *key_of(const struct qs_evals_key *key)
{
    struct qs_buf out;
    qs_buf_init(&out);
    qs_evals_depends(key, &out);
    return qs_buf_take(&out);
}

/* Each element alone makes another key. */
static void the_key_has_every_element(void **state)
{
    (void)state;
    const struct qs_evals_key key = {.device = "phone",
                                     .agent = "quiesce-agent 1",
                                     .clock = "monotonic-raw",
                                     .operating_json = "{\"governors\":\"policy0=performance\"}",
                                     .cpus = "4-7",
                                     .executable = "00ff",
                                     .benchmark = "add",
                                     .arguments = &list,
                                     .env = &list,
                                     .params = &list};
    struct qs_evals_key changed[11];
    for (size_t i = 0; i < 11; i++)
        changed[i] = key;
    changed[0].device = "phone2";
    changed[1].agent = "quiesce-agent 2";
    changed[2].clock = "monotonic";
    changed[3].operating_json = "{\"governors\":\"policy0=powersave\"}";
    changed[4].cpus = "0-3";
    changed[5].executable = "00fe";
    changed[6].benchmark = "sub";
    changed[7].arguments = &other;
    changed[8].env = &other;
    changed[9].params = &other;
    changed[10].held = "cpu max"; /* a free one is not in it, as in what older versions kept */
    char *same = key_of(&key), *again = key_of(&key);
    assert_string_equal(same, again);
    assert_string_equal(same, "{\"agent\":\"quiesce-agent 1\",\"arguments\":[\"-x\"],\"benchmark\":\"add\","
                              "\"clock\":\"monotonic-raw\",\"cpus\":\"4-7\",\"device\":\"phone\","
                              "\"env\":[\"-x\"],\"executable\":\"00ff\","
                              "\"operating\":{\"governors\":\"policy0=performance\"},\"params\":[\"-x\"],"
                              "\"scan_ns\":500000000}");
    for (size_t i = 0; i < 11; i++) {
        char *text = key_of(&changed[i]);
        assert_string_not_equal(text, same);
        free(text);
    }
    free(same);
    free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_need_no_scan),     cmocka_unit_test(looks_before_it_measures),
        cmocka_unit_test(the_least_of_the_scan_decides), cmocka_unit_test(long_work_needs_one),
        cmocka_unit_test(a_scan_that_says_nothing),      cmocka_unit_test(the_key_has_every_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
