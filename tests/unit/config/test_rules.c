/* Stop rules, device selectors and the order of arms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/job/selector.h"
#include "config/job/stop.h"
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

/* What a rule in a file becomes, as text. */
static void check_stop(const char *stop, const char *expected)
{
    char *plan = qs_asprintf("{stop: %s}", stop), text[400];
    struct qs_job_spec *spec = with_plan(plan);
    qs_rule_text(spec->conditions[0].enough.stop, text, sizeof(text));
    assert_string_equal(text, expected);
    qs_job_free(spec);
    free(plan);
}

static void test_stop_rules(void **state)
{
    (void)state;
    check_stop("{fixed: 5}", "fixed(5)");
    check_stop("{fixed: {iterations: 5}}", "fixed(5)");
    check_stop("fixed", "fixed(30)");
    check_stop("{time: 2s}", "time(2 s)");
    check_stop("{budget: {}}", "budget(5 s, 10000)");
    check_stop("{budget: {time: 250ms, iterations: 7}}", "budget(250 ms, 7)");
    check_stop("{cov_window: {last: 5, at_most: 0.71%}}", "cov_window(5, 0.71 %)");
    check_stop("{ci_width: {of: mean, at_most: 0.5%, alpha: 1%}}", "ci_width(mean, 0.5 %, alpha 1 %)");
    check_stop("{rse: {root: cube}}", "rse(1 %, root cube)");
    check_stop("futhark", "futhark");
    check_stop("{futhark: {metrics: original}}", "futhark(metrics original)");
    check_stop("{futhark: {initial: 1s, strictness: 2}}", "futhark(initial 1 s, strictness 2)");
    check_stop("{stable: {drop: none}}", "stable(30, drop none)");
    check_stop("{any: [{fixed: 9}, {time: 1s}]}", "any(fixed(9), time(1 s))");
    check_stop("{xor: [{not: {fixed: 3}}, stable]}", "xor(not(fixed(3)), stable(30))");
    for (size_t i = 0; i < QS_PRESETS; i++) {
        char text[200];
        qs_rule_text(&qs_presets[i].rule, text, sizeof(text));
        check_stop(qs_presets[i].name, text);
    }
    check_stop("{any: [standard, {all: [quick, {fixed: 100}]}]}",
               "any(settled(400, 2 %), all(all(cov_window(20, 5 %), fixed(30)), fixed(100)))");
}

/* Each name once, wherever it stands. */
static void test_externals(void **state)
{
    (void)state;
    struct qs_job_spec *spec =
        with_plan("{stop: {any: [{external: b}, {all: [{not: {external: a}}, {fixed: 9}]},"
                  " {external: b}, {external: c}]}}");
    const char *names[4] = {NULL};
    assert_int_equal(qs_job_externals(spec, names, 4), 3);
    assert_string_equal(names[0], "b");
    assert_string_equal(names[1], "a");
    assert_string_equal(names[2], "c");
    assert_null(names[3]);
    names[1] = NULL;
    assert_true(qs_job_externals(spec, names, 1) > 1); /* more than there is room for */
    assert_null(names[1]);
    assert_int_equal(qs_stop_externals(NULL, names, 4, 0), 0);
    qs_job_free(spec);
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

/* n copies of a piece between two others. */
static char *repeated(const char *head, const char *piece, size_t n, const char *tail)
{
    struct qs_buf out;
    qs_buf_init(&out);
    qs_buf_str(&out, head);
    for (size_t i = 0; i < n; i++)
        qs_buf_str(&out, piece);
    qs_buf_str(&out, tail);
    return qs_buf_take(&out);
}

static void selector_is(const char *text, const char *why_text, size_t offset, const char *suggestion)
{
    struct qs_selector *s = NULL;
    struct qs_selector_why why = {0};
    bool ok = qs_selector_parse(text, &s, &why);
    if (ok != !why_text)
        fail_msg("<%s> is %s: %s", text, ok ? "read" : "refused", why.text);
    assert_int_equal(s != NULL, ok);
    assert_string_equal(why.text, ok ? "" : why_text);
    assert_string_equal(why.suggestion, ok ? "" : suggestion);
    if (why.offset != (ok ? 0 : offset))
        fail_msg("<%s>: at %zu", text, why.offset);
    qs_selector_free(s);
}

static void test_selectors_refused(void **state)
{
    (void)state;
    static const char missing[] = "something is missing at the end", join[] = "expected && or || here",
                      how[] = "join terms with && or ||",
                      quotes[] = "write the value in quotes: name == \"bench1\"";
    selector_is("", missing, 0, "");
    selector_is("name && ", missing, 8, "");
    selector_is("name =", "a single `=`", 5, "compare with ==");
    selector_is("name == bench1", "expected text in quotes", 8, quotes);
    selector_is("name == \"x", "these quotes are not closed", 8, "");
    selector_is("name == 'x\"", "these quotes are not closed", 8, "");
    selector_is("nam == \"x\"", "`nam` is not a fact of a device", 0, "did you mean `name`?");
    selector_is("local && socket", "`socket` is not a fact of a device", 9,
                "the facts are name, link, local and label.KEY: did you mean `label.socket`?");
    selector_is("label. == \"x\"", "`label.` is not a fact of a device", 0, "write which label: label.KEY");
    selector_is("(name", "expected `)`", 5, "");
    selector_is("name)", join, 4, how);
    selector_is("name name", join, 5, how);
    selector_is("name !", join, 5, how);
    selector_is("&& name", "expected the name of a fact", 0, "");
    selector_is("!= 'x'", "expected the name of a fact", 0, "");
    static const struct {
        const char *head, *piece, *tail, *why;
        size_t most;
    } rows[] = {{"name == 'a", "a", "'", "more than 1000 bytes", QS_SELECTOR_BYTES - 11},
                {"!name", " && name", "", "more than 64 terms", 31},
                {"name || !name", " || name", "", "more than 64 terms", 30},
                {"", "(", "name", "too deep", 64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *most = repeated(rows[i].head, rows[i].piece, rows[i].most, rows[i].tail);
        char *more = repeated(rows[i].head, rows[i].piece, rows[i].most + 1, rows[i].tail);
        struct qs_selector *s = NULL;
        struct qs_selector_why why = {0};
        bool open = rows[i].piece[0] == '('; /* nothing closes them */
        assert_int_equal(qs_selector_parse(most, &s, &why), !open);
        assert_string_equal(why.text, open ? "expected `)`" : "");
        qs_selector_free(s);
        why = (struct qs_selector_why){0};
        assert_false(qs_selector_parse(more, &s, &why));
        assert_string_equal(why.text, rows[i].why);
        free(most);
        free(more);
    }
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

/* A job of so many benchmarks, the first of which has a name of so many bytes. What is wrong with it, or "".
 */
static void check_limit(size_t benchmarks, size_t name_bytes, const char *expected)
{
    struct qs_buf text, err;
    qs_buf_init(&text);
    qs_buf_init(&err);
    qs_buf_str(&text, "quiesce: 1\nbenchmarks:\n- {name: '");
    for (size_t i = 0; i < name_bytes; i++)
        qs_buf_char(&text, 'n');
    qs_buf_str(&text, "', argv: [x]}\n");
    for (size_t i = 1; i < benchmarks; i++)
        qs_buf_fmt(&text, "- {name: b%zu, argv: [x]}\n", i);
    struct qs_job_spec *spec = golden_job("limits", text.data, text.len, &err);
    assert_int_equal(spec != NULL, expected[0] == '\0');
    if (spec != NULL) {
        assert_int_equal(spec->benchmark_count, benchmarks);
        assert_int_equal(strlen(spec->benchmarks[0].name), name_bytes);
    } else {
        assert_non_null(strstr(err.data, expected));
    }
    qs_job_free(spec);
    qs_buf_done(&text);
    qs_buf_done(&err);
}

/* What is just allowed is read, one more is refused and told with the limit. */
static void test_limits(void **state)
{
    (void)state;
    check_limit(100, 1, "");
    check_limit(101, 1, "101 are too many (at most 100)");
    check_limit(1, 100, "");
    check_limit(1, 101, "a name has 1 to 100 bytes");
    check_limit(1, 0, "a name has 1 to 100 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_stop_rules),
        cmocka_unit_test(test_externals),
        cmocka_unit_test(test_selectors),
        cmocka_unit_test(test_selectors_refused),
        cmocka_unit_test(test_fixed_orders),
        cmocka_unit_test(test_random_orders_are_uniform),
        cmocka_unit_test(test_random_orders_are_reproducible),
    };
    return cmocka_run_group_tests_name("config rules", tests, NULL, NULL);
}
