/* Stop rules, device selectors and the order of arms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/selector.h"
#include "golden.h"

static struct qs_job_spec *with_plan(const char *plan)
{
    struct qs_buf text, err;
    qs_buf_init(&text);
    qs_buf_init(&err);
    qs_buf_fmt(&text, "quiesce: 1\nbenchmarks: [{name: x, argv: [x]}]\nplan: %s\n", plan);
    struct qs_job_spec *spec = golden_job("plan", text.data, text.len, &err);
    assert_non_null(spec);
    qs_buf_done(&text);
    qs_buf_done(&err);
    return spec;
}

/* The reason where the rule says stop, "" where it says go on. */
static void check_stop(const char *plan, size_t n, int64_t measured_ns, const char *expected)
{
    static const int64_t steady[] = {500, 100, 101, 99, 100, 100};
    struct qs_job_spec *spec = with_plan(plan);
    char reason[200] = "";
    bool stop = qs_stop_eval(spec->plan.stop, steady, n, measured_ns, reason, sizeof(reason));
    assert_int_equal(stop, expected[0] != '\0');
    assert_string_equal(reason, expected);
    qs_job_free(spec);
}

static void test_stop_rules(void **state)
{
    (void)state;
    check_stop("{stop: {fixed: 5}}", 4, 0, "");
    check_stop("{stop: {fixed: 5}}", 5, 0, "fixed(5)");
    check_stop("{stop: {time: 2s}}", 1, 1999999999, "");
    check_stop("{stop: {time: 2s}}", 1, 2000000000, "time(2.00 s)");
    /* 100, 101, 99, 100, 100: mean 100, sd sqrt(2 / 4) = 0.707 */
    check_stop("{stop: {cov_window: {last: 5, at_most: 0.71%}}}", 6, 0, "cov_window(5, 0.71 %)");
    check_stop("{stop: {cov_window: {last: 5, at_most: 0.70%}}}", 6, 0, "");
    check_stop("{stop: {cov_window: {last: 6, at_most: 5%}}}", 6, 0, "");
    check_stop("{stop: {cov_window: {last: 6, at_most: 900%}}}", 5, 0, "");
    check_stop("{stop: {any: [{fixed: 9}, {time: 1s}]}}", 3, 1000000000, "time(1.00 s)");
    check_stop("{stop: {all: [{fixed: 3}, {time: 1s}]}}", 3, 1000000000, "fixed(3) and time(1.00 s)");
    check_stop("{stop: {all: [{fixed: 3}, {time: 1s}]}}", 3, 999, "");
    check_stop("{stop: {not: {fixed: 3}}}", 2, 0, "not(fixed(3))");
    check_stop("{stop: {not: {fixed: 3}}}", 3, 0, "");
    check_stop("{stop: {any: [{all: [{fixed: 2}, {fixed: 9}]}, {not: {any: [{fixed: 8}, {time: 1s}]}}]}}", 2,
               0, "not(any(fixed(8), time(1.00 s)))");
}

/* A mean of 0 has no coefficient of variation. */
static void test_cov_of_zeros(void **state)
{
    (void)state;
    static const int64_t zeros[] = {0, 0, 0};
    struct qs_stop stop = {.kind = QS_STOP_COV_WINDOW, .n = 3, .at_most_ratio = 1};
    char reason[40];
    assert_false(qs_stop_eval(&stop, zeros, 3, 0, reason, sizeof(reason)));
}

static const char *fact(const char *name, void *user)
{
    static const char *const facts[][2] = {{"name", "bench1"},
                                           {"link", "exec"},
                                           {"local", "false"},
                                           {"label.soc", "rk3399"},
                                           {"label.empty", ""}};
    (void)user;
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        if (strcmp(facts[i][0], name) == 0)
            return facts[i][1];
    return NULL;
}

static void test_selectors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool match;
    } rows[] = {
        {"name == \"bench1\"", true},
        {"name == 'bench2'", false},
        {"name != \"bench2\" && label.soc != \"exynos\"", true},
        {"label.gpu == \"x\"", false},
        {"label.gpu != \"x\"", true},
        {"label.soc", true},
        {"label.gpu || label.empty || local", false},
        {"!local", true},
        {"! ( link == \"exec\" )", false},
        {"name == \"z\" && name == \"z\" || link == \"exec\"", true}, /* && binds tighter */
        {"name == \"z\" && (name == \"z\" || link == \"exec\")", false},
        {"!name == \"z\"", true},
        {"!!label.soc", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct qs_selector *s = NULL;
        struct qs_selector_why why;
        if (!qs_selector_parse(rows[i].text, &s, &why))
            fail_msg("%s: %s", rows[i].text, why.text);
        if (qs_selector_match(s, fact, NULL) != rows[i].match)
            fail_msg("%s", rows[i].text);
        qs_selector_free(s);
    }
}

static void test_selectors_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t offset;
    } rows[] = {
        {"", 0},        {"name =", 5}, {"name == bench1", 8}, {"name == \"x", 8}, {"nam == \"x\"", 0},
        {"(name", 5},   {"name)", 4},  {"name && ", 8},       {"name name", 5},   {"label. == \"x\"", 0},
        {"&& name", 0}, {"name !", 5}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct qs_selector *s = NULL;
        struct qs_selector_why why = {0};
        if (qs_selector_parse(rows[i].text, &s, &why) || why.offset != rows[i].offset || why.text[0] == '\0')
            fail_msg("<%s>: %zu %s", rows[i].text, why.offset, why.text);
        assert_null(s);
    }
    char deep[QS_SELECTOR_BYTES];
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    struct qs_selector *s = NULL;
    struct qs_selector_why why;
    assert_false(qs_selector_parse(deep, &s, &why));
    memset(deep, '!', sizeof(deep) - 1);
    assert_false(qs_selector_parse(deep, &s, &why));
}

static void test_fixed_orders(void **state)
{
    (void)state;
    static const size_t ab[] = {0, 1, 2};
    static const size_t ba[] = {2, 1, 0};
    static const size_t abba[] = {0, 1, 2, 2, 1, 0};
    struct qs_job_spec spec = {.arm_count = 3, .plan = {.order = QS_ORDER_AB}};
    size_t order[6];
    assert_int_equal(qs_job_block_order(&spec, 1, 2, 3, 4, order), 3);
    assert_memory_equal(order, ab, sizeof(ab));
    spec.plan.order = QS_ORDER_BA;
    assert_int_equal(qs_job_block_order(&spec, 1, 2, 3, 4, order), 3);
    assert_memory_equal(order, ba, sizeof(ba));
    spec.plan.order = QS_ORDER_ABBA;
    assert_int_equal(qs_job_block_order(&spec, 1, 2, 3, 4, order), 6);
    assert_memory_equal(order, abba, sizeof(abba));
}

enum { BLOCKS = 24000 };

/* Pearson's statistic of the six orders of three arms, over blocks of one (seed, device, point): chi-square
 * with 5 degrees of freedom stays below 25.7 with probability 0.9999, and the seeds are fixed, so the outcome
 * is too. */
static double chi_square(uint64_t seed, uint64_t device, size_t point)
{
    struct qs_job_spec spec = {.arm_count = 3, .plan = {.order = QS_ORDER_RANDOM}};
    unsigned seen[9] = {0};
    for (uint32_t block = 1; block <= BLOCKS; block++) {
        size_t order[6];
        assert_int_equal(qs_job_block_order(&spec, seed, device, point, block, order), 3);
        assert_int_equal((1u << order[0]) | (1u << order[1]) | (1u << order[2]), 7);
        seen[order[0] * 3 + order[1]]++;
    }
    double sum = 0;
    for (size_t i = 0; i < 9; i++) {
        double expected = i % 4 == 0 ? 0 : BLOCKS / 6.0; /* 0, 4, 8: the same arm twice */
        if (expected > 0)
            sum += (seen[i] - expected) * (seen[i] - expected) / expected;
        else
            assert_int_equal(seen[i], 0);
    }
    return sum;
}

static void test_random_orders_are_uniform(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++)
        assert_true(chi_square(seed, seed * 7, seed % 3) < 25.7);
}

/* Drawn again it is the same; another seed, device, point or block is another draw. */
static void test_random_orders_are_reproducible(void **state)
{
    (void)state;
    enum { ARMS = 20 };
    struct qs_job_spec spec = {.arm_count = ARMS, .plan = {.order = QS_ORDER_RANDOM}};
    size_t a[2 * ARMS], b[2 * ARMS];
    qs_job_block_order(&spec, 42, 1, 2, 3, a);
    qs_job_block_order(&spec, 42, 1, 2, 3, b);
    assert_memory_equal(a, b, ARMS * sizeof(a[0]));
    static const unsigned others[][4] = {{43, 1, 2, 3}, {42, 2, 2, 3}, {42, 1, 3, 3},
                                         {42, 1, 2, 4}, {42, 2, 1, 3}, {42, 1, 3, 2}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        qs_job_block_order(&spec, others[i][0], others[i][1], others[i][2], others[i][3], b);
        assert_memory_not_equal(a, b, ARMS * sizeof(a[0]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop_rules),
        cmocka_unit_test(test_cov_of_zeros),
        cmocka_unit_test(test_selectors),
        cmocka_unit_test(test_selectors_refused),
        cmocka_unit_test(test_fixed_orders),
        cmocka_unit_test(test_random_orders_are_uniform),
        cmocka_unit_test(test_random_orders_are_reproducible),
    };
    return cmocka_run_group_tests_name("config rules", tests, NULL, NULL);
}
